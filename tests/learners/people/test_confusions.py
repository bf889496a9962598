"""Who takes which class for which, found from yes and no."""

import numpy as np
import pytest

import askone
from askone.errors import InvalidArgument
from askone.learners.people.confusions import confusions_of, with_confusions
from askone.learners.people.habits import KnownHabits
from askone.learners.people.rates import rates_of
from askone.people import aggregate
from askone.questions.base import ErrorRates
from askone.questions.subset import Subset

SWAPS = np.array([[0.95, 0.03, 0.02], [0.05, 0.35, 0.6], [0.02, 0.03, 0.95]])  # the second is taken for the third


def answered(n, seed, matrices, coins=None):
    """n answers of people by confusion matrices, or by rates: places, bits, sets, labels."""
    rng = np.random.default_rng(seed)
    places, y = rng.integers(len(matrices), size=n), rng.integers(3, size=n)
    inside = rng.permuted(np.tile([1.0, 0.0, 0.0], (n, 1)), axis=1)
    said = np.array([rng.choice(3, p=matrices[a][t]) for a, t in zip(places, y, strict=True)])
    bits = inside[np.arange(n), said] > 0
    if coins is not None:
        u = rng.uniform(size=n)
        bits = np.where(u < coins[0], True, np.where(u < sum(coins), False, inside[np.arange(n), y] > 0))
    return places, bits, inside, y


def test_a_swap_is_found():
    """Standard errors of a row's entries are below sqrt(.25 / 300): four of them, and the prior's pull."""
    places, bits, inside, y = answered(3000, 0, [SWAPS, np.eye(3)])
    found = confusions_of(places, bits, inside, np.eye(3)[y] * 0.97 + 0.01, 2).matrices
    assert found[0] == pytest.approx(SWAPS, abs=0.13)
    assert found[1] == pytest.approx(np.eye(3), abs=0.08)


@pytest.mark.parametrize("coins", [None, (0.3, 0.1)])
def test_whichever_foretells_better_has_the_weight(coins):
    places, bits, inside, y = answered(2000, 1, [SWAPS] * 4, coins)
    believed = np.eye(3)[y] * 0.97 + 0.01
    rates = rates_of(places, bits, (believed * inside).sum(axis=1), 4)
    weights = with_confusions(rates, places, bits, inside, believed).habits.weights
    assert len(weights) == 5
    assert (weights[:-1] > 0.9).all() if coins is None else (weights[:-1] < 0.1).all()
    assert (weights[-1] > 0.8) == (coins is None)  # of whoever comes: the mean of four, with a prior of two


def test_a_question_is_put_as_both_say_by_weight():
    habits = KnownHabits(np.array([[0.2, 0.1]]), np.array([SWAPS, np.eye(3)]), np.array([0.75, 0.5]))
    question, inside = Subset(("ant",)), np.array([1.0, 0.0, 0.0])
    put = habits.put(question, inside, 0, 0.0)
    assert put.slips == ErrorRates(0.2, 0.1)
    assert put.heard(inside, True) == pytest.approx(0.75 * SWAPS[:, 0] + 0.25 * np.array([0.9, 0.2, 0.2]))
    assert put.heard(inside, False) == pytest.approx(1.0 - put.heard(inside, True))
    later = KnownHabits(np.array([[0.2, 0.1], [0.0, 0.0]]), habits.matrices, habits.weights).put(question, inside, 1, 0)
    assert later.heard(inside, True) == pytest.approx(inside)  # who came later is as the crowd
    assert "confused" not in put.to_json()


@pytest.mark.parametrize("name", ["rates", "weights", "matrices"])
def test_what_strangers_send_is_checked(name):
    fit = KnownHabits(np.full((1, 2), 0.1), np.array([SWAPS, SWAPS]), np.full(2, 0.5))._asdict()
    KnownHabits.of_fit(fit)
    with pytest.raises(InvalidArgument, match=name):
        KnownHabits.of_fit(fit | {name: fit[name] + 2.0})
    with pytest.raises(InvalidArgument, match=name):
        KnownHabits.of_fit(fit | {name: fit[name][0]})


def test_classes_of_people_who_swap_are_learnt_by_their_names():
    """Three of four take half of the bees for cows; whoever is told their names can see it."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 2)) + np.array([[2, 0], [-2, 1], [-2, -1]])[np.arange(600) % 3]
    y, names, right = np.arange(600) % 3, np.array(["ant", "bee", "cow"]), []
    crowd = [np.eye(3), SWAPS]
    for named in (True, False):
        model = askone.OneBitClassifier(names.tolist(), random_state=0, keep_log=False, resample=True).start(X)
        lots = np.random.default_rng(6)
        for i in lots.permutation(600):
            person = int(lots.integers(2))
            question = model.ask(X[i], key=int(i)) if named else model.ask(X[i])
            said = names[lots.choice(3, p=crowd[person][y[i]])]
            model.tell(question, question.holds(said), **({"person": f"p{person}"} if named else {}))
        right.append((model.predict(X) == names[y]).mean())
    assert right[0] > right[1] + 0.02


def test_a_crowd_together_is_better_than_its_majority():
    rng = np.random.default_rng(7)
    truth, rates = rng.uniform(size=400) < 0.3, [0.05, 0.1, 0.4, 0.45, 0.5, 0.5, 0.5]
    said = np.array([[t ^ (rng.uniform() < e) for e in rates] for t in truth])
    found = aggregate(np.repeat(np.arange(400), 7).tolist(), [f"p{k}" for k in range(7)] * 400, said.ravel().tolist())
    right = np.mean([(found.chances[n] > 0.5) == t for n, t in enumerate(truth)])
    majority = ((said.mean(axis=1) > 0.5) == truth).mean()
    # Whoever knew the rates would be right in 95 of 100: three standard errors of that.
    assert right > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400) > majority
    assert found.people["p0"].bits > 0.5 > 0.1 > found.people["p6"].bits
    for n, rate in enumerate(rates[:4]):
        assert found.people[f"p{n}"].specificity == pytest.approx(1 - rate, abs=4 * np.sqrt(0.25 / 280) + 0.02)


@pytest.mark.parametrize(
    ("items", "people", "answers", "argument"),
    [([1], ["ann"], [], "answers"), ([], [], [], "items"), ([1], [""], [True], "person"), ([1], ["a"], [2], "answers")],
)
def test_what_cannot_be_put_together_is_refused(items, people, answers, argument):
    with pytest.raises(InvalidArgument, match=argument):
        aggregate(items, people, answers)
