"""Which row comes next, what it is asked about, and what would be asked after either answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone.campaign.engine.coverage import SHARE
from askone.campaign.engine.projection import PlannedQuestion, Projection
from askone.campaign.engine.row_cache import RowCache
from askone.campaign.engine.second_opinions import SecondOpinions, tells_nothing
from askone.campaign.engine.training_set import teaches
from askone.campaign.kinds.base import EXAM_UNIFORMS, Check, ErrorPart, ExamPlan
from askone.campaign.settings.settings import Settings
from askone.learners.abilities import Forecasts
from askone.questions.base import Question
from askone.questions.registry import question_from_json
from askone.session import row_selection
from askone.session.log import Asked, Choice
from askone.session.row_selection import Candidates, chooses
from askone.store.entries import Entry

_REMEMBERED = 4096  # drafts
_WAITING = 32  # rows whose questions are open, the latest, whose neighbours are left for later
_LASTING = 0.02  # candidates are drawn anew after so many more answers, as a part of those so far
_CHECKS = 0.2  # of exams: they show how often people err, where neither gold nor overlap does, and what is far off
_FAR = 0.15  # of exams, where they show that alone
_PROOFS = 0.5  # of exams, where there is a target: that nothing is far off takes the most of them to prove
MINUTE = 60.0
"""In seconds."""
QUIET = 3
"""With more people than these at work an answer of one's own is one of many, and not looked ahead for."""


