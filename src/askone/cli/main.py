"""The command line: one function per command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askone._common.lazy_import import import_now, lazy_import
from askone.cli.parser import add_commands
from askone.errors import AskoneError, MissingExtra
from askone.version import __version__

if TYPE_CHECKING:
    from rich import console as consoles
    from rich import markdown

    from askone.cli import console as printing
    from askone.paper import strategies
else:
    consoles = lazy_import("rich.console")
    markdown = lazy_import("rich.markdown")
    printing = lazy_import("askone.cli.console")
    strategies = lazy_import("askone.paper.strategies")

CAMPAIGNS = {
    **{
        name: name
        for name in ("new", "simulate", "serve", "status", "estimate", "compare", "export", "predict", "users")
    },
    "demo": "demo.run",
    "compile": "compile",
    **dict.fromkeys(("delete", "pause", "resume", "invite", "people"), "manage"),
    "decide": "decide",
    **dict.fromkeys(("label", "answer"), "answering"),
    "replay": "verify",
    "verify": "verify",
    "backup": "export",
    "restore": "export",
}
"""Commands about campaigns, and the module of ``askone.cli`` that has each."""

SOURCES = ("pendigits", "usps", "usps-libsvm", "digits")
"""As ``strategies.SOURCES``, which takes all data sets and their readers to know."""

_KEEPING = ("strategies", "reproduce")  # commands that write as they go


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    chosen = parser().parse_args(arguments)
    if chosen.command is None:
        parser().print_help()
        return 2
    try:
        if chosen.command in CAMPAIGNS:
            return run_campaigns(chosen)
        if chosen.command == "reproduce":
            return run_reproduce(chosen)
        rows = strategies.rows_of(chosen.data, chosen.directory)
        return run_strategies(rows, chosen.data, chosen.repeats, chosen.questions, Path(chosen.out))
    except (ValueError, AskoneError, OSError) as error:
        print(f"askone: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = "; what was finished is written" if chosen.command in _KEEPING else ""
        print(f"askone: stopped{kept}", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(prog="askone", description="Learn by asking one yes/no question per example.")
    parser.add_argument("--version", action="version", version=f"askone {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    add_commands(commands)
    table = commands.add_parser("strategies", help="compare every strategy for classes and write the table")
    table.add_argument("--data", default="pendigits", help=f"one of {', '.join(SOURCES)} (default: pendigits)")
    table.add_argument("--directory", default=None, help="where its files lie (default: ASKONE_DATA, or a download)")
    table.add_argument("--repeats", type=int, default=3, help="runs to average over (default: 3)")
    table.add_argument("--questions", type=int, default=None, help="questions in one run (default: one per row)")
    table.add_argument("--out", default=".", help="directory for strategies.md and strategies.csv (default: here)")
    _add_reproduce(commands.add_parser("reproduce", help="make the paper's figures and claims again, with a report"))
    return parser


def _add_reproduce(paper: argparse.ArgumentParser) -> None:
    paper.add_argument("names", nargs="*", metavar="NAME", help="runs, as --list has them, or all (default: all)")
    paper.add_argument("--list", action="store_true", dest="listing", help="print the runs and stop")
    paper.add_argument("--quick", action="store_true", help="fewer trials and questions: minutes in all")
    paper.add_argument("--out", default="paper", help="directory for figures, numbers and report (default: paper)")
    paper.add_argument("--workers", type=int, default=None, help="processes (default: one per core)")
    paper.add_argument(
        "--page", default=None, metavar="FILE", help="put the verdicts of full runs into a Markdown page"
    )
    paper.add_argument("--cluster", default=None, metavar="ADDRESS", help="run on the Dask scheduler at this address")
    paper.add_argument(
        "--device", default=None, help="compute all trials of a stream at once on this device of torch, such as cuda"
    )
    paper.add_argument("--directory", default=None, help="where data lies (default: ASKONE_DATA, or a download)")


def run_strategies(
    rows: strategies.Rows,
    data: str,
    repeats: int,
    questions: int | None,
    out: Path,
    console: consoles.Console | None = None,
) -> int:
    """Compare all strategies for classes on one data set; the tables grow with each, so stopping loses nothing."""
    console = console or consoles.Console()
    console.print(f"{len(rows.X)} rows of {data}; {repeats} repeat(s); tables grow in {out}", soft_wrap=True)
    title = f"Test error in percent on {data} against the number of questions, {repeats} repeat(s)"
    out.mkdir(parents=True, exist_ok=True)  # what cannot be written should be known before the work
    outcomes: list[strategies.Outcome] = []
    with printing.progress(console, transient=False) as progress:
        bar = progress.add_task("strategies", total=len(strategies.CONTENDERS))
        for outcome in strategies.compared(rows, repeats, questions):
            outcomes.append(outcome)
            paths = strategies.write(outcomes, title, out)
            progress.advance(bar)
    console.print(markdown.Markdown(strategies.as_markdown(outcomes, title)))
    console.print("written: " + ", ".join(map(str, paths)), soft_wrap=True)
    return 0


def run_campaigns(chosen: argparse.Namespace, console: consoles.Console | None = None) -> int:
    """Run a command about campaigns, loaded by name: they need the extra ``server``, the others do not."""
    try:
        module = import_now(f"askone.cli.{CAMPAIGNS[chosen.command]}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askone"):
            raise
        wanted = f"askone {chosen.command} needs {error.name}: pip install 'askone[server]'"
        raise MissingExtra(wanted) from error
    run: Callable[[argparse.Namespace, consoles.Console], int] = vars(module)[f"run_{chosen.command}"]
    return run(chosen, console or consoles.Console())


def run_reproduce(chosen: argparse.Namespace) -> int:
    """Make the paper's figures and claims; loaded here, by name, as this command alone needs matplotlib, an extra."""
    command: Any = import_now("askone.paper.command")
    if chosen.listing:
        return int(command.listing())
    parts = (chosen.workers, chosen.cluster, chosen.directory, chosen.page, chosen.device)
    return int(command.reproduce(chosen.names, chosen.quick, Path(chosen.out), *parts))


if __name__ == "__main__":
    sys.exit(main())
