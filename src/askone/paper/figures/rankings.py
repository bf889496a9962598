"""rankings: how the Kendall risk falls with pair questions and grows with the items, and what no algorithm beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from scipy.special import expit

from askone._common import random_table
from askone._common.types import Array
from askone.features.kernels import Gaussian
from askone.features.scaling import Scaler
from askone.labels.ranking import Ranking
from askone.learners.gradients.ranking import rank_strategy
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import InverseSqrt, Uniform
from askone.paper._base import FAILS, HOLDS, IN_PART, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._rates import Rate, rate
from askone.paper._synthetic import uniform_rows
from askone.paper._trials import best_step, chunks, errors_at, joined, last, parted, slope
from askone.session.simulation import checkpoints

_SIGMA, _SHARP = 0.2, 2.0
_GRID = ((np.arange(60) + 0.5) / 60)[:, None]
_ORDERS = 1 << 45


def utilities(X: Array, items: int) -> Array:
    """Return smooth utilities whose order changes with x: sin(2 pi (x + i/m)), n x m."""
    return np.asarray(_SHARP * np.sin(2 * np.pi * (X + np.arange(items) / items)))


def kendall_excess(orders: Array, space: Ranking, X: Array) -> float:
    """Return the excess of -<phi(Y), phi(order)> over the best order's: the utilities' own, exactly."""
    worth, (i, j) = utilities(X, space.size), space.pairs
    mean = 2 * expit(worth[:, i] - worth[:, j]) - 1
    return float((np.abs(mean) - mean * space.embed(orders)).sum(axis=1).mean())


def ranking_trials(
    seeds: list[int], items: int, questions: int, at: list[int], gammas: list[float]
) -> list[list[float]]:
    """Return excess Kendall risks at the checkpoints for each seed, with the step that did best on other seeds."""
    space = Ranking(tuple(range(items)))

    def errors(seed: int, gamma: float, upto: int, stops: list[int]) -> list[float]:
        X = uniform_rows(seed, upto)
        uniform = random_table.uniforms(seed, _ORDERS, upto, items, random_table.DESIGN)
        orders = np.argsort(-(utilities(X, items) - np.log(-np.log(uniform))), axis=1)
        model = KernelExpansion(Gaussian(_SIGMA), Scaler.identity(1))
        learner = Surrogate(rank_strategy(space, None, "pairs"), model, InverseSqrt(gamma), Uniform())

        def error(scores: Array) -> float:
            return kendall_excess(space.decode(scores, _GRID), space, _GRID)

        return errors_at(stops, learner, X, orders, seed, _GRID, error)

    few = questions // 4
    best, _ = best_step(gammas, 2, lambda seed, gamma: errors(seed, gamma, few, [few])[-1])
    return [errors(seed, best, questions, at) for seed in seeds]


def least_kendall(items: int, T: int) -> float:
    """Return an excess Kendall risk that no algorithm beats from T pair questions, however it chooses them.

    Each of k = floor(m/2) pairs of neighbours has an order by lot, told rightly with probability 1/2 + d.  By
    Bretagnolle and Huber a pair asked n times on average is wrong with probability >= exp(-n KL) / 4, which is convex
    in n: equal shares are best, and 4 d is lost for each wrong pair.
    """
    k = items // 2
    d = np.geomspace(1e-4, 0.45, 400)
    divergence = 2 * d * np.log((0.5 + d) / (0.5 - d))
    return float((k * d * np.exp(-divergence * T / k)).max())


@final
class Rankings(Run):
    """Section 7.1: the rates for rankings."""

    name: ClassVar[str] = "rankings"
    title: ClassVar[str] = "Rankings from pairs: excess Kendall risk against T and the number of items"
    caption: ClassVar[str] = (
        "Least squares on pairs, drawn by lot, one question a row; preferences follow utilities that change with x "
        "(Plackett and Luce). Dashed: what no algorithm beats in the worst case. Risk is summed over all pairs."
    )

    def _settings(self, quick: bool) -> tuple[list[int], int, int]:
        return ([3, 5], 4, 600) if quick else ([3, 4, 6], 20, 4000)

    def jobs(self, quick: bool) -> list[Job]:
        """Return trials for every number of items."""
        several, trials, T = self._settings(quick)
        common = {"questions": T, "at": checkpoints(T, 8), "gammas": [0.3, 1.0, 3.0]}
        return [
            Job(ranking_trials, {**common, "items": m, "seeds": part}) for m in several for part in chunks(trials, 10)
        ]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return risks by items, slopes in T and m, the law in T, and the lower bounds."""
        several, _, T = self._settings(quick)
        at = checkpoints(T, 8)
        runs = {m: joined(part) for m, part in parted(results, map(str, several)).items()}
        tail = [i for i, t in enumerate(at) if t >= T / 30]
        return {
            "items": several,
            "at": at,
            "excess": runs,
            "in_T": {m: slope([at[i] for i in tail], np.array(one)[:, tail]) for m, one in runs.items()},
            "law": {m: rate(at, one) for m, one in runs.items()},
            "in_m": slope(several, last(runs.values())),
            "least": {str(m): [least_kendall(m, t) for t in at] for m in several},
            "least_in_m": slope([4, 16, 64], [[least_kendall(m, 10**6) for m in (4, 16, 64)]] * 2)[0],
            "least_in_T": slope([10**4, 10**6], [[least_kendall(8, T) for T in (10**4, 10**6)]] * 2)[0],
        }

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the upper rate and the lower one."""
        slopes, growth = numbers["in_T"], numbers["in_m"]
        slowest = max(slopes, key=lambda m: float(slopes[m][0]))
        middle, low, high = slopes[slowest]
        law = Rate(**numbers["law"][str(numbers["items"][-1])])
        m_least, T_least = numbers["least_in_m"], numbers["least_in_T"]
        return [
            Claim(
                "Rankings of m items by least squares on pairs: excess risk in m^(3/2) T^(-1/4)",
                "m^(3/2) T^(-1/4), by a calibration inequality",
                f"slowest in T: {middle:.2f} [{low:.2f}, {high:.2f}] ({slowest} items); m = {numbers['items'][-1]}: "
                f"{law.said()}; in m: {growth[0]:.2f} [{growth[1]:.2f}, {growth[2]:.2f}] at T = {numbers['at'][-1]}",
                FAILS if high >= -0.25 else HOLDS if growth[1] < 1.5 else IN_PART,
                "an upper bound for the worst case, tried on one smooth problem, risk summed over pairs: in T it is "
                "kept with room; T questions are shared by m^2/2 pairs, and at equal T the risk may grow faster in m",
            ),
            Claim(
                "A lower bound for rankings in (m log m)^(1/2) T^(-1/2)",
                "expected, by counting m! orders",
                f"an exact bound that grows as m^{m_least:.2f} and falls as T^{T_least:.2f}: "
                f"{numbers['least'][str(numbers['items'][-1])][-1]:.3f} for {numbers['items'][-1]} items at "
                f"T = {numbers['at'][-1]}",
                HOLDS if m_least >= 0.5 and abs(T_least + 0.5) < 0.02 else FAILS,
                "m/2 pairs of neighbours, each nearly a coin: m^(3/2) T^(-1/2) for the Kendall risk summed over pairs, "
                "more than was expected; how the questions are chosen does not matter",
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return risks over T with the lower bounds, and over m."""
        figure, (left, right) = panels(2)
        for (m, runs), colour in zip(numbers["excess"].items(), COLOURS, strict=False):
            band(left, numbers["at"], runs, f"{m} items", colour)
            left.plot(numbers["at"], numbers["least"][m], "--", color=colour)
        band(right, numbers["items"], last(numbers["excess"].values()), "measured", COLOURS[0], style="o-")
        least = [numbers["least"][str(m)][-1] for m in numbers["items"]]
        right.plot(numbers["items"], least, "--", color=COLOURS[2], label="no algorithm below, worst case")
        left.set(xlabel="questions T", ylabel="excess Kendall risk")
        right.set(xlabel="items m", ylabel=f"at T = {numbers['at'][-1]}")
        left.legend(frameon=False, fontsize=8)
        right.legend(frameon=False, fontsize=8)
        return figure
