"""askone export, backup and restore: a campaign's files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rich.console import Console

from askone.campaign.lazy import backup, campaign, export, label_studio
from askone.cli.console import counted, row_bar, say
from askone.cli.files import any_store, known_store, read_from, whole_campaign, whole_file
from askone.errors import InvalidArgument
from askone.store.store import Store

_SHORTEST_KEY, _LONGEST_KEY = 16, 1 << 16  # bytes
_FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".json": "label-studio"}


def run_export(chosen: argparse.Namespace, console: Console) -> int:
    """Write what a campaign has into a file."""
    form = _format(chosen)
    ending = {"model": "askone", "log": "jsonl"}.get(chosen.what, "json" if form == "label-studio" else form)
    target = chosen.out or f"{chosen.name}-{chosen.what}.{ending}"
    with _written(chosen, target, console) as (store, out):
        if chosen.what == "model":
            out.write(export.model_bytes(whole_campaign(store, chosen.name, None if target == "-" else console)))
        else:
            out.writelines(_chunks(store, chosen.name, chosen.what, form, None if target == "-" else console))
    return 0


@contextmanager
def _written(
    chosen: argparse.Namespace, target: str, console: Console, private: bool = False
) -> Iterator[tuple[Store, BinaryIO]]:
    """The campaign's store, and the file that it is written into."""
    with known_store(chosen.store) as store:
        store.campaign(chosen.name)  # before a file is begun
        with whole_file(target, private) as out:
            yield store, out
    if target != "-":
        say(console, f"Written: {target}")


def _format(chosen: argparse.Namespace) -> str:
    if chosen.what in ("model", "log"):
        if chosen.format is not None:
            raise InvalidArgument("--format", f"left out for --what {chosen.what}", chosen.format)
        return ""
    ending = Path(chosen.out or "").suffix.lower()
    if chosen.format is None and ending and ending not in _FORMATS:
        allowed = f"a name that ends in one of {', '.join(_FORMATS)}, or --format beside it"
        raise InvalidArgument("--out", allowed, chosen.out)
    found = chosen.format or _FORMATS.get(ending, "csv")
    if chosen.what == "predictions" and found == "label-studio":
        raise InvalidArgument("--format", "csv, jsonl or parquet for --what predictions", found)
    return found


def _chunks(store: Store, name: str, what: str, form: str, console: Console | None) -> Iterator[bytes]:
    if what == "log":
        return export.log_chunks(store, name)
    if what == "predictions":
        opened = whole_campaign(store, name, console)
        return export.prediction_chunks(opened, form) if console is None else _watched(opened, form, console)
    return label_studio.task_chunks(store, name) if form == "label-studio" else export.answer_chunks(store, name, form)


def _watched(opened: campaign.Campaign, form: str, console: Console) -> Iterator[bytes]:
    """Yield predictions and show how far they are: they take longer than all that is read and written for them."""
    with row_bar(console) as advance:
        yield from export.prediction_chunks(opened, form, advance)


def run_backup(chosen: argparse.Namespace, console: Console) -> int:
    """Write a whole campaign into one file, which nobody else may read."""
    key = _key(chosen.sign, "--sign")
    with _written(chosen, chosen.out or f"{chosen.name}-backup.zip", console, private=True) as (store, out):
        backup.backup(store, chosen.name, out, key)
    return 0


def run_restore(chosen: argparse.Namespace, console: Console) -> int:
    """Make a campaign of a backup."""
    key = _key(chosen.key, "--key")
    with read_from(chosen.file, "file", "a backup") as source, any_store(chosen.store) as store:
        name = backup.restore(store, source, chosen.name, key=key)
        entries = counted(store.head(name)[0], "entry", "entries")
        told = f"Campaign {name}: {counted(store.campaign(name).rows, 'row')}, {entries}."
        signed = backup.is_signed(source)
    say(console, told)
    if key is not None:
        say(console, "The signature holds: it was written by somebody who has this key.")
    elif signed:
        say(console, "It is signed, which was not checked: give the key by --key KEYFILE.")
    return 0


def _key(path: str | None, argument: str) -> bytes | None:
    """Return the key of a file, without blanks around it."""
    if path is None:
        return None
    what = f"a file with a key of {_SHORTEST_KEY} bytes or more (such as: openssl rand -hex 32 > KEYFILE)"
    with read_from(path, argument, what) as file:
        key = file.read(_LONGEST_KEY).strip()
    if len(key) < _SHORTEST_KEY:
        raise InvalidArgument(argument, what, f"{len(key)} bytes")
    return key
