"""Campaigns of very many answers: opened, folded from the beginning, answered: `make bench-large`.

    python benchmarks/large.py [--quick] [--answers 1000,200000,1000000] [--store FOLDER]

Each log is written in blocks, with questions that its learner asks at the state of the moment, exams among them, and
fits as they come due.  Then processes of their own open it with what is kept beside the log, and fold it from its
beginning; twenty people answer, one request at a time, each in a durable transaction of its own.  Times are those of a
processor, since other processes run beside.  Writes results/large.json and its part of docs/benchmarks.md; ``--quick``
takes seconds, for a look whether it works, and writes nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from large_look import NAME, PEOPLE
from page import HERE, arguments, grid, keep, machine, taken_with
from server_places import prices

from askone._common import random_table
from askone._common.types import Array
from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import TakeFit
from askone.campaign.engine.fit_attempts import attempted
from askone.campaign.kinds.base import EXAM_UNIFORMS, ExamPlan
from askone.campaign.tables.open import open_table
from askone.session.checkpoints import Fit
from askone.session.log import Answered, Asked
from askone.store.entries import Entry
from askone.store.open import open_store

BLOCK, SPARE = 397, 5_000
_EXAMS = 10  # one question in so many measures: as in ``prices``
_FOLDED = 400_000  # answers; with more, folding all of them anew takes minutes


# -- a log, in blocks -----------------------------------------------------------------------------------


def made(path: Path, answers: int) -> float:
    """Make a campaign with so many answers; return the seconds of a processor that it took."""
    begin = time.process_time()
    task = prices(path.parent, answers + SPARE)
    with closing(open_store(str(path))) as store:
        create_campaign(store, NAME, task.settings, open_table(str(task.file)), "", 0.0)
        task.file.unlink()
        campaign, chance = Campaign.open(store, NAME), np.random.default_rng(2)
        for first in range(0, answers, BLOCK):
            rows = store.rows(NAME, range(first, min(first + BLOCK, answers)))
            entries = list(_entries(campaign, [(row.position, row.key, row.features) for row in rows], chance))
            with store.transaction(NAME) as transaction:
                transaction.write(entries)
            campaign.refresh()
            due = campaign.due_fit()
            if due is not None and isinstance(fit := attempted(due), Fit):
                campaign.serve([TakeFit(due, fit)], float(first))
        campaign.keep()
    return time.process_time() - begin


def _entries(campaign: Campaign, rows: Sequence[tuple[int, str, Array]], chance: Any) -> Iterator[Entry]:
    """Yield questions about some rows, put at the state of the moment, and their answers."""
    projection, labels = campaign.projection, campaign.settings.labels
    learner, state, learnt = projection.learner, projection.state, projection.learnt
    X = np.array([x for _, _, x in rows], dtype=np.float64)
    uniforms = random_table.uniforms(0, rows[0][0], len(rows), EXAM_UNIFORMS + learner.width)
    asked = learner.ask_many(state, X, uniforms[:, EXAM_UNIFORMS:])  # type: ignore[attr-defined]  # numbers do
    y = 450 + 120 * X[:, 0] + 60 * np.sin(X[:, 1]) + 40 * X[:, 2] * X[:, 3] + 30 * chance.normal(size=len(X))
    # An exam takes longer than all the rest: the first one's scores are those of the whole block.
    exam = labels.exam(learner, state, X[0], uniforms[0, :EXAM_UNIFORMS], ExamPlan(projection.lately))
    noted = {} if exam is None else {"role": "exam", "score": [*exam.score, exam.most, exam.most], "aim": "error"}
    for i, (position, key, _) in enumerate(rows):
        question, aside, who, at = asked[i], {"position": position}, f"p{position % PEOPLE:03}", 2.0 * position
        if position % _EXAMS == 0:
            aside |= noted
        question = question.numbered(position)
        yield Entry(Asked(f"ask-{position}", key, question, learnt), who, at, aside=aside)
        said = bool(question.answer(float(np.clip(y[i], 0, 1000))))
        yield Entry(Answered(f"a-{position}", f"ask-{position}", said), who, at + 1.5, 1.5, {"learnt": learnt})


# -- all of it ------------------------------------------------------------------------------------------


def main(given: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__, quick=False)
    parser.add_argument("--answers", default="1000,200000,1000000", help="how many, in campaigns of their own")
    parser.add_argument("--store", type=Path, help="a folder whose stores are used, and made where they are not there")
    chosen = parser.parse_args(given)
    sizes = [300] if chosen.quick else [int(one) for one in chosen.answers.split(",")]
    with tempfile.TemporaryDirectory(prefix="askone-large-") as folder:
        found = [_measured(chosen.store or Path(folder), size) for size in sizes]
    table = grid(HEAD, [_row(one) for one in found])
    print(f"{TITLE}\n\n{table}")
    if not chosen.quick:
        of = machine()
        keep("large", {"machine": of, "sizes": found}, _section(of, table))
    return 0


def _measured(folder: Path, answers: int) -> dict[str, Any]:
    path = folder / f"large-{answers}.db"
    taken = None if path.exists() else made(path, answers)
    found: dict[str, Any] = {"answers": answers, "made": taken}
    for what in ("kept", "fresh", "turns") if answers <= _FOLDED else ("kept", "turns"):
        command = [sys.executable, str(HERE / "large_look.py"), str(path), what]
        found[what] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(answers, what, found[what], flush=True)
    return found


TITLE = "## Campaigns of very many answers"
HEAD = ("answers", "open, CPU s", "MiB", "fold anew, CPU s", "per 10,000", "MiB", "turn, CPU ms: p50", "p95")


def _row(one: dict[str, Any]) -> tuple[Any, ...]:
    kept, fresh, turns = one["kept"], one.get("fresh"), one["turns"]
    folded = (None, None, None)
    if fresh is not None:
        folded = (fresh["cpu"], fresh["cpu"] / one["answers"] * 10_000, fresh["peak_mib"])
    return (f"{one['answers']:,}", kept["cpu"], kept["peak_mib"], *folded, turns["turn_p50_ms"], turns["turn_p95_ms"])


def _section(of: dict[str, Any], table: str) -> str:
    return f"""{TITLE}

Written by `make bench-large` (`benchmarks/large.py`): {taken_with(of)}.

Campaigns of numbers, six columns, by {PEOPLE} people; one question in {_EXAMS} is noted as one that measures; fits
as they come due. Opened with what is kept beside the log, and folded from its beginning without; then a turn, that is
an answer until the next question, in a durable transaction, without the network. Seconds are those of a processor that
others used as well, with what a process loads when it first learns; *MiB* is the most memory that the process held.

{table}"""


if __name__ == "__main__":
    sys.exit(main())
