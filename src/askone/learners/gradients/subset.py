"""Classes, set questions: what to ask at the scores z, what the bit teaches.

==========  ===========  ===========================================  ==============================
loss        family       question                                     E[G | Y = y]
==========  ===========  ===========================================  ==============================
median      sphere       {y : <phi_y, u> > <z, u>}, u on the sphere   (z - phi_y) / |z - phi_y|
median      coordinates  {k}, k uniform                               sign(z - e_y): the l1 loss!
any         singletons   {k}, k drawn by importance                   the loss's gradient
any         designed     an allowed set (see ``designs``)             the loss's gradient
median      passive      a balanced random set                        that of the infimum loss
any         full         the label                                    the loss's gradient
==========  ===========  ===========================================  ==============================

``coordinates`` is the paper's "median surrogate with coordinates".  It minimises the l1 loss, whose
minimiser is 1{p_y > 1/2}: where no class has a majority it learns nothing.  It is here to be
compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone import theory
from askone._common.arithmetic import logs, normal_quantiles
from askone._common.compiled import times
from askone._common.decomposition import svd
from askone._common.types import Array
from askone._common.validate import as_choice, as_count
from askone.errors import InvalidArgument, incompatible
from askone.labels.classes import Allowed, FiniteSpace
from askone.labels.losses import Loss, Median, Squared
from askone.learners.base import of_family
from askone.learners.gradients._set_design import best_design
from askone.learners.gradients._set_strategy import EXPLORE, SetStrategy, need_singletons
from askone.questions.base import Answer, Question
from askone.questions.reveal import Reveal
from askone.questions.subset import Subset

_DIRECTIONS = 4
_CANDIDATES = 32
_SPREAD = 0.05
_MANY = 30


@final
@dataclass(frozen=True)
class Sphere(SetStrategy):
    """Algorithm 1: a direction u on the sphere splits the classes at the prediction; the *set* is asked.

    u lies in the subspace that the embeddings span around their middle (K - 1 dimensions for K
    classes), so no direction is spent on what all classes have in common, and c2 is that of K - 1.
    Where z has left the hull of the classes, a direction may leave them all on one side: its bit is
    known, and nobody is asked.  So ``directions`` are drawn; those whose bit is known enter G by their
    share, one of the others is asked for all of them:

        G = (1/n) sum_known +-u_i / c2  +  (share of the others) (-+ u_k / c2).

    >>> from askone.labels.classes import Classes
    >>> strategy = Sphere(Classes(("cat", "lion", "caracal")))
    >>> strategy.bound(3)                     # 1/c2(2) = pi/2
    1.5707963267948966
    """

    space: FiniteSpace
    loss: Median = Median()
    directions: int = _DIRECTIONS
    family: ClassVar[str] = "sphere"
    late: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.directions, "directions", 1)

    @cached_property
    def _projector(self) -> Array:
        centred = self.space.embedding - self.space.embedding.mean(axis=0)
        _, singular, right = svd(centred)
        basis = right[singular > 1e-9 * singular[0]]
        return times(basis.T, basis)

    @cached_property
    def _c2(self) -> float:
        return theory.c2(round(float(np.trace(self._projector))))

    @property
    def width(self) -> int:
        """Normals for the directions, and which of them is asked."""
        return self.directions * self.space.m + 1

    def bound(self, m: int) -> float:
        return 1.0 / self._c2

    def ask(self, z: Array, uniform: Array, learnt: int) -> Subset:
        return self.ask_among(z, uniform, learnt, np.ones(self.space.size, dtype=np.bool_))

    def ask_among(self, z: Array, uniform: Array, learnt: int, left: Array) -> Subset:
        """Return a question about a row whose label is known to be among those ``left``."""
        normals = times(normal_quantiles(uniform[:-1]).reshape(self.directions, -1), self._projector)
        U = normals / np.linalg.norm(normals, axis=1, keepdims=True) / self._c2
        above = (times(self.space.embedding - z, U.T) > 0) & left[:, None]
        count = above.sum(axis=0)
        known = (count == 0) | (count == left.sum())
        drift = times(np.where(count == 0, 1.0, -1.0)[known], U[known]) / self.directions
        open_ = np.flatnonzero(~known)
        if len(open_) == 0:  # all is known at z: the answer is heard and changes nothing
            first = np.arange(self.space.size) == left.argmax()
            return self._put(first, left, drift, np.zeros_like(drift), learnt)
        chosen = open_[int(uniform[-1] * len(open_))]
        return self._put(above[:, chosen], left, drift, U[chosen] * (len(open_) / self.directions), learnt)

    def _put(self, inside: Array, left: Array, drift: Array, step: Array, learnt: int) -> Subset:
        if 2 * inside.sum() > left.sum():  # the smaller side is the one to read
            inside, step = left & ~inside, -step
        yes, no = tuple((drift - step).tolist()), tuple((drift + step).tolist())
        return self.about(inside, yes=yes, no=no, learnt=learnt)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return what the question carries."""
        lesson = of_family(question, Subset).yes if answer else of_family(question, Subset).no
        if len(lesson) != len(z):
            raise InvalidArgument("question", f"one that carries {len(z)} numbers for each answer", len(lesson))
        return np.array(lesson)


