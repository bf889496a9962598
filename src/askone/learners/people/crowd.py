"""A learner whose answers come from several people, of whom some err more than others.

Each answer is learnt with what is known of whoever gave it (``ErrorRates``).  When the answers have grown by two
thirds, the rates are found anew: the learner says in hindsight how likely an honest yes was, without the answer itself
(``Hindsight``), and ``rates`` compares that with what each person said.  That is a fit like others: it takes effect at
a place of the log that is written down.

Whoever is new is taken for as careful as the crowd.  While there is one person, all is as without people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_count, as_number, as_row, as_rows
from askone.errors import InvalidArgument
from askone.labels.number import Real
from askone.learners import abilities
from askone.learners.base import Learner, marked, of_family, unmarked
from askone.learners.mixture.members import require_array
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.people._state import Answers, CrowdState, Said, Told
from askone.learners.people.confusions import with_confusions
from askone.learners.people.habits import KnownHabits
from askone.learners.people.opinions import JointEvidence
from askone.learners.people.rates import CrowdRates, rates_of
from askone.learners.person import Person
from askone.learners.streaming import StreamTask
from askone.questions.base import HONEST, Answer, ErrorRates, Question
from askone.questions.subset import Subset

_FIRST, _GROWTH = 60, 1.7  # answers before the first look at rates, and their growth from look to look
_LOOKED_AT = 1000  # answers up to which rates are found anew for whoever looks at them
_EARLY = 150  # answers before all is learnt anew with the rates that were found
_SUSPECTED, _HEARD = 200, 6  # answers up to which people are suspected, of those who gave so many
_USUAL, _BLIND = 0.03, 0.5  # rates of a crowd that is careful, and of somebody who does not look
_ALONE = 512  # answers of one person that are kept for when there is another
_MOST = 4096  # answers that are kept to find rates by
_ROOM = 4_000_000  # numbers of their rows, at most
_MARK = "base-"
_SLIGHT = 0.1  # by how much an opinion changes the chance of yes, at most, that adds next to nothing to others
_FEW, _REVISED = 8, 0.05  # those that add more, and their share of all, after which all is learnt anew
_ALIKE = 0.01  # by how much rates differ, in the mean of all answers, where nothing is learnt anew
_LEARNT = "learnt-"
_ANEW_BEFORE: WeakKeyDictionary[CrowdState, tuple[bytes, Any, Answers]] = WeakKeyDictionary()


@final
@dataclass(frozen=True, eq=False)
class CrowdLearner(
    abilities.HasDeviation[CrowdState],
    abilities.PredictsWithin[CrowdState],
    abilities.HasProbabilities[CrowdState],
    abilities.TakesRanges[CrowdState],
    abilities.Refits[CrowdState],
    abilities.Forgets[CrowdState],
    abilities.AsksMany[CrowdState],
    abilities.TellsMany[CrowdState],
    abilities.Streams[CrowdState],
    abilities.FindsRange[CrowdState],
    abilities.Blends[CrowdState],
    abilities.KnowsPeople[CrowdState],
    abilities.HasThresholds[CrowdState],
    abilities.HasPrices[CrowdState],
    abilities.DrawsScores[CrowdState],
    abilities.Wraps[CrowdState],
):
    """See the module.  Of people who err more seldom than ``careful`` on both sides, nothing is made.

    ``again`` is the growth of the answers from one time that all is learnt anew to the next.
    ``flip`` is how often answers are flipped after people gave them, which the learner knows: rates are without it.
    ``suspects``: of so many people it is tried, as long as answers are few, whether all are more likely where theirs
    tell nothing.  A model that has learnt from somebody who does not look foretells them, and others no better: only
    another one shows it.  Where it is 0, nothing is learnt anew so early.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.learners.kalman.regressor import FilterLearner
    >>> crowd = CrowdLearner(FilterLearner(Real(0, 100), (Linear(Scaler.identity(1)),)))
    >>> state = crowd.init()
    >>> for person in ("ann", "bob"):
    ...     question = crowd.ask(state, [0.0], np.empty(0))
    ...     state = crowd.tell_by(state, [0.0], question, True, person)
    >>> [(one.name, one.answers) for one in crowd.people(state)]
    [('ann', 1), ('bob', 1)]
    """

    base: Any
    careful: float = 0.0
    again: float = 4.0
    flip: float = 0.0
    suspects: int = 0
    adds: ClassVar[tuple[type[Learner[Any]], ...]] = (abilities.KnowsPeople, abilities.Refits)

    def __post_init__(self) -> None:
        if not abilities.able(self.base, abilities.Hindsight):
            raise InvalidArgument("base", "a learner with hindsight", type(self.base).__name__)
        as_number(self.careful, "careful", 0.0, 1.0)
        as_number(self.again, "again", 1.0, strict=True)
        as_number(self.flip, "flip", 0.0, 0.49)
        as_count(self.suspects, "suspects", 0)

    # -- what the learner says --------------------------------------------------------------------

    @property
    def width(self) -> int:
        return int(self.base.width)

    @property
    def wrapped(self) -> tuple[Any, ...]:
        return (self.base,)

    def init(self) -> CrowdState:
        none = np.zeros(0, np.int64), KnownHabits(np.zeros((0, 2))), np.zeros((0, 2, 2))
        anew = _FIRST if self.suspects else _EARLY
        return CrowdState(self.base.init(), (), *none, 0.0, Answers(), Buffer(self.columns), _FIRST, anew)

    def ask(self, state: CrowdState, x: ArrayLike, uniform: Array) -> Question:
        question: Question = self.base.ask(state.base, x, uniform)
        return question

    def ask_many(self, state: CrowdState, X: ArrayLike, uniform: Array) -> list[Question]:
        return abilities.ask_many(self.base, state.base, X, uniform)

    def predict(self, state: CrowdState, X: ArrayLike) -> Array:
        return np.asarray(self.base.predict(state.base, X))

    def std(self, state: CrowdState, X: ArrayLike) -> Array | None:
        return abilities.deviation(self.base, state.base, X)

    def interval(self, state: CrowdState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array] | None:
        return abilities.interval(self.base, state.base, X, level)

    def predict_within(self, state: CrowdState, X: ArrayLike, level: float | None = None) -> abilities.Within:
        return abilities.predict_within(self.base, state.base, X, level)

    def thresholds(self, state: CrowdState, X: ArrayLike, level: float | None, held: float) -> Array:
        return np.asarray(self.base.thresholds(state.base, X, level, held))

    def noise(self, state: CrowdState, held: float) -> Array:
        return np.asarray(self.base.noise(state.base, held))

    def prices(self, state: CrowdState, X: ArrayLike) -> Array:
        return np.asarray(self.base.prices(state.base, X))

    def score_draws(self, state: CrowdState, X: ArrayLike, count: int) -> Array | None:
        return abilities.score_draws(self.base, state.base, X, count)

    def probabilities(self, state: CrowdState, X: ArrayLike) -> Array | None:
        return abilities.probabilities(self.base, state.base, X)

    def chance(self, state: CrowdState, x: ArrayLike, question: Question) -> float:
        return float(self.base.chance(state.base, x, question))

    def worth(self, state: CrowdState, X: ArrayLike) -> Array:
        return np.asarray(self.base.worth(state.base, X))

    def blend(self, state: CrowdState) -> list[tuple[str, float]]:
        return abilities.blend(self.base, state.base)

    def range_at(self, state: CrowdState) -> Real | None:
        found: Real | None = self.base.range_at(state.base)
        return found

    def known(self, state: CrowdState) -> int:
        return abilities.known(self.base, state.base)

    def count(self, state: CrowdState) -> int:
        return int(self.base.count(state.base))

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: CrowdState, x: ArrayLike, question: Question, answer: Answer) -> CrowdState:
        """Return the state after an answer of nobody in particular."""
        base, accepted = self.base.tell(state.base, x, question, answer), question.accept(answer)
        if not state.people or not isinstance(accepted, bool):
            return replace(state, base=base)
        return self._noted(state, base, (), as_row(x, self.columns), question, accepted)

    def tell_many(
        self, state: CrowdState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> CrowdState:
        if not state.people:
            return replace(state, base=abilities.tell_many(self.base, state.base, X, questions, answers))
        return self.tell_many_by(state, X, questions, answers, [None] * len(questions))

    def tell_many_by(
        self, state: CrowdState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer],
        people: Sequence[str | None],
    ) -> CrowdState:  # fmt: skip
        rows, said, put = as_rows(X, self.columns), list[Said](), list[Question]()
        if any(not isinstance(one.accept(answer), bool) for one, answer in zip(questions, answers, strict=True)):
            for x, question, answer, person in zip(rows, questions, answers, people, strict=True):
                args = (state, x, question, answer)
                state = self.tell(*args) if person is None else self.tell_by(*args, person)
            return state
        if not state.people and len(people):  # nobody is noted before somebody is named
            first = next((n for n, person in enumerate(people) if person is not None), len(people))
            state = replace(
                state, base=abilities.tell_many(self.base, state.base, rows[:first], questions[:first], answers[:first])
            )
            rows, questions, answers, people = rows[first:], questions[first:], answers[first:], people[first:]
        bits = [bool(question.accept(answer)) for question, answer in zip(questions, answers, strict=True)]
        for question, bit, person in zip(questions, bits, people, strict=True):
            state, who = (state, ()) if person is None else self._places(state, ((person, bit),))
            said.append(who)
            put.append(self._put_to(state, question, who[0][0]) if who else question)
        base = abilities.tell_many(self.base, state.base, rows, put, bits)
        for n, (who, question, bit) in enumerate(zip(said, put, bits, strict=True)):
            state = self._noted(state, base, who, rows[n : n + 1], question, bit)
        return state

    def stream(self, state: CrowdState, X: Array, task: StreamTask) -> CrowdState:
        return replace(
            state, base=abilities.stream(self.base, state.base, X, task), told=Answers(), store=Buffer(self.columns)
        )

    def tell_by(self, state: CrowdState, x: ArrayLike, question: Question, answer: Answer, person: str) -> CrowdState:
        accepted = question.accept(answer)
        if isinstance(accepted, bool):
            return self.tell_opinions(state, x, question, ((person, accepted),))
        state, said = self._places(state, ((person, True),))  # who finds neither better: no rate is found by that
        put = self._put_to(state, question, said[0][0])
        return replace(state, base=self.base.tell(state.base, x, put, accepted), answers=self._counted(state, said))

    def tell_opinions(
        self, state: CrowdState, x: ArrayLike, question: Question, opinions: abilities.Opinions, known: int = 0
    ) -> CrowdState:
        state, said = self._places(state, opinions)
        if isinstance(question, Subset) and question.row and len(said) > 1:  # answers about one row share its label
            for person, bit in opinions[known:]:
                state = self.tell_opinions(state, x, question, ((person, bit),))
            return state
        if known:
            return self._joined(state, question, said, known)
        put, bit = self._put_to(state, question, said[0][0]), said[0][1]
        if len(said) > 1:
            slips, bit = self._evidence(state.habits.rates, said).answer
            put = question.put_to(slips)
        base = self.base.tell(state.base, x, put, bit)
        return self._noted(state, base, said, as_row(x, self.columns), put, bit)

    def _joined(self, state: CrowdState, question: Question, said: Said, known: int) -> CrowdState:
        """Return the state with opinions beside those that were learnt: they teach when all is learnt anew.

        A state cannot unlearn, and what was said first is no evidence of its own any more.
        """
        answers, told = self._counted(state, said[known:]), list(state.told)
        mine = (said[:known], question.number)
        place = next((n for n in range(len(told) - 1, -1, -1) if (told[n][0], told[n][1].number) == mine), None)
        if place is None:  # it is too long ago
            return replace(state, answers=answers)
        before, after = (self._evidence(state.habits.rates, some).chance(0.5) for some in (said[:known], said))
        told[place] = (said, *told[place][1:])
        added = state.added + int(abs(after - before) > _SLIGHT)
        return replace(state, answers=answers, told=Answers(told), added=added)

    @cached_property
    def _most(self) -> int:
        """How many answers are kept at most."""
        return max(min(_MOST, _ROOM // self.columns), 64)

    def _counted(self, state: CrowdState, said: Said) -> Array:
        answers = state.answers.copy()
        if len(said) == 1:
            answers[said[0][0]] += 1
            return answers
        for place in {place for place, _ in said}:
            answers[place] += 1
        return answers

    def revises(self, state: CrowdState) -> bool:
        return self.count(state) <= len(state.told)

    def truths(
        self, state: CrowdState, X: ArrayLike, questions: Sequence[Question], opinions: Sequence[abilities.Opinions]
    ) -> tuple[Array, Array]:
        told = {question.number: (question, bit) for _, question, bit in state.told}
        found, learnt = list[JointEvidence](), list[tuple[Question, bool]]()
        for question, some in zip(questions, opinions, strict=True):
            state, said = self._places(state, some)
            found.append(self._evidence(state.habits.rates, said))
            slips, bit = found[-1].answer
            learnt.append(told.get(question.number, (question.put_to(slips), bit)))
        put, bits = [question for question, _ in learnt], [bit for _, bit in learnt]
        believed = self.base.hindsight(state.base, as_rows(X, self.columns), put, bits)
        before = np.full(len(put), 0.5) if believed is None else believed
        if before.ndim > 1:
            before = (before * np.array([self._inside(question) for question in put])).sum(axis=1)
        return before, np.array([one.chance(p) for one, p in zip(found, before.tolist(), strict=True)])

    def slips(self, state: CrowdState, person: str) -> ErrorRates:
        return self._slips(*self._met(state, person))

    def _places(self, state: CrowdState, opinions: abilities.Opinions) -> tuple[CrowdState, Said]:
        """Return the state with these people in it, and what they said by their places."""
        said = []
        for person, bit in opinions:
            state, place = self._met(state, person)
            said.append((place, bit))
        return state, tuple(said)

    def _evidence(self, rates: Array, said: Said) -> JointEvidence:
        return JointEvidence.of((rates[place], bit) for place, bit in said)

    def _met(self, state: CrowdState, person: str) -> tuple[CrowdState, int]:
        """Return the state with somebody in it, and their place; whoever is new is as careful as the crowd."""
        if person in state.people:
            return state, state.people.index(person)
        habits = state.habits.with_newcomer(state.common)
        intervals = np.concatenate([state.intervals, [[[0.0, 1.0]] * 2]])
        people, answers = (*state.people, person), np.append(state.answers, 0)
        return replace(state, people=people, answers=answers, habits=habits, intervals=intervals), len(state.people)

    def _slips(self, state: CrowdState, place: int) -> ErrorRates:
        return HONEST if len(state.people) < 2 else state.habits.slips(place, self.careful)

    def _put_to(self, state: CrowdState, question: Question, place: int) -> Question:
        return question.put_to(HONEST) if len(state.people) < 2 else self._put_by(state.habits, question, place)

    def _put_by(self, habits: KnownHabits, question: Question, place: int) -> Question:
        known = len(habits.weights) > 0 and isinstance(question, Subset)
        return habits.put(question, self._inside(question) if known else None, place, self.careful)

    def _inside(self, question: Question) -> Array:
        """Return 1 for the classes of a set, and 0 for the others."""
        inside: Array = self.base.space.inside(of_family(question, Subset).members, "question")
        return inside

    def _noted(self, state: CrowdState, base: Any, said: Said, row: Array, question: Question, bit: bool) -> CrowdState:
        """Return the state with the learner's after an answer, which is kept to find rates by."""
        answers = self._counted(state, said)
        told, store = state.told, state.store
        if len(told) >= (_ALONE if len(state.people) < 2 else self._most):  # of one person alone nothing can be found
            half = len(told) // 2
            store = Buffer(self.columns).extended(0, store.view(len(told))[-half:])
            told = Answers(list(told)[-half:])
        store = store.extended(len(told), row)
        return state.noted(base, answers, told.after((said, question, bit)), store)

    def people(self, state: CrowdState) -> list[Person]:
        each = zip(state.people, state.answers.tolist(), state.habits.rates, state.intervals, strict=True)
        return [Person.of(name, answers, rates, ends) for name, answers, rates, ends in each]

    def people_now(self, state: CrowdState) -> list[Person]:
        """See ``KnowsPeople.people_now``: of many answers, by the last look, which they change little."""
        few = len(state.people) > 1 and state.heard <= _LOOKED_AT
        rates = self._rates(state, state.base, state.told) if few else None
        if rates is None:
            return self.people(state)
        each = zip(state.people, state.answers.tolist(), rates.habits.rates, rates.intervals, strict=True)
        return [Person.of(name, answers, known, ends) for name, answers, known, ends in each]

    def unnamed(self, state: CrowdState) -> CrowdState:
        return replace(self.init(), base=state.base)

    # -- rates ------------------------------------------------------------------------------------

    def _due(self, state: CrowdState) -> bool:
        return len(state.people) > 1 and (state.heard >= state.due or self._revised(state))

    def _revised(self, state: CrowdState) -> bool:
        """Return whether so many opinions joined others that all should be learnt anew, where it can be."""
        return state.added > max(_REVISED * len(state.told), _FEW) and self.revises(state)

    def due(self, state: CrowdState) -> bool:
        return self._due(state) or (abilities.able(self.base, abilities.Refits) and self.base.due(state.base))

    def fit(self, state: CrowdState) -> dict[str, Array]:
        """Return the rates of people, if they are due, and all learnt anew with them; else what the learner fits."""
        if not self._due(state):
            return marked(_MARK, self.base.fit(state.base))
        found = {"answers": np.array(state.heard)}
        rates = self._rates(state, state.base, state.told)
        if rates is None:
            return found
        found["anew"], revised = np.array(0), self._revised(state)
        if self.revises(state) and (revised or state.heard >= state.anew):
            # Opinions that were not learnt yet are to be: by the habits so far, if the present model misjudges people.
            least = -np.inf if revised else rates.evidence
            before = [state.habits] if revised else []
            for habits in (rates.habits, *before, *self._suspected(state, rates)):
                if not revised and self._as_told(state, habits):
                    continue
                again = self._rates(state, *self._relearnt(state, habits))
                if again is not None and again.evidence > least:  # the answers are more likely by what is learnt anew
                    found |= {"anew": np.array(1)} | marked(_LEARNT, habits._asdict())
                    rates, least = again, again.evidence
        return found | rates.habits._asdict() | {"intervals": rates.intervals, "common": np.array(rates.common)}

    def _suspected(self, state: CrowdState, rates: CrowdRates) -> list[KnownHabits]:
        """Return habits by which all people are careful, or one of those who seem to err most does not look."""
        if not self.suspects or state.heard > _SUSPECTED:
            return []
        each, heard = rates.habits.rates, np.flatnonzero(state.answers >= _HEARD)
        found = [np.full_like(each, _USUAL)]
        for place in heard[np.argsort(-each[heard].sum(axis=1), kind="stable")][: self.suspects].tolist():
            found.append(np.full_like(each, rates.common))
            found[-1][place] = _BLIND
        return [KnownHabits(one) for one in found]

    def _as_told(self, state: CrowdState, habits: KnownHabits) -> bool:
        """Return whether answers were learnt with nearly these habits, so that little can be learnt anew."""
        if len(habits.weights) or len(state.habits.weights):  # confusions say more than rates
            return False
        apart = 0.0
        for said, question, bit in state.told:
            _, put, now = self._put(habits, said, question, bit)
            before, after = question.slips, put.slips
            apart += 1.0 if now != bit else max(abs(before.yes - after.yes), abs(before.no - after.no))
        return apart <= _ALIKE * len(state.told)

    def _relearnt(self, state: CrowdState, habits: KnownHabits) -> tuple[Any, Answers]:
        """Return the learner's state after all was learnt anew with these habits, and the answers as they are in it."""
        # Who makes a fit and takes it over computes the same twice: half of what learning anew costs.
        known, mark = _ANEW_BEFORE.get(state), b"".join(array.tobytes() for array in habits)
        if known is None or known[0] != mark:
            put = [self._put(habits, *one) for one in state.told]
            rows = state.store.view(len(put))
            questions, bits = [question for _, question, _ in put], [bit for *_, bit in put]
            known = mark, self.base.relearnt(state.base, rows, questions, bits), Answers(put)
            _ANEW_BEFORE[state] = known
        return known[1:]

    def _put(self, habits: KnownHabits, said: Said, question: Question, bit: bool) -> Told:
        """Return an answer as of people with these habits; who came after they were found is as they were."""
        if not said or max(said)[0] >= len(habits.rates):
            return said, question, bit
        if len(said) == 1:
            return said, self._put_by(habits, question, said[0][0]), bit
        slips, bit = self._evidence(habits.rates, said).answer
        return said, question.put_to(slips), bit

    def _rates(self, state: CrowdState, base: Any, told: Iterable[Told]) -> CrowdRates | None:
        """Return the rates by a learner's state, which has the answers as they were told."""
        all_told = list(told)
        named = [n for n, one in enumerate(all_told) if one[0]]
        if not named:
            return None
        said, questions, bits = zip(*(all_told[n] for n in named), strict=True)
        believed = self.base.full_hindsight(base, state.store.view(len(all_told))[named], questions, bits)
        if believed is None:
            return None
        group = np.repeat(np.arange(len(said)), [len(one) for one in said])
        places, each = np.array([one for some in said for one in some]).T
        if believed.ndim == 1:
            return rates_of(places, each.astype(bool), believed[group], len(state.people), group, self.flip)
        inside = np.array([self._inside(question) for question in questions])
        chances, bit = (believed * inside).sum(axis=1)[group], each.astype(bool)
        rates = rates_of(places, bit, chances, len(state.people), group, self.flip, uneven=True)
        return with_confusions(rates, places, bit, inside[group], believed[group], self.flip)

    def adopt(self, state: CrowdState, fit: dict[str, Array]) -> CrowdState:
        if "answers" not in fit:  # the learner's; in older logs without a mark
            inner = unmarked(_MARK, {name: array for name, array in fit.items() if name.startswith(_MARK)})
            return replace(state, base=self.base.adopt(state.base, inner or fit))
        self._check(fit)
        told = int(fit["answers"].item())
        due = int(told * _GROWTH) + 1
        if "rates" not in fit:
            return replace(state, due=due, added=0)
        if fit["anew"].item() and self.revises(state):
            base, put = self._relearnt(state, KnownHabits.of_fit(fit, _LEARNT))
            state = replace(state, base=base, told=put, anew=int(told * self.again), added=0)
        elif told >= state.anew and self.revises(state):  # it was tried, and did not explain the answers better
            state = replace(state, anew=int(told * self.again))
        intervals = state.intervals.copy()
        known = min(len(intervals), len(fit["intervals"]))
        intervals[:known] = fit["intervals"][:known]
        habits, common = KnownHabits.of_fit(fit).over(state.habits), float(fit["common"].item())
        return replace(state, due=due, habits=habits, intervals=intervals, common=common)

    def _check(self, fit: dict[str, Array]) -> None:
        """Refuse what is no fit: files of strangers have them."""
        require_array(fit, "answers", "i8")
        if "rates" not in fit:
            return
        n = len(require_array(fit, "rates", "f8", None, 2))
        require_array(fit, "intervals", "f8", n, 2, 2)
        require_array(fit, "common", "f8")
        require_array(fit, "anew", "i8")
        for name in ("intervals", "common"):
            if ((fit[name] < 0.0) | (fit[name] > 1.0)).any():
                raise InvalidArgument(f"fit[{name!r}]", "numbers from 0 to 1", fit[name].tolist())

    # -- the state as a value ---------------------------------------------------------------------

    def to_arrays(self, state: CrowdState) -> dict[str, Array]:
        return state.to_arrays() | marked(_MARK, self.base.to_arrays(state.base))

    def from_arrays(self, arrays: dict[str, Array]) -> CrowdState:
        state = CrowdState.from_arrays(self.columns, arrays)
        return replace(state, base=self.base.from_arrays(unmarked(_MARK, arrays)))
