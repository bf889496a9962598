"""Routes about people: set-up, signing in and out, invitations taken up, tokens, accounts."""

from __future__ import annotations

import secrets
from asyncio import to_thread
from collections.abc import Iterable

from askone.errors import AlreadyExists, InvalidArgument
from askone.server._context import RequestContext
from askone.server._errors import ApiError, conflict, not_found, unauthorized
from askone.server._requests import Invited, Join, Login, NewPassword, NewToken, NewUser, SetUp, UserChange
from askone.server._responses import (
    CampaignMembership,
    InvitedResponse,
    JoinResponse,
    MeResponse,
    NewTokenResponse,
    OkResponse,
    TokenResponse,
    UserResponse,
    UserSummary,
)
from askone.server._routing import JsonResponse
from askone.server.security import access
from askone.server.security.passwords import valid_password
from askone.server.security.rate_limits import client_address
from askone.server.security.tokens import csrf_token, digest, equal_secrets, issue_token, new_id
from askone.store.accounts.accounts import Accounts
from askone.store.accounts.names import folded, valid_name
from askone.store.accounts.users import User
from askone.version import __version__

SETUP_TOKEN = "setup"
"""The setting that holds the hash of the set-up token."""
FIRST_ADMIN = "first"
"""The id of the first administrator: there cannot be two of them."""


def has_admin(accounts: Accounts) -> bool:
    """Return whether somebody administers this server."""
    return any(user.role == "admin" and not user.disabled for user in accounts.users())


async def set_up(ctx: RequestContext, body: SetUp) -> JsonResponse[MeResponse]:
    """Make the first administrator, once, for whoever has the token that the server printed."""
    kept = await to_thread(ctx.accounts.get, SETUP_TOKEN)
    if await to_thread(has_admin, ctx.accounts):
        raise conflict("This server is set up already: sign in.")
    if not equal_secrets(kept or "-", digest(body.token)):
        raise _failed(ctx, unauthorized())
    password = await ctx.services.passwords.hash(valid_password(body.password, body.name))
    if await to_thread(ctx.accounts.user, FIRST_ADMIN) is not None:
        raise conflict("This server is set up already: sign in.")
    await to_thread(ctx.accounts.add_user, FIRST_ADMIN, body.name, "admin", password)
    await to_thread(ctx.accounts.put, SETUP_TOKEN, None)
    return await _sign_in(ctx, FIRST_ADMIN, password)


async def log_in(ctx: RequestContext, body: Login) -> JsonResponse[MeResponse]:
    """Sign in by name and password; wrong names and wrong passwords look and last alike."""
    by_address, by_account = ctx.services.limiters["logins"], ctx.services.login_limiter
    limits = [(by_address, client_address(ctx.request)), (by_account, folded(body.name))]

    def admit() -> None:
        for limit, key in limits:
            limit.check(key)

    user = await to_thread(ctx.accounts.user_by_name, body.name)
    usable = None if user is None or user.disabled else user.password_hash
    if not await ctx.services.passwords.verify(usable, body.password, admit) or user is None:
        for limit, key in limits:
            limit.wait(key)
        raise _wrong_login()
    await ctx.services.auth.end_session(ctx.request)
    return await _sign_in(ctx, user.id, usable)


async def join(ctx: RequestContext, body: Join) -> JsonResponse[JoinResponse]:
    """Take up an invitation: as who is signed in, or as a new annotator.  For who is in already, it is not used up."""
    if ctx.optional_user is not None:
        access.ANSWER.check(ctx.optional_user)
    name = valid_name(body.name) if body.name and body.name.strip() else None
    if ctx.optional_user is None:
        session, kept = ctx.services.auth.new_session()
        user, campaign = await to_thread(_admitted, ctx, digest(body.invitation), name, kept)
        csrf = csrf_token(session)
    else:
        user, session, csrf = ctx.optional_user.id, "", ctx.services.auth.csrf(ctx.request)
        campaign = await to_thread(_joined, ctx.accounts, digest(body.invitation), user, ctx.now)
    if campaign is None:
        raise _failed(ctx, ApiError(401, "wrong_invitation", "This invitation is not valid, or no longer."))
    me = await to_thread(_describe, ctx, user, csrf)
    response = JsonResponse(JoinResponse(**dict(me), campaign=campaign))
    if session:
        ctx.services.auth.set_cookie(response, session)
    return response


