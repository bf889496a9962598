"""Routes about people: set-up, signing in and out, invitations taken up, tokens, accounts."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import Response

from askone.errors import InvalidArgument
from askone.server._errors import Refused, conflict, forbidden, missing, unauthorized
from askone.server._requests import Join, Login, NewPassword, NewToken, NewUser, SetUp, UserChange
from askone.server._services import Call, away, reply
from askone.server.security.passwords import checked
from askone.server.security.tokens import TOKEN, digest, fresh, fresh_id, same
from askone.store.accounts.accounts import Accounts
from askone.store.accounts.users import User
from askone.version import __version__

SETUP = "setup"
"""The setting that holds the hash of the set-up token."""
FIRST = "first"
"""The id of the first administrator: there cannot be two of them."""


def has_admin(accounts: Accounts) -> bool:
    """Whether somebody administers this server."""
    return any(user.role == "admin" and not user.disabled for user in accounts.users())


async def set_up(call: Call) -> Response:
    """Makes the first administrator, once, for whoever has the token that the server printed."""
    body: SetUp = call.body
    kept = await away(call.accounts.get, SETUP)
    if await away(has_admin, call.accounts):
        raise conflict("This server is set up already: sign in.")
    if not same(kept or "-", digest(body.token)):
        raise unauthorized()
    password = await call.services.passwords.hash(checked(body.password, body.name))
    if await away(call.accounts.user, FIRST) is not None:
        raise conflict("This server is set up already: sign in.")
    await away(call.accounts.add_user, FIRST, body.name, "admin", password)
    await away(call.accounts.put, SETUP, None)
    return await _signed_in(call, FIRST)


async def log_in(call: Call) -> Response:
    """Signs in by name and password; wrong names and wrong passwords look and last alike."""
    body: Login = call.body
    call.services.logins.spend(body.name.casefold())
    user = await away(call.accounts.user_by_name, body.name)
    usable = None if user is None or user.disabled else user.password_hash
    if not await call.services.passwords.verify(usable, body.password) or user is None:
        raise Refused(401, "wrong_login", "The name or the password is wrong.")
    await call.services.auth.end(call.request)
    return await _signed_in(call, user.id)


async def join(call: Call) -> Response:
    """Takes up an invitation: as who is signed in, or as a new annotator."""
    body: Join = call.body
    campaign = await away(call.accounts.use_invitation, digest(body.invitation), call.now)
    if campaign is None:
        raise Refused(401, "wrong_invitation", "This invitation is not valid, or no longer.")
    if call.somebody is not None:
        if await away(call.accounts.role_in, campaign, call.somebody.id) is None:
            await away(call.accounts.add_member, campaign, call.somebody.id, "annotator")
        call.services.auth.forget()
        return reply(
            {**await describe(call, call.somebody.id, call.services.auth.csrf(call.request)), "campaign": campaign}
        )
    user = await away(_newcomer, call.accounts, body.name, campaign)
    return await _signed_in(call, user, campaign=campaign)


def _newcomer(accounts: Accounts, wanted: str | None, campaign: str) -> str:
    name = wanted.strip() if wanted and wanted.strip() else f"guest {secrets.token_hex(3)}"
    while accounts.user_by_name(name) is not None:
        name = f"{name[:70]} {secrets.token_hex(2)}"
    user = fresh_id("p")
    accounts.add_user(user, name, "annotator", None)
    accounts.add_member(campaign, user, "annotator")
    return user


async def _signed_in(call: Call, user: str, **more: Any) -> Response:
    response = Response(media_type="application/json")
    csrf = await call.services.auth.begin(response, user)
    call.services.auth.forget()
    filled = reply({**await describe(call, user, csrf), **more})
    response.body = filled.body
    response.headers["content-length"] = str(len(filled.body))
    return response


async def me(call: Call) -> Response:
    """Who is signed in, and where."""
    if call.somebody is None:
        return reply(await describe(call, None, None))
    csrf = call.services.auth.csrf(call.request) if call.somebody.session else None
    return reply(await describe(call, call.somebody.id, csrf))


async def describe(call: Call, user: str | None, csrf: str | None) -> dict[str, Any]:
    """The answer of ``me``."""
    return await away(_describe, call, user, csrf)


def _describe(call: Call, user: str | None, csrf: str | None) -> dict[str, Any]:
    found = None if user is None else call.accounts.user(user)
    shown = None if found is None else {"id": found.id, "name": found.name, "role": found.role}
    titles = {record.name: record.title for record in call.store.campaigns()} if found else {}
    roles = {} if found is None else memberships(call.accounts, found.id, found.role, titles)
    return {
        "user": shown,
        "csrf": csrf,
        "campaigns": [{"name": name, "title": titles[name], "role": role} for name, role in roles.items()],
        "needs_setup": found is None and not has_admin(call.accounts),
        "version": __version__,
    }


def memberships(accounts: Accounts, user: str, role: str, names: Any) -> dict[str, str]:
    """A person's campaigns with their role in each."""
    if role == "admin":
        return dict.fromkeys(names, "manager")
    own = {member.campaign: member.role for member in accounts.campaigns_of(user)}
    return {name: own[name] for name in names if name in own}


