"""Figures of the paper: the door to matplotlib that needs no window.

A figure is drawn without a window (no pyplot, no global state) and written as PNG and PDF.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from askone.errors import MissingExtra

try:
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtra("figures need matplotlib: pip install 'askone[paper]'") from error

__all__ = ["COLOURS", "Axes", "Figure", "band", "panels", "save", "save_svg"]

# Told apart by people who see colours differently (Okabe and Ito), in the order of the paper's curves.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def panels(columns: int, rows: int = 1, width: float = 4.2, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels, and its axes row by row."""
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.ravel())


def band(
    axes: Axes, x: ArrayLike, runs: ArrayLike, label: str, colour: str, *, style: str = "-", log: bool = True
) -> None:
    """Draw the mean of some runs (trials x points) and one standard deviation on each side."""
    values = np.asarray(runs, dtype=float)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    axes.plot(x, mean, style, color=colour, label=label, linewidth=1.6)
    # On a logarithmic axis a band that dives below zero would hide the curve: it ends at a tenth of the mean.
    low = np.maximum(mean - spread, 0.1 * mean) if log else mean - spread
    axes.fill_between(x, low, mean + spread, color=colour, alpha=0.2, linewidth=0)
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")


def save(figure: Figure, stem: Path) -> list[Path]:
    """Return the figure as PNG and PDF."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_suffix(".png"), stem.with_suffix(".pdf")]
    for path in paths:
        figure.savefig(path, dpi=150, metadata={"CreationDate": None} if path.suffix == ".pdf" else None)
    return paths


def save_svg(figure: Figure, path: Path) -> None:
    """Save the figure as SVG, on white, the same bytes for the same figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "askone"}):  # it names parts by chance otherwise
        figure.savefig(path, format="svg", facecolor="white", metadata={"Date": None})
