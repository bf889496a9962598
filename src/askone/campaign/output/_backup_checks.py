"""What a backup says, checked as if a stranger had typed it: the chain has no key, so anybody can write one.

Each check raises ``InvalidArgument``, or what a wrong type raises (see ``WRONG``).
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, final

from askone._common.validate import as_choice, as_count, as_flag, as_number
from askone.campaign.engine.commands import MOST_COST
from askone.campaign.kinds.base import Kind
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import LIMITS
from askone.errors import InvalidArgument
from askone.session.bags import LARGEST
from askone.session.log import Answered, Asked, Choice, Fitted
from askone.store import notices
from askone.store.entries import Entry, Row, as_json

WRONG = (KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)
"""What values of a wrong type or shape raise."""
HASH: Final = "[0-9a-f]{64}"
"""How the hash of a fit is written."""
_MOST: Final = 10**12  # answers, budgets: more than there are
_LARGEST: Final = 1e100  # of scores, whose squares are summed
_LATEST: Final = 1e11  # seconds since the epoch: some thousand years
_ID, _KEY, _TITLE, _REASON, _ASIDE = 200, 500, 1_100, 2_000, 1 << 16
_WIDEST: Final = 100_000  # numbers of a row


def as_line(value: object, argument: str, most: int, least: int = 0) -> str:
    """Return a text of one line, of so many characters at most."""
    if not isinstance(value, str) or not least <= len(value) <= most or not value.isprintable():
        raise InvalidArgument(argument, f"a line of {least} to {most} characters", _short(value))
    return value


def check_manifest(manifest: Mapping[str, Any], rows_bytes: int) -> None:
    """Refuse texts and counts that no campaign has; a row takes some bytes of the file that lists them."""
    for name, most in (("name", 100), ("title", _TITLE), ("owner", _ID), ("hash", 64), ("fingerprint", 64)):
        as_line(manifest[name], name, most)
    for name in ("seq", "rows", "media"):
        as_count(manifest[name], name, 0, _MOST)
    as_count(manifest["rows"], "rows", 0, rows_bytes // 40)


@final
class EntryChecks:
    """Checks the entries of a log, one after the other; ``rows`` is how many there are in the end."""

    def __init__(self, settings: Settings, rows: int) -> None:
        self._settings, self._labels, self._rows, self._left = settings, settings.labels, rows, rows
        self._ids: set[str] = set()

    def __call__(self, entry: Entry) -> None:
        """Refuse an entry that nobody here could have made."""
        as_line(entry.id, "id", _ID, 1)
        if entry.id in self._ids:
            raise InvalidArgument("id", "one that comes once", entry.id)
        self._ids.add(entry.id)
        as_line(entry.who, "who", _ID)
        as_number(entry.at, "at", 0, _LATEST)
        if entry.took is not None:
            as_number(entry.took, "took", 0, _LATEST)
        self._aside(entry)
        event = entry.event
        if isinstance(event, Asked):
            self._asked(event, entry.seq)
        elif isinstance(event, Answered):
            as_flag(event.answer, "answer")
        elif isinstance(event, notices.Began | notices.Grown):
            self._grown(event, entry.seq)
        elif isinstance(event, notices.Flagged):
            if not isinstance(event.reason, str) or len(event.reason) > _REASON:
                raise InvalidArgument("reason", f"a text of up to {_REASON} characters", _short(event.reason))
        elif isinstance(event, notices.Limited):
            if event.budget is not None:
                as_count(event.budget, "budget", 0, _MOST)
        elif isinstance(event, notices.Changed):
            self._settings = self._settings.changed(event.settings)
        elif isinstance(event, notices.Ruled):
            if event.answer is not None:
                as_flag(event.answer, "answer")
        elif isinstance(event, notices.StatusChanged):
            as_choice(event.status, "status", notices.STATUSES)
        elif isinstance(event, notices.Excluded | notices.Included | notices.PausedPerson | notices.ResumedPerson):
            as_line(event.person, "person", _ID)
            if isinstance(event, notices.PausedPerson):
                for name in ("bits", "below"):
                    as_number(getattr(event, name), name, 0, 1)
                as_count(event.answers, "answers", 0, _MOST)
        elif isinstance(event, Fitted):
            as_count(event.learnt, "learnt", 0, _MOST)
            if not isinstance(event.hash, str) or not re.fullmatch(HASH, event.hash):
                raise InvalidArgument("hash", "64 digits from 0 to f", _short(event.hash))
            if event.after is not None:
                as_count(event.after, "after", 0, entry.seq)

    def _grown(self, event: notices.Began | notices.Grown, seq: int) -> None:
        if isinstance(event, notices.Began) != (seq == 1):
            raise InvalidArgument("began", "the first entry and no other", seq)
        self._left -= as_count(event.rows, "rows", 0, self._left)

    def _asked(self, event: Asked, seq: int) -> None:
        # Each question may set another one's number aside.
        number = as_count(event.question.number, "number", 0, 2 * seq)
        if event.id != f"ask-{number}":
            raise InvalidArgument("id", f"ask-{number}", event.id)
        as_count(event.learnt, "learnt", 0, _MOST)
        as_line(str(event.row), "row", _KEY)
        self._labels.view(event.question)
        if not str(event.question):
            raise InvalidArgument("question", "a sentence", "nothing")
        if event.choice is not None:
            _check_choice(event.choice)

    def _aside(self, entry: Entry) -> None:
        aside = entry.aside
        if not isinstance(aside, Mapping) or len(as_json(dict(aside))) > _ASIDE:
            raise InvalidArgument("aside", f"an object of up to {_ASIDE} characters", type(aside).__name__)
        for name, value in aside.items():
            check = _ASIDES.get(name)
            if check is None:
                raise InvalidArgument("aside", f"some of {', '.join(_ASIDES)}", _short(name))
            if value is not None:
                check(value, name)
        if isinstance(entry.event, Asked):
            for position in (aside["position"], *aside.get("passed", ())):
                self._position(position)
        if aside.get("ahead") is not None:
            number, position, role, choice, *passed = aside["ahead"]
            for known in passed[0] if passed else ():
                self._position(known)
            as_count(number, "ahead", 0, 2 * entry.seq + 1)
            self._position(position)
            as_choice(role, "role", _ROLES)
            if choice is not None:
                _check_choice(Choice(**choice))

    def _position(self, value: object) -> None:
        as_count(value, "position", 0, self._rows - 1)


def _check_choice(choice: Choice) -> None:
    as_line(choice.rule, "rule", _ID)
    as_count(choice.pool, "pool", 0, _MOST)
    as_count(choice.looked, "looked", 0, _MOST)
    as_number(choice.worth, "worth")
    as_number(choice.share, "share", 0.0, 1.0)


def _check_score(value: Any, name: str) -> None:
    if not isinstance(value, list) or not 2 <= len(value) <= 4:
        raise InvalidArgument(name, "two to four numbers", _short(value))
    for number in value:
        as_number(number, name, -_LARGEST, _LARGEST)


def _check_part(value: Any, name: str) -> None:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidArgument(name, "a flag and two numbers", _short(value))
    as_flag(value[0], name)
    as_number(value[1], name, 0.01, 1)
    as_number(value[2], name, 0, _LARGEST)


def _count(value: Any, name: str) -> None:
    as_count(value, name, 0, _MOST)


def _check_looked(value: Any, name: str) -> None:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidArgument(name, "questions, rows that were looked at, and seconds", _short(value))
    as_count(value[0], name, 1, 2 * LARGEST)
    as_count(value[1], name, 1, LARGEST * LARGEST)
    if value[2] is not None:
        as_number(value[2], name, 0.0, 86_400.0)


def _check_expected(value: Any, name: str) -> None:
    if value is not None:
        as_number(value, name, 0.0, _LARGEST)


def _anything(_: Any, __: str) -> None:
    """``ahead`` and ``passed`` are checked apart; ``predicted`` is the kind's own, and no longer than all may be."""


