from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.errors import (
    AlreadyAnswered,
    AlreadyAsked,
    AskoneError,
    BudgetSpent,
    InvalidAnswer,
    InvalidArgument,
    UnknownQuestion,
)
from askone.labels.number import Real
from askone.learners.range_search import Calibrated
from askone.learners.sgd.sgd import SGDLearner
from askone.questions.half_space import HalfSpace
from askone.session.budget import Budget
from askone.session.checkpoints import learnt
from askone.session.log import Asked, Retracted, event_from_json
from askone.session.replay import fold
from askone.session.stream import Stream
from samples import models, small_rows

LEARNER = SGDLearner(Real([-2, -2], 2), models()["nystroem"])
X = small_rows()


def snapshot(stream):
    arrays = {k: v.copy() for k, v in stream.learner.to_arrays(stream.state).items()}
    return arrays, stream.asked, stream.open, None if stream.budget is None else stream.budget.spent


def unchanged(before, stream):
    after = snapshot(stream)
    return before[1:] == after[1:] and all(np.array_equal(before[0][k], after[0][k]) for k in before[0])


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (AlreadyAsked, lambda s, q: s.ask(X[0], "a")),
        (AlreadyAsked, lambda s, q: s.ask_many(X[:2], ["new", "new"])),
        (AlreadyAsked, lambda s, q: s.ask_many(X[:2], ["new", "a"])),
        (BudgetSpent, lambda s, q: s.ask_many(X[:5])),
        (InvalidArgument, lambda s, q: s.ask([np.nan, 0.0])),
        (InvalidArgument, lambda s, q: s.ask([0.0])),
        (InvalidArgument, lambda s, q: s.ask_many(X[:2], ["one key"])),
        (InvalidArgument, lambda s, q: s.ask_many(X[:2], "ab")),
        (InvalidArgument, lambda s, q: s.ask(X[0], ["k"])),
        (InvalidArgument, lambda s, q: s.ask(X[0], 1.5)),
        (InvalidArgument, lambda s, q: s.ask(X[0], "~7")),
        (InvalidAnswer, lambda s, q: s.tell(q, 1)),
        (InvalidAnswer, lambda s, q: s.tell(q, None)),
        (InvalidAnswer, lambda s, q: s.tell(q, "yes")),
        (UnknownQuestion, lambda s, q: s.tell(99, True)),
        (UnknownQuestion, lambda s, q: s.tell(-1, True)),
        (UnknownQuestion, lambda s, q: s.tell("a", True)),
        (UnknownQuestion, lambda s, q: s.tell(True, True)),
        (UnknownQuestion, lambda s, q: s.tell(HalfSpace((1.0, 0.0), 0.0), True)),
        (UnknownQuestion, lambda s, q: s.tell(HalfSpace((1.0, 0.0), 0.0, number=0), True)),
        (AlreadyAnswered, lambda s, q: s.tell(1, True)),
        (AlreadyAnswered, lambda s, q: s.skip(1)),
        (AlreadyAnswered, lambda s, q: s.tell(2, True)),
    ],
)
def test_a_wrong_call_raises_and_changes_nothing(error, call):
    stream = Stream(LEARNER, seed=1, budget=Budget(5))
    question = stream.ask(X[0], "a")
    stream.tell(stream.ask(X[1], "b"), True)
    stream.skip(stream.ask(X[2], "c"))
    before = snapshot(stream)
    with pytest.raises(error):
        call(stream, question)
    assert unchanged(before, stream)
    assert isinstance(error(*(["x"] * 3)), AskoneError)


def test_a_row_that_the_caller_reuses():
    x, stream = X[0].copy(), Stream(LEARNER, seed=1)
    question = stream.ask(x)
    x[:] = np.nan
    stream.tell(question, True)
    other = Stream(LEARNER, seed=1)
    other.tell(other.ask(X[0]), True)
    assert np.array_equal(stream.predict(X), other.predict(X))


def test_a_number_is_enough_to_tell():
    streams = [Stream(LEARNER, seed=1) for _ in range(2)]
    question, _ = (stream.ask(X[0]) for stream in streams)
    streams[0].tell(question, True)
    streams[1].tell(question.number, True)
    assert np.array_equal(streams[0].predict(X), streams[1].predict(X))


