"""Made-up people answer at the rates that they have, alike for the same seed; simulations are told who answered."""

import numpy as np
import pytest

import askone
from askone import people
from askone.errors import InvalidArgument
from askone.people import Behaviour, SimulatedCrowd, as_people
from askone.session.log import Answered

ONE_OF_EACH = [kind() for kind in people.KINDS.values()]


@pytest.mark.parametrize("habits", [*ONE_OF_EACH, people.tired(after=500), people.spammer(0.9)], ids=str)
@pytest.mark.parametrize("truth", [True, False])
def test_rates_are_what_they_say(habits, truth):
    n = 2000
    crowd = SimulatedCrowd({"ann": habits}, seed=3)
    yes = sum(crowd.say(row, truth)[1] for row in range(n))
    chances = np.array([habits.rates(k) for k in range(n)])
    chances = 1 - chances[:, 1] if truth else chances[:, 0]
    assert abs(yes - chances.sum()) <= 5 * np.sqrt((chances * (1 - chances)).sum())
    [ann] = crowd.people()
    assert ann.answers == n
    assert (ann.sensitivity if truth else 1 - ann.specificity) == pytest.approx(chances.mean())


def test_swapped_keys_are_put_right_again():
    crowd = SimulatedCrowd([people.swapped(answers=20, first=10, error=0.0)])
    assert [crowd.say(row, True)[1] for row in range(40)] == [True] * 10 + [False] * 20 + [True] * 10


def test_people_come_by_lot_and_the_same_seed_has_the_same_answers():
    first, same, other = (SimulatedCrowd("3 careful, 1 spammer", seed) for seed in (0, 0, 1))
    said = [[crowd.say(row, row % 2 == 0) for row in range(400)] for crowd in (first, same, other)]
    assert said[0] == said[1] != said[2]
    answers = np.array([one.answers for one in first.people()])
    assert answers.sum() == 400
    assert (np.abs(answers - 100) <= 5 * np.sqrt(400 * 0.25 * 0.75)).all()


def test_who_errs_does_not_depend_on_the_company():
    alone, together = SimulatedCrowd({"eve": "spammer"}), SimulatedCrowd({"eve": "spammer", "ann": "careful"})
    mine = [alone.say(row, True)[1] for row in range(200)]
    theirs = [bit for who, bit in (together.say(row, True) for row in range(200)) if who == "eve"]
    assert theirs == mine[: len(theirs)]


def test_colluding_people_make_the_same_slips_and_so_overrule_others():
    crowd = SimulatedCrowd({"ann": "careful", "bob": people.colluding(0.3), "cid": people.colluding(0.3)}, overlap=3)
    majority = [crowd.say(row, True) for row in range(300)]
    assert {who for who, _ in majority} == {None}
    wrong = sum(bit is False for _, bit in majority)
    assert abs(wrong - 90) <= 5 * np.sqrt(300 * 0.3 * 0.7)  # three strangers would be wrong in 11 % of cases


def test_a_tie_is_no_answer():
    crowd = SimulatedCrowd({"ann": people.careful(0.0), "eve": people.spammer(0.0)}, overlap=2)
    assert crowd.say(0, True) == (None, None)
    assert crowd.say(1, False) == (None, False)


@pytest.mark.parametrize(
    "given",
    [
        "", "4 carefull", "four careful", "0 careful", "2000 careful", "careful, ", "1 sloppy 1.5", "1 tired 0", [], {},
        [0.1], {"": "careful"}, {"ann": "lazy"}, 5,
    ],
)  # fmt: skip
def test_bad_people(given):
    with pytest.raises(InvalidArgument, match="peo|person"):
        as_people(given)


def test_a_refusal_names_the_kinds():
    kinds = "careful, sloppy, yes-sayer, spammer, swapped, tired, colluding; got '1 lazy'"
    with pytest.raises(InvalidArgument, match=kinds):
        as_people("3 careful, 1 lazy")
    with pytest.raises(InvalidArgument, match="at least 3"):
        SimulatedCrowd("2 careful", overlap=3)


