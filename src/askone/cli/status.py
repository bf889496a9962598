"""askone status: how far campaigns are."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone.campaign.lazy import campaign as campaigns
from askone.cli.console import counted, number, say, show
from askone.cli.files import known_store
from askone.errors import AskoneError, StoreUnavailable

_ENDS = {"target": "target reached", "budget": "budget spent", "rows": "all rows asked"}
"""Why nobody is asked any more, in words."""
_AFTER = {
    "target": "the error is where you wanted it: askone export {name} --what model; askone resume {name} goes on",
    "budget": "the budget is spent: askone export {name}, or raise the budget in the browser",
    "rows": "every row was asked about: askone export {name}, or add rows in the browser",
}


def run_status(chosen: argparse.Namespace, console: Console) -> int:
    """Show all campaigns in a table, or say of one how far it is; 1 if one of them cannot be read."""
    with known_store(chosen.store) as store:
        if chosen.name is not None:
            for line in _words(campaigns.Campaign.open(store, chosen.name)):
                say(console, line)
            return 0
        names = [record.name for record in store.campaigns()]
        if not names:
            say(console, "No campaigns yet: askone new rows.csv")
            return 0
        shown = Table("campaign", "title", "status")
        for column in ("answers", "budget", "rows", "people", "error"):
            shown.add_column(column, justify="right")
        shown.add_column("next")
        broken = False
        for name in names:
            try:
                campaign = campaigns.Campaign.open(store, name)
            except StoreUnavailable:
                raise
            except AskoneError as error:  # one that is broken does not hide the others
                broken = True
                shown.add_row(Text(name), Text(str(error)), "broken", *"–––––", f"askone verify {name}")
                continue
            shown.add_row(*map(Text, _line(campaign)))
        show(console, shown)
    return int(broken)


def _line(campaign: campaigns.Campaign) -> tuple[str, ...]:
    told, curve = campaign.status(time.time()), campaign.measured()["curve"]
    status = told["status"] if told["finished"] is None else f"finished ({_ENDS[told['finished']]})"
    counts = (told["answers"], told["budget"], told["rows"] or None, len(campaign.projection.people))
    numbers = ("–" if one is None else f"{one:,}" for one in counts)
    latest = curve["latest"]
    error = "not yet" if latest is None else _measured(campaign, latest) + _larger(campaign, latest)
    return (campaign.name, campaign.title, status, *numbers, error, _next(campaign, told, curve))


def _measured(campaign: campaigns.Campaign, latest: dict[str, float], cases: str = "") -> str:
    """Return the measured error with its band, without which it says little early on: where that begins at 0, its end.

    The middle of such a band may be next to nothing by chance, and would be taken for a good model.
    """
    value, low, high = (_error(campaign, latest[key]) for key in ("value", "low", "high"))
    if campaign.settings.labels.is_share:
        return f"{value} ({high} to {low}{cases})"
    return f"{value} ({low} to {high}{cases})" if latest["low"] > 0 else f"at most {high}{cases}"


def _larger(campaign: campaigns.Campaign, latest: dict[str, Any]) -> str:
    """Return what errors beyond the window may add, which few questions were about."""
    if latest.get("window") is None:
        return ""
    beyond = latest["beyond"]
    more = "nobody was asked about larger ones yet"
    if beyond is not None:
        more = f"larger ones may add up to {_error(campaign, beyond)}"
    return f", of errors up to {_error(campaign, latest['window'])}; {more}"


def _is_no_worse(campaign: campaigns.Campaign, later: float, now: float) -> bool:
    return later >= now if campaign.settings.labels.is_share else later <= now


def _error(campaign: campaigns.Campaign, value: float) -> str:
    """Return an error with its unit, a share as what is wrong of it."""
    labels = campaign.settings.labels
    return number(1 - value, share=True) if labels.is_share else f"{number(value)} {labels.error_unit}".rstrip()


def _next(campaign: campaigns.Campaign, told: dict[str, Any], curve: dict[str, Any]) -> str:
    """Return what comes next, in words."""
    name = campaign.name
    if told["finished"] is not None:
        return _AFTER[told["finished"]].format(name=name)
    if told["status"] == "paused":
        return f"askone resume {name}"
    if told["status"] == "closed":
        return f"askone export {name} --what model"
    if not told["answers"]:
        return f"askone invite {name}, or askone label {name} to answer here"
    if curve["waiting"] is not None and campaign.settings.ask.exam_share:
        more = max(
            1, math.ceil((curve["waiting"]["need"] - curve["waiting"]["have"]) / campaign.settings.ask.exam_share)
        )
        return f"some {counted(more, 'answer')} until the error is known"
    return "more answers"


def _words(campaign: campaigns.Campaign) -> Iterator[str]:
    """Yield how far a campaign is, sentence by sentence."""
    told, found = campaign.status(time.time()), campaign.measured()
    curve = found["curve"]
    status = told["status"] if told["finished"] is None else f"finished, {_ENDS[told['finished']]}"
    budget = f" of {told['budget']:,}" if told["budget"] is not None else ""
    people = counted(len(campaign.projection.people), "person", "people")
    yield f"{campaign.title} ({campaign.name}) is {status}."
    rows = told["rows"]
    asked = f" {told['progress_rows']['asked']:,} of {counted(rows, 'row')} asked about." if rows else ""
    yield f"{told['answers']:,}{budget} answers of {people}.{asked}"
    apart = (("skipped", "skipped"), ("retracted", "taken back"), ("flags", "reported as wrong"), ("open", "open now"))
    if told["anew"] is not None:
        yield (
            "Answers were left out or changed, and the model is still to be made anew without them: a server does it, "
            "and so does whatever hands it out, such as askone export."
        )
    noted = [f"{told[key]:,} {word}" for key, word in apart if told[key]]
    if noted:
        yield f"Questions: {', '.join(noted)}."
    if curve["latest"] is not None:
        error = _measured(campaign, curve["latest"], " in 95 of 100 cases") + _larger(campaign, curve["latest"])
        target = "" if curve["target"] is None else f"; the target is {_target(campaign, curve['target'])}"
        in_order = campaign.settings.ask.order == "file"
        where = "rows drawn from all so far; rows still to come may differ" if in_order else "all rows"
        other = curve["measure"] != campaign.settings.labels.measure
        by = f" It is by the {curve['measure']}." if other else ""
        yield f"Error: {error}, measured on {where}{target}.{by}"
    most = min(told["budget"] or math.inf, told["progress_rows"]["rows"] * campaign.settings.ask.people or math.inf)
    foretold = [] if found["forecast"] is None else found["forecast"]["points"]
    ahead = [point for point in foretold if told["answers"] < point[0] <= most]
    # The forecast follows all of the curve: where few questions measure, it may be above the error now.
    if ahead and (curve["latest"] is None or _is_no_worse(campaign, ahead[-1][2], curve["latest"]["value"])):
        count, _, value, _ = ahead[-1]
        yield f"If it goes on like this: {_error(campaign, value)} after {count:,} answers."
    if found["drift"] is not None:
        earlier, later = (number(found["drift"][key]) for key in ("earlier", "later"))
        yield f"Later rows are predicted worse: error {earlier} at first, {later} then."
    yield f"Next: {_next(campaign, told, curve)}."


def _target(campaign: campaigns.Campaign, target: float) -> str:
    return _error(campaign, 1 - target if campaign.settings.labels.is_share else target)
