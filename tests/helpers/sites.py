"""A server for tests: two campaigns, four roles, a client for each person."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from dataclasses import replace
from functools import cache, partial, partialmethod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from unittest import mock

import httpx
from argon2 import PasswordHasher
from PIL import Image

from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import AskSettings, Items, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.server.app import create_app
from askone.server.config import Rates, ServerConfig
from askone.server.security.passwords import Passwords
from askone.server.security.tokens import TOKEN, csrf_token, digest, new_secret
from askone.store.open import open_store
from askone.store.store import Store
from waiting import HANGS

PASSWORD = "correct horse battery"
QUICK = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
"""Hashes that take no time: what is tested is never how strong argon2 is."""
LOOSE = ServerConfig(
    joins=Rates(10_000, 1000.0), sign_ins=Rates(10_000, 1000.0), logins=Rates(10_000, 1000.0),
    failures=Rates(10_000, 1000.0), answers=Rates(10_000, 1000.0), calls=Rates(10_000, 1000.0),
    heavy=Rates(10_000, 1000.0), store_patience=0.05,
)  # fmt: skip
"""No limits to run into."""
DRINKS = Settings("Drinks", Items(("tea", "coffee", "milk")))
PRICES = Settings(
    "Prices",
    Numbers(0, 100, unit="EUR", name="price"),
    rows=RowSettings(key="id", gold="known"),
    ask=AskSettings(gold_share=0.3),
)
CANARY = "73.125"
"""The one gold label: it may not be seen by those who answer."""


def table(folder: Path, rows: int = 30) -> Path:
    lines = [f"r{n},{n},{'red' if n % 2 else 'blue'},{CANARY if n % 3 == 0 else ''}" for n in range(rows)]
    path = folder / "prices.csv"
    path.write_text("\n".join(["id,size,colour,known", *lines]) + "\n")
    return path


def ok(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


def code(response: httpx.Response, status: int) -> str:
    assert response.status_code == status, response.text
    return response.json()["error"]["code"]


class Client:
    """A browser or a program, without a network: requests run in the site's event loop."""

    def __init__(self, site: Site, headers: dict[str, str]) -> None:
        transport = httpx.ASGITransport(site.app, raise_app_exceptions=False, client=("192.0.2.7", 1234))
        self._site = site
        self._http = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers, timeout=HANGS)
        self.headers, self.cookies = self._http.headers, self._http.cookies
        self.token = self.token_id = ""

    def request(self, method: str, path: str, raw: bool = False, **options: Any) -> httpx.Response:
        """``raw``: the path goes as it is, dots and all."""
        url = httpx.URL("http://localhost/" if raw else path)
        if raw:
            url._uri_reference = url._uri_reference._replace(path=path)
        return self._site.run(self._http.request(method, url, **options))

    get, head, post = partialmethod(request, "GET"), partialmethod(request, "HEAD"), partialmethod(request, "POST")
    put, patch = partialmethod(request, "PUT"), partialmethod(request, "PATCH")
    delete = partialmethod(request, "DELETE")


PEOPLE: dict[str, Any] = {
    "admin": ("admin", {}),
    "manager": ("manager", {"drinks": "manager"}),
    "annotator": ("annotator", {"drinks": "annotator"}),
    "other": ("manager", {"prices": "manager"}),
    "stranger": ("annotator", {"prices": "annotator"}),
}


def _people(store: Store, folder: Path) -> None:
    """Make both campaigns and all people of a site."""
    create_campaign(store, "drinks", DRINKS, None, "manager", time.time())
    create_campaign(store, "prices", PRICES, open_table(table(folder)), "other", time.time())
    for name, (role, campaigns) in PEOPLE.items():
        store.accounts.add_user(name, name, role, QUICK.hash(PASSWORD))
        for campaign, within in campaigns.items():
            store.accounts.add_member(campaign, name, within)


@cache
def _peopled() -> bytes:
    """Return the file of such a store, made once: most tests begin with one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "askone.db"
        store = open_store(str(path))
        _people(store, Path(folder))
        store.close()
        return path.read_bytes()


class Site:
    """A store, its server, and people: admin; manager and annotator of "drinks"; other and stranger of "prices"."""

    def __init__(self, folder: Path, config: ServerConfig = LOOSE, url: str | None = None, people: bool = True) -> None:
        self.url = url or str(folder / "askone.db")
        if people and url is None:
            (folder / "askone.db").write_bytes(_peopled())
        self.store = open_store(self.url)
        if people and url is not None:
            _people(self.store, folder)
        self.accounts = self.store.accounts
        self.config = replace(config, directory=config.directory or folder / "uploads")
        with mock.patch("askone.server.app.Passwords", partial(Passwords, QUICK)):
            self.app = create_app(self.store, self.config)
        self.services = self.app.state.services
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._life = self.app.router.lifespan_context(self.app)
        self.run(self._life.__aenter__())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.run(self._life.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.store.close()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(HANGS)

    def client(self, **headers: str) -> Client:
        return Client(self, headers)

    def session(self, person: str) -> Client:
        """Signed in by a cookie, with the second secret at hand, as the page sends it."""
        secret = new_secret()
        self.accounts.add_session(digest(secret), person, digest(csrf_token(secret)), time.time() + 3600)
        client = self.client(**{"X-CSRF-Token": csrf_token(secret), "Origin": "http://localhost"})
        client.cookies.set("askone_session", secret)
        return client

    def token(self, person: str, *scopes: str) -> Client:
        secret = new_secret(TOKEN)
        name = new_secret("t")[:20]
        chosen = scopes or ("read", "answer", "manage")
        self.accounts.add_token(name, digest(secret), secret[:9], person, chosen, time.time() + 3600, "")
        client = self.client(Authorization=f"Bearer {secret}")
        client.token, client.token_id = secret, name
        return client

    def campaign(self, name: str, settings: Settings, rows: Path | list[str], *people: str) -> None:
        """A campaign of the manager's about a folder of pictures or lines of a table, with these who answer."""
        if isinstance(rows, list):
            path = Path(self.url).with_name(f"{name}.csv")
            path.write_text("\n".join(rows) + "\n")
            rows = path
        create_campaign(self.store, name, settings, open_table(rows), "manager", 0.0)
        self.accounts.add_member(name, "manager", "manager")
        for person in people:
            self.accounts.add_member(name, person, "annotator")

    def question(self, client: Client, campaign: str = "drinks") -> dict[str, Any]:
        serving = client.post(f"/api/v1/campaigns/{campaign}/next", json={}).json()
        assert serving["state"] == "question", serving
        return serving["question"]


def shades(folder: Path, count: int) -> Path:
    """A new folder of so many pictures, p0.png, p1.png, ..., each brighter than the one before."""
    folder.mkdir()
    for n in range(count):
        Image.new("L", (8, 8), 240 // count * n).save(folder / f"p{n}.png")
    return folder
