"""Estimates of a whole table: whether their intervals hold the truth, and how wide they are."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from page import Array, grid, spread
from played import played
from scipy import stats

from askone.campaign.kinds.estimates import Bits, Estimate, Laplace, mean, median, share_above
from askone.campaign.kinds.number import Numbers

ROWS, BITS, SPREAD = 20_000, 500, 0.05
LAWS = {
    "Laplace": lambda random, n: random.laplace(size=n),
    "normal": lambda random, n: math.sqrt(2) * random.standard_normal(n),
    "t, 3 degrees": lambda random, n: random.standard_t(3, size=n),
    "skewed": lambda random, n: random.exponential(size=n) - 1,
}
TRUTHS = {"mean": np.mean, "median": np.median, "share above 0.6": lambda y: np.mean(y > 0.6)}


def section(quick: bool) -> str:
    """Return the section: bits alone, then whole campaigns."""
    times, many, answers = (2, 1, 200) if quick else (200, 24, 700)
    return f"""## Estimates of the whole

A mean, a median or a share of all rows, from predictions and one bit about each of some rows. First {BITS} bits about
{ROWS:,} labels in [0, 1] that lie around biased predictions (by .02) with a scale of {SPREAD}; {times} times each.
"Labels": how wide the interval from {BITS} full labels without a model is.

{grid(("residuals", "estimate", "covers", "covers always", "width", "labels"), bits_alone(times))}

Then campaigns of {answers} answers, half of them exams with `exams = "mean"`, about 2,000 rows; {many} campaigns each.
"Error": of the estimate, in standard deviations of the labels.

{grid(("slips", "estimate", "covers", "error", "half-width"), whole_campaigns(many, answers))}
"""


def bits_alone(times: int) -> list[tuple[Any, ...]]:
    """Return a line for each law and estimate."""
    lines: list[tuple[Any, ...]] = []
    for law, draw in LAWS.items():
        found: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(times):
            random = np.random.default_rng(seed)
            f = np.clip(0.5 + 0.15 * random.standard_normal(ROWS), 0.01, 0.99)
            y = np.clip(f - 0.02 + SPREAD * draw(random, ROWS), 0, 1)
            for what, one in estimates(random, f, y).items():
                truth = float(TRUTHS[what](y))
                once, always = ((low or 0.0, high or 0.0) for low, high in ends(one))
                spread = math.sqrt(truth * (1 - truth)) if what.startswith("share") else float(np.std(y))
                covers = [low <= truth <= high for low, high in (once, always)]
                widths = (once[1] - once[0], 2 * 1.96 * spread / math.sqrt(BITS))
                found.setdefault(what, []).append((*covers, *widths))
        lines += [(law, what, *(f"{value:.3f}" for value in np.mean(each, axis=0))) for what, each in found.items()]
    return lines


def ends(one: Estimate) -> tuple[tuple[float | None, float | None], ...]:
    """Return the interval for one look, and that for many."""
    return (one.low, one.high), (one.always_low, one.always_high)


def estimates(random: np.random.Generator, f: Array, y: Array) -> dict[str, Estimate]:
    """Return estimates from bits about rows drawn at random, at thresholds near the prediction, a tenth anywhere."""
    rows = random.permutation(len(f))[:BITS]
    law = stats.laplace(f[rows], 2 * SPREAD)
    below, mass = law.cdf(0), law.cdf(1) - law.cdf(0)
    c = np.where(random.random(BITS) < 0.1, random.random(BITS), law.ppf(below + mass * random.random(BITS)))
    bits = Bits(f[rows], c, 0.1 + 0.9 * law.pdf(c) / mass, (y[rows] > c).astype(float))
    fitted = Laplace.fitted(0, 1, bits)
    return {
        "mean": mean(f, bits, fitted),
        "median": median(f, bits, fitted),
        "share above 0.6": share_above(f, bits, fitted, 0.6),
    }


def whole_campaigns(times: int, answers: int) -> list[tuple[Any, ...]]:
    """Return a line for each rate of slips and estimate."""
    jobs = list(product((0.0, 0.05), range(times), (answers,)))
    found = spread(times == 1, campaign_estimates, *zip(*jobs, strict=True))
    lines: list[tuple[Any, ...]] = []
    for slips in (0.0, 0.05):
        mine = [one for (rate, *_), one in zip(jobs, found, strict=True) if rate == slips]
        for what in ("mean", "median", "share above 60"):
            inside, error, half = np.mean([one[what] for one in mine], axis=0)
            lines.append((f"{slips:.0%}", what, f"{inside:.2f}", f"{error:.3f}", f"{half:.3f}"))
    return lines


def campaign_estimates(slips: float, seed: int, answers: int) -> dict[str, tuple[float, float, float]]:
    """Return, of one campaign, whether each interval holds the truth, the error and the half-width."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(2000, 2))
    y = np.clip(50 + 15 * X[:, 0] + 5 * np.sin(2 * X[:, 1]) + 4 * random.laplace(size=2000), 0, 100)
    labels = Numbers(0, 100)
    campaign = played(labels, X, y, answers, seed, slip=slips, exams="mean", exam_share=0.5)
    truths = {"mean": y.mean(), "median": np.median(y), "share above 60": np.mean(y > 60)}
    told = {}
    for what, truth in truths.items():
        one, unit = campaign.estimate(what), 1.0 if what.startswith("share") else float(np.std(y))
        low, high = (math.nan, math.nan) if one.low is None or one.high is None else (one.low, one.high)
        told[what] = (float(low <= truth <= high), abs(one.value - truth) / unit, (high - low) / 2 / unit)
    return told
