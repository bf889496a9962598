"""Requests by the route table: a path and a body for each row, and what the database holds before and after."""

import re
import sqlite3
from contextlib import closing

import httpx

from sites import PASSWORD

API = "/api/v1"


def path_of(row, campaign="drinks", **parts):
    given = {
        "c": campaign,
        "id": "nobody",
        "u": "unknown-upload",
        "position": "0",
        "number": "0",
        "lease": "nothing-held",
        "path:path": "shared/style.css",
        **parts,
    }
    return re.sub(r"{([\w:]+)}", lambda found: given[found[1]], row.path)


def body_of(row):
    bodies = {
        "AnswerBody": {"lease": "x", "answer": True, "id": "e1", "took": None},
        "BagBody": {"leases": ["x"], "answers": [True], "id": "e1", "took": None},
        "SkipBody": {"lease": "x", "id": "e2", "reason": "skip"},
        "FlagBody": {"lease": "x", "id": "e3", "reason": "odd"},
        "UndoBody": {"id": "e4"},
        "LeasesBody": {"leases": ["x"]},
        "NewToken": {"title": "", "scopes": ["read"], "expires_days": 1},
        "NewPassword": {"old": "a", "new": "b"},
        "NewUser": {"name": "somebody new", "role": "annotator"},
        "UserChange": {"role": "admin"},
        "SettingsBody": {"settings": {}},
        "ForecastBody": {"settings": {}, "answers": 10, "flip": 0.1},
        "NewCampaign": {"settings": {}, "upload": None},
        "CampaignChange": {"status": "closed"},
        "Ruling": {"answer": True},
        "Invited": {"invitation": "x"},
        "MoreRows": {"upload": "unknown-upload"},
        "NewInvitation": {"title": "", "expires_hours": 1.0, "most_uses": 1},
        "NewWebhook": {"url": "https://example.org/", "events": ["answer"]},
        "SetUp": {"token": "x", "name": "eve", "password": PASSWORD},
        "Login": {"name": "eve", "password": PASSWORD},
        "Join": {"invitation": "x", "name": "eve"},
    }
    return {} if row.body is None else bodies.get(row.body.__name__, {})


def send(client, row, campaign="drinks", **parts):
    options = {"content": b"{}"} if row.raw else {} if row.method in ("GET", "DELETE") else {"json": body_of(row)}
    return client.request(row.method, path_of(row, campaign, **parts), **options)


def is_up(client):
    """Whether a server answers by now."""
    try:
        return client.get("/health/live").status_code == 200
    except httpx.TransportError:
        return False


def image(site):
    """The whole database, byte by byte: the same as long as nobody writes."""
    with closing(sqlite3.connect(site.url)) as database:
        return database.serialize()


def dump(site):
    """The whole database in words."""
    with closing(sqlite3.connect(site.url)) as database:
        return "\n".join(database.iterdump())


def assert_error(response, *statuses):
    assert response.status_code in statuses, response.text
    error = response.json()["error"]
    assert set(error) == {"code", "message", "argument"}
    return error["code"]
