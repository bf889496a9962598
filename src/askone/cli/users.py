"""askone users: accounts and tokens, for whoever has the database."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
import time

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone._common.validate import as_number
from askone.cli.console import say, show
from askone.cli.files import any_store, known_store
from askone.errors import InvalidArgument
from askone.server.security.access import SCOPES
from askone.server.security.passwords import Passwords, valid_password
from askone.server.security.tokens import issue_token, new_id
from askone.store.accounts.accounts import Accounts
from askone.store.accounts.users import User

_DAY = 86_400.0


def run_users(chosen: argparse.Namespace, console: Console) -> int:
    """Add, list and remove users, let them in and shut them out, or make a token."""
    opened = any_store if chosen.action == "add" else known_store
    with opened(chosen.store) as store:
        _ACTIONS[chosen.action](store.accounts, chosen, console)
    return 0


def _add(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    if accounts.user_by_name(chosen.name) is not None:  # before a password is asked for
        raise InvalidArgument("name", "one that no user has yet (see askone users list)", chosen.name)
    password = None if chosen.role == "program" else valid_password(_password(), chosen.name)
    kept = None if password is None else asyncio.run(Passwords().hash(password))
    accounts.add_user(new_id("p"), chosen.name, chosen.role, kept)
    say(console, f"{chosen.name} is {'an' if chosen.role[0] == 'a' else 'a'} {chosen.role}.")


def _password() -> str:
    """From a person, twice and unseen; or the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass("Password: ")
    if first != getpass.getpass("Again: "):
        raise InvalidArgument("password", "the same twice", "two different ones")
    return first


def _list(accounts: Accounts, _: argparse.Namespace, console: Console) -> None:
    shown = Table("name", "role", "campaigns", "tokens")
    for user in accounts.users():
        campaigns = ", ".join(member.campaign for member in accounts.campaigns_of(user.id))
        role = f"{user.role} (disabled)" if user.disabled else user.role
        shown.add_row(Text(user.name), role, Text(campaigns), str(len(accounts.tokens(user.id))))
    show(console, shown)


def _remove(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    accounts.forget_user(_not_last_admin(accounts, chosen.name).id)
    say(console, f"{chosen.name} is forgotten; the log knows a pseudonym.")


def _not_last_admin(accounts: Accounts, name: str) -> User:
    user = _user(accounts, name)
    admins = [one.id for one in accounts.users() if one.role == "admin" and not one.disabled]
    if admins == [user.id]:
        raise InvalidArgument("name", "another than that of the last administrator", name)
    return user


def _set_password(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    user = _user(accounts, chosen.name)
    password = valid_password(_password(), user.name)
    accounts.set_password(user.id, asyncio.run(Passwords().hash(password)))
    say(console, f"{chosen.name} has a new password; sessions and tokens of before have ended.")


def _revoke(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    accounts.end_access(_user(accounts, chosen.name).id)
    say(console, f"All sessions and tokens of {chosen.name} have ended.")


def _disable(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    accounts.disable_user(_not_last_admin(accounts, chosen.name).id)
    say(console, f"{chosen.name} is disabled: no session, no token, no password lets them in.")


def _enable(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    accounts.disable_user(_user(accounts, chosen.name).id, False)
    say(console, f"{chosen.name} may sign in again.")


def _join(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    accounts.add_member(chosen.campaign, _user(accounts, chosen.name).id, chosen.role)
    say(console, f"{chosen.name} is {'an' if chosen.role[0] == 'a' else 'a'} {chosen.role} of {chosen.campaign}.")


def _leave(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    if not accounts.remove_member(chosen.campaign, _user(accounts, chosen.name).id):
        raise InvalidArgument("name", f"that of a member of {chosen.campaign}", chosen.name)
    say(console, f"{chosen.name} is out of {chosen.campaign}; what was answered stays.")


def _prune(accounts: Accounts, chosen: argparse.Namespace, console: Console) -> None:
    days = as_number(chosen.days, "--days", 0.0, 36_500.0)
    guests, rest = accounts.prune(time.time(), time.time() - _DAY * days)
    say(console, f"Guests forgotten: {guests}; expired sessions, tokens, invitations and deliveries removed: {rest}.")


def _token(accounts: Accounts, chosen: argparse.Namespace, _: Console) -> None:
    user = _user(accounts, chosen.name)
    scopes = [scope.strip() for scope in chosen.scopes.split(",")]
    if not scopes or any(scope not in SCOPES for scope in scopes):
        raise InvalidArgument("--scopes", f"some of {','.join(SCOPES)}", chosen.scopes)
    expires = time.time() + _DAY * as_number(chosen.days, "--days", 0.0, 36_500.0, strict=True)
    # Alone on standard output, so that it can be piped.
    print(issue_token(accounts, user.id, scopes, expires, chosen.title)[1])


def _user(accounts: Accounts, name: str) -> User:
    user = accounts.user_by_name(name)
    if user is None:
        raise InvalidArgument("name", "that of a user (see askone users list)", name)
    return user


_ACTIONS = {
    "add": _add,
    "list": _list,
    "password": _set_password,
    "disable": _disable,
    "enable": _enable,
    "remove": _remove,
    "prune": _prune,
    "join": _join,
    "leave": _leave,
    "token": _token,
    "revoke": _revoke,
}
