"""Several rows in one question, in a real browser: one key for all of them, halves after a no."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from answering import API, Campaign, members, row
from askone.session.bags import Bag
from journeys import checked, eventually, shown
from pages import Site, barriers

SPLIT = """async ([rows]) => {
  const { Bag } = await import("/static/answer/bag.js");
  const found = [];
  for (let truth = 0; truth < 2 ** rows; truth += 1) {
    let bag = new Bag(rows);
    while (bag.asked.length > 0) bag = bag.told(bag.asked.every((place) => (truth >> place) & 1));
    found.push([bag.answers, bag.questions, bag.looks]);
  }
  return found;
}"""


@pytest.fixture
def campaign(site: Site) -> Campaign:
    found = Campaign(site)
    found.make = lambda n, yes: members(["cat"], row(("name", f"row {n}", "text"), image=f"{API}/rows/{n}/image"))
    found.bag = 4
    return found


@pytest.fixture
def page(tab: Any, site: Site, campaign: Campaign) -> Iterator[Any]:
    tab.goto(site.url + "/answer/c")
    shown(tab)
    yield from checked(tab, site)


def press(page: Any, keys: str) -> None:
    for key in keys:
        shown(page)
        page.keyboard.press(key)


def marked(page: Any) -> list[str]:
    return list(page.locator(".tile:not(.aside) .line").all_inner_texts())


def test_the_page_splits_as_the_library_does(page: Any) -> None:
    for rows in (1, 2, 5, 9):
        found = page.evaluate(SPLIT, [rows])
        assert len(found) == 2**rows
        for truth in product((False, True), repeat=rows):
            bag = Bag.of(rows)
            while bag.asked:
                bag = bag.told(all(truth[i] for i in bag.asked))
            place = sum(2**i for i, one in enumerate(truth) if one)
            assert found[place] == [list(truth), bag.questions, bag.looks]


def test_one_key_for_all(page: Any, campaign: Campaign) -> None:
    assert page.inner_text("#question").split("\n")[0].strip() == "Are all of these cat?"
    assert page.locator(".tile img").count() == 4
    assert not barriers(page)
    press(page, "y")
    eventually(lambda: campaign.log, page)
    path, body = campaign.log[0]
    assert path == "bags"
    assert body["leases"] == [f"lease-{n}" for n in range(4)]
    assert body["answers"] == [True] * 4
    assert body["took"] > 0


def test_a_no_asks_which(page: Any, campaign: Campaign) -> None:
    press(page, "n")
    assert marked(page) == ["row 0", "row 1"]
    assert "Only the marked ones now." in page.inner_text("#question")
    press(page, "y")
    assert marked(page) == ["row 2"]
    assert page.locator(".tile.right").count() == 2
    press(page, "u")  # that was too quick
    assert marked(page) == ["row 0", "row 1"]
    assert campaign.log == []
    press(page, "yn")  # the third is wrong: whether the fourth is has to be asked
    assert marked(page) == ["row 3"]
    press(page, "y")
    eventually(lambda: campaign.log, page)
    assert campaign.log[0][1]["answers"] == [True, True, False, True]


def test_who_cannot_tell_for_all_is_asked_one_by_one(page: Any, campaign: Campaign) -> None:
    press(page, "s")
    shown(page)
    assert page.locator(".tile").count() == 0
    assert page.inner_text("#question").strip() == "Is it cat?"
    campaign.bag = 1
    press(page, "y")
    eventually(lambda: campaign.log, page)
    assert campaign.log[0][0] == "answers"
    assert campaign.log[0][1]["lease"] == "lease-0"


def test_what_was_sent_is_taken_back_as_a_whole(page: Any, campaign: Campaign) -> None:
    press(page, "y")
    eventually(lambda: campaign.log, page)
    page.wait_for_selector("#saved[data-state=saved]")
    press(page, "u")
    eventually(lambda: not campaign.log, page)
    shown(page)
    assert marked(page) == [f"row {n}" for n in range(4)]


def test_lines_without_pictures(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.make = lambda n, yes: members(
        ["cat"], row(("text", f"a line {n} of words", "text"), ("size", "1.5", "number"))
    )
    page.goto(site.url + "/answer/c")
    shown(page)
    assert page.locator(".tiles.lines .tile").count() == 4
    assert marked(page)[0] == "a line 0 of words · 1.5"
