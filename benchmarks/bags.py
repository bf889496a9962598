"""Bags: what one key for several rows saves, in a person's time.

    python benchmarks/bags.py [--seeds N] [--jobs N]
    python benchmarks/bags.py --quick     some seconds: one short run each; prints and writes nothing

A table is to have its labels right.  Somebody who does not err takes PRESS seconds for a question and LOOK for each row
in it, in order of which the learner knows nothing but its own guess (``Pace``).  A row whose class was confirmed by a
yes has that label and is asked about no more, another one has what the model predicts.  Writes docs/bags.md and
results/bags.json.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from page import Array, arguments, grid, keep_page, machine, taken_with
from sklearn.datasets import load_digits

from askone import OneBitClassifier, datasets
from askone.errors import DownloadFailed

PRESS, LOOK = 1.2, 0.3
MINUTES = (5, 10, 20, 30)
LOOKED = 150


def clouds(rows: int, seed: int) -> tuple[Array, Array]:
    """Return five clouds in four dimensions, of which about one row in twelve lies in another one's place."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(5, size=rows)
    return 1.9 * chance.normal(size=(5, 4))[labels] + 0.8 * chance.normal(size=(rows, 4)), labels


def digits(rows: int, seed: int) -> tuple[Array, Array]:
    """Return pictures of digits."""
    X, y = load_digits(return_X_y=True)
    some = np.random.default_rng(seed).permutation(len(X))[:rows]
    return X[some], y[some]


def pendigits(rows: int, seed: int) -> tuple[Array, Array]:
    """Return digits as they were written."""
    found = datasets.load("pendigits")
    some = np.random.default_rng(seed).permutation(len(found.X))[:rows]
    return np.asarray(found.X)[some], np.asarray(found.y)[some]


TASKS = {"clouds": clouds, "digits": digits, "pendigits": pendigits}


def run(task: str, seed: int, most: int, rows: int, minutes: Sequence[int]) -> dict[str, list[float]]:
    """Return errors in % of the table's labels, rows that were confirmed and keys that were pressed, at each time."""
    X, y = TASKS[task](rows, seed)
    names = sorted(set(y.tolist()))
    model = OneBitClassifier(names, resample=True, random_state=seed).start(X)
    chance, known = np.random.default_rng(seed), np.zeros(rows, np.bool_)
    free, seconds, keys = set(range(rows)), 0.0, 0
    found: dict[str, list[float]] = {"error": [], "confirmed": [], "keys": []}
    for end in minutes:
        while seconds < 60.0 * end and free:
            places = np.sort(chance.choice(sorted(free), min(LOOKED, len(free)), replace=False))
            bag = model.ask_bag(X[places], places.tolist(), most) if most > 1 else None
            if bag is None:
                question, place = model.ask_from(X[places], places.tolist())
                answer = question.answer(y[places[place]])
                model.tell(question, answer)
                if answer and len(question.members) == 1:
                    known[places[place]] = True
                    free.discard(int(places[place]))
                seconds, keys = seconds + PRESS + LOOK, keys + 1
                continue
            while bag.asked:
                bag = bag.told(all(bag.questions[0].holds(y[places[one]]) for one in bag.asked))
            model.tell_bag(bag)
            seconds, keys = seconds + PRESS * bag.bag.questions + LOOK * bag.bag.looks, keys + bag.bag.questions
            for place, answer in zip(places[list(bag.places)].tolist(), bag.answers, strict=True):
                if answer:
                    known[place] = True
                    free.discard(place)
        right = known | (model.predict(X) == y)
        for name, value in (("error", 100 * (1 - right.mean())), ("confirmed", known.sum()), ("keys", keys)):
            found[name].append(float(value))
    return found


def measured(tasks: Sequence[str], seeds: Sequence[int], rows: int, minutes: Sequence[int], jobs: int) -> list[Any]:
    """Return a line for each task and size of bags: means, and the error's deviation of the mean."""
    lines = []
    for task in tasks:
        for most in (1, 9):
            runs = Parallel(n_jobs=jobs)(delayed(run)(task, seed, most, rows, minutes) for seed in seeds)
            error = np.array([one["error"] for one in runs])
            spread = error.std(axis=0, ddof=1) / np.sqrt(len(seeds)) if len(seeds) > 1 else np.zeros(len(minutes))
            means = {name: np.mean([one[name] for one in runs], axis=0).tolist() for name in runs[0]}
            lines.append({"task": task, "most": most, "spread": spread.tolist(), **means})
            print(lines[-1], flush=True)
    return lines


def page(lines: Sequence[Any], rows: int, seeds: int, of: dict[str, Any]) -> str:
    """Return docs/bags.md."""
    table = [
        (
            one["task"], "up to nine" if one["most"] > 1 else "one",
            *(f"{e:.1f} ± {s:.1f}" for e, s in zip(one["error"], one["spread"], strict=True)),
            *(f"{one['confirmed'][k]:.0f}" for k in (-2, -1)), f"{one['keys'][-1]:.0f}",
        )
        for one in lines
    ]  # fmt: skip
    head = (
        "table",
        "rows in a question",
        *(f"{m} min" for m in MINUTES),
        *(f"confirmed, {m} min" for m in MINUTES[-2:]),
        "keys",
    )
    return f"""# Several rows at once

Written by `make bench-bags` (`benchmarks/bags.py`): {taken_with(of)}.

"Are all of these cats?" A yes is a yes for each row; a no is followed by the first half, and what the halves imply is
not asked. Of somebody who does not err, each row's answer is in the end the same as if it had been asked alone, so that
a likelihood learns the same from it (`askone.session.bags` has the formulas; tests enumerate all answers of up to nine
rows). A bag is asked where it tells more per second than the best question about one row: early there are rows that
the model is unsure of, and these are asked alone; later whole walls are confirmed with one key.

In a campaign: `ask.bag = 9`. People see a wall of pictures, or lines; *skip* asks about the rows one by one. How long
people take over one row and over several is measured from the log. In Python: `model.ask_bag(X)` and `model.tell_bag`.

Below, {rows} rows of each table are to have their labels right (for each of {seeds} seeds others). Somebody who does
not err takes {PRESS} s for a question and {LOOK} s for each row in it. A row whose class was confirmed has that label
and is asked about no more; another one has what the model predicts, and may be asked about again. Wrong labels in %
(± the deviation of the mean), how many rows were confirmed, and how many keys were pressed until the end.

{grid(head, table)}

What this does not show: people who look at nine pictures at once may overlook one, and a no by mistake becomes a no to
the last row. Exams and gold questions are always
about one row and measure that; with `privacy.epsilon` or with several people per question there are no bags.
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run it."""
    chosen = arguments(__doc__, seeds=10, jobs=os.cpu_count(), quick=False).parse_args(argv)
    if chosen.quick:
        lines = measured(["clouds"], [0], 120, (1, 2), 1)
        twice = [{**one, "error": one["error"] * 2, "spread": one["spread"] * 2} for one in lines]
        print(page(twice, 120, 1, machine()))
        return
    tasks = [name for name in TASKS if name != "pendigits" or _has_pendigits()]
    lines = measured(tasks, range(100, 100 + chosen.seeds), 1000, MINUTES, chosen.jobs)
    record = {"machine": machine(), "lines": lines, "rows": 1000, "seeds": chosen.seeds}
    keep_page("bags", record, page(lines, 1000, chosen.seeds, record["machine"]))


def _has_pendigits() -> bool:
    try:
        datasets.load("pendigits")
    except DownloadFailed:
        print("pendigits is left out: its file is not there")
        return False
    return True


if __name__ == "__main__":
    main()
