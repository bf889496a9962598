"""Every page, tab, step and state, one after the other: for what must hold on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from answering import API, Campaign, members, number, pair, row
from managing import Managed
from pages import Site, refused

TABS = ["overview", "answers", "people", "invitations", "flags", "export", "settings"]
STEPS = ["Columns", "Question", "Asking", "Create"]
CSV = {"name": "flats.csv", "mimeType": "text/csv", "buffer": b"flat,size\nflat-1,31\n"}
CELLS = [("size", "74", "number"), ("town", "Nantes", "category"), ("page", "https://example.org", "url")]
LONG = "A bright flat on the second floor with a quiet yard, close to the park. " * 60
PICTURE = f"{API}/rows/7/image"
QUESTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "number": lambda: number("1250", of=row(*CELLS)),
    "classes": lambda: members(["cat", "lion", "owl"], row(("text", "It hunts at night.", "text"))),
    "many classes": lambda: members([f"class number {n}" for n in range(14)], row(*CELLS)),
    "pair": lambda: pair("Earl Grey tea", "coffee"),
    "pair with a row": lambda: pair("Earl Grey tea", "coffee", row(*CELLS)),
    "picture": lambda: members(["3", "5", "8"], row(image=PICTURE)),
    "picture with cells": lambda: members(["3", "5", "8"], row(*CELLS, image=PICTURE)),
    "long text": lambda: members(["spam", "ham"], row(("message", LONG, "text"))),
    "only a sentence": lambda: {**number("12.5", "°C", row(*CELLS)), "template": ""},
}  # fmt: skip


def answering(page: Any, site: Site) -> Iterator[str]:
    """The answer page, in all its states."""
    site.reset()
    campaign = Campaign(site)
    for name, make in QUESTIONS.items():
        campaign.make = lambda n, yes, make=make: make()
        page.goto(site.url + "/answer/c")
        page.wait_for_selector("#ask:not([hidden])")
        yield f"answer: {name}"
    campaign.instructions = "# Circles\n\n- *round*\n- ![a circle](round.png)"
    campaign.practice = [{"question": campaign.question(0, True), "answer": True}]
    page.goto(site.url + "/answer/c")
    page.click("#help-close")
    yield "answer: practice"
    campaign.practice, campaign.epsilon, campaign.allowed = [], 1.0, 5.0
    page.goto(site.url + "/answer/c")
    page.wait_for_selector("#private:not([hidden])")
    yield "answer: consent"
    page.click("#help-close")
    yield "answer: private"
    campaign.epsilon = None
    campaign.instructions, campaign.practice, campaign.make = "", [], lambda n, yes: QUESTIONS["picture"]()
    page.goto(site.url + "/answer/c")
    page.click(".closer")
    yield "answer: zoom"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    yield "answer: help"
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    yield "answer: flag"
    for state in ("paused", "closed", "spent", "done", "waiting"):
        campaign.state = state
        page.goto(site.url + "/answer/c")
        page.wait_for_selector(f"#screen[data-name={state}]")
        yield f"answer: {state}"
    campaign.state, campaign.make = "question", lambda n, yes: number(str(n + 1), of=row(*CELLS))
    page.goto(site.url + "/answer/c")
    page.wait_for_selector("#ask:not([hidden])")
    campaign.failures = [refused(503, "too_slow", Retry_After="60")]
    for _ in range(2):
        page.wait_for_timeout(230)
        page.keyboard.press("y")
    page.wait_for_selector("#screen[data-name=offline]")
    yield "answer: offline"
    page.evaluate("localStorage.clear()")


def entering(page: Any, site: Site) -> Iterator[str]:
    """The pages before one answers or manages, with their errors; and the one that is not there."""
    site.reset()
    Campaign(site)
    site.person["campaigns"].append({"name": "d", "title": "Digits", "role": "manager"})
    page.goto(site.url + "/")
    page.wait_for_selector("#campaigns a")
    yield "start"
    site.person["campaigns"] = []
    page.goto(site.url + "/")
    page.wait_for_selector("#none:not([hidden])")
    yield "start: empty"
    page.goto(site.url + "/no-such-page")
    page.wait_for_selector("h1")
    yield "missing"
    site.person.update(user=None, csrf=None)
    for path in ("login", "join", "setup"):
        site.person["needs_setup"] = path == "setup"
        page.goto(f"{site.url}/{path}")
        page.click("#submit")
        yield path


def managing(page: Any, site: Site) -> Iterator[str]:
    """The managers' pages, the set-up aside."""
    site.reset()
    managed = Managed(site)
    page.goto(f"{site.url}/manage")
    page.wait_for_selector(".campaign-card")
    yield "list"
    page.get_by_role("button", name="Restore a backup").click()
    yield "restore"
    page.goto(f"{site.url}/manage/rents?made=1")
    page.get_by_role("button", name="Make an invitation link").click()
    page.wait_for_selector(".qr")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        page.locator(".tab-panel").locator(".table-scroll tbody tr, .exports, pre").first.wait_for()
        yield f"campaign: {tab}"
    page.get_by_role("tab", name="answers").click()
    page.locator(".answers-table button").first.click()
    page.get_by_role("button", name="no", exact=True).wait_for()
    yield "campaign: a row"
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="people").click()
    page.locator(".people button").first.click()
    yield "campaign: exclude"
    managed.finished, managed.said = "budget", {"yes": 1480, "no": 0}
    for kind in ("class", "order"):
        managed.kind = kind
        page.goto(f"{site.url}/manage")
        page.goto(f"{site.url}/manage/rents")
        page.locator(".chart .cell, .chart .set").first.wait_for(state="attached")
        yield f"campaign: {kind}"
    Managed(site, answers=0)
    page.goto(f"{site.url}/manage/empty")
    page.wait_for_selector(".tile")
    yield "campaign: empty"
    page.goto(f"{site.url}/account")
    page.wait_for_selector(".users table")
    yield "account"


def setting_up(page: Any, site: Site) -> Iterator[str]:
    """The set-up, step by step."""
    site.reset()
    Managed(site)
    page.goto(f"{site.url}/manage/new")
    page.wait_for_selector(".drop-zone")
    yield "set-up: Data"
    page.set_input_files("#table-file", CSV)
    page.wait_for_selector(".preview-sentence")
    steps = page.get_by_role("list", name="Steps")
    for name in STEPS:
        steps.get_by_role("button", name=name).click()
        if name == "Asking":
            page.locator(".forecast > summary").click()
            page.get_by_role("button", name="Simulate").click()
            page.wait_for_selector(".chart")
        yield f"set-up: {name}"
    steps.get_by_role("button", name="Question").click()
    for kind in ("A class", "An order", "A number"):
        page.get_by_label(kind).check()
        yield f"set-up: {kind}"
    page.get_by_label("Lowest").fill("9000")
    page.wait_for_selector("[aria-invalid]")
    yield "set-up: error"
    page.evaluate("sessionStorage.clear()")


PARTS = {"answering": answering, "entering": entering, "managing": managing, "setting_up": setting_up}
