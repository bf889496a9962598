"""askone new: from a table to a campaign."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console

from askone.campaign.create import are_labels, create_campaign, require_unknown, with_columns
from askone.campaign.engine.model_builder import unpack
from askone.campaign.kinds.base import listed
from askone.campaign.settings.doubts import doubts
from askone.campaign.settings.settings import RowSettings, Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Table
from askone.campaign.tables.image_tables import ImageTable
from askone.campaign.tables.vectors import with_vectors
from askone.cli.console import counted, row_bar, say
from askone.cli.files import any_store, read_from, whole_file
from askone.cli.settings_file import commented, from_options, name_of, named_by_options, read_table, table_of
from askone.encoding.embedders import name_embedder
from askone.errors import InvalidArgument
from askone.labels.wording import percent_text
from askone.store.store import Store


def run_new(chosen: argparse.Namespace, console: Console) -> int:
    """Make a campaign, or write its settings for editing."""
    with named_by_options(chosen, declared=_is_toml(chosen.file)):
        return _run(chosen, console)


def _run(chosen: argparse.Namespace, console: Console) -> int:
    settings, table = _read(chosen)
    guessed = () if _is_toml(chosen.file) else [name for name in ("key", "gold") if getattr(chosen, name) is None]
    if table is not None:
        require_unknown(settings, table)
    if chosen.out is not None:
        _write(Path(chosen.out), settings, console)
        if chosen.store is None:
            _sum_up(settings, table, None, guessed, console)
            say(console, f"Edit it, then: askone new {quote(chosen.out)}")
            return 0
    name = chosen.name or name_of(settings.title)
    embed = _embedders(chosen.embed)
    with any_store(chosen.store) as store:
        with row_bar(console) as advance:
            create_campaign(store, name, settings, table, "", time.time(), advance, embed)
        rows = store.campaign(name).rows
        place, sentence = store.url, first_question(store, name)
    what = "items to put in order" if table is None else counted(rows, "row")
    say(console, f"Campaign {name}: {what}, in {place}.")
    _sum_up(settings, table, sentence, guessed, console)
    if not _is_toml(chosen.file):
        say(console, "Otherwise: see askone new --help, or --out FILE.toml, edit it, and askone new FILE.toml")
    say(console, f"Next: askone serve{f' --store {quote(chosen.store)}' if chosen.store else ''}")
    return 0


def _sum_up(
    settings: Settings, table: Table | None, sentence: str | None, guessed: Collection[str], console: Console
) -> None:
    for line in summary(settings, table, sentence, guessed):
        say(console, line)
    for doubt in doubts(settings, table):
        say(console, doubt.text + (f" If so: --{doubt.option} {quote(doubt.column)}" if doubt.option else ""))


def _read(chosen: argparse.Namespace) -> tuple[Settings, Table | None]:
    """Return the settings and the table that a file and options speak of."""
    if chosen.file is None:
        settings = from_options(chosen, None)
        if settings.labels.needs_rows:
            raise InvalidArgument("file", "a table of rows; only an order of items needs none", None)
        return settings, None
    path = Path(chosen.file)
    if not _is_toml(chosen.file):
        given = _with_vectors(read_table(chosen.file, chosen.part, chosen.query, chosen.header, Path()), chosen.vectors)
        settings = from_options(chosen, suggest(given, chosen.key, chosen.gold))
        if chosen.gold is None and not are_labels(settings, given):  # a guess that was wrong
            settings = from_options(chosen, suggest(given, chosen.key, ""))
        return _without(with_columns(settings, given), chosen.hide), given
    settings = from_options(chosen, toml_settings(path), declared=True)
    table = _with_vectors(table_of(settings, path), chosen.vectors)
    return settings if table is None else _without(with_columns(settings, table), chosen.hide), table


def _embedders(given: list[str]) -> dict[str, str]:
    """Return the names of embedders by column, loaded."""
    pairs = [text.partition("=") for text in given]
    for text, (column, _, where) in zip(given, pairs, strict=True):
        if not (column and where):
            raise InvalidArgument("embed", "COLUMN=EMBEDDER", repr(text))
    return {column: name_embedder(where) for column, _, where in pairs}


def _with_vectors(table: Any, path: str | None) -> Any:
    return table if table is None or path is None else with_vectors(table, Path(path))


def _is_toml(file: str | None) -> bool:
    return file is not None and file.lower().endswith(".toml")


def _without(settings: Settings, hidden: list[str]) -> Settings:
    """Return settings in which some columns are neither shown nor learnt."""
    rows = settings.rows
    show, learn = list(rows.show or ()), list(rows.learn or ())
    for name in hidden:
        if name not in (*show, *learn):
            raise InvalidArgument("--hide", f"columns that are shown or learnt: {listed([*show, *learn])}", repr(name))
    kept = [tuple(one for one in names if one not in hidden) for names in (show, learn)]
    return replace(settings, rows=replace(rows, show=kept[0], learn=kept[1]))


def toml_settings(path: Path) -> Settings:
    """Return the settings of a TOML file."""
    what = "a TOML file of settings (askone new TABLE --out FILE.toml writes one)"
    if path.suffix.lower() != ".toml":
        raise InvalidArgument("file", what, str(path))
    with read_from(path, "file", what) as file:
        text = file.read()
    try:
        return Settings.from_toml(text.decode("utf-8-sig"))
    except InvalidArgument as error:
        raise InvalidArgument(f"{path}: {error.argument}", error.allowed, error.got) from error
    except UnicodeDecodeError as error:
        raise InvalidArgument("file", "a TOML file in UTF-8", str(path)) from error


def _write(path: Path, settings: Settings, console: Console) -> None:
    if settings.rows.file is not None:  # seen from the TOML file, wherever it is read from
        kind, slashes, name = settings.rows.file.rpartition("sqlite:///")
        file = Path(name)
        there = file.name if file.absolute().parent == path.absolute().parent else str(file.absolute())
        there = settings.rows.file if "://" in name else kind + slashes + there
        settings = replace(settings, rows=replace(settings.rows, file=there))
    with whole_file(path) as out:
        out.write(commented(settings).encode())
    say(console, f"Settings: {path}")


# -- what was made of a table: what was guessed can be wrong ------------------------------------------


def summary(
    settings: Settings, table: Table | None, question: str | None = None, guessed: Collection[str] = ()
) -> list[str]:
    """Return labels, question and columns; ``question`` is the first one, if there is a campaign already.

    ``guessed`` says which of "key" and "gold" nobody chose: it is told how to undo them.

    >>> from askone.campaign.settings.settings import AskSettings, Items
    >>> for line in summary(Settings("Drinks", Items(("tea", "milk")), ask=AskSettings(budget=50)), None):
    ...     print(line)
      labels       an order of 2 items: tea, milk
      ends         after 50 answers
    """
    lines = [("labels", settings.labels.described()), ("first asked", question or "")]
    if table is not None:
        lines += _columns(settings, table, guessed)
    lines.append(("ends", _end(settings, table)))
    return [f"  {title:<12} {text}" for title, text in lines if text]


def first_question(store: Store, name: str) -> str:
    """Return the sentence of the question that the campaign begins with; nothing is asked of anybody."""
    packed = unpack(store.learner(name))
    row = None if packed.encoder is None else store.rows(name, [0])[0].features
    return str(packed.estimator.ask(row))  # type: ignore[arg-type]  # without an encoder it asks about no row


def _columns(settings: Settings, table: Table, guessed: Collection[str]) -> list[tuple[str, str]]:
    rows, images = settings.rows, isinstance(table, ImageTable)
    kinds = {column.name: column.kind for column in table.columns}
    learnt = [f"{name} ({kinds[name]})" for name in rows.learn or ()]
    undo_key = " (guessed; --key '' numbers the rows)" if "key" in guessed and not images else ""
    undo_gold = " (guessed; --gold '' if it holds none)" if "gold" in guessed else ""
    asked = percent_text(settings.ask.gold_share)
    gold = f"{rows.gold}{undo_gold}, asked about in {asked} of questions" if rows.gold else ""
    return [
        ("part", f"{table.part!r} of {len(table.parts)}: {listed(table.parts)}" if len(table.parts) > 1 else ""),
        ("key", rows.key + undo_key if rows.key else "none: rows are numbered"),
        ("people see", listed(rows.show or ()) or "nothing"),
        ("model sees", listed(learnt) or "nothing: one number for all rows"),
        ("not learnt", listed(_untaught(rows, kinds)) if not images else ""),
        ("left out", listed([_left_out(name, images) for name in kinds if name not in _used(rows)])),
        ("known labels", gold),
    ]


def _untaught(rows: RowSettings, kinds: Collection[str]) -> list[str]:
    """Return the columns that people see and the model does not: it is guessed that they only tell rows apart."""
    return [name for name in kinds if name in (rows.show or ()) and name not in {rows.key, *(rows.learn or ())}]


def _left_out(name: str, images: bool) -> str:
    return f"{name} (it names the classes; --gold {name} if some images lie in none)" if images else name


def _used(rows: RowSettings) -> set[str | None]:
    return {rows.key, rows.gold, *(rows.show or ()), *(rows.learn or ())}


def _end(settings: Settings, table: Table | None) -> str:
    ask = settings.ask
    if ask.budget is not None:
        return f"after {ask.budget} answers"
    if table is None or settings.is_rowless(table.rows):
        return "when you close it: there is no budget"
    if ask.overlap == "auto":
        return "when all rows were asked, and second opinions would tell no more"
    return f"with the rows, each asked once of {ask.overlap} {'person' if ask.overlap == 1 else 'people'}"
