"""The managers' pages in a real browser: set-up, dashboard, tabs, account; with hostile texts in every field."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from answering import png
from journeys import checked, eventually
from managing import Managed
from pages import CORPUS, Reply, Site, faults, opened, refused
from waiting import HANGS

CSV = {"name": "flats März.csv", "mimeType": "text/csv", "buffer": b"flat,size\nflat-1,31\n"}
TABS = ["overview", "answers", "people", "invitations", "flags", "export", "settings"]
# Controls that a screen reader could not name, and ids that stand twice.
NAMELESS = """() => {
  const name = (node) => (node.getAttribute("aria-label") || node.textContent || "").trim() || node.labels?.length
    || node.getAttribute("aria-labelledby");
  const nodes = [...document.querySelectorAll("button, a[href], input, select, textarea, [role=slider], img")];
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  return [
    ...nodes.filter((node) => node.checkVisibility() && !name(node) && !node.alt).map((node) => node.outerHTML),
    ...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `twice: ${id}`),
  ];
}"""


@pytest.fixture
def page(tab: Any, site: Site) -> Iterator[Any]:
    yield from checked(tab, site)


def poll_now(page: Any) -> None:
    page.evaluate("window.dispatchEvent(new Event('online'))")


def until(page: Any, expression: str) -> None:
    """Waits without the page's own eval, which its policy forbids."""
    eventually(lambda: page.evaluate(expression), page)


def tile(page: Any, name: str) -> str:
    return str(page.locator(".tile", has=page.get_by_text(name, exact=True)).locator(".value").inner_text())


def managed_at(page: Any, site: Site, path: str, kind: str = "number", **given: Any) -> Managed:
    """A manager's server, of which a page is looked at."""
    managed = Managed(site, kind, **given)
    page.goto(site.url + path)
    return managed


def uploaded(page: Any, site: Site) -> None:
    page.goto(f"{site.url}/manage/new")
    page.set_input_files("#table-file", CSV)
    page.wait_for_selector(".preview-sentence")


def step(page: Any, name: str) -> None:
    page.get_by_role("list", name="Steps").get_by_role("button", name=name).click()


def drafted(page: Any, site: Site, at: str = "") -> None:
    """A new campaign whose table was uploaded, at some step."""
    Managed(site)
    uploaded(page, site)
    if at:
        step(page, at)


# ---- the list ----


