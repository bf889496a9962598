"""Who may do what: a rule for each route; what has no rule is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from askone.server._errors import forbidden, missing, unauthorized

Scope = Literal["read", "answer", "manage"]
SCOPES: tuple[Scope, ...] = ("read", "answer", "manage")
ROLES = ("annotator", "manager", "admin")


@final
@dataclass(frozen=True)
class Person:
    """Who is signed in, through a session or a token, and what the credentials allow."""

    id: str
    name: str
    role: str
    scopes: frozenset[str]
    session: bool

    @property
    def admin(self) -> bool:
        """Whether everything of everybody is theirs to manage."""
        return self.role == "admin"


@final
@dataclass(frozen=True)
class Access:
    """What a route asks for.

    ``anybody``: no credentials.  ``scope``: what a token must allow.  ``least``: the least role on this server.
    ``within``: the least role in the campaign that the path names; outsiders are told that there is none.
    ``session``: not by token.
    """

    name: str
    anybody: bool = False
    scope: Scope | None = None
    least: str = "annotator"
    within: str | None = None
    session: bool = False

    def admit(self, person: Person | None) -> None:
        """Raises unless the person may come this far; the campaign is checked by ``admit_within``."""
        if self.anybody:
            return
        if person is None:
            raise unauthorized()
        if self.session and not person.session:
            raise forbidden("Sign in for this: a token is not enough.")
        if self.scope is not None and self.scope not in person.scopes:
            raise forbidden(f"The token lacks the scope {self.scope}.")
        if ROLES.index(person.role) < ROLES.index(self.least):
            raise forbidden()

    def admit_within(self, role: str | None) -> None:
        """Raises unless this role in the campaign is enough (None: the person has none there)."""
        if role is None:
            raise missing("campaign")
        if self.within == "manager" and role == "annotator":
            raise forbidden("Only a manager of the campaign may do this.")


ANYBODY = Access("anybody", anybody=True)
SIGNED_IN = Access("anybody who is signed in")
IN_PERSON = Access("anybody who is signed in, not by token", session=True)
ANSWERING = Access("annotators of the campaign", scope="answer", within="annotator")
WATCHING = Access("managers of the campaign, to read", scope="read", within="manager")
MANAGING = Access("managers of the campaign", scope="manage", within="manager")
LISTING = Access("anybody who is signed in, to read", scope="read")
MAKING = Access("managers", scope="manage", least="manager")
RULING = Access("administrators", scope="manage", least="admin")
MEASURING = Access("managers, to read", scope="read", least="manager")
