"""Passwords: argon2id, off the event loop, a few at a time; the one door to argon2."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from askone.errors import InvalidArgument

SHORTEST, LONGEST = 10, 200


def valid_password(password: str, name: str = "") -> str:
    """Return a password that is allowed.

    >>> valid_password("short")
    Traceback (most recent call last):
    ...
    askone.errors.InvalidArgument: password must be of 10 to 200 characters; got 5 characters
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidArgument("password", f"of {SHORTEST} to {LONGEST} characters", f"{len(password)} characters")
    if len(set(password)) < 4 or password.casefold() == name.casefold():
        raise InvalidArgument("password", "harder to guess", "the name, or a few characters over and over")
    return password


@final
class Passwords:
    """Makes and checks hashes.

    An unknown name costs as much time as a wrong password: a hash of nothing in particular is checked for it.
    Each check takes much memory on purpose, so that at most two run at once.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._nobody = self._hasher.hash("nobody has this password")
        self._room = asyncio.Semaphore(2)

    async def hash(self, password: str) -> str:
        """Return the argon2 string to keep."""
        async with self._room:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, kept: str | None, password: str, admit: Callable[[], None] = lambda: None) -> bool:
        """Return whether the password is the one of this hash; ``admit`` raises, when it is its turn, if it may not be.

        Many that come at once are thus admitted two by two, and each two know how those before them ended.
        """
        async with self._room:
            admit()
            return await asyncio.to_thread(self._verify, kept, password[: LONGEST + 1])

    def _verify(self, kept: str | None, password: str) -> bool:
        try:
            return self._hasher.verify(kept or self._nobody, password) and kept is not None
        except (VerificationError, InvalidHashError):
            return False
