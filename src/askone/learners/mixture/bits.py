"""What answers say of scores: likelihoods of single bits, with their slopes.

A model gives scores F, one for a number or one for each class; a bit b is one of

    numbers   low < y <= high, or not:   P = sigma((F - low) / s) - sigma((F - high) / s) ,   high = inf: "above low?"
    classes   y in C:                    P = sum of softmax(F)_k over C

and is flipped with chance pi: Q = pi + (1 - 2 pi) P.  Models are fitted in units of s, so that s = 1 there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy.special import expit, softmax

from askone._common.arithmetic import exp
from askone._common.compiled import jit
from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.learners.base import of_family
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.one_label import are_last, in_turn, joined, said_before, together
from askone.questions.base import HONEST, Answer, Question
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace, in_unit_labels
from askone.questions.subset import Subset

_LEAST = 1e-9  # a chance is never quite 0
_CURVED = 0.02  # information of a bit about a number, at least: far from where was asked steps would have no end


@final
class Slopes(NamedTuple):
    """-log Q of each bit, its derivatives by the scores, and Fisher's information about each score."""

    losses: Array
    gradient: Array
    hessian: Array


class BitLikelihood(ABC):
    """What bits are like, for one kind of label."""

    temperatures: tuple[float, ...]
    """How much wider or narrower than when it was fitted a model's forecasts may turn out to be."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many scores a row has."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers a bit is."""

    @abstractmethod
    def bit(self, question: Question, answer: Answer) -> Array:
        """Return an answer as numbers."""

    @abstractmethod
    def scaled(self, bits: Array, scale: float) -> Array:
        """Return bits about scores in units of a scale."""

    @abstractmethod
    def slopes(self, F: Array, bits: Array, flip: float) -> Slopes:
        """Return losses and slopes at scores F, n x outputs, in units of the scale: for fits."""

    def completed(self, kept: Array, columns: int) -> Array:
        """Return rows of so many columns and their bits; those of older files lack what was said of slips."""
        return kept

    def in_turn(self, store: Buffer, kept: int, bits: Array) -> Array:
        """Return bits as they are kept behind others: each with what was said before about its row in it."""
        return bits

    def count(self, bits: Array) -> Array:
        """Return which bits count: all, or of those about one row the last."""
        return np.ones(len(bits), np.bool_)

    def logistic(self, bits: Array, flip: float) -> tuple[Array, Array] | None:
        """Return labels b and places a of bits that all are of the kind P(b = 1) = sigma(F - a); None: some are not."""
        return None

    @abstractmethod
    def chances(self, scores: Array, scale: float, bit: Array) -> Array:
        """Return P(bit) by the scores of one row, at each temperature: the same on every processor."""

    # -- in hindsight -----------------------------------------------------------------------------

    def keys(self, bits: Array) -> Array:
        """Return the number of the row that each bit is about; 0: it stands alone."""
        return np.zeros(len(bits))

    @abstractmethod
    def foretold(self, scores: Array, scale: float, bits: Array) -> Array:
        """Return what scores say of each row at each temperature: of numbers P(bit is true), of classes P(class)."""

    @abstractmethod
    def of_bits(self, said: Array, bits: Array, flip: float) -> Array:
        """Return the chance of each bit, slips and flips included, by what was foretold."""

    def as_said(self, chances: Array, bits: Array, answers: Sequence[bool]) -> Array:
        """Return what was foretold from what ``Hindsight`` says, or the other way round."""
        return chances


