"""Choosing the row: the one whose answer tells most, exactly; logged, replayed, and refused where it cannot be."""

import copy
import itertools
import json
from collections import Counter

import numpy as np
import pytest

import askone
from askone._common import random_table
from askone.checks import check_learner
from askone.errors import AlreadyAsked, IncompatibleParts, InvalidArgument
from askone.session import row_selection
from askone.session.log import Asked, Choice, event_from_json
from askone.session.oracle import Oracle
from askone.session.replay import fold
from samples import Grid, GridRegressor, small_labels, small_rows

POOL = np.linspace(-1, 1, 41)[:, None]
LABELS = 0.5 * POOL[:, 0] + 0.3 * np.random.default_rng(0).normal(size=41)
LEARNER = Grid(askone.Real(-1, 1, decimals=None))


def entropy(logs):
    return -np.sum(np.exp(logs) * logs)


def told_by(learner, state, x):
    """How far the entropy of the beliefs is expected to fall: worth, the long way round."""
    question = learner.ask(state, x, np.zeros(1))
    yes = learner.chance(state, x, question)
    after = [entropy(learner.tell(state, x, question, answer).logs) for answer in (True, False)]
    return entropy(state.logs) - yes * after[0] - (1 - yes) * after[1]


def test_the_sample_is_an_honest_learner():
    check_learner(LEARNER, POOL[:20], LABELS[:20])
    state = LEARNER.init()
    assert np.allclose(LEARNER.worth(state, POOL), [told_by(LEARNER, state, x) for x in POOL])


def test_the_row_that_tells_most_is_asked():
    model = GridRegressor(select="uncertain", random_state=0)
    for _ in range(12):
        free = [i for i in range(len(POOL)) if model._stream() is None or i not in model.stream_.keys]
        state = LEARNER.init() if model._stream() is None else model.stream_.state
        worth = {i: told_by(LEARNER, state, POOL[i]) for i in free}
        question, place = model.ask_from(POOL)
        assert place in free
        assert worth[place] == pytest.approx(max(worth.values()), rel=1e-9)
        choice = model.log_[-1].choice
        assert (choice.rule, choice.pool, choice.looked) == ("uncertain", len(free), len(free))
        assert choice.worth == pytest.approx(worth[place])
        model.tell(question, question.holds(LABELS[place]))
    assert len(model.stream_.keys) == 12


def test_fit_goes_through_the_pool_in_the_order_of_worth():
    model = GridRegressor(select="uncertain", keep_log=True, random_state=0, budget=15).fit(POOL, LABELS)
    live = GridRegressor(select="uncertain", random_state=0, budget=15)
    for _ in range(15):
        question, place = live.ask_from(POOL)
        live.tell(question, question.holds(LABELS[place]))
    assert model.log_ == live.log_
    assert model.log_[0].row in (0, 40)  # the ends tell most
    assert model.stream_.asked == 15
    assert model.budget == 15
    every = GridRegressor(select="uncertain", keep_log=True, random_state=0).fit(POOL, LABELS)
    assert sorted(event.row for event in every.log_ if isinstance(event, Asked)) == list(range(41))


def test_of_a_large_pool_a_random_part_is_looked_at():
    rows = np.random.default_rng(1).uniform(-1, 1, size=(1000, 1))
    model = GridRegressor(select="uncertain", random_state=3)
    question, place = model.ask_from(rows)
    stream = model.stream_
    looked = row_selection.sampled(
        random_table.uniforms(stream.seed, 0, 1, row_selection.CANDIDATES, random_table.POOL)[0], 1000
    )
    assert place == looked[np.argmax(LEARNER.worth(LEARNER.init(), rows[looked]))]
    choice = model.log_[0].choice
    # One row's sums may be taken in another order than those of two hundred rows.
    alone = LEARNER.worth(LEARNER.init(), rows[place : place + 1])[0]
    assert choice == Choice("uncertain", 1000, 200, choice.worth)
    assert choice.worth == pytest.approx(alone, rel=1e-12)
    again = GridRegressor(select="uncertain", random_state=3).ask_from(rows)
    assert again == (question, place)


def test_all_sets_of_candidates_are_equally_likely():
    """Floyd's way on every cell of the uniforms: 3 x 4 x 5 cells, 10 sets of 3 out of 5, six times each."""
    cells = [(np.arange(k) + 0.5) / k for k in (3, 4, 5)]
    counts = Counter(tuple(row_selection.sampled(np.array(u), 5).tolist()) for u in itertools.product(*cells))
    assert set(counts.values()) == {6}
    assert len(counts) == 10


def test_a_log_with_choices_is_replayed():
    model = GridRegressor(select="uncertain", keep_log=True, random_state=0, budget=20).fit(
        POOL, Oracle(LABELS, skip=0.2, seed=1)
    )
    events = [event_from_json(json.loads(json.dumps(event.to_json(), allow_nan=False))) for event in model.log_]
    assert events == model.log_
    assert all(event.choice is not None for event in events if isinstance(event, Asked))
    replayed = fold(LEARNER, POOL, events)
    assert np.array_equal(replayed.logs, model.stream_.state.logs)
    assert replayed.count == model.stream_.answered < 20


