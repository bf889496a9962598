"""Print lines and tables, whole whatever the width of the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from askone.labels.wording import percent_text, rounded_text

_WIDEST = 10_000


def say(console: Console, text: str) -> None:
    """Print a line as it is."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)


def show(console: Console, table: Table) -> None:
    """Print a table and cut nothing: a narrow window folds long cells, a file or a pipe gets the whole width."""
    for column in table.columns:
        column.overflow = "fold"
    if console.is_terminal:
        console.print(table)
        return
    width = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
    Console(file=console.file, width=max(width, console.width)).print(table)


def progress(console: Console, transient: bool = True) -> Progress:
    """Return how far something is, and how long it still takes; a file or a pipe gets nothing of it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)


@contextmanager
def row_bar(console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar of rows; what it gives is called with how many are done and how many there are."""
    with progress(console) as shown:
        bar = shown.add_task("rows", total=None)
        yield lambda done, rows: shown.update(bar, completed=done, total=rows)


@contextmanager
def anew_bar(console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar of what is learnt of a model that is made anew (see ``Campaign.complete``); a file gets a line."""
    told = list[int]()
    with progress(console) as shown:
        bar = shown.add_task("making the model anew, as answers were left out or changed", total=None, visible=False)

        def tell(learnt: int, of: int) -> None:
            if not told and not console.is_terminal:
                say(console, "Answers were left out or changed: the model is made anew first.")
            told.append(learnt)
            shown.update(bar, completed=learnt, total=of, visible=True)

        yield tell


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number and what it counts.

    >>> counted(1, "row"), counted(2, "row"), counted(2, "entry", "entries")
    ('1 row', '2 rows', '2 entries')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def number(value: float, share: bool = False) -> str:
    """Return a number as people write it, with three digits that count; a share in percent.

    >>> number(155_812.0), number(37.0), number(-0.012345), number(0.0), number(0.8349, share=True)
    ('156,000', '37', '-0.0123', '0', '83.5 %')
    """
    return percent_text(value, None) if share else rounded_text(value)
