"""Who may do what: users, members, sessions, tokens, invitations, webhooks and settings of the installation.

>>> from askone.store.open import open_store
>>> store = open_store("memory:")
>>> accounts = store.accounts
>>> accounts.add_user("u1", "Ann", "manager")
>>> accounts.user_by_name("ann")
User(id='u1', name='Ann', role='manager', disabled=False)
>>> store.close()
"""

from __future__ import annotations

from typing import final

from askone.store.accounts._credentials import CredentialRepository, Invitation, SignedIn, Token
from askone.store.accounts.users import Member, MemberRole, Role, User, UserRepository
from askone.store.accounts.webhooks import Delivery, Webhook, WebhookRepository

__all__ = [
    "Accounts",
    "Delivery",
    "Invitation",
    "Member",
    "MemberRole",
    "Role",
    "SignedIn",
    "Token",
    "User",
    "Webhook",
]


# Who came by an invitation and has no way in any more: no password, and no session or token that is still valid.
_GUESTS = """SELECT u.id FROM users u WHERE u.role = 'annotator' AND u.password IS NULL AND u.disabled = 0
    AND EXISTS (SELECT 1 FROM members m WHERE m.person = u.id)
    AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.person = u.id AND s.expires > ?)
    AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.person = u.id AND (t.expires IS NULL OR t.expires > ?))"""


@final
class Accounts(UserRepository, CredentialRepository, WebhookRepository):
    """Everything about people that is no part of a log."""

    def prune(self, now: float, before: float) -> tuple[int, int]:
        """Delete what nobody needs any more; how many guests were forgotten, and how many other things are gone.

        That is what has expired, deliveries due since ``before``, and the names of guests who have no way in
        any more and did nothing since then.
        """
        gone = self.end_expired(now) + self.drop_old(before)
        lately = {who for (who,) in self._read("SELECT DISTINCT who FROM entries WHERE at > ?", before)}
        guests = [id for (id,) in self._read(_GUESTS, now, now) if id not in lately]
        for id in guests:
            self.forget_user(id)
        return len(guests), gone

    def get(self, name: str) -> str | None:
        """A setting of this installation."""
        found = self._read("SELECT value FROM settings WHERE name = ?", name)
        return found[0][0] if found else None

    def put(self, name: str, value: str | None) -> None:
        """Keep a setting; None forgets it."""
        if value is None:
            self._run("DELETE FROM settings WHERE name = ?", name)
            return
        self._run(
            "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value
        )

    def put_once(self, name: str, value: str) -> str:
        """Keep a setting unless there is one; the one that holds, for all who try at the same time."""
        self._run("INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name, value)
        kept = self.get(name)
        return value if kept is None else kept
