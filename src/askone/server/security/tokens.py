"""Secrets that are shown once and kept as hashes; ``authentication.py`` checks what comes back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from askone.store.accounts.accounts import Accounts

TOKEN = "ask1_"
"""How tokens begin, so that scanners find one that leaked."""
INVITATIONS = 500
"""Of one campaign at most."""


def new_secret(prefix: str = "") -> str:
    """Return a new secret of 256 random bits.

    >>> len(new_secret("ask1_"))
    48
    """
    return prefix + secrets.token_urlsafe(32)


def new_id(prefix: str = "") -> str:
    """Return a new name for a thing: not secret, but not to be guessed either."""
    return prefix + secrets.token_urlsafe(12)


def issue_token(accounts: Accounts, user: str, scopes: Sequence[str], expires: float, title: str) -> tuple[str, str]:
    """Make a token for a user; return its id, and the token itself, which is shown this once."""
    name, token = new_id("t"), new_secret(TOKEN)
    accounts.add_token(name, digest(token), token[:9], user, scopes, expires, title)
    return name, token


def issue_invitation(
    accounts: Accounts, campaign: str, expires: float, uses: int, title: str
) -> tuple[str, str] | None:
    """Make an invitation; return its id and its secret, which is shown this once; None: there are too many."""
    if len(accounts.invitations(campaign)) >= INVITATIONS:
        return None
    name, secret = new_id("i"), new_secret()
    accounts.add_invitation(name, digest(secret), campaign, expires, uses, title)
    return name, secret


def digest(secret: str) -> str:
    """Return the hash of a secret: all of it that is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def csrf_token(session: str) -> str:
    """Return the session's second secret, which pages read and send back in a header: it follows from the first."""
    return hmac.new(session.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def equal_secrets(one: str, other: str) -> bool:
    """Return whether two secrets are the same, in a time that says nothing of where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))
