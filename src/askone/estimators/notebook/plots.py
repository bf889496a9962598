"""Plots of a model: its learning curve, and what it asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from askone._common.notebooks import pyplot
from askone._common.types import Array, Key
from askone.errors import NotYet
from askone.estimators.notebook.curve import LearningCurve
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset
from askone.session.checkpoints import Example
from askone.session.log import Event
from askone.session.replay import answers

# Told apart by people who see colours differently, on dark and light.
_YES, _NO, _LINE = "#009E73", "#D55E00", "#4f7be8"
_MOST: Final = 30  # bars
_LEGEND: Final = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "frameon": False}


def plot_curve(curve: LearningCurve, ax: Any = None) -> Any:
    """Draw errors against questions; returns the axes."""
    ax = pyplot().subplots()[1] if ax is None else ax
    scale = 100.0 if curve.unit == "%" else 1.0
    ax.plot([n for n, _ in curve.points], [scale * error for _, error in curve.points], color=_LINE, marker=".")
    ax.set(xscale="log", xlabel="questions", ylabel=curve.measure + (f" ({curve.unit})" if curve.unit else ""))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_ylim(bottom=0)
    return ax


def plot_questions(log: Sequence[Event], rows: Mapping[Key, Array], ax: Any = None) -> Any:
    """Draw what was asked and answered: thresholds by row or by number, or how often each class or item; the axes."""
    told = answers(rows, log)
    if not told:
        raise NotYet("no question was answered yet")
    if all(isinstance(one.question, HalfSpace) for one in told):
        return _thresholds(told, pyplot().subplots()[1] if ax is None else ax)
    yes, no = _named(told)
    names = [name for name, _ in (yes + no).most_common(_MOST)][::-1]
    if not names:
        raise NotYet("there is no plot of questions of this kind; log_frame() lists them")
    ax = pyplot().subplots()[1] if ax is None else ax
    texts = [str(name) for name in names]
    ax.barh(texts, [yes[name] for name in names], color=_YES, label="for it")
    ax.barh(texts, [no[name] for name in names], left=[yes[name] for name in names], color=_NO, label="against it")
    ax.set(xlabel="answers")
    ax.legend(**_LEGEND)
    return ax


def _thresholds(told: Sequence[Example], ax: Any) -> Any:
    """Draw the thresholds asked about: yes lies above, no below.  With one column, against it."""
    one = all(len(step.x) == 1 for step in told)
    for said, mark, colour, name in ((True, "^", _YES, "yes: above"), (False, "v", _NO, "no: below")):
        places = [place for place, step in enumerate(told) if step.answer is said]
        x = [float(told[place].x[0]) if one else place + 1 for place in places]
        y = [told[place].question.threshold for place in places]  # type: ignore[attr-defined]  # half-spaces
        ax.scatter(x, y, s=14, marker=mark, color=colour, alpha=0.7, label=name)
    unit = told[0].question.wording.unit  # type: ignore[attr-defined]  # theirs, too
    ax.set(xlabel="the rows' column" if one else "question", ylabel=f"threshold ({unit})" if unit else "threshold")
    ax.legend(**_LEGEND)
    return ax


def _named(told: Sequence[Example]) -> tuple[Counter[Any], Counter[Any]]:
    """Count how often each class or item was spoken for, and against."""
    yes: Counter[Any] = Counter()
    no: Counter[Any] = Counter()
    for step in told:
        if isinstance(step.question, Prefer):
            pair = (step.question.first, step.question.second)
            yes[pair[not step.answer]] += 1
            no[pair[bool(step.answer)]] += 1
        elif isinstance(step.question, Subset):
            (yes if step.answer else no).update(step.question.members)
    return yes, no