def test_an_event_without_a_choice_reads_as_ever():
    event = Asked("a", "row", askone.HalfSpace((1.0,), 3.0), 4)
    assert "choice" not in event.to_json()
    assert event_from_json(event.to_json()) == event


def test_without_a_rule_rows_come_in_order():
    model = GridRegressor(random_state=0)
    assert [model.ask_from(POOL)[1] for _ in range(3)] == [0, 1, 2]
    assert all(event.choice is None for event in model.log_)
    ranker = askone.OneBitRanker(["tea", "milk"], random_state=0)
    assert [ranker.ask_from(POOL)[1] for _ in range(2)] == [0, 1]


def test_keys_name_the_rows_of_a_pool_that_changes():
    model = GridRegressor(select="uncertain", random_state=0)
    names = [f"row {i}" for i in range(41)]
    _, place = model.ask_from(POOL, keys=names)
    rest = [i for i in range(41) if i != place]
    model.ask_from(POOL[rest], keys=[names[i] for i in rest])
    for _ in range(39):
        model.ask_from(POOL, keys=np.array(names))
    assert model.stream_.keys == set(names)
    with pytest.raises(AlreadyAsked, match="every row of the pool"):
        model.ask_from(POOL, keys=names)
    by_place = GridRegressor(select="uncertain", random_state=0)
    by_place.ask_from(POOL)
    with pytest.raises(InvalidArgument, match="keys must be given where the pool changes"):
        by_place.ask_from(POOL[::-1] * 0.9)
    with pytest.raises(InvalidArgument, match="keys must be 41 different keys"):
        by_place.ask_from(POOL, keys=["a"] * 41)
    assert by_place.stream_.asked == 1


def test_rows_that_may_be_asked_again_are_not_while_they_are_open():
    model = GridRegressor(select="uncertain", resample=True, random_state=0).start(POOL)
    first, place = model.ask_from(POOL[:2])
    _, other = model.ask_from(POOL[:2])
    assert {place, other} == {0, 1}
    with pytest.raises(AlreadyAsked):
        model.ask_from(POOL[:2])
    model.tell(first, True)
    assert model.ask_from(POOL[:2])[1] == place
    often = GridRegressor(select="uncertain", resample=True, keep_log=True, budget=9, random_state=0)
    often.fit(POOL[:2], LABELS[:2])
    assert often.stream_.asked == 9


def test_learners_that_cannot_tell_are_refused_by_name():
    X, y = small_rows(), small_labels(1)[:, 0]
    with pytest.raises(
        IncompatibleParts, match="select must be one of: None \\(SGDLearner does not forecast answers\\)"
    ):
        askone.OneBitRegressor(-2, 2, learner="sgd", select="uncertain", random_state=0).fit(X, y)
    model = askone.OneBitClassifier(["a", "b"], learner="sgd", select="uncertain", random_state=0).start(X)
    with pytest.raises(IncompatibleParts, match="Surrogate does not forecast"):
        model.ask_from(X)
    several = askone.OneBitRegressor(-2, 2, learner="bisection", select="uncertain", random_state=0)
    with pytest.raises(IncompatibleParts, match="asks several questions about a row"):
        several.fit(X, y)
    with pytest.raises(InvalidArgument, match="select must be one of: 'uncertain'"):
        askone.OneBitRegressor(-2, 2, select="best").fit(X, y)


def test_a_copy_keeps_a_log_of_its_own():
    model = GridRegressor(random_state=0)
    model.ask_from(POOL)
    twin = copy.deepcopy(model)
    twin.ask_from(POOL)
    assert (len(model.log_), len(twin.log_)) == (1, 2)
    assert (len(model.rows_), len(twin.rows_)) == (1, 2)


def test_rows_that_are_known_are_passed_over():
    X = np.linspace(0, 1, 5)[:, None]
    model = askone.OneBitRegressor(-1, 1, learner=askone.Bisection(precision=0.6), random_state=0).start(X)
    places = []
    while any(model.wants(x, key) for key, x in enumerate(X)):
        question, place = model.ask_from(X)
        model.tell(question, True)
        places.append(place)
    assert set(places) == set(range(5))
    with pytest.raises(AlreadyAsked):
        model.ask_from(X)


def test_the_best_of_several_is_one_question_of_a_log():
    poll = askone.OneBitRanker(list("abcd"), random_state=0)
    best = poll.ask_best(k=3)
    poll.tell(best, best.items[0])
    again = poll.refit(askone.OneBitRanker(list("abcd"), random_state=0))
    assert again.stream_.asked == poll.stream_.asked == 1
    assert str(again.ask()) == str(poll.ask())


def test_the_best_of_several_is_refused_where_it_cannot_be_learnt():
    with pytest.raises(IncompatibleParts, match="questions"):
        askone.OneBitRanker(list("abc"), learner=askone.RecursiveLeastSquares(questions="full")).ask_best()