async def invited(ctx: RequestContext, body: Invited) -> InvitedResponse:
    """Return what an invitation leads to, before it is taken up."""
    campaign = await to_thread(ctx.accounts.invited_to, digest(body.invitation), ctx.now)
    if campaign is None:
        raise _failed(ctx, ApiError(401, "wrong_invitation", "This invitation is not valid, or no longer."))
    hosts = await to_thread(_hosts, ctx.accounts, campaign)
    return await ctx.services.workers[campaign].run(lambda service: service.invitation(hosts))


def _hosts(accounts: Accounts, campaign: str) -> list[str]:
    """Return the names of those who manage a campaign."""
    hosts = [accounts.user(one.user) for one in accounts.members(campaign) if one.role == "manager"]
    return [host.name for host in hosts if host is not None and not host.disabled]


def _failed(ctx: RequestContext, error: ApiError) -> ApiError:
    """Count a secret that is wrong, by address; too many are told to wait."""
    ctx.services.limiters["logins"].spend(client_address(ctx.request))
    return error


def _joined(accounts: Accounts, invitation: str, user: str, now: float) -> str | None:
    """Let a user in by an invitation; return its campaign, if it is valid."""
    known = accounts.invited_to(invitation, now)
    if known is not None and accounts.role_in(known, user) is not None:
        return known
    campaign = accounts.use_invitation(invitation, now)
    if campaign is not None:
        accounts.add_member(campaign, user, "annotator")
    return campaign


def _admitted(
    ctx: RequestContext, invitation: str, wanted: str | None, kept: tuple[str, str, float]
) -> tuple[str, str | None]:
    """Let somebody new in by an invitation; return their id and its campaign, if it is valid."""
    user, name = new_id("p"), wanted or f"guest {secrets.token_hex(3)}"
    while True:
        try:
            if ctx.accounts.user_by_name(name) is None:
                return user, ctx.accounts.admit(invitation, ctx.now, user, name, kept)
        except AlreadyExists:
            pass  # somebody else of this name came in between
        name = f"{(wanted or 'guest')[:70]} {secrets.token_hex(3)}"


def _wrong_login() -> ApiError:
    return ApiError(401, "wrong_login", "The name or the password is wrong.")


async def _sign_in(ctx: RequestContext, user: str, password: str | None) -> JsonResponse[MeResponse]:
    """Begin a session for a user who has shown the password of this hash."""
    session = await ctx.services.auth.begin_session(user)
    found = await to_thread(ctx.accounts.user, user)
    # Sessions end with their password: one that began a moment later, by what was looked at before, ends as well.
    if found is None or found.password_hash != password:
        await to_thread(ctx.accounts.end_session, digest(session))
        raise _wrong_login()
    response = JsonResponse(await to_thread(_describe, ctx, user, csrf_token(session)))
    ctx.services.auth.set_cookie(response, session)
    return response


async def me(ctx: RequestContext) -> MeResponse:
    """Return who is signed in, and where."""
    user = ctx.optional_user
    csrf = ctx.services.auth.csrf(ctx.request) if user is not None and user.session else None
    return await to_thread(_describe, ctx, None if user is None else user.id, csrf)


def _describe(ctx: RequestContext, user: str | None, csrf: str | None) -> MeResponse:
    found = None if user is None else ctx.accounts.user(user)
    titles = {record.name: record.title for record in ctx.store.campaigns()} if found else {}
    roles = {} if found is None else memberships(ctx.accounts, found.id, found.role, titles)
    return MeResponse(
        user=None if found is None else UserSummary.of(found),
        csrf=csrf,
        campaigns=[CampaignMembership(name=name, title=titles[name], role=role) for name, role in roles.items()],
        needs_setup=found is None and not has_admin(ctx.accounts),
        version=__version__,
    )


def memberships(accounts: Accounts, user: str, role: str, names: Iterable[str]) -> dict[str, str]:
    """Return a person's campaigns with their role in each."""
    if role == "admin":
        return dict.fromkeys(names, "manager")
    own = {member.campaign: member.role for member in accounts.campaigns_of(user)}
    return {name: own[name] for name in names if name in own}


async def log_out(ctx: RequestContext) -> JsonResponse[OkResponse]:
    """End the session."""
    response = JsonResponse(OkResponse())
    await ctx.services.auth.end_session(ctx.request, response)
    return response


async def change_password(ctx: RequestContext, body: NewPassword) -> JsonResponse[MeResponse]:
    """Set another password; all other sessions end, and all tokens."""
    limit, key = ctx.services.login_limiter, ctx.user.id
    user = await to_thread(ctx.accounts.user, key)
    if user is None or not await ctx.services.passwords.verify(user.password_hash, body.old, lambda: limit.check(key)):
        limit.wait(key)
        raise ApiError(403, "wrong_password", "The old password is wrong.", "old")
    password = await ctx.services.passwords.hash(valid_password(body.new, user.name))
    await to_thread(ctx.accounts.set_password, user.id, password)
    return await _sign_in(ctx, user.id, password)


