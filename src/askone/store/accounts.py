"""Who may do what: users, members, sessions, tokens, invitations, webhooks and settings of the installation.

>>> from askone.store.opening import open_store
>>> accounts = open_store("memory:").accounts
>>> accounts.add_user("u1", "Ann", "manager")
>>> accounts.user_by_name("ann")
User(id='u1', name='Ann', role='manager', disabled=False)
"""

from __future__ import annotations

from typing import final

from askone.store.hooks import Delivery, Hooks, Webhook
from askone.store.passes import Invitation, Passes, SignedIn, Token
from askone.store.people import Member, MemberRole, People, Role, User

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


@final
class Accounts(People, Passes, Hooks):
    """Everything about people that is no part of a log."""

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