def test_without_keys_every_call_is_a_new_row_and_resampling_allows_repeats():
    stream = Stream(LEARNER)
    assert [stream.ask(X[0]).number for _ in range(3)] == [0, 1, 2]
    again = Stream(LEARNER, resample=True)
    assert [again.ask(X[0], "a").number for _ in range(3)] == [0, 1, 2]


def test_a_budget_is_shared():
    purse = Budget(3)
    one, two = Stream(LEARNER, budget=purse), Stream(LEARNER, budget=purse)
    one.ask_many(X[:2])
    two.ask(X[0])
    assert purse.left == 0
    with pytest.raises(BudgetSpent, match="1 more question.* wanted, 0 of 3 left"):
        one.ask(X[3])


@pytest.mark.parametrize("questions", [0, -1, 1.5, True, "many"])
def test_bad_budgets(questions):
    with pytest.raises(InvalidArgument, match="budget must be a whole number from 1"):
        Budget(questions)


steps = st.lists(
    st.tuples(st.sampled_from(["ask", "batch", "tell", "skip", "retract"]), st.integers(0, 30), st.booleans()),
    max_size=40,
)


@given(steps=steps, gone=st.sets(st.integers(0, 10)))
def test_live_is_the_fold_of_the_log(steps, gone):
    """Any interleaving of asks, late answers, skips and answers taken back: replaying the log gives the state."""
    log, standing = [], {}
    stream = Stream(LEARNER, seed=2, log=log.append)
    rows = {}
    for action, pick, answer in steps:
        if action == "ask":
            rows[f"~{stream.asked}"] = X[pick]
            stream.ask(X[pick])
        elif action == "batch":
            rows |= {f"~{stream.asked + i}": X[i] for i in range(3)}
            stream.ask_many(X[:3])
        elif action == "retract" and standing:
            number = sorted(standing)[pick % len(standing)]
            stream.retract(number)
            del standing[number]
        elif action != "retract" and stream.open:
            number = stream.open[pick % len(stream.open)]
            stream.tell(number, answer) if action == "tell" else stream.skip(number)
            if action == "tell":
                standing[number] = log[-1].id
    read_back = [event_from_json(event.to_json()) for event in log]
    assert read_back == log
    folded = fold(LEARNER, rows, read_back)
    assert all(np.array_equal(LEARNER.to_arrays(folded)[k], v) for k, v in LEARNER.to_arrays(stream.state).items())
    assert stream.answered == len(standing)
    answers = list(standing.values())
    taken_back = [Retracted(f"r{i}", answers[i]) for i in gone if i < len(answers)]
    without = fold(LEARNER, rows, log + taken_back)
    assert LEARNER.count(without) == len(answers) - len(taken_back)


@pytest.mark.parametrize(
    ("error", "question", "message"),
    [
        (InvalidArgument, 0, "question must be one whose answer was told to this stream; got 0, which is open"),
        (InvalidArgument, 2, "which was skipped"),
        (UnknownQuestion, 99, "never asked"),
        (UnknownQuestion, HalfSpace((1.0, 0.0), 0.0, number=1), "not with these words"),
    ],
)
def test_only_answers_can_be_taken_back(error, question, message):
    stream = Stream(LEARNER, seed=1, budget=Budget(5))
    stream.ask_many(X[:3])
    stream.tell(1, True)
    stream.skip(2)
    before = snapshot(stream)
    with pytest.raises(error, match=message):
        stream.retract(question)
    assert unchanged(before, stream)
    stream.retract(1)
    assert stream.answered == 0
    assert stream.open == [0, 1]
    assert stream.budget.left == 2  # it was asked and stays counted
    with pytest.raises(InvalidArgument, match="which is open"):
        stream.retract(1)


