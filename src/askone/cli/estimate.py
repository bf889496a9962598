"""askone estimate: a mean, a median, a share or an accuracy of a whole table, with its interval."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone.cli.console import say, show
from askone.cli.files import known_store, whole_campaign
from askone.labels.wording import rounded_text

_COLUMNS = (
    "estimate",
    "95 of 100 cases",
    "however often one looks",
    "model alone",
    "bits",
    "rows",
    "as good as labels",
)
_NO_BITS = (
    """No interval: there are too few exams for it. Of numbers, exams = "mean" in [ask] asks them for estimates."""
)


def run_estimate(chosen: argparse.Namespace, console: Console) -> int:
    """Print an estimate of the whole table, or of each group."""
    with known_store(chosen.store) as store:
        campaign = whole_campaign(store, chosen.name, console)
        if chosen.by is None:
            found = {"all rows": campaign.estimate(chosen.what)}
        else:
            found = campaign.estimate(chosen.what, chosen.by)
    shown = Table(chosen.by or "", title=Text(f"{chosen.what} of {campaign.title}"))
    for column in _COLUMNS:
        shown.add_column(column, justify="right")
    for name, one in found.items():
        spans = (_span(one.low, one.high), _span(one.always_low, one.always_high))
        labels = "–" if one.labels is None else f"{one.labels:,.0f}"
        numbers = (_number(one.value), *spans, _number(one.model), one.bits, one.rows, labels)
        shown.add_row(Text(name), *map(str, numbers))
    show(console, shown)
    if all(one.low is None for one in found.values()):
        say(console, _NO_BITS)
    return 0


def _number(value: float | None) -> str:
    return "–" if value is None else rounded_text(value, 4)


def _span(low: float | None, high: float | None) -> str:
    return "–" if low is None else f"{_number(low)} to {_number(high)}"
