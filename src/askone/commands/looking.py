"""askone status, verify and replay: how far campaigns are, and whether all is as it should be."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone.commands.places import known_store, whole_file
from askone.commands.saying import counted, say, show
from askone.errors import InvalidArgument
from askone.later import later
from askone.store.entries import Entry
from askone.store.notices import Excluded
from askone.store.store import Store
from askone.store.verify import Verdict, verify

if TYPE_CHECKING:
    from askone.campaign import campaign as campaigns
    from askone.campaign import models
else:
    campaigns = later("askone.campaign.campaign")
    models = later("askone.campaign.models")

GOOD, BAD = 0, 1

ENDS = {"target": "target reached", "budget": "budget spent", "rows": "all rows asked"}
"""Why nobody is asked any more, in words."""


def run_status(chosen: argparse.Namespace, console: Console) -> int:
    """All campaigns in a table, or one with its numbers."""
    with known_store(chosen.store) as store:
        if chosen.name is not None:
            show(console, _one(campaigns.Campaign.open(store, chosen.name)))
            return GOOD
        names = [record.name for record in store.campaigns()]
        if not names:
            say(console, "No campaigns yet: askone new rows.csv")
            return GOOD
        shown = Table("campaign", "title", "status")
        for column in ("answers", "budget", "rows", "people"):
            shown.add_column(column, justify="right")
        for name in names:
            campaign = campaigns.Campaign.open(store, name)
            told = campaign.status(time.time())
            numbers = (told["answers"], told["budget"] or "–", campaign.book.rows, len(campaign.book.people))
            status = told["status"] if told["finished"] is None else f"finished ({ENDS[told['finished']]})"
            shown.add_row(Text(name), Text(campaign.title), status, *map(str, numbers))
        show(console, shown)
    return GOOD


def _one(campaign: campaigns.Campaign) -> Table:
    shown = Table(title=Text(campaign.title), show_header=False)
    for name, value in campaign.status(time.time()).items():
        for label, number in value.items() if isinstance(value, dict) else (("", value),):
            if isinstance(number, str | int | float) or number is None:
                shown.add_row(
                    f"{name} {label}".replace("_", " ").strip(), Text("–" if number is None else _short(number))
                )
    return shown


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def run_verify(chosen: argparse.Namespace, console: Console) -> int:
    """Check hashes of logs and rows; 1 if any is broken."""
    with known_store(chosen.store) as store:
        names = [chosen.name] if chosen.name is not None else [record.name for record in store.campaigns()]
        verdicts = [verify(store, name) for name in names]
    for verdict in verdicts:
        say(console, _verdict(verdict))
    return GOOD if all(verdict.valid for verdict in verdicts) else BAD


def _verdict(verdict: Verdict) -> str:
    found = f"{counted(verdict.entries, 'entry', 'entries')}, {counted(verdict.rows, 'row')}"
    if verdict.valid:
        return f"{verdict.campaign}: as written; {found}; head {verdict.head}"
    return f"{verdict.campaign}: BROKEN at entry {verdict.broken}: {verdict.reason}; good before it: {found}"


def run_replay(chosen: argparse.Namespace, console: Console) -> int:
    """Fold the log from its beginning; 1 if the state differs in any bit from the one that is kept."""
    with known_store(chosen.store) as store:
        fresh = campaigns.Campaign.open(store, chosen.name, fresh=True)
        status = _compare(store, fresh, console)
        for person in chosen.without:
            _leave_out(fresh, person, console)
        if chosen.out is not None:
            with whole_file(Path(chosen.out)) as out:
                models.write_model(fresh, out)
            say(console, f"Model: {chosen.out}")
    return status


def _compare(store: Store, fresh: campaigns.Campaign, console: Console) -> int:
    kept = campaigns.Campaign.open(store, fresh.name)
    same = state_bytes(fresh) == state_bytes(kept)
    lessons = counted(len(fresh.book.lessons.all), "lesson")
    told = f"{counted(fresh.book.seq, 'entry', 'entries')}, {lessons} learnt anew"
    verdict = "the state is the same, bit for bit" if same else "the state DIFFERS from the one that was kept"
    say(console, f"{fresh.name}: {told}: {verdict}.")
    return GOOD if same else BAD


def state_bytes(campaign: campaigns.Campaign) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """The state of a campaign's model, to the bit."""
    arrays = campaign.book.learner.to_arrays(campaign.book.state)
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def _leave_out(campaign: campaigns.Campaign, person: str, console: Console) -> None:
    """Nobody's log is changed: the exclusion is folded here alone."""
    book = campaign.book
    if person not in book.people:
        raise InvalidArgument("--without", "somebody who answered in this campaign", person)
    before = len(book.lessons.all)
    book.apply([Entry(Excluded(f"replay-without-{person}", person), seq=book.seq + 1)])
    told = f"{book.people[person].answers} answers; {before} lessons become {len(book.lessons.all)}"
    say(console, f"Without {person}: {told}.")
