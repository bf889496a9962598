"""Private answers in a real browser: flipped before anything leaves the page, and nothing beside them tells more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from answering import API, Campaign
from askone.checks import check_private
from journeys import House, checked, eventually, shown
from pages import Site, refused

DRAWS = 40_000
DRAW = """async ([epsilon, n]) => {
  const { randomized } = await import("/static/answer/privacy.js");
  const said = (yes) => Array.from({ length: n }, () => randomized(yes, epsilon));
  return [said(true), said(false), said(null)];
}"""
LOTS = """value => {
  const drawn = Crypto.prototype.getRandomValues;  // ids are bytes: they stay what they are
  crypto.getRandomValues = (array) => (array instanceof Uint32Array ? array.fill(value) : drawn.call(crypto, array));
}"""
FLIPPED, AS_IT_IS = 0, 2**32 - 1


@pytest.fixture
def campaign(site: Site) -> Campaign:
    found = Campaign(site)
    found.epsilon, found.allowed = 1.0, 5.0
    return found


@pytest.fixture
def page(tab: Any, site: Site, campaign: Campaign) -> Iterator[Any]:
    tab.goto(site.url + "/answer/c")
    tab.wait_for_selector("#private:not([hidden])")
    tab.click("#help-close")
    shown(tab)
    yield from checked(tab, site)


def press(page: Any, key: str, campaign: Campaign) -> dict[str, Any]:
    """A key; what crossed the wire."""
    before = len(campaign.log)
    shown(page)
    page.keyboard.press(key)
    eventually(lambda: len(campaign.log) > before, page)
    page.wait_for_selector("#saved[data-state=saved]")
    path, body = campaign.log[-1]
    assert path == "answers"
    return body


def test_the_mechanism_of_the_page_is_as_private_as_it_says(page: Any, site: Site) -> None:
    """Held to a little more than it claims, as its numbers have no seed; and less than it claims would be noticed."""
    drawn = page.evaluate(DRAW, [1.0, DRAWS])
    said = dict(zip((True, False), drawn[:2], strict=True))

    def mechanism() -> Any:
        lots = {truth: iter(bits) for truth, bits in said.items()}
        return lambda truth: next(lots[truth])

    check_private(mechanism(), 1.05, trials=DRAWS)
    with pytest.raises(AssertionError, match=r"is not 0\.9-private"):
        check_private(mechanism(), 0.9, trials=DRAWS)
    assert abs(sum(drawn[2]) / DRAWS - 0.5) < 0.02  # who gives no answer tosses a coin
    flips = sum(said[False]) + DRAWS - sum(said[True])
    assert abs(flips / (2 * DRAWS) - 0.2689) < 0.01


def test_the_flipped_answer_alone_crosses_the_wire(page: Any, site: Site, campaign: Campaign) -> None:
    page.evaluate(LOTS, FLIPPED)
    flipped = [press(page, key, campaign)["answer"] for key in ("y", "n")]
    assert flipped == [False, True]
    page.evaluate(LOTS, AS_IT_IS)
    assert [press(page, key, campaign)["answer"] for key in ("y", "n")] == [True, False]
    assert page.inner_text("#question") == "Is the price above 5.5 EUR?"  # the one that follows what was sent


def test_requests_of_both_true_answers_are_the_same_but_for_the_bit(page: Any, site: Site, campaign: Campaign) -> None:
    page.evaluate(LOTS, AS_IT_IS)
    bodies = [press(page, "y", campaign)]
    page.wait_for_timeout(700)  # somebody who thinks about it
    bodies.append(press(page, "n", campaign))
    assert [set(body) for body in bodies] == [{"lease", "answer", "id", "epsilon"}] * 2
    assert len({len(body["id"]) for body in bodies}) == 1
    assert {body["epsilon"] for body in bodies} == {1.0}
    heads = [set(call.headers) - {"Content-Length"} for call in site.calls if call.path == f"{API}/answers"]
    assert heads[0] == heads[1]
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('askone-outbox/')).length") == 0


def test_a_skip_is_an_answer_like_others_and_the_rest_is_off(page: Any, site: Site, campaign: Campaign) -> None:
    body = press(page, "s", campaign)
    assert set(body) == {"lease", "answer", "id", "epsilon"}
    for tool in ("undo", "unsure", "flag"):
        assert not page.is_visible(f"#{tool}")
    assert page.is_visible("#skip")
    for key in ("u", "Control+z", "g"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert {path for path, _ in campaign.log} == {"answers"}
    assert not page.is_visible("#flagging")
    paths = {call.path.rsplit("/", 1)[1] for call in site.calls if call.method == "POST"}
    assert not paths & {"skips", "undo", "flags"}


def test_what_is_sent_again_is_the_same_bit(page: Any, site: Site, campaign: Campaign) -> None:
    """Lost on its way, counted without an answer, and across a reload: one bit, of which nobody can take a mean."""
    campaign.failures = [refused(503, "too_slow"), "after", refused(503, "too_slow", Retry_After="60")]
    page.keyboard.press("y")
    eventually(lambda: not campaign.failures, page)
    page.reload()
    page.wait_for_selector("#saved[data-state=saved]")
    sent = [call.json for call in site.calls if call.path == f"{API}/answers"]
    assert len(sent) >= 4
    assert all(body == sent[0] for body in sent)
    assert len(campaign.answers) == 1


def test_the_person_is_told_what_it_means_and_what_is_spent(page: Any, site: Site, campaign: Campaign) -> None:
    consent = page.text_content("#private")
    for words in ("27%", "2.72 times", "ε = 1", "toss of a coin", "in which minute, is recorded"):
        assert words in consent
    for _ in range(3):
        press(page, "y", campaign)
    page.wait_for_function("document.getElementById('progress').textContent.includes('you have spent 3 of 5')")
    press(page, "n", campaign)
    campaign.state = "done"
    press(page, "y", campaign)
    page.wait_for_selector("#screen[data-name=done]")
    assert "all of your privacy" in page.inner_text("#screen-text")


def test_a_campaign_that_is_not_private_is_as_it_was(tab: Any, site: Site) -> None:
    campaign = Campaign(site)
    tab.goto(site.url + "/answer/c")
    shown(tab)
    body = press(tab, "y", campaign)
    assert body["answer"] is True
    assert "epsilon" not in body
    assert body["took"] > 0
    assert tab.is_visible("#undo")
    assert not tab.is_visible("#private")


# ---- the real server ----


def test_a_private_campaign_on_the_real_server(place: House, browser: Any) -> None:
    """From the consent to the last of three answers; the log has what crossed the wire, in whole minutes."""
    page, sent = place.page(browser), []
    page.on("request", lambda one: sent.append(json.loads(one.post_data)) if one.url.endswith("/answers") else None)
    place.set_up(page)
    settings = {
        "title": "Drinks", "labels": {"kind": "order", "items": ["tea", "coffee", "milk", "water"]},
        "privacy": {"epsilon": 1, "budget": 3},
    }  # fmt: skip
    make = """async (settings) => {
      const { post } = await import("/static/shared/api.js");
      return post("/campaigns", { settings, upload: null, name: "drinks" }, { patience: 120_000 });
    }"""
    page.evaluate(make, settings)
    page.goto(place.url + "/answer/drinks")
    page.click("#help-close")
    for n in range(3):
        shown(page)
        page.keyboard.press("ArrowLeft")
        eventually(lambda n=n: len(place.events("drinks", "answered")) == n + 1, page)
    page.wait_for_selector("#screen[data-name=done]")
    assert "all of your privacy" in page.inner_text("#screen-text")
    assert "you have spent 3 of 3" in page.inner_text("#progress")
    logged = place.events("drinks", "answered")
    assert [entry.event.answer for entry in logged] == [body["answer"] for body in sent]
    assert all(entry.took is None and entry.at % 60 == 0 for entry in logged)
    assert {body["epsilon"] for body in sent} == {1}
