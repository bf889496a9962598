"""Finite label spaces: classes, which sets of them may be asked about, and losses between them.

A label y stands in R^m as its embedding phi(y); a model predicts a point of R^m, and ``decode``
reads the label off it.  Questions are sets of labels.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common import random_table
from askone._common.lazy import compiled, decomposition
from askone._common.types import Array
from askone._common.validate import as_count, as_hidden, as_text
from askone.errors import InvalidArgument
from askone.labels.base import Discrete, Name, as_names, check_template, place_of
from askone.labels.wording import USUAL

Sets = Mapping[str, Sequence[Name]] | Sequence[Sequence[Name]] | Sequence[tuple[str, Sequence[Name]]]

MOST_SETS = 1500  # more than these are not listed but drawn for each question
_TOLERANCE = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Allowed:
    """The sets that may be asked about: one row of 0 and 1 each, and what people call them."""

    inside: Array
    titles: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.titles)

    @cached_property
    def span(self) -> Array:
        """An orthonormal basis (K x r) of all that answers can tell: the span of the sets and of 1."""
        K = self.inside.shape[1]
        rows = np.vstack([self.inside, np.ones(K)])
        _, singular, right = decomposition.svd(rows)
        basis = right[singular > _TOLERANCE * singular[0]].T
        return np.eye(K) if basis.shape[1] == K else np.asarray(basis)

    @property
    def spans(self) -> bool:
        """Whether p(y|x) follows from the probabilities of the sets."""
        return bool(self.span.shape[1] == self.inside.shape[1])

    def apart(self) -> list[list[int]]:
        """Return groups of labels that no set tells apart, if any."""
        _, group = np.unique(self.inside, axis=1, return_inverse=True)
        groups = [np.flatnonzero(group.ravel() == g).tolist() for g in range(int(group.max()) + 1)]
        return sorted(members for members in groups if len(members) > 1)


@dataclass(frozen=True)
class FiniteSpace(Discrete):
    """Labels with names, and which sets of them may be asked about."""

    names: tuple[Name, ...]
    attributes: Sets = ()
    sets: Sets = ()
    max_set_size: int | None = None
    wording: str = ""
    entries: ClassVar[int] = 1  # a label is a name

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", as_names(self.names, "names", "classes"))
        for field in ("attributes", "sets"):
            object.__setattr__(self, field, self._listed(field))
        if self.max_set_size is not None:
            as_count(self.max_set_size, "max_set_size", 1, self.size - 1)
            if self.attributes or self.sets:
                allowed = "None where attributes or sets say what may be asked"
                raise InvalidArgument("max_set_size", allowed, self.max_set_size)
        check_template(self.wording, "{set}")
        self._refuse_alike()
        together = self._groups()
        if together:
            argument = "attributes" if self.attributes else "sets"
            raise InvalidArgument(argument, "sets that tell all classes apart", f"none that tells {together}")

    @cached_property
    def size(self) -> int:
        """K, the number of labels."""
        return len(self.names)

    @cached_property
    def _index(self) -> dict[Name, int]:
        return {name: i for i, name in enumerate(self.names)}

    @property
    @abstractmethod
    def embedding(self) -> Array:
        """phi(y) of each label, K x m."""

    @abstractmethod
    def merits(self, scores: Array) -> Array:
        """Return how good each prediction is at these scores, n x K: the best is decoded."""

    def decode(self, scores: Array, rows: Array, seed: int = 0) -> Array:
        """Return the label of greatest merit."""
        return self.named(self.best(self.merits(scores), rows, seed))

    @cached_property
    def allowed(self) -> Allowed | None:
        """The sets that may be asked about; None: all of them (or see ``drawn_size``)."""
        listed: list[tuple[str, Sequence[Name]]] = [*self.attributes, *self.sets]
        if self.max_set_size is not None and self.drawn_size is None:
            listed = [("", chosen) for size in self._sizes for chosen in combinations(self.names, size)]
            # A set and its complement are one question: of two halves the one with the first class stays.
            listed = [(title, set_) for title, set_ in listed if 2 * len(set_) < self.size or self.names[0] in set_]
        if not listed:
            return None
        inside = np.array([self.inside(members) for _, members in listed])
        return Allowed(inside, tuple(title for title, _ in listed))

    @property
    def drawn_size(self) -> int | None:
        """max_set_size where its sets are too many to be listed."""
        if self.max_set_size is None:
            return None
        count = sum(math.comb(self.size, size) for size in self._sizes)
        return self.max_set_size if count > MOST_SETS else None

    @property
    def _sizes(self) -> range:
        return range(1, min(self.max_set_size or self.size, self.size // 2) + 1)

    def index(self, name: Any, argument: str = "label") -> int:
        """Return which label has this name."""
        return place_of(name, self._index, argument)

    def inside(self, members: Iterable[Any], argument: str = "label") -> Array:
        """Return 1 for each label in a set given by names, else 0: to be read, as it is kept for the next time."""
        places = tuple([self.index(name, argument) for name in members])
        found = self._insides.get(places)
        if found is None:
            found = np.zeros(self.size)
            found[list(places)] = 1.0
            found.flags.writeable = False
            if len(self._insides) >= MOST_SETS:
                self._insides.clear()
            self._insides[places] = found
        return found

    @cached_property
    def _insides(self) -> dict[tuple[int, ...], Array]:
        """Sets that were asked for: every member of a contest wants each."""
        return {}

    def labels(self, y: ArrayLike, argument: str = "y") -> Array:
        given = as_hidden(y, argument)
        if given.shape[1] != 1:
            raise InvalidArgument(argument, "one name per row", f"{given.shape[1]} per row")
        return self.named([self.index(name, argument) for name in given[:, 0].tolist()])

    def named(self, indices: Sequence[int] | Array) -> Array:
        """Return the names of labels given by their places, n x 1."""
        out = np.empty((len(indices), 1), dtype=object)
        out[:, 0] = [self.names[i] for i in indices]
        return out

    def best(self, merits: Array, rows: Array, seed: int = 0) -> Array:
        """Return the place of the greatest merit in each row; ties at random (see ``random_table.by_content``)."""
        best, spread = merits.max(axis=1, keepdims=True), np.ptp(merits, axis=1, keepdims=True)
        top = merits >= best - _TOLERANCE * spread
        choice = top.argmax(axis=1)
        tied = np.flatnonzero(top.sum(axis=1) > 1)
        if len(tied):
            lots = np.where(top[tied], random_table.by_content(np.asarray(rows)[tied], merits.shape[1], seed), -1.0)
            choice[tied] = lots.argmax(axis=1)
        return np.asarray(choice)

    def _listed(self, field: str) -> tuple[tuple[str, tuple[Name, ...]], ...]:
        given = getattr(self, field)
        if isinstance(given, str) or not np.iterable(given):
            raise InvalidArgument(field, "a list of sets of classes, or a dictionary that names them", repr(given))
        pairs = list(given.items()) if isinstance(given, Mapping) else [_titled(one) for one in given]
        if isinstance(given, Mapping) and not all(isinstance(title, str) and title.strip() for title, _ in pairs):
            raise InvalidArgument(field, "named by texts, none of them blank", list(given))
        return tuple((as_text(title, field), self._members(title, members, field)) for title, members in pairs)

    def _members(self, title: str, members: Sequence[Name], field: str) -> tuple[Name, ...]:
        if isinstance(members, str) or not np.iterable(members):
            raise InvalidArgument(field, "lists of classes", repr(members))
        chosen = [self.index(name, f"{field}[{title!r}]" if title else field) for name in members]
        if len(set(chosen)) < len(chosen) or not 0 < len(chosen) < self.size:
            reason = f"a set of 1 to {self.size - 1} different classes"
            raise InvalidArgument(f"{field}[{title!r}]" if title else field, reason, list(members))
        return tuple(self.names[i] for i in sorted(chosen))

    def _refuse_alike(self) -> None:
        """Two questions that ask the same, or read the same, are a mistake."""
        listed: list[tuple[str, Sequence[Name]]] = [*self.attributes, *self.sets]
        asked: dict[frozenset[Name], Sequence[Name]] = {}
        for _, members in listed:
            if frozenset(members) in asked:
                raise InvalidArgument("sets", "different sets, also from each other's complements", list(members))
            asked[frozenset(members)] = asked[frozenset(self.names) - frozenset(members)] = members
        titles = [attribute_sentence(title) for title, _ in listed if title]
        alone = [f"Is it {members[0]}?" for title, members in listed if not title and len(members) == 1]
        if len({*titles, *alone}) < len(titles) + len(alone):
            raise InvalidArgument("attributes", "names that make different sentences", sorted([*titles, *alone]))

    def _groups(self) -> str:
        groups = self.allowed.apart() if self.allowed is not None else []
        return "; ".join(" from ".join(repr(self.names[i]) for i in group) for group in groups)


@final
@dataclass(frozen=True)
class Classes(FiniteSpace):
    """Classes, told by sets: "Is it one of: cat, lion, caracal?".

    ``attributes`` (name: its classes), ``sets`` (a list of sets, or named ones) and
    ``max_set_size`` restrict what may be asked; a name that ends in "?" is the sentence itself.
    ``wording`` replaces "Is it one of: {set}?".

    >>> known_by = {"feline": ["cat", "caracal"], "tufted ears": ["caracal", "owl"]}
    >>> cats = Classes(("cat", "caracal", "owl"), attributes=known_by)
    >>> cats.m, cats.allowed.titles, cats.allowed.spans
    (3, ('feline', 'tufted ears'), True)
    >>> Classes(("cat", "lion", "owl"), attributes={"feline": ["cat", "lion"]})
    Traceback (most recent call last):
    askone.errors.InvalidArgument: attributes must be sets that tell all classes apart; got ... 'cat' from 'lion'
    """

    @cached_property
    def m(self) -> int:
        return self.size

    @cached_property
    def embedding(self) -> Array:
        """The simplex, e_y; if the allowed sets do not span, what they can tell of it."""
        if self.allowed is None or self.allowed.spans:
            return np.eye(self.size)
        return np.asarray(compiled.times(self.allowed.span, self.allowed.span.T))

    def merits(self, scores: Array) -> Array:
        """Return z_y (nearness to each embedding, <z, phi_y> - |phi_y|^2 / 2, if the allowed sets do not span)."""
        return np.asarray(scores @ self.embedding.T - 0.5 * np.sum(self.embedding**2, axis=1))


@final
@dataclass(frozen=True)
class Finite(FiniteSpace):
    """Any finite set of labels with a loss: ``loss[z][y]`` is the cost of predicting z where y is true.

    The consistent least-squares surrogate: phi(y) is the column y of the loss matrix (up to what
    does not change the decision, in as few dimensions as its rank allows), and a point of R^m is
    decoded by the least expected loss.

    >>> fruit = Finite(("ripe", "rotten"), loss=[[0, 10], [1, 0]])     # selling rotten fruit is dear
    >>> fruit.m, fruit.decode(np.array([0.8, 0.2]) @ fruit.embedding[None], np.zeros((1, 1))).tolist()
    (1, [['rotten']])
    """

    loss: Any = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            matrix = np.array(self.loss, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        if matrix.shape != (self.size, self.size) or not np.isfinite(matrix).all():
            allowed = f"a {self.size} x {self.size} matrix of finite numbers, loss[predicted][true]"
            raise InvalidArgument("loss", allowed, f"shape {matrix.shape}" if matrix.size else repr(self.loss))
        object.__setattr__(self, "loss", tuple(tuple(row) for row in matrix.tolist()))
        if np.ptp(matrix, axis=0).max() == 0:
            raise InvalidArgument("loss", "a matrix in which predictions differ", "equal rows")
        if self.allowed is not None and not self.allowed.spans:
            raise InvalidArgument("sets", "sets that span, where there is a loss: expected losses need p(y|x)", "fewer")

    @cached_property
    def matrix(self) -> Array:
        """The loss as an array."""
        return np.array(self.loss)

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """(A, Phi) with loss[z, y] = <A_z, phi_y> up to what depends on y alone; all |phi_y - mean| <= 1."""
        left, singular, right = decomposition.svd(self.matrix - self.matrix.mean(axis=0))
        rank = int((singular > _TOLERANCE * singular[0]).sum())
        points = (right[:rank] * singular[:rank, None]).T
        stretch = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
        if stretch <= _TOLERANCE * float(np.abs(points).max()):  # one prediction is the best for every label
            stretch = 1.0
        return left[:, :rank] * stretch, points / stretch

    @cached_property
    def m(self) -> int:
        """The rank of the loss."""
        return int(self.embedding.shape[1])

    @cached_property
    def embedding(self) -> Array:
        return self._factors[1]

    def merits(self, scores: Array) -> Array:
        """Less the expected loss of each prediction, up to a constant."""
        return np.asarray(-scores @ self._factors[0].T)


def attribute_sentence(title: str) -> str:
    """Return an attribute as a question: a sentence as it stands, "Is it feline?", "Does it have tufted ears?".

    One word that does not end in s is taken for an adjective.

    >>> attribute_sentence("Can it fly?"), attribute_sentence("whiskers"), attribute_sentence("feline")
    ('Can it fly?', 'Does it have whiskers?', 'Is it feline?')
    """
    return attribute_template(title).replace("{title}", title)


def attribute_template(title: str) -> str:
    """Return the sentence of an attribute, with {title} where it is put into one."""
    noun = " " in title or title.endswith("s")
    return title if title.endswith("?") else USUAL["noun" if noun else "adjective"]


def _titled(one: Any) -> tuple[str, Sequence[Name]]:
    """Return a set in a list: alone, or with its title as it was stored."""
    stored = (
        isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], tuple | list)
    )
    return (one[0], one[1]) if stored else ("", one)
