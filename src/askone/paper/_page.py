"""The table of verdicts in a Markdown page: rows of the runs that were made anew, and the others as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from askone._common.atomic_write import write_text
from askone.errors import InvalidFile

START_MARK, END_MARK = "<!-- verdicts:begin -->", "<!-- verdicts:end -->"
_HEAD = ("| run | claim | measured | verdict | note | made |", "|---|---|---|---|---|---|")


def write_page(names: Sequence[str], out: Path, page: Path) -> list[str]:
    """Put the verdicts of all full runs in ``out`` into a page, between its markers; return the runs put in."""
    text = page.read_text(encoding="utf-8")
    if text.count(START_MARK) != 1 or text.count(END_MARK) != 1:
        raise InvalidFile(f"{page} must have {START_MARK} and {END_MARK}, once each")
    files = {name: out / "numbers" / f"{name}.json" for name in names}
    records = {name: json.loads(path.read_text("utf-8")) for name, path in files.items() if path.is_file()}
    full = {name: record for name, record in records.items() if not record["provenance"]["quick"]}
    before, rest = text.split(START_MARK)
    kept, after = rest.split(END_MARK)
    write_text(page, f"{before}{START_MARK}\n{verdicts(names, full, kept)}\n{END_MARK}{after}")
    return list(full)


def verdicts(names: Sequence[str], records: Mapping[str, Mapping[str, Any]], kept: str) -> str:
    """Return the table, in the order of the names: rows of the records, and kept rows of runs without one.

    >>> old = "| `a` | says | 1 | holds | | 2026-01-01, 0.1 |"
    >>> verdicts(["a", "b"], {}, old).splitlines()[2:] == [old]
    True
    """
    lines = [*_HEAD]
    for name in names:
        if name in records:
            lines += [_line(name, claim, records[name]["provenance"]) for claim in records[name]["claims"]]
        else:
            lines += [line for line in kept.splitlines() if line.startswith(f"| `{name}` |")]
    return "\n".join(lines)


def _line(name: str, claim: Mapping[str, str], made: Mapping[str, Any]) -> str:
    when = f"{made['date']}, {made['versions']['askone']}"
    cells = (*(claim[key] for key in ("text", "here", "verdict", "why")), when)
    return f"| `{name}` | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
