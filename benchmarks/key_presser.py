"""A campaign with five people of whom one presses keys at random, against the same without that person.

Four careful people, who err in 2 of 100 answers, and one who does not look come by lot, until there are so many
answers.  In the other campaign the turns of the fifth pass: the four give as many answers as before, and make the same
slips.  Errors are those of the campaigns' models on rows that were held out.  A section of ``people.py``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from page import Array, grid

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.settings.settings import ClassNames, LearnerSettings, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.people import SimulatedCrowd
from askone.store.open import open_store

Task = tuple[Array, Array, Array, Array]
"""Rows to ask about and their labels, rows to test by and theirs."""
CROWD = {"ann": "careful", "bob": "careful", "cid": "careful", "dee": "careful", "eve": "spammer"}
_SPARE = 40  # rows, for questions that somebody holds at the end


def ran(task: Task, answers: int, presses: bool, seed: int) -> float:
    """Return the error of a campaign with so many answers, of which eve's are left out unless she ``presses``."""
    X, y, test, truth = task
    names, number = [f"x{i}" for i in range(X.shape[1])], y.dtype.kind == "f"
    labels = Numbers(-3.0, 3.0) if number else ClassNames(tuple(sorted(set(y.tolist()))))
    settings = Settings("C", labels, RowSettings(key="id", learn=tuple(names)), learner=LearnerSettings(seed=seed))
    with tempfile.TemporaryDirectory() as folder, open_store("memory:") as store:
        path = Path(folder) / "rows.csv"
        pd.DataFrame(X, columns=names).assign(id=[f"r{i}" for i in range(len(X))]).to_csv(path, index=False)
        create_campaign(store, "c", settings, open_table(str(path)), "", 0.0)
        campaign, crowd, serving = Campaign.open(store, "c"), SimulatedCrowd(CROWD, seed), dict[str, Any]()
        for n in range(answers):
            [who] = crowd.coming()
            if who == "eve" and not presses:
                continue
            if who not in serving:
                [serving[who]] = campaign.serve([Next(who)], float(n))
            served = serving[who].question
            row = int(served.row.key[1:])
            bit = crowd.answer(who, row, bool(served.question.answer(y[row])))
            [serving[who]] = campaign.serve([Answer(who, served.lease, bit, f"a{n}", 1.0)], n + 0.5)
            if isinstance(serving[who], Exception):
                raise serving[who]
        said = campaign.model().predict(pd.DataFrame(test, columns=names))
    return float(np.abs(said - truth).mean() if number else (said != truth).mean())


def _both(made: Callable[[int, int], Task], answers: int, seed: int) -> list[float]:
    task = made(seed, answers + _SPARE)
    return [ran(task, answers, presses, seed) for presses in (True, False)]


def measured(tasks: dict[str, Callable[[int, int], Task]], answers: int, seeds: int) -> dict[str, Any]:
    """Return mean errors with and without eve of each task, and how far their ratio may be off (one sigma)."""
    out = {}
    for name, made in tasks.items():
        both = (delayed(_both)(made, answers, seed) for seed in range(seeds))
        errors = np.array(Parallel(2 if seeds > 1 else 1)(both))
        mean, gap = errors.mean(axis=0), errors[:, 0] - errors[:, 1]
        off = gap.std(ddof=1) / np.sqrt(seeds) / mean[1] if seeds > 1 else np.nan
        out[name] = {"with": mean[0], "without": mean[1], "off": float(off)}
    return out


def section(found: dict[str, Any], answers: int, seeds: int) -> Sequence[str]:
    """Return its part of the document."""
    lines = [
        "## One of five presses keys at random", "",
        f"Whole campaigns of {answers} answers: four careful people and one who does not look; and the same without "
        f"that person, the four answering as often.  Means of {seeds} runs, with one standard error.", "",
    ]  # fmt: skip
    rows = [
        (name, f"{one['with']:.4f}", f"{one['without']:.4f}", f"{one['with'] / one['without']:.2f} ± {one['off']:.2f}")
        for name, one in found.items()
    ]
    return [*lines, grid(("", "error with all five", "without the fifth", "ratio"), rows), ""]
