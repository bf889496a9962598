"""Sentences of questions: the usual ones, and how a threshold, its unit and its outputs are worded."""

from __future__ import annotations

import math
import string
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from askone._common.validate import as_text
from askone.errors import InvalidArgument

YES_NO = ("yes", "no")

USUAL = {
    "above": "Is {amount} above {threshold}?",
    "below": "Is {amount} below {threshold}?",
    "between": "Is {amount} between {low} and {high}?",
    "one": "Is it {set}?",
    "several": "Is it one of: {set}?",
    "adjective": "Is it {title}?",
    "noun": "Does it have {title}?",
    "pair": "Do you prefer {first} or {second}?",
}
"""The sentences of questions that have no wording of their own; pages know them in other languages."""


@final
@dataclass(frozen=True)
class Wording:
    """The wording of a half-space: names of the outputs, their unit, and a template for the sentence.

    The template may use ``{threshold}`` (rounded number with unit), ``{amount}`` (the output, or
    the weighted sum of them) and ``{side}`` ("above" or "below").  A template without ``{side}`` can
    only say "above": where a question asks "below", the usual sentence stands in for it, or the
    amount is shown with its signs.

    ``answers`` are the words for yes and no.  Words of one's own, such as ("bought", "did not buy"),
    say "above" and "not above", so that a sentence with them is never turned round.

    >>> Wording(unit="€", template="Would you buy it for {threshold}?").sentence((1.0,), 37.0)
    'Would you buy it for 37 €?'
    >>> Wording(("apples", "pears")).sentence((2.0, 1.0), 37.0, exact=True)
    'Is 2 apples + 1 pears above 37?'
    """

    names: tuple[str, ...] = ()
    unit: str = ""
    template: str = ""
    answers: tuple[str, str] = YES_NO

    def __post_init__(self) -> None:
        as_text(self.unit, "unit")
        object.__setattr__(self, "answers", _two_words(self.answers))
        template = as_text(self.template, "wording")
        if not isinstance(self.names, tuple | list) or not all(isinstance(name, str) for name in self.names):
            raise InvalidArgument("names", "a list of texts, one per output", repr(self.names))
        object.__setattr__(self, "names", tuple(self.names))
        try:
            parts = [part[1:] for part in string.Formatter().parse(template) if part[1] is not None]
        except ValueError as error:
            raise InvalidArgument("wording", "a text with named placeholders", repr(template)) from error
        plain = all(name in ("threshold", "amount", "side") and not (spec or turned) for name, spec, turned in parts)
        if not plain or (template and "threshold" not in {name for name, *_ in parts}):
            raise InvalidArgument(
                "wording", "a text with {threshold} and, if you like, {amount}, {side}", repr(template)
            )

    def sentence(self, weights: tuple[float, ...], threshold: float, exact: bool = False) -> str:
        """Return the question <y, weights> > threshold for a person; ``exact`` as in ``amount``."""
        template, side = self.said(weights)
        if side == "below":
            weights, threshold = tuple(-w for w in weights), -threshold
        shown = number_text(threshold) + (f" {self.unit}" if self.unit else "")
        return template.format(threshold=shown, amount=self.amount(weights, exact), side=side)

    def said(self, weights: tuple[float, ...]) -> tuple[str, str]:
        """Return the template of a half-space's sentence, and its side, "above" or "below".

        >>> Wording(template="Would you buy it for {threshold}?").said((-1.0,))
        ('Is {amount} below {threshold}?', 'below')
        """
        template, negative = self.template, all(w <= 0 for w in weights)
        # "is -0.6 a - 0.8 b above -3?" reads better turned round, where it can be said
        below = negative and self.answers == YES_NO and ("{side}" in template or "{amount}" not in template)
        if negative and "{side}" not in template and (below or "{amount}" not in template):
            template = ""  # it could not say which way round the question is
        side = "below" if below else "above"
        return template or USUAL[side], side

    def range_sentence(self, low: float, high: float) -> str:
        """Return the question low < y <= high for a person: in the template's words, where it has a {side}.

        >>> Wording(("rent",), "USD", "Do you pay {side} {threshold} a month?").range_sentence(310, 390)
        'Do you pay between 310 and 390 USD a month?'
        """
        first, last = number_text(low), number_text(high) + (f" {self.unit}" if self.unit else "")
        parts = {"threshold": f"{first} and {last}", "amount": self.amount((1.0,)), "side": "between"}
        return self.range_template.format(low=first, high=last, **parts)

    @property
    def range_template(self) -> str:
        """The template of a range's sentence."""
        return (self.template if self.says_ranges else "") or USUAL["between"]

    @property
    def says_ranges(self) -> bool:
        """Whether "between" can be said in these words: "Would you buy it for 310 and 390 USD?" makes no sense."""
        return self.answers == YES_NO and (not self.template or "{side}" in self.template)

    def amount(self, weights: tuple[float, ...], exact: bool = False) -> str:
        """Return what is compared: "the value", "pears", or "0.6 apples + 0.8 pears".

        Weights that were drawn are shown with three digits; quantities that somebody chose
        (``exact``) as they are, "1 pears" included.
        """
        if len(weights) == 1:
            name = f"the {self.names[0]}" if self.names else "the value"
            times = "" if abs(weights[0]) == 1.0 else f"{number_text(abs(weights[0]))} times "
            return ("" if weights[0] > 0 else "minus ") + times + name
        names = self.names or tuple(f"y{j + 1}" for j in range(len(weights)))
        shown = weights if exact else tuple(float(f"{w:.3g}") for w in weights)
        terms = [(w, name) for w, name in zip(shown, names, strict=True) if w != 0]
        if len(terms) == 1 and terms[0][0] == 1.0 and not exact:
            return terms[0][1]
        text = " ".join(f"{'-' if w < 0 else '+'} {number_text(abs(w))} {name}" for w, name in terms)
        return text.removeprefix("+ ") if text.startswith("+ ") else text.replace("- ", "-", 1)


