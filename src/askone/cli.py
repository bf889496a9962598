"""The command line: one function per command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from scipy.special import ndtri

from askone import draws
from askone.commands.arguments import add_commands
from askone.errors import AskoneError, MissingExtra
from askone.estimators.regressor import OneBitRegressor
from askone.features import Nystroem
from askone.gradients import pair
from askone.inputs import as_count, as_number, as_seed
from askone.learners.base import Learner
from askone.learners.sgd import SGD
from askone.losses import Median
from askone.models.linear import FeatureModel
from askone.oracles import Oracle
from askone.schedules import InverseSqrt
from askone.simulation import checkpoints, simulate
from askone.spaces import Real
from askone.strategies import CONTENDERS, SOURCES, Outcome, Rows, as_markdown, compared, rows_of, write
from askone.version import __version__

Array = NDArray[Any]

# What is compared, and the step size that suits it best out of .3, 1, 3, 10, 30: chosen once, by
# the error after 1000 questions on ten seeds that the demonstration does not use.
_STRATEGIES: dict[str, tuple[str, float | None]] = {
    "filters": ("one bit, askone's default", None),
    "active": ("one bit, asked at the prediction (Algorithm 1)", 1.0),
    "passive": ("one bit, asked at random (passive)", 3.0),
    "full": ("the whole label (SGD)", 1.0),
}

CAMPAIGNS = {
    "new": "setting_up",
    "simulate": "setting_up",
    "serve": "running",
    "status": "looking",
    "replay": "looking",
    "verify": "looking",
    "export": "taking",
    "backup": "taking",
    "restore": "taking",
    "users": "people",
}
"""Commands about campaigns, and the module of ``askone.commands`` that has each."""

_KEEPING = ("strategies", "reproduce")  # commands that write as they go


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.command in CAMPAIGNS:
            return run_campaigns(chosen)
        if chosen.command == "reproduce":
            return run_reproduce(chosen)
        if chosen.command == "strategies":
            rows = rows_of(chosen.data, chosen.directory)
            return run_strategies(rows, chosen.data, chosen.repeats, chosen.questions, Path(chosen.out))
        return run_demo(chosen.questions, chosen.repeats, chosen.noise, chosen.seed)
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
    demo = commands.add_parser("demo", help="simulate a campaign and print error against questions asked")
    demo.add_argument("--questions", type=int, default=10_000, help="questions in one campaign (default: 10000)")
    demo.add_argument("--repeats", type=int, default=25, help="campaigns to average over (default: 25)")
    demo.add_argument("--noise", type=float, default=1.0, help="standard deviation of a reading in °C (default: 1)")
    demo.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    table = commands.add_parser("strategies", help="compare every strategy for classes and write the table")
    table.add_argument("--data", default="pendigits", help=f"one of {', '.join(SOURCES)} (default: pendigits)")
    table.add_argument("--directory", default=None, help="where its files lie (default: ASKONE_DATA, or a download)")
    table.add_argument("--repeats", type=int, default=3, help="runs to average over (default: 3)")
    table.add_argument("--questions", type=int, default=None, help="questions in one run (default: one per row)")
    table.add_argument("--out", default=".", help="directory for strategies.md and strategies.csv (default: here)")
    add_commands(commands)
    _add_reproduce(commands.add_parser("reproduce", help="make the paper's figures and claims again, with a report"))
    return parser


def _add_reproduce(paper: argparse.ArgumentParser) -> None:
    paper.add_argument("names", nargs="*", metavar="NAME", help="runs, as --list has them, or all (default: all)")
    paper.add_argument("--list", action="store_true", dest="listing", help="print the runs and stop")
    paper.add_argument("--quick", action="store_true", help="fewer trials and questions: minutes in all")
    paper.add_argument("--out", default="paper", help="directory for figures, numbers and report (default: paper)")
    paper.add_argument("--workers", type=int, default=None, help="processes (default: one per core)")
    paper.add_argument("--cluster", default=None, metavar="ADDRESS", help="run on the Dask scheduler at this address")
    paper.add_argument("--directory", default=None, help="where data lies (default: ASKONE_DATA, or a download)")


def run_demo(questions: int, repeats: int, noise: float, seed: int, console: Console | None = None) -> int:
    """The temperature over a day, learnt from one bit per reading or all of it, four ways."""
    as_count(questions, "questions", 10)
    as_count(repeats, "repeats", 1)
    as_number(noise, "noise", 0.0)
    as_seed(seed)
    console = console or Console()
    console.print(
        "Readings at random hours; the learner may ask one question about each, such as\n"
        "  [bold]Is the temperature above 12.3 °C?[/bold]\n"
        "and sees the yes or no, never the reading.  It is told only that readings lie between -10 and 30 °C."
    )
    stops = [n for n in checkpoints(questions, 2) if n >= 10]
    errors: dict[str, list[list[float]]] = {name: [] for name in _STRATEGIES}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("campaigns", total=repeats * len(_STRATEGIES))
        for repeat in range(repeats):
            for name in _STRATEGIES:
                errors[name].append(_campaign(name, questions, noise, seed + repeat, stops))
                progress.advance(bar)
    console.print(_table(stops, errors))
    console.print(
        "Gradients for the median are signs: one bit at the right place is all of a label that they use.  The default "
        "keeps a posterior instead, and gets more out of the same bits."
    )
    return 0


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


def run_campaigns(chosen: argparse.Namespace, console: Console | None = None) -> int:
    """A command about campaigns, loaded by name: they need the extra ``server``, the others do not."""
    try:
        module = importlib.import_module(f"askone.commands.{CAMPAIGNS[chosen.command]}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askone"):
            raise
        wanted = f"askone {chosen.command} needs {error.name}: pip install 'askone[server]'"
        raise MissingExtra(wanted) from error
    run: Callable[[argparse.Namespace, Console], int] = vars(module)[f"run_{chosen.command}"]
    return run(chosen, console or Console())


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


def _campaign(family: str, questions: int, noise: float, seed: int, stops: list[int]) -> list[float]:
    uniform = draws.uniforms(seed, 0, questions, 2, draws.DESIGN)
    hours, grid = 24 * uniform[:, :1], np.linspace(0, 24, 200)[:, None]
    readings = _temperature(hours) + noise * ndtri(uniform[:, 1:])
    learner: Learner[Any] = OneBitRegressor(-10, 30).start(hours[:200]).stream_.learner
    gamma = _STRATEGIES[family][1]
    if gamma is not None:
        model = FeatureModel(Nystroem.from_rows(hours[:200], 50))
        learner = SGD(Real(-10, 30), model, pair(Median(), family), InverseSqrt(gamma))
    outcome = simulate(
        learner,
        hours,
        Oracle(readings),
        seed=seed,
        at=stops,
        test=grid,
        evaluate=lambda predicted: float(np.abs(predicted - _temperature(grid)).mean()),
    )
    return [error for _, error in outcome.curve]


def _temperature(hours: Array) -> Array:
    return np.asarray(10 + 8 * np.sin(2 * np.pi * (hours - 9) / 24))


def _table(stops: list[int], errors: dict[str, list[list[float]]]) -> Table:
    table = Table(title="Mean error in °C of the predicted median temperature")
    table.add_column("questions", justify="right")
    for name, _ in _STRATEGIES.values():
        table.add_column(name, justify="right")
    for i, stop in enumerate(stops):
        cells = []
        for runs in errors.values():
            values = np.array([run[i] for run in runs])
            spread = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.3f}{spread}")
        table.add_row(str(stop), *cells)
    return table


if __name__ == "__main__":
    sys.exit(main())