@final
class DraftQuestion(NamedTuple):
    """A question made at some state, that was not put yet."""

    plan: PlannedQuestion
    question: Question
    learnt: int
    aside: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, for the seat of the question before it."""
        question = self.question.to_json()
        return {"plan": self.plan.to_json(), "question": question, "learnt": self.learnt, "aside": self.aside}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> DraftQuestion:
        """Return the inverse of ``to_json``."""
        plan = PlannedQuestion.from_json(record["plan"])
        return cls(plan, question_from_json(record["question"]), record["learnt"], dict(record["aside"]))

    def entry(self, key: str, who: str, at: float, following: PlannedQuestion | None) -> Entry:
        """Return the log entry of this question; ``following`` is the question that is reserved to come after it."""
        event = Asked(f"ask-{self.plan.number}", key, self.question, self.learnt, self.plan.choice)
        passed = {"passed": list(self.plan.passed)} if self.plan.passed else {}
        ahead = {} if following is None else {"ahead": following.to_json()}
        return Entry(event, who, at, aside={**self.aside, **passed, **ahead})


@final
class Planner:
    """The learner's questions about a campaign's rows, at the state of the log."""

    def __init__(
        self, projection: Projection, row_cache: RowCache, settings: Settings, seed: int, gold: list[int]
    ) -> None:
        self.projection, self.row_cache, self.learner = projection, row_cache, projection.learner
        self.seed, self.gold = seed, gold
        self.labels = settings.labels
        self.second_opinions = SecondOpinions(projection, row_cache.features, seed)
        self.use(settings)
        self.made: dict[str, tuple[DraftQuestion, DraftQuestion]] = {}
        """Drafts by the lease of whoever will have them; the seat has them, too: for others and after a restart."""
        self._seen: dict[str, float] = {}
        self._drawn, self._looked = np.zeros(0, np.int64), cast(Candidates | None, None)  # rows to choose from
        self._slip = -1, 0.0  # after so many answers, how often they are wrong

    def use(self, settings: Settings, reworded: bool = False) -> None:
        """Ask by these settings from here on; ``reworded``: in other words than the learner knows."""
        self.whole, self.settings, self.level = settings, settings.ask, settings.level
        self._wording = settings.question.wording if reworded else None

    def present(self, people: Iterable[str], now: float) -> int:
        """Return how many are at work, with these: whoever asked here or answered anywhere within a minute."""
        self._seen.update(dict.fromkeys(people, now))
        if len(self._seen) > QUIET:
            self._seen = {person: at for person, at in self._seen.items() if at > now - MINUTE}
        return max(len(self._seen), self.projection.active(now, MINUTE))

    def remember(self, lease: str, no: DraftQuestion, yes: DraftQuestion) -> None:
        """Keep what was made for after a no and after a yes, by the lease of whoever will have it."""
        if len(self.made) >= _REMEMBERED:
            self.made.clear()
        self.made[lease] = (no, yes)

    def plan(
        self, person: str, number: int, before: PlannedQuestion | None = None, ahead: int = 0
    ) -> PlannedQuestion | None:
        """Return which row this question is to be about, other than that of the one ``before``; None: none is left.

        It is the person's next one, or one that comes so many after it (``ahead``).
        """
        besides = None if before is None else before.position
        gold = self.gold_for(person, number, besides, ahead)
        if gold is not None:
            return gold
        exam = self._is_exam(number)
        if self.projection.rowless:
            return PlannedQuestion(number, 0, "exam" if exam else "")
        for is_exam in (exam, not exam):  # when the rows of one sort have run out, the others are asked
            position, choice = self._row(person, number, is_exam, besides)
            if position is not None:
                plan = PlannedQuestion(number, position, "exam" if is_exam else "", choice)
                return self._unless_known(plan, () if before is None else (before.position, *before.passed))
        return None

    def _is_exam(self, number: int) -> bool:
        """Return whether a question is to measure the model: by lot."""
        u = random_table.uniforms(self.seed, number, 1, 3, random_table.ROLE)[0]
        return bool(u[1] < self.settings.exam_share)

    def _until_exam(self, number: int, most: int) -> int:
        """Return how many questions from this number on, at most so many, come before the next exam."""
        return next((k for k in range(most) if self._is_exam(number + k)), most)

    def _unless_known(self, plan: PlannedQuestion, left: Sequence[int]) -> PlannedQuestion | None:
        """Return a plan, or with ``ask.until = "known"`` one about a row that is not known well enough.

        Of some rows those that are known are passed over, for good; if all are, the least known one is asked.  None:
        all of these were ``left`` out before.
        """
        pool = self.projection.pool
        if self.settings.until != "known" or plan.role or not pool.is_later:
            return plan
        looked = np.array([one for one in pool.some(plan.number, plan.position).tolist() if one not in left])
        if not len(looked):
            return None
        doubts = self.labels.doubt(self.learner, self.projection.state, self.row_cache.features(looked.tolist()))
        if doubts is None:
            return plan
        unknown = doubts > self.settings.tolerance
        chosen = looked[unknown][0] if unknown.any() else looked[np.argmax(doubts)]
        passed = tuple(looked[~unknown & (looked != chosen)].tolist())
        choice = plan.choice if chosen == plan.position else None
        return PlannedQuestion(plan.number, int(chosen), plan.role, choice, passed)

    def gold_for(self, person: str, number: int, besides: int | None = None, ahead: int = 0) -> PlannedQuestion | None:
        """Return a row whose label is known, if this person's next question is to be about one.

        By lot for each question of each person, so that it is a share of what everybody is asked: of the questions
        that are made, most go to others as well where they overlap, and whoever comes late makes none.
        """
        if not self.gold or not self.settings.gold_share:
            return None
        known = self.projection.person(person)
        lot, place = random_table.by_name(f"gold {person} {known.answers + known.skips + ahead}", 2, self.seed)
        if lot >= self.settings.gold_share:
            return None
        unseen = [p for p in self.gold if p not in known.gold_seen and p != besides]
        if not unseen:
            return None
        return PlannedQuestion(number, unseen[int(place * len(unseen))], "gold")

    def _row(self, person: str, number: int, is_exam: bool, besides: int | None) -> tuple[int | None, Choice | None]:
        """Return a row for an exam, drawn from those kept for them, or one to learn from, as ``ask.order`` says.

        The one that should help most is that of some that are drawn (see ``row_selection``).  Of whoever errs so often
        that answers tell nothing, they would be lost on it; at one that is known well they show whether that is so.
        """
        pool, order, learner = self.projection.pool, self.settings.order, self.learner
        if order == "file" and not is_exam:
            return pool.next_in_file(besides), None
        if is_exam or order != "auto" or not chooses(learner):
            return pool.drawn(number, is_exam, besides), None
        uniform = row_selection.uniforms(self.seed, number)
        looked = self._look(learner, uniform, besides)
        if looked is None:
            return None, None
        candidates, free = looked
        waiting = self.row_cache.features(self.projection.waiting(_WAITING))
        spared = bool(person) and tells_nothing(learner, self.projection.state, person)
        at, choice = row_selection.best(candidates, waiting, pool.left(), float(uniform[0]), free, spared)
        return int(self._drawn[at]), choice

    def _look(self, learner: Forecasts[Any], uniform: Array, besides: int | None) -> tuple[Candidates, Array] | None:
        """Return rows to choose from, and which of them are free; None: no row is left."""
        pool = self.projection.pool
        known, free = learner.count(self.projection.state), pool.are_free(self._drawn, besides=besides)
        lasts = self._looked is not None and abs(known - self._looked.known) <= _LASTING * known
        if self._looked is None or not lasts or 2 * np.count_nonzero(free) <= len(free):
            self._drawn = pool.candidates(uniform[1:], besides)
            if not len(self._drawn):
                return None
            rows = self.row_cache.candidates(self._drawn.tolist())
            self._looked, free = Candidates(learner, self.projection.state, rows), np.ones(len(rows), np.bool_)
        return self._looked, free

    def bag(self, number: int, person: str, besides: int | None = None) -> list[DraftQuestion]:
        """Return questions from this number on that are asked at once; none where one row tells more (``ask.bag``).

        They end before the next exam, so that its share stays what it is, and with what the person may still answer.
        """
        learner, pool = self.learner, self.projection.pool
        most, allowed = self._until_exam(number, self.settings.bag), self.whole.per_person
        if allowed is not None:
            most = min(most, allowed - self.projection.person(person).answers)
        off = most < 2 or self.projection.rowless or pool.is_later
        if off or self.settings.order != "auto" or not chooses(learner):
            return []
        looked = self._look(learner, row_selection.uniforms(self.seed, number), besides)
        if looked is None:
            return []
        places, state = np.flatnonzero(looked[1]), self.projection.state
        rows = looked[0].rows[places]
        found = self.labels.best_bag(learner, state, rows, self.projection.pace, most) if len(rows) else None
        if found is None:
            return []
        bag, question = found
        if self._wording is not None:
            question = self.labels.reworded(question, self._wording)
        choice = Choice("bag", pool.left(), len(rows), bag.rate)
        positions = self._drawn[places[list(bag.places)]].tolist()
        return [
            DraftQuestion(
                PlannedQuestion(one, position, "", choice), question.numbered(one), learner.count(state),
                {"position": position, "bag": number},
            )
            for one, position in enumerate(positions, start=number)
        ]  # fmt: skip

    def draft(self, plan: PlannedQuestion, state: Any) -> DraftQuestion:
        """Return the question of a plan at a state."""
        row, x = self.row_cache.row(plan.position), self.row_cache.features([plan.position])[0]
        aside: dict[str, Any] = {"position": plan.position}
        question: Question | None = None
        if plan.role == "exam":
            question, aside = self._about_interval(plan.number, state, x, aside)
        if plan.role == "exam" and question is None:
            question, aside = self._exam(plan.number, state, x, aside)
        if question is None:
            uniform = random_table.uniforms(self.seed, plan.number, 1, self.learner.width)[0]
            question = self.labels.plausible(self.learner.ask(state, x, uniform), self.learner, state)
        if plan.role == "gold":
            aside = {**aside, "role": "gold", "truth": bool(question.answer(row.gold))}
        if self._wording is not None:
            question = self.labels.reworded(question, self._wording)
        return DraftQuestion(plan, question.numbered(plan.number), self.learner.count(state), aside)

    def _about_interval(
        self, number: int, state: Any, x: Array, aside: dict[str, Any]
    ) -> tuple[Question | None, dict[str, Any]]:
        """Return, for some of the exams, whether the label lies in the predicted interval (see ``coverage``)."""
        if random_table.uniforms(self.seed, number, 1, 1, random_table.INTERVAL)[0, 0] >= SHARE:
            return None, aside
        stretch = self.projection.stretch(1 - self.level)
        found = self.labels.interval_question(self.learner, state, x, self.level, stretch)
        if found is None:
            return None, aside
        return found.question, {**aside, "role": "exam", "outside": found.outside}

    def _exam(self, number: int, state: Any, x: Array, aside: dict[str, Any]) -> tuple[Question | None, dict[str, Any]]:
        """Return a question that measures the model, or now and then people, and what is noted of it."""
        *uniform, which, lot = random_table.uniforms(self.seed, number, 1, EXAM_UNIFORMS + 2, random_table.EXAM)[0]
        made_by = self._exam_plan(float(which))
        far, unknown = self.labels.has_far_exams, self.settings.gold_share == 0 and self.projection.overlap == 1
        checks = _PROOFS if far and self.settings.target is not None else _CHECKS if unknown else _FAR
        noted: dict[str, Any] = {}
        if lot < checks and (far or unknown):
            check = self.labels.sure_question(self.learner, state, x, np.array(uniform), made_by)
            noted = {} if check is None else _noted(check, checks, unknown)
            if check is not None and check.question is not None:
                return check.question, {**aside, **noted}
        exam = self.labels.exam(self.learner, state, x, np.array(uniform), made_by)
        if exam is None:
            return None, aside
        score = [*exam.score, exam.most, exam.most if exam.heaviest is None else exam.heaviest]
        about = {"score": score, "predicted": exam.predicted, "expected": exam.expected, "aim": made_by.aim}
        if far and exam.window is not None:
            about["part"] = ErrorPart(False, 1 - checks, exam.window)
        # By lot it was to ask beyond the window: where nothing is left, it says that, and nothing of the window.
        return exam.question, {**aside, "role": "exam", **about, **noted}

    def _exam_plan(self, u: float) -> ExamPlan:
        """Return what exams are made by at the moment; with both aims, each has one by lot."""
        projection = self.projection
        if not 0.9 <= (projection.answers + 1) / (self._slip[0] + 1.01) <= 1.1:  # looking at all answers takes its time
            self._slip = projection.answers, projection.slips.of_majority(projection.overlap).rate
        aim = self.settings.exams if self.settings.exams != "both" else "error" if u < 0.5 else "mean"
        return ExamPlan(projection.lately, self._slip[1], aim, self.settings.target)

    def drafts(self, number: int, following: PlannedQuestion, quiet: bool) -> tuple[DraftQuestion, DraftQuestion]:
        """Return what would be asked after a no and after a yes to question ``number``.

        With few people at work the state after either answer is computed; among many the bit is one of dozens
        that are on their way, and the present state has to do.  Gold teaches nothing, but is looked ahead from as if
        it did: two questions alike would tell it from the others.
        """
        asking = self.projection.asked[number]
        if not quiet or not teaches(self.learner, asking) or self.projection.overlap > 1:
            draft = self.draft(following, self.projection.state)
            return draft, draft
        x = self.row_cache.features([asking.position])[0]
        no, yes = (self.projection.trainer.supposed(x, asking.question, bit) for bit in (False, True))
        return self.draft(following, no), self.draft(following, yes)


def _noted(check: Check, share: float, unknown: bool) -> dict[str, Any]:
    """Return what is noted of a check: the chance where it is to show slips, the score where it measures as well."""
    found: dict[str, Any] = {}
    if check.question is not None:
        found["role"] = "check"
        if unknown:
            found["chance"] = check.chance
    if check.score is not None:
        bound = max(check.score)
        found |= {"score": [*check.score, bound, bound], "part": ErrorPart(True, share, check.window)}
    return found
