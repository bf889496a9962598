"""Models compared by a campaign's stored answers: the same as ``askone.compare``, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.engine import model_builder
from askone.campaign.kinds.base import ExamPlan
from askone.campaign.kinds.number_exam import laplace, number_exam
from askone.campaign.output import comparison
from askone.campaign.output.comparison import OWN, ComparedModel, compare_models
from askone.campaign.settings.settings import LearnerSettings
from askone.estimators.comparison import compare
from askone.labels.losses import Median
from askone.labels.number import Real
from askone.learners.exams import PURPOSE, scores, tells_risk
from askone.session.log import Answered, Asked
from askone.store.entries import Row
from askone.store.open import open_store
from staged import ANIMALS, DRINKS, PRICES, asking, begun, play, price, stage

LEARNERS = {"sgd": LearnerSettings(learner="sgd")}


@pytest.fixture(scope="module")
def store():
    with open_store("memory:") as opened:
        yield opened


@pytest.fixture(scope="module")
def prices(store):
    campaign = stage(store, asking(PRICES, exams="mean", exam_share=0.6), rows=120, name="prices")
    play(campaign, ["ann"], price, 90)
    return campaign


def kind(row):
    return ("cat", "owl")[row.content["size"] > 0]


def with_context(store, settings, name, answers):
    """A campaign of orders whose rows differ."""
    X = np.random.default_rng(3).normal(size=(90, 2)).astype(np.float32)
    rows = [Row(i, f"r{i}", {}, x, None) for i, x in enumerate(X)]
    campaign = begun(store, settings, rows, model_builder.make_estimator(settings, X), name)
    play(campaign, ["ann"], lambda row: list(DRINKS.labels.items), answers)
    return campaign


def by_measure(found):
    return {measure: [one.name for one in found.models if one.measure == measure] for measure in measures(found)}


def measures(found):
    return dict.fromkeys(one.measure for one in found.models)


def test_bits_are_those_of_compare(prices):
    """What the library's comparison of the log's own events says, where no forecast is surer than is believed."""
    store, learner = prices.store, prices.projection.learner
    events = [entry.event for entry in store.entries("prices") if isinstance(entry.event, Asked | Answered)]
    asked = {event.id: prices.projection.asked[event.question.number] for event in events if isinstance(event, Asked)}
    log = [
        Asked(event.id, asked[event.id].position, event.question.of_row(asked[event.id].position), 0)
        if isinstance(event, Asked)
        else replace(event, person="ann")
        for event in events
    ]
    rows = dict(enumerate(store.features("prices", range(120)).astype(float)))
    [judged] = compare(log, rows, {OWN: learner}).losses.values()
    own = compare_models(prices).models[0]
    assert (own.name, own.answers, own.difference, own.unit) == (OWN, 90, 0.0, "")
    assert own.value == pytest.approx(np.minimum(judged, -np.log2(0.01)).mean(), abs=1e-12)


def test_numbers_are_compared_with_parts_of_the_default(prices):
    found = compare_models(prices)
    assert by_measure(found)["bits per answer"][0] == OWN
    assert set(by_measure(found)["bits per answer"]) == {OWN, "Filters alone", "Linear"}
    assert by_measure(found)["mean error"] == [OWN, "Stochastic gradients"]
    own, slopes = found.models[-2:]
    assert (own.unit, own.answers >= comparison.FEWEST, own.difference) == ("EUR", True, 0.0)
    assert slopes.difference == pytest.approx(slopes.value - own.value)
    assert found.answers == 90
    assert compare_models(prices).to_json() == found.to_json()  # and the campaign is as it was
    assert Campaign.open(prices.store, "prices").projection.seq == prices.projection.seq


def test_exams_from_the_whole_range_tell_the_error_of_any_model():
    """The mean of the scores over all draws is the distance, wherever the campaign's own model stood."""
    space, plan, n = Real(0, 100), ExamPlan(aim="mean"), 4000
    for f, g, y in ((30.0, 60.0, 50.0), (80.0, 5.0, 10.0)):
        found = []
        for u in (np.arange(n) + 0.5) / n:
            question = number_exam(space, f, laplace(f, 8.0), plan, u, 0).question
            marked = comparison.whole_range(space, question)
            found.append(50.0 * scores(space, Median(), [[g]], marked, question.holds(y))[0])
        assert np.mean(found) == pytest.approx(abs(g - y), abs=5 * np.std(found) / np.sqrt(n) + 0.02)
        assert (marked.purpose, tells_risk(marked), tells_risk(question)) == (PURPOSE, True, False)


