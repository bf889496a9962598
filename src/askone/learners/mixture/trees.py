"""Boosted trees by the likelihood of bits: LightGBM fits them, and they are read as plain arrays.

Whoever only forecasts with trees that were fitted, as a replay does, needs no LightGBM.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from ctypes import CDLL
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from askone._common.compiled import jit
from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone._common.validate import as_count
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.learners.mixture.bits import BitLikelihood
from askone.learners.mixture.members import Fit, FittedMember, require_array

if TYPE_CHECKING:
    import lightgbm
else:
    lightgbm = lazy_import("lightgbm")

Slopes = Callable[[Array, Any], tuple[Array, Array]]

_TREES, _FEWEST = 1000, 30  # in all classes together, and of each class all the same
_DEEPEST = 16  # splits in a row
_QUICK = 50  # trees where there is little time
_NEAR = 1e-3  # of a constant, in units of the scale: trees begin there
_WANTED = re.compile(
    r"^(num_leaves|num_cat|split_feature|threshold|decision_type|left_child|right_child|leaf_value|cat_\w+)=(.*)$", re.M
)


@final
@dataclass(frozen=True, eq=False)
class TreeMember(FittedMember):
    """Trees of at most ``depth`` splits in a row, each of a part of rows and columns, added at ``rate``.

    Of up to ``wide`` columns each tree sees all: which class it is often depends on several together.

    A bit has an information of 1/4 at most, in units of its scale: a penalty of 3 on leaves is that of twelve bits.
    One that is flipped with chance pi has (1 - 2 pi)^2 of that, so that ``least`` bits of a leaf are as many more.
    """

    layout: RowLayout
    depth: int = 4
    rounds: int = 200
    rate: float = 0.05
    penalty: float = 3.0
    least: int = 15
    part: float = 0.7
    seed: int = 0
    wide: int = 0
    first: ClassVar[int] = 128

    def __post_init__(self) -> None:
        as_count(self.depth, "depth", 1, _DEEPEST)

    @property
    def ready(self) -> bool:
        return _is_installed()

    @property
    def quick(self) -> TreeMember:
        return replace(self, rounds=min(self.rounds, _QUICK), rate=self.rate * max(1.0, self.rounds / _QUICK))

    @property
    def columns(self) -> int:
        """How many columns trees see."""
        return self.layout.dense - len(self.layout.hidden) + len(self.layout.levels)

    def _columns_of_a_tree(self) -> float:
        return min(1.0, max(0.5 * self.part, self.wide / self.columns)) if self.wide else self.part

    def fit(self, likelihood: BitLikelihood, X: Array, bits: Array, flip: float, before: Fit | None) -> Fit:
        m = likelihood.outputs
        rounds = min(self.rounds, max(_TREES // m, _FEWEST))
        # What is asked depends on what is believed, so that no constant is right: it would give up some class, and
        # the slope of a class that is given up is next to nothing.
        middle = _constant(likelihood, bits, flip) if m == 1 else np.zeros(m)

        def slopes(raw: Array, _: Any) -> tuple[Array, Array]:
            found = likelihood.slopes(raw.reshape(len(X), m, order="F"), bits, flip)
            return found.gradient if m > 1 else found.gradient[:, 0], found.hessian if m > 1 else found.hessian[:, 0]

        params = {
            "objective": "none", "learning_rate": min(0.3, self.rate * self.rounds / rounds), "max_depth": self.depth,
            "num_leaves": 2**self.depth - 1, "lambda_l2": self.penalty,
            "min_data_in_leaf": round(self.least / (1.0 - 2.0 * flip) ** 2),
            "min_sum_hessian_in_leaf": 1e-3, "bagging_fraction": self.part, "bagging_freq": 1,
            "feature_fraction": self._columns_of_a_tree(), "max_bin": 63, "min_data_per_group": 10, "cat_smooth": 5.0,
            "deterministic": True, "force_row_wise": True, "num_threads": 1, "seed": self.seed, "verbosity": -1,
        }  # fmt: skip
        if m > 1:
            params["num_class"] = m
        begun, labels = np.tile(middle, (len(X), 1)).ravel(order="F"), None
        known = likelihood.logistic(bits, flip)
        if known is not None:  # LightGBM has this loss itself, in half the time
            labels, begun = known[0], begun - known[1]
            params |= {"objective": "cross_entropy", "boost_from_average": False}
        view = self._view(X)
        numeric = view.shape[1] - len(self.layout.levels)
        data = lightgbm.Dataset(
            view, label=labels, init_score=begun, free_raw_data=True,
            categorical_feature=list(range(numeric, view.shape[1])), params=params,
        )  # fmt: skip
        booster = lightgbm.Booster(params, data)
        return {"middle": middle, **as_arrays(_grown(booster, slopes if known is None else None, rounds))}

    def _view(self, X: Array) -> Array:
        """Return what trees see of rows: a category by its place, not level by level."""
        shown = [j for j in range(self.layout.dense) if j not in self.layout.hidden]
        places = range(self.layout.dense, self.layout.dense + len(self.layout.levels))
        return np.ascontiguousarray(X[:, [*shown, *places]], dtype=np.float64)

    def check(self, fit: Fit, outputs: int) -> None:
        """See ``FittedMember.check``: children come after their parents, so that every way down ends, and soon."""
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
        inside = inside and len(roots) <= max(_TREES, _FEWEST * outputs)
        inside = inside and _ends_soon(roots, np.stack(children), self.depth)
        if not inside or not ((fit["feature"] >= 0) & (fit["feature"] < self.columns)).all():
            raise InvalidArgument("fit", "trees of these columns whose ways soon end in leaves", f"{nodes} nodes")

    def scores(self, fit: Fit, X: Array) -> Array:
        out = np.tile(fit["middle"], (len(X), 1))
        arrays = (fit[name] for name in ("roots", "feature", "threshold", "left", "right", "words", "value"))
        _add_trees(self._view(X), *arrays, out)
        return out


def _ends_soon(roots: Array, children: Array, depth: int) -> bool:
    """Return whether every way down has at most so many splits: each row that is predicted goes all of them."""
    level = np.unique(roots[roots >= 0])
    for _ in range(depth):
        below = children[:, level].ravel()
        level = np.unique(below[below >= 0])
    return len(level) == 0


@cache
def _is_installed() -> bool:
    """Return whether LightGBM is there, and what its library needs: small containers have no libgomp."""
    spec = importlib.util.find_spec("lightgbm")
    if spec is None:
        return False
    try:
        for place in spec.submodule_search_locations or ():
            for library in Path(place).glob("lib/*.so"):
                CDLL(str(library))
    except OSError:
        return False
    return True


def _constant(likelihood: BitLikelihood, bits: Array, flip: float) -> Array:
    """Return the best scores that are the same for all rows, nearly: some damped steps of Newton's."""
    F = np.zeros((1, likelihood.outputs))
    for _ in range(30):
        slopes = likelihood.slopes(np.repeat(F, len(bits), axis=0), bits, flip)
        step = np.clip(slopes.gradient.sum(axis=0) / (slopes.hessian.sum(axis=0) + 1.0), -1.0, 1.0)
        F = F - step
        if np.abs(step).max() < _NEAR:
            break
    return np.asarray(F[0])


