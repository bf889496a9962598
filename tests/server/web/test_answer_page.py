"""People answer in a real browser: by key, click and swipe; nothing is lost or doubled whatever the network does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from answering import API, Campaign, members, number, pair, row
from askone.server.routes.pages import PAGE
from journeys import checked, eventually, shown
from pages import CORPUS, Reply, Site, barriers, opened, refused

SHOWN = "#ask:not([hidden])"


@pytest.fixture
def campaign(site: Site) -> Campaign:
    return Campaign(site)


@pytest.fixture(scope="module")
def phone(browser: Any) -> Any:
    return opened(browser, phone=True)


@pytest.fixture
def page(tab: Any, site: Site, campaign: Campaign) -> Iterator[Any]:
    yield from checked(tab, site)


@pytest.fixture
def small(phone: Any, site: Site, campaign: Campaign) -> Iterator[Any]:
    yield from checked(phone, site)


def start(page: Any, site: Site, path: str = "/answer/c") -> None:
    page.goto(site.url + path)
    shown(page)


def asks(page: Any, text: str) -> None:
    page.wait_for_function(
        "t => document.getElementById('question').textContent === t && !document.getElementById('ask').hidden", arg=text
    )
    shown(page)


def press(page: Any, key: str, price: str) -> None:
    """A key, by which this price comes to be asked about."""
    page.keyboard.press(key)
    asks(page, f"Is the price above {price} EUR?")


def saved(page: Any, state: str = "saved") -> None:
    page.wait_for_selector(f"#saved[data-state={state}]")


def kept(page: Any, campaign: Campaign, answers: list[bool]) -> None:
    """These answers, and no others, have come to the server."""
    saved(page)
    assert campaign.answers == answers


def stored(page: Any) -> int:
    return int(page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('askone-outbox/')).length"))


# ---- answering ----


def test_a_key_is_an_answer(page: Any, site: Site, campaign: Campaign) -> None:
    keys = {"y": True, "n": False, "ArrowRight": True, "ArrowLeft": False, "j": True, "F": False, "2": True, "1": False}
    start(page, site)
    for n, (key, answer) in enumerate(keys.items()):
        page.keyboard.press(key)
        asks(page, f"Is the price above {n + 2}{'' if answer else '.5'} EUR?")
    saved(page)
    assert campaign.answers == list(keys.values())
    assert all(0.2 < body["took"] < 30 for _, body in campaign.log)
    assert all(re.fullmatch(r"[0-9a-f]{32}", body["id"]) for _, body in campaign.log)


def test_clicks_answer_and_a_double_click_answers_once(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    page.dblclick("#answer-right")
    asks(page, "Is the price above 2 EUR?")
    page.click("#answer-left")
    asks(page, "Is the price above 3.5 EUR?")
    kept(page, campaign, [True, False])
    assert page.inner_text("#progress") == "2 answered · 48 left"


def test_a_held_key_answers_once(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    page.keyboard.down("y")
    for _ in range(6):
        page.wait_for_timeout(80)
        page.keyboard.down("y")  # Playwright marks these as repeated
    page.keyboard.up("y")
    kept(page, campaign, [True])


def test_keyboard_alone(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "answer-right":
            break
    press(page, "Enter", "2")
    assert page.evaluate("document.activeElement.id") == "answer-right"  # the focus stays: Enter goes on
    press(page, "Space", "3")
    kept(page, campaign, [True, True])


def test_a_pair_goes_to_the_side_of_the_key(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.make = lambda n, yes: pair(f"tea {n}", f"coffee {n}")
    start(page, site)
    assert page.inner_text("#answer-left .word") == "tea 0"
    page.keyboard.press("y")  # means nothing here
    page.keyboard.press("ArrowLeft")
    asks(page, "Do you prefer tea 1 or coffee 1?")
    page.keyboard.press("ArrowRight")
    asks(page, "Do you prefer tea 2 or coffee 2?")
    kept(page, campaign, [True, False])


def drag(page: Any, dx: int) -> None:
    """A finger on the question."""
    box = page.locator("#row").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    client = page.context.new_cdp_session(page)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 9):
        client.send(
            "Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + dx * step / 8, "y": y}]}
        )
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_swipe_answers_once_it_is_far_enough(small: Any, site: Site, campaign: Campaign) -> None:
    page = small
    start(page, site)
    assert page.is_visible("#swipe-hint")
    drag(page, 40)
    page.wait_for_timeout(100)
    assert campaign.answers == []
    drag(page, 160)
    asks(page, "Is the price above 2 EUR?")
    drag(page, -160)
    asks(page, "Is the price above 3.5 EUR?")
    kept(page, campaign, [True, False])


def test_undo_skip_and_cannot_tell(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    assert page.get_attribute("#undo", "aria-disabled") == "true"
    press(page, "y", "2")
    press(page, "s", "3")
    press(page, "t", "4")
    saved(page)
    assert [body.get("reason") for _, body in campaign.log] == [None, "skip", "cannot tell"]
    press(page, "u", "3")
    press(page, "Control+z", "2")
    page.click("#undo")
    asks(page, "Is the price above 1 EUR?")
    saved(page)
    assert campaign.log == []
    assert page.get_attribute("#undo", "aria-disabled") == "true"


def test_a_flag_takes_a_reason_and_keeps_the_question(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    page.keyboard.press("g")
    page.fill("#reason", "yes, the photo is of another flat")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.toast') !== null")
    saved(page)
    assert [(path, body["reason"]) for path, body in campaign.log] == [("flags", "yes, the photo is of another flat")]
    press(page, "y", "2")


def test_help_has_the_instructions_and_switches_single_keys_off(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.instructions = "Think of the price you would **pay**.\n\n![A round one](round.png) without furniture."
    page.goto(site.url + "/answer/c")
    page.wait_for_selector("#help[open]")  # by itself before the first answer
    said = ["Think of the price you would pay.", " without furniture."]
    assert [text.strip() for text in page.locator("#instructions p").all_inner_texts()] == [one.strip() for one in said]
    assert page.get_attribute("#instructions img", "alt") == "A round one"
    assert page.locator("#guide strong").inner_text() == "pay"  # beside the question as well
    page.keyboard.press("Enter")
    page.wait_for_selector(SHOWN)
    page.keyboard.press("?")
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    shown(page)
    page.keyboard.press("y")
    page.wait_for_timeout(150)
    assert campaign.answers == []
    page.click("#answer-right")
    asks(page, "Is the price above 2 EUR?")


def test_a_goal_of_ones_own_is_counted_towards(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.goal = 4
    start(page, site)
    page.keyboard.press("y")
    saved(page)
    assert page.inner_text("#progress") == "1 answered · 3 to your goal of 4"
    assert page.get_attribute("#bar", "aria-valuenow") == "25"


def test_a_training_round_tells_what_is_right_and_sends_nothing(page: Any, site: Site, campaign: Campaign) -> None:
    asked = [{"lease": "", "number": n, "expires_in": 0.0, **number(str(70 + n))} for n in range(2)]
    campaign.practice = [{"question": question, "answer": True} for question in asked]
    page.goto(site.url + "/answer/c")
    asks(page, "Is the price above 70 EUR?")
    page.keyboard.press("n")
    assert "Not quite: the answer is “Yes”" in page.inner_text("#practice")
    press(page, "Enter", "71")
    page.keyboard.press("y")
    assert "1 of 2 answers right" in page.inner_text("#practice")
    page.get_by_role("button", name="Begin").click()
    asks(page, "Is the price above 1 EUR?")
    assert campaign.answers == []
    assert page.locator("#practice").is_hidden()


def test_small_pictures_fill_the_room_and_are_looked_at_closely(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.make = lambda n, yes: members(["cat"], row(image=f"{API}/rows/7/image"))
    for size in ({"width": 1280, "height": 800}, {"width": 844, "height": 390}):
        page.set_viewport_size(size)
        start(page, site)
        page.wait_for_selector(".picture img.tiny")
        box, main = page.locator(".picture img").bounding_box(), page.locator("#main").bounding_box()
        assert box["height"] > size["height"] / 3
        assert box["y"] + box["height"] <= main["y"] + main["height"]
    page.set_viewport_size({"width": 1280, "height": 800})
    page.click(".closer")
    page.keyboard.press("+")
    assert "scale(1.5)" in page.get_attribute(".zoom img", "style")
    page.keyboard.press("y")  # meant for the picture, not for the question
    page.keyboard.press("Escape")
    assert campaign.answers == []


def test_words_of_the_question_are_marked_and_articles_are_kept(page: Any, site: Site, campaign: Campaign) -> None:
    of = row(("text", 'An oval, not a circles or CIRCLE, "C++"/<x>.', "text"))
    sentence = "Is it a circle or an oval?"
    campaign.make = lambda n, yes: {**members(["circle", "oval"], of), "sentence": sentence, "template": ""}
    start(page, site)
    assert page.locator("mark").all_inner_texts() == ["oval", "CIRCLE"]
    campaign.make = lambda n, yes: members(['"C++"/<x>', "$(^)[-]"], of)  # no letters that a pattern knows
    start(page, site)
    assert page.locator("mark").all_inner_texts() == ['"C++"/<x>']
    campaign.make = lambda n, yes: {**members(["circle", "oval"], of), "sentence": sentence, "template": ""}
    start(page, site)
    assert page.inner_text("#question") == sentence
    assert page.locator("#question .chip").all_inner_texts() == ["circle", "oval"]


# ---- no waiting ----


def test_the_question_ahead_is_there_at_once(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    campaign.replies.clear()
    page.keyboard.press("n")
    assert page.inner_text("#question") == "Is the price above 2.5 EUR?"  # in the same task, not after the response
    assert page.get_attribute("#saved", "data-state") == "saving"
    shown(page)
    page.keyboard.press("y")  # the question ahead, answered before the first response is there
    campaign.replies.set()
    asks(page, "Is the price above 3 EUR?")
    kept(page, campaign, [False, True])
    assert [body["lease"] for _, body in campaign.log] == ["lease-0", "lease-1"]


def test_a_question_ahead_that_was_replaced_gives_way(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    campaign.replies.clear()
    campaign.replaced = {**campaign.question(1, True), **number("99"), "lease": "other-1"}
    page.keyboard.press("y")
    assert page.inner_text("#question") == "Is the price above 2 EUR?"
    campaign.replies.set()
    asks(page, "Is the price above 99 EUR?")
    kept(page, campaign, [True])


def test_an_answer_to_what_is_no_longer_asked_is_not_counted(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    campaign.replies.clear()
    campaign.replaced = {**campaign.question(1, True), **number("99")}  # the same lease, another question
    page.keyboard.press("y")
    shown(page)
    page.keyboard.press("y")
    campaign.replies.set()
    asks(page, "Is the price above 99 EUR?")
    kept(page, campaign, [True])
    assert "1 not counted" in page.inner_text("#progress")


def test_what_was_not_sent_is_undone_here(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    campaign.replies.clear()
    page.keyboard.press("y")
    shown(page)
    page.keyboard.press("n")
    press(page, "u", "2")
    campaign.replies.set()
    kept(page, campaign, [True])
    assert not site.asked("/undo")


def test_pictures_of_both_questions_ahead_are_fetched_before(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.make = lambda n, yes: members(["3", "5"], row(image=f"{API}/rows/{2 * n + yes}/image"))
    start(page, site)
    eventually(lambda: {call.match[1] for call in site.asked("/image", "GET")} == {"1", "2", "3"}, page)
    before = len(site.asked("/rows/3/image", "GET"))
    page.keyboard.press("y")
    asks(page, "Is it one of: 3, 5?")
    assert page.evaluate("document.querySelector('#row img').complete")
    assert len(site.asked("/rows/3/image", "GET")) == before == 1


# ---- the network ----


def test_offline_then_back_nothing_is_lost_or_doubled(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    page.context.set_offline(True)
    press(page, "y", "2")  # it was there already
    saved(page, "unsaved")
    page.keyboard.press("n")
    page.wait_for_selector("#screen[data-name=offline]:not([hidden])")
    assert page.inner_text("#saved") == "Not saved (2 waiting)"
    assert page.inner_text("#say-saved") == "Not saved (2 waiting)"
    assert stored(page) == 2
    assert campaign.answers == []
    page.context.set_offline(False)
    asks(page, "Is the price above 3.5 EUR?")
    kept(page, campaign, [True, False])
    assert set(campaign.seen.values()) == {1}
    assert stored(page) == 0
    assert page.text_content("#say-saved") == "All answers are saved."


def test_a_lost_response_is_asked_for_again_with_the_same_id(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.failures = ["after", *[refused(503, "too_slow")] * 100]
    start(page, site)
    press(page, "y", "2")
    saved(page, "unsaved")  # for as long as nothing gets through
    campaign.failures.clear()
    kept(page, campaign, [True])
    assert list(campaign.seen.values()) == [2]


def test_a_reload_sends_the_rest(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    campaign.failures = [refused(503, "too_slow", Retry_After="60")]
    press(page, "y", "2")
    saved(page, "unsaved")
    page.keyboard.press("n")
    assert stored(page) == 2
    page.reload()
    asks(page, "Is the price above 3.5 EUR?")
    kept(page, campaign, [True, False])
    assert stored(page) == 0


@pytest.mark.parametrize("end", ["reload", "close"])
def test_answers_without_a_connection_survive_the_tab(browser: Any, site: Site, campaign: Campaign, end: str) -> None:
    """Offline not even the page can be had again: what was answered waits in the browser until it can."""
    page = opened(browser)
    start(page, site)
    page.context.set_offline(True)
    press(page, "y", "2")
    page.keyboard.press("n")
    page.wait_for_selector("#screen[data-name=offline]:not([hidden])")
    assert campaign.answers == []
    old, context = page, page.context
    if end == "reload":
        with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
            page.reload()
    else:
        page = context.new_page()
        old.close()  # nothing is asked of the tab: it goes as if it had crashed
    page.context.set_offline(False)
    page.goto(site.url + "/answer/c")
    asks(page, "Is the price above 3.5 EUR?")
    kept(page, campaign, [True, False])  # once each, however often they were sent
    assert stored(page) == 0
    context.close()


def test_an_answer_taken_back_during_a_pause_leaves_the_pause(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    press(page, "y", "2")
    saved(page)
    campaign.state = "paused"
    page.keyboard.press("n")
    page.wait_for_selector("#screen[data-name=paused]:not([hidden])")
    campaign.state = "question"  # the server gives the question back that was answered last
    page.keyboard.press("u")
    eventually(lambda: site.asked("/undo"), page)
    saved(page)
    page.wait_for_timeout(200)
    assert page.is_visible("#screen[data-name=paused]")
    assert page.is_hidden("#answers")
    assert campaign.answers == [True]
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it goes on again
    asks(page, "Is the price above 2 EUR?")


def test_retry_after_is_obeyed(page: Any, site: Site, campaign: Campaign) -> None:
    campaign.failures = [refused(429, "too_many_requests", Retry_After="2")]
    start(page, site)
    page.keyboard.press("y")
    saved(page, "unsaved")
    page.evaluate("dispatchEvent(new Event('online'))")  # no excuse to come earlier
    saved(page)
    first, second = (call.at for call in site.asked("/answers"))
    assert second - first >= 2
    assert campaign.answers == [True]


def test_a_lease_that_is_lost_is_told_and_the_next_question_comes(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    campaign.taken = {"lease-0"}
    page.keyboard.press("y")
    page.wait_for_function("() => document.querySelector('.toast')?.textContent.includes('somebody else')")
    asks(page, "Is the price above 1 EUR?")
    assert "1 not counted" in page.inner_text("#progress")
    assert stored(page) == 0


def test_a_session_that_ended_leads_to_the_sign_in_and_keeps_the_answers(
    page: Any, site: Site, campaign: Campaign
) -> None:
    campaign.failures = [refused(401, "unauthorized")]
    known = dict(site.person)
    start(page, site)
    site.person["user"] = None
    page.keyboard.press("y")
    page.wait_for_url("**/login?next=%2Fanswer%2Fc")
    assert stored(page) == 1
    page.fill("#name", "Ada")
    page.fill("#password", "correct horse")
    site.on("POST", "/api/v1/login", lambda call: site.person.update(known) or known)
    page.keyboard.press("Enter")
    page.wait_for_url("**/answer/c")
    asks(page, "Is the price above 2 EUR?")
    kept(page, campaign, [True])


def test_a_token_of_an_earlier_session_is_fetched_anew(page: Any, site: Site, campaign: Campaign) -> None:
    tokens = ["old", "token-1"]
    site.on("GET", "/api/v1/me", lambda call: {**site.person, "csrf": tokens.pop(0)})
    start(page, site)
    assert tokens == []


def test_leases_are_renewed_and_released(page: Any, site: Site, campaign: Campaign) -> None:
    short = campaign.make
    campaign.make = lambda n, yes: {**short(n, yes), "expires_in": 3.0}
    start(page, site)
    eventually(lambda: site.asked("/leases/renew"), page)
    assert sorted(site.asked("/leases/renew")[0].json["leases"]) == ["lease-0", "lease-1"]
    page.goto(site.url + "/join")
    eventually(lambda: site.asked("/leases/release"), page)
    assert sorted(site.asked("/leases/release")[0].json["leases"]) == ["lease-0", "lease-1"]


def test_when_there_is_no_question_the_page_says_why(page: Any, site: Site, campaign: Campaign) -> None:
    for state in ("paused", "closed", "spent", "resting", "done", "waiting"):
        campaign.state = state
        page.goto(site.url + "/answer/c")
        page.wait_for_selector(f"#screen[data-name={state}]")
        assert page.inner_text("#screen-title")
        assert page.is_hidden("#answers")
        assert page.evaluate("document.activeElement.id") == "screen-title"
    campaign.state = "question"
    asks(page, "Is the price above 1 EUR?")  # by itself


def test_a_stranger_is_told(page: Any, site: Site, campaign: Campaign) -> None:
    site.on("POST", f"{API}/next", lambda call: refused(404, "not_found", "There is no such campaign."))
    page.goto(site.url + "/answer/c")
    page.wait_for_selector("#screen[data-name=barred]")
    assert "no such campaign" in page.inner_text("#screen-text")


# ---- what is shown ----


def test_rows_numbers_and_links(browser: Any, site: Site, campaign: Campaign) -> None:
    cells = [("size", "12345.5", "number"), ("year", "1987", "number"), ("sold", "2026-03-01", "date"),
             ("seen", "2026-03-01 12:30", "date"), ("odd", "1.3.2026", "date"),
             ("lift", "true", "text"), ("dogs", "FALSE", "text"), ("motto", "true love", "text"),
             ("page", "https://example.org/a", "url"), ("bad", "javascript:alert(1)", "url"), ("empty", "", "text"),
             ("long", "x" * 9000, "text")]  # fmt: skip
    campaign.make = lambda n, yes: number("1234567.5", "EUR", row(*cells))
    page = opened(browser, locale="de-DE")
    start(page, site)
    assert page.inner_text("#question .amount") == "1.234.567,5 EUR"
    values = page.locator("#row dd").all_inner_texts()
    assert values[:5] == ["12.345,5", "1987", "01.03.2026", "01.03.2026, 12:30", "1.3.2026"]
    assert values[5:8] == ["Ja", "Nein", "true love"]
    links = page.locator("#row a").all()
    assert [link.get_attribute("href") for link in links] == ["https://example.org/a"]
    assert links[0].get_attribute("rel") == "noopener noreferrer"
    assert links[0].get_attribute("target") == "_blank"
    assert len(values[8]) < 5000
    page.click("text=Alles zeigen")
    assert "x" * 9000 in page.inner_text("#row")
    page.context.close()


def test_dark_by_wish_and_by_choice(browser: Any, site: Site, campaign: Campaign) -> None:
    page = opened(browser, dark=True)
    start(page, site)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(18, 20, 23)"
    page.click(".theme-toggle")
    assert page.evaluate(ground) == "rgb(245, 243, 238)"
    page.reload()
    page.wait_for_selector(SHOWN)
    assert page.evaluate(ground) == "rgb(245, 243, 238)"
    assert page.get_attribute(".theme-toggle", "aria-label") == "Use dark colours"
    page.context.close()


def test_the_dark_palette_has_every_colour_of_the_light_one() -> None:
    text = (PAGE / "shared" / "style.css").read_text()
    palette = text.split(":root {")[1].split("}")[0]
    assert len(re.findall(r"--[\w-]+: light-dark\(#\w+, #\w+\);", palette)) > 25
    assert not re.findall(r"--[\w-]+: #", palette)


def test_a_question_is_announced_once(page: Any, site: Site, campaign: Campaign) -> None:
    start(page, site)
    assert page.text_content("#say") == "Is the price above 1 EUR? size: 0"
    page.evaluate("""() => {
        window.said = [];
        const say = document.getElementById("say");
        new MutationObserver(() => said.push(say.textContent)).observe(say, {childList: true});
    }""")
    press(page, "y", "2")
    saved(page)
    assert page.evaluate("said") == ["Is the price above 2 EUR? size: 1"]


def test_a_break_is_proposed_after_twenty_minutes(browser: Any, site: Site, campaign: Campaign) -> None:
    page = opened(browser)
    page.clock.install()
    page.goto(site.url + "/answer/c")
    page.wait_for_selector(SHOWN)
    for n in range(12):
        assert page.is_hidden("#break"), n
        page.clock.fast_forward(112_000)
        page.keyboard.press("y")
        saved(page)
    assert page.is_visible("#break")
    assert campaign.answers == [True] * 12  # it stops nobody
    page.click("#break-over")
    assert page.is_hidden("#break")
    page.context.close()


def test_on_a_phone_the_answers_are_under_the_thumb(small: Any, site: Site, campaign: Campaign) -> None:
    words = "A long description that goes on. " * 60
    campaign.make = lambda n, yes: number(of=row(("size", "7", "number"), ("text", words, "text")))
    small.set_viewport_size({"width": 360, "height": 640})
    start(small, site)
    for name in ("#answer-left", "#answer-right", "#undo", "#skip", "#unsure", "#flag"):
        box = small.locator(name).bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert box["y"] > 320
        assert box["y"] + box["height"] <= 640
    assert small.evaluate("document.documentElement.scrollWidth") <= 360


# ---- the other pages ----


def test_joining_by_link(page: Any, site: Site, campaign: Campaign) -> None:
    known = dict(site.person)
    site.person.update(user=None, csrf=None)

    def join(call: Any) -> Any:
        if call.json["invitation"] != "s3cret":
            return refused(404, "not_found", "No.")
        site.person.update(known)
        return {**known, "campaign": "c"}

    def invited(call: Any) -> Any:
        if call.json["invitation"] != "s3cret":
            return refused(401, "wrong_invitation", "No.")
        parts = {"answers": ["yes", "no"], "goal": 30, "seconds": 4.0}
        asked = {**parts, "language": "auto", "example": "Is the price above 7 EUR?", "question": number("7")}
        return {"title": "Fair rents", "hosts": ["Ida", "Bo"], **asked}

    site.on("POST", "/api/v1/join", join)
    site.on("POST", "/api/v1/invited", invited)
    page.goto(site.url + "/join#s3cret")
    page.get_by_text("Fair rents").wait_for()
    told = page.inner_text("form")
    for words in ("Ida and Bo invite you", "Is the price above 7 EUR?", "Up to 30 questions, about 2 minutes"):
        assert words in told
    page.goto(site.url + "/join#wrong")
    page.fill("#name", "Grace")
    page.click("#submit")
    page.wait_for_selector("#problem:not([hidden])")
    page.goto(site.url + "/join")
    page.fill("#invitation", site.url + "/join#s3cret")
    page.fill("#name", "Grace")
    page.click("#submit")
    page.wait_for_selector(SHOWN)
    assert site.asked("/join")[-1].json == {"invitation": "s3cret", "name": "Grace"}
    assert not any("s3cret" in call.path for call in site.calls)
    page.go_back()
    assert "s3cret" not in page.url


def test_set_up_takes_the_token_from_the_fragment(page: Any, site: Site, campaign: Campaign) -> None:
    site.person.update(user=None, csrf=None, needs_setup=True)
    site.on("POST", "/api/v1/setup", lambda call: refused(422, "invalid", "At least 10 characters.", "password"))
    page.goto(site.url + "/")
    page.wait_for_url("**/setup")
    page.goto(site.url + "/setup#t0ken")
    page.reload()
    page.click("#submit")
    assert page.evaluate("document.activeElement.id") == "name"
    page.fill("#name", "root")
    page.fill("#password", "short")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('password-error').textContent.startsWith('At least')")
    assert page.get_attribute("#password", "aria-invalid") == "true"
    assert site.asked("/setup")[0].json == {"token": "t0ken", "name": "root", "password": "short"}
    site.on("POST", "/api/v1/setup", lambda call: refused(409, "already_exists", "the name 'root' is taken"))
    page.fill("#password", "long enough for all")
    page.click("#submit")
    page.wait_for_selector("text=has this name already")
    site.on("POST", "/api/v1/setup", lambda call: Reply(200, site.person))
    site.on("GET", "/manage", lambda call: Reply(200, b"<p id=manage>", {"Content-Type": "text/html"}))
    page.fill("#password", "long enough for all")
    page.click("#submit")
    page.wait_for_selector("#manage", state="attached")


def test_signing_in_waits_when_told_and_never_leads_elsewhere(page: Any, site: Site, campaign: Campaign) -> None:
    known = dict(site.person)
    site.person.update(user=None, csrf=None)
    site.on("POST", "/api/v1/login", lambda call: refused(429, "too_many_requests", Retry_After="1"))
    page.goto(site.url + "/login?next=//example.org/x")
    page.fill("#name", "Ada")
    page.fill("#password", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#submit:disabled >> text=in 1 s")

    def login(call: Any) -> Any:
        site.person.update(known)
        return known

    site.on("POST", "/api/v1/login", login)
    page.wait_for_selector("#submit:enabled")
    page.click("#submit")
    page.wait_for_url(site.url + "/")
    page.wait_for_selector("#campaigns a")


def test_my_campaigns(page: Any, site: Site, campaign: Campaign) -> None:
    site.person["campaigns"] = [
        {"name": "c", "title": "Prices", "role": "annotator"},
        {"name": "d", "title": "Digits", "role": "manager"},
    ]
    page.goto(site.url + "/")
    page.wait_for_selector("#campaigns a")
    addresses = [link.get_attribute("href") for link in page.locator("#campaigns a").all()]
    assert addresses == ["/answer/c", "/manage/d", "/answer/d"]
    assert "2 answers from you" in page.inner_text("#campaigns li:first-child")
    site.person["campaigns"] = []
    page.reload()
    page.wait_for_selector("#none:not([hidden])")


# ---- what must not run, and who must be able to use it ----


def poisoned(site: Site, campaign: Campaign) -> None:
    """Everything that comes from outside is hostile."""
    bad = "\n\n".join(CORPUS)
    cells = [
        (text, text, kind)
        for text, kind in zip(
            CORPUS, ["text", "url", "category", "url", "image", "number", "text", "text", "url"], strict=True
        )
    ]

    def make(n: int, yes: bool) -> dict[str, Any]:
        of = row(*cells, image="https://127.0.0.1:9/x.png" if n == 0 else None)
        kinds = [
            {
                **number("<b>1</b>", CORPUS[1], of),
                "sentence": f"{bad} <b>1</b> {CORPUS[1]}?",
                "template": f"{bad} {{threshold}}?",
                "answers": [CORPUS[0], CORPUS[1]],
            },
            {**members(list(CORPUS), of)},
            {**pair(CORPUS[2], CORPUS[1], of)},
        ]
        return kinds[n % 3]

    campaign.make, campaign.title, campaign.instructions = make, bad, bad
    asked = {"example": bad, "question": make(0, True), "answers": list(CORPUS), "language": "auto"}
    told = {"title": bad, "hosts": list(CORPUS), **asked, "goal": None, "seconds": 1.0}
    site.on("POST", "/api/v1/invited", lambda call: told)
    site.person["user"]["name"] = bad
    site.person["campaigns"] = [
        {"name": "c", "title": bad, "role": "manager"},
        {"name": bad, "title": "", "role": "manager"},
    ]


def test_nothing_from_outside_runs(page: Any, site: Site, campaign: Campaign) -> None:
    poisoned(site, campaign)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site.url + "/answer/c")
    page.wait_for_selector("#help[open]")
    page.wait_for_timeout(100)
    page.click("#help-close")
    for _ in range(3):
        shown(page)
        assert "<script>alert(1)</script>" in page.inner_text("main")
        assert page.locator("main img, main iframe, main script, main style, main [onclick]").count() == 0
        assert all(link.get_attribute("href").startswith("http") for link in page.locator("#row a").all())
        page.keyboard.press("ArrowRight")
    campaign.failures = [refused(409, CORPUS[1], CORPUS[1])]
    shown(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".toast")
    for path in ("/", "/join#" + CORPUS[1], "/login?next=javascript:alert(1)"):
        site.person["user"] = None if path.startswith("/login") else site.person["user"]
        page.goto(site.url + path)
        page.wait_for_timeout(150)
        assert page.locator("main img, main iframe").count() == 0
    assert [url for url in asked if not url.startswith(site.url)] == []


@pytest.mark.parametrize("dark", [False, True])
def test_nobody_is_kept_out(browser: Any, site: Site, campaign: Campaign, dark: bool) -> None:
    page = opened(browser, dark=dark)
    site.person["campaigns"].append({"name": "d", "title": "Digits", "role": "manager"})
    picture = row(("page", "https://example.org", "url"), image=f"{API}/rows/7/image")
    found = {}
    for name, question in {"number": number(), "set": members(["3", "5"], picture), "pair": pair()}.items():
        campaign.make = lambda n, yes, question=question: question
        start(page, site)
        found[name] = barriers(page)
    page.keyboard.press("?")
    found["help"] = barriers(page)
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    found["flag"] = barriers(page)
    campaign.state = "done"
    for path in ("/answer/c", "/"):
        page.goto(site.url + path)
        page.wait_for_selector("#screen-actions a, #campaigns a")
        found[path] = barriers(page)
    site.person.update(user=None, csrf=None)
    for path in ("/login", "/join", "/setup"):
        site.person["needs_setup"] = path == "/setup"
        page.goto(site.url + path)
        page.click("#submit")  # with its errors
        found[path] = barriers(page)
    assert {name: told for name, told in found.items() if told} == {}
    page.context.close()


def test_no_page_has_inline_code_or_remote_assets() -> None:
    for file in PAGE.rglob("*.html"):
        text = file.read_text()
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=\"/static/)", text), file.name
        assert not re.search(r"(?:src|href)=\"(?!/|#)", text), file.name
    for file in PAGE.rglob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", file.read_text()
        ), file.name
