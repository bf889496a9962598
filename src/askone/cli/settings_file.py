"""Settings from the command line, and the TOML file with a word on each of them."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askone.campaign.kinds.registry import KINDS, UNSURE
from askone.campaign.settings.settings import Settings
from askone.errors import InvalidArgument

Record = dict[str, Any]

# What each setting is, and an example where it has no value.
NOTES: dict[str, tuple[str, str]] = {
    "title": ("what people see above the questions", ""),
    "rows.file": ("the table: CSV, JSON lines, Parquet, or a folder or zip file of images", '"rows.csv"'),
    "rows.key": ("the column that names each row (none: rows are numbered)", '"id"'),
    "rows.show": ("the columns that people see (none: all)", '["size", "photo"]'),
    "rows.learn": ("the columns that the model sees (none: all but the key)", '["size", "year"]'),
    "rows.gold": ("a column that holds the labels of some rows: it is neither shown nor learnt", '"price"'),
    "labels.kind": ("number, class or order", ""),
    "labels.low": ("the range in which labels plausibly lie (none: the first questions find it)", "0.0"),
    "labels.high": ("", "100.0"),
    "labels.unit": ("stands behind thresholds", '"EUR"'),
    "labels.decimals": ("decimals of thresholds; negative: tens, hundreds, ...", "0"),
    "labels.name": ("what the number is: the price", '"price"'),
    "labels.classes": ("the classes", '["cat", "lion"]'),
    "labels.max_set_size": ("at most so many classes in a question", "3"),
    "labels.items": ("what is put in order", '["tea", "coffee"]'),
    "question.wording": (
        "empty: as usual; numbers may use {threshold}, {amount}, {side}; classes {set}; orders {first}, {second}",
        "",
    ),
    "question.instructions": ("what people should know before they answer", ""),
    "question.answers": ("the words for yes and no", ""),
    "ask.budget": ("answers in all", "2000"),
    "ask.overlap": ("how many people answer each question", ""),
    "ask.gold_share": (
        "share of questions about rows whose label is known, to measure people: 0.05 with rows.gold",
        "",
    ),
    "ask.exam_share": ("share of questions that measure the model", ""),
    "ask.order": ('"stream": rows as they come; "uncertain": those that should tell most', ""),
    "ask.lease_seconds": ("how long a question is held for a person who is silent", ""),
    "ask.per_person": ("answers of one person at most", "500"),
    "ask.target": ("stop when the measured error is below this", "10.0"),
    "ask.price": ("of one answer, for forecasts", "0.05"),
    "ask.currency": ("of the price", '"EUR"'),
    "ask.seconds": ("time for one answer, for forecasts", ""),
    "learner.flip": ("share of answers that are wrong, if you know it", ""),
    "learner.seed": ("of everything random", ""),
    "learner.interval": ("numbers: ask also for intervals that hold this share of labels", "0.8"),
    "learner.loss": ("numbers: what is predicted: median, squared (the mean), huber, logcosh", ""),
    "learner.learner": ("how it learns; auto is best", ""),
}
_GOLD_SHARE = 0.05
_HEADER = "# A campaign for askone: edit, then run `askone new THIS-FILE`.\n"
_TABLE, _VALUE = re.compile(r"\[(\w+)\]$"), re.compile(r"(\w+) = ")


def commented(settings: Settings) -> str:
    """The settings as TOML, with a note on each; those without a value are there as examples, commented out."""
    record, section, lines = settings.to_json(), "", [_HEADER]
    for line in settings.to_toml().splitlines():
        if found := _TABLE.match(line):
            before = [lines.pop()] if lines and not lines[-1] else []  # examples belong above the blank line
            lines += [*_examples(record, section), *before, line]
            section = found[1]
        elif found := _VALUE.match(line):
            lines += _note(f"{section}.{found[1]}".lstrip("."), line)
        else:
            lines.append(line)
    return "\n".join([*lines, *_examples(record, section)]) + "\n"


def _note(path: str, line: str) -> list[str]:
    note = NOTES.get(path, ("", ""))[0]
    return [f"# {note}", line] if note else [line]


def _examples(record: Mapping[str, Any], section: str) -> list[str]:
    """The settings of a section that have no value."""
    part = record.get(section)
    empty = [name for name, value in part.items() if value is None] if isinstance(part, Mapping) else []
    known = [(name, *NOTES[f"{section}.{name}"]) for name in empty if f"{section}.{name}" in NOTES]
    return [f"# {name} = {example}{f'  # {note}' if note else ''}" for name, note, example in known]


def from_options(chosen: argparse.Namespace, suggested: Settings | None, declared: bool = False) -> Settings:
    """Settings from a command's options, over those that a table suggests or, ``declared``, a TOML file has."""
    record: Record = {} if suggested is None else suggested.to_json()
    rows: Record = record.setdefault("rows", {})
    rows.update(_given(key=chosen.key, gold=chosen.gold, show=chosen.show, learn=chosen.learn))
    if chosen.gold is not None:
        for name in ("show", "learn"):
            if rows.get(name) and getattr(chosen, name) is None:
                rows[name] = [column for column in rows[name] if column != chosen.gold]
    if not declared:
        rows.update(_given(file=chosen.file))
    record["labels"] = _labels(chosen, record.get("labels"), declared)
    record["title"] = chosen.title or record.get("title") or "Campaign"
    record.setdefault("ask", {}).update(_given(budget=chosen.budget))
    if rows.get("gold") and (chosen.gold is not None or not declared):
        record["ask"]["gold_share"] = record["ask"].get("gold_share") or _GOLD_SHARE  # else it would measure nobody
    record.setdefault("question", {}).update(_given(wording=chosen.wording))
    for pair in chosen.set:
        _put(record, pair)
    return Settings.from_json(record)


def _labels(chosen: argparse.Namespace, suggested: Record | None, declared: bool) -> Record:
    """The labels that options give, over those that were declared or suggested."""
    given = {
        name: _given(**{setting: vars(chosen)[option] for option, setting in kind.options.items()})
        for name, kind in KINDS.items()
    }
    needed = (name for name, kind in KINDS.items() if any(one in given[name] for one in kind.required()))
    spoken_of = (name for name, options in given.items() if options)
    known = suggested["kind"] if suggested and (declared or suggested["kind"] != UNSURE.kind) else None
    kind = chosen.kind or next(needed, None) or known or next(spoken_of, None)
    if kind is None:
        *others, last = [one.usage for one in KINDS.values()]
        raise InvalidArgument("--kind", f"{', '.join(others)} or {last}", "nothing")
    for name, options in given.items():
        if name != kind and options:
            flag = next(option for option, setting in KINDS[name].options.items() if setting in options)
            raise InvalidArgument(f"--{flag}", f"left out for --kind {kind}", vars(chosen)[flag])
    same = suggested if suggested and suggested["kind"] == kind else {}
    found = {"kind": kind, **same, **given.get(kind, {})}
    for option, setting in KINDS[kind].options.items() if kind in KINDS else ():
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
    """A campaign's short name, from its title.

    >>> name_of("Prices of used bikes (2026)"), name_of("价格")
    ('prices-of-used-bikes-2026', 'campaign')
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "campaign"


def table_of(settings: Settings, beside: Path | None) -> Path | None:
    """Where the rows are; a relative path is seen from the TOML file."""
    if settings.rows.file is None:
        return None
    path = Path(settings.rows.file).expanduser()
    return path if beside is None or path.is_absolute() else beside.parent / path