def test_classes_and_orders(store):
    animals = stage(store, ANIMALS, rows=60, name="animals")
    play(animals, ["ann"], kind, 40)
    assert set(by_measure(compare_models(animals))["bits per answer"]) == {OWN, "Likelihood alone", "Linear"}
    orders = with_context(store, asking(DRINKS, exam_share=0.9), "orders", 45)
    assert by_measure(compare_models(orders)) == {"bits per answer": [OWN, "Without context"]}


def test_a_model_that_does_not_forecast_is_compared_by_its_error(store):
    slopes = replace(asking(DRINKS, exam_share=0.9), learner=LEARNERS["sgd"])
    found = compare_models(with_context(store, slopes, "slopes", 45))
    assert by_measure(found) == {"share wrong": [OWN, *sorted_rest(found)]}
    assert set(sorted_rest(found)) == {"The default", "Without context"}
    numbers = stage(store, replace(PRICES, learner=LEARNERS["sgd"]), rows=60, name="steps")
    play(numbers, ["ann"], price, 40)
    assert compare_models(numbers).verdict.startswith("This campaign's model does not forecast answers")


def sorted_rest(found):
    return [one.name for one in sorted(found.models[1:], key=lambda one: one.value)]


def test_opinions_that_come_late_are_learnt_and_not_forecast(store):
    campaign = stage(store, asking(ANIMALS, overlap=3), rows=60, name="three")
    play(campaign, ["ann", "bob", "cid"], kind, 120)
    projection = campaign.projection
    assert len(projection.lessons.steps) > len(projection.lessons.all) >= comparison.FEWEST
    assert {one.answers for one in compare_models(campaign).models} == {len(projection.lessons.all)}


def test_what_cannot_be_compared_is_said(store):
    few = stage(store, PRICES, name="few")
    play(few, ["ann"], price, 5)
    assert compare_models(few).verdict == "There are too few answers to compare models: 5 of 30."
    alone = stage(store, DRINKS, name="alone")
    play(alone, ["ann"], lambda row: list(DRINKS.labels.items), 31)
    assert compare_models(alone).to_json() == {
        "answers": 31, "models": [], "verdict": "There is no other model to compare with.",
    }  # fmt: skip


def test_only_the_first_answers_are_learnt_anew(prices):
    found = compare_models(prices, 40)
    assert {one.answers for one in found.models if one.unit == ""} == {40}
    assert found.answers == 90


def model(name, difference, error, measure="bits per answer", unit=""):
    return ComparedModel(name, measure, unit, 200, 0.9 + difference, 0.02, difference, error)


@pytest.mark.parametrize(
    ("models", "verdict"),
    [
        ([model("Linear", 0.03, 0.01)], "No other model would have forecast these answers better."),
        ([model("Linear", 0.0, 0.0)], "No other model would have forecast these answers better."),
        (
            [model("Linear", -0.031, 0.01), model("Trees", -0.05, 0.03)],
            "“Linear” would have forecast better by 0.031 bits an answer (3.1 standard errors).",
        ),
        (
            [model("Linear", -0.012, 0.01)],
            "No other model is clearly better: the nearest is “Linear”, ahead by 0.012 bits an answer "
            "(1.2 standard errors), which may be chance.",
        ),
        (
            [model("Linear", -12345.6, 1000.0, "mean error", "EUR")],
            "“Linear” would have erred less by 12,000 EUR (12.3 standard errors).",
        ),
        (
            [model("Linear", -0.05, 0.01, "share wrong")],
            "“Linear” would have erred less by a share of 0.05 (5.0 standard errors).",
        ),
    ],
)
def test_the_verdict_in_a_sentence(models, verdict):
    assert comparison.verdict((model(OWN, 0.0, 0.0), *models)) == verdict
