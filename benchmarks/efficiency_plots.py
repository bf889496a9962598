"""The figures of ``efficiency.py``: small multiples of all tasks, and the one of the README."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from efficiency_tasks import ALGORITHM, CHOSEN, DEFAULT, FULL, PASSIVE

from askone.paper._plots import COLOURS, Axes, Figure, panels

_INK, _SOFT = "#222222", "#7A7A7A"
# Told apart by lightness and by style as well: vermilion, blue, grey, and a thin black line.
_STYLES: dict[str, dict[str, Any]] = {
    PASSIVE: {"color": _SOFT, "linewidth": 1.6, "linestyle": "-"},
    FULL: {"color": "#000000", "linewidth": 1.3, "linestyle": (0, (1.5, 1.5))},
    ALGORITHM: {"color": COLOURS[1], "linewidth": 2.0, "linestyle": "-"},
    DEFAULT: {"color": COLOURS[0], "linewidth": 2.8, "linestyle": "-"},
    CHOSEN: {"color": COLOURS[0], "linewidth": 2.2, "linestyle": (0, (4, 1.5))},
}
_NAMES = {
    CHOSEN: "askone, rows chosen",
    DEFAULT: "askone",
    ALGORITHM: "Algorithm 1",
    PASSIVE: "passive",
    FULL: "all labels",
}
_SHORT = {"mean absolute error / standard deviation": "error / std. deviation"}
_LEAST = 1e-9  # an error of zero has no logarithm: it is drawn here, below the panel


def _drawn(axes: Axes, row: dict[str, Any]) -> None:
    for name, style in _STYLES.items():
        if name not in row["curves"]:
            continue
        curve = row["curves"][name]
        mean, error = (np.array(curve[key], dtype=float) for key in ("mean", "error"))
        at, shown = np.array(curve["at"]), np.isfinite(mean)
        low = np.maximum(mean - 2 * error, 0.3 * mean)
        axes.plot(at[shown], np.maximum(mean, _LEAST)[shown], **style, solid_capstyle="round")
        axes.fill_between(at[shown], np.maximum(low, _LEAST)[shown], np.maximum(mean + 2 * error, _LEAST)[shown],
                          color=style["color"], alpha=0.15, linewidth=0)  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_SOFT)
    axes.tick_params(which="both", colors=_INK, labelsize=8, length=3)
    axes.minorticks_off()


def _limits(row: dict[str, Any]) -> tuple[float, float]:
    """All of the default and Algorithm 1, and of the rest what lies within a decade below them."""
    means = {name: [m for m in curve["mean"] if math.isfinite(m)] for name, curve in row["curves"].items()}
    main = [m for name in (CHOSEN, DEFAULT, ALGORITHM) for m in means.get(name, []) if m > 0]
    low, high = min(main), max(max(values) for name, values in means.items() if name != FULL)
    below = [m for m in means.get(FULL, []) if m > low / 5]
    zero = any(m == 0 for name in (DEFAULT, ALGORITHM) for m in means[name])
    return max(min([low, *below]) / (3 if zero else 1.5), 1e-7), 1.4 * high


def draw_tasks(rows: dict[str, Any], columns: int = 4) -> Figure:
    """A panel for each task, both axes logarithmic; coloured words in place of a legend."""
    columns = min(columns, len(rows))
    count = math.ceil(len(rows) / columns)
    figure, axes = panels(columns, count, width=3.1, height=2.6)
    for one, row in zip(axes, rows.values(), strict=False):
        low, high = _limits(row)
        _drawn(one, row)
        one.set_ylim(low, high)
        one.set_title(row["title"], fontsize=9.5, loc="left", color=_INK)
        one.set_ylabel(_SHORT.get(row["error"], row["error"]), fontsize=8, color=_INK)
        _fewer(one, row)
    for one in axes[len(rows) :]:
        one.set_visible(False)
    for one in axes[max(0, len(rows) - columns) : len(rows)]:
        one.set_xlabel("yes/no questions", fontsize=8, color=_INK)
    handles = [axes[0].plot([], [], **_STYLES[name])[0] for name in _NAMES]
    names = [
        "askone, rows chosen",
        "askone, its defaults",
        "Algorithm 1, best settings",
        "passive, best settings",
        "all labels (one label per row)",
    ]
    legend = figure.legend(handles, names, loc="outside upper left", ncols=columns, frameon=False, fontsize=9.5)
    for said, name in zip(legend.get_texts(), _NAMES, strict=True):
        said.set_color(_STYLES[name]["color"])
    return figure


def _times(found: dict[str, Any] | None) -> str:
    """How many times fewer, in round numbers; nothing where the default is not ahead."""
    if found is None or found["ratio"] is None or found["ratio"] < 1.05:
        return ""
    ratio = found["ratio"]
    said = f"{ratio:.0f}" if ratio >= 3 else f"{ratio:.1f}"
    return f"{'over ' if found['least'] else ''}{said}"


def _fewer(axes: Axes, row: dict[str, Any]) -> None:
    """An arrow from where Algorithm 1 ends to where the default is as good."""
    found, times = row["fewer"], _times(row["fewer"])
    if not times or found["level"] <= 0:
        return
    _arrow(axes, found, found["level"], 0.9)
    # The upper right corner is free: all curves come down.
    axes.text(0.98, 0.97, f"{times}× fewer", transform=axes.transAxes, ha="right", va="top", fontsize=9.5, color=_INK,
              fontweight="bold")  # fmt: skip


def _arrow(axes: Axes, found: dict[str, Any], level: float, width: float) -> None:
    style = {"arrowstyle": "<->", "color": _INK, "linewidth": width, "shrinkA": 1, "shrinkB": 1}
    axes.annotate("", (found["ours"], level), (found["theirs"], level), arrowprops=style)


def draw_digits(row: dict[str, Any]) -> Figure:
    """The README's picture: rows chosen, rows by lot, Algorithm 1 and all labels, with their names at the curves."""
    row = {**row, "curves": {name: curve for name, curve in row["curves"].items() if name != PASSIVE}}
    figure, (axes,) = panels(1, width=8.0, height=4.6)
    _drawn(axes, row)
    low, high = _limits(row)
    axes.set_ylim(low, high)
    last = row["questions"]
    axes.set_xlim(row["curves"][DEFAULT]["at"][0] * 0.95, last * 1.03)
    _direct(axes, row, last)
    axes.set_xlabel("yes/no questions asked, one about each digit", fontsize=11, color=_INK)
    axes.set_ylabel("error on unseen digits", fontsize=11, color=_INK)
    axes.tick_params(labelsize=10)
    ticks = [t for t in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0) if low <= t <= high]
    axes.set_yticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    places = [t for t in (30, 100, 300, 1000, 3000, 10_000) if t <= last]
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_title("Learning handwritten digits from yes/no answers", fontsize=14, loc="left", color=_INK,
                   fontweight="bold", pad=14)  # fmt: skip
    return figure


