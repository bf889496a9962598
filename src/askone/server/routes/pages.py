"""The pages: files in ``server/web/``, read once; a path that is not among them does not exist."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from string import Template
from typing import final

from starlette.requests import Request
from starlette.responses import Response

from askone.server._context import RequestContext
from askone.server._errors import not_found
from askone.server._routing import ROUTE, error_response
from askone.server.languages import LANGUAGES, catalogue

PAGE = Path(__file__).parent.parent / "web"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What may be served, and as what; files of other kinds are not."""
SCRIPTED = {
    "/": ("Campaigns", "manage/list.js"),
    "/setup": ("First set-up", "account/setup.js"),
    "/login": ("Sign in", "account/login.js"),
    "/join": ("Invitation", "account/join.js"),
    "/account": ("Account", "account/account.js"),
    "/manage": ("Campaigns", "manage/list.js"),
    "/manage/new": ("New campaign", "new/wizard.js"),
    "/manage/{c}": ("Campaign", "manage/campaign.js"),
}
"""Pages that their script fills: the shell with this title and this script."""
ANSWER = "/answer/{c}"
MISSING = "missing"


@final
@dataclass(frozen=True)
class StaticFile:
    """A file as it is sent."""

    content: bytes
    kind: str

    @cached_property
    def tag(self) -> str:
        """The entity tag, by which a browser asks whether it has this already."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:24]}"'


def load_files(folder: Path = PAGE) -> Mapping[str, StaticFile]:
    """Return the files of a folder by their path within it; links are passed over."""
    return {
        path.relative_to(folder).as_posix(): StaticFile(path.read_bytes(), TYPES[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES and path.is_file() and not path.is_symlink()
    }


_FILES = load_files()
_SHELL = Template(_FILES["shared/shell.html"].content.decode())
_PAGES = {ANSWER: _FILES["answer/answer.html"]} | {
    route: StaticFile(_SHELL.substitute(title=title, script=script).encode(), TYPES[".html"])
    for route, (title, script) in {**SCRIPTED, MISSING: ("There is no such page", "shared/missing.js")}.items()
}


def file_of(route: str, path: str = "") -> StaticFile | None:
    """Return what is sent for a route of the table: a page, or the static file at a path."""
    return _PAGES.get(route) or _FILES.get(path) or _catalogue(path)


@cache
def _catalogues() -> Mapping[str, StaticFile]:
    """Return the words of other languages: made when they are first wanted."""
    return {f"languages/{one}.json": StaticFile(catalogue(one), "application/json") for one in LANGUAGES}


def _catalogue(path: str) -> StaticFile | None:
    return _catalogues().get(path) if path.startswith("languages/") else None


def _send(ctx: RequestContext, file: StaticFile | None) -> Response:
    if file is None:
        raise not_found()
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if ctx.request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, 200, {**headers, "Content-Type": file.kind})


async def page(ctx: RequestContext) -> Response:
    """Return a page."""
    return _send(ctx, file_of(ctx.request.scope[ROUTE]))


async def error_page(request: Request, error: Exception) -> Response:
    """Return an error as JSON, or as a page to a browser that looks for a page; called by the framework."""
    wanted = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    response = error_response(error)
    if response.status_code != 404 or not wanted or request.url.path.startswith(("/api/", "/static/")):
        return response
    return Response(_PAGES[MISSING].content, 404, {"Content-Type": TYPES[".html"], "Cache-Control": "no-store"})


async def static(ctx: RequestContext) -> Response:
    """Return a style, a script, a picture."""
    return _send(ctx, file_of("", ctx.path_param("path")))
