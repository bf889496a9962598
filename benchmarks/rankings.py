"""Rankings: OneBitRanker beside choix and evalica (Bradley-Terry), on simulated items and on language models.

    python benchmarks/rankings.py [--seeds N] [--jobs N]
    python benchmarks/rankings.py --quick     some seconds: few and short runs; prints and writes nothing

Simulated items have utilities N(0, 1), and whoever compares two adds logistic noise of scale 0.3.  Kendall's tau is
(agreeing - disagreeing) / all pairs, so that items which a method leaves level count nothing.  choix (MAP) has the best
of five regularisations for each entry, by the truth; evalica the best of two solvers, each with four weights of a draw
with an item that is made up, as it has no regularisation.  Real comparisons: those of
llmfao.parquet (ASKONE_DATA, left out without) that were decided, a fifth of them held out, by question.  Writes
docs/rankings.md and results/rankings.json.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import choix
import evalica
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from page import DATA, Array, arguments, grid, keep_page, machine, taken_with
from scipy.special import expit
from scipy.stats import kendalltau

from askone import OneBitRanker
from askone.questions.comparison import Prefer

NOISE = 0.3
ALPHAS = (0.01, 0.1, 0.3, 1.0, 3.0)
DRAWS = (0.03, 0.1, 0.3, 1.0)
SIZES = {30: (100, 300), 100: (300, 1000), 1000: (312, 3000)}
WAYS = ("askone", "askone, random pairs", "choix, random pairs", "evalica, random pairs")


def tau(scores: Array, truth: Array) -> float:
    """Return (agreeing - disagreeing) / all pairs."""
    pairs = len(scores) * (len(scores) - 1) / 2
    level = sum(n * (n - 1) / 2 for n in np.unique(scores, return_counts=True)[1])
    return float(np.nan_to_num(kendalltau(scores, truth).statistic) * np.sqrt((pairs - level) / pairs))


def by_choix(m: int, won: list[tuple[int, int]]) -> list[Array]:
    """Return scores for each regularisation."""
    return [choix.opt_pairwise(m, won, alpha=alpha, max_iter=200) for alpha in ALPHAS]


def by_evalica(m: int, won: list[tuple[int, int]]) -> list[Array]:
    """Return log-strengths by both solvers, each with a few weights of a draw of every item with one that is made up.

    Without these there is no maximum as soon as one item always wins.
    """
    (first, second), all_ = zip(*won, strict=True), range(m)
    winners = [evalica.Winner.X] * len(won) + [evalica.Winner.Draw] * m
    found = []
    for solve in (evalica.bradley_terry, evalica.newman):
        for draw in DRAWS:
            weights = [1.0] * len(won) + [draw] * m
            scores = solve([*first, *all_], [*second, *[m] * m], winners, weights=weights, limit=1000).scores
            found.append(np.log(scores.loc[list(all_)].to_numpy(float)))
    return found


def told(model: OneBitRanker, first: int, second: int, yes: bool, person: str | None = None) -> None:
    """Tell a comparison that the model did not choose."""
    question = model.stream_.put(np.zeros(1), Prefer(first, second))
    model.tell(question, yes, **({} if person is None else {"person": person}))


def simulated(m: int, marks: Sequence[int], seed: int) -> dict[str, list[float]]:
    """Return tau after so many answers, by each way."""
    rng = np.random.default_rng([seed, m])
    truth = rng.normal(size=m)
    own, other = (OneBitRanker(list(range(m)), random_state=seed, keep_log=False).start() for _ in "ab")
    won: list[tuple[int, int]] = []
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for n in range(1, max(marks) + 1):
        question = own.ask()
        own.tell(question, bool(truth[question.first] - truth[question.second] + NOISE * rng.logistic() > 0))
        i, j = (int(one) for one in rng.choice(m, 2, replace=False))
        yes = bool(truth[i] - truth[j] + NOISE * rng.logistic() > 0)
        told(other, i, j, yes)
        won.append((i, j) if yes else (j, i))
        if n in marks:
            for way, model in zip(WAYS, (own, other), strict=False):
                found[way].append(tau(model.decision_function()[0], truth))
            found[WAYS[2]].append(max(tau(one.round(9), truth) for one in by_choix(m, won)))
            found[WAYS[3]].append(max(tau(one.round(9), truth) for one in by_evalica(m, won)))
    return found


def timed(m: int, answers: int) -> float:
    """Return milliseconds of ask and tell together, after some that are not counted: the median."""
    rng, model = np.random.default_rng(0), OneBitRanker(list(range(m)), random_state=0, keep_log=False)
    truth, times = rng.normal(size=m), []
    for _ in range(answers):
        begun = time.perf_counter()
        question = model.ask()
        model.tell(question, bool(truth[question.first] - truth[question.second] + NOISE * rng.logistic() > 0))
        times.append(time.perf_counter() - begun)
    return 1000 * float(np.median(times[answers // 2 :]))


def held_out(fold: int, most: int | None) -> dict[str, tuple[float, float]]:
    """Return log loss and accuracy of comparisons that were held out, by each way."""
    table = pd.read_parquet(DATA / "llmfao.parquet")
    table = table[table["winner"] != "tie"]
    names = sorted(set(table["left"]) | set(table["right"]))
    place = {name: i for i, name in enumerate(names)}
    each = [(place[a], place[b], w == "left", f"worker {p}") for a, b, w, p in
            zip(table["left"], table["right"], table["winner"], table["worker"], strict=True)]  # fmt: skip
    out = (table["id"] % 5 == fold).to_numpy()
    order = np.random.default_rng(fold).permutation(np.flatnonzero(~out))[:most]
    won = [each[n][:2] if each[n][2] else each[n][1::-1] for n in order]
    test = [each[n] for n in np.flatnonzero(out)]
    found = {}
    for way in ("askone", "askone, people named"):
        model = OneBitRanker(list(range(len(names))), random_state=fold, keep_log=False).start()
        for n in order:
            told(model, *each[n][:3], each[n][3] if way != "askone" else None)
        found[way] = judged([foretold(model, one, way != "askone") for one in test], test)
    for way, scores in (("choix", by_choix(len(names), won)), ("evalica", by_evalica(len(names), won))):
        tried = [judged([float(expit(s[i] - s[j])) for i, j, *_ in test], test) for s in scores]
        found[way] = min(tried)
    return found


def foretold(model: OneBitRanker, comparison: tuple[int, int, bool, str], named: bool) -> float:
    """Return the chance that this person says so: with names, an honest answer mixed with this person's slips."""
    first, second, _, person = comparison
    learner, state = model.stream_.learner, model.stream_.state
    p = float(learner.chance(state, np.zeros(1), Prefer(first, second)))
    return float(learner.slips(state, person).heard(True, p)) if named else p