shared_wording = lru_cache(maxsize=64, typed=True)(Wording)
"""The same as ``Wording``, made once: all questions of a log have the same words, and to check them takes long."""


def _two_words(answers: object) -> tuple[str, str]:
    words = tuple(answers) if isinstance(answers, tuple | list) else ()
    texts = [word.strip() for word in words if isinstance(word, str)]
    if len(words) != 2 or len(texts) != 2 or not all(texts) or texts[0] == texts[1]:
        raise InvalidArgument("answers", "two different words, for yes and for no", repr(answers))
    return words[0], words[1]


def number_text(value: float) -> str:
    """Return a number as a person writes it: no trailing zeros, no exponent where it can be avoided.

    >>> number_text(21.4), number_text(37.0), number_text(-0.0), number_text(1e6), number_text(1.5e-9)
    ('21.4', '37', '0', '1000000', '1.5e-09')
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def rounded_text(value: float, digits: int = 3) -> str:
    """Return a number as people write it, with so many digits that count.

    >>> rounded_text(155_812.0), rounded_text(155_812.0, 4), rounded_text(37.0)
    ('156,000', '155,800', '37')
    >>> rounded_text(-0.012345), rounded_text(0.0), rounded_text(1.5e-9)
    ('-0.0123', '0', '1.5e-09')
    """
    if not math.isfinite(value) or abs(value) < 1e-6:
        return f"{value:.{digits}g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, places):,.{max(0, places)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent_text(share: float, form: str | None = ".0f") -> str:
    """Return a share in percent, as pages and documents write it; ``form`` None: with three digits that count.

    >>> percent_text(0.96), percent_text(0.1234, ".1f"), percent_text(0.2, "+.0f"), percent_text(0.01234, None)
    ('96 %', '12.3 %', '+20 %', '1.23 %')
    """
    return f"{rounded_text(100 * share) if form is None else format(100 * share, form)} %"
