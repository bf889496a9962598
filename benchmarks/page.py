"""What benchmarks share: their arguments, Markdown tables, kept figures, and what they were taken with."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import platform
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np

import askone
from askone._common.types import Array as Array

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ASKONE_DATA", HERE.parent.parent / "shared" / "data"))
PAGE = HERE.parent / "docs" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

Tables written by the scripts in `benchmarks/`; run one to rewrite its part.
Times depend on the machine, ratios much less. How many questions learning takes has
[a page of its own](efficiency.md) (`make bench-efficiency`).
"""


def grid(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """A Markdown table; numbers to three figures."""
    texts = [list(head), [""] * len(head), *([text(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    texts[1] = ["-" * width for width in widths]
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in texts)


def text(value: Any) -> str:
    """Three figures of a number, a dash for nothing."""
    if isinstance(value, float):
        return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else f"{value:.3g}"
    return "–" if value is None else str(value)


def machine(**more: str) -> dict[str, Any]:
    """What the figures were taken with."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(), "cpu": cpu, "cores": os.cpu_count(),
        "python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__,
        "askone": askone.__version__, **more,
    }  # fmt: skip


def taken_with(of: dict[str, Any], note: str = "") -> str:
    """The same in words."""
    return f"""{of["date"]}, {of["cpu"]}, {of["cores"]} cores{note}, Python {of["python"]}, NumPy {of["numpy"]},
numba {of["numba"]}, askone {of["askone"]}"""


def arguments(about: str | None, **named: float | None) -> argparse.ArgumentParser:
    """Arguments that are flags (False) or numbers, whole ones unless a float stands for those that are not given."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in named.items():
        kind = {"type": float if isinstance(usual, float) else int, "default": usual}
        parser.add_argument(f"--{name}", **({"action": "store_true"} if usual is False else kind))
    return parser


def spread(quick: bool, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """What a function gives for each row of arguments, by a process for each core; in a quick look by this one."""
    if quick:
        return list(map(function, *arguments))
    with ProcessPoolExecutor() as pool:
        return list(pool.map(function, *arguments))


def keep_page(name: str, figures: Any, page: str) -> None:
    """Figures into results/<name>.json, a page of their own into docs/<name>.md."""
    (HERE / "results" / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    (PAGE.parent / f"{name}.md").write_text(page, encoding="utf-8")


def keep(name: str, results: dict[str, Any], tables: str) -> None:
    """Figures into results/<name>.json, tables between the markers of that name in docs/benchmarks.md."""
    kept = HERE / "results" / f"{name}.json"
    for folder in (kept.parent, PAGE.parent):
        folder.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(results, indent=1) + "\n")
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    page = PAGE.read_text() if PAGE.exists() else INTRODUCTION
    if begin not in page:
        page += f"\n{begin}\n{end}\n"
    before, rest = page.split(begin, 1)
    PAGE.write_text(f"{before}{begin}\n{tables}\n{end}{rest.split(end, 1)[1]}")
