"""From what the engine serves to response models: a person who answers sees these fields and nothing else.

No gold, no scores, nobody else's answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from askone.campaign.engine.commands import Ahead, Served, Serving
from askone.campaign.output.views import picture_of, shown_row
from askone.labels.number import YES_NO, number_text
from askone.questions.base import Question
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset
from askone.server._responses import (
    AheadResponse,
    PairResponse,
    QuestionResponse,
    RowResponse,
    ServingResponse,
    ThresholdResponse,
)
from askone.store.entries import Row

MAX_ROWS: Final = 1024
"""Rows that are kept as they are shown."""


@final
class QuestionSerializer:
    """Makes responses of the questions of one campaign, of whose rows the columns ``show`` are shown (None: all)."""

    def __init__(self, campaign: str, show: Sequence[str] | None) -> None:
        self._campaign, self._show = campaign, show
        self._rows: dict[int, RowResponse] = {}

    def serving(self, serving: Serving, now: float) -> ServingResponse:
        """Return the next question, or why there is none."""
        return ServingResponse(
            state=serving.state,
            mine=serving.mine,
            left=serving.left,
            undoable=serving.undoable,
            duplicate=serving.duplicate,
            question=None if serving.question is None else self.question(serving.question, now),
            ahead=None if serving.ahead is None else self._ahead(serving.ahead, now),
        )

    def _ahead(self, ahead: Ahead, now: float) -> AheadResponse:
        # Among many people a yes and a no lead to the same question.
        yes = self.question(ahead.yes, now)
        no = yes if ahead.no.question == ahead.yes.question else self.question(ahead.no, now)
        return AheadResponse(yes=yes, no=no)

    def question(self, served: Served, now: float) -> QuestionResponse:
        """Return a question in words and in parts, with its row.

        >>> import numpy as np
        >>> from askone.labels.number import Wording
        >>> question = HalfSpace((1.0,), 37.0, wording=Wording(("price",), "EUR"))
        >>> served = Served("l", 0, question, Row(0, "a", {}, np.zeros(0)), 60.0)
        >>> shown = QuestionSerializer("c", None).question(served, 0.0)
        >>> shown.sentence, shown.threshold.shown
        ('Is the price above 37 EUR?', '37')
        """
        question, answers = served.question, _answers(served.question)
        return QuestionResponse(
            lease=served.lease,
            number=served.number,
            expires_in=round(max(0.0, served.expires - now), 3),
            kind=_KINDS.get(type(question), question.kind),
            sentence=str(question),
            answers=answers,
            threshold=_threshold(question) if isinstance(question, HalfSpace) else None,
            set=[str(name) for name in question.members]
            if isinstance(question, Subset) and not question.title
            else None,
            pair=PairResponse(left=answers[0], right=answers[1]) if isinstance(question, Prefer) else None,
            row=self._row(served.row),
        )

    def _row(self, row: Row) -> RowResponse:
        # A row is shown ahead and again when its turn has come, and it never changes.
        shown = self._rows.get(row.position)
        if shown is None:
            shown = RowResponse.model_validate(shown_row(row, self._show, picture_of(self._campaign, row)))
            if len(self._rows) >= MAX_ROWS:
                self._rows.clear()
            self._rows[row.position] = shown
        return shown


_KINDS: Final[dict[type[Question], str]] = {HalfSpace: "threshold", Subset: "set", Prefer: "pair"}


def _answers(question: Question) -> list[str]:
    if isinstance(question, HalfSpace) and question.answers != YES_NO:
        return [str(word) for word in question.answers]
    return [str(question.first), str(question.second)] if isinstance(question, Prefer) else ["Yes", "No"]


def _threshold(question: HalfSpace) -> ThresholdResponse:
    words, below = question.wording, str(question).find(" below ") >= 0 and all(w <= 0 for w in question.weights)
    shown = -question.shown if below else question.shown
    name = words.amount(tuple(-w for w in question.weights) if below else question.weights)
    return ThresholdResponse(shown=number_text(shown), unit=words.unit, name=name, side="below" if below else "above")
