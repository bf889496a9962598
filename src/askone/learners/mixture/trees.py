"""Boosted trees by the likelihood of bits: LightGBM fits them, and they are read as plain arrays.

Whoever only forecasts with trees that were fitted, as a replay does, needs no LightGBM.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from askone._common.compiled import jit
from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.learners.mixture.bits import BitLikelihood
from askone.learners.mixture.members import Fit, FittedMember, require_array

if TYPE_CHECKING:
    import lightgbm
else:
    lightgbm = lazy_import("lightgbm")

_TREES = 1000  # in all classes together


@final
@dataclass(frozen=True, eq=False)
class TreeMember(FittedMember):
    """Trees of at most ``depth`` splits in a row, each of a part of rows and columns, added at ``rate``.

    A bit has an information of 1/4 at most, in units of its scale: a penalty of 3 on leaves is that of twelve bits.
    """

    layout: RowLayout
    depth: int = 4
    rounds: int = 200
    rate: float = 0.05
    penalty: float = 3.0
    least: int = 15
    part: float = 0.7
    seed: int = 0
    first: ClassVar[int] = 128

    @property
    def ready(self) -> bool:
        return _is_installed()

    @property
    def columns(self) -> int:
        """How many columns trees see."""
        return self.layout.dense - len(self.layout.hidden) + len(self.layout.levels)

    def fit(self, likelihood: BitLikelihood, X: Array, bits: Array, flip: float, before: Fit | None) -> Fit:
        m = likelihood.outputs
        rounds = min(self.rounds, max(_TREES // m, 30))
        middle = _constant(likelihood, bits, flip)

        def slopes(raw: Array, _: Any) -> tuple[Array, Array]:
            found = likelihood.slopes(raw.reshape(len(X), m, order="F"), bits, flip)
            return found.gradient if m > 1 else found.gradient[:, 0], found.hessian if m > 1 else found.hessian[:, 0]

        params = {
            "objective": slopes, "learning_rate": min(0.3, self.rate * self.rounds / rounds), "max_depth": self.depth,
            "num_leaves": 2**self.depth - 1, "lambda_l2": self.penalty, "min_data_in_leaf": self.least,
            "min_sum_hessian_in_leaf": 1e-3, "bagging_fraction": self.part, "bagging_freq": 1,
            "feature_fraction": self.part, "max_bin": 127, "min_data_per_group": 10, "cat_smooth": 5.0,
            "deterministic": True, "force_row_wise": True, "num_threads": 1, "seed": self.seed, "verbosity": -1,
        }  # fmt: skip
        if m > 1:
            params["num_class"] = m
        view = self._view(X)
        numeric = view.shape[1] - len(self.layout.levels)
        data = lightgbm.Dataset(
            view, init_score=np.tile(middle, (len(X), 1)).ravel(order="F"), free_raw_data=True,
            categorical_feature=list(range(numeric, view.shape[1])), params={"verbosity": -1},
        )  # fmt: skip
        booster = lightgbm.train(params, data, num_boost_round=rounds)
        return {"middle": middle, **as_arrays(booster.model_to_string())}

    def _view(self, X: Array) -> Array:
        """Return what trees see of rows: a category by its place, not level by level."""
        shown = [j for j in range(self.layout.dense) if j not in self.layout.hidden]
        places = range(self.layout.dense, self.layout.dense + len(self.layout.levels))
        return np.ascontiguousarray(X[:, [*shown, *places]], dtype=np.float64)

    def check(self, fit: Fit, outputs: int) -> None:
        """See ``FittedMember.check``: children come after their parents, so that every way down ends."""
        require_array(fit, "middle", "f8", outputs)
        leaves, nodes = len(require_array(fit, "value", "f8", None)), len(require_array(fit, "feature", "i4", None))
        words = fit.get("words")
        if words is None or words.dtype != np.uint32 or words.ndim != 2 or len(words) != nodes:
            raise InvalidArgument("fit['words']", f"bits of {nodes} nodes", None if words is None else words.shape)
        threshold = fit.get("threshold")
        if threshold is None or threshold.dtype != np.float64 or threshold.shape != (nodes,):
            raise InvalidArgument("fit['threshold']", f"of {nodes} nodes", None)
        roots = require_array(fit, "roots", "i4", None)
        children = [require_array(fit, side, "i4", nodes) for side in ("left", "right")]
        inside = all(((one < 0) | (one > np.arange(nodes))).all() for one in children)
        for places in (roots, *children):
            inside = inside and bool(((places >= -leaves) & (places < nodes)).all())
        if not inside or not ((fit["feature"] >= 0) & (fit["feature"] < self.columns)).all():
            raise InvalidArgument("fit", "trees of these columns whose ways end in leaves", f"{nodes} nodes")

    def scores(self, fit: Fit, X: Array) -> Array:
        out = np.tile(fit["middle"], (len(X), 1))
        arrays = (fit[name] for name in ("roots", "feature", "threshold", "left", "right", "words", "value"))
        _add_trees(self._view(X), *arrays, out)
        return out


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec("lightgbm") is not None


def _constant(likelihood: BitLikelihood, bits: Array, flip: float) -> Array:
    """Return the best scores that are the same for all rows, nearly: some damped steps of Newton's."""
    F = np.zeros((1, likelihood.outputs))
    for _ in range(30):
        slopes = likelihood.slopes(np.repeat(F, len(bits), axis=0), bits, flip)
        F = F - np.clip(slopes.gradient.sum(axis=0) / (slopes.hessian.sum(axis=0) + 1.0), -1.0, 1.0)
    return np.asarray(F[0])


