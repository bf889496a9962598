"""The pages for people who answer, in six languages: words, numbers, plural forms, and both directions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from babel import Locale

from answering import Campaign, members, number, pair, row
from askone.labels.wording import USUAL
from askone.server.languages import LANGUAGES, catalogue
from pages import Site, faults, opened, refused
from tour import answering

SHOWN = "#ask:not([hidden])"
RANGE = {"low": "12345.5", "high": "20000", "unit": "EUR", "name": "the value"}
ASKED: dict[str, dict[str, Any]] = {
    "above": number("12345.5"),
    "below": {
        "template": USUAL["below"],
        "threshold": {"shown": "37", "unit": "", "name": "the Preis", "side": "below"},
    },
    "between": {"template": USUAL["between"], "range": RANGE},
    "one": members(["cat"]),
    "several": members(["cat", "owl"]),
    "title": {"template": USUAL["noun"], "title": "tufted ears"},
    "pair": pair("tea", "milk"),
    "own": {**number("12345.5"), "template": "Would you pay {threshold}?"},
    "own side": {**number("37"), "template": "{threshold}, {side}: {threshold}?"},
    "own range": {"template": "{side} {threshold}?", "range": RANGE},
}
SAID = {
    "de": {
        "above": "price: über 12.345,5 EUR?", "below": "Preis: unter 37?", "one": "Ist es: cat?",
        "between": "Wert: zwischen 12.345,5 und 20.000 EUR?", "several": "Ist es eines davon: cat, owl?",
        "title": "Trifft zu: tufted ears?", "pair": "Was gefällt Ihnen besser: tea oder milk?",
        "own": "Would you pay 12.345,5 EUR?", "own side": "37 EUR, über: 37 EUR?",
        "own range": "zwischen 12.345,5 und 20.000 EUR?",
    },
    "fr": {"above": "price : plus de 12 345,5 EUR ?", "several": "Est-ce l’un de ceux-ci : cat, owl ?"},
    "es": {"above": "price: ¿más de 12.345,5 EUR?", "own range": "entre 12.345,5 y 20.000 EUR?"},
    "zh": {"above": "price是否高于 12,345.5 EUR？", "own range": "介于 12,345.5 和 20,000 EUR 之间?"},
    "ar": {"above": "price: أكثر من 12,345.5 EUR؟", "several": "هل هو واحد مما يلي: cat، owl؟"},
    "en": {
        "above": "Is the price above 12,345.5 EUR?", "below": "Is the Preis below 37?", "one": "Is it cat?",
        "between": "Is the value between 12,345.5 and 20,000 EUR?", "several": "Is it one of: cat, owl?",
        "title": "Does it have tufted ears?", "pair": "Do you prefer tea or milk?",
        "own": "Would you pay 12,345.5 EUR?", "own side": "37 EUR, above: 37 EUR?",
        "own range": "between 12,345.5 and 20,000 EUR?",
    },
}  # fmt: skip
SAY = """async ([language, asked, counts]) => {
  const { count, locale, tn, use } = await import("/static/shared/language.js");
  const { plain } = await import("/static/answer/sentence.js");
  await use(language);
  const sentences = Object.fromEntries(Object.entries(asked).map(([name, one]) => [name, plain(one)]));
  const said = counts.map((n) => [n, count(n), tn("{n} question", "{n} questions", n)]);
  return { sentences, said, lang: document.documentElement.lang, dir: document.documentElement.dir };
}"""
SWIPE = """([from, to]) => {
  const touch = { bubbles: true, pointerType: "touch", isPrimary: true, pointerId: 1, clientY: 300 };
  const row = document.getElementById("row");
  const fire = (type, clientX) => row.dispatchEvent(new PointerEvent(type, { ...touch, clientX }));
  fire("pointerdown", from);
  fire("pointermove", (from + to) / 2);
  fire("pointermove", to);
  fire("pointerup", to);
}"""
COUNTS = [0, 1, 2, 3, 10, 11, 99, 100, 101, 102, 103, 1000, 1_000_000]
DIGITS = str.maketrans("٠١٢٣٤٥٦٧٨٩٬٫", "0123456789,.")


@pytest.fixture(scope="module")
def desk(browser: Any) -> Any:
    return opened(browser)


def answered(page: Any, act: Callable[[], object]) -> None:
    """Answer when the first moments in which nothing counts are over, and wait until it is taken in."""
    page.wait_for_selector(SHOWN)
    page.wait_for_timeout(250)
    act()
    page.wait_for_selector("#saved[data-state=saved]")


def plain(text: str) -> str:
    """Without the spaces that only typography tells apart, and with Latin digits."""
    return re.sub(r"[\u00a0\u202f]", " ", text).translate(DIGITS)


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_sentences_numbers_and_plural_forms(desk: Any, site: Site, language: str) -> None:
    site.person.update(user=None, csrf=None)
    desk.goto(site.url + "/login")
    told = desk.evaluate(SAY, [language, ASKED, COUNTS])
    assert told["lang"] == language
    assert told["dir"] == ("rtl" if language == "ar" else "ltr")
    said = {name: plain(text) for name, text in told["sentences"].items()}
    assert {name: said[name] for name in SAID[language]} == SAID[language]
    forms = {"one": "{n} question", "other": "{n} questions"}
    if language != "en":
        forms = json.loads(catalogue(language))["words"]["{n} question"]
    rule = Locale(language).plural_form  # the browser and Babel have the same rules
    assert [words for _, _, words in told["said"]] == [
        forms[rule(n)].replace("{n}", shown) for n, shown, _ in told["said"]
    ]
    assert not faults(desk)


def test_arabic_is_mirrored_and_keys_fingers_and_arrows_with_it(browser: Any, site: Site) -> None:
    campaign = Campaign(site)
    page = opened(browser, locale="ar-EG", phone=True)
    page.goto(site.url + "/answer/c")
    page.wait_for_selector(SHOWN)
    yes, no = (page.locator(one).bounding_box() for one in ("#answer-right", "#answer-left"))
    assert yes["x"] < no["x"]
    assert page.inner_text("#answer-right .word") == "نعم"
    assert page.locator(".brand").bounding_box()["x"] > page.locator(".theme-toggle").bounding_box()["x"]
    for key in ("ArrowLeft", "ArrowRight", "f", "j", "y", "n"):
        answered(page, lambda key=key: page.keyboard.press(key))
    answered(page, lambda: page.evaluate(SWIPE, [300, 60]))  # to the left, where yes is
    assert campaign.answers == [True, False, True, False, True, False, True]
    campaign.make = lambda n, yes: pair("tea", "milk")
    page.goto(site.url + "/answer/c")
    page.wait_for_selector("body.pair")
    assert page.get_attribute("#answer-left", "aria-keyshortcuts") == "ArrowRight"
    answered(page, lambda: page.keyboard.press("ArrowRight"))  # the first, which is read first
    assert campaign.answers[7:] == [True]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not faults(page)
    page.context.close()


def test_the_campaign_decides_or_else_the_reader(browser: Any, site: Site) -> None:
    campaign = Campaign(site)
    campaign.make = lambda n, yes: number("12345.5")
    for locale, language, words in (
        ("de-DE", "auto", "price: über 12.345,5 EUR?"),
        ("de-AT", "en", "Is the price above 12,345.5 EUR?"),
        ("en-GB", "de", "price: über 12.345,5 EUR?"),
        ("pl-PL", "auto", "Is the price above 12,345.5 EUR?"),
    ):
        campaign.language = language
        page = opened(browser, locale=locale)
        page.goto(site.url + "/answer/c")
        page.wait_for_selector(SHOWN)
        assert page.inner_text("#question") == words
        german = words.startswith("price")
        assert page.inner_text("#skip span") == ("Auslassen" if german else "Skip")
        assert page.text_content("#flagging-title").startswith("Was stimmt" if german else "What is wrong")
        page.context.close()


def test_failures_and_answers_that_waited_are_told_of_in_the_language_of_the_campaign(browser: Any, site: Site) -> None:
    campaign = Campaign(site)
    campaign.language = "fr"
    page = opened(browser)
    page.goto(site.url + "/answer/c")
    page.wait_for_selector(SHOWN)
    campaign.failures = [refused(409, "refused", "This was refused.")]
    page.wait_for_timeout(250)
    page.keyboard.press("y")
    page.get_by_text("Cela n’a pas fonctionné : This was refused.").wait_for()
    page.wait_for_selector("#saved[data-state=saved]")
    page.wait_for_selector(SHOWN)
    campaign.failures = [refused(503, "too_slow", Retry_After="60")] * 9
    page.wait_for_timeout(800)
    page.keyboard.press("y")
    page.wait_for_selector("#saved[data-state=unsaved]")
    assert page.inner_text("#saved") == "Non enregistré (1 en attente)"
    campaign.failures = []
    page.reload()  # the answer is sent at once, whatever the language turns out to be
    page.wait_for_function("() => document.getElementById('question').textContent.includes('plus de')")
    assert page.inner_text("#saved") == "Enregistré"
    page.context.close()


# A language in which everything stands in brackets: what stands outside of them was never translated.
PSEUDO = json.dumps(
    {
        "direction": "ltr",
        "words": {
            text: f"⟦{text}⟧" if isinstance(words, str) else dict.fromkeys(words, f"⟦{text}⟧")
            for text, words in json.loads(catalogue("de"))["words"].items()
        },
    }
)
TEXTS = """() => {
  const copy = document.body.cloneNode(true);
  const data = "script, style, noscript, kbd, #row dl, #row .reading, #say, .campaign, .instructions";
  copy.querySelectorAll(data).forEach((one) => one.remove());
  const labels = [...document.querySelectorAll("[aria-label], [alt], [placeholder], [title]")]
    .filter((one) => !one.closest("#row dl, .instructions"))
    .flatMap((one) => ["aria-label", "alt", "placeholder", "title"].map((name) => one.getAttribute(name) ?? ""));
  return [copy.textContent, ...labels].join(" | ");
}"""
DATA = {
    "askone",
    "tea",
    "Earl",
    "Grey",
    "coffee",
    "Is",
    "the",
    "price",
    "above",
    "EUR",
    "C",
    "Fair",
    "rents",
    "Yes",
    "No",
}


def english(page: Any) -> set[str]:
    """The words of the page that stand outside of all brackets."""
    text = page.evaluate(TEXTS)
    while "⟦" in text:
        text, before = re.sub(r"⟦[^⟦⟧]*⟧", " ", text), text
        assert text != before, f"a text without its end: {text}"
    return set(re.findall(r"[^\W\d_]+", text)) - DATA


def test_no_word_of_the_pages_is_forgotten(browser: Any, site: Site) -> None:
    page = opened(browser, locale="de-DE")
    page.route("**/languages/de.json", lambda route: route.fulfill(body=PSEUDO, content_type="application/json"))
    found = {name: english(page) for name in answering(page, site)}
    asked = {"language": "auto", "example": "", "question": members(["tea"], row()), "answers": ["yes", "no"]}
    site.on(
        "POST", "/api/v1/invited", lambda call: {"title": "Fair rents", "hosts": [], **asked, "goal": 9, "seconds": 4}
    )
    site.on("POST", "/api/v1/join", lambda call: refused(401, "wrong_invitation"))
    site.person.update(user=None, csrf=None)
    for path in ("login", "join", "join#s3cret"):
        page.goto(f"{site.url}/{path}")
        page.click("#submit")
        page.wait_for_timeout(100)
        found[path] = english(page)
        assert page.title().startswith("⟦")
    assert {name: words for name, words in found.items() if words} == {}
    page.context.close()
