"""askone simulate: what a campaign will cost and how well it will do, before anybody answers."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as ShownTable
from rich.text import Text

from askone._common.validate import as_count, as_number
from askone.campaign.forecast import TRUTHS, Forecast, forecast
from askone.cli.console import number, say
from askone.cli.new import toml_settings
from askone.cli.settings_file import table_of
from askone.errors import InvalidArgument
from askone.labels.wording import percent_text

_ANSWERS = 1000  # that are rehearsed where there is no budget
_FLIP = 0.05


def run_simulate(chosen: argparse.Namespace, console: Console) -> int:
    """Rehearse a campaign with made-up truths: errors against answers, time and cost."""
    path = Path(chosen.file)
    settings = toml_settings(path)
    table = table_of(settings, path)
    answers = settings.ask.budget or _ANSWERS if chosen.answers is None else as_count(chosen.answers, "--answers", 1)
    if chosen.people is not None and chosen.flip is not None:
        raise InvalidArgument("--flip", "left out where --people says who errs", chosen.flip)
    flip = as_number(_FLIP if chosen.flip is None else chosen.flip, "--flip", 0.0, 0.49)
    flip = flip if chosen.people is None else 0.0
    with Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("rehearsing", total=None)
        found = forecast(settings, table, answers, flip, people=chosen.people)
        progress.update(bar, total=1, completed=1)
    console.print(forecast_table(settings.title, found, settings.labels.is_share))
    if found.people:
        console.print(people_table(found))
    say(console, _cost(answers, "people as above" if found.people else f"{percent_text(flip)} of answers wrong", found))
    if settings.privacy.epsilon is not None:
        times = f"epsilon = {settings.privacy.epsilon:g} costs {found.times:.1f} times the answers"
        say(console, f"Answers are private: {times} of a campaign that is not.")
    return 0


def forecast_table(title: str, found: Forecast, share: bool) -> ShownTable:
    """Return the forecast's points; those that are a ``share`` in percent."""
    shown = ShownTable(title=Text(f"{title}: {found.measure}"))
    for column in ("answers", "expected", "lowest – highest"):
        shown.add_column(column, justify="right")
    for count, low, middle, high in found.points:
        shown.add_row(f"{count:,}", number(middle, share), f"{number(low, share)} – {number(high, share)}")
    return shown


def people_table(found: Forecast) -> ShownTable:
    """Return how often each of the people was right, and what the model found out about it."""
    shown = ShownTable(title=Text("How often they are right, and how often the model thinks so"))
    for column in ("person", "answers", "where yes is true", "found", "where no is true", "found"):
        shown.add_column(column, justify="left" if column == "person" else "right")
    for one in found.people:
        rates = zip(one.true, one.found or (None, None), strict=True)
        cells = ["not known" if rate is None else number(rate, True) for pair in rates for rate in pair]
        shown.add_row(one.name, f"{one.answers:,}", *cells)
    return shown


def _cost(answers: int, errors: str, found: Forecast) -> str:
    money = "" if found.cost.price is None else f", {found.cost.price:,.2f} {found.cost.currency}".rstrip()
    minutes = 60 * found.cost.hours
    time_taken = f"{found.cost.hours:.1f} hours" if minutes >= 90 else f"{max(1, round(minutes))} minutes"
    all_there_are = "" if found.answers == answers else ", which is all that the rows give"
    said = f"{found.answers:,} answers{all_there_are}: {time_taken} of people's time{money}."
    return (
        f"{said}\nA rehearsal: {TRUTHS} made-up truths over your rows, which depend on the columns smoothly, and "
        f"{errors}.  If your columns say less about the labels, the campaign does worse."
    )
