"""Which row is asked about: rows chosen by ``select="auto"`` against the same rows by lot.

    python benchmarks/rows.py [--seeds N]
    python benchmarks/rows.py --quick      some seconds: one short task; prints and writes nothing

One question about a row, by the defaults; both ways see the same pool and the same held-out rows, so that differences
are paired.  Digits come with scikit-learn; pendigits and usps are read from ``ASKONE_DATA`` where it is.  Classes:
error in %; numbers: mean absolute error over that of the median of all labels.  Writes docs/rows.md and
results/rows.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from page import machine, taken_with
from untuned import classes as untuned_classes
from untuned import numbers as untuned_numbers

import askone

Array = NDArray[Any]
HERE = Path(__file__).parent
LOOKS = (100, 200, 300, 500)
_TEST = 2000  # held-out rows at most


def tables(seed: int) -> Iterator[tuple[str, str, Array, Array]]:
    """Yield kind, name, rows and labels of what comes with the project."""
    for name, (X, y) in untuned_classes(seed).items():
        yield "classes", name, X, y
    for name, (X, y) in untuned_numbers(seed).items():
        yield "numbers", name, X, y


def stored(name: str) -> tuple[Array, Array, Array, Array] | None:
    """Return training and held-out rows of a file that may not be there."""
    folder = Path(os.environ.get("ASKONE_DATA", HERE.parents[1] / "shared" / "data"))
    if not (folder / f"{name}-train.parquet").exists():
        return None
    train, test = (pd.read_parquet(folder / f"{name}-{part}.parquet") for part in ("train", "test"))
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


def run(kind: str, name: str, select: str, seed: int, looks: Sequence[int]) -> dict[int, float]:
    """Return the error after so many questions."""
    X, y, held, truth = drawn(kind, name, seed)
    if kind == "classes":
        model: Any = askone.OneBitClassifier(sorted(set(y.tolist())), select=select, keep_log=False, random_state=seed)
    else:
        low, high = float(np.quantile(y, 0.001)), float(np.quantile(y, 0.999))
        model = askone.OneBitRegressor(low, high, select=select, keep_log=False, random_state=seed)
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


def measured(kind: str, name: str, seeds: int, looks: Sequence[int], jobs: int) -> dict[str, list[dict[int, float]]]:
    """Return the errors of both ways, seed by seed."""
    ways = [(way, seed) for way in ("stream", "auto") for seed in range(seeds)]
    found = Parallel(jobs)(delayed(run)(kind, name, way, seed, looks) for way, seed in ways)
    return {way: [one for (w, _), one in zip(ways, found, strict=True) if w == way] for way in ("stream", "auto")}


def lines(kind: str, found: dict[str, dict[str, list[dict[int, float]]]], looks: Sequence[int]) -> list[str]:
    """Return the page's table of one kind: by lot, chosen, and the paired difference with its standard error."""
    times, digits = (100.0, 1) if kind == "classes" else (1.0, 3)
    head = " | ".join(f"{look}: by lot | chosen | difference" for look in looks)
    table = [f"| {kind} | {head} |", "|---|" + "---:|---:|---:|" * len(looks)]
    for name, ways in found.items():
        cells = []
        for look in looks:
            pairs = [
                (a[look], b[look]) for a, b in zip(ways["stream"], ways["auto"], strict=True) if look in a and look in b
            ]
            if not pairs:
                cells += ["", "", ""]
                continue
            lot, chosen = (times * np.array(one) for one in zip(*pairs, strict=True))
            error = (chosen - lot).std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else float("nan")
            cells += [f"{lot.mean():.{digits}f}", f"{chosen.mean():.{digits}f}"]
            cells += [f"{(chosen - lot).mean():+.{digits}f} ± {error:.{digits}f}"]
        table.append(f"| {name} | " + " | ".join(cells) + " |")
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the comparison and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", help="names of data sets")
    given = parser.parse_args(arguments)
    looks, seeds = (LOOKS, given.seeds) if not given.quick else ((40,), 2)
    names = [("classes", name) for name in ("pendigits", "usps") if stored(name) is not None]
    names = [*names, *((kind, name) for kind, name, *_ in tables(0))]
    names = [(kind, name) for kind, name in names if given.only is None or name in given.only]
    if given.quick:
        names = [("classes", "iris"), ("numbers", "a step")]
    found: dict[str, Any] = {"classes": {}, "numbers": {}}
    for kind, name in names:
        found[kind][name] = measured(kind, name, seeds, looks, 1 if given.quick else os.cpu_count() or 1)
        print(*lines(kind, {name: found[kind][name]}, looks)[2:], sep="\n", flush=True)
    taken = f"means of {seeds} seeds and standard errors of the paired differences: {taken_with(machine())}."
    page = [
        "# Which row to ask about", "",
        'Rows chosen by `select="auto"` against the same rows by lot (`make bench-rows`); one question about a row, '
        f"every default; {taken}", "", "Classes: error in %.", "",
        *lines("classes", found["classes"], looks), "",
        "Numbers: mean absolute error over that of the median of all labels.", "",
        *lines("numbers", found["numbers"], looks), "",
    ]  # fmt: skip
    if given.quick:
        print("\n".join(page))
        return
    (HERE / "results" / "rows.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (HERE.parent / "docs" / "rows.md").write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
