"""exp, log, the normal distribution and a few more, from +, -, *, / and sqrt alone: the same bits everywhere.

A processor's or a library's own functions differ in the last bit from one machine to the next, and what has been
learnt would too.  These are within a few units in the last place.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.compiled import jit, total
from askone._common.types import Array

_ROUNDING = 6755399441055744.0  # 1.5 * 2^52: adding it rounds a double to an integer, in its low bits
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # the high part times k is exact
_HALF_PI_HIGH, _HALF_PI_LOW = 1.57079632673412561417, 6.07710050650619224932e-11
_ROOT_2PI, _LOG_ROOT_2PI = 2.5066282746310002, 0.9189385332046728
_FAR = 6.0  # from here on Mills' ratio is taken from the continued fraction
# Coefficients of polynomials, the highest power first.
_EXP = tuple(1.0 / math.factorial(n) for n in range(13, 1, -1))
_LOG = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
    2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
)  # fmt: skip
_COSINE = (
    -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
    -1.38888888888741095749e-03, 4.16666666666666019037e-02,
)  # fmt: skip
_SINE = (
    1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
    8.33333333332248946124e-03, -1.66666666666666324348e-01,
)  # fmt: skip
_MILLS_EVEN = (
    4.7533642250709524e-12, -2.1949735021797193e-11, -1.3611985282963281e-09, 4.8128054663458775e-08,
    -1.1632978475709003e-06, 2.74456520642995e-05, -0.0007444638808105019, 0.020787846952663253, 0.606504176395531,
    2.6919426905440775,
)  # fmt: skip
_MILLS_ODD = (
    2.704700718374214e-11, -6.188637945308551e-10, 8.374683352242812e-09, -6.77360434473101e-08,
    -1.3284614515695327e-07, 1.010285748257933e-05, 0.0010005778549484047, -0.15672144900277823, -1.5390290090569938,
)  # fmt: skip


@jit
def _polynomial(z: float, coefficients: tuple[float, ...]) -> float:
    """Return a polynomial by Horner's rule."""
    p = coefficients[0]
    for k in range(1, len(coefficients)):
        p = p * z + coefficients[k]
    return p


@jit
def _reduced(x: float) -> tuple[float, float, float]:
    """Return 2^k, r and exp(r) - 1 - r for x = k log 2 + r, |r| <= log(2) / 2."""
    shifted = x * 1.4426950408889634 + _ROUNDING
    k = shifted - _ROUNDING
    r = (x - k * _LOG2_HIGH) - k * _LOG2_LOW
    p = _polynomial(r, _EXP)
    power_of_two = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52)
    return power_of_two.view(np.float64), r, p * r * r


@jit
def exp(x: float) -> float:
    """Return e^x; 0 below -708, and above 709 what it is there.

    >>> abs(exp(1.0) - math.e) < 1e-15
    True
    """
    power, r, rest = _reduced(min(max(x, -708.0), 709.0))
    return (1.0 + (r + rest)) * power if x >= -708.0 else 0.0


@jit
def expm1(x: float) -> float:
    """Return e^x - 1, exact for small x too."""
    power, r, rest = _reduced(min(max(x, -708.0), 709.0))
    return power * (r + rest) + (power - 1.0)


@jit
def log(x: float) -> float:
    """Return the natural logarithm of a positive number: with x = 2^k (1 + f), s = f / (2 + f), a polynomial in s^2.

    >>> log(1.0), log(10.0) == math.log(10.0)
    (0.0, True)
    """
    shift = 0.0
    if x < 2.2250738585072014e-308:
        if x <= 0.0:
            return -np.inf if x == 0.0 else np.nan
        x *= 18014398509481984.0  # 2^54: numbers too small to be normal
        shift = -54.0
    if x == np.inf:
        return x
    bits = np.float64(x).view(np.int64)
    above = np.int64((bits - 0x3FE6A09E667F3BCD) >> 52)  # the mantissa is between sqrt(1/2) and sqrt(2)
    f = np.int64(bits - (above << 52)).view(np.float64) - 1.0
    k = np.float64(above) + shift
    s = f / (2.0 + f)
    z = s * s
    p = _polynomial(z, _LOG)
    half = 0.5 * f * f
    return k * _LOG2_HIGH - ((half - (s * (half + z * p) + k * _LOG2_LOW)) - f)


@jit
def log1p(x: float) -> float:
    """Return log(1 + x), exact for small x too."""
    u = 1.0 + x
    return log(u) + (x - (u - 1.0)) / u if u > 0.0 else log(u)


@jit
def power(x: float, y: float) -> float:
    """Return x^y for a positive x; a square root is exact.

    >>> power(4.0, -0.5), power(7.0, 1.0)
    (0.5, 7.0)
    """
    if y == 0.0:
        return 1.0
    if abs(y) == 1.0 or abs(y) == 0.5:
        root = x if abs(y) == 1.0 else math.sqrt(x)
        return root if y > 0.0 else 1.0 / root
    return exp(y * log(x))


@jit
def tanh(x: float) -> float:
    """Return the hyperbolic tangent."""
    e = expm1(2.0 * min(abs(x), 20.0))
    return math.copysign(e / (e + 2.0), x)