@final
@dataclass(frozen=True)
class Coordinates(SetStrategy):
    """The paper's passive variant: one class at random, "is it k?", as the sign of z_k - 1{Y = k}.

    Unbiased for the l1 loss |z - e_y|_1, *not* for the median; see the module.
    """

    space: FiniteSpace
    loss: Median = Median()
    family: ClassVar[str] = "coordinates"
    unbiased: ClassVar[bool] = False
    width: ClassVar[int] = 1  # which class

    def __post_init__(self) -> None:
        super().__post_init__()
        need_singletons(self.space, self.family)

    def bound(self, m: int) -> float:
        """Return K: one coordinate stands for all."""
        return float(m)

    def ask(self, z: Array, uniform: Array, learnt: int) -> Subset:
        inside = np.zeros(self.space.size)
        inside[int(uniform[0] * self.space.size)] = 1.0
        return self.about(inside, probability=1.0 / self.space.size, learnt=learnt)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return K sign(z_k - 1{Y = k}) e_k."""
        k = self.place(of_family(question, Subset))
        gradient = np.zeros(len(z))
        sign = 1.0 if z[k] >= float(bool(answer)) else -1.0
        gradient[k] = sign / of_family(question, Subset).probability
        return gradient


@final
@dataclass(frozen=True)
class Singletons(SetStrategy):
    """One class drawn by importance, "is it k?", for any surrogate.

        median:             G = h + 1{Y = k} (g_k - h) / pi_k,        pi_k ~ sqrt(p_k) |g_k - h|
        squared, logistic:  G = g_p - (1{Y = k} - p_k) phi_k / pi_k,  pi_k ~ sqrt(p_k (1 - p_k)) |phi_k|

    where p is a working model, h = sum_y p_y g_y, and g_p the gradient at the mean of p.  The question
    keeps pi_k; p and h are those of the day the answer comes, so late answers are not stale.
    """

    space: FiniteSpace
    loss: Loss = Median()
    family: ClassVar[str] = "singletons"
    width: ClassVar[int] = 1  # which class

    def __post_init__(self) -> None:
        super().__post_init__()
        need_singletons(self.space, self.family)

    def bound(self, m: int) -> float:
        """Return sqrt(K): typical of |G|, which has no bound."""
        return float(np.sqrt(self.space.size))

    def ask(self, z: Array, uniform: Array, learnt: int) -> Subset:
        pi = self.importance(z)
        k = min(int(np.searchsorted(np.cumsum(pi), uniform[0])), self.space.size - 1)
        return self.about(np.eye(self.space.size)[k], probability=float(pi[k]), learnt=learnt)

    def importance(self, z: Array) -> Array:
        """Return pi_k, with a share for every class."""
        p = self.working_model(z)
        if isinstance(self.loss, Median):
            g = self.gradients(z)
            weight = np.sqrt(p) * np.linalg.norm(g - times(p, g), axis=1)
        else:
            weight = np.sqrt(p * (1 - p)) * np.linalg.norm(self.space.embedding, axis=1)
        total = float(weight.sum())
        weight = weight / total if total > 0 else np.full(len(p), 1 / len(p))
        return np.asarray((1 - EXPLORE) * weight + EXPLORE / self.space.size)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        k, pi = self.place(of_family(question, Subset)), of_family(question, Subset).probability
        p, g = self.working_model(z), self.gradients(z)
        if isinstance(self.loss, Median):
            h = times(p, g)
            return np.asarray(h + float(bool(answer)) * (g[k] - h) / pi)
        return np.asarray(times(p, g) - (float(bool(answer)) - p[k]) / pi * self.space.embedding[k])


@final
@dataclass(frozen=True)
class Designed(SetStrategy):
    """Only allowed sets are asked, by the design of least second moment; any surrogate.

    If the sets tell all classes apart but do not span (three attributes for eight classes), p(y|x)
    does not follow from answers about them: then least squares learns the projection of e_y on what
    they do tell, which decodes rightly where one class is all but certain.
    """

    space: FiniteSpace
    loss: Loss = Median()
    family: ClassVar[str] = "designed"

    @property
    def width(self) -> int:
        """Which set; before that, where sets are too many to be listed, which candidates."""
        return 1 + (_CANDIDATES * self.space.size if self._drawn else 0)

    @cached_property
    def _drawn(self) -> int | None:
        return self.space.drawn_size

    def bound(self, m: int) -> float:
        """Return sqrt(K): typical of |G|, which has no bound."""
        return float(np.sqrt(self.space.size))

    def ask(self, z: Array, uniform: Array, learnt: int) -> Subset:
        """Return a set drawn from the design at z, with the pseudo-label of each answer."""
        p = self.working_model(z)
        sets = self._sets(p, uniform[:-1])
        # An update costs K^3.  For K = 40 and 100 the second moment is 15 to 25 % above the best without one,
        # 4 to 5 % (at most 7.5 %) after one, 1 to 2 % after four: for many classes one has to do.
        updates = 4 if self.space.size <= _MANY else 1
        design = best_design(sets.inside, p, self.gradients(z), sets.span, updates, _SPREAD)
        which = min(int(np.searchsorted(np.cumsum(design.q), uniform[-1])), len(sets) - 1)
        yes, no = (tuple(w.tolist()) for w in design.pseudo_labels(which))
        drawn = {"probability": float(design.q[which]), "title": sets.titles[which], "learnt": learnt}
        return self.about(sets.inside[which], yes=yes, no=no, **drawn)

    def _sets(self, p: Array, uniform: Array) -> Allowed:
        if self._drawn:
            return _candidates(p, uniform.reshape(_CANDIDATES, -1), self._drawn)
        size = self.space.size
        return self.space.allowed or Allowed(np.eye(size), ("",) * size)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return sum_y w_y g_y(z) with the w that the question carries (z - Phi^T w for least squares)."""
        lesson = of_family(question, Subset).yes if answer else of_family(question, Subset).no
        if len(lesson) != self.space.size:
            raise InvalidArgument("question", f"one that carries {self.space.size} weights", len(lesson))
        w = np.array(lesson)
        if isinstance(self.loss, Squared):
            return np.asarray(z - times(w, self.space.embedding))
        return times(w, self.gradients(z))


