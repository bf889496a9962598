"""Accounts: users, members, sessions, tokens, invitations, webhooks and settings of the installation.

>>> from askone.store.open import open_store
>>> store = open_store("memory:")
>>> accounts = store.accounts
>>> accounts.add_user("u1", "Ann", "manager")
>>> accounts.user_by_name("ann")
User(id='u1', name='Ann', role='manager', disabled=False)
>>> store.close()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from askone.errors import AlreadyExists
from askone.store._database import Record, Session
from askone.store.accounts.names import folded, valid_name
from askone.store.accounts.users import UserRepository, keepable
from askone.store.accounts.webhooks import PUT_SETTING, WebhookRepository


@final
@dataclass(frozen=True)
class SignedIn:
    """A session: ``user`` is an id, ``csrf`` what unsafe requests must carry."""

    user: str
    csrf: str = field(repr=False)
    expires: float


@final
@dataclass(frozen=True)
class Token:
    """A token of a user, by which a program comes in; ``prefix`` is what it begins with."""

    id: str
    prefix: str
    user: str
    scopes: tuple[str, ...]
    expires: float | None
    title: str


@final
@dataclass(frozen=True)
class Invitation:
    """A link that lets so many people into a campaign until it expires (None: no end, no limit)."""

    id: str
    campaign: str
    expires: float | None
    most_uses: int | None
    uses: int
    title: str


_TOKEN = "SELECT t.id, t.prefix, t.person, t.scopes, t.expires, t.title FROM tokens t"
_INVITATION = """SELECT i.id, c.name, i.expires, i.most_uses, i.uses, i.title
    FROM invitations i JOIN campaigns c ON c.id = i.campaign WHERE c.name IS NOT NULL AND """
_USE = """UPDATE invitations SET uses = uses + 1 WHERE hash = ? AND (expires IS NULL OR expires > ?)
    AND (most_uses IS NULL OR uses < most_uses)"""
# Who came by an invitation and has no way in any more: no password, and no session or token that is still valid.
_GUESTS = """SELECT u.id FROM users u WHERE u.role = 'annotator' AND u.password IS NULL AND u.disabled = 0
    AND EXISTS (SELECT 1 FROM members m WHERE m.person = u.id)
    AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.person = u.id AND s.expires > ?)
    AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.person = u.id AND (t.expires IS NULL OR t.expires > ?))"""


@final
class Accounts(UserRepository, WebhookRepository):
    """Everything about people that is no part of a log.  Of each secret only a hash is kept."""

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
        """Return a setting of this installation."""
        found = self._read("SELECT value FROM settings WHERE name = ?", name)
        return found[0][0] if found else None

    def put(self, name: str, value: str | None) -> None:
        """Keep a setting; None forgets it."""
        if value is None:
            self._run("DELETE FROM settings WHERE name = ?", name)
        else:
            self._run(PUT_SETTING, name, value)

    def add_session(self, hash: str, user: str, csrf: str, expires: float) -> None:
        """Add a session: a user signs in."""
        self._add("sessions", "the session", {"hash": hash, "person": user, "csrf": csrf, "expires": expires})

    def session(self, hash: str, now: float) -> SignedIn | None:
        """Return the session of a secret's hash, unless it has expired or its user is disabled."""
        query = """SELECT s.person, s.csrf, s.expires FROM sessions s JOIN users u ON u.id = s.person
            WHERE s.hash = ? AND s.expires > ? AND u.disabled = 0"""
        found = self._read(query, hash, now)
        return SignedIn(*found[0]) if found else None

    def end_session(self, hash: str) -> None:
        """Sign out."""
        self._run("DELETE FROM sessions WHERE hash = ?", hash)

    def end_expired(self, now: float) -> int:
        """Forget what has expired: sessions, tokens and invitations; how many."""
        tables = ("sessions", "tokens", "invitations")
        return sum(self._run(f"DELETE FROM {table} WHERE expires <= ?", now) for table in tables)

    def add_token(
        self, id: str, hash: str, prefix: str, user: str, scopes: Sequence[str], expires: float | None, title: str
    ) -> None:
        """Add a token of a user."""
        token = {"id": id, "hash": hash, "prefix": prefix, "person": user, "expires": expires, "title": title}
        self._add("tokens", "the token", {**token, "scopes": " ".join(scopes)})

    def token(self, hash: str, now: float) -> Token | None:
        """Return the token of a secret's hash, unless it has expired or its user is disabled."""
        where = "JOIN users u ON u.id = t.person WHERE t.hash = ? AND u.disabled = 0"
        found = self._read(f"{_TOKEN} {where} AND (t.expires IS NULL OR t.expires > ?)", hash, now)
        return _token(found[0]) if found else None

    def tokens(self, user: str) -> list[Token]:
        """Return all tokens of a user."""
        return [_token(record) for record in self._read(f"{_TOKEN} WHERE t.person = ? ORDER BY t.title, t.id", user)]

    def revoke_token(self, id: str, user: str) -> bool:
        """Take back a token of this user; whether there was one."""
        return self._run("DELETE FROM tokens WHERE id = ? AND person = ?", id, user) > 0

    def add_invitation(
        self, id: str, hash: str, campaign: str, expires: float | None, most_uses: int | None, title: str = ""
    ) -> None:
        """Add an invitation to a campaign."""
        record = {"id": id, "hash": hash, "campaign": self._campaign(campaign), "title": title, "uses": 0}
        self._add("invitations", "the invitation", {**record, "expires": expires, "most_uses": most_uses})

    def invitations(self, campaign: str) -> list[Invitation]:
        """Return all invitations to a campaign."""
        self._campaign(campaign)
        found = self._read(_INVITATION + "c.name = ? ORDER BY i.title, i.id", campaign)
        return [Invitation(*record) for record in found]

    def invited_to(self, hash: str, now: float) -> str | None:
        """Return the campaign that an invitation leads to, even if it is used up; None if it has expired."""
        found = self._read(_INVITATION + "i.hash = ? AND (i.expires IS NULL OR i.expires > ?)", hash, now)
        return found[0][1] if found else None

    def use_invitation(self, hash: str, now: float) -> str | None:
        """Count a use, and the campaign that it leads to; None if it has expired or is used up."""
        keepable((hash,))
        with self._database.transaction() as session:
            return _used(session, hash, now)

    def admit(self, invitation: str, now: float, user: str, name: str, signed_in: tuple[str, str, float]) -> str | None:
        """Let a new annotator in by an invitation, and sign them in: in one transaction, since many may come at once.

        ``signed_in``: hash, csrf and end of their session.  Return the campaign; None if the invitation is not valid.
        """
        keepable((invitation, user, name))
        name, (hash, csrf, expires) = valid_name(name), signed_in
        try:
            with self._database.transaction() as session:
                campaign = _used(session, invitation, now)
                if campaign is not None:
                    added = (user, name, folded(name), "annotator", None, 0)
                    session.run(
                        "INSERT INTO users (id, name, folded, role, password, disabled) VALUES (?, ?, ?, ?, ?, ?)",
                        added,
                    )
                    number = session.fetch("SELECT id FROM campaigns WHERE name = ?", (campaign,))[0][0]
                    session.run("INSERT INTO members VALUES (?, ?, 'annotator')", (number, user))
                    kept = (hash, user, csrf, expires)
                    session.run("INSERT INTO sessions (hash, person, csrf, expires) VALUES (?, ?, ?, ?)", kept)
                return campaign
        except self._database.conflict as error:
            raise AlreadyExists(f"the name {name!r} or the id is taken, or what it belongs to is gone") from error

    def revoke_invitation(self, id: str, campaign: str) -> bool:
        """Take back an invitation to this campaign; return whether there was one."""
        return self._run("DELETE FROM invitations WHERE id = ? AND campaign = ?", id, self._campaign(campaign)) > 0


def _used(session: Session, hash: str, now: float) -> str | None:
    """Count a use of an invitation, if it is valid; return its campaign."""
    found = session.fetch(_INVITATION + "i.hash = ?", (hash,)) if session.run(_USE, (hash, now)) else []
    return found[0][1] if found else None


def _token(record: Record) -> Token:
    id, prefix, user, scopes, expires, title = record
    return Token(id, prefix, user, tuple(scopes.split()), expires, title)
