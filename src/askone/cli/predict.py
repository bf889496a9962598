"""askone predict: new rows scored by a model that was saved."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from askone.campaign.lazy import scoring
from askone.campaign.tables.base import Table
from askone.campaign.tables.vectors import with_vectors
from askone.cli.console import counted, row_bar, say
from askone.cli.files import read_from, whole_file
from askone.cli.settings_file import named_by_options, read_table
from askone.encoding.unread import told
from askone.errors import InvalidArgument

_FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def run_predict(chosen: argparse.Namespace, console: Console) -> int:
    """Write the rows of a table with what a model says of them."""
    target = chosen.out or f"{Path(chosen.file).stem or 'rows'}-predictions.csv"
    form = "csv" if target == "-" else _FORMATS.get(Path(target).suffix.lower())
    if form is None:
        raise InvalidArgument("--out", f"a name that ends in one of {', '.join(_FORMATS)}", target)
    with read_from(chosen.model, "model", "a saved model (askone export NAME --what model)") as file:
        found = scoring.Scoring(file.read(), _table(chosen), tuple(chosen.embedder))
    with whole_file(target) as out:
        for chunk in _chunks(found, form, chosen.dask, None if target == "-" else console):
            out.write(chunk)
    if target != "-":
        say(console, f"Written: {target}, {counted(found.table.rows, 'row')}")
    if found.unread:
        print(f"askone: {told(found.unread)}", file=sys.stderr)
    return 0


def _table(chosen: argparse.Namespace) -> Table:
    with named_by_options(chosen):
        table = read_table(chosen.file, chosen.part, chosen.query, chosen.header, Path())
    return table if chosen.vectors is None else with_vectors(table, Path(chosen.vectors))


def _chunks(found: scoring.Scoring, form: str, dask: str | None, console: Console | None) -> Iterator[bytes]:
    with scoring.predicting(found.table.rows, dask) as executor:
        if console is None:
            yield from scoring.scored_chunks(found, form, executor)
            return
        with row_bar(console) as advance:
            yield from scoring.scored_chunks(found, form, executor, advance)