@final
@dataclass(frozen=True)
class Passive(SetStrategy):
    """The passive baseline: balanced random sets, learnt by the infimum loss.

        G = (z - phi_k) / |z - phi_k|,   k = the best scored label among those the answer leaves.

    Not unbiased for the median; in the noiseless case it has the same minimiser.
    """

    space: FiniteSpace
    loss: Median = Median()
    family: ClassVar[str] = "passive"
    unbiased: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """A coin for each label, or which allowed set."""
        return 1 if self.space.allowed is not None else self.space.size + 1

    def ask(self, z: Array, uniform: Array, learnt: int) -> Subset:
        """Return a set that does not look at z."""
        allowed = self.space.allowed
        if allowed is not None:
            which = int(uniform[0] * len(allowed))
            return self.about(allowed.inside[which], title=allowed.titles[which], learnt=learnt)
        inside = uniform[:-1] < 0.5
        if self.space.drawn_size is not None:  # as many as may be asked, any of them
            inside = np.argsort(np.argsort(uniform[:-1])) < self.space.drawn_size
        if inside.all() or not inside.any():  # trivial sets are never asked
            inside = np.arange(self.space.size) == int(uniform[-1] * self.space.size)
        return self.about(inside if 2 * inside.sum() <= self.space.size else ~inside, learnt=learnt)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        inside = self.space.inside(of_family(question, Subset).members, "question") > 0
        left = inside if answer else ~inside
        if not left.any():
            raise InvalidArgument("question", "about some, not all labels", str(question))
        distance = np.sum((self.space.embedding - z) ** 2, axis=1)
        return np.asarray(self.gradients(z)[int(np.where(left, distance, np.inf).argmin())])


