"""Response bodies: handlers return these models, and the description of the API is made from the same classes."""

from __future__ import annotations

from typing import Any, Literal, Self, final

from pydantic import BaseModel, ConfigDict


class ResponseModel(BaseModel):
    """A response body.  It is built with exactly its fields; clients should expect further ones with time."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"additionalProperties": True})

    @classmethod
    def of(cls, record: object) -> Self:
        """Return what a record has of these fields."""
        return cls.model_validate(record, from_attributes=True)


@final
class ErrorDetail(ResponseModel):
    """An error: a code for programs, words for people, the argument that is to blame."""

    code: str
    message: str
    argument: str | None


@final
class ErrorResponse(ResponseModel):
    """The shape of every error."""

    error: ErrorDetail


@final
class OkResponse(ResponseModel):
    """It is done."""

    ok: bool = True


@final
class HealthResponse(ResponseModel):
    """Whether the server is live, or ready."""

    status: str


# Accounts


class UserSummary(ResponseModel):
    """An account, and its role on the server, or in a campaign."""

    id: str
    name: str
    role: str


@final
class UserResponse(UserSummary):
    """An account, and whether it is disabled."""

    disabled: bool


@final
class CampaignMembership(ResponseModel):
    """A campaign and one's role in it."""

    name: str
    title: str
    role: str


class MeResponse(ResponseModel):
    """The person who is signed in, and where."""

    user: UserSummary | None
    csrf: str | None
    campaigns: list[CampaignMembership]
    needs_setup: bool
    version: str


@final
class JoinResponse(MeResponse):
    """Who is signed in, and the campaign of the invitation."""

    campaign: str


@final
class TokenResponse(ResponseModel):
    """A token, without its secret."""

    id: str
    title: str
    prefix: str
    scopes: list[str]
    expires: float | None


@final
class NewTokenResponse(ResponseModel):
    """A new token; its secret is shown this once."""

    id: str
    token: str
    expires: float


# Questions


@final
class CellResponse(ResponseModel):
    """A column of a row."""

    name: str
    value: str
    kind: str


@final
class RowResponse(ResponseModel):
    """What is seen of a row, and where its picture can be had while the question is held.

    Neither its key nor its place in the table: they could tell rows whose label is known from others.
    """

    fields: list[CellResponse]
    image: str | None


@final
class ThresholdResponse(ResponseModel):
    """A number that is asked about, and the side of it that a yes means."""

    shown: str
    unit: str
    name: str
    side: Literal["above", "below"]


@final
class RangeResponse(ResponseModel):
    """Two numbers between which a yes says that the value lies: above the one, and not above the other."""

    low: str
    high: str
    unit: str
    name: str


@final
class PairResponse(ResponseModel):
    """Two items, the first of which a yes prefers."""

    left: str
    right: str


class AskedResponse(ResponseModel):
    """What is asked.  ``kind`` is "threshold", "range", "set" or "pair", and says which of these parts it has.

    ``sentence`` is in English, or in the campaign's own words; ``template`` is the same with places for the parts, so
    that a page can say it in another language (empty: the sentence is all there is).
    """

    kind: str
    sentence: str
    template: str
    answers: list[str]
    threshold: ThresholdResponse | None
    range: RangeResponse | None
    set: list[str] | None
    title: str | None
    pair: PairResponse | None


@final
class QuestionResponse(AskedResponse):
    """A question that is held by somebody, with its row."""

    lease: str
    number: int
    expires_in: float
    row: RowResponse


@final
class AheadResponse(ResponseModel):
    """The next question after a yes, and after a no."""

    yes: QuestionResponse
    no: QuestionResponse


@final
class PrivacyResponse(ResponseModel):
    """By which epsilon answers are flipped before they are sent, what one has spent, and of how much (None: any)."""

    epsilon: float
    spent: float
    budget: float | None


@final
class ServingResponse(ResponseModel):
    """The next question, or why there is none.

    ``bag`` has the same question about other rows: all of them may be answered at once, or one after the other.
    """

    state: Literal["question", "waiting", "paused", "closed", "spent", "resting", "done"]
    mine: int
    left: int | None
    undoable: int
    duplicate: bool
    question: QuestionResponse | None
    ahead: AheadResponse | None
    privacy: PrivacyResponse | None
    bag: list[QuestionResponse]


