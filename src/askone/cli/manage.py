"""askone delete, pause, resume, invite and people: what a manager does, for whoever has the database."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone._common.validate import as_count, as_number
from askone.campaign.engine.commands import SetStatus
from askone.campaign.lazy import campaign as campaigns
from askone.cli.console import counted, say, show
from askone.cli.files import known_store
from askone.errors import AskoneError, InvalidArgument
from askone.server.security.tokens import digest, new_id, new_secret
from askone.store.notices import Status
from askone.store.store import Store

_INVITATIONS = 500  # of a campaign, as on a server
_HOUR = 3600.0


def run_delete(chosen: argparse.Namespace, console: Console) -> int:
    """Delete a campaign with its rows and its log, once that is said twice."""
    with known_store(chosen.store) as store:
        rows, answers = store.campaign(chosen.name).rows, campaigns.Campaign.open(store, chosen.name).projection.answers
        if not chosen.yes:
            _confirm(chosen.name, rows, answers, console)
        store.delete(chosen.name)
    say(console, f"{chosen.name} is deleted: {counted(rows, 'row')} and {counted(answers, 'answer')}.")
    return 0


def _confirm(name: str, rows: int, answers: int, console: Console) -> None:
    if not sys.stdin.isatty():
        raise InvalidArgument("--yes", "given where nobody can be asked: a deleted campaign is gone", None)
    say(
        console,
        f"{name} has {counted(rows, 'row')} and {counted(answers, 'answer')} (askone backup {name} keeps them).",
    )
    typed = input("Type its name to delete it for good: ")
    if typed.strip() != name:
        raise InvalidArgument("name", f"{name}, typed once more; nothing was deleted", typed)


def run_pause(chosen: argparse.Namespace, console: Console) -> int:
    """Ask nobody until it is resumed."""
    return _set_status(chosen, "paused", f"{chosen.name} is paused; go on with: askone resume {chosen.name}", console)


def run_resume(chosen: argparse.Namespace, console: Console) -> int:
    """Go on asking."""
    return _set_status(chosen, "running", f"{chosen.name} is running.", console)


def _set_status(chosen: argparse.Namespace, status: Status, told: str, console: Console) -> int:
    with known_store(chosen.store) as store:
        campaign = campaigns.Campaign.open(store, chosen.name)
        was = campaign.projection.status
        [result] = campaign.serve([SetStatus("", new_id("m"), status)], time.time())
        if isinstance(result, AskoneError):
            raise result
    say(console, told if was != status else f"{chosen.name} was {status} already.")
    return 0


def run_invite(chosen: argparse.Namespace, _: Console) -> int:
    """Print a link by which people join a campaign; alone on standard output, so that it can be piped."""
    hours = as_number(chosen.hours, "--hours", 0.0, 24 * 366.0, strict=True)
    uses = as_count(chosen.uses, "--uses", 1, 10_000)
    if not chosen.url.startswith(("http://", "https://")):
        raise InvalidArgument("--url", "an address that begins with http:// or https://", chosen.url)
    with known_store(chosen.store) as store:
        store.campaign(chosen.name)
        if len(store.accounts.invitations(chosen.name)) >= _INVITATIONS:
            raise InvalidArgument("name", f"that of a campaign with fewer than {_INVITATIONS} invitations", chosen.name)
        secret, ends = new_secret(), time.time() + _HOUR * hours
        store.accounts.add_invitation(new_id("i"), digest(secret), chosen.name, ends, uses, chosen.title)
    print(f"{chosen.url.rstrip('/')}/join#{secret}")
    until = datetime.fromtimestamp(ends).strftime("%d %B %Y, %H:%M")
    print(
        f"For up to {counted(uses, 'person', 'people')}, until {until}; askone serve must run there.", file=sys.stderr
    )
    return 0


_JUDGED = "known answers right", "agrees with others", "bits an answer"


def run_people(chosen: argparse.Namespace, console: Console) -> int:
    """Show who answered in a campaign, and how."""
    with known_store(chosen.store) as store:
        campaign = campaigns.Campaign.open(store, chosen.name)
        found, names = campaign.people(), names_of(store)
    if not found:
        say(console, f"Nobody has answered yet: askone invite {chosen.name} makes a link.")
        return 0
    shown = Table("person", title=Text(campaign.title))
    for column in (
        "answers",
        "yes",
        "skips",
        "seconds",
        "known answers right",
        "agrees with others",
        "bits an answer",
        "flags",
    ):
        shown.add_column(column, justify="right")
    shown.add_column("")
    for person in sorted(found, key=lambda one: -one["answers"]):
        notes = [word for word, holds in (("excluded", person["excluded"]), ("hasty", person["hasty"])) if holds]
        shown.add_row(Text(names.get(person["id"], person["id"])), *_numbers(person), ", ".join(notes))
    show(console, shown)
    return 0


def _numbers(person: dict[str, Any]) -> tuple[str, ...]:
    def share(value: float | None) -> str:
        return "–" if value is None else f"{value:.0%}"

    known = f"{person['gold_right']} of {person['gold_asked']}" if person["gold_asked"] else "–"
    seconds = "–" if person["median_seconds"] is None else f"{person['median_seconds']:.1f}"
    agrees = f"{share(person['agreement'])} of {person['agreement_of']}" if person["agreement_of"] else "–"
    bits = "–" if person["rates"] is None else f"{person['rates']['bits']:.2f}"
    counts = (str(person["answers"]), share(person["yes_rate"]), str(person["skips"]))
    return (*counts, seconds, known, agrees, bits, str(person["flags"]))


def names_of(store: Store) -> dict[str, str]:
    """Return what people are called, by their ids."""
    return {user.id: user.name for user in store.accounts.users()}


def person_of(store: Store, given: str, answered: Collection[str]) -> str:
    """Return the id of somebody who answered in a campaign, given by it or by their name."""
    user = store.accounts.user_by_name(given)
    for candidate in (given, given if user is None else user.id):
        if candidate in answered:
            return candidate
    names = names_of(store)
    known = ", ".join(sorted(names.get(one, one) for one in answered)[:20]) or "nobody has"
    raise InvalidArgument("--without", f"somebody who answered in this campaign: {known}", given)