@final
@dataclass(frozen=True)
class FullLabel(SetStrategy):
    """The supervised baseline: the label is asked for by name."""

    space: FiniteSpace
    loss: Loss = Median()
    family: ClassVar[str] = "full"
    width: ClassVar[int] = 0  # nothing is drawn

    def ask(self, z: Array, uniform: Array, learnt: int) -> Reveal:
        return Reveal(1, names=self.space.names)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        if not isinstance(question, Reveal) or isinstance(answer, bool):
            raise InvalidArgument("question", "a Reveal", type(question).__name__)
        return np.asarray(self.gradients(z)[self.space.index(answer[0], "answer")])


SET_PAIRS: dict[tuple[str, str], type[SetStrategy]] = {
    ("median", "sphere"): Sphere,
    ("median", "coordinates"): Coordinates,
    **{(loss, "singletons"): Singletons for loss in ("median", "squared", "logistic")},
    **{(loss, "designed"): Designed for loss in ("median", "squared", "logistic")},
    ("median", "passive"): Passive,
    **{(loss, "full"): FullLabel for loss in ("median", "squared", "logistic")},
}
SET_FAMILIES = tuple(dict.fromkeys(family for _, family in SET_PAIRS))


def set_strategy(space: FiniteSpace, loss: Loss, family: str) -> SetStrategy:
    """Return the strategy of a surrogate and a question family; refused here if they do not fit.

    >>> from askone.labels.classes import Classes
    >>> from askone.labels.losses import Logistic
    >>> set_strategy(Classes(("cat", "lion")), Median(), "sphere").family
    'sphere'
    >>> set_strategy(Classes(("cat", "lion")), Logistic(), "sphere")
    Traceback (most recent call last):
    askone.errors.IncompatibleParts: loss must be one of: 'median' ('sphere' questions); got logistic
    """
    as_choice(family, "questions", SET_FAMILIES)
    found = SET_PAIRS.get((loss.name, family))
    if found is None:
        raise incompatible(
            "loss", loss.name, f"{family!r} questions", [name for name, fam in SET_PAIRS if fam == family]
        )
    restricted = space.allowed is not None or space.drawn_size is not None
    if restricted and family == "sphere":
        raise incompatible("questions", family, "only some sets may be asked", ["designed", "passive", "full"])
    return found(space=space, loss=loss)  # type: ignore[call-arg]  # every one is a dataclass with these


def _candidates(p: Array, uniform: Array, most: int) -> Allowed:
    """Return all single classes, and small sets drawn by sqrt(p) that add classes while their mass nears 1/2."""
    K = len(p)
    noise = logs(-logs(np.ravel(uniform))).reshape(uniform.shape)
    keys = 0.5 * logs(p) - noise  # Gumbel: the order in which classes would be drawn
    order = np.argsort(-keys, axis=1)[:, :most]
    masses = np.cumsum(p[order], axis=1)
    sizes = 1 + np.argmin(np.abs(masses - 0.5), axis=1)
    inside = np.zeros((len(order), K))
    for row, chosen, size in zip(inside, order, sizes, strict=True):
        row[chosen[:size]] = 1.0
    inside = np.unique(np.vstack([np.eye(K), inside]), axis=0)
    return Allowed(inside, ("",) * len(inside))
