"""Several questions per row, and settings that are changed while a campaign runs: logged, and the same for all."""

from collections import Counter
from dataclasses import replace

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, ChangeSettings, Next
from askone.campaign.engine.projection_arrays import to_arrays
from askone.campaign.output._backup_checks import EntryChecks
from askone.campaign.settings.settings import AskSettings, ClassNames, LearnerSettings, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument

ROWS = 12


def make(store, tmp_path, seed=0, **ask):
    lines = [f"n{n:02},{n}" for n in range(ROWS)]
    (tmp_path / "t.csv").write_text("\n".join(["id,size", *lines]) + "\n")
    numbers = Numbers(0, 100, unit="EUR", name="price")
    rows, learner = RowSettings(key="id"), LearnerSettings(seed=seed)
    settings = Settings("Sizes", numbers, rows=rows, ask=AskSettings(**ask), learner=learner)
    create_campaign(store, "c", settings, open_table(tmp_path / "t.csv"), "", 0.0)
    return Campaign.open(store, "c")


def answer_all(campaign, people=("ann",), most=1000):
    """Everybody answers in turn until nobody is asked; return how many answers there were."""
    given, start = 0, campaign.projection.answers
    for n in range(most):
        [serving] = campaign.serve([Next(people[n % len(people)])], 10.0 * (start + n))
        if serving.question is None:
            if len(people) == 1 or n - given > 2 * len(people):
                break
            continue
        given += 1
        lease = serving.question.lease
        campaign.serve([Answer(people[n % len(people)], lease, n % 2 == 0, f"a-{start + n}")], 10.0 * (start + n) + 1)
    return given


def asked(store):
    return [entry for entry in store.entries("c") if entry.event.kind == "asked"]


def change(campaign, settings, name="m-1"):
    [done] = campaign.serve([ChangeSettings("ada", name, settings)], 1e4)
    if isinstance(done, Exception):
        raise done


def same_however_it_is_read(store, campaign):
    campaign.keep()
    kept, fresh = Campaign.open(store, "c"), Campaign.open(store, "c", fresh=True)
    found = [to_arrays(one.projection) for one in (campaign, kept, fresh)]
    for name in found[0]:
        assert found[0][name].tobytes() == found[1][name].tobytes() == found[2][name].tobytes(), name
    assert kept.settings == fresh.settings == campaign.settings


@pytest.mark.parametrize("order", ["random", "file", "auto"])
def test_rows_have_several_questions_in_rounds(store, tmp_path, order):
    campaign = make(store, tmp_path, per_row=3, order=order, exam_share=0.3)
    assert answer_all(campaign) == 3 * ROWS == campaign.goal()
    log = asked(store)
    places = [entry.aside["position"] for entry in log]
    for first in range(0, 3 * ROWS, ROWS):
        assert sorted(places[first : first + ROWS]) == list(range(ROWS))
    exams = [entry.aside.get("role") in ("exam", "check") for entry in log]
    assert any(exams[:ROWS])
    assert not any(exams[ROWS:])  # the model has learnt of these rows before
    status = campaign.status(0.0)
    assert status["finished"] == "rows"
    assert status["progress_rows"] == {"asked": 36, "rows": 36}
    same_however_it_is_read(store, campaign)


@pytest.mark.parametrize("order", ["random", "file", "auto"])
def test_rows_are_asked_again_until_they_are_known(store, tmp_path, order):
    # Of six seeds two take two to four times as many, whatever the order: twelve rows may take long to be known.
    campaign = make(store, tmp_path, seed=3, per_row=40, until="known", tolerance=0.12, order=order, exam_share=0.3)
    assert campaign.goal() == 40 * ROWS
    given = answer_all(campaign)
    assert 2 * ROWS < given < 10 * ROWS
    assert given == campaign.goal()
    status = campaign.status(0.0)
    assert status["finished"] == "rows"
    assert status["progress_rows"] == {"asked": given, "rows": given}
    left = set()
    for n, entry in enumerate(asked(store)):
        ahead = entry.aside.get("ahead") or [0, 0, "", None]
        assert n >= ROWS - 2 or not (entry.aside.get("passed") or ahead[4:])  # all of them are asked once
        assert entry.aside["position"] not in left
        left |= {*entry.aside.get("passed", ()), *(ahead[4] if ahead[4:] else ())}
    assert len(left) > ROWS - 3
    same_however_it_is_read(store, campaign)


