"""defaults: askone's default learners beside Algorithm 1 on the paper's real data, with the same rows and questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar, final

import numpy as np

from askone import datasets
from askone._common import random_table
from askone._common.types import Array
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.regressor import OneBitRegressor
from askone.paper._base import Claim, Job, Numbers, Run, graded
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._split_trial import ACTIVE, split_errors, two_thirds
from askone.paper._stream_trial import RANGES, Setting, baseline, stream_of, stream_trial
from askone.paper._trials import errors_at
from askone.session.simulation import checkpoints

_STREAMS = {"weather": (10.0, 1e-2, "°C"), "calcofi": (3.0, 1.0, "%")}
"""Kernel width, the paper's step and the unit."""
_CLASSES = {"usps-libsvm": (10.0, 15.0), "pendigits": (0.8, 7.5)}
"""The kernel width that does best, and the paper's step."""
_DEFAULT, _PAPER, _TUNED = "askone's default", "Algorithm 1, the paper's step", "Algorithm 1, step tuned on labels"


def default_stream(data: str, rows: int, seed: int, at: list[int]) -> dict[str, Any]:
    """Return mean absolute test errors of ``OneBitRegressor(low, high)`` as it comes, rows in file order."""
    stream = stream_of(data, rows)
    learner = OneBitRegressor(*RANGES[data], random_state=seed).start(stream.X[:rows]).stream_.learner

    def error(predicted: Array) -> float:
        return float(np.abs(predicted[:, 0] - stream.y_test).mean())

    return {"at": at, "errors": errors_at(at, learner, stream.X[:rows], stream.y[:rows], seed, stream.X_test, error)}


def default_split(data: str, rows: int, split: int, at: list[int]) -> list[float]:
    """Return test errors of ``OneBitClassifier(classes)`` as it comes, on the rows of ``split_errors``."""
    loaded = datasets.load(data)
    X, y, asked = loaded.X[:rows], loaded.y[:rows].astype(int), at[-1]
    order = np.argsort(random_table.uniforms(split, 0, 1, len(X), random_table.ORDER)[0], kind="stable")
    train, held = order[: two_thirds(len(X))], order[two_thirds(len(X)) :]
    classes = np.unique(loaded.y.astype(int)).tolist()
    learner = OneBitClassifier(classes, random_state=split).start(X[train]).stream_.learner

    def error(scores: Array) -> float:
        best = learner.space.decode(scores, X[held])[:, 0]  # type: ignore[attr-defined]  # of classes, it decodes
        return float(np.mean(best != y[held]))

    return errors_at(at, learner, X[train[:asked]], y[train[:asked]], split, X[held], error)


@final
class Defaults(Run):
    """What somebody who tunes nothing gets on the paper's data."""

    name: ClassVar[str] = "defaults"
    title: ClassVar[str] = "askone's default learners beside Algorithm 1 on the paper's real data"
    caption: ClassVar[str] = (
        "The same rows, one question each, the same declared ranges; nobody sees a label but for the tuned steps (the "
        "best of 13 by labels kept apart) and the black lines (real temperature; linear regression on all labels)."
    )
    needs: ClassVar[tuple[str, ...]] = (*_STREAMS, *_CLASSES)

    def _sizes(self, quick: bool) -> dict[str, int]:
        if quick:
            return {"weather": 400, "calcofi": 400, "usps-libsvm": 300, "pendigits": 300}
        return {"weather": 70_000, "calcofi": 70_000, "usps-libsvm": 7291, "pendigits": 7494}

    def _at(self, data: str, quick: bool) -> list[int]:
        rows = self._sizes(quick)[data]
        return checkpoints(two_thirds(rows) if data in _CLASSES else rows, 4)

    def jobs(self, quick: bool) -> list[Job]:
        """Return for each stream the line and three learners; for each data set of classes two."""
        jobs, repeats = [], range(1 if quick else 2)
        for data, (width, gamma, _) in _STREAMS.items():
            common = {"data": data, "rows": self._sizes(quick)[data]}
            steps = [asdict(Setting(width, True, "active", step)) for step in (gamma, None)]
            more = {**common, "at": self._at(data, quick)}
            jobs.append(Job(baseline, common))
            jobs += [Job(stream_trial, {**more, "seed": s, "setting": how}) for how in steps for s in repeats]
            jobs += [Job(default_stream, {**more, "seed": seed}) for seed in repeats]
        for data, (width, gamma) in _CLASSES.items():
            common = {"data": data, "rows": self._sizes(quick)[data], "at": self._at(data, quick)}
            jobs.append(
                Job(split_errors, {**common, "bandwidth": width, "steps": {ACTIVE: gamma}, "splits": [*repeats]})
            )
            jobs += [Job(default_split, {**common, "split": split}) for split in repeats]
        return jobs

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return, for each data set, the baseline, and for each learner the errors, repeats x checkpoints."""
        found, left, repeats = {}, iter(results), 1 if quick else 2
        for data in _STREAMS:
            line = next(left)
            runs = {name: [next(left) for _ in range(repeats)] for name in (_PAPER, _TUNED, _DEFAULT)}
            curves = {name: {"at": of[0]["at"], "runs": [one["errors"] for one in of]} for name, of in runs.items()}
            found[data] = {"line": line, "curves": curves}
        for data in _CLASSES:
            paper, own = next(left)[ACTIVE], [next(left) for _ in range(repeats)]
            at = self._at(data, quick)
            found[data] = {
                "line": None,
                "curves": {n: {"at": at, "runs": r} for n, r in ((_PAPER, paper), (_DEFAULT, own))},
            }
        return found

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return one row for numbers and one for classes."""
        return [
            _claim(numbers, _STREAMS, lambda data, error: f"{error:.2f} {_STREAMS[data][2]}"),
            _claim(numbers, _CLASSES, lambda _, error: f"{100 * error:.1f} %"),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return a panel for each data set."""
        figure, axes = panels(2, 2, width=4.5, height=3.2)
        for one, (data, found) in zip(axes, numbers.items(), strict=True):
            for (name, curve), colour in zip(found["curves"].items(), COLOURS, strict=False):
                band(one, curve["at"], curve["runs"], name, colour)
            if found["line"] is not None:
                one.axhline(found["line"], color="black", linewidth=1)
            one.set(
                title=data, xlabel="questions T", ylabel="mean absolute error" if data in _STREAMS else "test error"
            )
        axes[0].legend(frameon=False, fontsize=7)
        return figure


def _claim(numbers: Numbers, of: Any, said: Any) -> Claim:
    better, parts = [], []
    for data in of:
        ends = {n: float(np.mean(c["runs"], axis=0)[-1]) for n, c in numbers[data]["curves"].items()}
        last = numbers[data]["curves"][_DEFAULT]["at"][-1]
        line = numbers[data]["line"]
        better.append(ends[_DEFAULT] < min(error for name, error in ends.items() if name != _DEFAULT))
        against = ", ".join(f"{name} {said(data, error)}" for name, error in ends.items())
        parts.append(f"{data}, T = {last:,}: {against}" + ("" if line is None else f" (line {said(data, line)})"))
    kind = "numbers" if of is _STREAMS else "classes"
    return Claim(
        f"askone's default for {kind} ends below Algorithm 1 with the paper's step and with a tuned one"
        if of is _STREAMS
        else f"askone's default for {kind} ends below Algorithm 1 with the paper's step",
        "not in the paper",
        "; ".join(parts),
        graded(better),
        "the default tunes nothing and sees no label; line: the paper's baseline, which sees them"
        if of is _STREAMS
        else "Algorithm 1 with the kernel width that does best of those in the libsvm runs",
    )
