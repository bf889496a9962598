"""What responses hold, for the description of the API; see ``openapi``."""

from __future__ import annotations

from typing import Literal, final

from pydantic import BaseModel, ConfigDict


class Reported(BaseModel):
    """What a response says; further fields may come with time."""

    model_config = ConfigDict(extra="allow")


@final
class ErrorDetail(Reported):
    """What went wrong: a code for programs, words for people, the argument that is to blame."""

    code: str
    message: str
    argument: str | None


@final
class Error(Reported):
    """The shape of every error."""

    error: ErrorDetail


@final
class User(Reported):
    """An account."""

    id: str
    name: str
    role: str


@final
class Membership(Reported):
    """A campaign and one's role in it."""

    name: str
    title: str
    role: str


@final
class Me(Reported):
    """Who is signed in."""

    user: User | None
    csrf: str | None
    campaigns: list[Membership]
    needs_setup: bool
    version: str


@final
class Field(Reported):
    """A column of a row, to be shown."""

    name: str
    value: str
    kind: str


@final
class ShownRow(Reported):
    """A row, to be shown."""

    key: str
    position: int
    fields: list[Field]
    image: str | None


@final
class Shown(Reported):
    """A question, to be shown."""

    lease: str
    number: int
    expires_in: float
    kind: Literal["threshold", "set", "pair"]
    sentence: str
    answers: list[str]
    row: ShownRow


@final
class Ahead(Reported):
    """The next question after a yes, and after a no."""

    yes: Shown | None
    no: Shown | None


@final
class Serving(Reported):
    """The next question, or why there is none."""

    state: Literal["question", "waiting", "paused", "closed", "spent", "done"]
    mine: int
    left: int | None
    undoable: int
    duplicate: bool
    question: Shown | None
    ahead: Ahead | None


@final
class Ok(Reported):
    """It is done."""

    ok: bool


@final
class Secret(Reported):
    """A thing with a secret that is shown this once."""

    id: str


@final
class Anything(Reported):
    """An object."""


Objects = list[Anything]
