"""A campaign as its worker thread holds it: results leave it as the JSON that pages get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from askone.campaign.campaign import Campaign
from askone.campaign.requests import Request, Served, Serving
from askone.campaign.showing import shown_question, shown_row


@final
class Front:
    """Serves commands to the campaign and shows what comes back.

    Only what is listed here reaches a person who answers: no gold, no scores, nobody else's answers.
    """

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def serve(self, commands: Sequence[Request], now: float) -> list[Any]:
        """The results: JSON for those that have a question, the rest and errors as they are."""
        return [self._shown(result, now) for result in self.campaign.serve(commands, now)]

    def _shown(self, result: Any, now: float) -> Any:
        if not isinstance(result, Serving):
            return result
        ahead = result.ahead
        return {
            "state": result.state,
            "mine": result.mine,
            "left": result.left,
            "undoable": result.undoable,
            "duplicate": result.duplicate,
            "question": None if result.question is None else self.question(result.question, now),
            "ahead": None
            if ahead is None
            else {"yes": self.question(ahead.yes, now), "no": self.question(ahead.no, now)},
        }

    def question(self, served: Served, now: float) -> dict[str, Any]:
        """A question for a page."""
        row = served.row
        image = f"/api/v1/campaigns/{self.campaign.name}/rows/{row.position}/image" if self._pictured(row) else None
        return {
            "lease": served.lease,
            "number": served.number,
            "expires_in": round(max(0.0, served.expires - now), 3),
            **shown_question(served.question),
            "row": shown_row(row, self.campaign.settings.rows.show, image),
        }

    def _pictured(self, row: Any) -> bool:
        return "image" in row.content
