"""Texts that would run if a page let them, wherever a text is taken, through the real server into a browser."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from askone.server.security.tokens import TOKEN, digest, new_secret
from askone.store.open import open_store
from journeys import House, eventually, house, killing, shown
from pages import CORPUS

LONG = "<b>long</b> " + "word " * 1500
NAMES = [f"{text} {i}" for i, text in enumerate(CORPUS)]
COLUMNS = [text for text in CORPUS if text.isprintable()]  # others are refused
TABS = ["overview", "answers", "people", "invitations", "flags", "export", "settings"]
# What would be there if a text had become part of the page.
PLANTED = (
    "iframe, base, style, object, embed, img[src='x'], [onerror], [onload], [onclick], script:not([src]), "
    "a[href^='javascript'], a[href*=':9/']"
)


@pytest.fixture(scope="module")
def place(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with killing.Nursery() as nursery, house(tmp_path_factory.mktemp("hostile"), nursery) as found:
        furnish(found)
        yield found
        found.check()


def table() -> bytes:
    out = io.StringIO()
    columns = ["id", *COLUMNS, "mixed", "long"]
    lines = csv.writer(out)
    lines.writerow(columns)
    for i in range(12):
        lines.writerow([f"{CORPUS[i % len(CORPUS)]} row {i}", *COLUMNS, " ".join(CORPUS), LONG])
    return out.getvalue().encode()


def settings(kind: str, title: str) -> dict[str, Any]:
    labels = {
        "number": {"kind": "number", "low": 0, "high": 9, "unit": CORPUS[0], "name": CORPUS[1]},
        "class": {"kind": "class", "classes": NAMES},
        "order": {"kind": "order", "items": NAMES},
    }
    question = {"instructions": "\n\n".join(CORPUS)}
    if kind != "order":
        question["answers"] = [CORPUS[2], CORPUS[1]]
    rows = {} if kind == "order" else {"key": "id", "show": [*COLUMNS, "mixed", "long"], "learn": [COLUMNS[0]]}
    return {"title": title, "labels": labels[kind], "question": question, "rows": rows}


def furnish(place: House) -> None:
    """Hostile campaigns of each kind, and an administrator with a hostile name."""
    store, secret = open_store(place.file), new_secret(TOKEN)
    store.accounts.add_user("boss", CORPUS[1], "admin", None)
    store.accounts.add_token(
        "t", digest(secret), secret[:9], "boss", ("read", "answer", "manage"), time.time() + 1e4, ""
    )
    for n, text in enumerate(CORPUS):
        store.accounts.add_token(f"t{n}", f"hash {n}", "ask1_", "boss", ("read",), time.time() + 1e4, text[:90])
        # Some of these names are refused by now, and there may be such from before.
        name = f"{text[:90]} u"
        store.accounts._run("INSERT INTO users VALUES (?, ?, ?, 'annotator', NULL, 0)", f"u{n}", name, name.casefold())
    store.close()
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=place.url + "/api/v1", headers=headers, timeout=600) as api:  # it may have to compile
        for n, (kind, title) in enumerate(zip(["number", "class", "order"], CORPUS[2:5], strict=True)):
            upload = None
            if kind != "order":
                name = quote(f"{CORPUS[n]}.csv", safe="")
                upload = good(api.post("/uploads", content=table(), headers={"X-File-Name": name}))["upload"]
            good(api.post("/campaigns", json={"settings": settings(kind, title), "upload": upload, "name": kind}))
            for text in CORPUS:
                good(
                    api.post(
                        f"/campaigns/{kind}/invitations", json={"title": text[:90], "expires_hours": 9, "most_uses": 9}
                    )
                )


def good(response: httpx.Response) -> Any:
    assert response.is_success, (response.request.url, response.text)
    return response.json()


def clean(page: Any, *texts: str) -> None:
    """The texts are on the page as they are, and nothing was planted."""
    for text in texts:
        page.wait_for_function("t => document.body.textContent.includes(t)", arg=text)
    page.wait_for_timeout(100)
    assert page.locator(PLANTED).count() == 0, page.url


def invitation(place: House, page: Any, campaign: str) -> str:
    me = page.request.get(f"{place.url}/api/v1/me").json()
    made = page.request.post(
        f"{place.url}/api/v1/campaigns/{campaign}/invitations",
        data={"title": "", "expires_hours": 9, "most_uses": 9},
        headers={"X-CSRF-Token": me["csrf"], "Origin": place.url},
    )
    return str(place.url + made.json()["link"])


@pytest.mark.parametrize("kind", ["number", "class", "order"])
def test_those_who_answer_see_texts(place: House, browser: Any, kind: str) -> None:
    boss = place.signed_in(browser, "boss")
    ann = place.page(browser)
    ann.goto(invitation(place, boss, kind))
    ann.fill("#name", f"{CORPUS[0]} {kind}")
    ann.click("#submit")
    ann.wait_for_url(f"**/answer/{kind}")
    plain = [text for text in CORPUS if "*7" not in text]  # instructions are Markdown, in which *7* is a slanted 7
    clean(ann, *plain)
    ann.locator("#help-close").click()
    ann.wait_for_selector("#ask:not([hidden])")
    if kind != "order":
        clean(ann, *plain, "<b>long</b> word")
    clean(ann, settings(kind, CORPUS[2 + ["number", "class", "order"].index(kind)])["title"])
    for count, text in enumerate(CORPUS[:3], 1):
        shown(ann)
        ann.keyboard.press("g")
        ann.fill("#reason", text)
        ann.get_by_role("button", name="Send the note").click()
        ann.wait_for_selector("#flagging", state="hidden")
        shown(ann)
        ann.keyboard.press("ArrowRight")
        eventually(lambda count=count: len(place.events(kind, "answered")) == count, ann)
    ann.wait_for_selector("#saved[data-state=saved]")
    clean(ann)


@pytest.mark.parametrize("kind", ["number", "class", "order"])
def test_managers_see_texts(place: House, browser: Any, kind: str) -> None:
    boss = place.signed_in(browser, "boss")
    shown = {"people": [f"{CORPUS[0]} {kind}"], "invitations": [text[:90] for text in CORPUS], "flags": CORPUS[:3]}
    for tab in TABS:
        boss.goto(f"{place.url}/manage/{kind}#{tab}")
        clean(boss, CORPUS[2 + ["number", "class", "order"].index(kind)], *shown.get(tab, []))
    boss.wait_for_timeout(300)
    clean(boss)


def test_lists_and_accounts_show_texts(place: House, browser: Any) -> None:
    boss = place.signed_in(browser, "boss")
    boss.goto(f"{place.url}/manage")
    clean(boss, *CORPUS[2:5])
    boss.goto(f"{place.url}/account")
    clean(boss, CORPUS[1], *(text[:90] for text in CORPUS), *(text[:90] + " u" for text in CORPUS))
    boss.goto(place.url)
    clean(boss)


def test_the_wizard_shows_texts(place: House, browser: Any) -> None:
    boss = place.signed_in(browser, "boss")
    boss.goto(f"{place.url}/manage/new")
    file = {"name": f"{CORPUS[0].replace('/', '_')}.csv", "mimeType": "text/csv", "buffer": table()}
    boss.set_input_files("#table-file", file)
    boss.get_by_role("heading", name="What is in the columns?").wait_for()
    clean(boss, *COLUMNS, file["name"])
    boss.locator(".wizard-foot .button.primary").click()
    boss.get_by_role("heading", name="What is asked?", level=1).wait_for()
    boss.get_by_label("A class").check()
    boss.get_by_label("Class names, one per line").fill("\n".join(NAMES))
    boss.get_by_label("Title of the campaign").fill(CORPUS[5])
    boss.wait_for_function("() => document.querySelector('.preview-sentence')?.textContent.includes('<')")
    clean(boss)
