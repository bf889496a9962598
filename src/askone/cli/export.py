"""askone export, backup and restore: a campaign's files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from askone.campaign.lazy import backup, campaign, export, label_studio, model_file
from askone.cli.console import counted, progress, say
from askone.cli.files import any_store, known_store, read_from, whole_file
from askone.errors import InvalidArgument
from askone.store.store import Store

_ENDINGS = {"label-studio": "json"}
_FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".json": "label-studio"}


def run_export(chosen: argparse.Namespace, console: Console) -> int:
    """Write what a campaign has into a file."""
    form = _format(chosen)
    ending = {"model": "askone", "log": "jsonl"}.get(chosen.what, _ENDINGS.get(form, form))
    target = chosen.out or f"{chosen.name}-{chosen.what}.{ending}"
    with known_store(chosen.store) as store:
        store.campaign(chosen.name)  # before a file is begun
        with whole_file(target) as out:
            if chosen.what == "model":
                model_file.write_model(campaign.Campaign.open(store, chosen.name), out)
            else:
                out.writelines(_chunks(store, chosen.name, chosen.what, form, None if target == "-" else console))
    _say(target, console)
    return 0


def _format(chosen: argparse.Namespace) -> str:
    if chosen.what in ("model", "log"):
        if chosen.format is not None:
            raise InvalidArgument("--format", f"left out for --what {chosen.what}", chosen.format)
        return ""
    ending = Path(chosen.out or "").suffix.lower()
    if chosen.format is None and ending and ending not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise InvalidArgument("--out", f"a name that ends in one of {known}, or --format beside it", chosen.out)
    found = chosen.format or _FORMATS.get(ending, "csv")
    if chosen.what == "predictions" and found == "label-studio":
        raise InvalidArgument("--format", "csv, jsonl or parquet for --what predictions", found)
    return found


def _chunks(store: Store, name: str, what: str, form: str, console: Console | None) -> Iterator[bytes]:
    if what == "log":
        return export.log_chunks(store, name)
    if what == "predictions":
        opened = campaign.Campaign.open(store, name)
        return export.prediction_chunks(opened, form) if console is None else _watched(opened, form, console)
    return label_studio.task_chunks(store, name) if form == "label-studio" else export.answer_chunks(store, name, form)


def _watched(opened: campaign.Campaign, form: str, console: Console) -> Iterator[bytes]:
    """Yield a prediction takes longer than all that is read and written for it: how far it is, is shown."""
    with progress(console) as shown:
        bar = shown.add_task("rows", total=None)
        advance = lambda done, rows: shown.update(bar, completed=done, total=rows)  # noqa: E731
        yield from export.prediction_chunks(opened, form, advance)


def run_backup(chosen: argparse.Namespace, console: Console) -> int:
    """Write a whole campaign into one file."""
    target = chosen.out or f"{chosen.name}-backup.zip"
    with known_store(chosen.store) as store:
        store.campaign(chosen.name)
        with whole_file(target) as out:
            backup.backup(store, chosen.name, out)
    _say(target, console)
    return 0


def run_restore(chosen: argparse.Namespace, console: Console) -> int:
    """Make a campaign of a backup."""
    with read_from(chosen.file, "file", "a backup") as source, any_store(chosen.store) as store:
        name = backup.restore(store, source, chosen.name)
        entries = counted(store.head(name)[0], "entry", "entries")
        told = f"Campaign {name}: {counted(store.campaign(name).rows, 'row')}, {entries}."
    say(console, told)
    return 0


def _say(target: str, console: Console) -> None:
    if target != "-":
        say(console, f"Written: {target}")
