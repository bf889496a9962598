"""Ways out: access ended, users shut out, users forgotten."""

from __future__ import annotations

from askone.errors import InvalidArgument
from askone.store.accounts.names import FORGOTTEN
from askone.store.accounts.users import UserRepository, keepable


class RemovalRepository(UserRepository):
    """Users and members, and how they go."""

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


def _pseudonym(id: str) -> str:
    return f"{FORGOTTEN} {id}"
