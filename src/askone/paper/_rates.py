"""Which law a curve follows: power, exp(-c sqrt T) or exp(-c T), by how well each forecasts the curve's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array

POWER, ROOT, EXPONENTIAL = "T^(-a)", "exp(-c sqrt T)", "exp(-c T)"
LAWS: dict[str, Callable[[Array], Array]] = {POWER: np.log, ROOT: np.sqrt, EXPONENTIAL: np.asarray}
_RESAMPLED = 300
_FITTED = 0.6  # of the points; the rest is forecast


@final
@dataclass(frozen=True)
class Rate:
    """The law that forecasts best, the mean errors of log risk of all, and how often each wins over resampled trials.

    ``exponent`` is the a (or c) of each law, fitted to all points; ``span`` the questions fitted and forecast.
    """

    best: str
    errors: dict[str, float]
    wins: dict[str, float]
    exponent: dict[str, float]
    span: tuple[int, int, int]

    def said(self) -> str:
        """Return the finding in words."""
        errors = ", ".join(f"{law} {self.errors[law]:.2f}" for law in LAWS)
        start, split, stop = self.span
        return (
            f"fitted on T = {start} to {split}, foretold to {stop}: {self.best} is best in "
            f"{100 * self.wins[self.best]:.0f} % of resamples (errors of log risk: {errors})"
        )


def rate(at: Sequence[int], runs: ArrayLike, floor: float = 0.0, seed: int = 0) -> dict[str, Any]:
    """Return the ``Rate`` of the mean of the runs (trials x points), as plain values.

    Counted are the points from the last one at which the mean was still above half of the first, to the last one
    above ``floor``.  Each law is a line in log T, sqrt T or T, fitted to log risk on the first 60 % of them.

    >>> T = [2**k for k in range(3, 12)]
    >>> rate(T, [[t**-0.5 for t in T]] * 2)["best"], rate(T, [[np.exp(-0.1 * t**0.5) for t in T]] * 2)["best"]
    ('T^(-a)', 'exp(-c sqrt T)')
    """
    values, times = np.asarray(runs, dtype=float), np.asarray(at, dtype=float)
    mean = values.mean(axis=0)
    high, low = np.flatnonzero(mean > 0.5 * mean[0]), np.flatnonzero(mean <= floor)
    start, stop = int(high[-1]), int(low[low > high[-1]][0]) if np.any(low > high[-1]) else len(mean)
    if stop - start < 5:
        start, stop = max(0, stop - 5), stop
    kept, fitted = slice(start, stop), start + max(3, round(_FITTED * (stop - start)))
    chosen = np.random.default_rng(seed).integers(len(values), size=(_RESAMPLED, len(values)))
    tiny = max(floor, 1e-300) / 10
    errors = _foretold(times[kept], mean[kept], fitted - start, tiny)
    drawn = [_foretold(times[kept], values[rows, kept].mean(axis=0), fitted - start, tiny) for rows in chosen]
    won = [min(one, key=lambda law, one=one: one[law]) for one in drawn]  # type: ignore[misc]
    logs = np.log(np.maximum(mean[kept], tiny))
    found = Rate(
        min(errors, key=lambda law: errors[law]),
        errors,
        {law: won.count(law) / len(won) for law in LAWS},
        {law: -float(np.polyfit(along(times[kept]), logs, 1)[0]) for law, along in LAWS.items()},
        (int(times[start]), int(times[fitted - 1]), int(times[stop - 1])),
    )
    return asdict(found)


def _foretold(times: Array, mean: Array, fitted: int, tiny: float) -> dict[str, float]:
    """Return the root mean squared error of log risk on the points that no law was fitted to."""
    logs, errors = np.log(np.maximum(mean, tiny)), {}
    for law, along in LAWS.items():
        line = np.polyfit(along(times[:fitted]), logs[:fitted], 1)
        errors[law] = float(np.sqrt(np.mean((np.polyval(line, along(times[fitted:])) - logs[fitted:]) ** 2)))
    return errors
