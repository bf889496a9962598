"""askone verify: whether logs are what was written."""

from __future__ import annotations

import argparse

from rich.console import Console

from askone.cli.console import counted, say
from askone.cli.files import known_store
from askone.cli.status import BAD, GOOD
from askone.store.verification import Verdict, verify


def run_verify(chosen: argparse.Namespace, console: Console) -> int:
    """Check hashes of logs and rows; 1 if any is broken."""
    with known_store(chosen.store) as store:
        names = [chosen.name] if chosen.name is not None else [record.name for record in store.campaigns()]
        verdicts = [verify(store, name) for name in names]
    for verdict in verdicts:
        say(console, _verdict(verdict))
    return GOOD if all(verdict.valid for verdict in verdicts) else BAD


def _verdict(verdict: Verdict) -> str:
    found = f"{counted(verdict.entries, 'entry', 'entries')}, {counted(verdict.rows, 'row')}"
    if verdict.valid:
        return f"{verdict.campaign}: as written; {found}; head {verdict.head}"
    return f"{verdict.campaign}: BROKEN at entry {verdict.broken}: {verdict.reason}; good before it: {found}"