async def forget_me(ctx: RequestContext) -> JsonResponse[OkResponse]:
    """Delete what is known of the person who asks; the log keeps an id that leads nowhere."""
    await _require_other_admin(ctx, ctx.user.id)
    await to_thread(ctx.accounts.forget_user, ctx.user.id)
    response = JsonResponse(OkResponse())
    await ctx.services.auth.end_session(ctx.request, response)
    return response


async def list_tokens(ctx: RequestContext) -> list[TokenResponse]:
    """Return one's own tokens, without their secrets."""
    return [TokenResponse.of(token) for token in await to_thread(ctx.accounts.tokens, ctx.user.id)]


async def add_token(ctx: RequestContext, body: NewToken) -> NewTokenResponse:
    """Make a token, shown this once; it allows no more than its owner's role."""
    if len(await to_thread(ctx.accounts.tokens, ctx.user.id)) >= 50:
        raise conflict("You have 50 tokens: revoke some first.")
    expires = ctx.now + 86400 * body.expires_days
    scopes = sorted(set(body.scopes))
    name, token = await to_thread(issue_token, ctx.accounts, ctx.user.id, scopes, expires, body.title)
    # What ends sessions ends tokens: one that was made a moment after its session ended ends as well.
    if not await ctx.services.auth.is_valid(ctx.request):
        await to_thread(ctx.accounts.revoke_token, name, ctx.user.id)
        raise unauthorized()
    return NewTokenResponse(id=name, token=token, expires=expires)


async def revoke_token(ctx: RequestContext) -> OkResponse:
    """Revoke a token, at once."""
    if not await to_thread(ctx.accounts.revoke_token, ctx.path_param("id"), ctx.user.id):
        raise not_found("token")
    return OkResponse()


async def list_users(ctx: RequestContext) -> list[UserResponse]:
    """Return all accounts."""
    return [UserResponse.of(user) for user in await to_thread(ctx.accounts.users)]


async def add_user(ctx: RequestContext, body: NewUser) -> UserSummary:
    """Make an account; without a password nobody can sign in to it yet."""
    password = None
    if body.password is not None:
        password = await ctx.services.passwords.hash(valid_password(body.password, body.name))
    name = valid_name(body.name)
    if await to_thread(ctx.accounts.user_by_name, name) is not None:
        raise conflict("This name is taken, or one that looks like it.", "name_taken")
    user = new_id("p")
    await to_thread(ctx.accounts.add_user, user, name, body.role, password)
    return UserSummary(id=user, name=name, role=body.role)


async def change_user(ctx: RequestContext, body: UserChange) -> UserResponse:
    """Set another role or password, by which the account's sessions and tokens end; or disable or enable it."""
    user = await _user(ctx)
    if body.role is None and body.password is None and body.disabled is None:
        raise InvalidArgument("body", "a role, a password or whether it is disabled", "none of them")
    if body.disabled or body.role not in (None, "admin"):
        await _require_other_admin(ctx, user.id)
    if body.password is not None:
        password = await ctx.services.passwords.hash(valid_password(body.password, user.name))
        await to_thread(ctx.accounts.set_password, user.id, password)
    if body.role is not None and body.role != user.role:
        await to_thread(ctx.accounts.set_role, user.id, body.role)
    if body.disabled is not None:
        await to_thread(ctx.accounts.disable_user, user.id, body.disabled)
    return UserResponse.of(await _user(ctx))


async def revoke_access(ctx: RequestContext) -> OkResponse:
    """Revoke all tokens of an account, and sign it out everywhere."""
    await to_thread(ctx.accounts.end_access, (await _user(ctx)).id)
    return OkResponse()


async def delete_user(ctx: RequestContext) -> OkResponse:
    """Delete what is known of a person, as they could themselves."""
    user = await _user(ctx)
    await _require_other_admin(ctx, user.id)
    await to_thread(ctx.accounts.forget_user, user.id)
    return OkResponse()


async def _user(ctx: RequestContext) -> User:
    user = await to_thread(ctx.accounts.user, ctx.path_param("id"))
    if user is None:
        raise not_found("account")
    return user


async def _require_other_admin(ctx: RequestContext, user: str) -> None:
    admins = [one.id for one in await to_thread(ctx.accounts.users) if one.role == "admin" and not one.disabled]
    if admins == [user]:
        raise conflict("Somebody has to administer this server: make another administrator first.", "last_admin")
