"""Which questions other people are asked, too: where that tells more than another row (``ask.overlap = "auto"``).

An answer of somebody tells I(r, q) bits of a question's truth, with r how often they err and q the chance of yes after
all that was said to it and by all else that the model has learnt; of a question about a new row it is I(r, p), with p
as in the latest ones.  The question of most bits is asked again if these are a fifth more, or if no row is left and
they are worth the trouble.  Whoever errs so often that their answers tell nothing is asked no second opinion; whoever
is new is taken for as careful as the crowd, and has them as others do.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, final

from askone._common import random_table
from askone.campaign.engine._trainer import Features
from askone.campaign.engine.projection import Projection
from askone.campaign.engine.training_set import MOST_OPINIONS, GivenAnswer, questions_of
from askone.campaign.settings.settings import Settings
from askone.errors import InvalidArgument
from askone.learners.abilities import KnowsPeople
from askone.learners.base import Learner
from askone.learners.person import information
from askone.questions.base import ErrorRates
from askone.session.row_selection import sampled

_LEAST = 0.1  # bits: less is not worth an answer
_MORE = 1.2  # times what a new row tells: it also shows the model another place
_CAREFUL = ErrorRates(0.02, 0.02)
_LATEST, _DRAWN = 32, 256  # questions that are looked at while there are rows, and after
_OFTEN = 8  # answers, after which they are looked at again
_SHORT = 16  # of these, those that are compared for a person


def refuse_auto(settings: Settings, learner: Learner[Any]) -> None:
    """Refuse to ask for opinions where nobody is known."""
    if settings.ask.overlap == "auto" and not isinstance(learner, KnowsPeople):
        raise InvalidArgument("overlap", "a number of people, as this learner does not tell them apart", "auto")


def tells_nothing(learner: Learner[Any], state: Any, person: str) -> bool:
    """Return whether somebody is known to err so often that their answers tell next to nothing."""
    return isinstance(learner, KnowsPeople) and information(learner.slips(state, person), 0.5) < _LEAST


@final
class _Doubtful(NamedTuple):
    """A question, how many had answered it, and the chance that yes is true."""

    number: int
    answers: int
    chance: float


@final
class SecondOpinions:
    """See the module.  What it chooses is written into the log: it may depend on how much was learnt by now."""

    def __init__(self, projection: Projection, features: Features, seed: int) -> None:
        self._projection, self._features, self._seed = projection, features, seed
        self._at: tuple[int, bool] | None = None
        self._doubtful: list[_Doubtful] = []
        self._fresh = 0.5  # the lesser chance of an answer to a question about a new row

    @property
    def rows_left(self) -> bool:
        """Whether there are new rows to ask about."""
        return self._projection.rowless or self._projection.pool.any_left()

    def best(self, person: str) -> int | None:
        """Return the question of which somebody should say what they think; None: a new row tells more."""
        projection, learner = self._projection, self._projection.learner
        if not projection.is_auto or not isinstance(learner, KnowsPeople) or not learner.revises(projection.state):
            return None
        if tells_nothing(learner, projection.state, person):
            return None
        rates = learner.slips(projection.state, person)
        rows_left = self.rows_left
        self._look(rows_left)
        mine = islice((one for one in self._doubtful if self._is_open(one, person)), _SHORT)
        gain, number = max(((information(rates, one.chance), -one.number) for one in mine), default=(0.0, 0))
        return -number if gain > max(_LEAST, _MORE * information(rates, self._fresh) if rows_left else 0.0) else None

    def _is_open(self, one: _Doubtful, person: str) -> bool:
        """Return whether a question is as it was when it was looked at, and new to somebody."""
        given, closed = self._projection.asked[one.number].given, self._projection.closed
        return one.number in closed and len(given) == one.answers and all(other.who != person for other in given)

    def _look(self, rows_left: bool) -> None:
        """Look at questions again, if that was some answers ago."""
        projection = self._projection
        if self._at is not None and self._at[1] == rows_left and projection.answers - self._at[0] < _OFTEN:
            return
        self._at, self._doubtful = (projection.answers, rows_left), []
        looked = [(number, said) for number in self._numbers(rows_left) if (said := self._said(number))]
        if looked:
            self._judge(looked)
        if not rows_left:
            projection.opinions_left = any(information(_CAREFUL, one.chance) > _LEAST for one in self._doubtful)

    def _numbers(self, rows_left: bool) -> Iterable[int]:
        """Return the latest questions, or where rows have run out some that are drawn from all."""
        lessons = self._projection.lessons.all
        if rows_left:
            return [lesson.number for lesson in lessons[-_LATEST:]]
        if len(lessons) <= _DRAWN:
            return [lesson.number for lesson in lessons]
        uniform = random_table.uniforms(self._seed, self._projection.answers, 1, _DRAWN, random_table.POOL)[0]
        return [lessons[place].number for place in sampled(uniform, len(lessons)).tolist()]

    def _said(self, number: int) -> list[GivenAnswer]:
        return self._projection.opinions(number, MOST_OPINIONS)

    def _judge(self, looked: list[tuple[int, list[GivenAnswer]]]) -> None:
        """Note which of these questions are in doubt, the most doubtful first."""
        projection, learner = self._projection, self._projection.learner
        if not isinstance(learner, KnowsPeople):
            return
        asked = [projection.asked[number] for number, _ in looked]
        said = [[(one.who, one.answer) for one in given] for _, given in looked]
        rows = self._features([one.position for one in asked])
        before, after = learner.truths(projection.state, rows, questions_of(asked), said)
        self._fresh = 0.5 - float(abs(before - 0.5).mean())
        found = [
            _Doubtful(number, len(projection.asked[number].given), chance)
            for (number, _), chance in zip(looked, after.tolist(), strict=True)
        ]
        self._doubtful = sorted(found, key=lambda one: abs(one.chance - 0.5))