def _grown(booster: lightgbm.Booster, slopes: Slopes | None, rounds: int) -> str:
    """Return a model after so many rounds, or fewer, as text.

    LightGBM counts rows by their curvature, and where that is next to nothing it may find a leaf without any and raise:
    the trees so far are the model then.
    """
    done = 0
    try:
        while done < rounds and not booster.update(fobj=slopes):
            done += 1
    except lightgbm.basic.LightGBMError:
        pass
    return booster.model_to_string(num_iteration=done) if done else ""


def as_arrays(model: str) -> Fit:
    """Return the trees of LightGBM's text as arrays: node i splits column ``feature[i]``; child -k is leaf k - 1.

    A split of categories (its threshold is NaN) goes left for the levels whose bits are set in ``words``.
    """
    trees = [dict(_WANTED.findall(text)) for text in model.split("\nend of trees")[0].split("\nTree=")[1:]]
    split = [tree for tree in trees if int(tree["num_leaves"]) > 1]
    leaves = np.array([int(tree["num_leaves"]) for tree in trees], dtype=np.int64)
    # Places in a tree become places among all: those of leaves are negative.
    first_leaf, first_node = np.cumsum(leaves) - leaves, np.cumsum(leaves - 1) - (leaves - 1)
    leaf, node = (np.repeat(first, leaves - 1) for first in (first_leaf, first_node))
    places = {"roots": np.where(leaves > 1, first_node, -1 - first_leaf), "feature": _joined(split, "split_feature")}
    for side in ("left", "right"):
        child = _joined(split, f"{side}_child")
        places[side] = np.where(child < 0, child - leaf, child + node)
    masks = {
        start + k: mask
        for tree, start in zip(split, first_node[leaves > 1].tolist(), strict=True)
        for k, mask in _masks(tree).items()
    }
    threshold = _joined(split, "threshold")
    threshold[list(masks)] = np.nan
    words = np.zeros((len(threshold), max((len(one) for one in masks.values()), default=0)), dtype=np.uint32)
    for place, mask in masks.items():
        words[place, : len(mask)] = mask
    found = {name: one.astype(np.int32) for name, one in places.items()}
    return {**found, "threshold": threshold, "value": _joined(trees, "leaf_value"), "words": words}


def _joined(trees: list[dict[str, str]], name: str) -> Array:
    """Return the numbers of all trees in one array: many small ones take longer to read."""
    return np.fromstring(" ".join(tree[name] for tree in trees), sep=" ")


def _masks(tree: dict[str, str]) -> dict[int, Array]:
    """Return the levels that go left, as bits, at each node of a tree that splits categories."""
    if not int(tree["num_cat"]):
        return {}
    kinds, which, ends, words = (
        np.array(tree[name].split(), dtype=np.float64).astype(np.int64)
        for name in ("decision_type", "threshold", "cat_boundaries", "cat_threshold")
    )
    nodes = np.flatnonzero(kinds & 1).tolist()
    return {k: words[ends[which[k]] : ends[which[k] + 1]] for k in nodes}


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
