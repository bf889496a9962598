"""Request bodies and queries: models that check what was sent.

Bodies refuse fields that they do not have, and take values as they are written: "1" is no number.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, final

from pydantic import BaseModel, ConfigDict, Field

from askone.session.bags import LARGEST

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$")]
Lease = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,100}$")]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]+$")]
Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Secret = Annotated[str, Field(min_length=1, max_length=200)]
Title = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Role = Literal["admin", "manager", "annotator", "program"]


class Body(BaseModel):
    """The base of request bodies."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Parameters(BaseModel):
    """The base of query parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# Accounts


@final
class EmptyBody(Body):
    """An empty object."""


class Login(Body):
    """A name and its password."""

    name: Name
    password: Secret


@final
class SetUp(Login):
    """The first administrator."""

    token: Secret


@final
class Join(Body):
    """An invitation, and what to be called."""

    invitation: Secret
    name: Name | None = None


@final
class Invited(Body):
    """An invitation that is looked at."""

    invitation: Secret


@final
class NewPassword(Body):
    """The old password and the new one."""

    old: Secret
    new: Secret


@final
class NewToken(Body):
    """A token of one's own."""

    title: Title = ""
    scopes: Annotated[list[Literal["read", "answer", "manage"]], Field(min_length=1, max_length=3)]
    expires_days: Annotated[int, Field(ge=1, le=730)] = 90


@final
class NewUser(Body):
    """An account."""

    name: Name
    role: Role
    password: Secret | None = None


@final
class UserChange(Body):
    """Changes to an account."""

    role: Role | None = None
    password: Secret | None = None
    disabled: bool | None = None


@final
class NewInvitation(Body):
    """An invitation to answer in one campaign."""

    title: Title = ""
    expires_hours: Annotated[float, Field(gt=0, le=24 * 366)] = 24 * 7
    most_uses: Annotated[int, Field(ge=1, le=10_000)] = 100


@final
class NewWebhook(Body):
    """An address to tell of what happens."""

    url: Annotated[str, Field(min_length=8, max_length=1000)]
    events: Annotated[list[Literal["answer", "closed", "spent"]], Field(min_length=1, max_length=3)]


# Answering


@final
class AnswerBody(Body):
    """Yes or no to the question of a lease; ``id`` is the sender's own, so that sending twice counts once.

    In a private campaign the sender has flipped the answer with 1/(1 + e^epsilon), and says so.
    A program says so by its ``kind``, and may say what the answer has cost.
    """

    lease: Lease
    answer: bool
    id: Id
    took: Annotated[float, Field(ge=0, le=86400)] | None = None
    epsilon: Annotated[float, Field(gt=0, le=30)] | None = None
    kind: Literal["person", "program"] = "person"
    cost: Annotated[float, Field(ge=0, le=1e9)] | None = None


@final
class BagBody(Body):
    """Yes or no to each question of a bag, in the order of its leases."""

    leases: Annotated[list[Lease], Field(min_length=1, max_length=LARGEST)]
    answers: Annotated[list[bool], Field(min_length=1, max_length=LARGEST)]
    id: Id
    took: Annotated[float, Field(ge=0, le=86400)] | None = None
    kind: Literal["person", "program"] = "person"


@final
class SkipBody(Body):
    """No answer to the question of a lease."""

    lease: Lease
    id: Id
    reason: Literal["skip", "cannot tell"] = "skip"
    kind: Literal["person", "program"] = "person"


@final
class FlagBody(Body):
    """A flag on the question of a lease."""

    lease: Lease
    id: Id
    reason: Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]


@final
class UndoBody(Body):
    """Take back the last answer or skip."""

    id: Id


@final
class LeasesBody(Body):
    """Leases to renew or to give back."""

    leases: Annotated[list[Lease], Field(max_length=16)]


# Managing


class SettingsBody(Body):
    """Settings of a campaign, as JSON of the TOML file."""

    settings: dict[str, Any]


@final
class ForecastBody(SettingsBody):
    """Settings, how many answers, and how often people are wrong, or who answers: "4 careful, 1 spammer"."""

    answers: Annotated[int, Field(ge=1, le=100_000)] = 1000
    flip: Annotated[float, Field(ge=0, le=0.49)] = 0.05
    people: Annotated[str, Field(max_length=200)] | None = None


@final
class NewCampaign(Body):
    """A campaign from an upload; without one if it is about an order alone."""

    settings: dict[str, Any]
    upload: Lease | None = None
    name: Slug | None = None


@final
class CampaignChange(Body):
    """Changes to a campaign that runs."""

    status: Literal["running", "paused", "closed"] | None = None
    budget: Annotated[int, Field(ge=0, le=10**9)] | None = None
    settings: dict[str, Any] | None = None


@final
class Ruling(Body):
    """How a question is decided; null: as people said."""

    answer: bool | None


@final
class MoreRows(Body):
    """An upload whose rows are to be added."""

    upload: Lease


# Queries


@final
class DashboardQuery(Parameters):
    """Which column the cloud is drawn over, and which rows to predict."""

    column: Annotated[str, Field(max_length=200)] | None = None
    keys: Annotated[str, Field(max_length=4000)] | None = None


@final
class PredictionsQuery(Parameters):
    """The keys of rows, separated by commas; or the first so many rows after a position."""

    keys: Annotated[str, Field(max_length=8000)] | None = None
    first: Annotated[int, Field(ge=1, le=1000)] = 20
    after: Annotated[int, Field(ge=-1, le=10**9)] = -1


@final
class RowsQuery(Parameters):
    """Rows that have a text in them, in the table's order or the least sure first, and which of them."""

    search: Annotated[str, Field(max_length=200)] = ""
    order: Literal["file", "unsure"] = "file"
    first: Annotated[int, Field(ge=1, le=200)] = 10
    skip: Annotated[int, Field(ge=0, le=10**9)] = 0


@final
class AnswersQuery(Parameters):
    """Which answers: everybody's or a person's, of which sort, and which of these."""

    which: Literal["all", "undecided", "disagreement", "flagged", "wrong", "slow", "surprising"] = "all"
    person: Annotated[str, Field(max_length=100)] | None = None
    first: Annotated[int, Field(ge=1, le=200)] = 20
    skip: Annotated[int, Field(ge=0, le=10**9)] = 0


@final
class AnswersFormat(Parameters):
    """The format of exported answers."""

    format: Literal["csv", "jsonl", "parquet", "label-studio"] = "csv"


@final
class PredictionsFormat(Parameters):
    """The format of exported predictions."""

    format: Literal["csv", "jsonl", "parquet"] = "csv"


@final
class EstimateQuery(Parameters):
    """What is estimated, such as "mean" or "share above 30", and the column of the groups."""

    what: Annotated[str, Field(min_length=1, max_length=100)]
    by: Annotated[str, Field(min_length=1, max_length=200)] | None = None


@final
class Restoring(Parameters):
    """A new name for what is restored."""

    name: Slug | None = None
