"""Compiled loops for very many items: their comparisons as a graph, relaxed where an answer changed something.

Item i has N(u_i, v_i): the fixed point of expectation propagation with independent items,

    u_i / tau^2 = sum_e a_e ,     1 / v_i = 1 / tau^2 + sum_e b_e / (1 - b_e c_ie) ,

over the comparisons e of i with some j.  a_e and b_e are those of ``_compiled.compare`` for the cavity, where e is left
out: u_i - u_j less (c_ie + c_je) a_e, of variance c_ie + c_je, with v_i = c_ie - b_e c_ie^2.  They follow from u and v,
so that nothing is kept of a comparison but its answer.  After an answer its two items are brought to their fixed point,
then the neighbours of whatever item moved by more than a little, until none does or the budget is spent.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp
from askone._common.compiled import jit
from askone._common.types import Array
from askone.learners.thurstone._compiled import adapt, compare

# A row of the comparisons: its two items, what was heard, whether ties were admitted, floor and trust (see
# ``ErrorRates``), and which comparisons of the first and of the second item came before it, or -1.
FIRST, SECOND, HEARD, TIES, FLOOR, TRUST, BEFORE = range(7)
COLUMNS = 8
_LITTLE = 0.02  # of a deviation, or of a variance
_ITEMS, _LOOKS = 50, 400  # the budget of an answer: items that are relaxed, and comparisons looked at for it
_STEPS, _TAKEN = 3, 0.9  # towards a cavity, and what an answer took of a variance at most
_FARTHEST = 3.0  # a step of an item, in units of the noise


@jit
def site(
    delta: float, mine: float, other: float, heard: float, margin: float, flip: float, floor: float, trust: float
) -> tuple[float, float, float, float]:
    """Return a, b and the variances of both items in the cavity of a comparison that delta and v have already."""
    a, b, c, d = 0.0, 0.0, mine, other
    for _ in range(_STEPS):
        _, slope, b, _ = compare(delta - (c + d) * a, c + d + 1.0, heard, margin, flip, floor, trust)
        a -= (a - slope) / max(1.0 - (c + d) * b, 0.05)
        c, d = mine / (1.0 - min(max(b * c, 0.0), _TAKEN)), other / (1.0 - min(max(b * d, 0.0), _TAKEN))
    return a, max(b, 0.0), c, d


@jit
def relaxed(
    item: int, u: Array, v: Array, head: Array, told: Array, prior: float, flip: float, traits: Array
) -> tuple[float, float, int]:
    """Return the step of an item, its new variance, and how many comparisons it has."""
    score, precision, curve, e, seen = -u[item] * prior, prior, prior, head[item], 0
    while e >= 0:
        i, j = int(told[e, FIRST]), int(told[e, SECOND])
        mine = 0 if i == item else 1
        other = j if mine == 0 else i
        delta = u[i] - u[j] + (traits[0] if told[e, TRUST] == 1.0 else 0.0)
        margin = exp(traits[2]) if told[e, TIES] != 0.0 else 0.0
        a, b, c, d = site(delta, v[item], v[other], told[e, HEARD], margin, flip, told[e, FLOOR], told[e, TRUST])
        score += a if mine == 0 else -a
        precision += b / max(1.0 - b * c, 0.1)
        curve += b / max(1.0 - b * (c + d), 0.1)
        seen += 1
        e = int(told[e, BEFORE + mine])
    return min(max(score / curve, -_FARTHEST), _FARTHEST), 1.0 / precision, seen


@jit
def settle(u: Array, v: Array, head: Array, told: Array, prior: float, flip: float, traits: Array, last: int) -> None:
    """Relax the two items of the last comparison, and others as far as it matters, in place."""
    m = u.shape[0]
    queue, waits = np.empty(m, np.int64), np.zeros(m, np.bool_)
    queue[0], queue[1] = int(told[last, FIRST]), int(told[last, SECOND])
    waits[queue[0]], waits[queue[1]] = True, True
    begun, ended, looks = 0, 2, 0
    while begun < ended and begun < _ITEMS and (looks < _LOOKS or begun < 2):
        item = queue[begun % m]
        begun, waits[item] = begun + 1, False
        step, variance, seen = relaxed(item, u, v, head, told, prior, flip, traits)
        far = abs(step) > _LITTLE * math.sqrt(variance) or abs(variance - v[item]) > _LITTLE * variance
        u[item], v[item], looks = u[item] + step, variance, looks + seen
        e = head[item] if far else -1
        while e >= 0:
            mine = 0 if int(told[e, FIRST]) == item else 1
            other = int(told[e, SECOND - mine])
            if not waits[other]:
                waits[other], queue[ended % m], ended = True, other, ended + 1
            e = int(told[e, BEFORE + mine])


@jit
def tell_local(
    means: Array, variances: Array, head: Array, told: Array, priors: Array, flips: Array, traits: Array,
    learn: bool, logs: Array,
) -> None:  # fmt: skip
    """Tell the last of the comparisons to all filters, in place; logs: log Z of each.  ``learn`` False: only logs."""
    last = told.shape[0] - 1
    i, j = int(told[last, FIRST]), int(told[last, SECOND])
    heard, floor, trust = told[last, HEARD], told[last, FLOOR], told[last, TRUST]
    for k in range(means.shape[0]):
        u, v = means[k], variances[k]
        delta, q = u[i] - u[j] + (traits[k, 0] if trust == 1.0 else 0.0), v[i] + v[j] + 1.0
        margin = exp(traits[k, 2]) if told[last, TIES] != 0.0 else 0.0
        logs[k], a, _, c = compare(delta, q, heard, margin, flips[k], floor, trust)
        if learn:
            adapt(traits[k], delta, q, a, c, margin, flips[k], trust == 1.0)
            settle(u, v, head, told, priors[k], flips[k], traits[k], last)


@jit
def weigh(u: Array, v: Array, told: Array, flip: float, traits: Array, out: Array) -> None:
    """Write what each comparison adds to the precision of the difference of its items: b / (1 - b (c_ie + c_je))."""
    for e in range(told.shape[0]):
        i, j = int(told[e, FIRST]), int(told[e, SECOND])
        delta = u[i] - u[j] + (traits[0] if told[e, TRUST] == 1.0 else 0.0)
        margin = exp(traits[2]) if told[e, TIES] != 0.0 else 0.0
        _, b, c, d = site(delta, v[i], v[j], told[e, HEARD], margin, flip, told[e, FLOOR], told[e, TRUST])
        out[e] = b / max(1.0 - b * (c + d), 0.1)
