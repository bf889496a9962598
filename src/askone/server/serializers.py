"""From what the engine serves to response models: a person who answers sees these fields and nothing else.

No gold and nothing by which it could be told, no scores, nobody else's answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from askone.campaign.engine.commands import Ahead, Served, Serving
from askone.campaign.kinds.base import Kind
from askone.campaign.output.views import has_picture, shown_fields
from askone.campaign.settings.settings import PrivacySettings
from askone.questions.base import Question
from askone.server._responses import (
    AheadResponse,
    AskedResponse,
    CellResponse,
    PrivacyResponse,
    QuestionResponse,
    RowResponse,
    ServingResponse,
)
from askone.store.entries import Row

_NO_PARTS: Final = dict.fromkeys(("threshold", "range", "set", "title", "pair"))
MAX_ROWS: Final = 1024
"""Rows that are kept as they are shown."""


@final
class QuestionSerializer:
    """Makes responses of the questions of one campaign, of whose rows the columns ``show`` are shown (None: all)."""

    def __init__(
        self, campaign: str, labels: Kind, show: Sequence[str] | None, privacy: PrivacySettings | None = None
    ) -> None:
        self._campaign, self._labels, self._show = campaign, labels, show
        self._privacy = privacy or PrivacySettings()
        self._cells: dict[int, list[CellResponse]] = {}

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
            privacy=self.privacy(serving.mine),
            bag=[self.question(one, now) for one in serving.bag],
        )

    def privacy(self, answers: int) -> PrivacyResponse | None:
        """Return what somebody has spent with so many answers, where answers are private."""
        spent = self._privacy.spent(answers)
        return None if spent is None else PrivacyResponse(**spent)

    def _ahead(self, ahead: Ahead, now: float) -> AheadResponse:
        # Among many people a yes and a no lead to the same question.
        yes = self.question(ahead.yes, now)
        no = yes if ahead.no.question == ahead.yes.question else self.question(ahead.no, now)
        return AheadResponse(yes=yes, no=no)

    def question(self, served: Served, now: float) -> QuestionResponse:
        """Return a question in words and in parts, with its row.

        >>> import numpy as np
        >>> from askone.campaign.settings.settings import Numbers
        >>> from askone.labels.wording import Wording
        >>> from askone.questions.half_space import HalfSpace
        >>> question = HalfSpace((1.0,), 37.0, wording=Wording(("price",), "EUR"))
        >>> served = Served("l", 0, question, Row(0, "a", {}, np.zeros(0)), 60.0)
        >>> shown = QuestionSerializer("c", Numbers(), None).question(served, 0.0)
        >>> shown.sentence, shown.threshold.shown
        ('Is the price above 37 EUR?', '37')
        """
        return QuestionResponse(
            lease=served.lease,
            number=served.number,
            expires_in=round(max(0.0, served.expires - now), 3),
            row=self._row(served.row, served.lease),
            **self._asked(served.question),
        )

    def example(self, question: Question) -> AskedResponse:
        """Return a question in words and in parts, without a row."""
        return AskedResponse(**self._asked(question))

    def _asked(self, question: Question) -> dict[str, Any]:
        view = self._labels.view(question)
        words = {"kind": view.kind, "sentence": str(question), "template": view.template}
        return {**words, "answers": list(view.answers or ("Yes", "No")), **_NO_PARTS, **view.parts}

    def _row(self, row: Row, lease: str) -> RowResponse:
        # A row is shown ahead and again when its turn has come, and it never changes.
        cells = self._cells.get(row.position)
        if cells is None:
            cells = [CellResponse(**cell) for cell in shown_fields(row, self._show)]
            if len(self._cells) >= MAX_ROWS:
                self._cells.clear()
            self._cells[row.position] = cells
        image = f"/api/v1/campaigns/{self._campaign}/leases/{lease}/image" if has_picture(row) else None
        return RowResponse(fields=cells, image=image)
