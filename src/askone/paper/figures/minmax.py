"""minmax: the game of proposition 3, its counter-example, and players who learn it from one bit a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common import random_table
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.labels.classes import Classes
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.equilibrium import equilibrium, gap, payoff
from askone.learners.paper.game import GameLearner
from askone.learners.step_rules import InverseSqrt
from askone.paper._base import CORRECTED, FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Axes, Figure, band, panels
from askone.session.oracle import Oracle
from askone.session.simulation import checkpoints, simulate

P = (0.4, 0.3, 0.3)
VALUE, V, MU = -0.1, (0.25, 0.375, 0.375), (0.5, 0.25, 0.25)
_STEP = 3.0
_PRECISION = 1e-6


def solved(p: list[float]) -> dict[str, Any]:
    """The equilibrium on single classes, by linear programming."""
    found = equilibrium(p, np.eye(len(p)))
    return {"value": found.value, "v": found.v.tolist(), "mu": found.mu.tolist()}


def with_majority(classes: int, count: int, seed: int) -> dict[str, Any]:
    """Random p with a class above 1/2: how often the argmax, and the argmin, of v* is that class."""
    uniform = random_table.uniforms(seed, 0, count, classes + 1, random_table.DESIGN)
    rest = -np.log(uniform[:, 1:])
    p = 0.49 * rest / rest.sum(axis=1, keepdims=True)
    p[np.arange(count), (uniform[:, 0] * classes).astype(int)] += 0.51
    v = np.array([equilibrium(one, np.eye(classes)).v for one in p])
    best = p.argmax(axis=1)
    return {"count": count, "largest": int((v.argmax(1) == best).sum()), "least": int((v.argmin(1) == best).sum())}


def played(seeds: list[int], questions: int, step: float, at: list[int]) -> list[dict[str, Any]]:
    """Average play of the saddle-point learner without context, at some numbers of questions."""
    space = Classes(("1", "2", "3"))
    learner = GameLearner(space, FeatureModel(Linear(Scaler.identity(1))), InverseSqrt(step))
    return [_one_game(learner, space, seed, questions, at) for seed in seeds]


def _one_game(learner: GameLearner, space: Classes, seed: int, questions: int, at: list[int]) -> dict[str, Any]:
    labels = np.searchsorted(np.cumsum(P)[:-1], random_table.uniforms(seed, 0, questions, 1, random_table.DESIGN)[:, 0])
    X, names = np.zeros((questions, 1)), np.array(space.names)[labels]
    oracle, state, A = Oracle(names), learner.init(), payoff(P, np.eye(3))
    found: dict[str, Any] = {"value": [], "gap": [], "v": [], "mu": []}
    for start, stop in zip([0, *at], at, strict=False):
        state = simulate(learner, X, oracle, seed=seed, state=state, order=np.arange(start, stop), at=[]).state
        v, mu = learner.play(state)
        found["value"].append(float(mu @ A @ v))
        found["gap"].append(gap(A, v, mu))
        found["v"].append(v.tolist())
        found["mu"].append(mu.tolist())
    return found


@final
class MinMaxGame(Run):
    """Proposition 3 and its counter-example."""

    name: ClassVar[str] = "minmax"
    title: ClassVar[str] = "The min-max game: the counter-example, and its players"
    caption: ClassVar[str] = (
        "Average play of both players, who learn from one bit a round, for p = (.4, .3, .3): mean and standard "
        "deviation over trials; dashed, the exact equilibrium. Right: what the players could gain by deviating, and "
        "the distance of the value of their play from −.1."
    )

    def _settings(self, quick: bool) -> tuple[int, list[list[int]]]:
        return (3000, [[0, 1], [2, 3]]) if quick else (20_000, [[seed] for seed in range(10)])

    def jobs(self, quick: bool) -> list[Job]:
        """The exact game, games with a majority, and learners."""
        questions, parts = self._settings(quick)
        at = [n for n in checkpoints(questions, 4) if n >= 30]
        exact = [Job(solved, {"p": list(P)})]
        majority = [Job(with_majority, {"classes": m, "count": 20 if quick else 200, "seed": m}) for m in (3, 6)]
        games = [Job(played, {"seeds": part, "questions": questions, "step": _STEP, "at": at}) for part in parts]
        return exact + majority + games

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """The equilibrium, counts, and play by quantity, trials x checkpoints."""
        games = [game for part in results[3:] for game in part]
        play = {key: [game[key] for game in games] for key in ("value", "gap", "v", "mu")}
        at = self.jobs(quick)[-1].arguments["at"]
        total = {key: results[1][key] + results[2][key] for key in results[1]}
        return {"exact": results[0], "majority": total, "at": at, "play": play}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """The value, the strategies, the proposition, the learner."""
        return [*_exact_claims(numbers), _learnt_claim(numbers)]

    def draw(self, numbers: Numbers) -> Figure:
        """Strategies of both players, and the gap."""
        figure, axes = panels(3, width=3.8, height=3.0)
        _strategies(axes[0], numbers, "v", V, "prediction player v")
        _strategies(axes[1], numbers, "mu", MU, "query player μ")
        band(axes[2], numbers["at"], numbers["play"]["gap"], "duality gap", COLOURS[0])
        band(axes[2], numbers["at"], np.abs(np.array(numbers["play"]["value"]) - VALUE), "|value + .1|", COLOURS[1])
        axes[2].set(xlabel="questions T", title="average play")
        axes[2].legend(frameon=False, fontsize=8)
        return figure


def _exact_claims(numbers: Numbers) -> list[Claim]:
    found, many = numbers["exact"], numbers["majority"]
    near = [np.abs(np.subtract(found[key], exact)).max() for key, exact in (("v", V), ("mu", MU), ("value", VALUE))]
    v, mu = (", ".join(f"{c:.3f}" for c in found[key]) for key in ("v", "mu"))
    return [
        Claim(
            "For p = (.4, .3, .3) the game has the value -.1, with μ* = (.5, .25, .25) and v* = (.25, .375, .375): "
            "v* does not favour the likeliest class",
            "-.1, (.5, .25, .25), (.25, .375, .375)",
            f"{found['value']:.3f}, μ* = ({mu}), v* = ({v})",
            HOLDS if max(near) < _PRECISION else FAILS,
            "exact, by linear programming",
        ),
        Claim(
            "Proposition 3: if a class has a probability above 1/2, f* is the argmin of g*",
            "argmin",
            f"the argmax in {many['largest']}, the argmin in {many['least']} of {many['count']} random p",
            CORRECTED if many["largest"] == many["count"] and many["least"] == 0 else FAILS,
            "v* is all on that class, as the proof says: the argmin is a slip; the appendix's loss lacks a minus",
        ),
    ]


def _learnt_claim(numbers: Numbers) -> Claim:
    values, gaps = (np.array(numbers["play"][key])[:, -1] for key in ("value", "gap"))
    first = float(np.mean(numbers["play"]["gap"], axis=0)[0])
    good = abs(values.mean() - VALUE) < 0.05 and gaps.mean() < first / 2
    return Claim(
        "The game can be solved by stochastic gradients of both players, from one bit a round",
        "suggested, without an experiment",
        f"after {numbers['at'][-1]} bits the value is {values.mean():.3f} ± {values.std():.3f}, the duality gap "
        f"{gaps.mean():.3f} (after {numbers['at'][0]} bits {first:.3f}), {len(values)} trials",
        HOLDS if good else FAILS,
        "exponentiated gradients, average play, no context; with many contexts it is a heuristic",
    )


def _strategies(axes: Axes, numbers: Numbers, key: str, exact: tuple[float, ...], title: str) -> None:
    runs = np.array(numbers["play"][key])
    for y, (value, colour) in enumerate(zip(exact, COLOURS, strict=False)):
        band(axes, numbers["at"], runs[:, :, y], f"class {y + 1}", colour, log=False)
        axes.axhline(value, linestyle="--", color=colour, linewidth=1)
    axes.set(xscale="log", ylim=(0, 0.8), xlabel="questions T", title=title)
    axes.legend(frameon=False, fontsize=8)
