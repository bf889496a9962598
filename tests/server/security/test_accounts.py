"""Throwing out: passwords, roles, disabled accounts, members and tokens; and names that nobody can borrow."""

import time

import pytest

from askone.server.security.tokens import digest, new_secret
from calling import API, assert_error
from sites import PASSWORD, QUICK, code, ok

DRINKS, PRICES = f"{API}/campaigns/drinks", f"{API}/campaigns/prices"


@pytest.fixture
def site(alone):
    return alone


def out(*clients):
    return [client.get(f"{API}/tokens").status_code for client in clients] == [401] * len(clients)


def invitation(site, campaign="drinks", uses=2):
    secret = new_secret()
    site.accounts.add_invitation(digest(secret)[:9], digest(secret), campaign, time.time() + 999, uses, "")
    return secret


# -- tokens, passwords, roles ------------------------------------------------------------------------------


def test_a_token_to_read_makes_no_token_ends_none_and_joins_nothing(site):
    reader, manager = site.token("manager", "read"), site.token("manager", "manage")
    assert_error(reader.post(f"{API}/tokens", json={"scopes": ["read"]}), 403)
    assert_error(reader.delete(f"{API}/tokens/{manager.token_id}"), 403)
    secret = invitation(site, "prices")
    assert_error(reader.post(f"{API}/join", json={"invitation": secret}), 403)
    assert site.accounts.role_in("prices", "manager") is None
    assert site.accounts.invitations("prices")[0].uses == 0
    ok(site.token("manager", "answer").post(f"{API}/join", json={"invitation": secret}))
    assert ok(manager.get(f"{API}/me"))["user"]["name"] == "manager"


@pytest.mark.parametrize("by", ["oneself", "the administrator"])
def test_a_new_password_ends_tokens_and_sessions(site, by):
    token, elsewhere, own = site.token("manager"), site.session("manager"), site.session("manager")
    if by == "oneself":
        ok(own.post(f"{API}/me/password", json={"old": PASSWORD, "new": PASSWORD + "2"}))
        assert ok(own.get(f"{API}/tokens")) == []
    else:
        ok(site.session("admin").patch(f"{API}/users/manager", json={"password": PASSWORD + "2"}))
        assert out(own)
    assert out(token, elsewhere)
    login = {"name": "manager", "password": PASSWORD}
    assert_error(site.client().post(f"{API}/login", json=login), 401)
    ok(site.client().post(f"{API}/login", json={**login, "password": PASSWORD + "2"}))


def test_what_was_under_way_does_not_outlive_a_new_password(site, monkeypatch):
    """A sign-in that was looked at before, and a token that was asked for before, end up behind it."""
    verify, own, add_token = site.services.passwords.verify, site.session("manager"), site.accounts.add_token
    change = QUICK.hash(PASSWORD + "2")

    async def slowly(*given):
        found = await verify(*given)
        site.accounts.set_password("manager", change)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(type(site.services.passwords), "verify", lambda _, *given: slowly(*given))
        assert_error(site.client().post(f"{API}/login", json={"name": "manager", "password": PASSWORD}), 401)
    assert site.store._database.read("SELECT * FROM sessions WHERE person = 'manager'") == []
    own = site.session("manager")

    def late(*given):
        site.accounts.set_password("manager", change)
        add_token(*given)

    with monkeypatch.context() as patch:
        patch.setattr(site.accounts, "add_token", late)
        assert_error(own.post(f"{API}/tokens", json={"scopes": ["manage"]}), 401)
    assert site.accounts.tokens("manager") == []
    ok(site.client().post(f"{API}/login", json={"name": "manager", "password": PASSWORD + "2"}))


def test_a_demoted_manager_has_nothing_of_the_role(site):
    token, session = site.token("manager"), site.session("manager")
    site.accounts.add_member("prices", "manager", "annotator")
    ok(session.get(f"{DRINKS}/dashboard"))
    ok(site.session("admin").patch(f"{API}/users/manager", json={"role": "annotator"}))
    assert out(token, session)
    again = site.session("manager")
    for path in (DRINKS, f"{DRINKS}/dashboard", f"{DRINKS}/export/log", f"{DRINKS}/brief"):
        assert_error(again.get(path), 404)
    assert [one["name"] for one in ok(again.get(f"{API}/campaigns"))] == ["prices"]
    ok(site.session("admin").patch(f"{API}/users/manager", json={"role": "manager"}))
    assert_error(site.session("manager").get(f"{DRINKS}/dashboard"), 404)


def test_an_account_is_disabled_and_enabled(site):
    admin, token, session = site.session("admin"), site.token("manager"), site.session("manager")
    ok(token.get(f"{API}/tokens"))
    assert ok(admin.patch(f"{API}/users/manager", json={"disabled": True}))["disabled"] is True
    assert out(token, session)
    assert out(site.session("manager"))  # of a login that was under way meanwhile
    login = {"name": "manager", "password": PASSWORD}
    assert_error(site.client().post(f"{API}/login", json=login), 401)
    assert ok(admin.patch(f"{API}/users/manager", json={"disabled": False}))["disabled"] is False
    ok(site.client().post(f"{API}/login", json=login))
    ok(token.get(f"{API}/tokens"))
    assert code(admin.patch(f"{API}/users/admin", json={"disabled": True}), 409) == "last_admin"
    assert_error(admin.patch(f"{API}/users/manager", json={}), 422)
    ok(admin.delete(f"{API}/users/manager"))
    assert_error(admin.patch(f"{API}/users/manager", json={"disabled": False}), 422)


