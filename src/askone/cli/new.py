"""askone new: from a table to a campaign."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from shlex import quote

from rich.console import Console

from askone.campaign.create import create_campaign, with_columns
from askone.campaign.engine.model_builder import unpack
from askone.campaign.kinds.base import listed
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Table
from askone.campaign.tables.open import open_table
from askone.cli.console import counted, row_bar, say
from askone.cli.files import any_store, read_from, whole_file
from askone.cli.settings_file import commented, from_options, name_of, table_of
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
        with row_bar(console) as advance:
            create_campaign(store, name, settings, table, "", time.time(), advance)
        rows = store.campaign(name).rows
        place, sentence = store.url, first_question(store, name)
    what = "items to put in order" if table is None else counted(rows, "row")
    say(console, f"Campaign {name}: {what}, in {place}.")
    _sum_up(settings, table, sentence, console)
    if not (chosen.file or "").lower().endswith(".toml"):
        say(console, "Otherwise: see askone new --help, or --out FILE.toml, edit it, and askone new FILE.toml")
    say(console, f"Next: askone serve{f' --store {quote(chosen.store)}' if chosen.store else ''}")
    return 0


def _sum_up(settings: Settings, table: Table | None, sentence: str | None, console: Console) -> None:
    for line in [*summary(settings, table, sentence), *doubts(settings, table)]:
        say(console, line)


def _read(chosen: argparse.Namespace) -> tuple[Settings, Table | None]:
    """Return the settings and the table that a file and options speak of."""
    if chosen.file is None:
        settings = from_options(chosen, None)
        if settings.labels.needs_rows:
            raise InvalidArgument("file", "a table of rows; only an order of items needs none", None)
        return settings, None
    path = Path(chosen.file)
    if path.suffix.lower() != ".toml":
        given = open_table(path)
        return with_columns(from_options(chosen, suggest(given)), given), given
    settings = from_options(chosen, toml_settings(path), declared=True)
    table = table_of(settings, path)
    return settings if table is None else with_columns(settings, table), table


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


# -- what was made of a table: what was guessed can be wrong ------------------------------------------


def summary(settings: Settings, table: Table | None, question: str | None = None) -> list[str]:
    """Return labels, question and columns; ``question`` is the first one, if there is a campaign already.

    >>> from askone.campaign.settings.settings import AskSettings, Items
    >>> for line in summary(Settings("Drinks", Items(("tea", "milk")), ask=AskSettings(budget=50)), None):
    ...     print(line)
      labels       an order of 2 items: tea, milk
      ends         after 50 answers
    """
    lines = [("labels", settings.labels.described()), ("first asked", question or "")]
    if table is not None:
        lines += _columns(settings, table)
    lines.append(("ends", _end(settings, table)))
    return [f"  {title:<12} {text}" for title, text in lines if text]


def first_question(store: Store, name: str) -> str:
    """Return the sentence of the question that the campaign begins with; nothing is asked of anybody."""
    packed = unpack(store.learner(name))
    row = None if packed.encoder is None else store.rows(name, [0])[0].features
    return str(packed.estimator.ask(row))  # type: ignore[arg-type]  # without an encoder it asks about no row


def _columns(settings: Settings, table: Table) -> list[tuple[str, str]]:
    rows = settings.rows
    kinds = {column.name: column.kind for column in table.columns}
    learnt = [f"{name} ({kinds[name]})" for name in rows.learn or ()]
    gold = f"{rows.gold}, asked about in {settings.ask.gold_share:.0%} of questions" if rows.gold else ""
    return [
        ("key", rows.key or "none: rows are numbered"),
        ("people see", listed(rows.show or ()) or "nothing"),
        ("model sees", listed(learnt) or "nothing: one number for all rows"),
        ("known labels", gold),
    ]


def _end(settings: Settings, table: Table | None) -> str:
    ask = settings.ask
    if ask.budget is not None:
        return f"after {ask.budget} answers"
    if table is None or settings.is_rowless(table.rows):
        return "when you close it: there is no budget"
    return f"with the rows, each asked once of {ask.overlap} {'person' if ask.overlap == 1 else 'people'}"


def doubts(settings: Settings, table: Table | None) -> list[str]:
    """Return what to look at: known labels that nobody is measured by, a column that may tell the label."""
    rows, labels, found = settings.rows, settings.labels, []
    if rows.gold is not None and not settings.ask.gold_share:
        found.append(f"Nobody is measured by the known labels in {rows.gold!r}: ask.gold_share is 0.")
    noun = labels.noun.casefold()
    seen = [name for name in dict.fromkeys([*(rows.show or ()), *(rows.learn or ())]) if name.casefold() == noun]
    if table is not None and seen:
        found.append(
            f"The column {seen[0]!r} is called as the labels are, and it is shown or learnt: "
            f"if it holds the labels, use --gold {quote(seen[0])}."
        )
    return found


def require_unknown(settings: Settings, table: Table) -> None:
    """Refuse a table in which every label is known: such rows measure people, and none is left to ask about."""
    gold = settings.rows.gold
    cells = [] if gold is None else [row.get(gold) for row in table.sample]
    if gold is not None and len(cells) == table.rows and all(cell is not None and str(cell).strip() for cell in cells):
        allowed = "a column that is empty in the rows to ask about (a known label only measures people)"
        came = f"{gold!r}, filled in all {table.rows} rows; leave a column out by --show and --learn"
        raise InvalidArgument("rows.gold", allowed, came)
