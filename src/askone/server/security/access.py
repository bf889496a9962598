"""Access rules: one for each route; a route without a rule is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from askone.server._errors import forbidden, not_found, unauthorized

Scope = Literal["read", "answer", "manage"]
SCOPES: tuple[Scope, ...] = ("read", "answer", "manage")
ROLES = ("program", "annotator", "manager", "admin")


@final
@dataclass(frozen=True)
class CurrentUser:
    """A person who is signed in by a session or a token, and what the credentials allow."""

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
    """The role that a route requires.

    ``public``: no credentials.  ``scope``: what a token must allow.  ``least_role``: the least role on this server.
    ``campaign_role``: the least role in the campaign that the path names; outsiders are told that there is none.
    ``session``: not by token.
    """

    name: str
    public: bool = False
    scope: Scope | None = None
    least_role: str = "program"
    campaign_role: str | None = None
    session: bool = False

    def check(self, person: CurrentUser | None) -> None:
        """Raise unless the person may come this far; the campaign is checked by ``check_campaign``."""
        if self.public:
            return
        if person is None:
            raise unauthorized()
        if self.session and not person.session:
            raise forbidden("Sign in for this: a token is not enough.")
        if self.scope is not None and self.scope not in person.scopes:
            raise forbidden(f"The token lacks the scope {self.scope}.")
        if ROLES.index(person.role) < ROLES.index(self.least_role):
            raise forbidden()

    def check_campaign(self, role: str | None) -> None:
        """Raise unless this role in the campaign is enough (None: the person has none there)."""
        if role is None:
            raise not_found("campaign")
        if self.campaign_role == "manager" and role == "annotator":
            raise forbidden("Only a manager of the campaign may do this.")


PUBLIC = Access("anybody", public=True)
SIGNED_IN = Access("anybody who is signed in")
SESSION_ONLY = Access("anybody who is signed in, not by token", session=True)
ANSWER = Access("anybody who is signed in, to answer", scope="answer")
ANNOTATE = Access("annotators of the campaign", scope="answer", campaign_role="annotator")
READ = Access("managers of the campaign, to read", scope="read", campaign_role="manager")
MANAGE = Access("managers of the campaign", scope="manage", campaign_role="manager")
READ_OWN = Access("anybody who is signed in, to read", scope="read")
CREATE = Access("managers", scope="manage", least_role="manager")
ADMINISTER = Access("administrators", scope="manage", least_role="admin")
# What lets people in is changed by a person: else a token that leaked could make others that outlive it.
ADMIT = Access("administrators, not by token", least_role="admin", session=True)
READ_METRICS = Access("managers, to read", scope="read", least_role="manager")
