"""Users, who works on which campaign, and ways out: access ended, users shut out, users forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, final, get_args

from askone._common.validate import as_choice
from askone.errors import AlreadyExists, InvalidArgument, UnknownCampaign
from askone.store._codec import as_texts
from askone.store._database import Database, Record, Session
from askone.store.accounts.names import FORGOTTEN, folded, plain, valid_name

Role = Literal["admin", "manager", "annotator", "program"]
"""A program answers as annotators do, by tokens alone; what it says counts as a program's."""
MemberRole = Literal["manager", "annotator"]


@final
@dataclass(frozen=True)
class User:
    """A user who can sign in; the log knows them by ``id`` alone."""

    id: str
    name: str
    role: Role
    password_hash: str | None = field(default=None, repr=False)
    disabled: bool = False


@final
@dataclass(frozen=True)
class Member:
    """A user of a campaign, and as what."""

    campaign: str
    user: str
    role: MemberRole


class Repository:
    """Base of the tables of accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _read(self, query: str, *values: object) -> list[Record]:
        keepable(values)
        return self._database.read(query, values)

    def _run(self, statement: str, *values: object) -> int:
        """Run a statement of its own; return how many records it touched."""
        keepable(values)
        with self._database.transaction() as session:
            return session.run(statement, values)

    def _add(self, table: str, what: str, record: Mapping[str, Any]) -> None:
        """Add a record to a table."""
        places = ", ".join("?" for _ in record)
        try:
            self._run(f"INSERT INTO {table} ({', '.join(record)}) VALUES ({places})", *record.values())
        except self._database.conflict as error:
            raise AlreadyExists(f"{what} is taken, or what it belongs to is gone") from error

    def _campaign(self, name: str) -> int:
        found = self._read("SELECT id FROM campaigns WHERE name = ?", name)
        if not found:
            raise UnknownCampaign(name)
        return int(found[0][0])


class UserRepository(Repository):
    """Users and members, and how they go."""

    def add_user(self, id: str, name: str, role: Role, password_hash: str | None = None) -> None:
        """Add a user, whose name looks like no other's (see ``names``)."""
        as_choice(role, "role", get_args(Role))
        keepable((id, name))
        name = valid_name(name)
        user = {"id": id, "name": name, "folded": folded(name), "role": role, "password": password_hash, "disabled": 0}
        self._add("users", f"the name {name!r} or the id", user)

    def user(self, id: str) -> User | None:
        """Return the user of an id."""
        return next(iter(self._users("WHERE id = ?", id)), None)

    def user_by_name(self, name: str) -> User | None:
        """Return the user of a name, in whatever case and look-alike letters it is written."""
        # Names of before look-alikes were folded are found as they were kept, and first.
        found = self._users("WHERE folded IN (?, ?)", plain(name), folded(name))
        return min(found, key=lambda user: plain(user.name) != plain(name), default=None)

    def users(self) -> list[User]:
        """Return all users, by their names."""
        return self._users("ORDER BY folded")

    def _users(self, where: str, *values: str) -> list[User]:
        found = self._read(f"SELECT id, name, role, password, disabled FROM users {where}", *values)
        return [User(id, name, role, password, bool(disabled)) for id, name, role, password, disabled in found]

    def set_password(self, id: str, password_hash: str | None) -> None:
        """Another password, or none: then nobody can sign in with one.  Sessions and tokens end."""
        with self._ending(id) as session:
            session.run("UPDATE users SET password = ? WHERE id = ?", (password_hash, id))

    def set_role(self, id: str, role: Role) -> None:
        """Another role; sessions and tokens end, and who only answers from now on manages no campaign any more."""
        as_choice(role, "role", get_args(Role))
        with self._ending(id) as session:
            session.run("UPDATE users SET role = ? WHERE id = ?", (role, id))
            if role in ("annotator", "program"):
                session.run("DELETE FROM members WHERE person = ? AND role = 'manager'", (id,))

    @contextmanager
    def _ending(self, id: str) -> Iterator[Session]:
        """A transaction in which sessions and tokens of a user end."""
        keepable((id,))
        with self._database.transaction() as session:
            for table in ("sessions", "tokens"):
                session.run(f"DELETE FROM {table} WHERE person = ?", (id,))
            yield session

    def end_access(self, id: str) -> None:
        """End all sessions and tokens of a user: whoever has one is out."""
        with self._ending(id):
            pass

    def disable_user(self, id: str, disabled: bool = True) -> None:
        """Shut a user out: their sessions end, and their tokens are of no use while they are disabled."""
        keepable((id,))
        with self._database.transaction() as session:
            if not disabled and session.fetch("SELECT 1 FROM users WHERE id = ? AND name = ?", (id, _pseudonym(id))):
                raise InvalidArgument("user", "one who is not forgotten", id)
            session.run("UPDATE users SET disabled = ? WHERE id = ?", (int(disabled), id))
            session.run("DELETE FROM sessions WHERE person = ?", (id,))

    def forget_user(self, id: str) -> None:
        """Delete what is known of a user; the id stays in the logs, and a pseudonym with it."""
        pseudonym = _pseudonym(id)
        with self._ending(id) as session:
            session.run("DELETE FROM members WHERE person = ?", (id,))
            # What is folded begins with no space: so this is nobody's name, not even one of before it was reserved.
            session.run(
                "UPDATE users SET name = ?, folded = ?, password = NULL, disabled = 1 WHERE id = ?",
                (pseudonym, f" {pseudonym}", id),
            )
        self._database.scrub()

    def add_member(self, campaign: str, user: str, role: MemberRole) -> None:
        """Let a user into a campaign, or give a member another role."""
        as_choice(role, "role", get_args(MemberRole))
        number = self._campaign(campaign)
        keepable((user,))
        with self._database.transaction() as session:
            if not session.fetch("SELECT 1 FROM users WHERE id = ?", (user,)):
                raise InvalidArgument("user", "the id of a user", user)
            session.run(
                """INSERT INTO members VALUES (?, ?, ?)
                ON CONFLICT (campaign, person) DO UPDATE SET role = excluded.role""",
                (number, user, role),
            )

    def members(self, campaign: str) -> list[Member]:
        """Return the members of a campaign."""
        query = "SELECT person, role FROM members WHERE campaign = ? ORDER BY person"
        return [Member(campaign, user, role) for user, role in self._read(query, self._campaign(campaign))]

    def campaigns_of(self, user: str) -> list[Member]:
        """Return the campaigns that a user is a member of."""
        query = """SELECT c.name, m.person, m.role FROM members m JOIN campaigns c ON c.id = m.campaign
            WHERE m.person = ? AND c.name IS NOT NULL ORDER BY c.name"""
        return [Member(*record) for record in self._read(query, user)]

    def role_in(self, campaign: str, user: str) -> MemberRole | None:
        """Return a user's role in a campaign; None to who is no member."""
        query = """SELECT m.role FROM members m JOIN campaigns c ON c.id = m.campaign
            WHERE c.name = ? AND m.person = ?"""
        found = self._read(query, campaign, user)
        return found[0][0] if found else None

    def remove_member(self, campaign: str, user: str) -> bool:
        """Take a user out of a campaign; whether they were in it."""
        number = self._campaign(campaign)
        return self._run("DELETE FROM members WHERE campaign = ? AND person = ?", number, user) > 0


def _pseudonym(id: str) -> str:
    return f"{FORGOTTEN} {id}"


def keepable(values: tuple[object, ...]) -> None:
    """Refuse texts that a database cannot keep."""
    as_texts("text", [value for value in values if isinstance(value, str)])