@jit
def sine_and_cosine(x: float) -> tuple[float, float]:
    """Return both, of an angle up to a million or so."""
    k = (x * 0.6366197723675814 + _ROUNDING) - _ROUNDING
    r = (x - k * _HALF_PI_HIGH) - k * _HALF_PI_LOW
    z = r * r
    c, s = _polynomial(z, _COSINE), _polynomial(z, _SINE)
    sine, cosine = r + r * (z * s), 1.0 - (0.5 * z - z * (z * c))
    quarter = np.int64(k) & 3
    if quarter & 1:
        sine, cosine = cosine, -sine
    return (-sine, -cosine) if quarter & 2 else (sine, cosine)


@jit
def normal_density(z: float) -> float:
    """Return N(z) = exp(-z^2 / 2) / sqrt(2 pi); z^2 is taken in two parts, or its rounding would be seen far out."""
    z = min(abs(z), 40.0)
    wide = z * 134217729.0  # 2^27 + 1
    high = wide - (wide - z)
    rest = -0.5 * (z - high) * (z + high)
    return exp(-0.5 * high * high) * (1.0 + rest * (1.0 + rest * (0.5 + rest / 6.0))) / _ROOT_2PI


@jit
def _fraction(t: float) -> float:
    """Return f with Mills' ratio 1 / (t + 1 / f), for t >= 6."""
    f = t
    for k in range(40, 1, -1):
        f = t + k / f
    return f


@jit
def _mills(t: float) -> float:
    """Return Phi(-t) / N(t) for 0 <= t <= 6: a Chebyshev series, as a polynomial in s = (7 t - 12) / (3 t + 12)."""
    s = (7.0 * t - 12.0) / (3.0 * t + 12.0)
    z = s * s
    # Even and odd powers apart: neither waits for the other.
    p, q = _polynomial(z, _MILLS_EVEN), _polynomial(z, _MILLS_ODD)
    return (p + s * q) / (t + 4.0)


@jit
def normal(z: float) -> tuple[float, float]:
    """Return N(z) and Phi(z), each to a few units in the last place, as far out as there are numbers.

    >>> normal(0.0)[1]
    0.5
    """
    t, density = abs(z), normal_density(z)
    tail = density * (_mills(t) if t < _FAR else 1.0 / (t + 1.0 / _fraction(t)))
    return density, 1.0 - tail if z > 0.0 else tail


@jit
def normal_cdf(z: float) -> float:
    """Return Phi(z)."""
    return normal(z)[1]


@jit
def normal_cdfs(z: Array) -> Array:
    """Return Phi of each of a vector's numbers."""
    out = np.empty(z.shape[0])
    for i in range(z.shape[0]):
        out[i] = normal_cdf(z[i])
    return out


@jit
def hazard(z: float) -> tuple[float, float, float]:
    """Return log Phi(z), h = N(z) / Phi(z) and h + z, as far out as one likes."""
    if z > 0.0:
        density, below = normal(-z)
        h = density / (1.0 - below)
        return log1p(-below), h, h + z
    if z > -_FAR:
        ratio = _mills(-z)
        return log(normal_density(z) * ratio), 1.0 / ratio, 1.0 / ratio + z
    fraction = _fraction(-z)
    h = -z + 1.0 / fraction
    return -0.5 * z * z - _LOG_ROOT_2PI - log(h), h, 1.0 / fraction  # h + z would be a difference of large numbers


@jit
def exps(x: Array) -> Array:
    """Return e^x of each of a vector's numbers."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = exp(x[i])
    return out


@jit
def softmax(x: Array) -> Array:
    """Return exp(x), normalised, for a vector.

    >>> softmax(np.zeros(2)).tolist()
    [0.5, 0.5]
    """
    out, top = np.empty(x.shape[0]), x[0]
    for i in range(1, x.shape[0]):  # by hand: numba takes a second to compile max()
        top = max(top, x[i])
    for i in range(x.shape[0]):
        out[i] = exp(x[i] - top)
    scale = total(out)
    for i in range(x.shape[0]):
        out[i] /= scale
    return out


@jit
def logs(x: Array) -> Array:
    """Return the logarithm of each of a vector's numbers."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = log(x[i])
    return out


@jit
def tanhs(x: Array) -> Array:
    """Return the hyperbolic tangent of each of a vector's numbers."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = tanh(x[i])
    return out


@jit
def cosines(x: Array) -> Array:
    """Return the cosine of each of a vector's numbers."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = sine_and_cosine(x[i])[1]
    return out


@jit
def normal_quantile(p: float) -> float:
    """Return z with Phi(z) = p, 0 < p < 1: Halley's steps from a rational guess.

    >>> normal_quantile(0.5), round(normal_quantile(0.975), 12)
    (0.0, 1.95996398454)
    """
    below = min(p, 1.0 - p)
    if below == 0.5:
        return 0.0
    t = math.sqrt(-2.0 * log(below))
    z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(3):
        density, found = normal(z)
        off = (found - below) / density
        z -= off / (1.0 + 0.5 * z * off)
    return z if p < 0.5 else -z


@jit
def normal_quantiles(p: Array) -> Array:
    """Return the normal quantile of each probability in a vector."""
    out = np.empty(p.shape[0])
    for i in range(p.shape[0]):
        out[i] = normal_quantile(p[i])
    return out
