"""What people who answer are told, and what they are not."""

import json
import re

import pytest

from answered import answer, make
from askone.campaign.campaign import Campaign
from askone.campaign.settings.settings import AskSettings, ClassNames, Numbers, QuestionSettings, RowSettings, Settings
from askone.labels.wording import USUAL
from askone.server._campaign_service import CampaignService
from askone.server.guidelines import parts, picture_names
from askone.store.open import open_store
from sites import code, ok, shades

API = "/api/v1/campaigns"


@pytest.fixture
def site(alone):
    return alone


def test_what_another_process_wrote_is_counted(tmp_path):
    mine, theirs = (open_store(str(tmp_path / "s.db")) for _ in range(2))
    make(mine)
    service = CampaignService(Campaign.open(mine, "c"))
    assert service.brief("ann").mine == 0
    answer(Campaign.open(theirs, "c"), 6)
    assert service.brief("ann").mine == 3
    mine.close()
    theirs.close()


@pytest.mark.parametrize("text", ["**a " * 800 + "b** " * 800, "*a _b " * 700 + "c_ d* " * 700, "> " * 90 + "a"])
def test_guidelines_in_which_nothing_ends_are_texts(text):
    """Deep down there are no tags any more, but every word."""
    tree = parts(text)
    words = "".join(filter(str.isalpha, json.dumps(tree)))
    assert words.count("b") >= text.count("b")

    def depth(one):
        return 1 + max(map(depth, one["children"]), default=0) if isinstance(one, dict) and "children" in one else 0

    assert max(map(depth, tree)) <= 51


def test_of_very_many_pictures_the_first_are_shown():
    assert len(picture_names(" ".join(f"![p](p{n}.png)" for n in range(3000)))) == 100


def asked(site, client, campaign, count):
    """The texts and questions that somebody gets who answers so many."""
    found, shown = [], client.post(f"{API}/{campaign}/next", json={})
    for n in range(count):
        question = ok(shown)["question"]
        if question is None:
            break
        found.append((shown.text, question))
        body = {"lease": question["lease"], "answer": n % 2 == 0, "id": f"{campaign}-{n}"}
        shown = client.post(f"{API}/{campaign}/answers", json=body)
    return found


def test_gold_cannot_be_told_by_where_its_row_stands(site):
    """The first rows of a file have labels, as is usual, and the others come in the file's order."""
    lines = [f"n{n:03},{(n * 37) % 101},{n if n < 20 else ''}" for n in range(60)]
    rows, ask = RowSettings(key="id", gold="known"), AskSettings(gold_share=0.4, order="file")
    settings = Settings("Sizes", Numbers(0, 100), rows=rows, ask=ask)
    site.campaign("sizes", settings, ["id,size,known", *lines], "annotator")
    found = asked(site, site.session("annotator"), "sizes", 30)
    log = [entry for entry in site.store.entries("sizes") if entry.event.kind == "asked"]
    assert sum(entry.aside.get("role") == "gold" for entry in log) > 5
    for text, question in found:
        assert set(question["row"]) == {"fields", "image"}
        assert [cell["name"] for cell in question["row"]["fields"]] == ["size"]
        assert not re.search(r'\bn0\d\d\b|"position"|"key"', text)  # as a word: names of leases are random letters


def test_a_picture_is_for_whoever_holds_its_question(site, tmp_path):
    folder = shades(tmp_path / "pictures", 8)
    site.campaign("digits", Settings("Digits", ClassNames(("1", "2"))), folder, "annotator", "stranger")
    one, two, manager = (site.session(person) for person in ("annotator", "stranger", "manager"))
    first = ok(one.post(f"{API}/digits/next", json={}))
    now, ahead = (first["question"]["row"]["image"], first["ahead"]["yes"]["row"]["image"])
    assert first["ahead"]["no"]["row"]["image"] == ahead != now
    pictures = [one.get(address) for address in (now, ahead)]
    assert [picture.status_code for picture in pictures] == [200, 200]
    assert not re.search(r"p\d\.png|/rows/", str(first))
    for client in (two, manager):  # a manager who wants to see it knows its row
        ok(client.post(f"{API}/digits/next", json={}))
        assert {code(client.get(address), 404) for address in (now, ahead)} == {"not_found"}
    for n in range(8):
        assert code(one.get(f"{API}/digits/rows/{n}/image"), 403) == "forbidden"
        assert manager.get(f"{API}/digits/rows/{n}/image").status_code == 200
    body = {"lease": first["question"]["lease"], "answer": True, "id": "p1"}
    second = ok(one.post(f"{API}/digits/answers", json=body))["question"]
    assert second["row"]["image"] == ahead
    assert one.get(ahead).content == pictures[1].content
    assert code(one.get(now), 404) == "not_found"
    again = ok(one.post(f"{API}/digits/undo", json={"id": "p2"}))["question"]
    assert one.get(again["row"]["image"]).content == pictures[0].content