def test_another_s_tokens_are_revoked(site):
    token, session, other = site.token("manager"), site.session("manager"), site.token("other")
    ok(token.get(f"{API}/tokens"))
    ok(site.session("admin").delete(f"{API}/users/manager/tokens"))
    assert out(token, session)
    ok(other.get(f"{API}/tokens"))
    assert_error(site.session("admin").delete(f"{API}/users/nobody/tokens"), 404)


def test_members_are_removed(site):
    manager, annotator = site.session("manager"), site.session("annotator")
    lease = site.question(annotator)["lease"]
    assert {one["id"]: one["role"] for one in ok(manager.get(f"{DRINKS}/members"))} == {
        "manager": "manager",
        "annotator": "annotator",
    }
    ok(manager.delete(f"{DRINKS}/members/annotator"))
    body = {"lease": lease, "answer": True, "id": "late"}
    assert_error(annotator.post(f"{DRINKS}/answers", json=body), 404)
    assert ok(annotator.get(f"{API}/campaigns")) == []
    assert_error(manager.delete(f"{DRINKS}/members/annotator"), 404)
    site.accounts.add_member("drinks", "other", "manager")
    assert_error(site.session("other").delete(f"{DRINKS}/members/manager"), 403)
    ok(site.session("other").delete(f"{DRINKS}/members/other"))
    ok(site.session("admin").delete(f"{DRINKS}/members/manager"))
    assert ok(site.session("admin").get(f"{DRINKS}/members")) == []


# -- invitations and names -------------------------------------------------------------------------------


def test_joining_again_uses_nothing_up(site):
    secret = invitation(site, uses=2)
    guest = site.client()
    guest.headers["X-CSRF-Token"] = ok(guest.post(f"{API}/join", json={"invitation": secret, "name": "Ann"}))["csrf"]
    for _ in range(3):
        assert ok(guest.post(f"{API}/join", json={"invitation": secret}))["campaign"] == "drinks"
        assert ok(site.session("annotator").post(f"{API}/join", json={"invitation": secret}))["campaign"] == "drinks"
    assert_error(site.client().post(f"{API}/join", json={"invitation": secret, "name": "a\u200bb"}), 422)
    assert site.accounts.invitations("drinks")[0].uses == 1
    ok(site.client().post(f"{API}/join", json={"invitation": secret, "name": "Bob"}))
    assert_error(site.client().post(f"{API}/join", json={"invitation": secret, "name": "Eve"}), 401)
    assert ok(guest.post(f"{API}/join", json={"invitation": secret}))["campaign"] == "drinks"


def test_nobody_takes_the_name_of_who_is_to_be_forgotten(site):
    guest = site.client()
    made = ok(guest.post(f"{API}/join", json={"invitation": invitation(site), "name": "Ann"}))
    guest.headers["X-CSRF-Token"] = made["csrf"]
    name, wish = f"forgotten {made['user']['id']}", {"invitation": invitation(site)}
    assert_error(site.client().post(f"{API}/join", json={**wish, "name": name}), 422)
    # One who has such a name from before it was reserved.
    keep = "INSERT INTO users VALUES ('old', ?, ?, 'annotator', NULL, 0)"
    site.accounts._run(keep, name, name.casefold())
    ok(guest.delete(f"{API}/me"))
    assert site.accounts.user(made["user"]["id"]).name == name
    assert site.accounts.user_by_name(name).id == "old"


LOOK_ALIKE = ("ADMIN", "admin ", "аdmin", "admіn", "adm1n", "ａｄｍｉｎ", "admln", "αdmin", "ad\u00admin",
              "admin\u200b", "\u202enimda", "admin\ufe0f", "ad\u3164min", "\u2066admin", "admin\u034f")  # fmt: skip


@pytest.mark.parametrize("name", LOOK_ALIKE)
def test_no_name_looks_like_another(site, name):
    """Invisible characters, other directions and mixed alphabets are refused; what looks the same is taken."""
    admin = site.session("admin")
    assert admin.post(f"{API}/users", json={"name": name, "role": "annotator"}).status_code in (409, 422)
    joined = site.client().post(f"{API}/join", json={"invitation": invitation(site), "name": name})
    assert joined.status_code == 422 or ok(joined)["user"]["name"].split(" ")[1]
    assert len({user.name for user in site.accounts.users()}) == len(site.accounts.users())


def test_names_of_the_world_are_allowed(site):
    admin = site.session("admin")
    for name in (
        "Zoë O’Brien-Łukasz",
        "Сара",
        "山田 Taro",
        "محمد",
        "अनिल",
        "Ὀδυσσεύς",
        "김철수 2",
        "ʻIolani",
        "Ñandú 🦤",
    ):
        assert ok(admin.post(f"{API}/users", json={"name": name, "role": "annotator"}), 201)["name"] == name
    assert code(admin.post(f"{API}/users", json={"name": "Capa", "role": "annotator"}), 409) == "name_taken"


def test_names_from_before_are_still_found(site):
    """Accounts that were kept when look-alikes were not folded sign in as they did."""
    site.accounts._run("INSERT INTO users VALUES ('o1', 'Сара', 'сара', 'annotator', NULL, 0)")
    site.accounts._run("INSERT INTO users VALUES ('o2', 'Lil', 'lil', 'annotator', NULL, 0)")
    site.accounts.add_user("n1", "Capa", "annotator")
    found = [site.accounts.user_by_name(name).id for name in ("сара", "САРА", "capa", "LIL")]
    assert found == ["o1", "o1", "n1", "o2"]