def judged(chances: list[float], test: list[Any]) -> tuple[float, float]:
    """Return log loss and accuracy."""
    p, yes = np.clip(chances, 1e-6, 1 - 1e-6), np.array([one[2] for one in test])
    return float(-np.log(np.where(yes, p, 1 - p)).mean()), float(np.mean((p > 0.5) == yes))


def page(found: dict[str, Any], seeds: int) -> str:
    taus = [
        (m, mark, *(_mean(np.array(part[way])[:, n]) for way in WAYS))
        for m, part in found["simulated"].items()
        for n, mark in enumerate(part["answers"])
    ]
    times = [(m, f"{ms:.2f}") for m, ms in found["ms"].items()]
    return f"""# Rankings

Written by `make bench-rankings` ({taken_with(machine())},
choix {found["choix"]}, evalica {found["evalica"]}), means of {seeds} seeds.

## Simulated items

Kendall's τ to the true order.  Utilities are N(0, 1), comparisons have logistic noise of scale 0.3.
choix has the best of five regularisations for each entry, evalica the best of eight settings, by the truth.

{grid(("items", "answers", *WAYS), taus)}

## Time

{grid(("items", "ms for a question and its answer"), times)}

## Language models

{_language_models(found["held out"])}

How the comparisons are made: see `benchmarks/rankings.py`.
"""


def _language_models(held: dict[str, Any]) -> str:
    if not held:
        return "Not measured: llmfao.parquet was not found (set ASKONE_DATA)."
    rows = [(way, *(_mean(one) for one in np.array(each).T)) for way, each in held.items()]
    return f"""\
Comparisons of 59 language models by 124 people, ties left out, foretold from four fifths of them; means of
five folds by question, ± standard errors.  choix and evalica have the setting of least log loss on what was
held out.  With people named, what is foretold is what this very person says: an honest answer, mixed with
how often they slip.

{grid(("", "log loss", "right"), rows)}"""


def _mean(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.3f} ± {error:.3f}"


def measured(
    sizes: dict[int, tuple[int, ...]], seeds: int, times: dict[int, int], folds: int, most: int | None, jobs: int = 1
) -> Any:
    """Return all figures."""
    parts: dict[str, Any] = {}
    for m, marks in sizes.items():
        runs = Parallel(n_jobs=jobs)(delayed(simulated)(m, marks, seed) for seed in range(seeds))
        parts[str(m)] = {"answers": list(marks), **{way: [run[way] for run in runs] for way in WAYS}}
    real = (
        Parallel(n_jobs=jobs)(delayed(held_out)(fold, most) for fold in range(folds))
        if (DATA / "llmfao.parquet").exists()
        else []
    )
    return {
        "choix": version("choix"), "evalica": version("evalica"),
        "simulated": parts, "ms": {str(m): timed(m, answers) for m, answers in times.items()},
        "held out": {way: [fold[way] for fold in real] for way in real[0]} if real else {},
    }  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(__doc__, seeds=10, jobs=2, quick=False).parse_args(given)
    warnings.simplefilter("ignore")
    if chosen.quick:
        print(page(measured({10: (20,), 210: (40,)}, 2, {210: 40}, 2, 200), 2))
        return 0
    found = measured(SIZES, chosen.seeds, {30: 300, 100: 300, 1000: 1500, 10_000: 600}, 5, None, chosen.jobs)
    keep_page("rankings", found, page(found, chosen.seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