@pytest.mark.parametrize(("room", "states", "cost"), [(256 << 20, 25, 2), (1, 2, 100)])
def test_to_take_back_an_answer_costs_about_twice_what_came_after_it(monkeypatch, room, states, cost):
    """Where there is no room for checkpoints it costs more, and the state is the same."""
    monkeypatch.setattr("askone.session.checkpoints._ROOM", room)
    for back in (1, 5, 30):
        log, rows = [], {}
        stream = Stream(LEARNER, seed=2, log=log.append, rows=rows)
        for i in range(100):
            stream.tell(stream.ask(X[i % len(X)]), i % 3 == 0)
        assert len(stream._fold._states) <= states
        learn = MagicMock(wraps=learnt)
        with monkeypatch.context() as patch:
            patch.setattr("askone.session.checkpoints.learnt", learn)
            stream.retract(100 - back)
        assert back - 1 <= learn.call_count <= cost * back + 8
        folded = LEARNER.to_arrays(fold(LEARNER, rows, log))
        assert all(np.array_equal(folded[k], v) for k, v in LEARNER.to_arrays(stream.state).items())


def test_to_set_a_state_begins_a_new_history():
    stream, other = Stream(LEARNER, seed=1), Stream(LEARNER, seed=1)
    for one in (stream, other):
        one.tell(one.ask(X[0]), True)
    stream.state = other.state
    with pytest.raises(InvalidArgument, match="no history"):
        stream.retract(0)
    stream.tell(stream.ask(X[1]), True)
    stream.retract(1)
    assert np.array_equal(stream.predict(X), other.predict(X))


def test_a_stream_without_history_takes_nothing_back():
    stream = Stream(LEARNER, history=False)
    stream.tell(stream.ask(X[0]), True)
    with pytest.raises(InvalidArgument, match="no history"):
        stream.retract(0)
    assert stream.answered == 1


def test_history_begins_with_the_state_that_was_given():
    first = Stream(LEARNER, seed=1)
    first.tell(first.ask(X[0]), True)
    second = Stream(LEARNER, seed=1, state=first.state, asked=1)
    second.tell(second.ask(X[1]), True)
    second.retract(1)
    assert np.array_equal(second.predict(X), first.predict(X))
    with pytest.raises(InvalidArgument, match="no history"):
        second.retract(0)


def test_a_range_that_later_answers_need_is_not_taken_back():
    learner = Calibrated(SGDLearner(Real(), models()["nystroem"]), questions=4, at_most=4)
    stream = Stream(learner, seed=1)
    for x in X[:6]:
        question = stream.ask(x)
        stream.tell(question, question.holds(0.3))
    before = snapshot(stream)
    with pytest.raises(InvalidArgument, match="without which all later answers can be learnt; got 2"):
        stream.retract(2)
    assert unchanged(before, stream)
    stream.retract(5)
    stream.retract(4)
    stream.retract(2)
    assert stream.answered == 3


def test_the_log_says_how_far_the_asker_had_learnt():
    log = []
    stream = Stream(LEARNER, log=log.append)
    stream.tell(stream.ask(X[0]), True)
    stream.ask(X[1])
    assert [event.learnt for event in log if isinstance(event, Asked)] == [0, 1]


def test_text_and_number_keys_stay_apart_in_the_log():
    log = []
    stream = Stream(LEARNER, log=log.append)
    stream.ask(X[0], 7)
    stream.ask(X[1], "7")
    stream.ask(X[2])
    assert [event.row for event in log] == [7, "7", "~2"]


def test_what_the_log_does_not_take_has_not_happened():
    class Full(Exception):
        pass

    taken = []

    def log(event):
        if len(taken) == 3:
            raise Full
        taken.append(event)

    stream = Stream(LEARNER, budget=Budget(10), log=log)
    first, _ = stream.ask_many(X[:2], ["a", "b"])
    stream.tell(first, True)
    before = snapshot(stream)
    asks = (lambda: stream.ask(X[2], "c"), lambda: stream.tell(1, True), lambda: stream.skip(1))
    for call in (*asks, lambda: stream.retract(0)):
        with pytest.raises(Full):
            call()
        assert unchanged(before, stream)
    assert "c" not in stream.keys


@pytest.mark.parametrize(
    ("options", "argument"),
    [({"budget": 2.5}, "budget"), ({"log": []}, "log"), ({"seed": -1}, "seed"), ({"seed": 2**64}, "seed"),
     ({"resample": "yes"}, "resample"), ({"history": 1}, "history")],
)  # fmt: skip
def test_bad_streams(options, argument):
    with pytest.raises(InvalidArgument) as caught:
        Stream(LEARNER, **options)
    assert caught.value.argument == argument
    with pytest.raises(InvalidArgument, match="learner must be a Learner"):
        Stream("learner")
