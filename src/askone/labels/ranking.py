"""Rankings: a label is an order of all items, best first.

An order y stands in R^P, P = m(m-1)/2, as its Kendall embedding phi(y): one entry for each pair
i < j, +1 if y puts i above j and -1 if not; or in R^m as its Borda vector, b_i = (items below i -
items above i) / (m-1).  Scores of pairs are decoded by the linear ordering problem (``ordering``),
scores of items by sorting them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_choice, as_hidden, as_label, as_rows
from askone.errors import InvalidArgument
from askone.labels import linear_ordering
from askone.labels.base import Discrete, Name, as_names, check_template, place_of

EMBEDDINGS = ("pairs", "items")
_TIE = 1e-12


@final
@dataclass(frozen=True)
class Ranking(Discrete):
    """Orders of some items, told by pairs: "Do you prefer tea or coffee?".

    ``wording`` replaces that sentence, with {first} and {second}; ``embedding`` says what a model
    scores: "pairs" or "items".

    >>> drinks = Ranking(("tea", "coffee", "milk"))
    >>> drinks.m, drinks.embed([["coffee", "tea", "milk"]]).tolist()    # tea-coffee, tea-milk, coffee-milk
    (3, [[-1.0, 1.0, 1.0]])
    >>> drinks.borda([["coffee", "tea", "milk"]]).tolist()
    [[0.0, 1.0, -1.0]]
    >>> Ranking(("tea",))
    Traceback (most recent call last):
    askone.errors.InvalidArgument: items must be at least two items (one class or item needs no question); got ['tea']
    """

    items: tuple[Name, ...]
    wording: str = ""
    embedding: str = "pairs"

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", as_names(self.items, "items", "items"))
        check_template(self.wording, "{first}", "{second}")
        as_choice(self.embedding, "embedding", EMBEDDINGS)

    @cached_property
    def size(self) -> int:
        """How many items."""
        return len(self.items)

    @cached_property
    def P(self) -> int:
        """How many pairs."""
        return self.size * (self.size - 1) // 2

    @property
    def m(self) -> int:
        """One score per pair, or per item."""
        return self.P if self.embedding == "pairs" else self.size

    @property
    def entries(self) -> int:
        """A label lists all items."""
        return self.size

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        """Places i < j of the items of each pair."""
        i, j = np.triu_indices(self.size, 1)
        return i, j

    @cached_property
    def _places(self) -> dict[Name, int]:
        return {name: i for i, name in enumerate(self.items)}

    @cached_property
    def scrambled(self) -> Array:
        """The places of all items in an order that is always the same and means nothing."""
        return np.argsort(random_table.uniforms(0, 0, 1, self.size, random_table.ORDER)[0], kind="stable")

    def index(self, name: Any, argument: str = "item") -> int:
        """Return which item has this name."""
        return place_of(name, self._places, argument)

    def pair(self, first: Any, second: Any, argument: str = "question") -> tuple[int, float]:
        """Return which pair two items are, and +1 if the first has the lower place, else -1."""
        a, b = self.index(first, argument), self.index(second, argument)
        i, j = min(a, b), max(a, b)
        return i * (2 * self.size - i - 1) // 2 + j - i - 1, 1.0 if a < b else -1.0

    # -- labels and their embeddings --------------------------------------------------------------

    def labels(self, y: ArrayLike, argument: str = "y") -> Array:
        """Return orders, n x items, each with every item once."""
        return self._named(self._indices(y, argument))

    def embed(self, labels: ArrayLike) -> Array:
        """Return phi(y), n x P, of -1 and +1.

        (0 and 1 in their place would not do: sum_{i<j} z_ij 1{i above j} with z >= 0 is greatest for
        the one order in which the items are listed, whatever the scores.)
        """
        ranks, (i, j) = self.ranks(labels), self.pairs
        return np.where(ranks[:, i] < ranks[:, j], 1.0, -1.0)

    def borda(self, labels: ArrayLike) -> Array:
        """Return b(y), n x items, from -1 (last) to 1 (first)."""
        return np.asarray(1.0 - 2.0 * self.ranks(labels) / (self.size - 1))

    def points(self, labels: ArrayLike) -> Array:
        """Return labels as what a model scores: ``embed`` or ``borda``, n x m."""
        return self.embed(labels) if self.embedding == "pairs" else self.borda(labels)

    @cached_property
    def incidence(self) -> Array:
        """The matrix (items x P) that turns pairs into items: b(y) = incidence phi(y) / (items - 1)."""
        matrix, (i, j) = np.zeros((self.size, self.P)), self.pairs
        matrix[i, np.arange(self.P)], matrix[j, np.arange(self.P)] = 1.0, -1.0
        return matrix

    # -- from scores to orders --------------------------------------------------------------------

    def from_scores(self, scores: ArrayLike, rows: Array | None = None, seed: int = 0) -> Array:
        """Return orders by descending scores of items (n x items), ties by lot: for simulations.

        >>> Ranking(("tea", "coffee", "milk")).from_scores([[0.1, 0.7, 0.4]]).tolist()
        [['coffee', 'milk', 'tea']]
        """
        given = as_rows(scores, self.size, "scores")
        order = np.argsort(-given, axis=1, kind="stable")
        ordered = np.take_along_axis(given, order, axis=1)
        tied = np.flatnonzero((np.diff(ordered, axis=1) >= -_TIE).any(axis=1))
        lots = self._lots(given if rows is None else rows, tied, seed)
        for row, lot in zip(tied, lots, strict=True):  # stable: among equals, the lot decides
            order[row] = lot[np.argsort(-np.round(given[row][lot], 11), kind="stable")]
        return self._named(order)

    def decode(self, scores: Array, rows: Array, seed: int = 0) -> Array:
        """Return the best order for each row of scores, n x items; see the module."""
        if self.embedding == "items":
            return self.from_scores(scores, rows, seed)
        every = np.arange(len(scores))
        solved = [self._solved(z, lot).order for z, lot in zip(scores, self._lots(rows, every, seed), strict=True)]
        return self._named(np.array(solved, dtype=np.int64).reshape(len(scores), self.size))

    def decode_with_bound(self, scores: ArrayLike) -> tuple[tuple[Name, ...], float, float]:
        """Return one order for P scores of pairs, <scores, phi(order)>, and a bound on that of any order.

        >>> Ranking(("tea", "coffee", "milk")).decode_with_bound([1.0, -0.5, 2.0])
        (('tea', 'coffee', 'milk'), 2.5, 2.5)
        """
        found = self._solved(as_label(scores, self.P, "scores"), np.arange(self.size))
        return tuple(self.items[i] for i in found.order), found.value, found.bound

    def _solved(self, z: Array, lot: Array) -> linear_ordering.Ordered:
        """Return the linear ordering problem with the items listed by lot, so that ties fall to no one side."""
        W = np.zeros((self.size, self.size))
        W[self.pairs] = z
        W -= W.T
        found = linear_ordering.best_order(W[np.ix_(lot, lot)])
        return found._replace(order=[int(lot[i]) for i in found.order])

    def _lots(self, rows: Array, which: Array, seed: int) -> Array:
        uniform = random_table.by_content(np.asarray(rows)[which], self.size, seed)
        return np.argsort(uniform, axis=1)

    # -- parts ------------------------------------------------------------------------------------

    def _indices(self, y: ArrayLike, argument: str) -> Array:
        given = as_hidden(y, argument)
        if given.shape[1] != self.size:
            raise InvalidArgument(argument, f"orders of all {self.size} items", f"{given.shape[1]} per row")
        names = given.ravel().tolist()
        try:
            flat = list(map(self._places.__getitem__, names))
        except (KeyError, TypeError):  # the slow way says which
            flat = [self.index(name, argument) for name in names]
        indices = np.array(flat, dtype=np.int64).reshape(given.shape)
        twice = np.flatnonzero((np.sort(indices, axis=1) != np.arange(self.size)).any(axis=1))
        if len(twice):
            raise InvalidArgument(argument, "orders with every item once", given[twice[0]].tolist())
        return indices

    def ranks(self, labels: ArrayLike) -> Array:
        """Return the place of every item in each order, n x items."""
        return np.argsort(self._indices(labels, "labels"), axis=1)

    def _named(self, indices: Array) -> Array:
        names = np.empty(self.size, dtype=object)
        names[:] = self.items
        return np.asarray(names[indices])
