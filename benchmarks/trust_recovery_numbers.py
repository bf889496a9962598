"""The default learner of numbers where answers err, labels have two peaks, or noise is far above the signal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from page import Array, grid, spread

import askone
from askone import SGD, Filters, Oracle

GRID = np.linspace(0, 1, 300)[:, None]
INVERTED = 30


def truth(X: Array) -> Array:
    return np.asarray(np.sin(2 * np.pi * X[:, 0]))


def errors(noise: Callable[[Any, int], Array], at: tuple[int, ...], seed: int, **options: Any) -> list[float]:
    """Return the mean distance to the median at some numbers of answers; ``inverted`` of them are, at first."""
    rng = np.random.default_rng([seed, 11])
    X = rng.uniform(size=(at[-1], 1))
    y, inverted, shift = truth(X) + noise(rng, at[-1]), options.pop("inverted", 0), options.pop("shift", 0.0)
    learner = askone.OneBitRegressor(-1.5, 1.5, random_state=seed, **options).start(X).stream_.learner
    state, done, found = learner.init(), 0, []
    for begin, end, flip in ((0, inverted, True), *zip((inverted, *at), at, [False] * len(at), strict=False)):
        rows, labels = X[begin:end], y[begin:end]
        for x, label in zip(rows, labels, strict=True) if flip else ():
            question = learner.ask(state, x, np.empty(learner.width))
            state = learner.tell(state, x, question, not question.holds(label))
        if not flip:
            state = askone.simulate(learner, rows, Oracle(labels), seed=seed, state=state, at=[]).state
            found.append(float(np.abs(learner.predict(state, GRID)[:, 0] - truth(GRID) - shift).mean()))
        done = end
    assert done == at[-1]
    return found


def normal(scale: float, rng: Any, n: int) -> Array:
    return np.asarray(scale * rng.normal(size=n))


def cauchy(scale: float, rng: Any, n: int) -> Array:
    return np.asarray(scale * rng.standard_cauchy(size=n))


def peaks(rng: Any, n: int) -> Array:
    """Three of five half below, the others half above."""
    return np.where(rng.uniform(size=n) < 0.6, -0.5, 0.5)


def runs(seeds: int, quick: bool, noise: Callable[[Any, int], Array], at: tuple[int, ...], **options: Any) -> Array:
    """Return ``errors`` of every seed."""
    return np.array(spread(quick, partial(errors, noise, at, **options), range(seeds)))


def section(quick: bool) -> str:
    """Return the section of docs/trust.md."""
    few, many = (2, 2) if quick else (24, 50)
    at = (100, 300) if quick else (300, 1500)
    inverted = []
    for name, learner in (("default", Filters()), ("`Filters(wary=0.2)`", Filters(wary=0.2))):
        plain, mixed = (
            runs(few, quick, partial(normal, 0.1), at, inverted=k, learner=learner).mean(axis=0) for k in (0, INVERTED)
        )
        for t, a, b in zip(at, plain, mixed, strict=True):
            inverted.append((name, f"{t:,}", f"{a:.4f}", f"{b:.4f}", f"{b / a:.2f}"))
    later = (300,) if quick else (1500, 6000)
    two = runs(many, quick, peaks, later, shift=-0.5)
    stuck = [
        (f"{t:,}", f"{each.mean():.3f}", f"{each.max():.3f}", f"{np.count_nonzero(each > 0.2)} of {many}")
        for t, each in zip(later, two.T, strict=True)
    ]
    loud = []
    far = (100,) if quick else (300, 1000, 4000)
    laws = [(f"normal, {scale:g}", partial(normal, scale)) for scale in (1.0, 2.0, 5.0)]
    for name, noise in (*laws[:2], ("Cauchy, 2", partial(cauchy, 2.0)), laws[2]):
        ours, theirs = (runs(few, quick, noise, far, learner=one).mean(axis=0) for one in (Filters(), SGD()))
        for t, a, b in zip(far, ours, theirs, strict=True):
            loud.append((name, f"{t:,}", f"{a:.3f}", f"{b:.3f}", f"{a / b:.2f}"))
    return f"""## Numbers: answers that err, two peaks, much noise

Learners on a sine in a range of ±1.5; errors are mean distances to the true median. Claimed of `wary`:
after thirty answers with yes and no mixed up, then right ones, it is within 1.5 times of never so
at 1,500 ({few} runs, normal noise .1):

{grid(("learner", "answers", "never inverted", "thirty inverted", "ratio"), inverted)}

Labels with two peaks, three of five .5 below and the others .5 above: no run is stuck ({many} runs).

{grid(("answers", "mean error", "worst run", "runs with an error above .2"), stuck)}

Noise far above the signal: the aim is not to be above SGD by more than 5 % ({few} runs).

{grid(("noise", "answers", "default", "SGD", "ratio"), loud)}
"""
