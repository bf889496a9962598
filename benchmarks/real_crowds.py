"""Real people: photos that a crowd named, labels of crowds put together, texts rated by single people.

A section of ``people.py``.  Photos (labelme): every label that somebody gave becomes the answer to a question that the
model asks; the same person's name, and the photo's key, go with it; right on photos that were held out.  Crowds: three
sets of yes and no by many people, put together by ``askone.people.aggregate``.  Tweets: each question is answered by
the rating of one person, drawn by lot, and by the mean rating; error of the mean rating on texts that were held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from page import grid

from askone import OneBitClassifier, OneBitRegressor
from askone.people import aggregate

MAJORITY = {"bluebird": (0.759, 0.898), "rte": (0.897, 0.927), "product": (0.897, 0.940)}
"""Right by majority, and by Dawid and Skene's two coins."""
_TESTED = 840


def photos(folder: Path, way: str, seed: int, most: int | None = None) -> float:
    """Return the share of photos named rightly: answers of ``nobody``, by ``name``, or by name and photo (``row``)."""
    table = pd.read_parquet(folder / "labelme.parquet")
    train, test = (table[table["split"] == part] for part in ("train", "test"))
    X, T = (np.array(part["features"].tolist(), float) for part in (train, test))
    each = [(i, p, said) for i, one in enumerate(zip(train["people"], train["labels"], strict=True))
            for p, said in zip(*one, strict=True)]  # fmt: skip
    order = np.random.default_rng(seed).permutation(len(each))[:most]
    model = OneBitClassifier(sorted(set(table["label"].tolist())), random_state=seed, keep_log=False, resample=True)
    model.start(X)
    for i, person, said in (each[k] for k in order):
        question = model.ask(X[i], key=f"photo {i}") if way == "row" else model.ask(X[i])
        model.tell(question, question.holds(said), **({} if way == "nobody" else {"person": f"person {person}"}))
    return float((model.predict(T) == test["label"].to_numpy()).mean())


def together(folder: Path, name: str) -> float:
    """Return the share of things that are labelled rightly by what a crowd says together."""
    table = pd.read_parquet(folder / "crowds.parquet")
    one = table[table["set"] == name]
    found = aggregate(one["item"].tolist(), [f"worker {w}" for w in one["worker"]], one["label"].astype(bool).tolist())
    truth = one.groupby("item")["truth"].first()
    return float(np.mean([(found.chances[item] > 0.5) == bool(right) for item, right in truth.items()]))


def tweets(folder: Path, single: bool, bits: int, seed: int) -> float:
    """Return the error of ratings, learnt from single people's or from mean ratings."""
    table = pd.read_parquet(folder / "tweets.parquet")
    rng = np.random.default_rng(seed)
    table = table.iloc[rng.permutation(len(table))].reset_index(drop=True)
    mean, text = table["rating"].to_numpy(), table[["text"]]
    said = np.array([rng.choice(one) for one in table["ratings"]], float) if single else mean
    model = OneBitRegressor(-4.0, 4.0, random_state=seed, keep_log=False)
    model.fit(text[:bits], said[:bits])
    return float(np.abs(model.predict(text[-_TESTED:]) - mean[-_TESTED:]).mean())


def section(folder: Path, seeds: int, quick: bool = False) -> Sequence[str]:
    """Return its part of the document."""
    if not (folder / "labelme.parquet").exists():
        return []
    most, bits = (60, (60,)) if quick else (None, (1000, 3360))
    ways: dict[str, Any] = {way: _mean(photos, seeds, folder, way, most=most) for way in ("nobody", "name", "row")}
    lines = [
        "## Real people", "",
        f"Photos named by 59 people (labelme, {seeds} seeds, ± one standard error): right with answers of nobody "
        f"{ways['nobody']}, by name {ways['name']}, by name and photo {ways['row']}.", "",
    ]  # fmt: skip
    crowds = [
        (name, *(f"{share:.3f}" for share in (*usual, together(folder, name))))
        for name, usual in list(MAJORITY.items())[: 1 if quick else None]
    ]
    rated = [
        (f"{n} answers", *(_mean(tweets, min(seeds, 4), folder, single, n) for single in (False, True))) for n in bits
    ]
    lines += [grid(("labels of a crowd, put together: right", "majority", "Dawid and Skene", "askone"), crowds), ""]
    return [*lines, grid(("tweets: error of the mean rating", "by mean ratings", "by single people"), rated), ""]


def _mean(measure: Any, seeds: int, *given: Any, **more: Any) -> str:
    found = Parallel(2 if seeds > 1 else 1)(delayed(measure)(*given, seed=seed, **more) for seed in range(seeds))
    return f"{np.mean(found):.3f} ± {np.std(found) / np.sqrt(max(seeds - 1, 1)):.3f}"
