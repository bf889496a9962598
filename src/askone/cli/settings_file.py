"""Settings from the command line and for it."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askone._common.validate import as_choice
from askone.campaign.kinds.registry import KINDS, UNSURE
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import GOLD_SHARE
from askone.campaign.tables.base import ReadOptions, Table
from askone.campaign.tables.open import open_table
from askone.campaign.tables.sql import open_query, without_secrets
from askone.errors import InvalidArgument

Record = dict[str, Any]

_HEADER = "# A campaign for askone: edit, then run `askone new THIS-FILE`.\n\n"

_OPTIONS: dict[str, str] = {
    **{one: one for one in ("title", "name", "embed")},
    **{f"rows.{one}": one for one in ("part", "query", "header", "key", "gold", "show", "learn")},
    **{f"labels.{setting}": option for kind in KINDS.values() for option, setting in kind.options.items()},
    "labels.kind": "kind",
    "ask.budget": "budget",
    "question.wording": "wording",
}
"""What errors call the values of options."""


@contextmanager
def named_by_options(chosen: argparse.Namespace, declared: bool = False) -> Iterator[None]:
    """Name options in what is refused, in place of their settings; ``declared``: only those that were given."""
    sets = {pair.partition("=")[0].strip() for pair in vars(chosen).get("set", ())}
    named = {
        path: vars(chosen).get("part_by", "--sheet") if name == "part" else f"--{name}"
        for path, name in _OPTIONS.items()
        if name in chosen and (not declared or vars(chosen)[name] is not None)
    }
    named |= {path: f"--set {path}" for path in sets}
    try:
        yield
    except InvalidArgument as error:
        allowed = re.sub(r"\b[a-z]+\.[a-z_]+\b", lambda match: named.get(match[0], match[0]), error.allowed)
        raise InvalidArgument(named.get(error.argument, error.argument), allowed, error.got) from error


def commented(settings: Settings) -> str:
    """Return the settings as TOML, with a note on each; those without a value are there as examples, commented out."""
    return _HEADER + settings.to_toml(annotated=True)


def from_options(chosen: argparse.Namespace, suggested: Settings | None, declared: bool = False) -> Settings:
    """Return settings from a command's options, over those that a table suggests or, ``declared``, a TOML file has.

    An empty key or gold is none.
    """
    record: Record = {} if suggested is None else suggested.to_json()
    rows: Record = record.setdefault("rows", {})
    rows.update({name: value or None for name, value in _given(key=chosen.key, gold=chosen.gold).items()})
    rows.update(_given(show=chosen.show, learn=chosen.learn))
    for name, gone in (("show", [chosen.gold]), ("learn", [chosen.gold, chosen.key])):
        if declared and rows.get(name) and getattr(chosen, name) is None:
            rows[name] = [column for column in rows[name] if column not in gone]
    rows.update(_given(part=chosen.part, query=chosen.query, header=chosen.header))
    if not declared:
        rows.update(_given(file=chosen.file and without_secrets(chosen.file)))
    record["labels"] = _labels(chosen, record.get("labels"), declared)
    record["title"] = chosen.title or record.get("title") or "Campaign"
    record.setdefault("ask", {}).update(_given(budget=chosen.budget))
    if not rows.get("gold"):
        record["ask"]["gold_share"] = 0.0
    elif chosen.gold is not None or not declared:
        record["ask"]["gold_share"] = record["ask"].get("gold_share") or GOLD_SHARE
    record.setdefault("question", {}).update(_given(wording=chosen.wording))
    for pair in chosen.set:
        _put(record, pair)
    asked_for = declared or any(pair.startswith("ask.gold_share") for pair in chosen.set)
    if not asked_for and record.get("privacy", {}).get("epsilon") is not None:
        record["ask"]["gold_share"] = 0.0  # whoever answers in private is not measured by what is known
    return Settings.from_json(record)


def _labels(chosen: argparse.Namespace, suggested: Record | None, declared: bool) -> Record:
    """Return the labels that options give, over those that were declared or suggested."""
    given = {
        name: _given(**{setting: vars(chosen)[option] for option, setting in kind.options.items()})
        for name, kind in KINDS.items()
    }
    needed = (name for name, kind in KINDS.items() if any(one in given[name] for one in kind.required()))
    spoken_of = [name for name, options in given.items() if options]
    known = suggested["kind"] if suggested and (declared or suggested["kind"] != UNSURE.kind) else None
    if spoken_of and not declared and known not in spoken_of:
        known = spoken_of[0]  # what was guessed of a table gives way to what somebody said
    kind = chosen.kind or next(needed, None) or known
    if kind is None:
        *others, last = [one.usage for one in KINDS.values()]
        raise InvalidArgument("--kind", f"{', '.join(others)} or {last}", "nothing")
    as_choice(kind, "--kind", KINDS)
    for name, options in given.items():
        if name != kind and options:
            flag = next(option for option, setting in KINDS[name].options.items() if setting in options)
            raise InvalidArgument(f"--{flag}", f"left out for --kind {kind}", vars(chosen)[flag])
    same = suggested if suggested and suggested["kind"] == kind else {}
    found = {"kind": kind, **same, **given.get(kind, {})}
    for option, setting in KINDS[kind].options.items():
        if setting in KINDS[kind].required() and not found.get(setting):
            raise InvalidArgument(f"--{option}", f"given, for --kind {kind}", "nothing")
    return found


def _given(**options: Any) -> Record:
    return {name: value for name, value in options.items() if value is not None}


def _put(record: Record, pair: str) -> None:
    path, equals, text = pair.partition("=")
    section, dot, name = path.strip().partition(".")
    if not (equals and dot):
        raise InvalidArgument("--set", "SECTION.NAME=VALUE, such as ask.overlap=3", pair)
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    part = record.setdefault(section, {})
    if not isinstance(part, dict):
        raise InvalidArgument("--set", "SECTION.NAME=VALUE, such as ask.overlap=3", pair)
    part[name] = value


def name_of(title: str) -> str:
    """Return a campaign's short name, from its title.

    >>> name_of("Prices of used bikes (2026)"), name_of("价格")
    ('prices-of-used-bikes-2026', 'campaign')
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "campaign"


def table_of(settings: Settings, beside: Path) -> Table | None:
    """Return the table of rows, if there is one; a relative path is seen from the TOML file."""
    rows = settings.rows
    return None if rows.file is None else read_table(rows.file, rows.part, rows.query, rows.header, beside.parent)


def read_table(file: str, part: str | None, query: str | None, header: bool | None, beside: Path) -> Table:
    """Return the table in a file, a folder or a database; a relative path is seen from ``beside``."""
    if "://" in file:
        return open_query(file, query, beside)
    if query is not None:
        raise InvalidArgument("rows.query", "left out: it is for databases, such as sqlite:///shop.db", repr(query))
    return open_table(beside / Path(file).expanduser(), options=ReadOptions(part or None, header))
