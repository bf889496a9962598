"""A crowd of which some err: answers by name against answers of nobody, and against known rates.

    python benchmarks/people.py [--seeds N] [--only NAMES]
    python benchmarks/people.py --quick      some seconds: few and short tasks; prints and writes nothing

Eight people answer, whoever comes: four err in 2 of 100 answers, two in 15, one says yes in 35 of 100 cases whatever is
true, and one answers at random.  One question about each row, no check questions, no overlap.  The same answers-to-be
(who comes, and when they err) are given to the default learner that knows the rates of everybody, to one that is told
who answers, and to one that is told nothing.  In a careful crowd everybody errs in 1 of 100 answers.  Numbers: mean
absolute error of the noiseless label; classes: error on rows that were held out.  Writes docs/people.md and
results/people.json.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import key_presser
import numpy as np
import pandas as pd
import real_crowds
from joblib import Parallel, delayed
from page import DATA, Array, arguments, grid, keep_page, machine, taken_with
from rich.progress import track
from sklearn.datasets import load_digits

from askone import OneBitClassifier, OneBitRegressor
from askone.learners.abilities import refitted
from askone.questions.base import ErrorRates

CROWD = [(0.02, 0.02)] * 4 + [(0.15, 0.15)] * 2 + [(0.35, 0.0), (0.5, 0.5)]
CAREFUL = [(0.01, 0.01)] * 8
LOOKS = (300, 1000, 3000)
WAYS = ("known", "people", "nobody")
_TEST = 1000


def sine(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    X = rng.uniform(-1, 1, (n, 1))
    return X, np.sin(4 * X[:, 0])


def six_inputs(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    X = rng.uniform(-1, 1, (n, 6))
    return X, X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] - 0.3 * X[:, 4]


def prices(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """A table like one of used things: size, age, a grade of five, a region of eight."""
    size, age = rng.gamma(4.0, 0.25, n), rng.exponential(1.0, n)
    grade, region = rng.integers(0, 5, n), rng.integers(0, 8, n)
    worth = np.array([-0.4, 0.1, 0.0, 0.5, -0.2, 0.3, -0.1, 0.2])[region]
    f = np.clip(size * np.exp(-0.4 * age) * (1 + 0.15 * grade) + worth - 1.0, -1.5, 2.5)
    return np.column_stack([size, age, grade, region]).astype(float), f


NUMBERS: dict[str, Callable[[np.random.Generator, int], tuple[Array, Array]]] = {
    "sine": sine,
    "six inputs": six_inputs,
    "prices": prices,
}


def digits(seed: int) -> tuple[Array, Array, Array, Array]:
    found = load_digits()
    order = np.random.default_rng(seed).permutation(len(found.target))
    X, y = found.data[order], found.target[order]
    return X[:1400], y[:1400], X[1400:], y[1400:]


def pendigits(seed: int) -> tuple[Array, Array, Array, Array]:
    train, test = (pd.read_parquet(DATA / f"pendigits-{part}.parquet") for part in ("train", "test"))
    train = train.sample(frac=1, random_state=seed)
    columns = [name for name in train.columns if name != "label"]
    parts = [(one[columns].to_numpy(float), one["label"].to_numpy()) for one in (train, test)]
    return (*parts[0], *parts[1])


CLASSES = {"digits": digits, "pendigits": pendigits}


def run(task: str, way: str, crowd: Sequence[tuple[float, float]], seed: int, looks: Sequence[int]) -> Any:
    """Return the errors of one way of learning after so many answers, and the seconds of processor an answer took."""
    model: Any
    if task in NUMBERS:
        rng = np.random.default_rng(seed)
        X, f = NUMBERS[task](rng, looks[-1] + _TEST)
        X, y, test, truth = X[:-_TEST], (f + 0.1 * rng.normal(size=len(f)))[:-_TEST], X[-_TEST:], f[-_TEST:]
        model = OneBitRegressor(-3.0, 3.0, random_state=seed, keep_log=False)
    else:
        X, y, test, truth = CLASSES[task](seed)
        model = OneBitClassifier(sorted(set(y.tolist())), random_state=seed, keep_log=False)
    model.start(X)
    learner, state, errors, spent = model.stream_.learner, model.stream_.state, [], 0.0
    who, lot = np.random.default_rng(1000 + seed), np.random.default_rng(2000 + seed)
    uniform = np.random.default_rng(3000 + seed)
    for i in range(min(looks[-1], len(X))):
        began = time.process_time()
        question = learner.ask(state, X[i], uniform.uniform(size=learner.width))
        place, u = int(who.integers(len(crowd))), float(lot.uniform())
        yes, no = crowd[place]
        answer = u < yes or (u >= yes + no and bool(question.holds(y[i])))
        if way == "known":
            state = learner.tell(state, X[i], question.put_to(ErrorRates(yes, no)), answer)
        elif way == "people":
            state = learner.tell_by(state, X[i], question, answer, f"person {place}")
        else:
            state = learner.tell(state, X[i], question, answer)
        state = refitted(learner, state)
        spent += time.process_time() - began
        if i + 1 in looks:
            errors.append(_error(model, state, test, truth))
    return errors, spent / (i + 1)


def _error(model: Any, state: Any, test: Array, truth: Array) -> float:
    model.stream_.state = state
    said = model.predict(test)
    return float((said != truth).mean() if truth.dtype.kind in "iu" else np.abs(said - truth).mean())


def measured(tasks: Sequence[str], seeds: int, looks: Sequence[int]) -> dict[str, Any]:
    """Return mean errors and seconds of each task, crowd and way."""
    out: dict[str, Any] = {}
    jobs = [(task, name, way) for task in tasks for name in ("mixed", "careful") for way in WAYS]
    for task, name, way in track(jobs, "people"):
        crowd = CROWD if name == "mixed" else CAREFUL
        runs = Parallel(2 if seeds > 1 else 1)(delayed(run)(task, way, crowd, seed, looks) for seed in range(seeds))
        errors = np.array([errors for errors, _ in runs])
        out.setdefault(task, {}).setdefault(name, {})[way] = {
            "errors": errors.mean(axis=0).tolist(),
            "seconds": float(np.mean([spent for _, spent in runs])),
        }
    return out


def campaign_task(task: str, seed: int, rows: int) -> key_presser.Task:
    """Return a task as a campaign has it: classes have names."""
    if task not in NUMBERS:
        X, y, test, truth = CLASSES[task](seed)
        return X[:rows], y[:rows].astype(str), test, truth.astype(str)
    rng = np.random.default_rng(seed)
    X, f = NUMBERS[task](rng, rows + _TEST)
    return X[:rows], (f + 0.1 * rng.normal(size=len(f)))[:rows], X[rows:], f[rows:]


def pressed(tasks: Sequence[str], answers: int, seeds: int) -> Sequence[str]:
    """Return the section about somebody who presses keys at random."""
    made = {task: partial(campaign_task, task) for task in tasks}
    return key_presser.section(key_presser.measured(made, answers, seeds), answers, seeds)


def page(found: dict[str, Any], seeds: int, *sections: Sequence[str]) -> str:
    """Return the document."""
    lines = [
        "# People who err", "",
        f"Written by `make bench-people` ({taken_with(machine())}), means of {seeds} seeds.  Errors after 300 / 1000 "
        "/ 3000 answers (digits: 300 / 1000), over those of a learner that knows how often each person errs.", "",
    ]  # fmt: skip
    for name, title in (("mixed", "A mixed crowd"), ("careful", "A careful crowd")):
        rows: list[tuple[str, ...]] = []
        for task, crowds in found.items():
            known = np.array(crowds[name]["known"]["errors"])
            ratios = [np.array(crowds[name][way]["errors"]) / known for way in ("people", "nobody")]
            said = (" / ".join(f"{r:.2f}" for r in one) for one in ratios)
            rows.append((task, " / ".join(f"{one:.3f}" for one in known), *said))
        lines += [
            f"## {title}",
            "",
            grid(("", "rates known (error)", "answers by name", "answers of nobody"), rows),
            "",
        ]
    times = [
        (task, *(f"{1000 * crowds['mixed'][way]['seconds']:.2f}" for way in ("people", "nobody")))
        for task, crowds in found.items()
    ]
    lines += ["## Time", "", "Milliseconds of processor an answer takes, fits included.", ""]
    lines.append(grid(("", "by name", "of nobody"), times))
    more = [line for section in sections for line in section]
    return "\n".join([*lines, "", *more, "How the crowd is made: see the head of `benchmarks/people.py`.", ""])


def main(given: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__, seeds=8, quick=False)
    parser.add_argument("--only", help="tasks, with commas")
    chosen = parser.parse_args(given)
    warnings.simplefilter("ignore")
    tasks = [*NUMBERS, "digits", *(["pendigits"] if (DATA / "pendigits-train.parquet").exists() else [])]
    tasks = chosen.only.split(",") if chosen.only else tasks
    if chosen.quick:
        real = real_crowds.section(DATA, 1, quick=True)
        print(page(measured(["sine", "digits"], 1, (30, 70)), 1, pressed(["sine"], 40, 1), real))
        return 0
    found = measured(tasks, chosen.seeds, LOOKS)
    at_random = pressed([task for task in tasks if task != "pendigits"], 1000, 10)
    real = real_crowds.section(DATA, chosen.seeds)
    keep_page("people", found, page(found, chosen.seeds, at_random, real))
    return 0


if __name__ == "__main__":
    sys.exit(main())
