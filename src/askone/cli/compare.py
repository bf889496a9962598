"""askone compare: what other models would have made of a campaign's answers."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone.campaign.lazy import campaign as campaigns
from askone.campaign.lazy import comparison
from askone.cli.console import counted, number, say, show
from askone.cli.files import known_store


def run_compare(chosen: argparse.Namespace, console: Console) -> int:
    """Print how well each model would have forecast the answers, beside the campaign's own."""
    with known_store(chosen.store) as store:
        campaign = campaigns.Campaign.open(store, chosen.name)
        with console.status("learning the answers anew"):
            found = comparison.compare_models(campaign)
    if chosen.json:
        say(console, json.dumps(found.to_json(), allow_nan=False))
        return 0
    if found.models:
        show(console, _table(campaign.title, found))
    say(console, found.verdict)
    return 0


def _table(title: str, found: comparison.ModelComparison) -> Table:
    shown = Table("model", "measured by", title=Text(f"{title}: {counted(found.answers, 'answer')}"))
    for column in ("value", "beside the campaign's model", "answers"):
        shown.add_column(column, justify="right")
    for one in found.models:
        measure = f"{one.measure} in {one.unit}" if one.unit else one.measure
        beside = "–" if one.name == comparison.OWN else _with_error(one.difference, one.difference_error, "+")
        shown.add_row(Text(one.name), Text(measure), _with_error(one.value, one.error), beside, f"{one.answers:,}")
    return shown


def _with_error(value: float, error: float, sign: str = "") -> str:
    """Return a number and its standard error.

    >>> _with_error(0.0312, 0.01234, "+")
    '+0.0312 ± 0.0123'
    """
    return f"{sign if value > 0 else ''}{number(value)} ± {number(error)}"
