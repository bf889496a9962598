"""The linear ordering problem: the order that agrees best with scores of pairs.

W is antisymmetric: W[i, j] is what putting i above j earns.  The best order maximises

    value(order) = sum of W[i, j] over all i above j  <=  sum_{i<j} |W[i, j]|.

If all of a set of items earn by standing above all others, some best order has them on top; so the
items fall into blocks, as fine as the scores allow (single items, where no preferences go round in
a circle), and only a block needs a search: exactly over subsets up to ``MOST_BY_SUBSETS`` items, by
integer programming up to ``MOST_BY_PROGRAM``, and by insertions beyond, which may stop short of the
best; a bound says by how much at most.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple, final

import numpy as np

from askone._common.lazy import optimize, sparse
from askone._common.types import Array

MOST_BY_SUBSETS = 13
MOST_BY_PROGRAM = 20  # a tenth of a second at worst; at 30 it can be many seconds
_NODES = 20  # of branch and bound; a clock would give another order on a slower machine
_TIE = 1e-12


@final
class Ordered(NamedTuple):
    """An order (places of the items, best first), what it earns, and a bound on what any earns."""

    order: list[int]
    value: float
    bound: float


def best_order(W: Array) -> Ordered:
    """Return the order of greatest value; the bound equals the value where that is certain.

    >>> cycle = np.array([[0.0, 1.0, -0.5], [-1.0, 0.0, 2.0], [0.5, -2.0, 0.0]])    # 0 > 1 > 2 > 0
    >>> best_order(cycle)
    Ordered(order=[0, 1, 2], value=2.5, bound=2.5)
    """
    order: list[int] = []
    lost, largest = 0.0, float(np.abs(W).max(initial=0.0)) or 1.0
    unit = W / largest  # tolerances below, the solver's too, are for numbers around 1
    for block in blocks(unit):
        found = _solved(unit[np.ix_(block, block)])
        order += [int(block[i]) for i in found.order]
        lost += found.bound - found.value
    earned = value(W, order)
    return Ordered(order, earned, earned + lost * largest)


def value(W: Array, order: list[int] | Array) -> float:
    """Return what an order earns."""
    places = np.asarray(order)
    return float(np.triu(W[np.ix_(places, places)], 1).sum())


def blocks(W: Array) -> list[Array]:
    """Return items in blocks, each above the next in some best order; ties of a pair fall to the first item.

    In descending order of wins, the first k items beat all others iff they have k(k-1)/2 + k(m-k) wins.
    """
    m = len(W)
    beats = np.triu(W >= -_TIE, 1)
    beats |= np.tril(W > _TIE, -1)
    wins = beats.sum(axis=1)
    order = np.argsort(-wins, kind="stable")
    k = np.arange(1, m + 1)
    ends = np.flatnonzero(np.cumsum(wins[order]) == k * (k - 1) // 2 + k * (m - k)) + 1
    return np.split(order, ends[:-1])


def _solved(W: Array) -> Ordered:
    m = len(W)
    if m == 1:
        return Ordered([0], 0.0, 0.0)
    if m <= MOST_BY_SUBSETS:
        return by_subsets(W)
    return by_program(W) if m <= MOST_BY_PROGRAM else by_insertion(W)


def by_subsets(W: Array) -> Ordered:
    """Return exactly: best[S] = max_j best[S - j] + sum_{i in S - j} W[i, j], the subset S on top, j its last."""
    m = len(W)
    bits, layers = _subsets(m)
    last = bits @ W  # last[S, j]: what j earns below all of S
    best, choice = np.zeros(1 << m), np.zeros(1 << m, dtype=np.int64)
    for sets, members, rests in layers:
        earned = best[rests] + last[rests, members]
        top = earned.max(axis=1)
        which = (earned >= top[:, None] - _TIE).argmax(axis=1)
        best[sets], choice[sets] = top, members[np.arange(len(sets)), which]
    order, left = [], (1 << m) - 1
    while left:
        order.append(int(choice[left]))
        left ^= 1 << order[-1]
    order.reverse()
    earned_in_all = value(W, order)
    return Ordered(order, earned_in_all, earned_in_all)


@lru_cache(maxsize=4)
def _subsets(m: int) -> tuple[Array, list[tuple[Array, Array, Array]]]:
    """Return 0 and 1 for each subset, and by size: the subsets, their members, and what is left without each."""
    bits = (np.arange(1 << m)[:, None] >> np.arange(m)) & 1
    sizes, layers = bits.sum(axis=1), []
    for size in range(1, m + 1):
        sets = np.flatnonzero(sizes == size)
        members = np.nonzero(bits[sets])[1].reshape(len(sets), size)
        layers.append((sets, members, sets[:, None] ^ (1 << members)))
    return bits.astype(np.float64), layers


def by_program(W: Array) -> Ordered:
    """Return the order by integer programming: x_ij = 1{i above j}, and 0 <= x_ij + x_jk - x_ik <= 1 for i < j < k.

    Branch and bound stops after some nodes; then the better of its order and that of the insertions
    stands, with the bound it has proved.
    """
    m, quick = len(W), by_insertion(W)
    i, j = np.triu_indices(m, 1)
    found = optimize.milp(
        -2 * W[i, j],
        integrality=np.ones(len(i)),
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(_triangles(m), 0, 1),
        options={"node_limit": _NODES, "mip_rel_gap": 0.0},
    )
    order = quick.order if found.x is None else _order_of(m, found.x > 0.5)
    order = max(order, quick.order, key=lambda one: value(W, one))
    earned = value(W, order)
    if found.status == 0:
        return Ordered(order, earned, earned)
    proved = np.inf if found.mip_dual_bound is None else -float(found.mip_dual_bound) - float(W[i, j].sum())
    return Ordered(order, earned, max(earned, min(quick.bound, proved)))


def _order_of(m: int, above: Array) -> list[int]:
    beats = np.zeros((m, m), dtype=np.bool_)
    beats[np.triu_indices(m, 1)] = above
    beats |= np.tril(~beats.T, -1)
    return [int(k) for k in np.argsort(-beats.sum(axis=1), kind="stable")]


@lru_cache(maxsize=4)
def _triangles(m: int) -> sparse.csr_array:
    pair = {ij: column for column, ij in enumerate(combinations(range(m), 2))}
    triples = list(combinations(range(m), 3))
    columns = [pair[ij] for i, j, k in triples for ij in ((i, j), (j, k), (i, k))]
    rows = np.repeat(np.arange(len(triples)), 3)
    return sparse.csr_array((np.tile([1.0, 1.0, -1.0], len(triples)), (rows, columns)), shape=(len(triples), len(pair)))


def by_insertion(W: Array) -> Ordered:
    """Return the order of row sums after moving single items while that earns more; its bound is sum |W|.

    >>> by_insertion(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    Ordered(order=[0, 1], value=1.0, bound=1.0)
    """
    order = np.argsort(-W.sum(axis=1), kind="stable")
    moved = True
    while moved:
        moved = False
        for item in range(len(W)):
            better = _inserted(W, order, item)
            moved, order = moved or better is not None, order if better is None else better
    return Ordered([int(k) for k in order], value(W, order), float(np.abs(np.triu(W, 1)).sum()))


def _inserted(W: Array, order: Array, item: int) -> Array | None:
    """Return the order with one item where it earns most, if that is more than where it stands."""
    here = int(np.flatnonzero(order == item)[0])
    others = np.delete(order, here)
    below = np.concatenate([[0.0], np.cumsum(W[others, item])])  # earned by those above it
    above = np.concatenate([np.cumsum(W[item, others][::-1])[::-1], [0.0]])
    earned = below + above
    there = int(earned.argmax())
    return np.insert(others, there, item) if earned[there] > earned[here] + _TIE else None
