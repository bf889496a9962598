"""askone delete, pause, resume, invite and people: what a manager does, for whoever has the database."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone._common.validate import as_count, as_number
from askone.campaign.engine.commands import PERSON, ResumePerson, Rule, SetStatus
from askone.campaign.lazy import campaign as campaigns
from askone.cli.console import counted, number, say, show
from askone.cli.files import known_store, whole_campaign
from askone.errors import AskoneError, InvalidArgument
from askone.labels.wording import percent_text
from askone.server.security.tokens import INVITATIONS, issue_invitation, new_id
from askone.store.notices import Status
from askone.store.store import Store

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
        carry_out(campaign, SetStatus("", new_id("m"), status))
    say(console, told if was != status else f"{chosen.name} was {status} already.")
    return 0


def carry_out(campaign: campaigns.Campaign, command: Rule | SetStatus | ResumePerson) -> None:
    """Do what a manager says, or raise why not."""
    [result] = campaign.serve([command], time.time())
    if isinstance(result, AskoneError):
        raise result


def run_invite(chosen: argparse.Namespace, _: Console) -> int:
    """Print a link by which people join a campaign; alone on standard output, so that it can be piped."""
    hours = as_number(chosen.hours, "--hours", 0.0, 24 * 366.0, strict=True)
    uses = as_count(chosen.uses, "--uses", 1, 10_000)
    if not chosen.url.startswith(("http://", "https://")):
        raise InvalidArgument("--url", "an address that begins with http:// or https://", chosen.url)
    with known_store(chosen.store) as store:
        store.campaign(chosen.name)
        ends = time.time() + _HOUR * hours
        made = issue_invitation(store.accounts, chosen.name, ends, uses, chosen.title)
    if made is None:
        raise InvalidArgument("name", f"that of a campaign with fewer than {INVITATIONS} invitations", chosen.name)
    print(f"{chosen.url.rstrip('/')}/join#{made[1]}")
    until = datetime.fromtimestamp(ends).strftime("%d %B %Y, %H:%M")
    print(
        f"For up to {counted(uses, 'person', 'people')}, until {until}; askone serve must run there.", file=sys.stderr
    )
    return 0


def run_people(chosen: argparse.Namespace, console: Console) -> int:
    """Show who answered in a campaign, and how; or ask somebody again who was paused."""
    with known_store(chosen.store) as store:
        campaign = whole_campaign(store, chosen.name, console)
        if chosen.resume is not None:
            who = person_of(store, chosen.resume, campaign.projection.people, "--resume")
            carry_out(campaign, ResumePerson("", new_id("m"), who))
        found, names = campaign.people(), names_of(store)
    if not found:
        say(console, f"Nobody has answered yet: askone invite {chosen.name} makes a link.")
        return 0
    found.sort(key=lambda one: -one["answers"])
    lines = [_numbers(one) for one in found]
    shown = Table("person", title=Text(campaign.title))
    columns = [name for name in lines[0] if any(line[name] != "–" for line in lines)]
    for column in columns:
        shown.add_column(column, justify="right")
    shown.add_column("")
    for person, line in zip(found, lines, strict=True):
        cells = [line[column] for column in columns]
        shown.add_row(Text(names.get(person["id"], person["id"])), *cells, ", ".join(_notes(person)))
    show(console, shown)
    return 0


def _numbers(person: dict[str, Any]) -> dict[str, str]:
    """Return what a table says of somebody, by its columns."""
    rates = person["rates"]

    def share(value: float | None) -> str:
        return "–" if value is None else percent_text(value)

    def between(name: str, write: Callable[[float], str]) -> str:
        if rates is None:
            return "–"
        low, high = rates[f"{name}_interval"]
        return f"{write(rates[name])} ({write(low)} to {write(high)})"

    return {
        "answers": str(person["answers"]),
        "yes": share(person["yes_rate"]),
        "leans to yes": "–" if rates is None else percent_text(rates["yes_bias"], "+.0f"),
        "skips": str(person["skips"]),
        "seconds": "–" if person["median_seconds"] is None else f"{person['median_seconds']:.1f}",
        "known answers right": _part(person["gold_right"], person["gold_asked"]),
        "agrees with others": f"{share(person['agreement'])} of {person['agreement_of']}"
        if person["agreement_of"]
        else "–",
        "at odds with own": _part(person["contradictions"], person["contradictions_of"]),
        "bits an answer": "unknown" if rates is None else between("bits", "{:.2f}".format),
        "right if yes": between("sensitivity", percent_text),
        "right if no": between("specificity", percent_text),
        "cost a bit": "–" if person["cost_per_bit"] is None else number(person["cost_per_bit"]),
        "flags": str(person["flags"]),
    }


def _part(some: int, of: int) -> str:
    return f"{some} of {of}" if of else "–"


def _notes(person: dict[str, Any]) -> list[str]:
    notes = [] if person["kind"] == PERSON else [person["kind"]]
    notes += [word for word in ("excluded", "hasty") if person[word]]
    if person["paused"] is None:
        return notes
    return [*notes, "paused: at most {bits:.2f} bits by {answers} answers, below {below:g}".format(**person["paused"])]


def names_of(store: Store) -> dict[str, str]:
    """Return what people are called, by their ids."""
    return {user.id: user.name for user in store.accounts.users()}


def person_of(store: Store, given: str, answered: Collection[str], argument: str = "--without") -> str:
    """Return the id of somebody who answered in a campaign, given by it or by their name."""
    user = store.accounts.user_by_name(given)
    for candidate in (given, given if user is None else user.id):
        if candidate in answered:
            return candidate
    names = names_of(store)
    known = ", ".join(sorted(names.get(one, one) for one in answered)[:20]) or "nobody has"
    raise InvalidArgument(argument, f"somebody who answered in this campaign: {known}", given)
