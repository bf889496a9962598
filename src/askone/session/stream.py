"""One learner, its state, its open questions and its budget: what a program holds while it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common import random_table
from askone._common.types import Array, Key
from askone._common.validate import as_count, as_flag, as_row, as_rows, as_seed
from askone.errors import AlreadyAnswered, AlreadyAsked, AskoneError, InvalidArgument, UnknownQuestion
from askone.learners import abilities
from askone.learners.base import Learner
from askone.learners.person import as_person
from askone.questions.base import Question
from askone.questions.comparison import BestOf, Prefer
from askone.session.budget import Budget, as_budget
from askone.session.checkpoints import Example, Fit, Fold, Visit, due_fit, learnt
from askone.session.log import (
    AUTOMATIC,
    Answered,
    Asked,
    Choice,
    Event,
    Fits,
    Fitted,
    Retracted,
    Revisited,
    Skipped,
    given_key,
)


def plain_key(key: Any) -> Any:
    """Return a key as Python's own text or whole number, where it is NumPy's."""
    return key.item() if isinstance(key, np.generic) else key


@final
class _Open(NamedTuple):
    """A question without an answer, its row, and what the log calls the row."""

    row: Array
    question: Question
    name: Key


@final
class _Told(NamedTuple):
    """The answer of event ``id`` to question ``number``, as a lesson about what was ``asked`` or a part of it."""

    id: str
    number: int
    asked: Question
    lesson: Example


@final
class Stream:
    """Ask and tell with memory: which rows were asked, which questions are open, what is left.

    A row with a ``key`` is asked once, ever, unless ``resample`` allows more; without a key every
    call is a new row.  Answers may come late, in any order or never.  A wrong call raises and
    changes nothing.  ``log`` is called with every event, and ``rows`` keeps the rows by what the log
    calls them, ``fits`` the fits of a learner that ``Refits``, by their hashes.  Answers can be taken back
    (``retract``); for that their rows and questions are held, unless ``history`` is False.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.learners.sgd.sgd import SGDLearner
    >>> from askone.learners.models.linear import FeatureModel
    >>> from askone.labels.number import Real
    >>> stream = Stream(SGDLearner(Real(0, 100), FeatureModel(Linear(Scaler.identity(1)))))
    >>> first, second = stream.ask_many([[0.0], [1.0]], keys=["ann", "bob"])
    >>> stream.tell(second, True)
    >>> stream.open
    [0]
    >>> stream.retract(second)               # it was a mistake
    >>> stream.tell(second, False)
    >>> stream.ask([0.0], key="ann")
    Traceback (most recent call last):
    askone.errors.AlreadyAsked: row 'ann' had its one question; resample=True allows several
    """

    def __init__(
        self,
        learner: Learner[Any],
        *,
        seed: int = 0,
        budget: Budget | int | None = None,
        resample: bool = False,
        log: Callable[[Event], None] | None = None,
        state: Any = None,
        asked: int = 0,
        history: bool = True,
        rows: MutableMapping[Key, Array] | None = None,
        fits: MutableMapping[str, bytes] | None = None,
    ) -> None:
        if not isinstance(learner, Learner):
            raise InvalidArgument("learner", "a Learner", type(learner).__name__)
        if log is not None and not callable(log):
            raise InvalidArgument("log", "a function of one event, such as a list's append", type(log).__name__)
        self.learner, self.budget, self.resample = learner, as_budget(budget), as_flag(resample, "resample")
        self._again = isinstance(learner, abilities.AsksAgain)
        self.seed, self.asked = as_seed(seed), as_count(asked, "asked")
        self._fold = Fold(learner, state, as_flag(history, "history"))
        self._before: list[Any] = []  # states of a log that was resumed: what it has is not taken back here
        self._history: list[_Told | Visit | Fit] | None = [] if history else None
        self._log, self._rows, self._fits = log, rows, fits
        self.keys: set[Key] = set()
        self.visits = self.fits = 0
        self._skipped: set[Key | bytes] = set()
        self._open: dict[int, _Open] = {}
        self.retractions: dict[int, int] = {}

    @property
    def state(self) -> Any:
        """What was learnt so far; to set it begins a new history."""
        return self._fold.state

    @state.setter
    def state(self, state: Any) -> None:
        self._fold, self._before = Fold(self.learner, state, self._history is not None), []
        self._history = None if self._history is None else []

    def past(self) -> list[Any]:
        """Return some states on the way to the present one, and that: the further back, the fewer."""
        return self._before + self._fold.past()

    @property
    def open(self) -> list[int]:
        """Numbers of the questions without an answer."""
        return list(self._open)

    @property
    def answered(self) -> int:
        """Answers learnt from."""
        return self.learner.count(self.state)

    def ask(self, x: ArrayLike, key: Key | None = None, choice: Choice | None = None) -> Question:
        """Return one question about one row; ``choice`` says how the row was chosen, for the log."""
        row, key = as_row(x, self.learner.columns), plain_key(key)
        self._check(1, [key])
        self._check_open(row, [key])
        uniform = random_table.uniforms(self.seed, self.asked, 1, self.learner.width)
        return self._put(row[0], key, abilities.ask_row(self.learner, self.state, row[0], uniform[0], key), choice)

    def ask_many(self, X: ArrayLike, keys: Sequence[Key] | None = None) -> list[Question]:
        """Return a question for each row, all from the present state."""
        rows = as_rows(X, self.learner.columns)
        names: list[Key | None] = [None] * len(rows)
        if keys is not None:
            one = isinstance(keys, str) or not isinstance(keys, Iterable)
            names = [plain_key(key) for key in ([keys] if one and len(rows) == 1 else [] if one else keys)]
        if len(names) != len(rows):
            raise InvalidArgument("key", f"a list of {len(rows)} keys, one per row", repr(keys))
        self._check(len(rows), names)
        self._check_open(rows, names)
        uniform = random_table.uniforms(self.seed, self.asked, len(rows), self.learner.width)
        questions = self._questions(rows, uniform, names)
        return [self._put(row, key, q) for row, key, q in zip(rows, names, questions, strict=True)]

    def _questions(self, rows: Array, uniform: Array, keys: list[Key | None]) -> list[Question]:
        if not self._again:
            return abilities.ask_many(self.learner, self.state, rows, uniform)
        each = zip(rows, uniform, keys, strict=True)
        return [abilities.ask_row(self.learner, self.state, row, u, key) for row, u, key in each]

    def wants(self, x: ArrayLike, key: Key | None = None) -> bool:
        """Return whether there is another question about a row: none after a skip, nor when the budget is spent."""
        row, key = as_row(x, self.learner.columns)[0], plain_key(key)
        spent = self.budget is not None and self.budget.left == 0
        left = not spent and self._place(row, key) not in self._skipped
        return left and abilities.wants(self.learner, self.state, x, key)

    def _place(self, row: Array, key: Key | None) -> Key | bytes:
        return (row + 0.0).tobytes() if key is None else key

    def _check_open(self, rows: Array, keys: Sequence[Key | None]) -> None:
        """Raise if another question about the row is open: they are asked one after the other."""
        if not self._again:
            return
        waiting = {self._place(found.row, given_key(found.name)) for found in self._open.values()}
        for row, key in zip(rows, keys, strict=True):
            if self._place(row, key) in waiting:
                raise AlreadyAsked("this row has an open question: tell or skip that first")
            waiting.add(self._place(row, key))

    def revisit(self, x: ArrayLike, key: Key) -> None:
        """Note that a row without questions left came again: a step that costs none."""
        row, key = as_row(x, self.learner.columns), plain_key(key)
        self._check_keys([key])
        state = abilities.revisit(self.learner, self.state, row[0], key)
        self._note(Revisited(f"visit-{self.visits}", key))
        self._learnt(Visit(key, row[0].copy()), state)
        self.visits += 1
        self._refit()

    def put(self, x: ArrayLike, question: Question, key: Key | None = None) -> Question:
        """Return a question of the caller's own about one row, numbered, counted and logged like any other."""
        row, key = as_row(x, self.learner.columns), plain_key(key)
        if not isinstance(question, Question):
            raise InvalidArgument("question", "a Question", type(question).__name__)
        self._check(1, [key])
        return self._put(row[0], key, question)

    def tell(self, question: Question | int, answer: object, person: str | None = None) -> None:
        """Learn from the answer to an open question, or to its number, by somebody who may be named."""
        number, found = self._find(question)
        row, asked, name = found
        person = None if person is None else as_person(person)
        if isinstance(asked, BestOf):
            self._tell_comparisons(number, found, asked.comparisons(answer), person)
            return
        accepted = asked.accept(answer)
        state = abilities.tell_row(self.learner, self.state, row, asked, accepted, given_key(name), person)
        event = Answered(f"answer-{self._time(number)}", f"ask-{number}", accepted, person)
        self._note(event)
        self._learnt(_Told(event.id, number, asked, Example(name, row, asked, accepted, person)), state)
        del self._open[number]
        self._refit()

    def _refit(self) -> bool:
        """Take over a fit if one is due; return whether one was."""
        fit = due_fit(self.learner, self.state)
        if fit is None:
            return False
        state = learnt(self.learner, self.state, fit)
        if self._fits is not None:
            self._fits[fit.hash] = fit.packed
        self._note(Fitted(f"fit-{self.fits}", self.answered, fit.hash))
        self._learnt(fit, state)
        self.fits += 1
        return True

    def _time(self, number: int) -> str:
        """Return 5, and 5+1 when its answer was taken back once: events have names of their own."""
        times = self.retractions.get(number, 0)
        return f"{number}+{times}" if times else str(number)

    def _tell_comparisons(self, number: int, found: _Open, told: list[tuple[Prefer, bool]], person: str | None) -> None:
        """Each comparison is an event pair of its own (ask-5.1, answer-5.1): then a log is folded as ever.

        If the log fails halfway, what it has taken has happened, and the question is closed.
        """
        row, asked, name = found
        states, time = [self.state], self._time(number)
        for pair, answer in told:  # whatever is refused is refused here, before anything is logged
            states.append(abilities.tell_row(self.learner, states[-1], row, pair, answer, given_key(name), person))
        for i, (pair, answer) in enumerate(told, start=1):
            self._note(Asked(f"ask-{time}.{i}", name, pair, self.answered))
            self._note(Answered(f"answer-{time}.{i}", f"ask-{time}.{i}", answer, person))
            self._learnt(
                _Told(f"answer-{time}.{i}", number, asked, Example(name, row, pair, answer, person)), states[i]
            )
            self._open.pop(number, None)
        self._refit()

    def retract(self, question: Question | int) -> None:
        """Take back the answer to a question, which is open again: tell or skip it anew.

        The state becomes what all other answers make of it; questions that were asked meanwhile stay as they
        are.  Only answers told to this very stream can be taken back, not those of before saving.
        """
        number = self._number(question)
        told = [one for one in self._history or () if isinstance(one, _Told) and one.number == number]
        if not told:
            why = "is open" if number in self._open else "was skipped, or answered where this stream has no history"
            raise InvalidArgument("question", "one whose answer was told to this stream", f"{number}, which {why}")
        self._same_words(question, told[0].asked)
        try:  # whatever is refused is refused here, before anything is logged
            without = [self._without(told[i:]) for i in reversed(range(len(told)))]
        except AskoneError as error:
            allowed = "one without which all later answers can be learnt"
            raise InvalidArgument("question", allowed, f"{number} ({error})") from error
        for one, (history, fold) in zip(reversed(told), without, strict=True):
            # The last first: what the log took has happened.
            self._note(Retracted(one.id.replace("answer", "retract"), one.id))
            self._history, self._fold = history, fold
        self._open[number] = _Open(told[0].lesson.x, told[0].asked, told[0].lesson.name)
        self.retractions[number] = self.retractions.get(number, 0) + 1
        while self._refit():  # several may have had the answer in them
            pass

    def _without(self, gone: list[_Told]) -> tuple[list[_Told | Visit | Fit], Fold]:
        """Return the history and its fold without these answers: what came before the first is not learnt again.

        Fits that came after it were made of it, too, and fall out.
        """
        past = self._history or []
        names = {one.id for one in gone}
        first = next(place for place, one in enumerate(past) if one is gone[0])
        later = (one for one in past[first:] if not isinstance(one, Fit))
        left = past[:first] + [one for one in later if isinstance(one, Visit) or one.id not in names]
        fold = self._fold.back_to(first)
        for one in left[fold.count :]:
            fold.learn(one.lesson if isinstance(one, _Told) else one)
        return left, fold

    def _learnt(self, entry: _Told | Visit | Fit, state: Any) -> None:
        if self._history is not None:
            self._history.append(entry)
        self._fold.advance(state)

    def skip(self, question: Question | int) -> None:
        """Close an open question without an answer; it stays counted."""
        number, found = self._find(question)
        self._note(Skipped(f"skip-{number}", f"ask-{number}"))
        if self._again:
            self._skipped.add(self._place(found.row, given_key(found.name)))
        del self._open[number]

    def reopen(self, number: int, x: ArrayLike, question: Question, name: Key | None = None) -> None:
        """Take up an open question of an earlier stream (see ``OneBitRegressor.save``)."""
        row = as_row(x, self.learner.columns)[0]
        called = f"{AUTOMATIC}{number}" if name is None else name
        self._open[as_count(number, "number", 0, self.asked - 1)] = _Open(row, question, called)

    def resume(
        self, states: Sequence[Any], events: Iterable[Event], rows: Mapping[Key, ArrayLike], fits: Fits | None = None
    ) -> None:
        """Go on where a log ends, at the last of some states learnt from it: its keys, numbers and open questions.

        The log's events and fits are noted here too, so that this stream's log is whole.  Nothing is taken from the
        budget, as nobody is asked.
        """
        log = list(events)
        asked = {event.id: event for event in log if isinstance(event, Asked)}
        # The comparisons that the best of several implies share the number of their question.
        numbers = {one.question.number for one in asked.values()} - {None}
        unnumbered = sum(one.question.number is None for one in asked.values())
        self.state = states[-1]
        self._before = [] if self._history is None else list(states[:-1])
        self.asked = max([0, *(number + 1 for number in numbers if number is not None)]) + unnumbered
        self.keys.update(one.row for one in asked.values() if given_key(one.row) is not None)
        self.visits, self.fits = (sum(isinstance(event, kind) for event in log) for kind in (Revisited, Fitted))
        given = {event.id: event.asked for event in log if isinstance(event, Answered)}
        for taken in (event.answered for event in log if isinstance(event, Retracted)):
            number = asked[given[taken]].question.number
            if number is not None:  # a new answer to it needs a name of its own
                self.retractions[number] = self.retractions.get(number, 0) + 1
        self._resume_open(log, asked, rows)
        for one in asked.values():
            if self._rows is not None and one.row in rows:
                self._rows.setdefault(one.row, as_row(rows[one.row], self.learner.columns)[0].copy())
        if self._fits is not None:
            self._fits.update(fits or {})
        for event in log:
            self._note(event)

    def _resume_open(self, log: list[Event], asked: dict[str, Asked], rows: Mapping[Key, ArrayLike]) -> None:
        gone = {event.answered for event in log if isinstance(event, Retracted)}
        ends = [event for event in log if isinstance(event, Answered | Skipped) and event.id not in gone]
        # Numbers, as the comparisons that the best of several implies share that of their question.
        done = {asked[event.asked].question.number for event in ends if event.asked in asked}
        for one in asked.values():
            number = one.question.number
            if number is not None and number not in done and one.row in rows:
                self.reopen(number, rows[one.row], one.question, one.row)
                done.add(number)
        passed = [asked[event.asked].row for event in ends if isinstance(event, Skipped) and event.asked in asked]
        for name in passed if self._again else ():
            if name in rows:
                self._skipped.add(self._place(as_row(rows[name], self.learner.columns)[0], given_key(name)))

    def open_questions(self) -> list[tuple[int, Array, Question, Key]]:
        """Return number, row, question and name of all that is open."""
        return [(number, *found) for number, found in self._open.items()]

    def skipped(self) -> list[Key | list[float]]:
        """Return which rows are not asked about again after a skip: their keys, or the rows that had none."""
        places = [p if isinstance(p, str | int) else np.frombuffer(p).tolist() for p in self._skipped]
        return sorted(places, key=lambda place: (str(type(place)), place))

    def pass_over(self, place: Key | list[float]) -> None:
        """Take over a row that an earlier stream had ``skipped``."""
        if not isinstance(place, str | int):
            self._skipped.add(self._place(as_row(place, self.learner.columns)[0], None))
        else:
            self._skipped.add(place)

    def predict(self, X: ArrayLike) -> Array:
        """Return predictions at the present state, n x m."""
        return self.learner.predict(self.state, X)

    def _put(self, row: Array, key: Key | None, question: Question, choice: Choice | None = None) -> Question:
        """Log first, then remember: what the log has not taken has not happened."""
        asked = question.numbered(self.asked)
        name = f"{AUTOMATIC}{self.asked}" if key is None else key
        self._note(Asked(f"ask-{self.asked}", name, asked, self.answered, choice))
        if self.budget is not None:
            self.budget.spend()
        if key is not None:
            self.keys.add(key)
        kept = row.copy()  # the caller may reuse the array
        if self._rows is not None:
            self._rows.setdefault(name, kept)
        self._open[self.asked] = _Open(kept, asked, name)
        self.asked += 1
        return asked

    def _note(self, event: Event) -> None:
        if self._log is not None:
            self._log(event)

    def _check_keys(self, keys: Sequence[Key | None]) -> None:
        for key in keys:
            if key is not None and (type(key) not in (str, int) or given_key(key) is None):
                raise InvalidArgument("key", f"a text (not beginning with {AUTOMATIC!r}) or a whole number", repr(key))

    def _check(self, questions: int, keys: Sequence[Key | None]) -> None:
        if self.budget is not None:
            self.budget.require(questions)
        self._check_keys(keys)
        seen: set[Key] = set()
        for key in keys:
            if key is None:
                continue
            if not self.resample and (key in self.keys or key in seen):
                raise AlreadyAsked(f"row {key!r} had its one question; resample=True allows several")
            seen.add(key)

    def _find(self, question: Question | int) -> tuple[int, _Open]:
        number = self._number(question)
        if number not in self._open:
            raise AlreadyAnswered(f"question {number} is closed: it was answered or skipped")
        found = self._open[number]
        self._same_words(question, found.question)
        return number, found

    def _number(self, question: Question | int) -> int:
        number = question.number if isinstance(question, Question) else question
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < self.asked:
            raise UnknownQuestion(f"question {number!r} was never asked here; {self.asked} question(s) were")
        return int(number)

    def _same_words(self, question: Question | int, asked: Question) -> None:
        if question is not asked and isinstance(question, Question) and question != asked:
            raise UnknownQuestion(f"question {asked.number} was asked here, but not with these words: {asked}")