_LONG = {
    DEFAULT: "askone, rows by lot:\none bit, nothing tuned",
    ALGORITHM: "Algorithm 1: one bit,\nbest step and kernel",
    FULL: "all labels:\none class per row",
}


def _direct(axes: Axes, row: dict[str, Any], last: int) -> None:
    """Names at the ends of the curves, moved apart where they would overlap."""
    low, high = (math.log(end) for end in axes.get_ylim())
    ends = sorted(
        (math.log(max(row["curves"][name]["mean"][-1], _LEAST)), name) for name in _LONG if name in row["curves"]
    )
    gap = 0.135 * (high - low)
    places = [max(ends[0][0], low + 0.3 * gap)]
    for end, _ in ends[1:]:
        places.append(max(end, places[-1] + gap))
    if CHOSEN in row["curves"]:  # it ends in the middle
        curve = row["curves"][CHOSEN]
        end = (curve["at"][-1], max(curve["mean"][-1], _LEAST))
        axes.annotate("askone,\nrows chosen", end, textcoords="offset points", xytext=(-60, -14), va="top", ha="right",
                      fontsize=10.5, color=_STYLES[CHOSEN]["color"], linespacing=1.05)  # fmt: skip
    for place, (_, name) in zip(places, ends, strict=True):
        axes.annotate(_LONG[name], (last, math.exp(place)), textcoords="offset points", xytext=(10, 0), va="center",
                      fontsize=10.5, color=_STYLES[name]["color"], annotation_clip=False, linespacing=1.05)  # fmt: skip
