"""median-vs-ls: least squares and the median as surrogates of a class whose noise changes abruptly.

X uniform on [0, 1] and [2, 3], Y = ±1, eta(x) = E[Y | x], f* = sign(eta).  The paper's text leaves eta to
its figure; the reference code has eta = 1, eps, -eps, -1 on [0, .5], (.5, 1], [2, 2.5], (2.5, 3] with
eps = .01 and 250 points on each interval, and so do these runs.  The code's penalty is lambda |theta|^2,
the text's lambda |theta|: both are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone.features.maps import Nystroem
from askone.features.scaling import Scaler
from askone.paper._base import FAILS, HOLDS, IN_PART, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Axes, Figure, panels
from askone.paper._rates import EXPONENTIAL, Rate, rate

LOSSES = ("least squares", "median")
RIDGES = (1e-6, 1e-2)
_GAP = 0.01  # eps above
_POINTS = 500
_FLOOR = 1e-4  # of the share of wrong signs
_BANDWIDTH = 0.1
_SMOOTHEST, _SHARPEST = 0.0, -6.0  # log10 of the widths with which |r| is rounded, see ``median_fit``


def eta(x: Array, gap: float = _GAP) -> Array:
    """Return E[Y | x]: certain far from the jump of f*, nearly a coin near it.

    >>> eta(np.array([0.2, 0.8, 2.2, 2.8])).tolist()
    [1.0, 0.01, -0.01, -1.0]
    """
    return np.select([x <= 0.5, x <= 1.0, x <= 2.5], [1.0, gap, -gap], -1.0)


def design() -> Array:
    """Return the points of [0, 1] and [2, 3], n x 1."""
    half = _POINTS // 2
    return np.concatenate([np.linspace(0, 1, half), np.linspace(2, 3, half)])[:, None]


def squares_fit(phi: Array, weights: Array, mean: Array, ridge: float) -> Array:
    """Return argmin sum_i w_i E(<theta, phi_i> - Y_i)^2 + ridge |theta|^2, where E Y_i = mean_i."""
    gram = (phi * weights[:, None]).T @ phi
    gram[np.diag_indices_from(gram)] += ridge
    return np.asarray(np.linalg.solve(gram, phi.T @ (weights * mean)))


def median_fit(phi: Array, weights: Array, mean: Array, ridge: float) -> Array:
    """Return argmin sum_i w_i E|<theta, phi_i> - Y_i| + ridge |theta|^2, Y_i = ±1 with E Y_i = mean_i.

    Newton steps on |r| ~ sqrt(r^2 + d^2) for ever smaller d; ``duality_gap`` says how close it came.
    """
    theta = np.zeros(phi.shape[1])
    for width in 10.0 ** np.arange(_SMOOTHEST, _SHARPEST - 0.25, -0.5):
        for _ in range(60):
            step, decrease = _newton(phi, weights, mean, ridge, theta, width)
            if decrease < 1e-15:
                break
            theta = theta - _length(phi, weights, mean, ridge, theta, step, decrease, width) * step
    return theta


def duality_gap(phi: Array, weights: Array, mean: Array, ridge: float, theta: Array) -> float:
    """Return how far theta may be from the least value, at most.

    Primal minus dual, with the dual  sum_i w_i (1 - |s_i + mean_i|) - |sum_i w_i s_i phi_i|^2 / (4 ridge),  |s_i| <= 1.
    """
    slopes, _ = _slopes(phi @ theta, mean, 10.0**_SHARPEST)
    pulled = phi.T @ (weights * slopes)
    dual = weights @ (1 - np.abs(slopes + mean)) - pulled @ pulled / (4 * ridge)
    return float(_value(phi, weights, mean, ridge, theta, 0.0) - dual)


def unsquared(fit: Callable[..., Array], phi: Array, weights: Array, mean: Array, ridge: float) -> Array:
    """Return the fit with the penalty ridge |theta|: that with r |theta|^2 where 2 r |theta| = ridge."""
    squared = ridge
    for _ in range(60):
        theta = fit(phi, weights, mean, squared)
        wanted = ridge / (2 * float(np.linalg.norm(theta)))
        if abs(wanted - squared) < 1e-6 * wanted:
            break
        squared = wanted
    return theta


def _slopes(g: Array, mean: Array, width: float) -> tuple[Array, Array]:
    """Return first and second derivative of E sqrt((g - Y)^2 + width^2)."""
    up, below, above = (1 + mean) / 2, g - 1, g + 1
    low, high = np.sqrt(below**2 + width**2), np.sqrt(above**2 + width**2)
    return up * below / low + (1 - up) * above / high, width**2 * (up / low**3 + (1 - up) / high**3)


def _value(phi: Array, weights: Array, mean: Array, ridge: float, theta: Array, width: float) -> float:
    g, up = phi @ theta, (1 + mean) / 2
    loss = up * np.sqrt((g - 1) ** 2 + width**2) + (1 - up) * np.sqrt((g + 1) ** 2 + width**2)
    return float(weights @ loss + ridge * theta @ theta)


def _newton(phi: Array, weights: Array, mean: Array, ridge: float, theta: Array, width: float) -> tuple[Array, float]:
    first, second = _slopes(phi @ theta, mean, width)
    gradient = phi.T @ (weights * first) + 2 * ridge * theta
    hessian = (phi * (weights * second)[:, None]).T @ phi
    hessian[np.diag_indices_from(hessian)] += 2 * ridge
    step = np.linalg.solve(hessian, gradient)
    return step, float(gradient @ step)


def _length(
    phi: Array, weights: Array, mean: Array, ridge: float, theta: Array, step: Array, decrease: float, width: float
) -> float:
    start, length = _value(phi, weights, mean, ridge, theta, width), 1.0
    while length > 1e-8:
        if _value(phi, weights, mean, ridge, theta - length * step, width) <= start - 0.3 * length * decrease:
            break
        length /= 2
    return length


FITS: dict[str, Callable[..., Array]] = {"least squares": squares_fit, "median": median_fit}


def population_fit(loss: str, ridge: float, squared: bool) -> dict[str, Any]:
    """Return g on [0, 3], its share of wrong signs on the support of X, and for the median the duality gap."""
    x, grid = design(), np.linspace(0, 3, 601)[:, None]
    features = Nystroem.from_rows(x, _POINTS, bandwidth=_BANDWIDTH, scaler=Scaler.identity(1))
    phi, weights, mean = features(x), np.full(_POINTS, 1 / _POINTS), eta(x[:, 0])
    fit = FITS[loss]
    theta = fit(phi, weights, mean, ridge) if squared else unsquared(fit, phi, weights, mean, ridge)
    gap = duality_gap(phi, weights, mean, ridge, theta) if loss == "median" and squared else 0.0
    return {"g": (features(grid) @ theta).tolist(), "error": _wrong(phi @ theta, x), "duality_gap": gap}


def sample_fits(seeds: list[int], counts: list[int], ridge: float) -> dict[str, list[list[float]]]:
    """Return, for each loss, the share of wrong signs of g_n, trials x sample sizes n."""
    x = design()
    phi = Nystroem.from_rows(x, _POINTS, bandwidth=_BANDWIDTH, scaler=Scaler.identity(1))(x)
    found: dict[str, list[list[float]]] = {loss: [] for loss in LOSSES}
    for seed in seeds:
        samples = [_sample(seed, count, x) for count in counts]
        for loss, fit in FITS.items():
            found[loss].append([_wrong(phi @ fit(phi, *sample, ridge), x) for sample in samples])
    return found


def _sample(seed: int, count: int, x: Array) -> tuple[Array, Array]:
    """Return n draws of (X, Y) as weights and means at the points."""
    uniform = random_table.uniforms(seed, 0, count, 2, random_table.DESIGN)
    where = np.minimum((uniform[:, 0] * len(x)).astype(int), len(x) - 1)
    up = uniform[:, 1] < (1 + eta(x[:, 0]))[where] / 2
    times, ups = (np.bincount(where, weights, len(x)) for weights in (None, up.astype(float)))
    return times / count, 2 * ups / np.maximum(times, 1) - 1


def _wrong(g: Array, x: Array) -> float:
    return float(np.mean((g > 0) != (x[:, 0] < 1.5)))


@final
class MedianAgainstSquares(Run):
    """Appendix: least squares against the absolute deviation with noise irregularity."""

    name: ClassVar[str] = "median-vs-ls"
    title: ClassVar[str] = "Least squares against the median where noise is irregular"
    caption: ClassVar[str] = (
        "Left: η(x) = E[Y | x] (as in the reference code: the text leaves it to the figure), and the share of X on "
        "which the sign of g_n is wrong, against n. Middle and right: the exact minimisers for least squares and for "
        "the median; solid with the penalty λ‖θ‖² (reference code), dotted with λ‖θ‖ (text)."
    )

    def jobs(self, quick: bool) -> list[Job]:
        """Return the minimisers for known eta, then trials with samples."""
        known = [
            Job(population_fit, {"loss": loss, "ridge": ridge, "squared": squared})
            for squared in (True, False)
            for ridge in RIDGES
            for loss in LOSSES
        ]
        trials = [[seed] for seed in range(4)] if quick else [list(range(i, i + 5)) for i in range(0, 50, 5)]
        counts = [100, 1000, 10_000, 100_000] if quick else [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000]
        return known + [Job(sample_fits, {"seeds": s, "counts": counts, "ridge": RIDGES[1]}) for s in trials]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return the fits by penalty, lambda and loss; errors of samples by loss, trials x n."""
        known, trials = results[:8], results[8:]
        fits = dict(
            zip([_key(s, r, loss) for s in (True, False) for r in RIDGES for loss in LOSSES], known, strict=True)
        )
        errors = {loss: [row for part in trials for row in part[loss]] for loss in LOSSES}
        return {"fits": fits, "counts": self.jobs(quick)[-1].arguments["counts"], "errors": errors, "ridge": RIDGES[1]}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the minimisers, and what samples lead to."""
        errors = {key: fit["error"] for key, fit in numbers["fits"].items()}
        squares = [value for key, value in errors.items() if "least squares" in key]
        median = [value for key, value in errors.items() if "median" in key]
        gap = max(float(fit["duality_gap"]) for fit in numbers["fits"].values())
        return [
            Claim(
                "Least squares suffers from irregular noise: Gibbs oscillations keep it from the perfect classifier",
                "wrong signs for both λ",
                f"wrong on {_percent(squares)} of X",
                HOLDS if min(squares) > 0 else FAILS,
                "exact minimisers, both λ and both penalties",
            ),
            Claim(
                "The absolute deviation approaches f* itself and does not suffer",
                "no wrong sign",
                f"wrong on {_percent(median)} of X",
                HOLDS if max(median) == 0 else FAILS,
                f"exact minimisers, both λ and both penalties; duality gap at most {gap:.0e}",
            ),
            self._converges(numbers),
        ]

    def _converges(self, numbers: Numbers) -> Claim:
        squares, median = (np.mean(numbers["errors"][loss], axis=0) for loss in LOSSES)
        most = numbers["counts"][-1]
        good = median[-1] < squares[-1] / 3 and squares[-1] > 0.05
        law = Rate(**rate(numbers["counts"], numbers["errors"]["median"], _FLOOR))
        sure = law.best == EXPONENTIAL and law.wins[law.best] >= 0.9
        return Claim(
            "f_n of the median converges exponentially fast to f*, that of least squares never does",
            "exponentially / never",
            f"wrong at n = {most}: median {100 * median[-1]:.2f} %, least squares {100 * squares[-1]:.1f} % "
            f"(λ = {numbers['ridge']:g}, {len(numbers['errors']['median'])} trials); "
            f"the median's law, T for n: {law.said()}",
            FAILS if not good else HOLDS if sure else IN_PART,
            "observed, no rate proved, and 'exponentially' only where exp(-c n) foretells best: near the jump Y is "
            "50.5 to 49.5, so little is seen before n is about 1/ε² = 10⁴",
        )

    def draw(self, numbers: Numbers) -> Figure:
        """Return eta, four fits in the paper's places, and the errors of samples."""
        figure, axes = panels(3, 2, width=3.6, height=2.7)
        for half in (np.linspace(0, 1, 400), np.linspace(2, 3, 400)):
            axes[0].plot(half, eta(half), color=COLOURS[1])
        axes[0].set(title="η(x)", xlabel="x", ylim=(-1.4, 1.4))
        for i, (ridge, loss) in enumerate((r, loss) for r in RIDGES for loss in LOSSES):
            self._fits(axes[(1, 2, 4, 5)[i]], numbers, ridge, loss)
        self._errors(axes[3], numbers)
        return figure

    def _fits(self, axes: Axes, numbers: Numbers, ridge: float, loss: str) -> None:
        x, g = np.linspace(0, 3, 601), numbers["fits"][_key(True, ridge, loss)]["g"]
        axes.axvspan(1, 2, color="0.93", linewidth=0)
        axes.axhline(0, color="0.5", linewidth=0.6)
        axes.plot(x, np.where(x < 1.5, 1, -1), "--", color=COLOURS[1], linewidth=1, label="f*")
        axes.plot(x, g, color=COLOURS[0], linewidth=1.4, label="g, λ‖θ‖²")
        axes.plot(
            x, numbers["fits"][_key(False, ridge, loss)]["g"], ":", color=COLOURS[2], linewidth=1.4, label="g, λ‖θ‖"
        )
        error = 100 * numbers["fits"][_key(True, ridge, loss)]["error"]
        axes.set(title=f"{loss}, λ = {ridge:g}", xlabel=f"x (wrong sign on {error:.1f} % of X)", ylim=(-1.7, 1.7))
        axes.legend(frameon=False, fontsize=7, loc="upper right")

    def _errors(self, axes: Axes, numbers: Numbers) -> None:
        for loss, colour in zip(LOSSES, COLOURS, strict=False):
            runs = 100 * np.array(numbers["errors"][loss])
            mean, spread = runs.mean(axis=0), runs.std(axis=0)
            axes.plot(numbers["counts"], mean, color=colour, marker="o", markersize=3, label=loss)
            axes.fill_between(numbers["counts"], mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
        axes.set(xscale="log", ylim=(-2, None), title=f"samples, λ = {RIDGES[1]:g}")
        axes.set(xlabel="n", ylabel="wrong sign on % of X")
        axes.legend(frameon=False, fontsize=7)


def _key(squared: bool, ridge: float, loss: str) -> str:
    return f"{loss}, {ridge:g}, {'squared' if squared else 'unsquared'} penalty"


def _percent(shares: list[float]) -> str:
    low, high = 100 * min(shares), 100 * max(shares)
    return f"{low:.1f} %" if low == high else f"{low:.1f} to {high:.1f} %"
