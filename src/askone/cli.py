"""The command line: one function per command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from askone.errors import AskoneError, MissingExtra
from askone.strategies import CONTENDERS, SOURCES, Outcome, Rows, as_markdown, compared, rows_of, write
from askone.version import __version__

_KEEPING = ("strategies", "reproduce")  # commands that write as they go


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.command == "reproduce":
            return run_reproduce(chosen)
        if chosen.command == "strategies":
            rows = rows_of(chosen.data, chosen.directory)
            return run_strategies(rows, chosen.data, chosen.repeats, chosen.questions, Path(chosen.out))
        return run_demo(chosen)
    except (ValueError, AskoneError, OSError) as error:
        print(f"askone: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = "; what was finished is written" if chosen.command in _KEEPING else ""
        print(f"askone: stopped{kept}", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="askone", description="Learn by asking one yes/no question per example.")
    parser.add_argument("--version", action="version", version=f"askone {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo(commands.add_parser("demo", help="a server with three campaigns and simulated people who answer"))
    table = commands.add_parser("strategies", help="compare every strategy for classes and write the table")
    table.add_argument("--data", default="pendigits", help=f"one of {', '.join(SOURCES)} (default: pendigits)")
    table.add_argument("--directory", default=None, help="where its files lie (default: ASKONE_DATA, or a download)")
    table.add_argument("--repeats", type=int, default=3, help="runs to average over (default: 3)")
    table.add_argument("--questions", type=int, default=None, help="questions in one run (default: one per row)")
    table.add_argument("--out", default=".", help="directory for strategies.md and strategies.csv (default: here)")
    _add_reproduce(commands.add_parser("reproduce", help="make the paper's figures and claims again, with a report"))
    return parser


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine)")
    demo.add_argument("--port", type=int, default=8000, help="port to listen at; 0: any free one (default: 8000)")
    demo.add_argument("--store", default=None, metavar="PATH", help="database to keep it in (default: a temporary one)")
    demo.add_argument("--headless", action="store_true", help="no server: a simulated campaign in this terminal")
    demo.add_argument("--answers", type=int, default=None, help="of each simulated person at most; headless: in all")
    demo.add_argument("--seconds-per-answer", type=float, default=1.0, help="of a simulated person (default: 1)")


def _add_reproduce(paper: argparse.ArgumentParser) -> None:
    paper.add_argument("names", nargs="*", metavar="NAME", help="runs, as --list has them, or all (default: all)")
    paper.add_argument("--list", action="store_true", dest="listing", help="print the runs and stop")
    paper.add_argument("--quick", action="store_true", help="fewer trials and questions: minutes in all")
    paper.add_argument("--out", default="paper", help="directory for figures, numbers and report (default: paper)")
    paper.add_argument("--workers", type=int, default=None, help="processes (default: one per core)")
    paper.add_argument("--cluster", default=None, metavar="ADDRESS", help="run on the Dask scheduler at this address")
    paper.add_argument("--directory", default=None, help="where data lies (default: ASKONE_DATA, or a download)")


def run_demo(chosen: argparse.Namespace) -> int:
    """Three campaigns on a server, or one in the terminal; see ``askone.demo``, which needs the extra ``server``."""
    try:
        if chosen.headless:
            answers = {} if chosen.answers is None else {"answers": chosen.answers}
            return int(importlib.import_module("askone.demo.headless").headless(**answers))
        running = importlib.import_module("askone.demo.running")
    except ModuleNotFoundError as error:
        raise MissingExtra(f"askone demo needs {error.name}: pip install 'askone[server]'") from error
    options = {} if chosen.answers is None else {"answers": chosen.answers}
    demo = running.Demo(chosen.host, chosen.port, chosen.store, seconds=chosen.seconds_per_answer, **options)
    return int(running.run(demo))


def run_strategies(
    rows: Rows, data: str, repeats: int, questions: int | None, out: Path, console: Console | None = None
) -> int:
    """All strategies for classes on one data set; the tables grow with each, so stopping loses nothing."""
    console = console or Console()
    console.print(f"{len(rows.X)} rows of {data}; {repeats} repeat(s); tables grow in {out}", soft_wrap=True)
    title = f"Test error in percent on {data} against the number of questions, {repeats} repeat(s)"
    out.mkdir(parents=True, exist_ok=True)  # what cannot be written should be known before the work
    outcomes: list[Outcome] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("strategies", total=len(CONTENDERS))
        for outcome in compared(rows, repeats, questions):
            outcomes.append(outcome)
            paths = write(outcomes, title, out)
            progress.advance(bar)
    console.print(Markdown(as_markdown(outcomes, title)))
    console.print("written: " + ", ".join(map(str, paths)), soft_wrap=True)
    return 0


def run_reproduce(chosen: argparse.Namespace) -> int:
    """The paper's runs; see ``askone.paper.command``.

    Only this command needs matplotlib, an extra, and it is loaded here, by name: an import at the top
    would take the other commands away from those who do not have it.
    """
    command = importlib.import_module("askone.paper.command")
    if chosen.listing:
        return int(command.listing())
    out = Path(chosen.out)
    parts = (chosen.workers, chosen.cluster, chosen.directory)
    return int(command.reproduce(chosen.names, chosen.quick, out, *parts))


if __name__ == "__main__":
    sys.exit(main())