def test_list_shows_campaigns_by_status_and_restores_a_backup(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage")
    cards = page.locator(".campaign-card")
    cards.first.wait_for()
    assert [card.locator(".badge").inner_text() for card in cards.all()] == ["Running", "Running", "Paused", "Closed"]
    assert cards.first.get_by_role("link", name="What is a fair rent?").first.get_attribute("href") == "/manage/rents"
    assert [card.get_by_role("link", name="Answer").count() for card in cards.all()] == [1, 1, 0, 0]
    assert cards.first.locator(".measured").inner_text().startswith("20.1 EUR mean error (15.2 to 25.3 EUR)")
    assert cards.first.locator(".sparkline path").count() == 1
    assert "1,480 of 3,000 answers" in cards.first.inner_text()
    assert cards.first.locator(".fill").evaluate("node => node.style.width").startswith("49.3")
    page.get_by_role("button", name="Restore a backup").click()
    page.get_by_label("Backup file").set_input_files({"name": "b.zip", "mimeType": "application/zip", "buffer": b"PK"})
    page.get_by_label("New name (optional)").fill("rents-2")
    page.get_by_role("button", name="Restore", exact=True).click()
    page.wait_for_url("**/manage/rents")
    (call,) = site.asked("/restore")
    assert call.raw == b"PK"
    assert call.query == {"name": ["rents-2"]}


def test_list_without_campaigns_says_what_to_do(page: Any, site: Site) -> None:
    Managed(site)
    site.on("GET", "/api/v1/campaigns", lambda call: [])
    page.goto(f"{site.url}/manage")
    assert page.get_by_role("link", name="Start your first campaign").get_attribute("href") == "/manage/new"


def test_nobody_signed_in_is_sent_to_the_sign_in(page: Any, site: Site) -> None:
    Managed(site)
    site.person = {**site.person, "user": None, "csrf": None}
    page.goto(f"{site.url}/manage/rents")
    page.wait_for_url("**/login?next=%2Fmanage%2Frents")


# ---- the set-up ----


def test_set_up_from_a_csv_to_a_running_campaign(page: Any, site: Site) -> None:
    drafted(page, site)
    (upload,) = site.asked("/uploads")
    assert upload.raw == CSV["buffer"]
    assert upload.headers["X-File-Name"] == "flats%20M%C3%A4rz.csv"
    assert upload.headers["X-CSRF-Token"] == "token-1"
    page.get_by_label("Learn from text").uncheck()
    page.get_by_label("Known answers").select_option("rent")
    page.get_by_role("button", name="Next: question").click()
    page.get_by_label("Highest").fill("3000")
    page.get_by_label("Title of the campaign").fill("Rents")
    page.get_by_label("The question", exact=True).fill("Is it ")
    page.get_by_role("button", name="{amount}").click()
    page.get_by_role("button", name="Next: asking").click()
    page.get_by_label("Budget in answers").fill("500")
    page.get_by_text("All of it may stay as it is").click()
    page.get_by_label("Gold questions (%)").fill("5")
    page.get_by_role("button", name="Next: create").click()
    told = page.locator("dl.facts").inner_text()
    for words in ("500 answers", "named by flat", "size, district", "5 % measure people", "from 200 to 3,000 EUR"):
        assert words in told
    page.locator("summary").click()
    assert "[labels]" in page.locator("pre").inner_text()
    with page.expect_download() as file:
        page.get_by_role("button", name="Download").click()
    assert file.value.suggested_filename == "campaign.toml"
    page.get_by_role("button", name="Create campaign").click()
    page.wait_for_url("**/manage/rents*")
    (made,) = site.asked("/campaigns")
    wish = made.json["settings"]
    assert made.json["upload"] == "u-1"
    assert "name" not in made.json
    assert wish["title"] == "Rents"
    assert wish["rows"] == {"key": "flat", "show": None, "learn": ["size", "district"], "gold": "rent"}
    assert wish["labels"]["high"] == 3000
    assert wish["question"]["wording"] == "Is it {amount}"
    assert wish["ask"]["budget"] == 500
    assert wish["ask"]["gold_share"] == 0.05
    # An invitation is offered at once, and a reload does not offer it again.
    page.get_by_role("button", name="Make an invitation link").click()
    assert page.get_by_role("textbox", name="Invitation link").input_value() == f"{site.url}/join#SECRET-ONCE"
    assert page.locator(".qr").evaluate("node => node.naturalWidth > 0 && node.src.startsWith('data:image/svg+xml')")
    page.reload()
    page.locator(".tile").first.wait_for()
    assert not page.locator(".welcome").count()


def test_what_is_guessed_or_doubted_is_undone_by_one_click(page: Any, site: Site) -> None:
    drafted(page, site)
    assert "They are from “Flats”; not read: Notes." in page.locator(".wizard-body").inner_text()
    assert "Guessed from the column's name and cells" in page.locator("[data-path='rows.key']").inner_text()
    page.get_by_label("Known answers").select_option("rent")
    page.get_by_text("The labels follow exactly from 'district'").wait_for()
    page.get_by_role("button", name="Leave out district").click()
    page.get_by_text("The labels follow exactly from 'district'").wait_for(state="detached")
    for label in ("Show district", "Learn from district"):  # the page draws itself anew when its server has looked
        page.get_by_role("checkbox", name=label, checked=False).wait_for()
    page.get_by_label("Known answers").select_option("")
    for label in ("Show rent", "Learn from rent"):
        page.get_by_role("checkbox", name=label, checked=True).wait_for()
    page.get_by_label("Row names").select_option("")
    page.get_by_role("button", name="Next: question").click()
    page.get_by_role("heading", level=1, name="What is asked?").wait_for()


def test_a_table_that_is_refused_says_why(page: Any, site: Site) -> None:
    Managed(site)
    site.on("POST", "/api/v1/uploads", lambda call: refused(422, "invalid_file", "line 3 has 2 cells, not 4"))
    page.goto(f"{site.url}/manage/new")
    page.set_input_files("#table-file", CSV)
    assert page.get_by_role("alert").inner_text() == "line 3 has 2 cells, not 4"


def test_a_slow_preview_is_said_to_be_waited_for_once(page: Any, site: Site) -> None:
    managed = Managed(site)
    uploaded(page, site)
    slow = threading.Event()

    def preview(call: Any) -> Any:
        slow.wait(HANGS)
        return managed.preview(call)

    site.on("POST", "/api/v1/uploads/[^/]+/preview", preview)
    button = page.get_by_role("button", name="Next: question")
    button.click()
    page.get_by_role("status").filter(has_text="half a minute, once").wait_for()
    asked = len(site.asked("/preview"))
    button.click()
    page.wait_for_timeout(200)
    assert len(site.asked("/preview")) == asked
    slow.set()
    page.get_by_role("heading", name="What is asked?").wait_for()
    assert page.get_by_text("half a minute").count() == 0


def test_changes_during_a_slow_preview_wait_for_its_end(page: Any, site: Site) -> None:
    """The server makes one preview after the other, and begins anew with what is asked after a page let go of it."""
    page.add_init_script(
        "window.limits = []; const real = AbortSignal.timeout.bind(AbortSignal);"
        "AbortSignal.timeout = (time) => { window.limits.push(time); return real(time); };"
    )
    managed = Managed(site)
    uploaded(page, site)
    page.get_by_role("button", name="Next: question").click()
    page.get_by_role("heading", name="What is asked?").wait_for()
    settled(page)
    slow, titles = threading.Event(), []

    def preview(call: Any) -> Any:
        titles.append(call.json["settings"].get("title"))
        slow.wait(HANGS)
        return managed.preview(call)

    site.on("POST", "/api/v1/uploads/[^/]+/preview", preview)
    before = page.evaluate("window.limits.length")
    for i in range(4):
        page.get_by_label("Title of the campaign").fill(f"Rents {i}")
        eventually(lambda: len(titles) >= 1, page)
        page.wait_for_timeout(800)  # longer than a page waits for more letters
    assert titles == ["Rents 0"]
    slow.set()
    eventually(lambda: titles == ["Rents 0", "Rents 3"], page)
    settled(page)
    assert titles == ["Rents 0", "Rents 3"]
    assert max(page.evaluate(f"window.limits.slice({before})")) >= 600_000


def settled(page: Any) -> None:
    """Wait until no preview is on its way."""
    page.wait_for_selector(".preview:not([aria-busy])")


def test_errors_stand_at_their_field(page: Any, site: Site) -> None:
    drafted(page, site, "Question")
    low = page.get_by_label("Lowest")
    low.fill("9000")
    page.locator("[data-path='labels.low'] .error", has_text="“Lowest” must be below “Highest”").wait_for()
    assert low.get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="Next: asking").click()
    page.wait_for_timeout(200)
    assert page.get_by_role("heading", level=1).inner_text() == "What is asked?"
    low.fill("100")
    until(page, "!document.querySelector('[aria-invalid]')")
    page.get_by_label("The question", exact=True).fill("{x}?")
    page.locator("[data-path='question.wording'] .error", has_text="got {x}").wait_for()
    # From a later step, the message leads back to the field.
    step(page, "Asking")
    page.get_by_label("Budget in answers").fill("70")
    page.get_by_role("button", name="Go to “Question”").click()
    assert page.get_by_label("The question", exact=True).get_attribute("aria-invalid") == "true"


