"""Texts as sparse terms: a word, a pair of words, or (without blanks between words) one to three characters.

A term t of a text weighs (1 + ln tf) idf, with tf how often it is in the text and idf = 1 + ln((1 + n) / (1 + df)),
where df of the n texts have it; the weights of a text have length 1.

>>> part, = fit_texts(["note"], [{"note": "good wine"}, {"note": "good, good bread"}, {"note": "bad wine"}])
>>> part.terms
('good', 'wine', ',', ', good', 'bad', 'bad wine', 'bread', 'good ,', 'good bread', 'good wine')
>>> {part.terms[place]: round(weight, 2) for place, weight in part.weighed("Good good wine")}
{'good': 0.72, 'wine': 0.42, 'good wine': 0.56}
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from askone._common import random_table
from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.encoding.base import Part

if TYPE_CHECKING:
    from sklearn.feature_extraction import text
else:
    text = lazy_import("sklearn.feature_extraction.text")

TERMS: Final = 20_000  # of all texts of a table together
PAIRS: Final = 256  # terms of one row, at most
LONG: Final = 10_000  # characters of a text that are read
_LONGEST_TERM: Final = 100
_ENOUGH: Final = 200  # texts from which a term that only one of them has is left out
_COUNTED: Final = 300_000  # terms counted at a time
_HASHED, _HASHES = 64, 4096

# Signs tell as much as words do: "!", ":", or a smiling face.
_WORD: Final = re.compile(r"\w\w+|[^\w\s]")
_BLANKS: Final = re.compile(r"\s+")
# Thai, Lao, Tibetan, Burmese, Khmer, kana and Han letters: none of them has blanks between words.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LETTER: Final = re.compile(r"[^\W\d_]")
_LONG_WORD: Final = 25  # letters; words are shorter on average in languages that have blanks
# 1 + ln tf and idf are rounded, as logarithms may differ in the last digit from machine to machine.
_DIGITS: Final = 6
_TIMES: Final = (0.0, *(round(1.0 + math.log(times), _DIGITS) for times in range(1, 100)))


def terms_of(content: Any, characters: bool) -> list[str]:
    """Return the terms of a text, again and again where they come again.

    >>> terms_of("The wine is good!", False)
    ['the', 'wine', 'is', 'good', '!', 'the wine', 'wine is', 'is good', 'good !']
    >>> terms_of("好酒", True)
    ['好', '酒', '好酒']
    """
    if content is None:
        return []
    plain = str(content)[:LONG].lower()
    if not characters:
        words = _WORD.findall(plain)
        return [*words, *[f"{one} {other}" for one, other in pairwise(words)]]
    plain = _BLANKS.sub(" ", plain).strip()
    return [plain[i : i + size] for size in (1, 2, 3) for i in range(len(plain) - size + 1)]


@final
@dataclass(frozen=True)
class TermsPart(Part):
    """A text, by its terms: it has no dense numbers."""

    column: str
    characters: bool
    terms: tuple[str, ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "terms"
    names: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: place for place, term in enumerate(self.terms)}

    def encode(self, cells: Sequence[Any]) -> Array:
        return np.empty((len(cells), 0), dtype=np.float32)

    def weighed(self, content: Any) -> list[tuple[int, float]]:
        """Return the terms of a text by place, with their weights, which have length 1."""
        places, weights = self._places, self.weights
        known = [place for term in terms_of(content, self.characters) if (place := places.get(term)) is not None]
        counts = Counter(known)
        return with_length_1([(place, _TIMES[min(counts[place], 99)] * weights[place]) for place in sorted(counts)])


def with_length_1(weights: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the weights divided by their Euclidean length."""
    length = math.sqrt(sum(weight * weight for _, weight in weights))
    return [(place, weight / length) for place, weight in weights]


@final
class TermCounts:
    """How many of the texts of a column have each term; rare ones are forgotten where there are very many."""

    def __init__(self, column: str, characters: bool) -> None:
        self.column, self.characters = column, characters
        self.texts, self.counts = 0, Counter[str]()

    def add(self, cells: Iterable[Any]) -> None:
        """Count the terms of some texts."""
        for cell in cells:
            terms = set(terms_of(cell, self.characters))
            self.texts += bool(terms)
            self.counts.update(terms)
            few = 1
            while len(self.counts) > _COUNTED:
                self.counts = Counter({term: count for term, count in self.counts.items() if count > few})
                few *= 2

    def frequent(self) -> list[tuple[int, str]]:
        """Return terms with how many texts have them, of all that are frequent enough."""
        least = 2 if self.texts >= _ENOUGH else 1
        return [(n, term) for term, n in self.counts.items() if n >= least and len(term) <= _LONGEST_TERM]

    def part(self, terms: Iterable[tuple[int, str]]) -> TermsPart:
        """Return the part that reads these terms, the most frequent first."""
        found = sorted(terms, key=lambda one: (-one[0], one[1]))
        weights = (round(1.0 + math.log((1 + self.texts) / (1 + count)), _DIGITS) for count, _ in found)
        return TermsPart(self.column, self.characters, tuple(term for _, term in found), tuple(weights))