@pytest.mark.parametrize("bad", [{"yes": -0.1}, {"no": 1.1}, {"swapped": (-1, 3)}, {"tires": 0}])
def test_bad_behaviour(bad):
    with pytest.raises(InvalidArgument):
        Behaviour("odd", **bad)


@pytest.fixture(scope="module")
def sine():
    X = np.random.default_rng(0).uniform(-1, 1, size=(500, 1))
    return X, np.sin(4 * X[:, 0])


CROWD = {"ann": "careful", "bob": "careful", "eve": "spammer"}


def test_fit_is_told_who_answers(sine):
    model = askone.OneBitRegressor(-2, 2, random_state=0).fit(*sine, people=CROWD)
    found = model.people_
    assert sum(one.answers for one in found.values()) == model.stream_.answered == 500
    assert found["eve"].bits < 0.2 < min(found["ann"].bits, found["bob"].bits)


def test_nothing_is_known_of_somebody_alone_nor_of_whoever_is_new(sine):
    model = askone.OneBitRegressor(-2, 2, random_state=0).start(sine[0])
    for row, label in zip(sine[0][:20], sine[1], strict=False):
        question = model.ask(row)
        model.tell(question, question.holds(label), person="ann")
    alone = model.people_["ann"]
    assert (alone.known, alone.sensitivity, alone.specificity, alone.bits, alone.yes_bias) == (False, *4 * [None])
    assert alone.sensitivity_interval == alone.specificity_interval == alone.bits_interval == (0.0, 1.0)
    learner, state = model.stream_.learner, model.stream_.state
    state = learner.tell_by(state, sine[0][20], question, True, "bob")
    assert not any(one.known for one in learner.people(state))
    assert all(one.known for one in learner.people_now(state))


def test_fit_from_a_pool_is_told_who_answers(sine):
    model = askone.OneBitRegressor(-2, 2, random_state=0, select="auto", budget=20)
    found = model.fit(sine[0][:40], sine[1][:40], people=CROWD).people_
    assert sum(one.answers for one in found.values()) == 20


def test_question_by_question_and_at_once_is_the_same(sine):
    logged, quick = (
        askone.OneBitRegressor(-2, 2, random_state=0, keep_log=keep).fit(*sine, people=CROWD) for keep in (True, False)
    )
    assert (logged.predict(sine[0]) == quick.predict(sine[0])).all()
    assert logged.people_ == quick.people_
    assert {event.person for event in logged.log_ if isinstance(event, Answered)} == set(CROWD)


def test_classes_orders_and_learners_that_ask_again(sine):
    X, y = sine
    classes = askone.OneBitClassifier(["low", "high"], random_state=0)
    classes.fit(X[:200], np.where(y[:200] > 0, "high", "low"), people="2 careful, 1 spammer")
    assert len(classes.people_) == 3
    items = askone.OneBitRanker(["a", "b", "c"], random_state=0).fit(X[:60], [["c", "a", "b"]] * 60, people="2 careful")
    assert sum(one.answers for one in items.people_.values()) == 60
    again = askone.OneBitRegressor(-2, 2, learner="bisection", random_state=0, budget=100)
    assert again.fit(X, y, people="2 careful").people_ == {}  # it does not know people


def test_simulate_with_people_keeps_what_they_said(sine):
    X, y = sine
    model = askone.OneBitRegressor(-2, 2, random_state=0).start(X)
    crowd = SimulatedCrowd({"eve": people.spammer(1.0)})
    found = askone.simulate(model.stream_.learner, X[:20], askone.Oracle(y), people=crowd, keep=True)
    assert [block.answers.tolist() for block in found.blocks] == [[1]] * 20
    assert crowd.people()[0].answers == 20


def test_people_answer_bits_alone(sine):
    with pytest.raises(InvalidArgument, match="people must be None"):
        askone.OneBitRegressor(-2, 2, learner=askone.SGD(questions="full"), random_state=0).fit(*sine, people=CROWD)
