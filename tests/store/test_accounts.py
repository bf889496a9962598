"""Users, members, sessions, tokens, invitations, webhooks and settings, in memory, SQLite and PostgreSQL."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra server")

from askone.errors import AlreadyExists, InvalidArgument, UnknownCampaign
from askone.store.accounts.accounts import Invitation, SignedIn, Token
from askone.store.accounts.users import Member, User
from askone.store.accounts.webhooks import Delivery, Webhook
from askone.store.entries import Entry, Row
from askone.store.notices import Began
from stores import at_once


@pytest.fixture
def accounts(any_store):
    for name in ("cats", "dogs"):
        rows = [[Row(0, "a", {}, np.zeros(1))]]
        any_store.create(name, "", "ann", b"", lambda n, mark: Entry(Began("b", {}, n, mark)), rows)
    any_store.accounts.add_user("u1", "Ann", "admin", "argon2$ann")
    any_store.accounts.add_user("u2", "Zoë", "annotator")
    return any_store.accounts


def test_users(accounts):
    assert accounts.user("u1") == User("u1", "Ann", "admin", "argon2$ann")
    assert accounts.user("u3") is None
    assert accounts.user_by_name(" aNN") == accounts.user("u1")
    assert accounts.user_by_name("zoe\u0308").id == "u2"
    assert accounts.user_by_name("'; --") is None
    assert [user.id for user in accounts.users()] == ["u1", "u2"]
    assert "argon2" not in repr(accounts.users())
    for taken in (("u1", "New"), ("u9", "ANN")):
        with pytest.raises(AlreadyExists):
            accounts.add_user(*taken, "manager")
    for id_, name, role in (("u9", "Eve", "root"), ("u9", " ", "admin"), ("u9", "E\0ve", "admin")):
        with pytest.raises(InvalidArgument):
            accounts.add_user(id_, name, role)
    accounts.set_password("u2", "argon2$zoe")
    accounts.set_role("u2", "manager")
    assert accounts.user("u2") == User("u2", "Zoë", "manager", "argon2$zoe")
    with pytest.raises(
        InvalidArgument, match="role must be one of: 'admin', 'manager', 'annotator', 'program'; got 'owner'"
    ):
        accounts.set_role("u2", "owner")


def test_members(any_store, accounts):
    accounts.add_member("cats", "u2", "annotator")
    accounts.add_member("dogs", "u2", "annotator")
    accounts.add_member("cats", "u1", "annotator")
    accounts.add_member("cats", "u1", "manager")
    assert accounts.members("cats") == [Member("cats", "u1", "manager"), Member("cats", "u2", "annotator")]
    assert accounts.campaigns_of("u2") == [Member("cats", "u2", "annotator"), Member("dogs", "u2", "annotator")]
    assert accounts.role_in("cats", "u1") == "manager"
    assert accounts.role_in("dogs", "u1") is None
    assert accounts.role_in("no", "u1") is None
    accounts.remove_member("cats", "u2")
    assert accounts.role_in("cats", "u2") is None
    with pytest.raises(UnknownCampaign):
        accounts.members("no")
    with pytest.raises(InvalidArgument, match="the id of a user"):
        accounts.add_member("cats", "u9", "manager")
    with pytest.raises(InvalidArgument, match="role"):
        accounts.add_member("cats", "u1", "admin")
    any_store.delete("dogs")
    assert accounts.campaigns_of("u2") == []


def test_sessions(accounts):
    accounts.add_session("h1", "u1", "csrf1", 100.0)
    accounts.add_session("h2", "u1", "csrf2", 200.0)
    accounts.add_session("h3", "u2", "csrf3", 200.0)
    assert accounts.session("h1", 99.9) == SignedIn("u1", "csrf1", 100.0)
    assert accounts.session("h1", 100.0) is None
    assert accounts.session("no", 0.0) is None
    assert "csrf" not in repr(accounts.session("h2", 0.0)).replace("csrf=", "")
    with pytest.raises(AlreadyExists):
        accounts.add_session("h1", "u2", "c", 1.0)
    with pytest.raises(AlreadyExists, match="is gone"):
        accounts.add_session("h9", "u9", "c", 1.0)
    assert accounts.end_expired(150.0) == 1
    accounts.end_session("h3")
    assert accounts.session("h3", 0.0) is None
    accounts.end_access("u1")
    assert accounts.session("h2", 0.0) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda accounts: accounts.set_password("u2", "argon2$new"),
        lambda accounts: accounts.set_role("u2", "annotator"),
        lambda accounts: accounts.end_access("u2"),
        lambda accounts: accounts.forget_user("u2"),
    ],
    ids=["password", "role", "access", "forget"],
)
def test_sessions_and_tokens_end_together(accounts, change):
    for user in ("u1", "u2"):
        accounts.add_session(f"s{user}", user, "c", 100.0)
        accounts.add_token(f"t{user}", f"h{user}", "p", user, ["read"], None, "")
    change(accounts)
    assert (accounts.session("su2", 0.0), accounts.token("hu2", 0.0)) == (None, None)
    assert None not in (accounts.session("su1", 0.0), accounts.token("hu1", 0.0))


def test_a_demoted_manager_manages_nothing(accounts):
    accounts.set_role("u2", "manager")
    accounts.add_member("cats", "u2", "manager")
    accounts.add_member("dogs", "u2", "annotator")
    accounts.set_role("u2", "annotator")
    assert accounts.campaigns_of("u2") == [Member("dogs", "u2", "annotator")]
    assert accounts.remove_member("dogs", "u2") is True
    assert accounts.remove_member("dogs", "u2") is False


def test_a_pseudonym_is_nobody_s_name(accounts):
    with pytest.raises(InvalidArgument, match="forgotten"):
        accounts.add_user("u3", "Forgotten u2", "annotator")
    accounts._run("INSERT INTO users VALUES ('u3', 'forgotten u2', 'forgotten u2', 'annotator', NULL, 0)")
    accounts.forget_user("u2")
    accounts.forget_user("u3")
    assert [user.name for user in accounts.users()][:2] == ["forgotten u2", "forgotten u3"]
    with pytest.raises(InvalidArgument, match="not forgotten"):
        accounts.disable_user("u2", False)


def test_tokens(accounts):
    accounts.add_token("t1", "h1", "ask1_ab", "u1", ["read", "answer"], 100.0, "laptop")
    accounts.add_token("t2", "h2", "ask1_cd", "u1", ["manage"], None, "bot")
    first = Token("t1", "ask1_ab", "u1", ("read", "answer"), 100.0, "laptop")
    assert accounts.token("h1", 99.0) == first
    assert accounts.token("h1", 100.0) is None
    assert accounts.token("h2", 1e12).scopes == ("manage",)
    assert accounts.tokens("u1") == [accounts.token("h2", 0.0), first]
    assert accounts.revoke_token("t1", "u2") is False
    assert accounts.revoke_token("t1", "u1") is True
    assert accounts.token("h1", 0.0) is None


def test_a_disabled_user_is_out_and_a_forgotten_one_is_nobody(any_store, accounts):
    accounts.add_session("h1", "u2", "c", 100.0)
    accounts.add_token("t1", "h2", "p", "u2", [], None, "")
    accounts.add_member("cats", "u2", "annotator")
    accounts.disable_user("u2")
    assert (accounts.session("h1", 0.0), accounts.token("h2", 0.0)) == (None, None)
    assert accounts.user("u2").disabled
    accounts.disable_user("u2", False)
    assert accounts.session("h1", 0.0) is None
    assert accounts.token("h2", 0.0) is not None
    accounts.add_session("h3", "u2", "c", 100.0)
    accounts.forget_user("u2")
    assert accounts.user("u2") == User("u2", "forgotten u2", "annotator", None, True)
    assert (accounts.user_by_name("Zoë"), accounts.tokens("u2"), accounts.campaigns_of("u2")) == (None, [], [])
    accounts.add_user("u3", "Zoë", "annotator")
    tables = ("users", "sessions", "tokens", "members")
    kept = "".join(repr(any_store._database.read(f"SELECT * FROM {table}")) for table in tables)
    assert kept.count("Zoë") == 1


def test_invitations(any_store, accounts):
    accounts.add_invitation("i1", "h1", "cats", 100.0, 2, "class")
    accounts.add_invitation("i2", "h2", "cats", None, None, "open")
    first, second = accounts.invitations("cats")
    assert first == Invitation("i1", "cats", 100.0, 2, 0, "class")
    assert second.id == "i2"
    assert accounts.invitations("dogs") == []
    assert accounts.use_invitation("h1", 100.0) is None, "it has expired"
    assert [accounts.use_invitation("h1", 50.0) for _ in range(3)] == ["cats", "cats", None]
    assert accounts.invitations("cats")[0].uses == 2
    assert accounts.use_invitation("h2", 1e12) == "cats"
    assert accounts.use_invitation("no", 0.0) is None
    assert accounts.revoke_invitation("i2", "dogs") is False
    assert accounts.revoke_invitation("i2", "cats") is True
    assert [one.id for one in accounts.invitations("cats")] == ["i1"]
    any_store.delete("cats")
    with pytest.raises(UnknownCampaign):
        accounts.invitations("cats")
    assert accounts.use_invitation("h1", 50.0) is None


def test_an_invitation_is_not_used_more_often_by_many_at_once(accounts):
    accounts.add_invitation("i1", "h1", "cats", None, 3)
    results = at_once(lambda _: accounts.use_invitation("h1", 0.0), 8)
    assert sorted(map(str, results)) == ["None"] * 5 + ["cats"] * 3


def test_webhooks(any_store, accounts):
    accounts.add_webhook("w1", "cats", "https://example.org", "secret", ["answer", "closed"])
    hook = Webhook("w1", "cats", "https://example.org", "secret", ("answer", "closed"))
    assert accounts.webhooks("cats") == [hook]
    assert "secret" not in repr(hook)
    for number, at in ((1, 10.0), (2, 5.0), (3, 50.0)):
        accounts.queue_delivery(f"d{number}", "w1", f"body{number}", at)
    accounts.queue_delivery("d1", "w1", "again", 0.0)
    accounts.queue_delivery("d9", "gone", "", 0.0)
    due = accounts.due_deliveries(20.0, 10)
    assert due == [Delivery(f"d{n}", "w1", hook.url, "secret", f"body{n}", 0) for n in (2, 1)]
    assert accounts.due_deliveries(20.0, 10) == [], "who took them has them for a while"
    accounts.delivered("d2", "200")
    accounts.retry_delivery("d1", 30.0)
    assert [(one.id, one.tries) for one in accounts.due_deliveries(40.0, 10)] == [("d1", 1)]
    assert [one.id for one in accounts.due_deliveries(101.0, 1)] == ["d3"], "taken by somebody who is gone"
    assert accounts.webhooks("cats")[0].status == "200"
    assert accounts.remove_webhook("w1", "dogs") is False
    assert accounts.remove_webhook("w1", "cats") is True
    assert accounts.due_deliveries(1e12, 10) == []
    accounts.add_webhook("w2", "cats", "https://example.org", "secret", [])
    any_store.delete("cats")
    assert any_store._database.read("SELECT count(*) FROM webhooks") == [(0,)]


@pytest.mark.parametrize("bad", ["a\0b", "\udfff"])
def test_no_text_breaks_the_database(accounts, bad):
    for use in (
        lambda: accounts.user(bad),
        lambda: accounts.user_by_name(bad),
        lambda: accounts.disable_user(bad),
        lambda: accounts.forget_user(bad),
        lambda: accounts.add_member("cats", bad, "annotator"),
        lambda: accounts.role_in(bad, "u1"),
        lambda: accounts.session(bad, 0.0),
        lambda: accounts.use_invitation(bad, 0.0),
        lambda: accounts.delivered(bad, "200"),
    ):
        with pytest.raises(InvalidArgument, match="text without NUL"):
            use()


def test_settings(accounts):
    assert accounts.get("secret") is None
    accounts.put("secret", "1")
    accounts.put("secret", "2")
    assert accounts.get("secret") == "2"
    accounts.put("secret", None)
    assert accounts.get("secret") is None


def test_who_is_let_in_by_an_invitation_comes_whole_or_not_at_all(accounts):
    accounts.add_invitation("i1", "invitation", "cats", 100.0, 2)
    assert accounts.admit("invitation", 50.0, "u8", "Ida", ("session", "csrf", 90.0)) == "cats"
    assert accounts.user("u8") == User("u8", "Ida", "annotator")
    assert accounts.role_in("cats", "u8") == "annotator"
    assert accounts.session("session", 60.0) == SignedIn("u8", "csrf", 90.0)
    for user, name, session in (("u9", "ida", "other"), ("u8", "Max", "other"), ("u9", "Max", "session")):
        with pytest.raises(AlreadyExists):
            accounts.admit("invitation", 50.0, user, name, (session, "csrf", 90.0))
        assert accounts.user("u9") is None
    assert [one.uses for one in accounts.invitations("cats")] == [1]
    assert accounts.admit("invitation", 101.0, "u9", "Max", ("other", "csrf", 90.0)) is None
    assert accounts.admit("another", 50.0, "u9", "Max", ("other", "csrf", 90.0)) is None
    assert accounts.user("u9") is None
    assert accounts.session("other", 60.0) is None