@final
class PracticeResponse(ResponseModel):
    """A question of the training round, and its right answer."""

    question: QuestionResponse
    answer: bool


@final
class BriefResponse(ResponseModel):
    """What one should know before the first question.

    ``guidelines`` are the instructions as a tree of parts (see ``askone.server.guidelines``).  The goal of a person is
    so many answers (None: as many as they like), the campaign's is ``total``, of which ``given`` are there.
    ``language`` is that of the pages, or "auto": the reader's own.
    """

    name: str
    title: str
    instructions: str
    guidelines: list[Any]
    kind: str
    answers: list[str]
    mine: int
    goal: int | None
    total: int | None
    given: int
    language: str
    practice: list[PracticeResponse]
    privacy: PrivacyResponse | None


@final
class InvitedResponse(ResponseModel):
    """What an invitation leads to: the campaign, who runs it, a question as it may be asked, how long one takes."""

    title: str
    hosts: list[str]
    language: str
    example: str | None
    question: AskedResponse | None
    answers: list[str]
    goal: int | None
    seconds: float
    privacy: PrivacyResponse | None


@final
class RenewResponse(ResponseModel):
    """How many leases were renewed."""

    renewed: int


@final
class ReleaseResponse(ResponseModel):
    """How many leases were given back."""

    released: int


# Managing


@final
class UploadResponse(ResponseModel):
    """A table that was uploaded: its columns, some of its rows, the settings that suit it; which sheet of which."""

    upload: str
    rows: int
    columns: list[dict[str, Any]]
    sample: list[dict[str, Any]]
    suggested: dict[str, Any]
    part: str
    parts: list[str]


@final
class PreviewResponse(ResponseModel):
    """The first questions of a campaign, its settings as they are understood, and what to look at in them."""

    questions: list[QuestionResponse]
    settings: dict[str, Any]
    toml: str
    doubts: list[dict[str, str]]


@final
class CampaignNameResponse(ResponseModel):
    """The name of a new campaign."""

    name: str


@final
class AddedRowsResponse(ResponseModel):
    """How many rows were added."""

    added: int


@final
class ImportResponse(ResponseModel):
    """How many answers were imported, known already, about unknown rows, and no answers."""

    answers: int
    already: int
    unknown: int
    other: int


@final
class EstimateResponse(ResponseModel):
    """An estimate of a group of rows (the empty group: of all); see ``askone.campaign.kinds.estimates``."""

    group: str
    value: float | None
    low: float | None
    high: float | None
    always_low: float | None
    always_high: float | None
    bits: int
    rows: int
    model: float | None
    labels: float | None


@final
class EstimatesResponse(ResponseModel):
    """Estimates of the whole table, or of its groups, the largest first."""

    what: str
    by: str | None
    estimates: list[EstimateResponse]


@final
class ComparedModelResponse(ResponseModel):
    """A model beside the campaign's own: below zero its difference says that it is better, with a standard error."""

    name: str
    measure: str
    unit: str
    answers: int
    value: float
    error: float
    difference: float
    difference_error: float


@final
class ComparisonResponse(ResponseModel):
    """The campaign's model and others, found when there were so many answers, and a sentence that sums it up."""

    answers: int
    models: list[ComparedModelResponse]
    verdict: str


@final
class RowsResponse(ResponseModel):
    """A page of rows with their predictions, of ``total`` that there are; of these ``weighed`` were put in order."""

    total: int
    weighed: int
    rows: list[dict[str, Any]]


@final
class ExclusionResponse(ResponseModel):
    """Whether a person is excluded, and how many answers that concerns."""

    excluded: bool
    answers: int


@final
class ResumedResponse(ResponseModel):
    """How many answers somebody gave who is asked again."""

    answers: int


@final
class InvitationResponse(ResponseModel):
    """An invitation, without its secret."""

    id: str
    title: str
    expires: float | None
    most_uses: int | None
    uses: int


@final
class NewInvitationResponse(ResponseModel):
    """A new invitation; its link is shown this once."""

    id: str
    link: str
    url: str
    qr: str
    expires: float


@final
class WebhookResponse(ResponseModel):
    """A webhook, without its secret."""

    id: str
    url: str
    events: list[str]
    status: str


@final
class NewWebhookResponse(ResponseModel):
    """A new webhook; the secret that signs its deliveries is shown this once."""

    id: str
    secret: str
