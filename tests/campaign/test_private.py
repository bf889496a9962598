"""Private campaigns: answers that arrive flipped, a ledger of what each person spent, and nothing that tells more."""

from dataclasses import replace

import pytest

from askone import privacy
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Flag, Next, Skip, Undo
from askone.campaign.engine.slips import Evidence, slip_rate
from askone.campaign.forecast import forecast
from askone.campaign.output.label_studio import take_page
from askone.campaign.settings.settings import AskSettings, Items, LearnerSettings, PrivacySettings, Settings
from askone.errors import BudgetSpent, InvalidArgument, NotPrivate
from staged import ANIMALS, DRINKS, PRICES, one, price, stage, state_of

PRIVATE = replace(PRICES, privacy=PrivacySettings(epsilon=1, budget=5))


@pytest.fixture
def campaign(store):
    return stage(store, PRIVATE)


def entries(campaign):
    return list(campaign.store.entries(campaign.name))


def answered(campaign, person, answers, start=0):
    """So many answers of a person, flipped as a page would; the last serving."""
    serving = one(campaign, Next(person), 1000.0 + start)
    for n in range(start, start + answers):
        truth = serving.question.question.answer(price(serving.question.row))
        bit = privacy.randomized(truth, 1.0)
        told = Answer(person, serving.question.lease, bit, f"{person}-{n}", 2.5, epsilon=1.0)
        serving = one(campaign, told, 1000.0 + 7.3 * n)
    return serving


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "argument"),
    [
        *[({"epsilon": bad}, "privacy.epsilon") for bad in (0, -1, float("nan"), float("inf"), 1e9, "1", True, 0.01)],
        *[({"epsilon": 1, "budget": bad}, "privacy.budget") for bad in (0, -1, 0.5, float("nan"), float("inf"))],
        ({"budget": 5}, "privacy.budget"),
        ({"mechanism": "randomized response"}, "privacy.mechanism"),
        ({"epsilon": 1, "mechanism": "none"}, "privacy.mechanism"),
        ({"epsilom": 1}, "privacy.epsilom"),
    ],
)
def test_settings_that_make_no_sense_are_refused(table, argument):
    with pytest.raises(InvalidArgument) as refused:
        Settings.from_json(PRICES.to_json() | {"privacy": table})
    assert refused.value.argument == argument


@pytest.mark.parametrize(
    ("parts", "argument"),
    [
        ({"ask": AskSettings(overlap=3)}, "ask.overlap"),
        ({"ask": AskSettings(gold_share=0.1), "rows": replace(PRICES.rows, gold="price")}, "ask.gold_share"),
        ({"learner": LearnerSettings(flip=0.49)}, "learner.flip"),
        ({"learner": LearnerSettings(learner="rls", loss="squared")}, "privacy.epsilon"),
    ],
)
def test_what_does_not_go_with_privacy_is_refused(parts, argument):
    with pytest.raises(InvalidArgument) as refused:
        replace(PRIVATE, **parts)
    assert refused.value.argument == argument


def test_the_settings_say_by_what_answers_are_made_private():
    again = Settings.from_toml(PRIVATE.to_toml())
    assert again == PRIVATE
    assert PRIVATE.to_json()["privacy"] == {"epsilon": 1.0, "budget": 5.0, "mechanism": "randomized response"}
    assert "privacy" in PRICES.to_toml(annotated=True)
    assert Settings.from_json({name: one for name, one in PRICES.to_json().items() if name != "privacy"}) == PRICES
    with pytest.raises(InvalidArgument, match=r"privacy|settings"):
        PRIVATE.changed({"privacy": {"epsilon": 3}})
    with pytest.raises(InvalidArgument, match=r"ask\.overlap"):
        PRIVATE.changed({"ask": {"overlap": 2}})


@pytest.mark.parametrize("settings", [PRICES, ANIMALS, DRINKS])
def test_the_model_reckons_with_slips_and_flips(store, settings):
    private = replace(settings, privacy=PrivacySettings(epsilon=1), learner=LearnerSettings(flip=0.1))
    campaign = stage(store, private)
    assert campaign.projection.learner.flip == pytest.approx(privacy.with_slips(1.0, 0.1))
    assert campaign.projection.flip == pytest.approx(privacy.flip_probability(1.0))


# -- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("claimed", [None, 3.0, 1.0000001])
def test_an_answer_that_claims_another_epsilon_is_refused(campaign, claimed):
    serving = one(campaign, Next("ann"))
    before = state_of(campaign), entries(campaign)
    with pytest.raises(InvalidArgument, match="epsilon must be 1, as the campaign has it"):
        one(campaign, Answer("ann", serving.question.lease, True, "a", epsilon=claimed))
    assert (state_of(campaign), entries(campaign)) == before
    assert one(campaign, Answer("ann", serving.question.lease, True, "a", epsilon=1.0)).mine == 1


def test_a_campaign_that_is_not_private_takes_no_flipped_answers(store):
    campaign = stage(store)
    serving = one(campaign, Next("ann"))
    before = state_of(campaign), entries(campaign)
    with pytest.raises(InvalidArgument, match="epsilon must be left out"):
        one(campaign, Answer("ann", serving.question.lease, True, "a", epsilon=1.0))
    assert (state_of(campaign), entries(campaign)) == before


