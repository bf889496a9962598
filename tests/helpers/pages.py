"""The pages in a real browser, against a small server: the files as they are, their content security policy, an API
made of functions.  Shared by the tests of all pages."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest

from askone.server.routes.pages import MISSING, file_of
from listening import Handler, listening
from waiting import HANGS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Call:
    """A request that reached the API."""

    method: str
    path: str
    match: re.Match[str]
    query: dict[str, list[str]]
    headers: dict[str, str]
    raw: bytes
    at: float = field(default_factory=time.monotonic)

    @property
    def json(self) -> Any:
        return json.loads(self.raw or b"null")


@dataclass(frozen=True)
class Reply:
    """A response: ``body`` is bytes or something that JSON can say."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def refused(status: int, code: str, message: str = "No.", argument: str | None = None, **headers: str) -> Reply:
    """An error as the API words it; ``Retry_After="3"`` becomes a header."""
    error = {"code": code, "message": message, "argument": argument}
    return Reply(status, {"error": error}, {name.replace("_", "-"): value for name, value in headers.items()})


class Site:
    """``with Site() as site: site.on("GET", "/api/v1/me", handler)``: the latest handler that matches answers.

    A handler takes a Call and returns a Reply or what JSON can say.  ``calls`` holds what was asked of the API,
    ``reports`` what the browser reported against the policy, ``strays`` requests to paths that nobody serves.
    """

    def __init__(self, version: str = "1.0") -> None:
        self.version = version
        self.reset()
        site = self

        class Pages(Handler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._serve(self)

            do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

        self._listening = listening(Pages)

    def reset(self) -> None:
        """Nothing has happened, nobody is served but Ada: one site serves many tests."""
        self.handlers: list[tuple[str, re.Pattern[str], Callable[[Call], Any]]] = []
        self.calls: list[Call] = []
        self.reports: list[str] = []
        self.strays: list[str] = []
        self.person: dict[str, Any] = {
            "user": {"id": "u1", "name": "Ada", "role": "annotator"},
            "csrf": "token-1",
            "campaigns": [],
            "needs_setup": False,
            "version": self.version,
        }
        self.on("GET", "/api/v1/me", lambda call: self.person)

    def on(self, method: str, path: str, handler: Callable[[Call], Any]) -> None:
        """``path`` is a regular expression for the whole path, without the query."""
        self.handlers.insert(0, (method, re.compile(path), handler))

    def asked(self, path: str, method: str = "POST") -> list[Call]:
        """The calls whose path ends so."""
        return [call for call in list(self.calls) if call.method == method and call.path.endswith(path)]

    def __enter__(self) -> Self:
        self.url = f"http://127.0.0.1:{self._listening.__enter__()}"
        return self

    def __exit__(self, *raised: Any) -> None:
        self._listening.__exit__(*raised)

    def _serve(self, http: Handler) -> None:
        parts, raw = urlsplit(http.path), http.body()
        if parts.path == "/csp-report":
            self.reports.append(raw.decode())
            self._send(http, Reply(204))
            return
        for method, pattern, handler in self.handlers:
            match = pattern.fullmatch(parts.path)
            if match and method == http.command:
                call = Call(method, parts.path, match, parse_qs(parts.query), dict(http.headers.items()), raw)
                self.calls.append(call)
                reply = handler(call)
                self._send(http, reply if isinstance(reply, Reply) else Reply(200, reply))
                return
        self._send(http, self._file(parts.path))

    def _file(self, path: str) -> Reply:
        route = re.sub(r"^/(answer|manage)/(?!new$)[^/]+$", r"/\1/{c}", path)
        file = file_of(MISSING if path == "/no-such-page" else route, path.removeprefix("/static/"))
        if file is not None:
            return Reply(200, file.content, {"Content-Type": file.kind, "Cache-Control": "max-age=600"})
        if path != "/favicon.ico":
            self.strays.append(path)
        return refused(404, "not_found", f"There is nothing at {path}.")

    def _send(self, http: Handler, reply: Reply) -> None:
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        headers = {
            "Content-Type": "application/json",
            "Content-Security-Policy": f"{POLICY}; report-uri /csp-report",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            **reply.headers,
        }
        http.reply(reply.status, b"" if reply.status == 204 else body, **headers)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; the test is skipped, by name, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages: playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("pages: no chromium, chromium-browser or google-chrome on the path")
    with playwright.sync_playwright() as engine:
        options = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu"]}
        browser = engine.chromium.launch(**options, timeout=1000 * HANGS)
        yield browser
        browser.close()


# Told by every page: errors, breaches of the policy, dialogs.  A test ends with ``assert not faults(page)``.
WATCH = """
window.faults = [];
addEventListener("securitypolicyviolation", (e) => faults.push(`policy: ${e.violatedDirective} ${e.blockedURI}`));
addEventListener("error", (e) => faults.push(`error: ${e.message}`), true);
addEventListener("unhandledrejection", (e) => faults.push(`rejected: ${e.reason}`));
"""


def opened(browser: Any, *, phone: bool = False, dark: bool = False, **options: Any) -> Any:
    """A page of its own: its ``context`` is closed with it."""
    size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": 800}
    return watched(
        browser,
        viewport=size,
        has_touch=phone,
        is_mobile=phone,
        device_scale_factor=2 if phone else 1,
        color_scheme="dark" if dark else "light",
        locale=options.pop("locale", "en-GB"),
        reduced_motion=options.pop("reduced_motion", "reduce"),
        **options,
    )


def watched(browser: Any, **options: Any) -> Any:
    """A page in a new context whose faults are kept."""
    context = browser.new_context(**options)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.set_default_timeout(1000 * HANGS)
    page.dialogs = []
    page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
    return page


def faults(page: Any) -> list[str]:
    """What went wrong in the page since it was loaded, and dialogs since the last look."""
    found = list(page.evaluate("window.faults")) + [f"dialog: {text}" for text in page.dialogs]
    page.dialogs.clear()
    return found


BARRIERS = (Path(__file__).parent / "barriers.js").read_text()


def barriers(page: Any) -> list[str]:
    """What keeps people out, as far as a program can tell; ``test_accessibility`` asks axe-core as well."""
    return list(page.evaluate(BARRIERS))


# What nobody may be able to run, in any text that comes from outside.
CORPUS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "<svg/onload=alert(3)>",
    "javascript:alert(4)",
    "{{7*7}}${7*7}#{7*7}<%= 7*7 %>",
    "<iframe srcdoc='<script>parent.alert(5)</script>'></iframe>",
    "‮gnp.exe​<a href=//127.0.0.1:9/x onclick=alert(6)>x</a>",
    "<style>@import 'http://127.0.0.1:9/y';*{display:none}</style>",
    "</title></textarea><base href='http://127.0.0.1:9/'>",
]