def test_known_classes_are_left_out_and_a_backup_says_so(store, tmp_path):
    lines = [f"n{n:02},{n % 2}" for n in range(ROWS)]
    (tmp_path / "t.csv").write_text("\n".join(["id,size", *lines]) + "\n")
    ask = AskSettings(per_row=30, until="known", tolerance=0.1, exam_share=0)
    settings = Settings("Sorts", ClassNames(("even", "odd")), rows=RowSettings(key="id"), ask=ask)
    create_campaign(store, "c", settings, open_table(tmp_path / "t.csv"), "", 0.0)
    campaign = Campaign.open(store, "c")
    for n in range(30 * ROWS):
        [serving] = campaign.serve([Next("ann")], 10.0 * n)
        if serving.question is None:
            break
        truth = ("even", "odd")[serving.question.row.position % 2]
        said = serving.question.question.answer(truth)
        campaign.serve([Answer("ann", serving.question.lease, said, f"a-{n}")], 10.0 * n + 1)
    assert ROWS <= n < 6 * ROWS
    assert campaign.status(0.0)["finished"] == "rows"
    assert min(campaign.predictions(range(ROWS)), key=lambda one: one["probability"])["probability"] > 0.85
    checks = EntryChecks(settings, ROWS)
    for entry in store.entries("c"):
        checks(entry)
    wrong = next(entry for entry in asked(store) if entry.aside.get("passed") or (entry.aside.get("ahead") or [])[4:])
    with pytest.raises(InvalidArgument, match="position"):
        EntryChecks(settings, ROWS)(replace(wrong, aside={**wrong.aside, "passed": [ROWS]}))
    same_however_it_is_read(store, campaign)


def test_until_known_takes_more_than_one_question_and_is_changed_as_it_runs(store, tmp_path):
    with pytest.raises(InvalidArgument, match="ask.per_row must be more than 1 where"):
        AskSettings(until="known")
    campaign = make(store, tmp_path, per_row=3)
    answer_all(campaign, most=ROWS + 2)
    change(campaign, {"ask": {"until": "known", "tolerance": 0.5}})
    assert answer_all(campaign) < ROWS  # with that, all are known
    assert campaign.status(0.0)["finished"] == "rows"
    same_however_it_is_read(store, campaign)


def test_a_finished_campaign_goes_on_with_more_questions_per_row(store, tmp_path):
    campaign = make(store, tmp_path)
    assert answer_all(campaign) == ROWS
    assert campaign.status(0.0)["finished"] == "rows"
    change(campaign, {"ask": {"per_row": 2}})
    assert campaign.status(0.0)["finished"] is None
    assert answer_all(campaign) == ROWS
    assert set(Counter(entry.aside["position"] for entry in asked(store)).values()) == {2}
    same_however_it_is_read(store, campaign)


def test_more_people_per_question_from_here_on(store, tmp_path):
    campaign = make(store, tmp_path)
    answer_all(campaign, most=4)
    change(campaign, {"ask": {"overlap": 3}})
    answer_all(campaign, ("ann", "bob", "cid", "dan"))
    numbers = Counter(entry.event.asked for entry in store.entries("c") if entry.event.kind == "answered")
    counts = [numbers[f"ask-{n}"] for n in range(ROWS)]
    assert counts[:4] == [1] * 4
    assert counts[-6:] == [3] * 6  # one or two were set aside before
    assert campaign.projection.touched == {}
    same_however_it_is_read(store, campaign)


def test_a_title_is_written_with_its_entry(any_store, tmp_path, monkeypatch):
    campaign = make(any_store, tmp_path)

    def stopped(projection):
        raise RuntimeError("the process ends here")

    monkeypatch.setattr(campaign, "_follow", stopped)
    with pytest.raises(RuntimeError, match="ends here"):
        change(campaign, {"title": "Prices"})
    assert any_store.campaign("c").title == "Prices"
    assert Campaign.open(any_store, "c").title == "Prices"


def test_words_title_and_target_are_changed_and_logged(any_store, tmp_path):
    store = any_store
    campaign = make(store, tmp_path)
    answer_all(campaign, most=2)
    other = Campaign.open(store, "c")  # as in another process
    wording = "Would you pay {side} {threshold}?"
    change(campaign, {"title": "Prices", "question": {"wording": wording, "instructions": "*Cash*."}})
    change(campaign, {"ask": {"target": 2.5}}, "m-2")
    for one in (campaign, other, Campaign.open(store, "c")):
        one.refresh()
        assert (one.title, one.settings.title, one.settings.ask.target) == ("Prices", "Prices", 2.5)
        assert one.settings.question.instructions == "*Cash*."
        assert str(one.example()).startswith("Would you pay ")
    answer_all(campaign, most=4)
    assert str(asked(store)[-1].event.question).startswith("Would you pay ")
    [entry] = [entry for entry in store.entries("c") if entry.event.id == "m-1"]
    assert (entry.event.kind, entry.who) == ("changed", "ada")
    same_however_it_is_read(store, campaign)


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({}, "settings"),
        ({"labels": {"low": 3}}, "labels.low"),
        ({"ask": {"overlap": 0}}, "ask.overlap"),
        ({"ask": {"exam_share": 0.5}}, "ask.exam_share"),
        ({"question": {"wording": "{nothing}"}}, "question.wording"),
        ({"title": ""}, "title"),
    ],
)
def test_what_cannot_be_changed_is_named(store, tmp_path, settings, argument):
    campaign = make(store, tmp_path)
    with pytest.raises(InvalidArgument) as caught:
        change(campaign, settings)
    assert caught.value.argument == argument
    assert campaign.settings.title == "Sizes"
