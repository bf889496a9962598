"""Intervals of predictions: do they hold as many labels as they say?"""

from __future__ import annotations

import numpy as np
from page import grid, spread
from played import played, predictions

from askone.campaign.engine.coverage import step
from askone.campaign.settings.settings import Numbers

ROWS = 4000
TABLES = ("shuffled", "sorted, in file order", "noise that doubles, in file order", "5 % slips")


def covered(table: str, answers: int, seed: int) -> tuple[float, float]:
    """Return the shares of labels in their intervals and of medians in theirs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (ROWS, 2))
    X = X[np.argsort(X[:, 0])] if table.startswith("sorted") else X
    median = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1]
    noise = 0.1 * (np.linspace(1, 2, ROWS) if table.startswith("noise") else 1.0)
    labels = np.clip(median + noise * rng.laplace(size=ROWS), -2, 2)
    slip = 0.05 if table.endswith("slips") else 0.0
    order = "file" if table.endswith("order") else "random"
    found = predictions(played(Numbers(-2, 2), X, labels, answers, seed, slip, order=order), range(ROWS))
    held = (found["low"] <= labels) & (labels <= found["high"])
    known = (found["prediction_low"] <= median) & (median <= found["prediction_high"])
    return float(held.mean()), float(known.mean())


def calibrated(wide: float, law: str, bits: int, campaigns: int) -> float:
    """Return the coverage after so many bits of intervals that were ``wide`` times as wide as they should be."""
    rng, log = np.random.default_rng(0), np.zeros(campaigns)
    draw = {"normal": lambda n: rng.normal(size=n), "Student's t, 3": lambda n: rng.standard_t(3, n)}[law]
    many = np.sort(np.abs(draw(200_000)))
    width = wide * np.quantile(many, 0.9)
    for i in range(1, bits + 1):
        log += step(i) * ((np.abs(draw(campaigns)) > width * np.exp(log)) - 0.1)
    return float(np.mean(np.searchsorted(many, width * np.exp(log)) / len(many)))


def section(quick: bool) -> str:
    """Return what was found, as Markdown."""
    repeats, sizes = (1, (150,)) if quick else (10, (150, 800, 2000))
    rows = []
    for table in TABLES[:1] if quick else TABLES:
        for answers in sizes:
            found = np.array(spread(quick, covered, [table] * repeats, [answers] * repeats, range(repeats)))
            rows.append((table, answers, *(f"{share:.3f}" for share in found.mean(axis=0))))
    by_bits = [
        (f"{wide:g}", law, *(f"{calibrated(wide, law, bits, 2000):.3f}" for bits in (30, 100, 300)))
        for wide in (0.5, 1.0, 2.0)
        for law in ("normal", "Student's t, 3")
    ]
    return f"""## Intervals of predictions

`low` and `high` are claimed to hold 90 % of labels, in the long run for any sequence; `prediction_low` and
`prediction_high` to hold the median at about 95 % of rows. {repeats} campaigns each; labels with Laplace noise around a
curved surface.

{grid(("table", "answers", "labels in their interval", "medians in theirs"), rows)}

By the bits alone, from intervals that are too narrow, right or too wide at first:

{grid(("times as wide", "noise", "after 30 bits", "100", "300"), by_bits)}"""
