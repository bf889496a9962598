"""Every run by its name, in the paper's order: a module's runs are one line here."""

from __future__ import annotations

from askone.paper import (
    bounds,
    classes,
    curves,
    libsvm,
    minmax,
    reconstruction,
    resampling,
    simplex,
    streams_real,
    supervision,
    surrogates,
)
from askone.paper.base import Run

RUNS: dict[str, Run] = {
    run.name: run
    for run in (
        *reconstruction.RUNS,
        *curves.RUNS,
        *classes.RUNS,
        *supervision.RUNS,
        *surrogates.RUNS,
        *simplex.RUNS,
        *minmax.RUNS,
        *libsvm.RUNS,
        *streams_real.RUNS,
        *bounds.RUNS,
        *resampling.RUNS,
    )
}
