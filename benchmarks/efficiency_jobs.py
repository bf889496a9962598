"""The work of ``efficiency.py``: what is computed for a task, and where it is kept until all is done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import efficiency_baselines
import efficiency_tasks
from efficiency_baselines import Curves, baseline_curves
from efficiency_tasks import BY_NAME, CHOSEN, CLASSES, DEFAULT, NUMBERS, Problem, Task, problem_of, ranking_of

import askone
from askone import OneBitClassifier, OneBitRanker, OneBitRegressor, Oracle, simulate
from askone.paper._base import Job
from askone.paper._engine import execute, seconds

SOURCES = Path(askone.__file__).parent
# What a baseline's figures depend on beside these scripts; the estimators are not in it.
_RESTS_ON = (
    "_common", "features", "labels", "learners/gradients", "learners/models", "learners/sgd", "learners/step_rules.py",
    "paper/_split_trial.py", "paper/_stream_trial.py", "paper/_synthetic.py", "paper/figures/plain_sgd.py",
    "session/simulation.py",
)  # fmt: skip


def fingerprint(*paths: Path) -> str:
    """A short name that changes with the sources below these paths."""
    digest = hashlib.blake2b(digest_size=6)
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def fingerprints() -> dict[str, str]:
    """Of the sources that the default's figures rest on, and those that the baselines' do."""
    tasks, baselines = (Path(str(module.__file__)) for module in (efficiency_tasks, efficiency_baselines))
    return {
        "default": fingerprint(SOURCES, tasks, Path(__file__)),
        "baselines": fingerprint(*(SOURCES / part for part in _RESTS_ON), tasks, baselines),
    }


def estimator_of(task: Task, seed: int) -> Any:
    """The default: nothing is chosen but what the labels are."""
    if task.kind == NUMBERS:
        ends = (task.low, task.high) if task.outputs == 1 else ([task.low] * task.outputs, [task.high] * task.outputs)
        return OneBitRegressor(*ends, random_state=seed)
    if task.kind == CLASSES:
        return OneBitClassifier(range(task.outputs), random_state=seed)
    return OneBitRanker(ranking_of(task).items, random_state=seed)


def judge_of(task: Task, problem: Problem, learner: Any, seed: int) -> Callable[[Any], float]:
    """From what the default's learner predicts to an error."""
    if task.kind == NUMBERS:
        return problem.error

    def judged(scores: Any) -> float:
        labels = learner.space.decode(scores, problem.X_test, seed)
        return problem.error(labels[:, 0].astype(int) if task.kind == CLASSES else labels)

    return judged


def default_curve(name: str, quick: bool, seed: int) -> Curves:
    """One stream of the default estimator: errors at the task's numbers of questions."""
    task = BY_NAME[name].quick() if quick else BY_NAME[name]
    problem = problem_of(task, seed)
    model = estimator_of(task, seed).start(problem.X)
    learner = model.stream_.learner
    look: dict[str, Any] = {"at": task.at, "test": problem.X_test, "evaluate": judge_of(task, problem, learner, seed)}
    curve = simulate(learner, problem.X, Oracle(problem.hidden), seed=model.stream_.seed, **look).curve
    return {DEFAULT: {"": [error for _, error in curve]}}


def chosen_curve(name: str, quick: bool, seed: int) -> Curves:
    """The same where the default also chooses which row to ask about, of all that were not asked about yet."""
    task = BY_NAME[name].quick() if quick else BY_NAME[name]
    problem, errors = problem_of(task, seed), []
    model = estimator_of(task, seed).set_params(select="auto", keep_log=False).start(problem.X)
    learner = model.stream_.learner
    judge = judge_of(task, problem, learner, seed)
    for asked in range(1, min(task.chosen, len(problem.X)) + 1):
        question, place = model.ask_from(problem.X)
        model.tell(question, question.holds(problem.hidden[place]))
        if asked in task.at:
            errors.append(judge(learner.predict(model.stream_.state, problem.X_test)))
    return {CHOSEN: {"": errors}}


Results = list[tuple[float | None, Curves]]
"""Kernel width (None: the default's own) and what was measured with it, for every job."""


def measure(
    name: str, quick: bool, kept: Path, workers: int, done: Callable[[int, int], None]
) -> tuple[Results, dict[str, float]]:
    """All curves of a task, and the seconds of one core they took: what was finished before is read, not computed."""
    task, prints = BY_NAME[name].quick() if quick else BY_NAME[name], fingerprints()
    every = {"name": name, "quick": quick}
    defaults = [Job(default_curve, {**every, "seed": seed}) for seed in range(task.seeds)]
    defaults += [Job(chosen_curve, {**every, "seed": seed}) for seed in range(task.seeds) if task.chosen]
    pairs = [(seed, width) for width in task.widths for seed in range(task.seeds)]
    others = [Job(baseline_curves, {**every, "seed": seed, "width": width}) for seed, width in pairs]
    total = len(defaults) + len(others)

    def count(more: int) -> None:
        done(more, total)

    folders = [kept / f"{part}-{prints[part]}" for part in ("baselines", "default")]
    found = execute(others, folders[0], count, workers), execute(defaults, folders[1], count, workers)
    results: Results = [(width, curves) for (_, width), curves in zip(pairs, found[0], strict=True)]
    results += [(None, curves) for curves in found[1]]
    times = {"baselines": seconds(others, folders[0]), "default": seconds(defaults, folders[1])}
    return results, times