def as_arrays(model: str) -> Fit:
    """Return the trees of LightGBM's text as arrays: node i splits column ``feature[i]``; child -k is leaf k - 1.

    A split of categories (its threshold is NaN) goes left for the levels whose bits are set in ``words``.
    """
    parts: dict[str, list[Array]] = {name: [] for name in ("roots", "feature", "threshold", "left", "right", "value")}
    masks: list[Array] = []
    nodes = leaves = 0
    for text in model.split("\nTree=")[1:]:
        tree = dict(line.split("=", 1) for line in text.split("\n\n")[0].splitlines() if "=" in line)
        value = _numbers(tree["leaf_value"], np.float64)
        count = len(value) - 1
        parts["roots"].append(np.array([nodes if count else -1 - leaves]))
        parts["value"].append(value)
        if count:
            threshold, kinds = _numbers(tree["threshold"], np.float64), _numbers(tree["decision_type"], np.int64)
            categorical = (kinds & 1) > 0
            masks += _masks(tree, threshold, categorical)
            parts["feature"].append(_numbers(tree["split_feature"], np.int64))
            parts["threshold"].append(np.where(categorical, np.nan, threshold))
            for side in ("left", "right"):
                child = _numbers(tree[f"{side}_child"], np.int64)
                parts[side].append(np.where(child < 0, child - leaves, child + nodes))
        nodes, leaves = nodes + count, leaves + len(value)
    arrays = {name: np.concatenate(some) if some else np.empty(0) for name, some in parts.items()}
    for name in ("roots", "feature", "left", "right"):
        arrays[name] = arrays[name].astype(np.int32)
    words = np.zeros((nodes, max((len(one) for one in masks), default=0)), dtype=np.uint32)
    for place, mask in enumerate(masks):
        words[place, : len(mask)] = mask
    return {**arrays, "words": words}


def _masks(tree: dict[str, str], threshold: Array, categorical: Array) -> list[Array]:
    """Return the levels that go left at each node of a tree, as bits; none where it splits a number."""
    if not categorical.any():
        return [np.empty(0, dtype=np.uint32)] * len(threshold)
    ends, words = _numbers(tree["cat_boundaries"], np.int64), _numbers(tree["cat_threshold"], np.uint32)
    places = np.where(categorical, threshold, 0).astype(np.int64)
    return [words[ends[k] : ends[k + 1]] if one else words[:0] for k, one in zip(places, categorical, strict=True)]


def _numbers(text: str, kind: type[Any]) -> Array:
    return np.array(text.split(), dtype=kind)


@jit
def _add_trees(
    X: Array, roots: Array, feature: Array, threshold: Array, left: Array, right: Array, words: Array, value: Array,
    out: Array,
) -> None:  # fmt: skip
    m = out.shape[1]
    for i in range(len(X)):
        for t in range(len(roots)):
            node = roots[t]
            while node >= 0:
                x = X[i, feature[node]]
                if np.isnan(threshold[node]):
                    level = int(x)
                    inside = 0 <= level < 32 * words.shape[1] and (words[node, level // 32] >> (level % 32)) & 1
                    node = left[node] if inside else right[node]
                else:
                    node = left[node] if x <= threshold[node] else right[node]
            out[i, t % m] += value[-1 - node]
