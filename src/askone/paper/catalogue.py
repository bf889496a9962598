"""Every run by its name, in the paper's order: a module's runs are one line here."""

from __future__ import annotations

from askone.paper import curves, minmax, simplex, surrogates
from askone.paper.base import Run

RUNS: dict[str, Run] = {
    run.name: run
    for run in (
        *curves.RUNS,
        *surrogates.RUNS,
        *simplex.RUNS,
        *minmax.RUNS,
    )
}
