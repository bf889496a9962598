"""What a campaign is told: its labels, its wording, its rows, how it asks and learns; from TOML or JSON.

Everything is checked here, and an error names the place in the TOML file.

>>> settings = Settings.from_toml('''
... title = "House prices"
... [labels]
... kind = "number"
... low = 0
... high = 900
... unit = "k€"
... [question]
... wording = "Would it sell for {threshold}?"
... ''')
>>> settings.labels.high, settings.ask.overlap, Settings.from_toml(settings.to_toml()) == settings
(900.0, 1, True)
>>> Settings.from_toml('title = "Prices"\\n[labels]\\nkind = "number"\\nlow = 3\\nhihg = 9')
Traceback (most recent call last):
askone.errors.InvalidArgument: labels.hihg must be a known name (did you mean 'high'?); got 'hihg'
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, Self, final

from askone._common.validate import as_choice, as_count, as_number, as_text
from askone.campaign.kinds.base import Kind
from askone.campaign.kinds.classes import ClassNames
from askone.campaign.kinds.number import Numbers
from askone.campaign.kinds.order import Items
from askone.campaign.kinds.registry import KINDS
from askone.campaign.settings._toml import to_toml
from askone.campaign.settings.fields import as_columns, as_line, as_listed, as_prose, put
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.labels.number import YES_NO

__all__ = [
    "AskSettings",
    "ClassNames",
    "Items",
    "LearnerSettings",
    "Numbers",
    "QuestionSettings",
    "RowSettings",
    "Settings",
]

Record = dict[str, Any]

_MOST: Final = 10**12  # answers
_TOML: Final = 1_000_000  # characters of a file


@final
@dataclass(frozen=True)
class RowSettings:
    """Which columns are what.

    ``key`` names each row (None: rows are numbered from 1), ``show`` are shown to people (None: all but the
    gold column), ``learn`` are what the model sees (None: all but the key and the gold column), ``gold`` holds
    known labels of some rows.  ``file`` is where the rows are, for the command line.
    """

    key: str | None = None
    show: tuple[str, ...] | None = None
    learn: tuple[str, ...] | None = None
    gold: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        for name in ("key", "gold", "file"):
            if getattr(self, name) is not None:
                as_line(getattr(self, name), f"rows.{name}")
        for name in ("show", "learn"):
            put(self, name, as_columns(getattr(self, name), f"rows.{name}"))
            if self.gold is not None and self.gold in (getattr(self, name) or ()):
                allowed = f"other columns than {self.gold!r}, which holds the known labels"
                raise InvalidArgument(f"rows.{name}", allowed, list(getattr(self, name)))
        if self.gold is not None and self.gold == self.key:
            raise InvalidArgument("rows.gold", "another column than rows.key", repr(self.gold))


@final
@dataclass(frozen=True)
class QuestionSettings:
    """How questions read.

    ``wording`` may use {threshold}, {amount} and {side} for numbers, {set} for classes, {first} and {second} for
    orders; "" is the usual sentence.  ``answers`` are the words for yes and no.
    """

    wording: str = ""
    instructions: str = ""
    answers: tuple[str, str] = YES_NO

    def __post_init__(self) -> None:
        as_line(self.wording, "question.wording", empty=True)
        as_prose(self.instructions, "question.instructions")
        words = as_listed(self.answers, "question.answers", "two different words, for yes and for no")
        if len(words) != 2 or str(words[0]).strip() == str(words[1]).strip():
            raise InvalidArgument("question.answers", "two different words, for yes and for no", list(words))
        put(self, "answers", tuple(as_line(word, "question.answers", most=100) for word in words))


@final
@dataclass(frozen=True)
class AskSettings:
    """How many questions, of whom, and when to stop.

    ``budget`` is of answers in all, ``per_person`` of one person's.  ``overlap`` people answer each question.  A
    share ``gold_share`` of questions has known answers, a share ``exam_share`` measures the model.  ``order``
    "stream" takes rows as they come, "uncertain" those that should tell most.  ``target`` is the measured error
    at which to stop.  ``price`` is that of one answer, ``seconds`` the time it takes: for forecasts.
    """

    budget: int | None = None
    overlap: int = 1
    gold_share: float = 0.0
    exam_share: float = 0.15
    order: str = "stream"
    lease_seconds: float = 60.0
    per_person: int | None = None
    target: float | None = None
    price: float | None = None
    currency: str = ""
    seconds: float = 4.0

    def __post_init__(self) -> None:
        for name in ("budget", "per_person"):
            if getattr(self, name) is not None:
                as_count(getattr(self, name), f"ask.{name}", 1, _MOST)
        as_count(self.overlap, "ask.overlap", 1, 100)
        for name, low, high in (("gold_share", 0.0, 0.9), ("exam_share", 0.0, 0.9), ("lease_seconds", 1.0, 86_400.0)):
            put(self, name, as_number(getattr(self, name), f"ask.{name}", low, high))
        if self.gold_share + self.exam_share > 0.95:
            raise InvalidArgument("ask.exam_share", "at most 0.95 together with ask.gold_share", self.exam_share)
        as_choice(self.order, "ask.order", ("stream", "uncertain"))
        if self.target is not None:
            put(self, "target", as_number(self.target, "ask.target", 0.0, strict=True))
        if self.price is not None:
            put(self, "price", as_number(self.price, "ask.price", 0.0, 1e12))
        as_line(self.currency, "ask.currency", empty=True, most=20)
        put(self, "seconds", as_number(self.seconds, "ask.seconds", 0.01, 86_400.0))


@final
@dataclass(frozen=True)
class LearnerSettings:
    """How the model learns: as the estimators' arguments of these names; ``seed`` is their ``random_state``."""

    flip: float = 0.0
    seed: int = 0
    interval: float | None = None
    loss: str = "median"
    learner: str = "auto"

    def __post_init__(self) -> None:
        put(self, "flip", as_number(self.flip, "learner.flip", 0.0, 0.49))
        as_count(self.seed, "learner.seed", 0, 2**32 - 1)
        if self.interval is not None:
            put(self, "interval", as_number(self.interval, "learner.interval", 0.0, 1.0, strict=True))
        as_choice(self.loss, "learner.loss", LOSSES)
        as_text(self.learner, "learner.learner")


