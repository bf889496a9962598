"""askone new: from a table to a campaign."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from shlex import quote

from rich.console import Console

from askone.campaign.create import create_campaign, with_columns
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Table
from askone.campaign.tables.open import open_table
from askone.cli.console import counted, progress, say
from askone.cli.files import any_store, read_from, store_url, whole_file
from askone.cli.settings_file import commented, from_options, name_of, table_of
from askone.cli.summary import doubts, first_question, require_unknown, summary
from askone.errors import InvalidArgument
from askone.store.store import Store


def run_new(chosen: argparse.Namespace, console: Console) -> int:
    """Make a campaign, or write its settings for editing."""
    settings, table = _read(chosen)
    if table is not None:
        require_unknown(settings, table)
    if chosen.out is not None:
        _write(Path(chosen.out), settings, console)
        if chosen.store is None:
            _sum_up(settings, table, None, console)
            say(console, f"Edit it, then: askone new {quote(chosen.out)}")
            return 0
    name = chosen.name or name_of(settings.title)
    with any_store(chosen.store) as store:
        _create(store, name, settings, table, console)
        rows = store.campaign(name).rows
        sentence = first_question(store, name)
    what = "items to put in order" if table is None else counted(rows, "row")
    say(console, f"Campaign {name}: {what}, in {_shown(chosen.store)}.")
    _sum_up(settings, table, sentence, console)
    if not (chosen.file or "").lower().endswith(".toml"):
        say(
            console,
            "Otherwise: see askone new --help, or --out FILE.toml, edit it, and askone new FILE.toml",
        )
    say(console, f"Next: askone serve{f' --store {quote(chosen.store)}' if chosen.store else ''}")
    return 0


def _sum_up(settings: Settings, table: Table | None, sentence: str | None, console: Console) -> None:
    for line in [*summary(settings, table, sentence), *doubts(settings, table)]:
        say(console, line)


def _shown(given: str | None) -> str:
    """Return a store's address without its password."""
    url = store_url(given)
    scheme, separator, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if separator else url


def _read(chosen: argparse.Namespace) -> tuple[Settings, Table | None]:
    """Return the settings and the table that a file and options speak of."""
    if chosen.file is None:
        settings = from_options(chosen, None)
        if settings.labels.needs_rows:
            raise InvalidArgument("file", "a table of rows; only an order of items needs none", None)
        return settings, None
    path = Path(chosen.file)
    if path.suffix.lower() != ".toml":
        table = open_table(path)
        return with_columns(from_options(chosen, suggest(table)), table), table
    settings = from_options(chosen, toml_settings(path), declared=True)
    rows = table_of(settings, path)
    if rows is None:
        return settings, None
    table = open_table(rows)
    return with_columns(settings, table), table


def toml_settings(path: Path) -> Settings:
    """Return the settings of a TOML file."""
    what = "a TOML file of settings (askone new TABLE --out FILE.toml writes one)"
    if path.suffix.lower() != ".toml":
        raise InvalidArgument("file", what, str(path))
    with read_from(path, "file", what) as file:
        text = file.read()
    try:
        return Settings.from_toml(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidArgument("file", "a TOML file in UTF-8", str(path)) from error


def _write(path: Path, settings: Settings, console: Console) -> None:
    if settings.rows.file is not None:  # seen from the TOML file, wherever it is read from
        file = Path(settings.rows.file)
        there = file.name if file.absolute().parent == path.absolute().parent else str(file.absolute())
        settings = replace(settings, rows=replace(settings.rows, file=there))
    with whole_file(path) as out:
        out.write(commented(settings).encode())
    say(console, f"Settings: {path}")


def _create(store: Store, name: str, settings: Settings, table: Table | None, console: Console) -> None:
    with progress(console) as shown:
        bar = shown.add_task("rows", total=None if table is None else table.rows)

        def advance(done: int, total: int) -> None:
            shown.update(bar, completed=done, total=total)

        create_campaign(store, name, settings, table, "", time.time(), advance)
