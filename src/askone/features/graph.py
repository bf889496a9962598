"""Features of the graph of rows: what unlabelled rows teach by their neighbourhood.

Rows that are near each other, or joined by a chain of rows that are, probably have the same label: the paper's remark
on the Laplacian.  Neighbours are joined by w = exp(-d^2 / (s_i s_j)), with s the distance to a row's tenth neighbour.
Of S = D^-1/2 W D^-1/2, D the sums of W, the eigenvectors U of the largest eigenvalues are the functions that change
least along the graph, and 1 - eigenvalue, l, is how much each does:

    F = D^-1/2 U / (1 + l / l_20),   rows of length 1.

A row that is no node has the mean of its nearest nodes' features, weighted likewise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.compiled import long_product, paired_dots
from askone._common.lazy import linalg, neighbors, sparse
from askone._common.types import Array
from askone._common.validate import as_rows
from askone.errors import InvalidArgument
from askone.features import compiled
from askone.features.kernels import Points
from askone.features.maps import FeatureMap, ScaledMap
from askone.features.scaling import Scaler

FEWEST, NODES = 60, 4000
"""Of fewer different rows there is no graph; of more, so many, drawn at random, are its nodes."""
_NEIGHBOURS, _VECTORS, _BEND = 10, 200, 20
_SHARE = 0.9  # of the features' length is the graph's
_TINY = 1e-12


@final
@dataclass(frozen=True, eq=False)
class NeighbourGraph(ScaledMap):
    """sqrt(.9) f(x), f the smoothest functions on the graph of rows, beside sqrt(.1) of another map's features.

    >>> from askone.features.maps import Linear
    >>> line = np.repeat([[0.0], [9.0]], 40, axis=0) + np.linspace(0.0, 1.0, 80)[:, None]
    >>> graph = NeighbourGraph.from_rows(line, Linear(Scaler.identity(1)))
    >>> F = graph(np.array([[0.2], [0.3], [9.8]]))[:, : graph.values.shape[1]]
    >>> bool(F[0] @ F[1] > 100 * abs(F[0] @ F[2]))
    True
    """

    scaler: Scaler
    nodes: Array
    """Scaled rows, n x d."""
    spread: Array
    """The distance of each to its tenth neighbour."""
    values: Array
    """The functions at the nodes, n x r."""
    inner: FeatureMap
    name: ClassVar[str] = "graph"

    def __post_init__(self) -> None:
        if not isinstance(self.inner, FeatureMap) or self.inner.columns != self.columns:
            raise InvalidArgument("inner", f"a feature map of {self.columns} columns", type(self.inner).__name__)
        # Compiled loops trust them, and files of strangers have them.
        shapes = [np.shape(one) for one in (self.nodes, self.spread, self.values)]
        n = len(self.nodes)
        if n < 1 or shapes[0] != (n, self.columns) or shapes[1] != (n,) or len(shapes[2]) != 2 or shapes[2][0] != n:
            raise InvalidArgument("nodes", "as many as spread and values, of the columns that rows have", shapes)

    @classmethod
    def from_rows(cls, X: Array, inner: FeatureMap, *, scaler: Scaler | None = None, seed: int = 0) -> NeighbourGraph:
        """Return the graph of unlabelled rows, at most ``NODES`` of them, and its smoothest functions."""
        X = as_rows(X)
        scaler = scaler or Scaler.from_rows(X)
        nodes = _some(distinct(scaler, _some(X, 4 * NODES, seed)), NODES, seed)
        k = min(_NEIGHBOURS, len(nodes) - 1)
        if k < 1:
            raise InvalidArgument("X", "at least two different rows", len(nodes))
        distances, places = neighbors.NearestNeighbors(n_neighbors=k).fit(nodes.astype(np.float64)).kneighbors()
        spread = np.maximum(distances[:, -1], _TINY)
        F = _smoothest(np.exp(-(distances**2) / (spread[:, None] * spread[places])), places)
        # Rounded once, here: half of the space, and the same wherever it is read.
        return cls(scaler, nodes, spread, _of_length_one(F).astype(np.float32), inner)

    @property
    def size(self) -> int:
        return int(self.values.shape[1]) + self.inner.size

    @cached_property
    def _points(self) -> Points:
        return Points(np.ascontiguousarray(self.nodes, dtype=np.float64))

    @cached_property
    def _values(self) -> Array:
        return np.ascontiguousarray(self.values, dtype=np.float64)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {row.tobytes(): place for place, row in enumerate(self.nodes.astype(np.float32))}

    def __call__(self, X: Array) -> Array:
        return np.hstack([math.sqrt(_SHARE) * self._functions(X), math.sqrt(1.0 - _SHARE) * self.inner(X)])

    def times(self, X: Array, W: Array) -> Array:
        own, others = np.split(W, [self.values.shape[1]])
        found = long_product(math.sqrt(_SHARE) * self._functions(X), np.ascontiguousarray(own))
        return np.asarray(found + math.sqrt(1.0 - _SHARE) * self.inner.times(X, np.ascontiguousarray(others)))

    def _functions(self, X: Array) -> Array:
        """Return f(x_i): nodes are looked up, since candidates are mostly nodes, and many."""
        rows = self.scaler(X)
        places = np.array([self._places.get(key, -1) for key in _keys(rows)], dtype=np.int64)
        out, new = self._values[places], np.flatnonzero(places < 0)
        if len(new):
            parts = (self._points.columns, self._points.squares, self.spread, self._values, _NEIGHBOURS)
            out[new] = _of_length_one(compiled.neighbours(np.ascontiguousarray(rows[new]), *parts))
        return out


def _smoothest(weights: Array, places: Array) -> Array:
    """Return F of the graph whose node i is joined to places[i] by weights[i]."""
    n, k = places.shape
    W = sparse.csr_array((weights.ravel(), (np.repeat(np.arange(n), k), places.ravel())), shape=(n, n))
    W = W.maximum(W.T)  # it is enough that one is the other's neighbour
    root = 1.0 / np.sqrt(np.maximum(np.asarray(W.sum(axis=1)).ravel(), _TINY))
    S = sparse.diags_array(root) @ W @ sparse.diags_array(root)
    try:
        eigenvalues, U = linalg.eigsh(S, min(_VECTORS, n - 1), which="LA", v0=root)
    except linalg.ArpackNoConvergence as error:  # of a graph in very many parts; those that were found are good
        eigenvalues, U = error.eigenvalues, error.eigenvectors
    order = np.argsort(-eigenvalues, kind="stable")
    change = np.maximum(1.0 - eigenvalues[order], 0.0)
    bend = change[min(_BEND, len(change)) - 1] if len(change) else 1.0
    return np.asarray(root[:, None] * U[:, order] / (1.0 + change / max(bend, _TINY)))


def _some(rows: Array, most: int, seed: int) -> Array:
    """Return rows as they are, or so many drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    order = np.argsort(random_table.uniforms(seed, 2, 1, len(rows), random_table.DESIGN)[0], kind="stable")
    return rows[np.sort(order[:most])]


def distinct(scaler: Scaler, X: Array) -> Array:
    """Return the different rows, scaled, in single precision."""
    return np.unique(scaler(X).astype(np.float32) + np.float32(0.0), axis=0)


def _keys(rows: Array) -> list[bytes]:
    return [row.tobytes() for row in rows.astype(np.float32) + np.float32(0.0)]  # -0 is 0


def _of_length_one(F: Array) -> Array:
    F = np.ascontiguousarray(F)
    return np.asarray(F / np.maximum(np.sqrt(paired_dots(F, F)), _TINY)[:, None])
