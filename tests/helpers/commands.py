"""Commands as they are typed, and what they say."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

from askone.cli.main import main


class Said(NamedTuple):
    """What was written on standard output, and on standard error."""

    out: str
    err: str


def ask(*arguments: Any, status: int = 0) -> Said:
    """Run ``askone`` with these arguments, which is to end like this."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in Said._fields]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        ended = main([str(argument) for argument in arguments])
    said = Said(*(stream.buffer.getvalue().decode() for stream in streams))  # type: ignore[attr-defined]
    assert ended == status, said
    return said
