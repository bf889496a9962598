"""A real server for the tests in a browser: its set-up link, its store, and pages that record all they ask for."""

from __future__ import annotations

import importlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askone.server.security.tokens import csrf_token, digest, new_secret
from askone.store.open import open_store
from pages import faults, opened
from waiting import until

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
killing = importlib.import_module("killing")


class House:
    """A server over a file, and who comes by in a browser."""

    def __init__(self, folder: Path, nursery: Any) -> None:
        self.folder = folder
        self.file = str(folder / "askone.db")
        self.server = killing.Server(self.file, folder, nursery)
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.pages: list[Any] = []
        self.requests: list[str] = []

    @property
    def setup_link(self) -> str:
        said = self.server.said.read_text()
        found = re.search(r"http://\S+/setup#\S+", said)
        assert found, said
        return found[0]

    def events(self, name: str, kind: str | None = None) -> list[Any]:
        """What the store's log holds."""
        store = open_store(self.file)
        try:
            return [entry for entry in store.entries(name) if kind in (None, entry.event.kind)]
        finally:
            store.close()

    def page(self, browser: Any, **options: Any) -> Any:
        """A page of a browser that nobody is signed in at."""
        page = opened(browser, **options)
        page.context.on("request", lambda request: self.requests.append(request.url))
        self.pages.append(page)
        return page

    def set_up(self, page: Any) -> None:
        """Somebody follows the link to the set-up and becomes the administrator."""
        page.goto(self.setup_link)
        page.fill("#name", "boss")
        page.fill("#password", "correct horse battery staple")
        page.click("#submit")
        page.wait_for_url("**/manage")

    def signed_in(self, browser: Any, user: str, **options: Any) -> Any:
        """A page of a browser that has a session."""
        secret = new_secret()
        store = open_store(self.file)
        store.accounts.add_session(digest(secret), user, digest(csrf_token(secret)), time.time() + 3600)
        store.close()
        page = self.page(browser, **options)
        page.context.add_cookies([{"name": "askone_session", "value": secret, "url": self.url, "sameSite": "Strict"}])
        return page

    def check(self) -> None:
        """No page failed, broke the policy or opened a dialog, and none asked anybody but this server."""
        for page in self.pages:
            assert not faults(page), (page.url, faults(page))
        assert self.requests
        strange = [
            url for url in self.requests if not url.startswith((self.url + "/", "data:image/", "blob:http://127"))
        ]
        assert not strange, strange

    def close(self) -> None:
        for page in self.pages:
            page.context.close()


@contextmanager
def house(folder: Path, nursery: Any) -> Iterator[House]:
    found = House(folder, nursery)
    with found.server:
        found.server.wait()
        yield found
        found.close()


def eventually(true: Callable[[], Any], page: Any) -> Any:
    return until(true, lambda: page.wait_for_timeout(50))


def shown(page: Any) -> None:
    """A question that takes an answer: in its first moments that may be the second half of a double click."""
    page.wait_for_selector("#ask:not([hidden])")
    page.wait_for_timeout(230)


def checked(page: Any, site: Any) -> Iterator[Any]:
    """One tab serves many tests, as opening one is slow: it is left as it was found."""
    yield page
    assert not faults(page)
    assert not site.reports
    assert not site.strays
    page.context.set_offline(False)
    page.goto(site.url + "/static/shared/icon.svg")
    page.evaluate("localStorage.clear(), sessionStorage.clear()")


def flats(count: int = 60) -> str:
    """A table as people have them: a name, numbers, categories, a text, a known answer here and there."""
    towns = ["Berlin", "Köln", "München"]
    lines = ["flat,size,rooms,town,note,known"]
    for i in range(count):
        size = 20 + (i * 37) % 110
        known = 8 * size + 90 if i % 6 == 0 else ""
        lines.append(f'f{i:03d},{size},{1 + size // 30},{towns[i % 3]},"bright, {i % 5} steps up",{known}')
    return "\n".join(lines) + "\n"
