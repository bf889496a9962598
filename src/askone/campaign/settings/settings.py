"""Settings of a campaign: its labels, its wording, its rows, how it asks and learns; from TOML or JSON.

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

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, final

from askone._common.validate import as_choice
from askone.campaign.kinds.base import LEVEL, Kind
from askone.campaign.kinds.classes import ClassNames as ClassNames
from askone.campaign.kinds.number import Numbers as Numbers
from askone.campaign.kinds.order import Items as Items
from askone.campaign.kinds.registry import KINDS
from askone.campaign.settings._toml import to_toml
from askone.campaign.settings.section import (
    Answers,
    ColumnNames,
    Line,
    PeoplePerQuestion,
    Prose,
    RowOrder,
    Words,
    about,
    plain,
    section,
    setting,
    unknown,
)
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.labels.wording import YES_NO
from askone.learners import registry
from askone.privacy import with_slips
from askone.session.bags import LARGEST

Record = dict[str, Any]

_MOST_ANSWERS: Final = 10**12
_LONGEST_TOML: Final = 1_000_000  # characters
_DAY: Final = 86_400.0  # seconds


@final
@section("rows")
class RowSettings:
    """Which columns are what."""

    key: Line | None = setting(None, "the column that names each row (none: rows are numbered)", "id")
    show: ColumnNames = setting(None, "the columns that people see (none: all but a key such as id)", ["size", "photo"])
    learn: ColumnNames = setting(None, "the columns that the model sees (none: all but the key)", ["size", "year"])
    gold: Line | None = setting(
        None, "a column that holds the labels of some rows: it is neither shown nor learnt", "price"
    )
    file: Line | None = setting(
        None, "the table: CSV, .xlsx, JSON lines, Parquet, a folder or zip file of images, a database", "rows.csv"
    )
    part: Line | None = setting(None, "the sheet of a spreadsheet, or the split of a dataset", "Sheet1")
    query: Prose | None = setting(None, "what is read from a database", "SELECT * FROM homes")
    header: bool | None = setting(
        None, "whether the first line names columns (none: yes, unless it looks like a row)", False
    )

    def __post_init__(self) -> None:
        for name in ("show", "learn"):
            if self.gold is not None and self.gold in (getattr(self, name) or ()):
                allowed = f"other columns than {self.gold!r}, which holds the known labels"
                raise InvalidArgument(f"rows.{name}", allowed, list(getattr(self, name)))
        if self.gold is not None and self.gold == self.key:
            raise InvalidArgument("rows.gold", "another column than rows.key", repr(self.gold))


@final
@section("question")
class QuestionSettings:
    """The wording of questions."""

    wording: Words = setting(
        "", "empty: as usual; numbers may use {threshold}, {amount}, {side}; classes {set}; orders {first}, {second}"
    )
    instructions: Prose = setting("", "what people should know before they answer")
    answers: Answers = setting(YES_NO, "the words for yes and no")
    language: Literal["auto", "en", "de", "fr", "es", "zh", "ar"] = setting(
        "auto", 'of the pages for people who answer; "auto": each reader\'s own, where it is one of these'
    )


@final
@section("ask")
class AskSettings:
    """Limits of asking: how many questions, of whom, and when to stop."""

    budget: int | None = setting(None, "answers in all", 2000, ge=1, le=_MOST_ANSWERS)
    per_row: int = setting(1, "questions about each row, one after all others had theirs", ge=1, le=50)
    until: Literal["asked", "known"] = setting(
        "asked", '"known": a row that was asked is asked again only until it is known, per_row times at most'
    )
    tolerance: float = setting(
        0.05,
        "what is known: of a number its prediction's deviation as a share of the range, of a class the chance that "
        "it is another one is no more than this",
        gt=0,
        le=0.5,
    )
    overlap: PeoplePerQuestion = setting(
        1, 'how many people answer each question; "auto": one, and others where that tells more than another row'
    )
    bag: int = setting(
        1,
        "classes: rows in one question at most, where the model is nearly sure of all and one key for them tells "
        "more per second than a question about one row",
        ge=1,
        le=LARGEST,
    )
    gold_share: float = setting(
        0.0,
        "share of each person's questions about rows whose label is known, to measure them: 0.05 with rows.gold",
        ge=0,
        le=0.9,
    )
    training: int = setting(
        0, "questions with known answers (rows.gold) to practise on before the first real one", ge=0, le=20
    )
    exam_share: float = setting(0.15, "share of questions that measure the model", ge=0, le=0.9)
    exams: Literal["error", "mean", "both"] = setting(
        "error",
        'what they measure, for numbers: "error": the model\'s; "mean": the labels\' as well, less exactly; "both"',
    )
    order: RowOrder = setting(
        "auto", '"auto": the rows that help most; "random": in random order; "file": as they come, for live streams'
    )
    lease_seconds: float = setting(60.0, "how long a question is held for a person who is silent", ge=1, le=_DAY)
    per_person: int | None = setting(None, "answers of one person at most", 500, ge=1, le=_MOST_ANSWERS)
    target: float | None = setting(None, "stop when the measured error is below this", 10.0, gt=0)
    price: float | None = setting(None, "of one answer, for forecasts", 0.05, ge=0, le=1e12)
    currency: Words = setting("", "of the price", max_length=20)
    seconds: float = setting(4.0, "time for one answer, for forecasts", ge=0.01, le=_DAY)

    @property
    def people(self) -> int:
        """How many people answer each question, at least."""
        return 1 if self.overlap == "auto" else self.overlap

    def __post_init__(self) -> None:
        if self.gold_share + self.exam_share > 0.95:
            raise InvalidArgument("ask.exam_share", "at most 0.95 together with ask.gold_share", self.exam_share)
        if self.until == "known" and self.per_row == 1:
            raise InvalidArgument("ask.per_row", 'more than 1 where ask.until is "known"', self.per_row)
        if self.bag > 1 and self.people > 1:
            raise InvalidArgument("ask.bag", "1 where several people answer each question (ask.overlap)", self.bag)


@final
@section("learner")
class LearnerSettings:
    """The learner: arguments of these names of estimators and their learners; ``seed`` is their ``random_state``."""

    flip: float = setting(0.0, "share of answers that are wrong, if you know it", ge=0, le=0.49)
    guess: float = setting(0.0, "numbers: share of yes whatever is true, if you know it", ge=0, lt=1)
    lapse: float = setting(0.0, "numbers: share of no whatever is true, if you know it", ge=0, lt=1)
    seed: int = setting(0, "of everything random", ge=0, le=2**32 - 1)
    interval: float | None = setting(
        None, "numbers: ask also for intervals that hold this share of labels", 0.8, gt=0, lt=1
    )
    loss: Literal["median", "squared", "huber", "logcosh"] = setting(
        "median", "numbers: what is predicted: median, squared (the mean), huber, logcosh"
    )
    learner: str = setting("auto", "how it learns; auto is best")


@final
@section("people")
class PeopleSettings:
    """What is made of how people answer."""

    pause_below: float | None = setting(
        None, "pause whoever's answers surely tell less than so many bits each (none: nobody)", 0.2, gt=0, le=1
    )
    pause_after: int = setting(40, "but nobody who gave fewer answers than these", ge=10, le=_MOST_ANSWERS)


@final
@section("privacy")
class PrivacySettings:
    """Whether answers are flipped before they leave whoever gives them (see ``askone.privacy``)."""

    epsilon: float | None = setting(
        None, "answers are flipped with 1/(1 + e^epsilon) before they are sent (none: they are not)", 1.0, ge=0.1, le=30
    )
    budget: float | None = setting(
        None, "what a person may spend, an answer costs epsilon (none: any)", 20.0, gt=0, le=1e6
    )
    mechanism: Literal["randomized response"] | None = setting(None, "how answers are made private, where they are")

    def __post_init__(self) -> None:
        if self.epsilon is None:
            for name in ("budget", "mechanism"):
                if getattr(self, name) is not None:
                    raise InvalidArgument(f"privacy.{name}", "none without privacy.epsilon", getattr(self, name))
        elif self.budget is not None and self.budget < self.epsilon:
            raise InvalidArgument("privacy.budget", f"enough for an answer, {self.epsilon:g}", self.budget)
        elif self.mechanism is None:
            object.__setattr__(self, "mechanism", "randomized response")

    @property
    def answers(self) -> int | None:
        """How many answers of one person the budget allows; None: any number."""
        if self.epsilon is None or self.budget is None:
            return None
        return int(self.budget / self.epsilon * (1.0 + 1e-12))

    def spent(self, answers: int) -> Record | None:
        """Return what somebody has spent with so many answers: k of them cost k epsilon; None: nothing is flipped."""
        if self.epsilon is None:
            return None
        return {"epsilon": self.epsilon, "spent": answers * self.epsilon, "budget": self.budget}


@final
@section()
class Settings:
    """All that a campaign is told; see the parts."""

    title: Annotated[Line, about("what people see above the questions")]
    labels: Kind
    rows: RowSettings = RowSettings()
    question: QuestionSettings = QuestionSettings()
    ask: AskSettings = AskSettings()
    learner: LearnerSettings = LearnerSettings()
    privacy: PrivacySettings = PrivacySettings()
    people: PeopleSettings = PeopleSettings()

    def __post_init__(self) -> None:
        self.space()  # checks names and wording
        if self.privacy.epsilon is not None:
            self._check_private()
        if self.ask.gold_share and self.rows.gold is None:
            raise InvalidArgument("ask.gold_share", "0 without rows.gold", self.ask.gold_share)
        if self.ask.training and self.rows.gold is None:
            raise InvalidArgument("ask.training", "0 without rows.gold", self.ask.training)
        if self.ask.target is not None and not self.labels.has_error:
            raise InvalidArgument("ask.target", "none where labels.quantile or labels.goal is another", self.ask.target)
        if self.ask.bag > 1 and not self.labels.has_bags:
            raise InvalidArgument("ask.bag", "1 but for classes without attributes", self.ask.bag)
        as_choice(self.learner.learner, "learner.learner", (*self.labels.learners, *registry.names()))
        self.labels.check(self.learner)

    def _check_private(self) -> None:
        """Refuse what costs a person's budget and teaches nothing, or less than other questions would."""
        if self.ask.overlap != 1:
            raise InvalidArgument("ask.overlap", "1 with privacy.epsilon: other rows teach more", self.ask.overlap)
        if self.ask.gold_share:
            raise InvalidArgument("ask.gold_share", "0 with privacy.epsilon", self.ask.gold_share)
        if self.ask.bag > 1:
            raise InvalidArgument("ask.bag", "1 with privacy.epsilon: halves would tell more", self.ask.bag)
        if self.learner.learner == "rls":
            raise InvalidArgument("privacy.epsilon", "none with learner 'rls'", self.privacy.epsilon)
        if self.flip > 0.49:
            raise InvalidArgument("learner.flip", "less, with so small a privacy.epsilon", self.learner.flip)

    @property
    def flip(self) -> float:
        """The share of answers that arrive as wrong ones: by slips, and flipped for privacy after them."""
        epsilon, slips = self.privacy.epsilon, self.learner.flip
        return slips if epsilon is None else with_slips(epsilon, slips)

    @property
    def per_person(self) -> int | None:
        """Answers of one person at most, by ``ask.per_person`` and by what ``privacy.budget`` allows."""
        limits = [one for one in (self.ask.per_person, self.privacy.answers) if one is not None]
        return min(limits, default=None)

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
        for part in ("labels", "question", "learner", "ask", "people"):
            if name in getattr(self, part).__pydantic_fields__:
                return f"{part}.{name}{bracket}{rest}"
        return argument

    def changed(self, changes: object) -> Self:
        """Return these settings with others in place of some that may be changed while a campaign runs.

        >>> settings = Settings("Animals", ClassNames(("cat", "owl")))
        >>> settings.changed({"title": "Beasts", "ask": {"per_row": 3}}).ask.per_row
        3
        >>> settings.changed({"question": {"answers": ["ja", "nein"]}})
        Traceback (most recent call last):
        askone.errors.InvalidArgument: question.answers must be one to change (instructions, ...wording); got 'answers'
        """
        record = self.to_json()
        for name, value in _table(changes, "settings").items():
            if name == "title":
                record[name] = value
                continue
            allowed = CHANGEABLE.get(name, ())
            for key, one in _table(value, name).items():
                if key not in allowed:
                    raise InvalidArgument(
                        f"{name}.{key}"[:100], f"one to change ({', '.join(sorted(allowed))})", repr(key)
                    )
                record[name][key] = one
        return self.from_json(record)

    @property
    def level(self) -> float:
        """The share of labels that predicted intervals are to hold."""
        return LEVEL if self.learner.interval is None else self.learner.interval

    def is_rowless(self, rows: int) -> bool:
        """Return whether all questions are about one row: an order of items for everybody."""
        return not self.labels.needs_rows and rows <= 1

    # -- JSON and TOML ----------------------------------------------------------------------------

    def to_json(self) -> Record:
        """Return plain JSON values, every setting named."""
        parts = {name: plain(getattr(self, name)) for name in SECTIONS}
        return {"title": self.title, **parts, "labels": self.labels.to_json()}

    @classmethod
    def from_json(cls, record: object) -> Self:
        """Return the settings that ``to_json`` gave; what is left out has its default."""
        given = _table(record, "settings")
        for name in given:
            if name not in ("title", *SECTIONS):
                raise unknown(name[:100], ("title", *SECTIONS), "")
        for name in ("title", "labels"):
            if given.get(name) is None:
                raise InvalidArgument(name, "given", None)
        tables = {name: dict(_table(given[name], name)) for name in SECTIONS if name in given}
        kind = KINDS[as_choice(tables["labels"].pop("kind", None), "labels.kind", KINDS)]
        sections: Record = {name: (SECTIONS[name] or kind)(**table) for name, table in tables.items()}
        return cls(title=given["title"], **sections)

    def to_toml(self, annotated: bool = False) -> str:
        """Return the TOML file without settings that are None; ``annotated``: with notes, and examples of these."""
        return to_toml(self.to_json(), self._notes() if annotated else {})

    def _notes(self) -> dict[str, tuple[str, Any]]:
        """Return what each setting is, and an example."""
        parts = {"": self, **{f"{name}.": getattr(self, name) for name in SECTIONS}}
        infos = {place + name: one for place, part in parts.items() for name, one in part.__pydantic_fields__.items()}
        notes = {place: (one.description or "", (one.examples or [None])[0]) for place, one in infos.items()}
        return {**notes, "labels.kind": (", ".join(KINDS), None)}

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Return the settings that ``to_toml`` wrote."""
        if not isinstance(text, str) or len(text) > _LONGEST_TOML:
            raise InvalidArgument("settings", f"a text of at most {_LONGEST_TOML} characters", type(text).__name__)
        try:
            record = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidArgument("settings", "a TOML file", str(error)) from error
        return cls.from_json(record)


CHANGEABLE: Final = {
    "question": frozenset({"wording", "instructions", "language"}),
    "ask": frozenset({"bag", "target", "overlap", "per_row", "until", "tolerance", "per_person"}),
    "people": frozenset({"pause_below", "pause_after"}),
}
"""What may be changed while a campaign runs, beside its title and its budget."""

SECTIONS: dict[str, type[Any] | None] = {
    "rows": RowSettings, "labels": None, "question": QuestionSettings, "ask": AskSettings, "learner": LearnerSettings,
    "privacy": PrivacySettings,
    "people": PeopleSettings,
}  # fmt: skip
"""Tables of the file; labels are of the kind that they name."""


def _table(record: object, place: str) -> Mapping[str, Any]:
    if not isinstance(record, Mapping) or not all(isinstance(name, str) for name in record):
        raise InvalidArgument(place, "a table of named values", type(record).__name__)
    return record
