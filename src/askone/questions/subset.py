"""Questions about classes: is the label in this set?"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array, Record
from askone._common.validate import as_number, as_text
from askone.errors import InvalidArgument
from askone.labels.base import Name, check_template
from askone.labels.classes import attribute_sentence, attribute_template
from askone.labels.wording import USUAL
from askone.questions.base import FORMAT, HONEST, ErrorRates, YesNo, listed

LONGEST = 12  # more names than these are not read in a sentence
_SHOWN = 6
_ARTICLE = re.compile(r"\ban? \{set\}")
_SPOKEN = re.compile(r"(?!uni|eu|use|one\b|once)[aeiou]|hour|heir|hono|honest", re.IGNORECASE)  # begins like a vowel


@final
@dataclass(frozen=True)
class Subset(YesNo):
    """Is the label one of ``members``?

    ``row`` is the number of a row that has a key (``of_row``), and ``confused`` the chance of a yes by each class,
    where it is known how whoever answers takes one class for another.

    ``title`` is what the set is called, where it has a name; ``probability`` is the one it was
    drawn with; ``yes`` and ``no`` are what each answer teaches, in the terms of the strategy that
    asked (gradients, or weights of the classes), so that an answer can be learnt from without asking
    again.

    >>> str(Subset(("cat", "lion", "caracal"))), Subset(("cat", "lion")).holds("owl")
    ('Is it one of: cat, lion, caracal?', False)
    >>> str(Subset(("caracal", "owl"), title="tufted ears")), str(Subset(("cat", "lion"), title="feline"))
    ('Does it have tufted ears?', 'Is it feline?')

    A wording with an article has one before each name:

    >>> str(Subset(("circle", "oval"), wording="Is it a {set}?")), str(Subset(("oval",), wording="Is it a {set}?"))
    ('Is it a circle or an oval?', 'Is it an oval?')
    """

    members: tuple[Name, ...]
    title: str = ""
    probability: float = 1.0
    yes: tuple[float, ...] = ()
    no: tuple[float, ...] = ()
    number: int | None = None
    learnt: int | None = None
    wording: str = ""
    slips: ErrorRates = field(default=HONEST, compare=False, repr=False)
    row: int = field(default=0, compare=False, repr=False)
    confused: tuple[float, ...] = field(default=(), compare=False, repr=False)
    kind: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        if not isinstance(self.members, tuple | list):
            raise InvalidArgument("members", "a list of classes", repr(self.members))
        object.__setattr__(self, "members", tuple(self.members))
        if not all(isinstance(name, str | int | float) for name in self.members):
            raise InvalidArgument("members", "names of classes", list(self.members))
        if not self.members or len(set(self.members)) < len(self.members):
            raise InvalidArgument("members", "at least one class, none twice", list(self.members))
        as_text(self.title, "title")
        check_template(self.wording, "{set}")
        as_number(self.probability, "probability", 0.0, 1.0 + 1e-9, strict=True)
        for name, lesson in (("yes", self.yes), ("no", self.no)):
            if not all(isinstance(number, float | int) and math.isfinite(number) for number in lesson):
                raise InvalidArgument(name, "finite numbers", lesson)

    def __str__(self) -> str:
        if self.title:
            return attribute_sentence(self.title)
        return self.template.format(set=self._set()) if self.template else self._with_articles()

    @property
    def template(self) -> str:
        """The sentence with a place for the {set} or its {title}; empty where each name has an article."""
        if self.title:
            return attribute_template(self.title)
        if not self.wording:
            return USUAL["one" if len(self.members) == 1 else "several"]
        return "" if _ARTICLE.search(self.wording) and len(self.members) <= LONGEST else self.wording

    def _with_articles(self) -> str:
        """Return the wording with "a" or "an" before each member."""
        *first, last = [f"{'an' if _SPOKEN.match(str(name)) else 'a'} {name}" for name in self.members]
        named = f"{', '.join(first)} or {last}" if first else last
        return _ARTICLE.sub("{set}", self.wording).format(set=named)

    def _set(self) -> str:
        """Return the members; beyond a dozen the first of them, how many more, and the list's own mark."""
        if len(self.members) <= LONGEST:
            return listed(self.members)
        mark = hashlib.blake2b(json.dumps(self.members).encode(), digest_size=6).hexdigest()
        return f"{listed(self.members, _SHOWN)}, … ({len(self.members) - _SHOWN} more, list {mark})"

    def holds(self, label: ArrayLike) -> bool:
        """Return whether the label is in the set."""
        names = np.asarray(label, dtype=object).reshape(-1).tolist()
        if len(names) != 1:
            raise InvalidArgument("label", "one name", names)
        return names[0] in self.members

    def of_row(self, key: int | str) -> Subset:
        """Return the same question about a row with this key, as a number that a float holds exactly."""
        named = hashlib.blake2b(repr(key).encode(), digest_size=6).digest()
        return self.like(row=1 + int.from_bytes(named))

    def put_to(self, slips: ErrorRates, confused: tuple[float, ...] = (), row: int | None = None) -> Subset:
        return self.like(slips=slips, confused=confused, row=self.row if row is None else row)

    def heard(self, inside: Array, answer: bool, flip: float = 0.0) -> Array:
        """Return the chance of an answer by each class, with ``inside`` 1 for those of the set.

        >>> owl = Subset(("cat", "lion")).put_to(ErrorRates(0.2, 0.1))
        >>> owl.heard(np.array([1.0, 1.0, 0.0]), True).round(3).tolist()
        [0.9, 0.9, 0.2]
        """
        if self.confused:
            yes = flip + (1.0 - 2.0 * flip) * np.array(self.confused)
            return yes if answer else 1.0 - yes
        honest = inside if answer else 1.0 - inside
        return np.asarray(flip + (1.0 - 2.0 * flip) * (self.slips.floor(answer) + self.slips.trust * honest))

    def to_json(self) -> Record:
        lists = {"members": list(self.members), "yes": list(self.yes), "no": list(self.no)}
        texts = {"title": self.title, "wording": self.wording}
        numbers = {"probability": self.probability, "number": self.number, "learnt": self.learnt}
        return {"format": FORMAT, "kind": self.kind, **lists, **texts, **numbers}

    @classmethod
    def from_json(cls, record: Record) -> Subset:
        members, yes, no = (tuple(record[field]) for field in ("members", "yes", "no"))
        numbers = (record["number"], record["learnt"])
        return cls(members, record["title"], record["probability"], yes, no, *numbers, record["wording"])
