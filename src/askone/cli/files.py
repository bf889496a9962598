"""Stores, campaigns and files of commands; files appear whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import cast

from rich.console import Console

from askone._common.atomic_write import atomic_write
from askone.campaign.lazy import campaign as campaigns
from askone.cli.console import anew_bar
from askone.errors import InvalidArgument, UnknownCampaign
from askone.store.open import open_store
from askone.store.store import Store

ENVIRONMENT, DEFAULT = "ASKONE_STORE", "askone.db"


def store_url(given: str | None) -> str:
    """Return the address of the store: as given, or ASKONE_STORE, or a file here."""
    return given or os.environ.get(ENVIRONMENT) or DEFAULT


def any_store(given: str | None) -> Store:
    """Return a store to open by ``with``, made if it is not there."""
    return open_store(store_url(given))


@contextmanager
def known_store(given: str | None) -> Iterator[Store]:
    """A store that is there: whoever mistypes its name should not be told that it is empty."""
    url = store_url(given)
    path = url.removeprefix("sqlite:///")
    if "://" not in path and path != "memory:" and not Path(path).expanduser().is_file():
        there = Path(path).expanduser().absolute().parent
        came = f"{path}: none is in {there} (askone new FILE and askone serve make one)"
        raise InvalidArgument("--store", f"a database that exists (see --store and {ENVIRONMENT})", came)
    with any_store(url) as store:
        try:
            yield store
        except UnknownCampaign as error:
            raise UnknownCampaign(error.name, tuple(one.name for one in store.campaigns())) from error


def whole_campaign(store: Store, name: str, console: Console | None) -> campaigns.Campaign:
    """Return a campaign whose model is as its log has it by now: what is handed out is never half made."""
    opened = campaigns.Campaign.open(store, name)
    with nullcontext() if console is None else anew_bar(console) as tell:
        opened.complete(tell)
    return opened


@contextmanager
def whole_file(path: str | Path, private: bool = False) -> Iterator[BufferedWriter]:
    """A file to write, which is there when all of it is, for its owner alone if ``private``; - is standard output."""
    if str(path) == "-":
        yield cast(BufferedWriter, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise InvalidArgument("--out", "a file in a directory that exists", path)
    with ExitStack() as stack:
        try:
            out = stack.enter_context(atomic_write(target, private))
        except OSError as error:
            came = f"{target}: {error.strerror or error}"
            raise InvalidArgument("--out", "a file that may be written", came) from error
        yield out


def read_from(path: str | Path, argument: str, what: str) -> BufferedReader:
    """Return a file to read; who cannot have it is told which argument it was."""
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise InvalidArgument(argument, f"{what} that can be read", f"{path}: {error.strerror or error}") from error
