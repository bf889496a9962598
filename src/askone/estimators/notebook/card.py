"""A model as a card in a notebook: what it learns, from how many answers, and its learning curve.

Everything is escaped, and drawn in the notebook's own colour of text, so that it is readable on dark and light.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Final

from askone.estimators.notebook.curve import LearningCurve
from askone.labels.base import Space
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.labels.wording import rounded_text
from askone.questions.base import listed

_WIDTH, _HEIGHT, _EDGE = 360, 96, 6
_NAMES: Final = 20
_CARD: Final = (
    "display:inline-block;max-width:40em;padding:.8em 1.1em;border:1px solid rgba(128,128,128,.45);border-radius:8px;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:inherit"
)
_NAME: Final = "padding:0 1em 0 0;text-align:left;vertical-align:top;opacity:.7;background:none;border:0"
_VALUE: Final = "padding:0;text-align:left;background:none;border:0;overflow-wrap:anywhere"


def described(space: Space | None) -> str:
    """Return what labels are, in words; None: numbers whose range is still sought.

    >>> described(Real(-30, 45, unit="°C"))
    'a number from -30 to 45 °C'
    >>> described(Real(15_000, 120_000, unit="EUR"))
    'a number from 15,000 to 120,000 EUR'
    """
    if isinstance(space, Real):
        several = f"{space.m} numbers, the first" if space.m > 1 else "a number"
        ends = f"{rounded_text(space.lows[0], 4)} to {rounded_text(space.highs[0], 4)}"
        found = " (a range that it found)" if space.is_found else ""
        return f"{several} from {ends} {space.unit}".rstrip() + found
    if not isinstance(space, Ranking | FiniteSpace):
        return "a number, in a range that its first questions find"
    what, names = ("an order of", space.items) if isinstance(space, Ranking) else ("one of", space.names)
    return f"{what} {len(names):,}: {listed(names, _NAMES)}{', …' if len(names) > _NAMES else ''}"


def card(title: str, facts: Iterable[tuple[str, str]], curve: LearningCurve | None) -> str:
    """Return HTML.

    >>> "&lt;b&gt;" in card("<b>", [], None)
    True
    """
    lines = "".join(
        f'<tr style="background:none"><td style="{_NAME}">{escape(name)}</td>'
        f'<td style="{_VALUE}">{escape(text)}</td></tr>'
        for name, text in facts
    )
    drawn = "" if curve is None or len(curve.points) < 2 else _drawn(curve)
    table = f'<table style="border:0;margin:.4em 0 0;color:inherit;font-size:inherit">{lines}</table>'
    return f'<div class="askone-card" style="{_CARD}"><strong>{escape(title)}</strong>{table}{drawn}</div>'


def _drawn(curve: LearningCurve) -> str:
    """Return the curve as SVG: the logarithm of the number of questions from left to right, errors from 0 upward."""
    first, last = (math.log(curve.points[place][0]) for place in (0, -1))
    top = max(error for _, error in curve.points) or 1.0
    across, up = (_WIDTH - 2 * _EDGE) / max(last - first, 1e-9), (_HEIGHT - 2 * _EDGE) / top
    places = " ".join(
        f"{_EDGE + (math.log(count) - first) * across:.1f},{_HEIGHT - _EDGE - error * up:.1f}"
        for count, error in curve.points
    )
    ground = f'<path d="M{_EDGE} {_HEIGHT - _EDGE}H{_WIDTH - _EDGE}" stroke="currentColor" opacity=".4"/>'
    line = f'<polyline points="{places}" fill="none" stroke="#4f7be8" stroke-width="2" stroke-linejoin="round"/>'
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" style="width:100%;max-width:{_WIDTH}px;height:auto;display:block"'
    return f'<svg role="img" aria-label="{escape(str(curve))}" {box}>{ground}{line}</svg>'
