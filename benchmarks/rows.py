"""Which row is asked about, and what the graph of the rows teaches: all defaults against rows by lot, and no graph.

    python benchmarks/rows.py [--seeds N]
    python benchmarks/rows.py --quick      some seconds: one short task; prints and writes nothing

One question about a row, by the defaults; both ways see the same pool and the same held-out rows, so that differences
are paired.  Digits come with scikit-learn; pendigits and usps are read from ``ASKONE_DATA`` where it is.  Classes:
error in %; numbers: mean absolute error over that of the median of all labels.  Writes docs/rows.md and
results/rows.json.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from page import DATA, HERE, Array, arguments, keep_page, machine, taken_with
from untuned import classes as untuned_classes
from untuned import numbers as untuned_numbers

import askone

LOOKS = (100, 200, 300, 500)
_TEST = 2000  # held-out rows at most
_FIRST = 100  # seeds before it were looked at while the rules were made
WAYS = {
    "classes": {
        "by lot, without the graph": ("stream", False),
        "by lot": ("stream", True),
        "chosen, without the graph": ("auto", False),
        "chosen": ("auto", True),
    },
    "numbers": {"by lot": ("stream", True), "chosen": ("auto", True)},
}
"""How rows are selected, and whether their graph is among the models of classes."""


def tables(seed: int) -> Iterator[tuple[str, str, Array, Array]]:
    """Yield kind, name, rows and labels of what comes with the project."""
    for name, (X, y) in untuned_classes(seed).items():
        yield "classes", name, X, y
    for name, (X, y) in untuned_numbers(seed).items():
        yield "numbers", name, X, y


def stored(name: str) -> tuple[Array, Array, Array, Array] | None:
    """Return training and held-out rows of a file that may not be there."""
    if not (DATA / f"{name}-train.parquet").exists():
        return None
    train, test = (pd.read_parquet(DATA / f"{name}-{part}.parquet") for part in ("train", "test"))
    each = [(one.drop(columns="label").to_numpy(float), one["label"].to_numpy()) for one in (train, test[:_TEST])]
    return *each[0], *each[1]


def drawn(kind: str, name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Return a pool in random order, its labels, and held-out rows with theirs."""
    rng = np.random.default_rng(seed)
    found = stored(name) if name in ("pendigits", "usps") else None
    if found is not None:
        order = rng.permutation(len(found[0]))
        return found[0][order], found[1][order], found[2], found[3]
    X, y = next((X, y) for k, n, X, y in tables(seed) if (k, n) == (kind, name))
    order, cut = rng.permutation(len(X)), max(len(X) // 4, 1)
    train, test = order[cut:], order[:cut]
    return X[train], y[train], X[test], y[test]


def run(kind: str, name: str, way: str, seed: int, looks: Sequence[int]) -> dict[int, float]:
    """Return the error after so many questions."""
    X, y, held, truth = drawn(kind, name, seed)
    select, graph = WAYS[kind][way]
    options: dict[str, Any] = {"select": select, "keep_log": False, "random_state": seed}
    if kind == "classes":
        learner = askone.SetLikelihood(graph=graph)
        model: Any = askone.OneBitClassifier(sorted(set(y.tolist())), learner=learner, **options)
    else:
        low, high = float(np.quantile(y, 0.001)), float(np.quantile(y, 0.999))
        model = askone.OneBitRegressor(low, high, **options)
    model.start(X)
    plain, found = np.abs(truth - np.median(y)).mean() if kind == "numbers" else 1.0, {}
    for asked in range(1, min(max(looks), len(X)) + 1):
        question, place = model.ask_from(X)
        model.tell(question, question.holds(y[place]))
        if asked in looks:
            said = model.predict(held)
            wrong = np.mean(said != truth) if kind == "classes" else np.abs(said - truth).mean() / plain
            found[asked] = float(wrong)
    return found


Found = dict[str, list[dict[int, float]]]
"""The errors of each way, seed by seed."""


def measured(kind: str, name: str, seeds: int, looks: Sequence[int], jobs: int) -> Found:
    """Return the errors of each way, seed by seed."""
    runs = [(way, seed) for way in WAYS[kind] for seed in range(_FIRST, _FIRST + seeds)]
    found = Parallel(jobs)(delayed(run)(kind, name, way, seed, looks) for way, seed in runs)
    return {way: [one for (w, _), one in zip(runs, found, strict=True) if w == way] for way in WAYS[kind]}


def lines(kind: str, found: dict[str, Found], looks: Sequence[int]) -> list[str]:
    """Return the page's table of one kind: means, and of the last way the paired difference to the first."""
    times, digits = (100.0, 1) if kind == "classes" else (1.0, 3)
    first, *_, last = WAYS[kind]
    head = f"| {kind} | rows | " + " | ".join(map(str, looks)) + " |"
    table = [head, "|---|---|" + "---:|" * len(looks)]
    for name, ways in found.items():
        if not any(runs[0] for runs in ways.values()):
            continue  # there are fewer rows than questions
        for way, runs in ways.items():
            cells = []
            for look in looks:
                errors = times * np.array([one[look] for one in runs if look in one])
                said = f"{errors.mean():.{digits}f}" if len(errors) else ""
                if way == last and len(errors) > 1:
                    apart = errors - times * np.array([one[look] for one in ways[first] if look in one])
                    said += f" ({apart.mean():+.{digits}f} ± {apart.std(ddof=1) / np.sqrt(len(apart)):.{digits}f})"
                cells.append(said)
            table.append(f"| {name if way == first else ''} | {way} | " + " | ".join(cells) + " |")
    return table


def page(found: dict[str, Any], looks: Sequence[int], seeds: int) -> str:
    """Return docs/rows.md."""
    taken = f"means of {seeds} seeds: {taken_with(machine())}."
    return "\n".join([
        "# Which row to ask about, and what its neighbours teach", "",
        'Rows chosen by `select="auto"` against the same rows by lot, and, for classes, with '
        "[the graph of the rows](learners.md#the-graph-of-the-rows) among the models and without (`make bench-rows`); "
        "one question about a row, every other default.  In brackets: the difference to the first line, seed by seed, "
        f"and its standard error; {taken}", "", "Classes: error in %, after so many questions.", "",
        *lines("classes", found["classes"], looks), "",
        "Numbers: mean absolute error over that of the median of all labels.", "",
        *lines("numbers", found["numbers"], looks), "",
    ])  # fmt: skip


def earlier() -> dict[str, Any]:
    """Return what was measured before, so that a part can be measured anew."""
    path = HERE / "results" / "rows.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"classes": {}, "numbers": {}}
    for tables_of in kept.values():
        for ways in tables_of.values():
            for way, runs in ways.items():  # JSON's keys are words
                ways[way] = [{int(look): error for look, error in one.items()} for one in runs]
    return dict(kept)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the comparison and write the page."""
    parser = arguments(__doc__, seeds=10, quick=False)
    parser.add_argument("--only", nargs="*", help="names of data sets; the others' figures stay")
    given = parser.parse_args(argv)
    looks, seeds = (LOOKS, given.seeds) if not given.quick else ((40,), 2)
    names = [("classes", name) for name in ("pendigits", "usps") if stored(name) is not None]
    names = [*names, *((kind, name) for kind, name, *_ in tables(0))]
    names = [(kind, name) for kind, name in names if given.only is None or name in given.only]
    if given.quick:
        names = [("classes", "iris"), ("numbers", "a step")]
    found: dict[str, Any] = {"classes": {}, "numbers": {}} if given.quick or given.only is None else earlier()
    for kind, name in names:
        found[kind][name] = measured(kind, name, seeds, looks, 1 if given.quick else os.cpu_count() or 1)
        print(*lines(kind, {name: found[kind][name]}, looks)[2:], sep="\n", flush=True)
    if given.quick:
        print(page(found, looks, seeds))
        return
    keep_page("rows", found, page(found, looks, seeds))


if __name__ == "__main__":
    sys.exit(main())
