"""Authentication by sessions and tokens, remembered for a moment, forgotten at once when they are revoked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar, final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from askone.server._errors import ApiError, forbidden, unauthorized
from askone.server.config import ServerConfig
from askone.server.security.access import SCOPES, CurrentUser
from askone.server.security.rate_limits import RateLimiter, client_address
from askone.server.security.tokens import TOKEN, csrf_token, digest, equal_secrets, new_secret
from askone.store.store import Store

COOKIE = "askone_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_EVERYTHING = frozenset(SCOPES)
_MOST = 20_000
_Found = TypeVar("_Found")


@final
class Auth:
    """Sessions, tokens and roles of a store.

    What was looked up is used for ``remember_seconds``.  After each request that may change accounts ``clear_cache`` is
    called, which takes effect at once; other processes of the same store look again within that time.
    """

    def __init__(self, store: Store, config: ServerConfig, clock: Callable[[], float] = time.time) -> None:
        self._store, self._accounts = store, store.accounts
        self._config, self._clock = config, clock
        self._kept: dict[Hashable, tuple[float, Any]] = {}
        self._changes = 0
        self._session_seconds = config.session_days * 86400
        self._cookie: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": config.tls}
        self._failures = RateLimiter(config.failures)

    async def identify(self, request: Request, required: bool) -> CurrentUser | None:
        """Return who sends this; None if nobody is signed in.  A token that is not valid is an error.

        Failures are counted and limited by address, a session that is over only where one is ``required``: whoever
        shows something valid is let in, whatever others at their address do.
        """
        given = request.headers.get("authorization")
        if given is not None:
            kind, _, token = given.partition(" ")
            if kind.lower() != "bearer" or not token.startswith(TOKEN):
                raise self._failed(request)
            mark = digest(token)
            person = await self._known(mark, partial(self._by_token, mark))
            if person is None:
                raise self._failed(request)
            return person
        session = request.cookies.get(COOKIE)
        if not session:
            return None
        mark = digest(session)
        person = await self._known(mark, partial(self._by_session, mark))
        if person is None and required:
            raise self._failed(request)
        return person

    async def _known(self, mark: Hashable, load: Callable[[], _Found | None]) -> _Found | None:
        """Return what was looked up under this mark a moment ago, or is now."""
        kept = self._kept.get(mark)
        if kept is not None and kept[0] > time.monotonic():
            found: _Found = kept[1]
            return found
        changes = self._changes
        loaded = await asyncio.to_thread(load)
        if loaded is None:
            self._kept.pop(mark, None)
        elif changes == self._changes:
            # Otherwise something was revoked while this was looked up.
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[mark] = (time.monotonic() + self._config.remember_seconds, loaded)
        return loaded

    def _failed(self, request: Request) -> Exception:
        self._failures.spend(client_address(request))
        return unauthorized()

    def _by_token(self, mark: str) -> CurrentUser | None:
        token = self._accounts.token(mark, self._clock())
        return None if token is None else self._person(token.user, frozenset(token.scopes), session=False)

    def _by_session(self, mark: str) -> CurrentUser | None:
        session = self._accounts.session(mark, self._clock())
        return None if session is None else self._person(session.user, _EVERYTHING, session=True)

    def _person(self, user: str, scopes: frozenset[str], session: bool) -> CurrentUser | None:
        found = self._accounts.user(user)
        if found is None or found.disabled:
            return None
        return CurrentUser(found.id, found.name, found.role, scopes & _EVERYTHING, session)

    async def role(self, campaign: str, person: CurrentUser) -> str | None:
        """Return the person's role in a campaign; administrators manage all of them."""
        return await self._known((campaign, person.id), partial(self._role, campaign, person))

    def _role(self, campaign: str, person: CurrentUser) -> str | None:
        self._store.campaign(campaign)  # raises where there is none
        return "manager" if person.admin else self._accounts.role_in(campaign, person.id)

    def clear_cache(self) -> None:
        """Something about accounts changed: nothing that was looked up is used any more."""
        self._changes += 1
        self._kept.clear()

    def check_csrf(self, request: Request, person: CurrentUser | None) -> None:
        """Refuse what another site made a browser send: cross-site request forgery (CSRF).

        A browser says where a request comes from (Origin): that must be here.  Who is signed in by a cookie,
        which browsers send by themselves, must also show the session's second secret.
        """
        if request.method in SAFE:
            return
        origin = request.headers.get("origin")
        if origin is not None and origin not in self._origins(request):
            raise forbidden("This request comes from another site.")
        if person is not None and person.session:
            shown = request.headers.get("x-csrf-token", "")
            if not equal_secrets(shown, csrf_token(request.cookies.get(COOKIE, ""))):
                raise ApiError(403, "csrf", "The header X-CSRF-Token is missing or wrong: load the page again.")

    def _origins(self, request: Request) -> tuple[str, ...]:
        here = f"{request.url.scheme}://{request.headers.get('host', '')}"
        if not self._config.public_url:
            return (here,)
        public = urlsplit(self._config.public_url)
        return (here, f"{public.scheme}://{public.netloc}")

    async def begin_session(self, user: str) -> str:
        """Begin a session for a user; return its secret, for ``set_cookie``."""
        session, (mark, csrf, expires) = self.new_session()
        await asyncio.to_thread(self._accounts.add_session, mark, user, csrf, expires)
        return session

    def new_session(self) -> tuple[str, tuple[str, str, float]]:
        """Return the secret of a session to be, and what is kept of it: hash, csrf and end."""
        session = new_secret()
        return session, (digest(session), digest(csrf_token(session)), self._clock() + self._session_seconds)

    def set_cookie(self, response: Response, session: str) -> None:
        """Send the session's secret to the browser, out of reach of scripts."""
        response.set_cookie(COOKIE, session, max_age=int(self._session_seconds), path="/", **self._cookie)

    async def is_valid(self, request: Request) -> bool:
        """Return whether the session of a request has not ended meanwhile, by what the store says at this moment."""
        mark = digest(request.cookies.get(COOKIE, ""))
        return await asyncio.to_thread(self._accounts.session, mark, self._clock()) is not None

    async def end_session(self, request: Request, response: Response | None = None) -> None:
        """End the session of a request, here and in the store."""
        session = request.cookies.get(COOKIE)
        if session:
            await asyncio.to_thread(self._accounts.end_session, digest(session))
        if response is not None:
            response.delete_cookie(COOKIE, path="/", **self._cookie)

    def csrf(self, request: Request) -> str:
        """Return the second secret of the session that a request came with."""
        return csrf_token(request.cookies.get(COOKIE, ""))
