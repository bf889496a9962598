"""askone status: how far campaigns are."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone.campaign.lazy import campaign as campaigns
from askone.cli.console import say, show
from askone.cli.files import known_store
from askone.errors import AskoneError, StoreUnavailable

ENDS = {"target": "target reached", "budget": "budget spent", "rows": "all rows asked"}
"""Why nobody is asked any more, in words."""


def run_status(chosen: argparse.Namespace, console: Console) -> int:
    """Show all campaigns in a table, or one with its numbers; 1 if one of them cannot be read."""
    with known_store(chosen.store) as store:
        if chosen.name is not None:
            show(console, _one(campaigns.Campaign.open(store, chosen.name)))
            return 0
        names = [record.name for record in store.campaigns()]
        if not names:
            say(console, "No campaigns yet: askone new rows.csv")
            return 0
        shown = Table("campaign", "title", "status")
        for column in ("answers", "budget", "rows", "people"):
            shown.add_column(column, justify="right")
        broken = False
        for name in names:
            try:
                campaign = campaigns.Campaign.open(store, name)
            except StoreUnavailable:
                raise
            except AskoneError as error:  # one that is broken does not hide the others
                broken = True
                shown.add_row(Text(name), Text(str(error)), "broken", *"––––")
                continue
            told = campaign.status(time.time())
            numbers = (
                told["answers"],
                told["budget"] or "–",
                campaign.projection.rows,
                len(campaign.projection.people),
            )
            status = told["status"] if told["finished"] is None else f"finished ({ENDS[told['finished']]})"
            shown.add_row(Text(name), Text(campaign.title), status, *map(str, numbers))
        show(console, shown)
    return int(broken)


def _one(campaign: campaigns.Campaign) -> Table:
    shown = Table(title=Text(campaign.title), show_header=False)
    for name, value in campaign.status(time.time()).items():
        for label, number in value.items() if isinstance(value, dict) else (("", value),):
            if isinstance(number, str | int | float) or number is None:
                text = "–" if number is None else f"{number:.4g}" if isinstance(number, float) else str(number)
                shown.add_row(f"{name} {label}".replace("_", " ").strip(), Text(text))
    for name, text in _measured(campaign):
        shown.add_row(name, Text(text))
    return shown


def _measured(campaign: campaigns.Campaign) -> Iterator[tuple[str, str]]:
    """Yield what exams say: the error, of which rows, and whether later rows are predicted worse."""
    found = campaign.measured()
    curve, drift, in_order = found["curve"], found["drift"], campaign.settings.ask.order == "file"
    if curve["latest"] is not None:
        value, low, high = (f"{curve['latest'][name]:.4g}" for name in ("value", "low", "high"))
        yield curve["measure"], f"{value} {curve['unit']}".rstrip() + f" ({low} to {high})"
        yield "measured on", "rows drawn from all so far; rows still to come may differ" if in_order else "all rows"
    if drift is not None:
        yield (
            "drift",
            f"later rows are predicted worse: error {drift['earlier']:.4g} at first, {drift['later']:.4g} then",
        )