_ROLES: Final = ("", "gold", "exam", "check")
_ASIDES: Final[dict[str, Callable[[Any, str], object]]] = {
    "position": _count,
    "learnt": _count,
    "role": lambda value, name: as_choice(value, name, _ROLES),
    "truth": as_flag,
    "outside": as_flag,
    "score": _check_score,
    "predicted": _anything,
    "expected": _check_expected,
    "part": _check_part,
    "aim": lambda value, name: as_choice(value, name, ("error", "mean")),
    "chance": lambda value, name: as_number(value, name, 0, 1),
    "bag": _count,
    "looked": _check_looked,
    "program": as_flag,
    "cost": lambda value, name: as_number(value, name, 0, MOST_COST),
    "reason": lambda value, name: as_line(value, name, _ID),
    "ahead": _anything,
    "passed": _anything,
}


def check_row(row: Row, labels: Kind) -> None:
    """Refuse a row that no table has."""
    as_line(row.key, "key", _KEY, 1)
    if len(row.content) > LIMITS.columns or len(row.features) > _WIDEST:
        raise InvalidArgument("content", f"at most {LIMITS.columns} columns", len(row.content))
    for name, value in row.content.items():
        as_line(name, "content", _ID)
        if isinstance(value, str):
            if len(value) > LIMITS.cell or "\0" in value:
                raise InvalidArgument("content", f"texts of up to {LIMITS.cell} characters", _short(value))
        elif value is not None and not isinstance(value, bool):
            as_number(value, "content")
    if row.gold is not None:
        labels.as_label(as_json(row.gold) if isinstance(row.gold, list) else row.gold)


@final
class Pseudonyms:
    """Names for people of a backup whom nobody here may speak for: a new one for each, the same throughout.

    >>> new = Pseudonyms({"ann"})
    >>> new("ann"), new(""), new("admin")[:9], new("admin") == new("admin")
    ('ann', '', 'stranger-', True)
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known, self._salt = frozenset({"", *known}), secrets.token_bytes(16)

    def __call__(self, person: str) -> str:
        if person in self._known:
            return person
        mark = hmac.new(self._salt, person.encode(errors="replace"), hashlib.sha256).hexdigest()
        return f"stranger-{mark[:16]}"

    def entry(self, entry: Entry) -> Entry:
        """Return an entry under these names."""
        event = entry.event
        if isinstance(event, notices.Excluded | notices.Included | notices.PausedPerson | notices.ResumedPerson):
            event = replace(event, person=self(event.person))
        return replace(entry, who=self(entry.who), event=event)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text[:60]