def test_guidelines_show_pictures_of_rows_to_whoever_answers(site, tmp_path):
    folder = shades(tmp_path / "pictures", 4)
    question = QuestionSettings(instructions="*Dark* ones: ![dark](p2.png), ![gone](no.png)")
    site.campaign("digits", Settings("Digits", ClassNames(("1", "2")), question=question), folder, "annotator")
    one = site.session("annotator")
    told = ok(one.get(f"{API}/digits/brief"))
    (paragraph,) = told["guidelines"]
    picture = f"{API}/digits/examples/2/image"
    assert {"tag": "img", "src": picture, "alt": "dark"} in paragraph["children"]
    assert one.get(picture).status_code == 200
    assert code(one.get(f"{API}/digits/examples/1/image"), 404) == "not_found"
    assert (told["goal"], told["total"], told["given"], told["practice"]) == (None, 4, 0, [])


def test_a_training_round_has_rows_that_measure_nobody(site):
    lines = [f"n{n:03},{n},{n if n < 6 else ''}" for n in range(40)]
    ask = AskSettings(gold_share=0.5, training=3)
    settings = Settings("Sizes", Numbers(0, 100), rows=RowSettings(key="id", gold="known"), ask=ask)
    site.campaign("sizes", settings, ["id,size,known", *lines], "annotator")
    one = site.session("annotator")
    practice = ok(one.get(f"{API}/sizes/brief"))["practice"]
    shown = [(float(task["question"]["row"]["fields"][0]["value"]), task) for task in practice]
    assert [size for size, _ in shown] == [0.0, 1.0, 2.0]
    for size, task in shown:
        threshold = task["question"]["threshold"]
        above = size > float(threshold["shown"])
        assert task["answer"] == (above == (threshold["side"] == "above"))
    asked(site, one, "sizes", 30)
    log = [entry for entry in site.store.entries("sizes") if entry.event.kind == "asked"]
    assert {entry.aside["position"] for entry in log if entry.aside.get("role") == "gold"} == {3, 4, 5}
    assert not {0, 1, 2} & {entry.aside["position"] for entry in log}
    assert ok(one.get(f"{API}/sizes/brief"))["practice"] == []


def test_an_invitation_says_what_it_leads_to(site):
    invitation = ok(site.session("other").post(f"{API}/prices/invitations", json={}), 201)
    guest, secret = site.client(), invitation["link"].partition("#")[2]
    told = ok(guest.post("/api/v1/invited", json={"invitation": secret}))
    assert told["title"] == site.store.campaign("prices").title
    assert told["hosts"] == ["other"]
    assert told["example"].endswith("?")
    assert told["question"]["sentence"] == told["example"]
    assert told["language"] == "auto"
    assert code(guest.post("/api/v1/invited", json={"invitation": "wrong"}), 401) == "wrong_invitation"
    uses = [one["uses"] for one in ok(site.session("other").get(f"{API}/prices/invitations"))]
    assert uses == [0]


def test_a_campaign_changes_its_language_and_not_its_log(site):
    manager, one = site.session("other"), site.session("stranger")
    ok(manager.patch(f"{API}/prices", json={"settings": {"question": {"language": "ar"}}}))
    assert ok(one.get(f"{API}/prices/brief"))["language"] == "ar"
    asked = ok(one.post(f"{API}/prices/next", json={}))["question"]
    assert asked["template"] in USUAL.values()
    assert asked["sentence"].startswith("Is the")
    [changed] = [entry for entry in site.store.entries("prices") if entry.event.kind == "changed"]
    assert changed.event.settings == {"question": {"language": "ar"}}
