"""The whole journey in a real browser, with a real server over a real file: from the set-up link to the export."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from journeys import House, eventually, flats

NAME = "rents"


def next_step(page: Any, title: str) -> None:
    page.locator(".wizard-foot .button.primary").click()
    page.get_by_role("heading", name=title, level=1).wait_for()


def make_campaign(place: House, page: Any) -> None:
    page.get_by_role("link", name="Start your first campaign").click()
    table = place.folder / "flats.csv"
    table.write_text(flats(), encoding="utf-8")
    page.set_input_files("#table-file", str(table))
    page.get_by_role("heading", name="What is in the columns?").wait_for()
    page.get_by_label("Row names").select_option("flat")
    page.get_by_label("Known answers").select_option("known")
    page.get_by_label("Learn from note").uncheck()
    next_step(page, "What is asked?")
    page.get_by_label("A number").check()
    page.get_by_label("What the number is").fill("the rent")
    page.get_by_label("Unit").fill("EUR")
    page.get_by_label("Lowest").fill("100")
    page.get_by_label("Highest").fill("1500")
    page.get_by_label("Title of the campaign").fill("Fair rents")
    page.get_by_label("Instructions").fill("Warm or cold? Cold.\n\nIn doubt, say no.")
    told = "() => /Is the rent .*EUR/.test(document.querySelector('.preview-sentence')?.textContent)"
    page.wait_for_function(told)
    assert any(town in page.inner_text(".preview") for town in ("Berlin", "Köln", "München", "Hamburg"))
    next_step(page, "How much is asked?")
    page.get_by_label("Budget in answers").fill("100")
    page.get_by_text("All of it may stay as it is").click()
    page.get_by_label("Gold questions (%)").fill("20")
    page.locator(".forecast > summary").click()
    page.get_by_label("Answers", exact=True).fill("40")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_text("Expected at the end").wait_for()
    next_step(page, "Ready")
    page.get_by_label("Name in addresses").fill(NAME)
    page.get_by_role("button", name="Create campaign").click()
    page.wait_for_url(f"**/manage/{NAME}**")
    page.get_by_role("heading", name="Fair rents").wait_for()


def invited(page: Any) -> str:
    page.get_by_role("button", name="Make an invitation link").click()
    return str(page.get_by_label("Invitation link", exact=True).input_value())


def shown(page: Any) -> None:
    """A question is there, and the first moments in which keys do not count are over."""
    page.wait_for_selector("#ask:not([hidden])")
    page.wait_for_timeout(300)


def press(page: Any, key: str) -> None:
    """A key, and the question after it."""
    before = page.inner_text("#question") + page.inner_text("#row")
    page.keyboard.press(key)
    page.wait_for_function(
        "t => document.getElementById('question').innerText + document.getElementById('row').innerText !== t "
        "|| !document.getElementById('screen').hidden",
        arg=before,
    )
    shown(page)


def saved(page: Any, state: str = "saved") -> None:
    page.wait_for_selector(f"#saved[data-state={state}]")


def test_from_the_link_to_the_export(place: House, browser: Any) -> None:
    boss = place.page(browser)
    place.set_up(boss)
    make_campaign(place, boss)
    link = invited(boss)
    bea = place.page(browser)
    bea.goto(link)
    bea.fill("#name", "Bea")
    bea.click("#submit")
    bea.wait_for_url(f"**/answer/{NAME}")
    assert "#" not in bea.url
    bea.locator("#help-close").click()
    answered(place, bea)
    offline(place, bea)
    watched(place, boss, bea)
    paused(boss, bea)
    excluded(place, boss)
    exported(place, boss)


def answered(place: House, bea: Any) -> None:
    """Keys, undo, skip, a note."""
    shown(bea)
    for key in "ynyn":
        press(bea, key)
    saved(bea)
    assert [entry.event.answer for entry in place.events(NAME, "answered")] == [True, False, True, False]
    press(bea, "u")
    saved(bea)
    assert len(place.events(NAME, "retracted")) == 1
    press(bea, "y")
    press(bea, "s")
    saved(bea)
    assert len(place.events(NAME, "skipped")) == 1
    bea.keyboard.press("g")
    bea.fill("#reason", "the size cannot be right")
    bea.get_by_role("button", name="Send the note").click()
    eventually(lambda: place.events(NAME, "flagged"), bea)


def offline(place: House, bea: Any) -> None:
    """No network for a while: what was answered waits, and counts once."""
    before = len(place.events(NAME, "answered"))
    bea.context.set_offline(True)
    shown(bea)
    bea.keyboard.press("y")
    saved(bea, "unsaved")
    bea.wait_for_timeout(400)
    if bea.is_visible("#ask"):
        bea.keyboard.press("n")
    waiting = bea.evaluate("Object.keys(localStorage).filter(k => k.startsWith('askone-outbox/')).length")
    assert waiting >= 1
    bea.context.set_offline(False)
    saved(bea)
    events = place.events(NAME, "answered")
    assert len(events) == before + waiting
    assert len({entry.id for entry in events}) == len(events)


def tile(page: Any, name: str) -> str:
    return str(page.locator(".tile", has=page.get_by_text(name, exact=True)).locator(".value").inner_text())


def watched(place: House, boss: Any, bea: Any) -> None:
    """The manager's numbers follow by themselves."""
    shown(bea)
    for key in "yyn":
        press(bea, key)
    saved(bea)
    standing = len(place.events(NAME, "answered")) - len(place.events(NAME, "retracted"))
    eventually(lambda: tile(boss, "Answers") == str(standing), boss)
    boss.get_by_role("tab", name="Flags").click()
    boss.get_by_text("the size cannot be right").wait_for()


def paused(boss: Any, bea: Any) -> None:
    boss.get_by_role("button", name="Pause").click()
    boss.get_by_text("Paused", exact=True).wait_for()
    shown(bea)
    bea.keyboard.press("y")
    bea.get_by_role("heading", name="The campaign is paused").wait_for()
    boss.get_by_role("button", name="Resume").click()
    shown(bea)
    press(bea, "y")
    saved(bea)


def excluded(place: House, boss: Any) -> None:
    boss.get_by_role("tab", name="People").click()
    boss.get_by_role("button", name="Exclude Bea").click()
    boss.get_by_role("button", name="Exclude and replay").click()
    boss.get_by_role("button", name="Include Bea").wait_for()
    assert len(place.events(NAME, "excluded")) == 1
    assert counted(place, boss)["learnt"] == 0
    boss.get_by_role("button", name="Include Bea").click()
    boss.get_by_role("button", name="Include and replay").click()
    boss.get_by_role("button", name="Exclude Bea").wait_for()
    assert counted(place, boss)["learnt"] > 0


def counted(place: House, boss: Any) -> Any:
    return boss.request.get(f"{place.url}/api/v1/campaigns/{NAME}/dashboard").json()


def exported(place: House, boss: Any) -> None:
    boss.get_by_role("tab", name="Export").click()
    with boss.expect_download() as coming:
        boss.get_by_role("link", name="Answers: download CSV").click()
    assert coming.value.suggested_filename == f"{NAME}-answers.csv"
    rows = list(csv.DictReader(io.StringIO(Path(coming.value.path()).read_text(encoding="utf-8-sig"))))
    events = place.events(NAME, "answered")
    assert len(rows) == len(events)
    assert [row["answer"].lower() for row in rows] == [str(entry.event.answer).lower() for entry in events]
    assert all("rent" in row["sentence"] for row in rows)
