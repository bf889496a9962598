"""State is a fold over the log: for every learner, with all that was logged taken through JSON."""

import json

import pytest

from askone import OneBitRegressor, Ranking, Stream
from askone.learners.abilities import wants
from askone.learners.gradients.ranking import RANK_LOSSES, RANK_PAIRS, rank_strategy
from askone.learners.sgd.surrogate import Surrogate
from askone.session import replay
from askone.session.log import event_from_json
from askone.session.oracle import Oracle
from askone.session.replay import fold
from learner_samples import BY_GRADIENTS, BY_LIKELIHOOD, REPEATED
from samples import any_labels, models, same, small_labels, small_rows

ITEMS = ("tea", "coffee", "milk", "water")
MODEL = models()["linear"]
FOR_ORDERS = {
    f"orders: {loss} {family}": Surrogate(rank_strategy(Ranking(ITEMS), RANK_LOSSES[loss](), family), MODEL)
    for loss, family in RANK_PAIRS
}
ALL = BY_GRADIENTS | REPEATED | FOR_ORDERS | {f"likelihood: {name}": one for name, one in BY_LIKELIHOOD.items()}


@pytest.mark.parametrize("learner", ALL.values(), ids=ALL)
def test_the_log_is_the_only_truth(learner):
    X, log = small_rows(24), []
    oracle = Oracle(any_labels(learner, 24), resample=True)
    stream = Stream(learner, seed=4, resample=True, log=log.append)
    waiting = []
    for i in (*range(24), *range(0, 24, 2)):  # half of the rows come again; answers come late and out of order
        if not wants(learner, stream.state, X[i], None):
            continue
        waiting.append((i, stream.ask(X[i], key=i)))
        if len(waiting) == 3:
            for row, question in waiting[::-1]:
                stream.tell(question, oracle.respond(row, question))
            waiting = []
    events = [event_from_json(json.loads(json.dumps(event.to_json(), allow_nan=False))) for event in log]
    replayed = fold(learner, dict(enumerate(X)), events)
    assert same(learner, stream.state, replayed)
    assert learner.count(replayed) == learner.count(stream.state) > 20


@pytest.mark.parametrize("learner", ALL.values(), ids=ALL)
def test_an_answer_taken_back_was_never_given(learner):
    X, log, n, gone = small_rows(12), [], 12, (7, 2, 11)
    oracle = Oracle(any_labels(learner, n), resample=True)
    stream, other = Stream(learner, seed=4, log=log.append), Stream(learner, seed=4)
    questions, _ = (one.ask_many(X, keys=range(n)) for one in (stream, other))
    answers = [oracle.respond(i, question) for i, question in enumerate(questions)]
    for i in range(n):
        stream.tell(i, answers[i])
        if i not in gone:
            other.tell(i, answers[i])

    def folded():
        events = [event_from_json(json.loads(json.dumps(event.to_json(), allow_nan=False))) for event in log]
        return fold(learner, dict(enumerate(X)), events)

    for i in gone:
        stream.retract(questions[i])
        assert same(learner, stream.state, folded())
    assert same(learner, stream.state, other.state)
    assert sorted(stream.open) == sorted(other.open) == sorted(gone)
    for i in gone:  # answered anew, as if late
        stream.tell(questions[i], answers[i])
        other.tell(i, answers[i])
    assert same(learner, stream.state, folded())
    assert same(learner, stream.state, other.state)
    stream.retract(7)
    stream.tell(7, answers[7])
    assert [e.id for e in log if e.kind == "answered"][-4:] == ["answer-7+1", "answer-2+1", "answer-11+1", "answer-7+2"]
    assert len({event.id for event in log}) == len(log)
    assert same(learner, stream.state, folded())


@pytest.mark.parametrize("known", [(-2, 2), ()], ids=["range", "no range"])
def test_a_log_is_learnt_in_blocks_of_any_size(known, monkeypatch):
    """Bit for bit: in blocks it takes a fraction of the time."""
    X, log = small_rows(90), []
    learner = OneBitRegressor(*known, random_state=0).start(X).stream_.learner
    stream, oracle = Stream(learner, seed=1, log=log.append), Oracle(small_labels(1, 90))
    for i, x in enumerate(X):
        question = stream.ask(x, key=i)
        stream.tell(question, oracle.respond(i, question))
        if i in (20, 70):
            stream.retract(question)
    states = []
    for size in (1, 7, 512):
        monkeypatch.setattr(replay, "_BLOCK", size)
        states.append(fold(learner, dict(enumerate(X)), log))
    assert learner.count(states[0]) == 88
    assert all(same(learner, states[0], one) for one in (stream.state, *states[1:]))
