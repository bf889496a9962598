"""The constants and the bound of the paper, corrected (see docs/errata.md)."""

from __future__ import annotations

import math

from askone._common.validate import as_count, as_number


def c2(m: int) -> float:
    """Return E|<e_1, U>| for U uniform on the sphere of R^m: sign(<z, U>) U averages to c2 z/|z|.

    c2(m) = Gamma(m/2) / (sqrt(pi) Gamma((m+1)/2)), between sqrt(2/(pi m)) and sqrt(2/(pi (m-1/2))).

    >>> round(c2(1), 12), round(c2(3), 12), round(c2(10), 5)
    (1.0, 0.5, 0.25869)
    """
    m = as_count(m, "m", 1)
    if m < 300:  # beyond, Gamma overflows, and a difference of lgammas loses its digits
        return math.gamma(m / 2) / (math.sqrt(math.pi) * math.gamma((m + 1) / 2))
    x = m / 2
    ratio = math.sqrt(x) * (1 - 1 / (8 * x) + 1 / (128 * x**2) + 5 / (1024 * x**3) - 21 / (32768 * x**4))
    return 1 / (math.sqrt(math.pi) * ratio)


def c1(m: int, M: float) -> float:
    """Return 1{<z, U> >= V} U averages to c1 z, for |z| <= 2M, U on the sphere, V uniform on [0, 2M].

    c1 = 1 / (4 M m), so 4 M m 1{<f - Y, U> >= V} U is an unbiased gradient of |f - Y|^2 / 2.

    >>> c1(5, 2.0)
    0.025
    """
    return 1.0 / (4.0 * as_number(M, "M", 0.0, strict=True) * as_count(m, "m", 1))


def generic_factor(dimension: int, bound: float) -> float:
    """Return 2 B d: the factor of the generic scheme, U on the sphere of R^d, V uniform on [0, B].

    >>> generic_factor(10, 0.5)
    10.0
    """
    return 2.0 * as_number(bound, "bound", 0.0, strict=True) * as_count(dimension, "dimension", 1)


def bound(kappa: float, M: float, m: int, T: int, flip: float = 0.0) -> float:
    """Return Theorem 1: the mean excess risk after T questions is at most kappa M / (c2(m) sqrt(T)).

    Where answers are flipped with the probability ``flip``, gradients are 1 / (1 - 2 flip) times as long, and so is
    this: at epsilon-privacy (e^epsilon + 1) / (e^epsilon - 1) times, which so many times squared the answers make good.

    For E|phi(X)|^2 <= kappa^2, |theta*| <= M, the step of ``step`` and the average of
    theta_0 .. theta_{T-1}.  It grows as sqrt(m), not as m^{3/2}.

    >>> bound(1.0, 1.0, 1, 100), bound(1.0, 1.0, 1, 400, flip=0.25)
    (0.1, 0.1)
    """
    kappa, M = as_number(kappa, "kappa", 0.0, strict=True), as_number(M, "M", 0.0, strict=True)
    trust = 1.0 - 2.0 * as_number(flip, "flip", 0.0, 0.49)
    return kappa * M / (trust * c2(m) * math.sqrt(as_count(T, "T", 1)))


def step(kappa: float, M: float, T: int) -> float:
    """Return Theorem 1's constant step M / (kappa sqrt(T)), in Algorithm 1's units, which flips do not change.

    >>> step(1.0, 2.0, 400)
    0.1
    """
    kappa, M = as_number(kappa, "kappa", 0.0, strict=True), as_number(M, "M", 0.0, strict=True)
    return M / (kappa * math.sqrt(as_count(T, "T", 1)))
