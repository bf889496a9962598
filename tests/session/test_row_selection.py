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
    model, rules = GridRegressor(select="auto", random_state=0), []
    for _ in range(12):
        free = [i for i in range(len(POOL)) if model._stream() is None or i not in model.stream_.keys]
        state = LEARNER.init() if model._stream() is None else model.stream_.state
        worth = {i: told_by(LEARNER, state, POOL[i]) for i in free}
        question, place = model.ask_from(POOL)
        assert place in free
        choice = model.log_[-1].choice
        assert (choice.pool, choice.looked, choice.share) == (len(free), len(free), row_selection.BY_LOT)
        rules.append(choice.rule)
        if choice.rule == "auto":
            assert worth[place] == pytest.approx(max(worth.values()), rel=1e-9)
            assert choice.worth == pytest.approx(worth[place])
        model.tell(question, question.holds(LABELS[place]))
    assert len(model.stream_.keys) == 12
    assert Counter(rules)["auto"] > 6


def test_fit_goes_through_the_pool_in_the_order_of_worth():
    model = GridRegressor(select="auto", keep_log=True, random_state=0, budget=15).fit(POOL, LABELS)
    live = GridRegressor(select="auto", random_state=0, budget=15)
    for _ in range(15):
        question, place = live.ask_from(POOL)
        live.tell(question, question.holds(LABELS[place]))
    assert model.log_ == live.log_
    assert {0, 40} & {event.row for event in model.log_[:6:2]}  # the ends tell most
    assert model.stream_.asked == 15
    assert model.budget == 15
    every = GridRegressor(select="auto", keep_log=True, random_state=0).fit(POOL, LABELS)
    assert sorted(event.row for event in every.log_ if isinstance(event, Asked)) == list(range(41))


def test_of_a_large_pool_a_random_part_is_looked_at():
    rows = np.random.default_rng(1).uniform(-1, 1, size=(1000, 1))
    model = GridRegressor(select="auto", random_state=1)
    question, place = model.ask_from(rows)
    stream = model.stream_
    looked = row_selection.sampled(
        random_table.uniforms(stream.seed, 0, 1, row_selection.CANDIDATES + 1, random_table.POOL)[0, 1:], 1000
    )
    assert place == looked[np.argmax(LEARNER.worth(LEARNER.init(), rows[looked]))]
    choice = model.log_[0].choice
    # One row's sums may be taken in another order than those of many rows.
    alone = LEARNER.worth(LEARNER.init(), rows[place : place + 1])[0]
    assert choice == Choice("auto", 1000, 150, choice.worth, 0.2)
    assert choice.worth == pytest.approx(alone, rel=1e-12)
    again = GridRegressor(select="auto", random_state=1).ask_from(rows)
    assert again == (question, place)


def test_all_sets_of_candidates_are_equally_likely():
    """Floyd's way on every cell of the uniforms: 3 x 4 x 5 cells, 10 sets of 3 out of 5, six times each."""
    cells = [(np.arange(k) + 0.5) / k for k in (3, 4, 5)]
    counts = Counter(tuple(row_selection.sampled(np.array(u), 5).tolist()) for u in itertools.product(*cells))
    assert set(counts.values()) == {6}
    assert len(counts) == 10