@final
@dataclass(frozen=True)
class NumberBits(BitLikelihood):
    """A bit is (low, high, whether the number lies between, the chance of that whatever is true, trust).

    The ends are in unit labels; for the last two see ``ErrorRates``.
    """

    space: Real
    temperatures: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    outputs: int = 1
    width: int = 5

    def bit(self, question: Question, answer: Answer) -> Array:
        told = bool(question.accept(answer))
        heard = question.slips.floor(told), question.slips.trust
        if isinstance(question, Between):
            low, high = self.space.to_unit([[question.low], [question.high]])[:, 0].tolist()
            return np.array([low, high, told, *heard])
        (along,), c = in_unit_labels(self.space, of_family(question, HalfSpace))
        return np.array([c / along, math.inf, told == (along > 0), *heard])

    def completed(self, kept: Array, columns: int) -> Array:
        honest = np.tile((HONEST.yes, HONEST.trust), (len(kept), (columns + self.width - kept.shape[1]) // 2))
        return np.hstack([kept, honest])

    def scaled(self, bits: Array, scale: float) -> Array:
        return np.column_stack([bits[:, :2] / scale, bits[:, 2:]])

    def foretold(self, scores: Array, scale: float, bits: Array) -> Array:
        wide = scale * np.array(self.temperatures)[:, None]
        above, under = (expit((scores[:, 0] - ends) / wide) for ends in bits[:, :2].T)
        return np.asarray(np.where(bits[:, 2] > 0, above - under, 1.0 - above + under))

    def of_bits(self, said: Array, bits: Array, flip: float) -> Array:
        return np.asarray(flip + (1.0 - 2.0 * flip) * (bits[:, 3] + bits[:, 4] * said))

    def as_said(self, chances: Array, bits: Array, answers: Sequence[bool]) -> Array:
        return np.where(np.asarray(answers, np.bool_), chances, 1.0 - chances)

    def slopes(self, F: Array, bits: Array, flip: float) -> Slopes:
        Q, gradient, hessian = _number_slopes(np.ascontiguousarray(F[:, 0]), np.ascontiguousarray(bits), flip)
        return Slopes(-np.log(Q), gradient[:, None], hessian[:, None])

    def logistic(self, bits: Array, flip: float) -> tuple[Array, Array] | None:
        honest = flip == 0.0 and bool((bits[:, 3:] == (HONEST.yes, HONEST.trust)).all())
        return (bits[:, 2], bits[:, 0]) if honest and bool((bits[:, 1] == math.inf).all()) else None

    def chances(self, scores: Array, scale: float, bit: Array) -> Array:
        low, high, told, floor, trust = bit.tolist()
        f = float(scores[0])
        wide = [scale * one for one in self.temperatures]
        inside = np.array(
            [_sigmoid((f - low) / s) - (_sigmoid((f - high) / s) if high < math.inf else 0) for s in wide]
        )
        return np.asarray(floor + trust * (inside if told else 1.0 - inside))


@final
@dataclass(frozen=True)
class ClassBits(BitLikelihood):
    """A bit is the chance of the answer by each class: without slips, 1 for each that it leaves; and the row's number.

    For what that is, see ``one_label``.
    """

    space: FiniteSpace
    temperatures: tuple[float, ...] = (0.5, 0.7, 1.0, 1.4)

    @property
    def outputs(self) -> int:
        return self.space.size

    @property
    def width(self) -> int:
        return self.space.size + 1

    def bit(self, question: Question, answer: Answer) -> Array:
        inside = self.space.inside(of_family(question, Subset).members, "question")
        cell = inside if question.accept(answer) else 1.0 - inside
        if not 0 < cell.sum() < len(cell):
            raise InvalidArgument("question", "about some, not all labels", str(question))
        asked = of_family(question, Subset)
        return np.append(asked.heard(inside, bool(question.accept(answer))), asked.row)

    def completed(self, kept: Array, columns: int) -> Array:
        return np.hstack([kept, np.zeros((len(kept), columns + self.width - kept.shape[1]))])

    def in_turn(self, store: Buffer, kept: int, bits: Array) -> Array:
        found, first = in_turn(bits[:, :-1], bits[:, -1]), set[float]()
        cells = store.view(kept)[:, -self.width :]
        for row in bits[:, -1].tolist():
            before = said_before(cells, store.last(kept, row)) if row and row not in first else None
            first.add(row)
            if before is not None:
                again = bits[:, -1] == row
                found[again] = [joined(before, cell) for cell in found[again]]
        return np.column_stack([found, bits[:, -1]])

    def count(self, bits: Array) -> Array:
        return are_last(bits[:, -1])

    def scaled(self, bits: Array, scale: float) -> Array:
        return bits

    def slopes(self, F: Array, bits: Array, flip: float) -> Slopes:
        p, bits = softmax(F, axis=1), bits[:, :-1]
        inside = np.maximum((p * bits).sum(axis=1, keepdims=True), _LEAST)
        Q = flip + (1 - 2 * flip) * inside
        # p - q with q = p 1_C / P(C), as much as the answer is believed.
        trust = (1 - 2 * flip) * inside / Q
        return Slopes(-np.log(Q[:, 0]), trust * (p - p * bits / inside), p * (1 - p))

    def keys(self, bits: Array) -> Array:
        return bits[:, -1]

    def foretold(self, scores: Array, scale: float, bits: Array) -> Array:
        others = together(bits[:, :-1], bits[:, -1])[1]
        said = [softmax(t * scores, axis=1) * others for t in self.temperatures]
        return np.array([one / np.maximum(one.sum(axis=1, keepdims=True), _LEAST) for one in said])

    def of_bits(self, said: Array, bits: Array, flip: float) -> Array:
        return np.asarray(flip + (1.0 - 2.0 * flip) * (said * bits[:, :-1]).sum(axis=1))

    def probabilities(self, scores: Array, shares: Array) -> Array:
        """Return p(y|x) of each row by its scores, mixed over the temperatures."""
        return _mixed(scores, shares, np.array(self.temperatures))

    def chances(self, scores: Array, scale: float, bit: Array) -> Array:
        return _chances(scores, np.array(self.temperatures), bit[:-1])


@jit
def _mixed(scores: Array, shares: Array, temperatures: Array) -> Array:
    n, m = scores.shape
    p, e = np.zeros((n, m)), np.empty(m)
    for i in range(n):
        for t in range(temperatures.shape[0]):
            share = shares[t] / _tempered(scores[i], temperatures[t], e)
            for j in range(m):
                p[i, j] += share * e[j]
    return p


@jit
def _chances(scores: Array, temperatures: Array, cell: Array) -> Array:
    out, e = np.empty(temperatures.shape[0]), np.empty(scores.shape[0])
    for t in range(temperatures.shape[0]):
        total, inside = _tempered(scores, temperatures[t], e), 0.0
        for j in range(scores.shape[0]):
            inside += e[j] * cell[j]
        out[t] = inside / total
    return out


@jit
def _tempered(scores: Array, temperature: float, e: Array) -> float:
    """Put exp(temperature (score - the largest)) of each into e, and return their sum."""
    top, total = scores[0], 0.0
    for j in range(1, scores.shape[0]):
        top = max(top, scores[j])
    for j in range(scores.shape[0]):
        e[j] = exp(temperature * (scores[j] - top))
        total += e[j]
    return total


@jit
def _number_slopes(F: Array, bits: Array, flip: float) -> tuple[Array, Array, Array]:
    """Return Q of each bit, the derivative of -log Q by the score, and Fisher's information, for numbers."""
    n, honest = len(F), 1.0 - 2.0 * flip
    Q, gradient, hessian = np.empty(n), np.empty(n), np.empty(n)
    least = _CURVED * honest * honest  # of less information, as much less
    for i in range(n):
        above = _sigmoid(F[i] - bits[i, 0])
        under = _sigmoid(F[i] - bits[i, 1]) if bits[i, 1] < np.inf else 0.0
        told, trust = bits[i, 2] > 0, bits[i, 4] * honest
        said = above - under if told else 1.0 - above + under
        slope = trust * (above * (1.0 - above) - under * (1.0 - under))
        Q[i] = max(flip + honest * bits[i, 3] + trust * said, _LEAST)
        gradient[i] = (-slope if told else slope) / Q[i]
        hessian[i] = max(slope * slope / max(Q[i] * (1.0 - Q[i]), _LEAST), least)
    return Q, gradient, hessian


@jit
def _sigmoid(z: float) -> float:
    if z < 0:
        e = exp(max(z, -700.0))
        return e / (1.0 + e)
    return 1.0 / (1.0 + exp(max(-z, -700.0)))
