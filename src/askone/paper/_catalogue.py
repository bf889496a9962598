"""Every run by its name, in the paper's order: a run is one line here."""

from __future__ import annotations

from askone.paper._base import Run
from askone.paper.figures.defaults import Defaults
from askone.paper.figures.fig1 import Reconstruction, StreamingHistory
from askone.paper.figures.fig2_left import RegressionCurves
from askone.paper.figures.fig2_right import ClassificationCurves, InfimumLoss
from askone.paper.figures.libsvm import Pendigits, Usps
from askone.paper.figures.lower_bound import LowerBound
from askone.paper.figures.median_vs_ls import MedianAgainstSquares
from askone.paper.figures.minmax import MinMaxGame
from askone.paper.figures.plain_sgd import PlainSGD
from askone.paper.figures.rankings import Rankings
from askone.paper.figures.resampling import Resampling
from askone.paper.figures.simplex import QueryStrategy, SimplexLevels
from askone.paper.figures.theorem1 import Bound
from askone.paper.figures.weather_calcofi import Calcofi, Weather

RUNS: dict[str, Run] = {
    run.name: run
    for run in (
        Reconstruction(),
        StreamingHistory(),
        RegressionCurves(),
        ClassificationCurves(),
        InfimumLoss(),
        PlainSGD(),
        MedianAgainstSquares(),
        SimplexLevels(),
        QueryStrategy(),
        MinMaxGame(),
        Usps(),
        Pendigits(),
        Weather(),
        Calcofi(),
        Defaults(),
        Bound(),
        LowerBound(),
        Rankings(),
        Resampling(),
    )
}