async def log_out(call: Call) -> Response:
    """Ends the session."""
    response = reply({"ok": True})
    await call.services.auth.end(call.request, response)
    return response


async def change_password(call: Call) -> Response:
    """Another password; all other sessions end."""
    body: NewPassword = call.body
    call.services.logins.spend(call.person.id)
    user = await away(call.accounts.user, call.person.id)
    if user is None or not await call.services.passwords.verify(user.password_hash, body.old):
        raise Refused(403, "wrong_password", "The old password is wrong.", "old")
    password = await call.services.passwords.hash(checked(body.new, user.name))
    await away(call.accounts.set_password, user.id, password)
    await away(call.accounts.end_sessions, user.id)
    return await _signed_in(call, user.id)


async def forget_me(call: Call) -> Response:
    """Deletes what is known of the person who asks; the log keeps an id that leads nowhere."""
    await _not_the_last_admin(call, call.person.id)
    await away(call.accounts.forget_user, call.person.id)
    response = reply({"ok": True})
    await call.services.auth.end(call.request, response)
    call.services.auth.forget()
    return response


async def list_tokens(call: Call) -> Response:
    """One's own tokens, without their secrets."""
    tokens = await away(call.accounts.tokens, call.person.id)
    return reply(
        [
            {"id": t.id, "title": t.title, "prefix": t.prefix, "scopes": list(t.scopes), "expires": t.expires}
            for t in tokens
        ]
    )


async def add_token(call: Call) -> Response:
    """A new token, shown this once; it allows no more than the credentials it is made with."""
    body: NewToken = call.body
    if not call.person.scopes.issuperset(body.scopes):
        raise forbidden("A token cannot allow more than what it is made with.")
    if len(await away(call.accounts.tokens, call.person.id)) >= 50:
        raise conflict("You have 50 tokens: revoke some first.")
    token, name = fresh(TOKEN), fresh_id("t")
    expires = call.now + 86400 * body.expires_days
    scopes = tuple(sorted(set(body.scopes)))
    await away(call.accounts.add_token, name, digest(token), token[:9], call.person.id, scopes, expires, body.title)
    return reply({"id": name, "token": token, "expires": expires}, 201)


async def revoke_token(call: Call) -> Response:
    """Revokes a token, at once."""
    if not await away(call.accounts.revoke_token, call.part("id"), call.person.id):
        raise missing("token")
    call.services.auth.forget()
    return reply({"ok": True})


async def list_users(call: Call) -> Response:
    """All accounts."""
    return reply([_shown(user) for user in await away(call.accounts.users)])


async def add_user(call: Call) -> Response:
    """A new account; without a password nobody can sign in to it yet."""
    body: NewUser = call.body
    password = None
    if body.password is not None:
        password = await call.services.passwords.hash(checked(body.password, body.name))
    if await away(call.accounts.user_by_name, body.name) is not None:
        raise conflict("This name is taken.", "name_taken")
    user = fresh_id("p")
    await away(call.accounts.add_user, user, body.name, body.role, password)
    return reply({"id": user, "name": body.name, "role": body.role}, 201)


async def change_user(call: Call) -> Response:
    """Another role or password; the account's sessions end."""
    body: UserChange = call.body
    user = await _user(call)
    if body.role is None and body.password is None:
        raise InvalidArgument("body", "a role or a password", "neither")
    if body.password is not None:
        password = await call.services.passwords.hash(checked(body.password, user.name))
        await away(call.accounts.set_password, user.id, password)
    if body.role is not None and body.role != user.role:
        if body.role != "admin":
            await _not_the_last_admin(call, user.id)
        await away(call.accounts.set_role, user.id, body.role)
    await away(call.accounts.end_sessions, user.id)
    call.services.auth.forget()
    return reply(_shown(await _user(call)))


async def delete_user(call: Call) -> Response:
    """Deletes what is known of a person, as they could themselves."""
    user = await _user(call)
    await _not_the_last_admin(call, user.id)
    await away(call.accounts.forget_user, user.id)
    call.services.auth.forget()
    return reply({"ok": True})


async def _user(call: Call) -> User:
    user = await away(call.accounts.user, call.part("id"))
    if user is None:
        raise missing("account")
    return user


async def _not_the_last_admin(call: Call, user: str) -> None:
    admins = [one.id for one in await away(call.accounts.users) if one.role == "admin" and not one.disabled]
    if admins == [user]:
        raise conflict("Somebody has to administer this server: make another administrator first.", "last_admin")


def _shown(user: User) -> dict[str, Any]:
    return {"id": user.id, "name": user.name, "role": user.role, "disabled": user.disabled}
