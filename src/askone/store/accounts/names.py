"""Names of people: which are allowed, and which look alike.

A name is kept in Unicode's form NFKC.  It has no character that cannot be seen or that turns the direction of writing,
and its letters are of one alphabet, as in Unicode's "highly restrictive" level (UTS 39); Latin letters may stand among
Chinese, Japanese and Korean ones.  Two names are the same if they differ in case alone, or in letters that look alike:
Cyrillic, Greek and Armenian ones like Latin ones, and 0 like o, 1 and l like i.  That is a small table, not all of
Unicode's: it knows the alphabets that people mix up.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from askone.errors import InvalidArgument

FORGOTTEN: Final = "forgotten"
"""How pseudonyms begin: names that people choose do not."""
LONGEST: Final = 100
"""Characters of a name."""
# Control, format and private characters, surrogates, unassigned ones, separators of lines and paragraphs.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
# Letters and marks that show nothing: joiners, fillers, variation selectors, a pattern of Braille without dots.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_EAST_ASIAN: Final = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
# Cyrillic, Greek, Armenian and odd Latin letters, 0 and 1, by what they look like, small or as capitals.
_DOUBLES: Final = {
    "a": "аαɑ", "b": "вьβ", "c": "с", "d": "ԁ", "e": "еε", "g": "ɡց", "h": "һнηհ", "i": "іӏιlıɩ1|", "j": "ј", "k": "кκ",
    "m": "мμ", "n": "ո", "o": "оοօ0", "p": "рρ", "q": "ԛ", "r": "г", "s": "ѕ", "t": "тτ", "u": "υս", "v": "ѵν",
    "w": "ԝω", "x": "хχ", "y": "уγ", "z": "ζ",
}  # fmt: skip
_LATIN: Final = str.maketrans({other: letter for letter, others in _DOUBLES.items() for other in others})


def valid_name(name: str) -> str:
    """Return a name as it is kept.

    >>> valid_name(" Ann\u3000Lee"), valid_name("山田 Taro")
    ('Ann Lee', '山田 Taro')
    >>> valid_name("p\u0430ul")
    Traceback (most recent call last):
    ...
    askone.errors.InvalidArgument: name must be in letters of one alphabet; got CYRILLIC, LATIN
    """
    kept = " ".join(unicodedata.normalize("NFKC", name).split())
    if not 0 < len(kept) <= LONGEST:
        raise InvalidArgument("name", f"of 1 to {LONGEST} characters", f"{len(kept)} characters")
    if any(unicodedata.category(one) in _UNSEEN or one in _BLANK for one in kept):
        raise InvalidArgument("name", "without characters that cannot be seen or turn the writing round", ascii(kept))
    alphabets = {unicodedata.name(one, "").split(" ")[0] for one in kept if one.isalpha()} - {"MODIFIER"}
    if len(alphabets) > 1 and not alphabets <= _EAST_ASIAN:
        raise InvalidArgument("name", "in letters of one alphabet", ", ".join(sorted(alphabets)))
    if folded(kept).split(" ")[0] == FORGOTTEN:
        raise InvalidArgument("name", f"another than those of people who are {FORGOTTEN}", repr(kept))
    return kept


def plain(name: str) -> str:
    """Return a name in one form and one case.

    >>> plain(" Zoë") == plain("ZOE\u0308")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def folded(name: str) -> str:
    """Return what two names have in common that people would mix up.

    >>> folded("Paul") == folded("\u0420au1"), folded("Zoe") == folded("Zoë")
    (True, False)
    """
    letters = unicodedata.normalize("NFD", plain(name)).translate(_LATIN)  # accents stay, whatever they are on
    return " ".join(unicodedata.normalize("NFC", letters).split())