def test_a_log_with_choices_is_replayed():
    model = GridRegressor(select="auto", keep_log=True, random_state=0, budget=20).fit(
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


def test_rows_of_a_stream_come_in_order():
    model = GridRegressor(select="stream", random_state=0)
    assert [model.ask_from(POOL)[1] for _ in range(3)] == [0, 1, 2]
    assert all(event.choice is None for event in model.log_)
    ranker = askone.OneBitRanker(["tea", "milk"], select="stream", random_state=0)
    assert [ranker.ask_from(POOL)[1] for _ in range(2)] == [0, 1]


def test_keys_name_the_rows_of_a_pool_that_changes():
    model = GridRegressor(select="auto", random_state=0)
    names = [f"row {i}" for i in range(41)]
    _, place = model.ask_from(POOL, keys=names)
    rest = [i for i in range(41) if i != place]
    model.ask_from(POOL[rest], keys=[names[i] for i in rest])
    for _ in range(39):
        model.ask_from(POOL, keys=np.array(names))
    assert model.stream_.keys == set(names)
    with pytest.raises(AlreadyAsked, match="every row of the pool"):
        model.ask_from(POOL, keys=names)
    by_place = GridRegressor(select="auto", random_state=0)
    by_place.ask_from(POOL)
    with pytest.raises(InvalidArgument, match="keys must be given where the pool changes"):
        by_place.ask_from(POOL[::-1] * 0.9)
    with pytest.raises(InvalidArgument, match="keys must be 41 different keys"):
        by_place.ask_from(POOL, keys=["a"] * 41)
    assert by_place.stream_.asked == 1


def test_rows_that_may_be_asked_again_are_not_while_they_are_open():
    model = GridRegressor(select="auto", resample=True, random_state=0).start(POOL)
    first, place = model.ask_from(POOL[:2])
    _, other = model.ask_from(POOL[:2])
    assert {place, other} == {0, 1}
    with pytest.raises(AlreadyAsked):
        model.ask_from(POOL[:2])
    model.tell(first, True)
    assert model.ask_from(POOL[:2])[1] == place
    often = GridRegressor(select="auto", resample=True, keep_log=True, budget=9, random_state=0)
    often.fit(POOL[:2], LABELS[:2])
    assert often.stream_.asked == 9


def test_learners_that_cannot_tell_are_refused_by_name():
    X, y = small_rows(), small_labels(1)[:, 0]
    with pytest.raises(
        IncompatibleParts, match="select must be one of: None, 'stream' \\(SGDLearner does not forecast answers\\)"
    ):
        askone.OneBitRegressor(-2, 2, learner="sgd", select="auto", random_state=0).fit(X, y)
    model = askone.OneBitClassifier(["a", "b"], learner="sgd", select="auto", random_state=0).start(X)
    with pytest.raises(IncompatibleParts, match="Surrogate does not forecast"):
        model.ask_from(X)
    several = askone.OneBitRegressor(-2, 2, learner="bisection", select="auto", random_state=0)
    with pytest.raises(IncompatibleParts, match="asks several questions about a row"):
        several.fit(X, y)
    with pytest.raises(InvalidArgument, match="select must be one of: 'auto', 'stream'"):
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


def test_without_a_rule_a_learner_that_cannot_tell_takes_rows_in_order():
    X = small_rows()
    model = askone.OneBitRegressor(-2, 2, learner="sgd", random_state=0).start(X)
    assert [model.ask_from(X)[1] for _ in range(3)] == [0, 1, 2]
    assert GridRegressor(random_state=0).ask_from(POOL) == GridRegressor(select="auto", random_state=0).ask_from(POOL)


def test_neighbours_of_rows_that_wait_are_left_for_later():
    """Fifty copies of the best row, moved a little: at one state the second question is about another place."""
    rows = np.concatenate([np.full((50, 1), 0.9), np.linspace(-0.8, 0.5, 100)[:, None]])
    rows[:, 0] += 1e-4 * np.arange(150)
    candidates = row_selection.Candidates(LEARNER, LEARNER.init(), rows)
    alone, _ = row_selection.best(candidates, np.empty((0, 1)), 150, 0.5)
    beside, _ = row_selection.best(candidates, rows[alone : alone + 1], 150, 0.5)
    assert rows[alone, 0] > 0.9
    assert rows[beside, 0] < 0.9


def test_a_row_by_lot_is_as_likely_as_any_other():
    """Every cell of the lot: each of eight candidates has its eighth of the share, exactly."""
    rows = np.linspace(-1, 1, 8)[:, None]
    lots = (np.arange(80) + 0.5) / 80 * row_selection.BY_LOT
    candidates = row_selection.Candidates(LEARNER, LEARNER.init(), rows)
    picked = [row_selection.best(candidates, np.empty((0, 1)), 8, lot) for lot in lots]
    assert Counter(at for at, _ in picked) == dict.fromkeys(range(8), 10)
    assert {choice.rule for _, choice in picked} == {"random"}


def test_of_candidates_that_are_kept_only_free_ones_are_asked():
    rows = np.linspace(-1, 1, 8)[:, None]
    candidates, free = row_selection.Candidates(LEARNER, LEARNER.init(), rows), np.arange(8) % 2 == 1
    picked = [row_selection.best(candidates, np.empty((0, 1)), 4, lot, free) for lot in np.linspace(0.01, 0.99, 50)]
    assert {at for at, choice in picked if choice.rule == "random"} == {1, 3, 5, 7}
    assert {at for at, choice in picked if choice.rule == "auto"} == {7}
    assert {choice.looked for _, choice in picked} == {4}


def test_whoever_is_spared_gets_the_row_that_is_worth_least():
    rows = np.linspace(-1, 1, 9)[:, None]
    candidates, nobody = row_selection.Candidates(LEARNER, LEARNER.init(), rows), np.empty((0, 1))
    free = np.arange(9) != 4
    for lot in np.linspace(row_selection.BY_LOT, 0.99, 20):
        at, choice = row_selection.best(candidates, nobody, 8, lot, free, spared=True)
        assert candidates.worth[at] == candidates.worth[free].min() == choice.worth
        assert (choice.rule, choice.looked) == ("least", 8)
    lots = np.linspace(0.0, row_selection.BY_LOT - 0.01, 20)
    same = [[row_selection.best(candidates, nobody, 8, lot, free, spared) for lot in lots] for spared in (True, False)]
    assert same[0] == same[1]