def fit_texts(
    columns: Sequence[str], sample: Sequence[Mapping[str, Any]], rows: Iterable[Sequence[Mapping[str, Any]]] = ()
) -> list[TermsPart]:
    """Return the parts of columns of texts: from a sample how they are read, from all rows (or it) their terms."""
    counts = [TermCounts(name, is_unspaced([row.get(name) for row in sample])) for name in columns]
    seen = False
    for chunk in rows if columns else ():
        seen = True
        for one in counts:
            one.add(row.get(one.column) for row in chunk)
    if not seen:
        for one in counts:
            one.add(row.get(one.column) for row in sample)
    found = [(n, place, term) for place, one in enumerate(counts) for n, term in one.frequent()]
    kept = sorted(found, key=lambda one: (-one[0], one[2], one[1]))[:TERMS]
    return [one.part((n, term) for n, which, term in kept if which == place) for place, one in enumerate(counts)]


def is_unspaced(cells: Sequence[Any]) -> bool:
    """Return whether words have no blanks between them: by their script, or as they are too long.

    >>> is_unspaced(["ワインは良いです"]), is_unspaced(["a good wine"]), is_unspaced([])
    (True, False, False)
    """
    texts = [str(cell)[:1000] for cell in cells if cell is not None]
    letters = sum(len(_LETTER.findall(one)) for one in texts)
    words = sum(len(one.split()) for one in texts)
    return 4 * sum(len(_UNSPACED.findall(one)) for one in texts) > max(1, letters) or letters > _LONG_WORD * words


def pairs_needed(parts: Sequence[TermsPart], sample: Sequence[Mapping[str, Any]]) -> int:
    """Return how many terms a row holds: enough for 99 of 100 rows, and at most 256."""
    if not parts:
        return 0
    found = [sum(len(part.weighed(row.get(part.column))) for part in parts) for row in sample]
    return max(1, min(PAIRS, int(np.quantile(found, 0.99, method="higher")))) if found else 1


def packed_terms(parts: Sequence[TermsPart], cells: Sequence[Sequence[Any]], pairs: int) -> Array:
    """Return the terms of texts in rows of ``pairs`` places, which begin with 1, and as many weights, float32.

    ``cells`` are those of each part.  Of more terms the weightiest are kept.
    """
    offsets = np.cumsum([0, *(len(part.terms) for part in parts)]).tolist()
    out = np.zeros((len(cells[0]) if cells else 0, 2 * pairs), dtype=np.float32)
    for row, contents in enumerate(zip(*cells, strict=True)):
        found = [part.weighed(content) for part, content in zip(parts, contents, strict=True)]
        if sum(map(len, found)) > pairs:
            found = _weightiest(found, pairs)
        terms = [offset + place + 1 for offset, one in zip(offsets, found, strict=False) for place, _ in one]
        out[row, : len(terms)] = terms
        out[row, pairs : pairs + len(terms)] = [weight for one in found for _, weight in one]
    return out


def _weightiest(found: Sequence[Sequence[tuple[int, float]]], most: int) -> list[list[tuple[int, float]]]:
    ranked = sorted((-weight, which, place) for which, one in enumerate(found) for place, weight in one)
    kept = {(which, place) for _, which, place in ranked[:most]}
    return [with_length_1([one for one in ones if (which, one[0]) in kept]) for which, ones in enumerate(found)]


@final
@dataclass(frozen=True)
class HashedTextPart(Part):
    """A text as 64 numbers h R, with h its hashed words (length 1) and R random signs / 8: of older campaigns."""

    column: str
    kind: ClassVar[str] = "text"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}: words {place}" for place in range(_HASHED))

    def encode(self, cells: Sequence[Any]) -> Array:
        texts = ["" if cell is None else str(cell)[:LONG] for cell in cells]
        return np.asarray(_vectorizer().transform(texts) @ _signs())


@lru_cache(maxsize=1)
def _vectorizer() -> Any:
    return text.HashingVectorizer(token_pattern=r"(?u)\w+", n_features=_HASHES, norm="l2", dtype=np.float32)


@lru_cache(maxsize=1)
def _signs() -> Array:
    uniform = random_table.uniforms(0, 0, _HASHES, _HASHED)
    return np.where(uniform < 0.5, -1.0, 1.0).astype(np.float32) / np.float32(math.sqrt(_HASHED))
