"""A campaign as its worker thread holds it: commands are served, and what routes make of it has methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, final

from askone.campaign.engine.commands import Done, Request, Serving
from askone.campaign.lazy import campaign as campaigns
from askone.campaign.lazy import label_studio
from askone.campaign.output.views import has_picture
from askone.errors import AskoneError
from askone.server import guidelines
from askone.server._responses import BriefResponse, InvitedResponse, PracticeResponse, ServingResponse
from askone.server.serializers import QuestionSerializer

COUNTS = ("status", "finished", "answers", "rows", "budget")
_SPARKS = 40  # points of a curve in the list

PATIENCE = 0.25
"""Seconds that somebody who looks lets others wait, where very much is to be learnt anew; the next look goes on."""

LATE = 1000
"""Answers that may wait to be learnt from: a fit of all of them takes its time, and people are served meanwhile."""


@final
class CampaignService:
    """What routes do with a campaign."""

    def __init__(self, campaign: campaigns.Campaign, refit: Callable[[campaigns.Campaign], None] | None = None) -> None:
        self._campaign, self._refit = campaign, refit
        campaign.patience, campaign.late = PATIENCE, LATE
        settings = campaign.settings
        self._serializer = QuestionSerializer(campaign.name, settings.labels, settings.rows.show, settings.privacy)

    def refreshed(self) -> campaigns.Campaign:
        """Return the campaign, after it took in what other processes wrote."""
        self._campaign.refresh()
        return self._campaign

    def serve(self, commands: Sequence[Request], now: float) -> list[ServingResponse | Done | AskoneError]:
        """Serve commands as one durable batch; return a result or an error for each."""
        return [
            self._serializer.serving(result, now) if isinstance(result, Serving) else result
            for result in self._campaign.serve(commands, now, learn=False)
        ]

    def learn(self, go_on: Callable[[], bool]) -> None:
        """Learn from what was answered, as long as ``go_on`` says so, and have a fit made beside if one is due."""
        self._campaign.learn(go_on)
        if self._refit is not None:
            self._refit(self._campaign)

    def anew(self) -> tuple[int, int] | None:
        """Return how far the model is that is made anew, if it is (see ``Campaign.anew``)."""
        return self._campaign.anew

    def warm_up(self) -> None:
        """Load what the first question needs; in any thread."""
        self._campaign.warm()

    def brief(self, person: str) -> BriefResponse:
        """Return what a person should know before the first question."""
        campaign = self.refreshed()
        settings, mine = campaign.settings, campaign.projection.person(person).answers
        pictures = {key: self._example(position) for key, position in self._shown_rows().items()}
        return BriefResponse(
            name=campaign.name,
            title=campaign.title,
            instructions=settings.question.instructions,
            guidelines=guidelines.parts(settings.question.instructions, pictures),
            kind=settings.labels.kind,
            answers=list(settings.question.answers),
            mine=mine,
            goal=settings.per_person,
            total=campaign.goal(),
            given=campaign.projection.answers,
            language=settings.question.language,
            practice=[] if mine else self._practice(),
            privacy=self._serializer.privacy(mine),
        )

    def _practice(self) -> list[PracticeResponse]:
        """Return the training round."""
        found = []
        for served, answer in self._campaign.practice():
            asked = self._serializer.question(served, 0.0)
            image = None if asked.row.image is None else self._example(served.row.position)
            row = asked.row.model_copy(update={"image": image})
            found.append(PracticeResponse(question=asked.model_copy(update={"row": row}), answer=answer))
        return found

    def invitation(self, hosts: Sequence[str]) -> InvitedResponse:
        """Return what somebody who is invited by these people should know."""
        campaign = self.refreshed()
        ask, question, example = campaign.settings.ask, campaign.settings.question, campaign.example()
        return InvitedResponse(
            title=campaign.title,
            hosts=list(hosts),
            language=question.language,
            example=None if example is None else str(example),
            question=None if example is None else self._serializer.example(example),
            answers=list(question.answers),
            goal=campaign.settings.per_person,
            seconds=ask.seconds,
            privacy=self._serializer.privacy(0),
        )

    @property
    def example_positions(self) -> set[int]:
        """The rows whose pictures everybody may see who answers: of the guidelines and of the training round."""
        return {*self._shown_rows().values(), *self._campaign.practice_rows}

    def _shown_rows(self) -> dict[str, int]:
        """Return the rows whose pictures the guidelines show."""
        campaign = self._campaign
        names = guidelines.picture_names(campaign.settings.question.instructions)
        rows = [campaign.store.row_by_key(campaign.name, name) for name in names]
        return {row.key: row.position for row in rows if row is not None and has_picture(row)}

    def _example(self, position: int) -> str:
        return f"/api/v1/campaigns/{self._campaign.name}/examples/{position}/image"

    def listed(self, person: str) -> dict[str, Any]:
        """Return what a list of campaigns says to somebody who answers: the state, and whether there is a question."""
        campaign = self.refreshed()
        status = campaign.status(time.time())
        state = {name: status[name] for name in ("status", "finished")}
        mine = campaign.projection.person(person).answers
        return {**state, "mine": mine, "goal": campaign.settings.per_person, "answerable": campaign.may_ask(person)}

    def counts(self, person: str) -> dict[str, Any]:
        """Return the same for a manager: with how far the campaign is, and its curve in a few numbers."""
        line, campaign = self.listed(person), self._campaign
        status, curve = campaign.status(time.time()), campaign.measured()["curve"]
        values = [point["value"] for point in curve["points"]]
        step = max(1, -(-len(values) // _SPARKS))
        sparks = values[::-1][::step][::-1]  # the last one is always among them
        curve = {"measure": curve["measure"], "unit": curve["unit"], "latest": curve["latest"], "values": sparks}
        return {**line, **{name: status.get(name) for name in COUNTS}, "total": campaign.goal(), "curve": curve}

    def extent(self) -> tuple[int, int]:
        """Return which campaign of the store it is, and how many answers are learnt from."""
        campaign = self.refreshed()
        return campaign.store.number(campaign.name), len(campaign.projection.lessons.all)

    def describe(self) -> dict[str, Any]:
        """Return how far the campaign is, and its settings."""
        campaign = self.refreshed()
        settings = campaign.settings
        return {**campaign.status(time.time()), "settings": settings.to_json(), "toml": settings.to_toml()}

    def dashboard(self, column: str | None, keys: Sequence[str] | None) -> dict[str, Any]:
        """Return all that a manager sees, with predictions for the rows of these keys if there are any."""
        found = self.refreshed().dashboard(time.time(), column)
        return {**found, "predictions": self.predict(keys)} if keys else found

    def predict(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Return what the model says of the rows of these keys; keys without a row are left out."""
        campaign = self.refreshed()
        rows = [campaign.store.row_by_key(campaign.name, key) for key in keys]
        return campaign.predictions([row.position for row in rows if row is not None])

    def predict_from(self, start: int, count: int) -> list[dict[str, Any]]:
        """Return what the model says of ``count`` rows from the position ``start`` on."""
        campaign = self.refreshed()
        rows = campaign.store.campaign(campaign.name).rows
        return campaign.predictions(range(start, min(rows, start + count)))

    def doubts(self, positions: Sequence[int]) -> list[float]:
        """Return how unsure the model is of each of these rows."""
        return self._campaign.doubts(positions)

    def can_rule(self, number: int) -> bool:
        """Return whether a manager may decide this question: it was asked, and its answer is not known anyway."""
        asking = self.refreshed().projection.asked.get(number)
        return asking is not None and asking.role != "gold"

    def take_page(self, page: Sequence[label_studio.GivenChoice], now: float, counts: dict[str, int]) -> None:
        """Take in some answers of a file from Label Studio."""
        label_studio.take_page(self._campaign, page, now, counts)
