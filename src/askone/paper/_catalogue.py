"""Every run by its name, in the paper's order: a run is one line here."""

from __future__ import annotations

from askone.paper._base import Run
from askone.paper.figures.calcofi import Calcofi
from askone.paper.figures.fig1 import Reconstruction
from askone.paper.figures.fig2_left import RegressionCurves
from askone.paper.figures.fig2_right import ClassificationCurves
from askone.paper.figures.infimum import InfimumLoss
from askone.paper.figures.libsvm_pendigits import Pendigits
from askone.paper.figures.libsvm_usps import Usps
from askone.paper.figures.median_vs_ls import MedianAgainstSquares
from askone.paper.figures.minmax import MinMaxGame
from askone.paper.figures.plain_sgd import PlainSGD
from askone.paper.figures.query_strategy import QueryStrategy
from askone.paper.figures.resampling import Resampling
from askone.paper.figures.simplex import SimplexLevels
from askone.paper.figures.streaming_history import StreamingHistory
from askone.paper.figures.theory import Bound
from askone.paper.figures.weather import Weather

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
        Bound(),
        Resampling(),
    )
}
