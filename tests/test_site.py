"""The site: all documents, every link, a page for each public name and each route, nothing from other hosts."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import askone
from waiting import HANGS

pytest.importorskip("mkdocs", reason="needs the extra docs")
pytest.importorskip("starlette", reason="needs the extra server")
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it: warnings, such as links that lead nowhere, are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    return folder


class Fetched(HTMLParser):
    """What a page has the browser fetch by itself."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        named = given.get("rel") in ("canonical", "next", "prev")
        if tag in ("script", "img", "iframe", "source", "link") and not named:
            self.found += [given[name] for name in ("src", "href") if given.get(name)]


def test_pages_fetch_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        strange = [one for one in Fetched(page).found if re.match(r"(?:[a-z]+:)?//", one)]
        assert strange == [], page
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", styles) == []


def test_every_public_name_is_in_the_reference(site):
    pages = "".join(path.read_text("utf-8") for path in (site / "reference").glob("*.html"))
    written = set(re.findall(r'id="askone\.([A-Za-z_0-9]+)"', pages))
    passed_over = {name for name in dir(askone) if name.endswith(("Warning", "Error", "__"))}
    assert {name for name in dir(askone) if name in askone.__all__} - written - passed_over == set()
    assert {"Client", "label"} <= written
    assert "E|&lt;e_1, U&gt;|" in pages  # no tag
    assert "<blockquote>" not in pages  # tried examples are code, not quotations


def test_every_route_is_on_the_page_of_the_api(site):
    from askone.server.app import ROUTES  # noqa: PLC0415  # without the extra there is none

    page = (site / "api.html").read_text("utf-8")
    for route in ROUTES:
        if route.path.startswith("/api/"):
            assert f"{route.method} <code>{route.path}</code>" in page, route.path
    assert (site / "openapi.json").stat().st_size > 10_000


def test_the_search_finds_and_works_from_files(site):
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert "OneBitRanker" in index
