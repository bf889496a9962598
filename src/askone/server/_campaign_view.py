"""A campaign as its worker thread holds it: results leave it as the JSON that pages get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from askone.campaign.engine.commands import Ahead, Request, Served, Serving
from askone.campaign.output.views import picture_of, shown_question, shown_row
from askone.store.entries import Row

if TYPE_CHECKING:  # it comes opened: what learns is loaded by whoever opens it
    from askone.campaign.campaign import Campaign

MOST_ROWS = 1024
"""Rows that are kept as they are shown."""


@final
class Front:
    """Serves commands to the campaign and shows what comes back.

    Only what is listed here reaches a person who answers: no gold, no scores, nobody else's answers.
    """

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._rows: dict[int, dict[str, Any]] = {}

    def serve(self, commands: Sequence[Request], now: float) -> list[Any]:
        """The results: JSON for those that have a question, the rest and errors as they are."""
        return [self._shown(result, now) for result in self.campaign.serve(commands, now, learn=False)]

    def learn(self, go_on: Callable[[], bool]) -> None:
        """What was said is learnt from, as long as ``go_on`` says so."""
        self.campaign.learn(go_on)

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
            "ahead": None if ahead is None else self._ahead(ahead, now),
        }

    def _ahead(self, ahead: Ahead, now: float) -> dict[str, Any]:
        """Among many people a yes and a no lead to the same question: it is shown once for both."""
        yes = self.question(ahead.yes, now)
        return {"yes": yes, "no": yes if ahead.no.question == ahead.yes.question else self.question(ahead.no, now)}

    def question(self, served: Served, now: float) -> dict[str, Any]:
        """A question for a page."""
        return {
            "lease": served.lease,
            "number": served.number,
            "expires_in": round(max(0.0, served.expires - now), 3),
            **shown_question(self.campaign.settings.labels, served.question),
            "row": self._row(served.row),
        }

    def _row(self, row: Row) -> dict[str, Any]:
        """A row for a page: shown when it comes next and again when it has come, and it never changes."""
        shown = self._rows.get(row.position)
        if shown is None:
            shown = shown_row(row, self.campaign.settings.rows.show, picture_of(self.campaign.name, row))
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            self._rows[row.position] = shown
        return shown