def test_errors_speak_of_fields_as_the_page_calls_them(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage")
    told = {
        ("labels.high must be above low (20.0), at a finite distance; got 9.0", "labels.high"): (
            "“Highest” must be above “Lowest” (20.0); got 9.0"
        ),
        ("labels.low must be given, as the other end is; got None", "labels.low"): (
            "“Lowest” must be filled in, as the other end is"
        ),
        ("title must be one line of text, not blank; got ''", "title"): "“Title of the campaign” must be filled in",
        ("ask.exam_share must be a number at least 0 and at most 0.9; got 1.2", "ask.exam_share"): (
            "“Measuring questions” must be a number at least 0 % and at most 90 %; got 120 %"
        ),
        ("ask.gold_share must be 0 without rows.gold; got 0.2", "ask.gold_share"): (
            "“Gold questions” must be 0 % without “Known answers”; got 20 %"
        ),
        ("ask.budget must be a whole number from 1 to 1000000000000; got 0", "ask.budget"): (
            "“Budget in answers” must be a whole number, 1 or more; got 0"
        ),
        ("labels.attributes['x'] must be one of: 'a', 'b'; got 'q'", "labels.attributes['x']"): (
            "“Attributes” must be one of: 'a', 'b'; got 'q'"
        ),
        ("expires_hours: Input should be greater than 0", "expires_hours"): "“Valid for hours” must be greater than 0",
        ("name: String should match pattern '^[a-z]$'", "name"): (
            "“Name” may have letters, digits, hyphens, dots and underscores, and begins with a letter or digit"
        ),
        ("There is a campaign of that name.", None): "There is a campaign of that name.",
    }
    say = """async (pairs) => {
      const { inWords } = await import("/static/shared/setting-names.js");
      return pairs.map(([message, argument]) => inWords(message, argument));
    }"""
    assert page.evaluate(say, [list(pair) for pair in told]) == list(told.values())


def test_the_preview_has_its_answers_where_the_answer_page_has_them(page: Any, site: Site) -> None:
    drafted(page, site)
    assert page.locator(".preview-answer").all_inner_texts() == ["No", "Yes"]
    step(page, "Question")
    page.get_by_label("An order of items").check()
    page.locator(".preview-answer.item").first.wait_for()
    assert page.locator(".preview-answer").all_inner_texts() == ["tea", "coffee"]


def test_a_long_text_in_the_preview_is_scrolled_by_keys(page: Any, site: Site) -> None:
    long = "Bright, second floor, quiet yard. " * 60
    Managed(site, t=lambda text: long if text == "Bright, second floor, quiet yard." else text)
    uploaded(page, site)
    # In one look, since the preview is drawn anew now and then: whether each has more than it shows, and is a stop.
    seen = """JSON.stringify([...document.querySelectorAll(".preview-fields dd")].map(
      (one) => [one.scrollHeight > one.clientHeight, one.tabIndex]))"""
    until(page, f"{seen} === '[[false,-1],[false,-1],[true,0]]'")


def test_creation_refused_at_the_name(page: Any, site: Site) -> None:
    Managed(site)
    site.on("POST", "/api/v1/campaigns", lambda call: refused(409, "name_taken", "There is a campaign of that name."))
    uploaded(page, site)
    step(page, "Create")
    page.get_by_label("Name in addresses (optional)").fill("rents")
    page.get_by_role("button", name="Create campaign").click()
    page.locator("[data-path=name] .error", has_text="of that name").wait_for()
    assert site.asked("/campaigns")[0].json["name"] == "rents"


def test_forecast_is_drawn_with_its_cost(page: Any, site: Site) -> None:
    drafted(page, site, "Asking")
    page.locator(".forecast > summary").click()
    page.get_by_label("Answers", exact=True).fill("2000")
    page.get_by_label("Wrong answers (%)").fill("10")
    page.get_by_role("button", name="Simulate").click()
    page.wait_for_selector(".chart .band.main")
    body = site.asked("/uploads/u-1/forecast")[0].json
    assert (body["answers"], body["flip"]) == (2000, 0.1)
    tiles = page.locator(".tile").all_inner_texts()
    assert any("€100.00" in text for text in tiles)
    assert any("1.9 h" in text for text in tiles)
    site.on(
        "POST", ".*/forecast", lambda call: refused(422, "invalid_argument", "answers must be below 10^6", "answers")
    )
    page.get_by_role("button", name="Simulate").click()
    wrong = page.locator("[data-path=answers] .error", has_text="must be below")
    wrong.wait_for()
    with page.expect_response("**/preview"):  # it comes after a while, and says nothing of a forecast
        page.get_by_label("Budget in answers").fill("1001")
    page.wait_for_timeout(50)
    assert wrong.is_visible()


def previewed(page: Any, site: Site, labels: dict[str, Any]) -> None:
    """Wait until the preview was last asked for with these labels: it follows what is written after a while."""
    eventually(
        lambda: [call for call in site.asked("/preview")[-1:] if call.json["settings"]["labels"] == labels], page
    )


def test_a_ranking_needs_no_table(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/new", "order")
    page.get_by_role("button", name="Rank items without a table").click()
    page.get_by_label("Items, one per line").fill("tea\n\n coffee \ncocoa")
    page.get_by_text("Which do you like better?").wait_for()
    previewed(page, site, {"kind": "order", "items": ["tea", "coffee", "cocoa"]})
    step(page, "Create")
    page.get_by_role("button", name="Create campaign").click()
    page.wait_for_url("**/manage/rents*")
    assert site.asked("/campaigns")[0].json["upload"] is None


def test_classes_and_attributes_are_written_as_lines(page: Any, site: Site) -> None:
    drafted(page, site, "Question")
    page.get_by_label("A class").check()
    page.get_by_label("Class names, one per line").fill("cat\ndog\nbird")
    page.get_by_label("Attributes (optional)").fill("four legs: cat, dog\nwings: bird")
    page.get_by_label("A number").check()
    assert page.get_by_label("Lowest").input_value() == "200"  # what was written before the change of kind
    page.get_by_label("A class").check()
    page.wait_for_selector("text=Instructions")
    page.get_by_role("button", name="Next: asking").click()
    attributes = {"four legs": ["cat", "dog"], "wings": ["bird"]}
    labels = {"kind": "class", "classes": ["cat", "dog", "bird"], "attributes": attributes, "max_set_size": None}
    previewed(page, site, labels)


def test_a_reload_keeps_the_draft_and_a_copy_starts_from_a_campaign(page: Any, site: Site) -> None:
    drafted(page, site, "Question")
    page.get_by_label("Title of the campaign").fill("Half done")
    page.reload()
    step(page, "Question")
    assert page.get_by_label("Title of the campaign").input_value() == "Half done"
    page.goto(f"{site.url}/manage/new?like=rents")
    page.set_input_files("#table-file", CSV)
    page.wait_for_selector(".preview-sentence")
    step(page, "Question")
    assert page.get_by_label("Title of the campaign").input_value() == "What is a fair rent?"


# ---- the dashboard ----


def test_dashboard_follows_and_survives_a_lost_connection(page: Any, site: Site) -> None:
    managed = managed_at(page, site, "/manage/rents", answers=400)
    page.wait_for_selector(".chart .plot-line.main")
    assert tile(page, "Answers") == "400"
    before = page.locator(".chart .plot-line.main").first.get_attribute("d")
    managed.answers = 440
    until(page, "document.querySelector('.tile .value').textContent === '440'")  # by the poll alone
    assert page.locator(".chart .plot-line.main").first.get_attribute("d") != before
    site.on("GET", ".*/dashboard", lambda call: refused(503, "store_unavailable", "away"))
    poll_now(page)
    page.get_by_text("Reconnecting …").wait_for()
    assert tile(page, "Answers") == "440"
    del site.handlers[0]
    managed.answers = 480
    poll_now(page)
    until(page, "document.querySelector('.tile .value').textContent === '480'")
    assert page.get_by_text("Reconnecting …").is_hidden()


def test_a_hidden_page_does_not_ask(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    page.wait_for_selector(".chart")
    page.evaluate("""() => {
      Object.defineProperty(document, 'hidden', {value: true, configurable: true});
      document.dispatchEvent(new Event('visibilitychange'));
    }""")
    asked = len(site.asked("/dashboard", "GET"))
    page.wait_for_timeout(2600)
    assert len(site.asked("/dashboard", "GET")) <= asked + 1


def test_charts_are_read_by_keys_as_tables_and_as_files(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents", answers=400)
    page.wait_for_selector(".chart .plot-line.main")
    curve = page.locator("figure", has=page.get_by_role("heading", name="Learning curve"))
    slider = curve.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext").startswith("40 answers: mean error")
    page.keyboard.press("ArrowRight")
    assert curve.locator("output").inner_text().startswith("80 answers: mean error")
    linear = curve.locator(".plot-line.main").get_attribute("d")
    curve.get_by_label("logarithmic").check()
    assert curve.locator(".plot-line.main").get_attribute("d") != linear
    curve.locator("summary").click()
    curve.locator("tbody tr").first.wait_for()
    assert curve.locator("tbody tr").count() == 10
    for kind, opening in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"answers,mean error (EUR),low,high")):
        with page.expect_download() as file:
            curve.get_by_role("button", name=f"as {kind}").click()
        content = file.value.path().read_bytes()
        assert content.startswith(opening)
        if kind == "SVG":
            assert b"class=" not in content  # it stands alone
            assert b'stroke="rgb(' in content
            assert b"data-helper" not in content


@pytest.mark.parametrize("kind", ["number", "class", "order"])
def test_the_curve_and_the_cloud_fill_their_cards(page: Any, site: Site, kind: str) -> None:
    managed_at(page, site, "/manage/rents", kind)
    page.locator(".chart-figure svg.chart").nth(2).wait_for(state="attached")
    ground = """() => [...document.querySelectorAll(".halves > .chart-figure")].map((one) => {
        const [drawn, foot] = [one.querySelector("svg.chart"), one.querySelector(".chart-foot")];
        return foot.getBoundingClientRect().top - drawn.getBoundingClientRect().bottom;
    })"""
    page.wait_for_function(f"() => ({ground})().every((room) => room >= 0 && room < 16)")


@pytest.mark.parametrize(
    ("kind", "mark"), [("number", ".plot-line.prediction"), ("class", ".set.yes"), ("order", ".cell.yes")]
)
def test_the_cloud_of_each_kind(page: Any, site: Site, kind: str, mark: str) -> None:
    managed_at(page, site, "/manage/rents", kind)
    cloud = page.locator("figure", has=page.get_by_role("heading", name="Cloud of questions"))
    cloud.locator(mark).first.wait_for(state="attached")
    cloud.get_by_role("slider").focus()
    page.keyboard.press("End")
    words = cloud.locator("output").inner_text()
    assert {"number": "question 1,480: size", "class": "question 1,480: one of", "order": " comparisons with "}[
        kind
    ] in words
    cloud.locator("summary").click()
    cloud.locator("tbody tr").first.wait_for()
    assert cloud.locator("tbody tr").count() == {"number": 200, "class": 200, "order": 8}[kind]
    if kind == "number":
        page.get_by_label("Column of the x axis").select_option("year")
        page.get_by_text("year", exact=True).last.wait_for()
        assert site.asked("/dashboard", "GET")[-1].query == {"column": ["year"]}


@pytest.mark.parametrize(
    ("finished", "badge"),
    [
        ("budget", "Finished: budget spent"),
        ("rows", "Finished: all rows asked"),
        ("target", "Finished: target reached"),
    ],
)
def test_a_finished_campaign_says_so(page: Any, site: Site, finished: str, badge: str) -> None:
    managed = Managed(site)
    managed.finished, managed.status = finished, "paused" if finished == "target" else "running"
    line = {**managed.listed()[0], "status": managed.status, "finished": finished}
    site.on("GET", "/api/v1/campaigns", lambda call: [*managed.listed()[1:], line])
    page.goto(f"{site.url}/manage")
    page.wait_for_selector(".campaign-card")
    cards = page.locator(".campaign-card")
    assert cards.nth(2).locator(".badge").inner_text() == badge  # after those that go on, before those closed
    cards.nth(2).get_by_role("link", name="What is a fair rent?").first.click()
    page.locator("h1 + span .badge", has_text=badge).wait_for()
    page.locator(".notice", has_text="to go on").get_by_role("link", name="Export").wait_for()
    assert page.get_by_role("button", name="Resume").count() == (finished == "target")
    assert page.get_by_role("link", name="Take the results").count() == (finished != "target")
    managed.finished, managed.status = None, "running"  # a budget was raised
    poll_now(page)
    page.get_by_role("button", name="Pause").wait_for()
    until(page, "!document.querySelector('.notice')")


def test_answers_that_are_all_alike_are_told_of(page: Any, site: Site) -> None:
    managed = Managed(site, answers=400)
    managed.said = {"yes": 400, "no": 0}
    page.goto(f"{site.url}/manage/rents")
    warning = page.locator(".notice.warn")
    warning.wait_for()
    assert warning.inner_text() == (
        "All 400 answers so far are “yes”, so what is measured cannot be trusted yet. "
        "The true values may lie above 2,600 EUR, the end of your range."
    )
    page.get_by_text("not to be trusted: all answers are alike").wait_for()
    for said in ({"yes": 399, "no": 1}, {"yes": 29, "no": 0}):
        managed.said, managed.answers = said, managed.answers + 1
        poll_now(page)
        until(page, "!document.querySelector('.notice.warn')")


def test_a_model_that_is_made_anew_is_told_of(page: Any, site: Site) -> None:
    managed = Managed(site, answers=400)
    managed.anew = {"learnt": 120, "of": 410}
    page.goto(f"{site.url}/manage/rents")
    page.get_by_text(
        "so the model is being made anew: 120 of 410 steps. Until then predictions on this page"
    ).wait_for()
    managed.anew, managed.answers = None, 401
    poll_now(page)
    until(page, "!document.querySelector('.notice')")


def test_a_dashboard_that_has_not_changed_is_not_sent_again(page: Any, site: Site) -> None:
    managed = Managed(site, answers=400)
    marks: list[str | None] = []

    def marked(call: Any) -> Any:
        mark = f'"{managed.answers}"'
        marks.append(call.headers.get("If-None-Match"))
        return (
            Reply(304, b"", {"ETag": mark})
            if marks[-1] == mark
            else Reply(200, managed.dashboard(call), {"ETag": mark})
        )

    site.on("GET", ".*/dashboard", marked)
    page.goto(f"{site.url}/manage/rents")
    page.wait_for_selector(".chart .plot-line.main")
    eventually(lambda: len(marks) > 1, page)
    assert marks[:2] == [None, '"400"']
    assert tile(page, "Answers") == "400"
    page.get_by_label("Column of the x axis").select_option("year")  # another address, without the old mark
    page.get_by_text("year", exact=True).last.wait_for()
    managed.answers = 440
    until(page, "document.querySelector('.tile .value').textContent === '440'")


def test_predictions_that_make_no_line_are_points(page: Any, site: Site) -> None:
    managed = Managed(site, answers=400)
    whole = managed.dashboard
    rough = [[x, 500 + 400 * ((7 * x) % 11)] for x in range(60, 20, -1)]

    def look(call: Any) -> Any:
        told = whole(call)
        return {**told, "cloud": {**told["cloud"], "prediction": rough}}

    site.on("GET", ".*/dashboard", look)
    page.goto(f"{site.url}/manage/rents")
    page.locator(".chart .marks.prediction").first.wait_for(state="attached")
    assert not page.locator(".chart .plot-line.prediction").count()
    smooth = "async (p) => (await import('/static/charts/question-cloud.js')).isCurve(p)"
    assert page.evaluate(smooth, [[x, x * x] for x in range(40)])
    assert not page.evaluate(smooth, rough)


def test_rows_with_pictures_show_them(page: Any, site: Site) -> None:
    Managed(site, "class")
    root = "/api/v1/campaigns/rents/rows"
    one = {"row": [{"name": "image", "value": "a.png", "kind": "text"}], "prediction": "3", "probabilities": {"3": 1.0}}
    rows = [
        {**one, "key": "a.png", "image": f"{root}/0/image"},
        {**one, "key": "b.png", "image": "https://127.0.0.1:9/elsewhere.png"},
        {**one, "key": "c.png", "image": None},
    ]
    site.on("GET", ".*/rows", lambda call: {"total": 3, "weighed": 3, "rows": rows})
    site.on(
        "GET", f"{root}/0/image", lambda call: Reply(200, png(8, 8, lambda x, y: 9 * x), {"Content-Type": "image/png"})
    )
    page.goto(f"{site.url}/manage/rents")
    page.wait_for_selector(".thumbnail")
    assert page.locator(".thumbnail").evaluate_all("all => all.map((one) => one.getAttribute('src'))") == [
        f"{root}/0/image"
    ]
    assert page.locator(".thumbnail").get_attribute("alt") == "Picture of a.png"
    assert page.locator(".predictions tbody td").first.inner_text() == ""  # the file's name stands beside the picture


def test_predictions_of_chosen_rows(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    page.get_by_text("Rows 1 to 8 of 320").wait_for()
    page.get_by_role("button", name="More").click()
    page.get_by_text("Rows 11 to 18 of 320").wait_for()
    page.get_by_label("Order").select_option("unsure")
    page.get_by_label("Search rows").fill("flat-7")
    until(page, "document.querySelectorAll('.predictions tbody tr').length === 1")
    query = {"search": ["flat-7"], "order": ["unsure"], "first": ["10"], "skip": ["0"]}
    assert site.asked("/rows", "GET")[-1].query == query
    assert "EUR" in page.locator(".predictions tbody").inner_text()


def test_the_models_of_a_mixture_are_compared(page: Any, site: Site) -> None:
    managed = Managed(site)
    models = [{"name": "boosted trees", "share": 0.7}, {"name": "learnt with every answer", "share": 0.3}]
    site.on("GET", ".*/dashboard", lambda call: {**managed.dashboard(call), "models": models})
    page.goto(f"{site.url}/manage/rents")
    card = page.locator(".models")
    card.locator("tbody tr").first.wait_for()
    assert "“Boosted trees” leads" in card.inner_text()
    assert "70 %" in card.locator("tbody tr").first.inner_text()


def test_other_models_are_compared_when_that_is_wanted(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    card = page.locator(".comparison")
    card.get_by_role("button", name="Compare models").click()
    card.get_by_text("“Linear” would have forecast better by 0.031 bits an answer").wait_for()
    bits, error = card.locator("table").all()
    assert bits.locator("tbody tr").all_inner_texts() == [
        "This campaign's model\t0.934 ± 0.012\t–",
        "Linear\t0.903 ± 0.012\t−0.031 ± 0.0094",
        "Filters alone\t0.941 ± 0.013\t+0.0072 ± 0.0066",
    ]
    assert error.locator("th").nth(1).inner_text() == "Mean error in EUR"
    assert "+28.7 ± 10" in error.locator("tbody tr").last.inner_text()
    assert not site.asked("/comparison", "GET")[1:]


def test_a_comparison_can_be_stopped_and_may_fail(page: Any, site: Site) -> None:
    managed, go_on = Managed(site), threading.Event()
    site.on("GET", ".*/comparison", lambda call: go_on.wait(HANGS) and managed.compare(call))
    page.goto(f"{site.url}/manage/rents")
    card = page.locator(".comparison")
    card.get_by_role("button", name="Compare models").click()
    card.get_by_text("Learning the answers anew").wait_for()
    card.get_by_role("button", name="Stop").click()
    card.get_by_role("button", name="Compare models").wait_for()
    assert "Learning the answers anew" not in card.inner_text()
    assert card.locator(".notice").count() == 0
    go_on.set()
    site.on("GET", ".*/comparison", lambda call: refused(422, "too_slow", "This takes longer than 600 seconds."))
    card.get_by_role("button", name="Compare models").click()
    card.get_by_text("This takes longer than 600 seconds.").wait_for()


def test_items_of_a_chart_stand_as_they_are_predicted(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents", "order")
    points = [{"first": "tea", "second": "milk", "answer": True}]
    wins = "async ([p, i, o]) => (await import('/static/charts/question-cloud.js')).wins(p, i, o).names"
    assert page.evaluate(wins, [points, ["tea", "milk", "ale"], ["milk", "ale", "tea"]]) == ["milk", "ale", "tea"]
    assert page.evaluate(wins, [points, ["milk", "tea"], None]) == ["tea", "milk"]


def test_of_an_error_that_may_be_nothing_only_the_most_is_told(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    told = "async (one) => (await import('/static/charts/learning-curve.js')).headline(...one)"
    band = {"value": 2, "low": 0, "high": 300}
    assert page.evaluate(told, [band, "mean error", "EUR"]) == ["at most 300 EUR", "in 95 of 100 cases"]
    assert page.evaluate(told, [{**band, "low": 1}, "mean error", "EUR"]) == ["2 EUR", "1 to 300 EUR"]
    upto = {**band, "low": 1, "window": 80, "beyond": 56}
    words = "1 to 300 EUR; errors count up to 80 EUR, larger ones may add up to 56 EUR"
    assert page.evaluate(told, [upto, "mean error", "EUR"]) == ["2 EUR", words]
    share = {"value": 0.5, "low": 0, "high": 1}
    assert page.evaluate(told, [share, "share of right", ""]) == ["50 %", "0 % to 100 %"]


def test_estimates_of_the_whole_table(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    card = page.locator(".estimates")
    card.get_by_label("Estimate", exact=True).select_option("share above")
    card.get_by_label("Above").fill("900")
    card.get_by_label("By column").select_option("district")
    card.get_by_role("button", name="Estimate").click()
    until(page, "document.querySelectorAll('.estimates tbody tr').length === 2")
    assert site.asked("/estimate", "GET")[-1].query == {"what": ["share above 900"], "by": ["district"]}
    lines = card.locator("tbody tr").all_inner_texts()
    assert "58 % to 64 %" in lines[0]
    assert "too few answers" in lines[1]


def test_an_empty_campaign_says_what_comes(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents", answers=0)
    page.get_by_text("The curve begins after ten measuring questions").wait_for()
    assert tile(page, "Measured now") == "–"
    page.get_by_role("tab", name="People").click()
    page.get_by_text("Nobody has answered yet").wait_for()
    page.get_by_role("tab", name="Flags").click()
    page.get_by_text("Nothing was flagged").wait_for()


# ---- tabs ----


def test_exclude_asks_first_and_says_that_the_model_is_replayed(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents#people")
    page.get_by_role("button", name="Exclude Guest 12").click()
    dialog = page.get_by_role("dialog")
    assert "The model will be replayed without the 95 answers of Guest 12" in dialog.inner_text()
    dialog.get_by_role("button", name="Cancel").click()
    assert not site.asked("/exclude")
    page.get_by_role("button", name="Exclude Guest 12").click()
    dialog.get_by_role("button", name="Exclude and replay").click()
    page.get_by_role("button", name="Include Guest 12").wait_for()
    (call,) = site.asked("/exclude")
    assert call.path.endswith("/people/p5/exclude")
    site.on("POST", ".*/include", lambda call: refused(503, "store_unavailable", "The store is away."))
    page.get_by_role("button", name="Include Guest 12").click()
    dialog.get_by_role("button", name="Include and replay").click()
    dialog.get_by_text("The store is away.").wait_for()


def test_people_are_shown_with_what_their_answers_tell_and_paused_ones_are_brought_back(page: Any, site: Site) -> None:
    managed = managed_at(page, site, "/manage/rents#people")
    page.locator("table.people").wait_for()
    ada, guest = page.locator(".people tr", has_text="Ada"), page.locator(".people tr", has_text="Guest 12")
    told = " ".join(ada.inner_text().split())
    for words in ("0.80", "0.60 to 0.90", "yes 97 %", "no 96 %", "leans +1 %", "19 of 20", "0 of 40", "€0.05 each"):
        assert words in told
    assert "program" in page.locator(".people tr", has_text="Sofia").inner_text()
    assert "at most 0.04 bits by 95 answers; the limit is 0.2" in " ".join(guest.inner_text().split())
    assert page.get_by_role("button", name="Ask again", exact=False).count() == 1
    page.get_by_role("button", name="Ask again Guest 12").click()
    dialog = page.get_by_role("dialog")
    assert "only what they answer from here on can pause them once more" in dialog.inner_text()
    dialog.get_by_role("button", name="Ask again").click()
    page.get_by_text("Guest 12 is asked again.").wait_for()
    page.get_by_role("button", name="Ask again Guest 12").wait_for(state="detached")
    assert [call.path for call in site.asked("/resume")] == ["/api/v1/campaigns/rents/people/p5/resume"]
    managed.people = [{**one, "rates": None, "gold_asked": 0, "contradictions_of": 0} for one in managed.people]
    poll_now(page)
    page.get_by_role("columnheader", name="Known right").wait_for(state="detached")  # nobody has any


def test_a_threshold_for_pauses_is_set(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents#settings")
    page.get_by_label("Pause people below (bits)").fill("0.2")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved; it holds from the next question on.").wait_for()
    assert site.asked("/rents", "PATCH")[-1].json == {"settings": {"people": {"pause_below": 0.2}}}


def test_answers_are_looked_through_and_decided(page: Any, site: Site) -> None:
    managed = managed_at(page, site, "/manage/rents#people")
    page.locator(".people a.person").first.click()
    page.wait_for_url("**#answers?person=p0")
    table = page.locator(".answers-table")
    table.locator("tbody tr").wait_for()
    assert "Known answers met" in page.inner_text(".tiles")
    page.get_by_label("Which answers").select_option("disagreement")
    page.get_by_text("1 to 1 of 41").wait_for()
    until(page, "true")
    assert site.asked("/answers", "GET")[-1].query["which"] == ["disagreement"]
    assert site.asked("/answers", "GET")[-1].query["person"] == ["p0"]
    page.get_by_label("Which answers").select_option("undecided")
    table.get_by_role("group", name=re.compile("^Decide: ")).get_by_role("button", name="yes", exact=True).click()
    table.get_by_text("decided by a manager").wait_for()
    assert managed.ruling is True
    table.get_by_role("button", name="As people said").click()
    table.get_by_text("decided by a manager").wait_for(state="detached")
    table.get_by_role("button", name="Open row flat-7, question 3").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="no", exact=True).click()
    dialog.get_by_text("decided by a manager").wait_for()
    assert managed.ruling is False
    dialog.get_by_role("button", name="As people said").click()
    dialog.get_by_text("decided by a manager").wait_for(state="detached")
    assert [call.json for call in site.asked("/ruling")] == [{"answer": one} for one in (True, None, False, None)]
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Flags").click()
    page.get_by_role("button", name="Seen to: The picture does not load.").click()
    page.get_by_text("seen to", exact=True).wait_for()
    assert managed.resolved == {"f0"}


def test_an_invitation_is_shown_once_and_revoked(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents#invitations")
    page.get_by_label("For whom (optional)").fill("Course")
    page.get_by_label("Valid for hours").fill("24")
    page.get_by_label("For so many people").fill("")
    page.get_by_role("button", name="Make a link").click()
    assert page.get_by_role("textbox", name="Invitation link").input_value().endswith("/join#SECRET-ONCE")
    assert site.asked("/invitations")[0].json == {"title": "Course", "expires_hours": 24}
    note = page.locator(".local-note")
    assert note.inner_text().startswith("Only this computer can open this link.")
    assert "--host" in note.inner_text()
    assert "--public-url" in note.inner_text()
    page.reload()
    page.get_by_role("rowheader", name="Course").wait_for()
    assert "SECRET" not in page.content()
    page.get_by_role("button", name="Revoke the invitation Course").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    page.get_by_text("No invitation so far.").wait_for()


def test_a_link_that_others_can_open_has_no_warning(page: Any, site: Site) -> None:
    managed = Managed(site)

    def invite(call: Any) -> Any:
        made = managed.invite(call)
        return Reply(201, {**made.body, "url": "https://ask.example/join#SECRET-ONCE"})

    site.on("POST", ".*/invitations", invite)
    page.goto(f"{site.url}/manage/rents#invitations")
    page.get_by_role("button", name="Make a link").click()
    page.wait_for_selector(".qr")
    assert page.get_by_role("textbox", name="Invitation link").input_value() == "https://ask.example/join#SECRET-ONCE"
    assert not page.locator(".local-note").count()


def test_a_campaign_is_the_pattern_of_another(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    page.get_by_role("link", name="New campaign like this").first.click()
    page.wait_for_url("**/manage/new?like=rents")
    page.get_by_text("The settings of “What is a fair rent?” are taken over.").wait_for()


def test_downloads_are_plain_links(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents#export")
    page.wait_for_selector(".exports")
    root = "/api/v1/campaigns/rents/export"
    assert page.locator(".exports a").evaluate_all("nodes => nodes.map((node) => node.getAttribute('href'))") == [
        *[f"{root}/answers?format={kind}" for kind in ("csv", "jsonl", "parquet", "label-studio")],
        *[f"{root}/predictions?format={kind}" for kind in ("csv", "jsonl", "parquet")],
        f"{root}/model",
        f"{root}/log",
        f"{root}/backup",
    ]


def test_settings_of_a_running_campaign(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents#settings")
    panel = page.get_by_role("tabpanel")
    panel.get_by_role("button", name="Pause").click()
    panel.get_by_role("button", name="Resume").wait_for()
    page.get_by_text("Paused", exact=True).wait_for()
    panel.get_by_label("Answers in all").fill("4000")
    panel.get_by_label("Title").fill("Rents of 2026")
    panel.get_by_label("Questions per row").fill("3")
    panel.get_by_label("Ask a row again").select_option("Until it is known")
    panel.get_by_label("Known within (%)").fill("2")
    panel.get_by_label("Language").select_option("Deutsch")
    panel.get_by_role("button", name="Save").click()
    page.get_by_text("Saved; it holds from the next question on.").wait_for()
    panel.locator("#rows-file").set_input_files(CSV)
    page.get_by_text("250 rows added").wait_for()
    assert site.asked("/rows")[0].json == {"upload": "u-1"}
    panel.get_by_label("Address").fill("https://example.org/x")
    panel.get_by_role("button", name="Add webhook").click()
    assert panel.get_by_role("textbox", name="Secret for checking signatures").input_value() == "whs_secret"
    panel.get_by_role("button", name="Close").click()
    page.get_by_role("dialog").get_by_role("button", name="Close it").click()
    page.get_by_text("Closed", exact=True).first.wait_for()
    bodies = [call.json for call in site.calls if call.method == "PATCH"]
    ask = {"per_row": 3, "until": "known", "tolerance": 0.02}
    settings = {"title": "Rents of 2026", "ask": ask, "question": {"language": "de"}}
    change = {"budget": 4000, "settings": settings}
    assert bodies == [{"status": "paused"}, change, {"status": "closed"}]
    page.get_by_role("button", name="Delete campaign").click()
    confirm = page.get_by_role("button", name="Delete for ever")
    assert confirm.is_disabled()
    page.get_by_label("Type rents to confirm").fill("rents")
    confirm.click()
    page.wait_for_url("**/manage")


def test_no_tab_is_cut_off_on_a_narrow_phone(browser: Any, site: Site) -> None:
    page = opened(browser, phone=True)
    page.set_viewport_size({"width": 360, "height": 740})
    managed_at(page, site, "/manage/rents#settings")
    page.get_by_role("tab", name="Settings", selected=True).wait_for()
    ends = "[...document.querySelectorAll('[role=tab]')].map((one) => one.getBoundingClientRect().right)"
    assert 0 < max(page.evaluate(ends)) <= 360
    page.context.close()


def test_tabs_by_keys_and_in_the_address(page: Any, site: Site) -> None:
    managed_at(page, site, "/manage/rents")
    page.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#answers")
    page.get_by_role("tab", name="Answers", selected=True).wait_for()
    page.go_back()
    page.wait_for_selector(".chart")


# ---- the account ----


def test_account_tokens_password_and_users(page: Any, site: Site) -> None:
    managed_at(page, site, "/account")
    page.get_by_label("What it is for").fill("script")
    page.get_by_label("Answer", exact=True).check()
    page.get_by_role("button", name="Make a token").click()
    assert page.get_by_role("textbox", name="Token").input_value() == "ask1_once"
    assert site.asked("/tokens")[0].json == {"title": "script", "expires_days": 90, "scopes": ["read", "answer"]}
    page.get_by_role("button", name="Revoke nightly export").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    until(page, "!document.querySelector('dialog')")
    assert site.asked("/tokens/t1", "DELETE")
    page.get_by_label("Current password").fill("old one")
    page.get_by_label("New password", exact=True).fill("a longer sentence")
    page.get_by_label("New password again").fill("another")
    page.get_by_role("button", name="Change password").click()
    page.get_by_text("The two are not the same.").wait_for()
    page.get_by_label("New password again").fill("a longer sentence")
    page.get_by_role("button", name="Change password").click()
    page.get_by_text("Password changed").wait_for()
    assert site.asked("/me/password")[0].json == {"old": "old one", "new": "a longer sentence"}
    page.get_by_label("Role of Grace Hopper").select_option("admin")
    page.get_by_text("Grace Hopper is admin now.").wait_for()
    page.get_by_role("button", name="Delete my data").click()
    assert page.get_by_role("dialog").get_by_role("button", name="Delete my data").is_disabled()


def test_people_are_thrown_out_and_let_in(page: Any, site: Site) -> None:
    """Accounts are disabled and enabled, tokens revoked, passwords set, members removed, each after a question."""
    managed_at(page, site, "/account")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Disable: Grace Hopper").click()
    dialog.get_by_role("button", name="Disable").click()
    until(page, "!document.querySelector('dialog')")
    page.get_by_role("button", name="Enable: Guest 7").click()
    page.get_by_text("Guest 7 may sign in again.").wait_for()
    page.get_by_role("button", name="New password: Grace Hopper").click()
    dialog.get_by_label("New password").fill("a longer sentence")
    dialog.get_by_role("button", name="Set password").click()
    page.get_by_text("Grace Hopper has a new password.").wait_for()
    page.get_by_role("button", name="Revoke tokens: Grace Hopper").click()
    dialog.get_by_role("button", name="Revoke").click()
    page.get_by_text("Tokens and sessions of Grace Hopper have ended.").wait_for()
    assert [(call.path[-2:], call.json) for call in site.calls if call.method == "PATCH"] == [
        ("u2", {"disabled": True}), ("u3", {"disabled": False}), ("u2", {"password": "a longer sentence"}),
    ]  # fmt: skip
    assert site.asked("/users/u2/tokens", "DELETE")
    assert page.get_by_role("button", name="forgotten").count() == page.get_by_role("button", name="Ada").count() == 0
    page.goto(f"{site.url}/manage/rents#people")
    page.get_by_role("button", name="Remove Guest 12").click()
    assert "Whoever has an invitation link can come back" in dialog.inner_text()
    dialog.get_by_role("button", name="Remove").click()
    page.get_by_text("Guest 12 is out.").wait_for()
    assert site.asked("/members/p5", "DELETE")
    until(page, "!document.querySelector('[aria-label=\"Remove Guest 12\"]')")


def test_an_annotator_sees_no_tokens_and_no_users(page: Any, site: Site) -> None:
    Managed(site)
    site.person["user"]["role"] = "annotator"
    page.goto(f"{site.url}/account")
    page.get_by_role("heading", name="Password").wait_for()
    assert not page.get_by_text("Tokens for programs").count()
    assert not page.get_by_text("Users").count()


# ---- hostile texts, narrow screens, names for screen readers ----


def visit(page: Any, site: Site) -> Iterator[str]:
    """Every page, tab and step; yields its name while it is shown."""
    page.goto(f"{site.url}/manage")
    page.wait_for_selector(".campaign-card")
    yield "list"
    page.goto(f"{site.url}/manage/rents?made=1")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        page.locator(".tab-panel").locator(".table-scroll tbody tr, .exports, pre").first.wait_for()
        yield tab
        if tab == "people":
            page.locator(".people button").first.click()
            yield "exclude"
            page.get_by_role("button", name="Cancel").click()
    page.goto(f"{site.url}/account")
    page.wait_for_selector(".users table")
    yield "account"
    uploaded(page, site)
    for name in ("Columns", "Question", "Asking", "Create"):
        step(page, name)
        if name == "Asking":
            page.locator(".forecast > summary").click()
            page.get_by_role("button", name="Simulate").click()
            page.wait_for_selector(".chart")
        yield name


def check(page: Any, name: str) -> None:
    """Nothing of the texts became a part of the page."""
    made = "iframe, base, style, script:not([src]), img[src=x], [onload], [onerror], [onclick]"
    assert page.evaluate(f"document.querySelectorAll({made!r}).length") == 0, name
    assert "alert(1)" in page.content(), name
    assert not faults(page), name


def test_hostile_texts_stay_texts_on_a_phone_and_every_control_has_a_name(browser: Any, site: Site) -> None:
    payload = " ".join(CORPUS)
    managed = Managed(site, t=lambda text: f"{text} {payload}")
    managed.invitations = [{"id": "i", "title": payload, "expires": None, "most_uses": None, "uses": 0}]
    page = opened(browser, phone=True, dark=True)
    elsewhere: list[str] = []
    ours = re.compile(rf"{site.url}/|data:|blob:")
    page.on("request", lambda request: None if ours.match(request.url) else elsewhere.append(request.url))
    for name in visit(page, site):
        check(page, name)
        assert page.evaluate(NAMELESS) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert not elsewhere
    assert not site.reports
    page.context.close()


@pytest.mark.parametrize("kind", ["class", "order"])
def test_hostile_names_of_classes_and_items(page: Any, site: Site, kind: str) -> None:
    payload = " ".join(reversed(CORPUS))
    managed_at(page, site, "/manage/rents", kind, t=lambda text: f"{text} {payload}")
    page.locator(".chart .cell, .chart .set").first.wait_for(state="attached")
    page.locator(".predictions tbody tr, .ranking li").first.wait_for()
    check(page, kind)
    if kind == "class":
        uploaded(page, site)
        step(page, "Question")
        page.get_by_label("A class").check()
        page.locator(".preview .chip").first.wait_for()
        check(page, "preview")