LOSSES: Final = ("median", "squared", "huber", "logcosh")


@final
@dataclass(frozen=True)
class Settings:
    """All that a campaign is told; see the parts."""

    title: str
    labels: Kind
    rows: RowSettings = RowSettings()
    question: QuestionSettings = QuestionSettings()
    ask: AskSettings = AskSettings()
    learner: LearnerSettings = LearnerSettings()

    def __post_init__(self) -> None:
        as_line(self.title, "title")
        if not isinstance(self.labels, Kind):
            raise InvalidArgument("labels", "Numbers, ClassNames or Items", type(self.labels).__name__)
        self.space()  # checks names and wording
        if self.ask.gold_share and self.rows.gold is None:
            raise InvalidArgument("ask.gold_share", "0 without rows.gold", self.ask.gold_share)
        as_choice(self.learner.learner, "learner.learner", self.labels.learners)
        self.labels.check(self.learner)

    def space(self) -> Space:
        """Return the label space, with the wording."""
        try:
            return self.labels.space(self.question)
        except InvalidArgument as error:
            raise InvalidArgument(self.place(error.argument), error.allowed, error.got) from None

    def place(self, argument: str) -> str:
        """Return where in the file an argument of a space or an estimator is.

        >>> settings = Settings("Animals", ClassNames(("cat", "owl")))
        >>> settings.place("sets[2]"), settings.place("wording"), settings.place("X")
        ('labels.attributes[2]', 'question.wording', 'X')
        """
        base, bracket, rest = argument.partition("[")
        name = {"select": "order", **self.labels.places}.get(base, base)
        for section in ("labels", "question", "learner", "ask"):
            if name in {one.name for one in fields(getattr(self, section))}:
                return f"{section}.{name}{bracket}{rest}"
        return argument

    def is_rowless(self, rows: int) -> bool:
        """Return whether all questions are about one row: an order of items for everybody."""
        return not self.labels.needs_rows and rows <= 1

    # -- JSON and TOML ----------------------------------------------------------------------------

    def to_json(self) -> Record:
        """Plain JSON values, every setting named."""
        parts = {name: _plain(getattr(self, name)) for name in SECTIONS}
        return {"title": self.title, **parts}

    @classmethod
    def from_json(cls, record: object) -> Self:
        """The inverse of ``to_json``; what is left out has its default."""
        given = _table(record, "settings")
        _known(given, ("title", *SECTIONS), "")
        for name in ("title", "labels"):
            if given.get(name) is None:
                raise InvalidArgument(name, "given", None)
        parts: Record = {name: _section(SECTIONS[name], given[name], name) for name in SECTIONS if name in given}
        return cls(title=given["title"], **parts)

    def to_toml(self) -> str:
        """The TOML file; settings that are None are left out."""
        return to_toml(self.to_json())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """The inverse of ``to_toml``."""
        if not isinstance(text, str) or len(text) > _TOML:
            raise InvalidArgument("settings", f"a text of at most {_TOML} characters", type(text).__name__)
        try:
            record = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidArgument("settings", "a TOML file", str(error)) from error
        return cls.from_json(record)


SECTIONS: dict[str, type[Any] | None] = {
    "rows": RowSettings, "labels": None, "question": QuestionSettings, "ask": AskSettings, "learner": LearnerSettings,
}  # fmt: skip


def _plain(part: Any) -> Record:
    kind = {"kind": part.kind} if isinstance(part, Kind) else {}
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    if values.get("attributes") is not None:
        values["attributes"] = {title: list(members) for title, members in values["attributes"]}
    return kind | {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _section(cls: type[Any] | None, record: object, place: str) -> Any:
    given = dict(_table(record, place))
    if cls is None:
        cls = KINDS[as_choice(given.pop("kind", None), "labels.kind", KINDS)]
    _known(given, [field.name for field in fields(cls)], f"{place}.")
    for field in fields(cls):
        if field.default is MISSING and field.name not in given:
            raise InvalidArgument(f"{place}.{field.name}", "given", None)
    return cls(**given)


def _table(record: object, place: str) -> Mapping[str, Any]:
    if not isinstance(record, Mapping) or not all(isinstance(name, str) for name in record):
        raise InvalidArgument(place, "a table of named values", type(record).__name__)
    return record


def _known(given: Iterable[str], names: Sequence[str], place: str) -> None:
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name[:100], names, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(names)}"
            raise InvalidArgument(f"{place}{name[:100]}", f"a known name ({hint})", repr(name))
