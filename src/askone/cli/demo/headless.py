"""A simulated campaign in a terminal: what people's answers measure, beside the truth that only we know."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from askone._common.validate import as_count
from askone.campaign.campaign import Campaign
from askone.cli.console import progress
from askone.cli.demo.annotators import make, play
from askone.cli.demo.tasks import flats
from askone.store.open import open_store

PEOPLE = 8
_LONGEST = 45.0  # seconds
_ROWS = 600  # at which the true error is taken


def headless(answers: int = 1500, rows: int = 3000, console: Console | None = None) -> int:
    """Learn prices of flats from yes and no, until there are so many answers or 45 seconds have passed."""
    as_count(answers, "answers", 10)
    console = console or Console()
    console.print(
        f"{rows} flats without prices; {PEOPLE} simulated people, each of whom guesses a price within some 4 % of it, "
        "answer questions such as\n  [bold]Is its market price above 295000 EUR?[/bold]\n"
        "Some of the questions are drawn at random to measure the model: what they say is the measured error."
    )
    with tempfile.TemporaryDirectory(prefix="askone-demo-") as folder:
        task = flats(Path(folder), rows)
        with open_store("memory:") as store:
            campaign = make(store, task, time.time())
            lines = _played(campaign, task.knowledge, answers, console)
    console.print(_table(lines))
    console.print(f"No price was ever told: {lines[-1]['answers']} answers of yes and no.")
    return 0


def _played(campaign: Campaign, knowledge: Any, answers: int, console: Console) -> list[dict[str, Any]]:
    stops = sorted({answers, *(n for n in (100, 200, 400, 800, 1600, 3200) if n < answers)})
    people, lines, end = [f"person {i + 1}" for i in range(PEOPLE)], [], time.monotonic() + _LONGEST
    given = 0
    with progress(console, transient=False) as shown:
        bar = shown.add_task("answers", total=answers)
        for given in play(campaign, knowledge, people, answers):
            shown.update(bar, completed=given)
            if stops and given >= stops[0]:
                stops = [stop for stop in stops if stop > given]
                lines.append(_line(campaign, knowledge, given))
            if time.monotonic() > end:
                break
    if not lines or lines[-1]["answers"] != given:
        lines.append(_line(campaign, knowledge, given))
    return lines


def _line(campaign: Campaign, knowledge: Any, answers: int) -> dict[str, Any]:
    """Return the measured error beside the true one: both are of what people take for the price."""
    step, chance = max(1, len(knowledge.truth) // _ROWS), random.Random(answers)
    predicted = campaign.predictions(range(0, len(knowledge.truth), step))
    errors = [abs(one["prediction"] - knowledge.guess(one["key"], chance)) for one in predicted]
    measured = campaign.dashboard(0.0)["curve"]["latest"]
    return {"answers": answers, "measured": measured, "true": float(np.mean(errors))}


def _table(lines: list[dict[str, Any]]) -> Table:
    table = Table(title="Mean error of the predicted price in EUR")
    for name in ("answers", "measured, from answers alone", "give or take", "larger errors add at most", "true"):
        table.add_column(name, justify="right")
    for line in lines:
        found = line["measured"]
        shown = ("not yet", "", "")
        if found is not None:
            half = max(found["high"] - found["value"], found["value"] - found["low"])
            vague = found["low"] <= 0  # the middle of such a band may be next to nothing by chance
            said = (f"at most {found['high']:,.0f}", "") if vague else (f"{found['value']:,.0f}", f"{half:,.0f}")
            shown = (*said, "anything" if found["beyond"] is None else f"{found['beyond']:,.0f}")
        table.add_row(str(line["answers"]), *shown, f"{line['true']:,.0f}")
    return table