def test_a_flipped_answer_counts_once_and_its_contrary_never(campaign):
    serving = one(campaign, Next("ann"))
    first = Answer("ann", serving.question.lease, True, "a", epsilon=1.0)
    assert one(campaign, first).mine == 1
    before = state_of(campaign), entries(campaign)
    assert one(campaign, first).duplicate
    with pytest.raises(InvalidArgument, match="id must be new"):
        one(campaign, replace(first, answer=False))
    with pytest.raises(InvalidArgument, match="epsilon"):
        one(campaign, replace(first, epsilon=2.0))
    assert (state_of(campaign), entries(campaign)) == before


def test_the_ledger_is_a_fold_of_the_log(any_store):
    campaign = stage(any_store, PRIVATE)
    assert answered(campaign, "ann", 3).state == "question"
    answered(campaign, "bob", 1, start=3)
    spent = {one["id"]: one["privacy"] for one in campaign.people()}
    assert spent["ann"] == {"epsilon": 1.0, "spent": 3.0, "budget": 5.0}
    assert spent["bob"]["spent"] == 1.0
    fresh = Campaign.open(any_store, "c", fresh=True)
    assert {one["id"]: one["privacy"] for one in fresh.people()} == spent


def test_beyond_the_budget_nothing_more_is_asked(campaign):
    last = answered(campaign, "ann", 5)
    assert (last.state, last.question, last.mine) == ("done", None, 5)
    assert one(campaign, Next("ann")).state == "done"
    assert not campaign.may_ask("ann")
    assert one(campaign, Next("bob")).state == "question"


def test_an_answer_beyond_the_budget_is_refused(campaign):
    serving = answered(campaign, "ann", 4)
    campaign.projection.people["ann"].answers = 5  # as if another tab had been quicker
    before = entries(campaign)
    with pytest.raises(BudgetSpent, match="5 are spent"):
        one(campaign, Answer("ann", serving.question.lease, True, "more", epsilon=1.0))
    assert entries(campaign) == before


@pytest.mark.parametrize(("epsilon", "budget", "answers"), [(0.1, 0.3, 3), (0.7, 2.1, 3), (1, None, None), (2, 5, 2)])
def test_a_budget_is_so_many_answers(epsilon, budget, answers):
    settings = replace(PRICES, privacy=PrivacySettings(epsilon=epsilon, budget=budget))
    assert settings.per_person == answers
    assert replace(settings, ask=AskSettings(per_person=1)).per_person == 1


# -- what would tell more -------------------------------------------------------------------------


def test_skips_flags_and_undo_are_refused(campaign):
    """Whether somebody skips, complains or takes back may depend on what is true."""
    lease = answered(campaign, "ann", 1).question.lease
    before = state_of(campaign), entries(campaign)
    for told in (Skip("ann", lease, "s"), Flag("ann", lease, "f", "odd"), Undo("ann", "u")):
        with pytest.raises(NotPrivate, match="in a private campaign"):
            one(campaign, told)
    assert (state_of(campaign), entries(campaign)) == before
    assert one(campaign, Next("ann")).undoable == 0


def test_answers_of_a_file_are_not_taken(campaign):
    with pytest.raises(NotPrivate, match="those of a file are not taken"):
        take_page(campaign, [], 1.0, {})


def test_neither_seconds_nor_the_time_between_entries_are_kept(campaign):
    answered(campaign, "ann", 5)
    said = [entry for entry in entries(campaign) if entry.who == "ann"]
    assert len(said) > 5
    assert all(entry.took is None and entry.at % 60 == 0 for entry in said)
    [person] = campaign.people()
    assert person["median_seconds"] is None
    assert person["fast"] == 0
    assert campaign.projection.active(1030.0) == 1


# -- what is measured -----------------------------------------------------------------------------


def test_slips_are_found_beside_flips():
    """200 of 1000 pairs of answers that were flipped with .1 differ where slips are .011: 2 E (1 - E) at E = .109."""
    pi = 0.1
    found = slip_rate(Evidence(splits=[(1, 1)] * 194 + [(2, 0)] * 806), flip=pi)
    assert found.low <= 0.109 <= found.high
    assert found.least >= pi
    assert slip_rate(Evidence(), flip=0.3).least == 0.3
    assert slip_rate(Evidence(), flip=0.3).rate == pytest.approx(0.3 + 0.4 * slip_rate(Evidence()).rate)
    checks = [(0.01, n % 10 == 0) for n in range(1000)]  # a yes where the model is sure of a no: flipped
    assert slip_rate(Evidence(), checks, pi).rate == pytest.approx(pi, abs=0.02)


def test_a_forecast_says_what_privacy_costs():
    ten = Settings("Letters", Items(tuple("abcdefghij")))
    found = forecast(replace(ten, privacy=PrivacySettings(epsilon=1)), None, 60)
    assert round(found.times, 1) == round(found.to_json()["times"], 1) == 4.7
    open_to_all = forecast(ten, None, 60)
    assert open_to_all.times == 1.0
    right = [sum(sum(point[1:]) for point in one.points) for one in (found, open_to_all)]
    assert right[0] < right[1]  # of pairs in the right order
