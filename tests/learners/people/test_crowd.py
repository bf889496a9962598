"""People who err: each is believed as far as they are right, and a careful crowd costs nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest

import askone
from askone.checks import check_learner
from askone.errors import InvalidArgument
from askone.learners import abilities
from askone.learners.people import _state
from askone.learners.people.crowd import CrowdLearner
from askone.learners.people.habits import KnownHabits
from askone.questions.base import HONEST, ErrorRates
from learner_samples import NAMES, five
from samples import reloaded, small_labels, small_rows

CROWD = {"ann": (0.02, 0.02), "bob": (0.02, 0.02), "cid": (0.02, 0.02), "dee": (0.15, 0.15), "eve": (0.5, 0.5)}


def told(model, X, y, seed, named=True, crowd=CROWD):
    """The model after one answer about each row, by somebody drawn from the crowd."""
    rng, people = np.random.default_rng(seed), list(crowd)
    for x, label in zip(X, y, strict=True):
        question = model.ask(x)
        who = people[rng.integers(len(people))]
        u, (yes, no) = rng.uniform(), crowd[who]
        answer = True if u < yes else False if u < yes + no else bool(question.holds(label))
        model.tell(question, answer, person=who if named else None)
    return model


def sine(seed, n=1000):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 1))
    return X, np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=n)


def regressor(X, seed):
    return askone.OneBitRegressor(-1.5, 1.5, random_state=seed, keep_log=False).start(X)


def error(model):
    grid = np.linspace(-1, 1, 200)[:, None]
    return float(np.abs(model.predict(grid) - np.sin(4 * grid[:, 0])).mean())


@pytest.fixture(scope="module")
def crowded():
    """Regressors that were told who answered, and the same that were not."""
    runs = [(sine(seed), seed) for seed in range(4)]
    return [[told(regressor(X, seed), X, y, seed, named) for named in (True, False)] for (X, y), seed in runs]


def test_who_answers_at_random_is_found(crowded):
    for model, _ in crowded:
        people = model.people_
        assert set(people) == set(CROWD)
        assert sum(one.answers for one in people.values()) == 1000
    rates = {who: np.mean([1 - model.people_[who].specificity for model, _ in crowded]) for who in CROWD}
    assert rates["eve"] > 0.25
    assert max(rates[who] for who in ("ann", "bob", "cid")) < 0.08
    bits = {who: np.mean([model.people_[who].bits for model, _ in crowded]) for who in CROWD}
    assert bits["eve"] < 0.4 < bits["ann"]


def test_answers_of_somebody_at_random_cost_less_where_they_are_known(crowded):
    with_people, without = (np.mean([error(pair[k]) for pair in crowded]) for k in (0, 1))
    assert with_people < 0.9 * without


@pytest.mark.parametrize("kind", ["number", "classes", "order"])
def test_crowds_keep_the_contract(kind):
    X = small_rows()
    if kind == "order":
        orders = [["a", "b", "c"] if x[0] > 0 else ["c", "b", "a"] for x in X]
        check_learner(askone.OneBitRanker(["a", "b", "c"], random_state=0).start(X).stream_.learner, X, orders)
    elif kind == "classes":
        check_learner(askone.OneBitClassifier(NAMES, random_state=0).start(X).stream_.learner, X, five(40)[1])
    else:
        check_learner(askone.OneBitRegressor(-2, 2, random_state=0).start(X).stream_.learner, X, small_labels(1))


def test_one_person_is_learnt_from_as_if_nobody_were_named():
    X, y = sine(7, 300)
    one, nobody = (told(regressor(X, 7), X, y, 7, named, {"ann": (0.02, 0.02)}) for named in (True, False))
    assert np.array_equal(one.predict(X), nobody.predict(X))
    assert [*one.people_] == ["ann"]
    assert nobody.people_ == {}


@pytest.mark.parametrize("kind", ["number", "classes", "order"])
def test_a_log_teaches_the_same_and_a_model_is_saved_whole(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(260, 3))
    if kind == "number":
        model, y = askone.OneBitRegressor(-6, 6, random_state=0), X[:, 0] + np.abs(X[:, 1])
    elif kind == "classes":
        model, y = askone.OneBitClassifier(list("abc"), random_state=0), np.array(list("abc"))[np.argmax(X, axis=1)]
    else:
        orders = [[list("abc")[i] for i in np.argsort(-row)] for row in X]
        model, y = askone.OneBitRanker(list("abc"), random_state=0), orders
    model = told(model.start(X), X, y, 1)
    fits = sum(event.kind == "fitted" for event in model.log_)
    assert fits >= 3
    again = askone.refit(model.log_, model.rows_, model.stream_.learner, seed=0, own=True, fits=model.fits_)
    learner = model.stream_.learner
    assert isinstance(learner, CrowdLearner)
    assert learner.people(again.state) == learner.people(model.stream_.state)
    assert np.array_equal(learner.predict(again.state, X), learner.predict(model.stream_.state, X))
    loaded = reloaded(model)
    assert loaded.people_ == model.people_
    for one in (model, loaded):
        told(one, X[:90] + 0.01, y[:90], 2)
    assert np.array_equal(learner.predict(loaded.stream_.state, X), learner.predict(model.stream_.state, X))
    assert loaded.people_ == model.people_


def test_answers_are_written_one_by_one_as_if_they_were_written_at_once(monkeypatch):
    """Text of all answers is made for each fit, and while one is encoded no other thread goes on."""
    X, y = sine(3, 60)
    model = told(regressor(X, 0), X, y, 0)
    encoded, encode = [], _state._TEXT
    monkeypatch.setattr(_state, "_TEXT", lambda value: encoded.append(encode(value)) or encoded[-1])
    text = model.stream_.learner.to_arrays(model.stream_.state)["people"].tobytes().decode()
    assert text == json.dumps(json.loads(text))
    assert len(json.loads(text)[1]) == 60
    assert max(map(len, encoded)) < len(text) / 30


def test_an_answer_that_is_taken_back_is_nobodys():
    X, y = sine(1, 80)
    model = told(askone.OneBitRegressor(-1.5, 1.5, random_state=0).start(X), X[:60], y[:60], 0)
    before = model.people_
    question = model.ask(X[70])
    model.tell(question, True, person="ann").retract(question)
    assert {name: one.answers for name, one in model.people_.items()} == {n: p.answers for n, p in before.items()}


@pytest.mark.parametrize("person", ["", "  ", "x" * 201, "a\nb", 7, b"ann"])
def test_a_person_without_a_name_is_refused(person):
    X, _ = sine(0, 20)
    model = askone.OneBitRegressor(-1.5, 1.5, random_state=0).start(X)
    question = model.ask(X[0])
    with pytest.raises(InvalidArgument, match="person must be a text of 1 to 200 characters"):
        model.tell(question, True, person=person)
    model.tell(question, True, person="ann")
    assert [*model.people_] == ["ann"]


def test_learners_without_people_take_answers_all_the_same():
    X, _ = sine(0, 20)
    model = askone.OneBitRegressor(-1.5, 1.5, learner="sgd", random_state=0).start(X)
    model.tell(model.ask(X[0]), True, person="ann")
    assert model.people_ == {}
    assert model.log_[-1].person == "ann"


def test_chances_in_hindsight_are_those_without_the_answer():
    """A learner that was told all but one answer says what hindsight says of that one."""
    X, y = sine(5, 120)
    model = told(askone.OneBitRegressor(-1.5, 1.5, learner=askone.Filters(wary=0.0), random_state=0).start(X), X, y, 0)
    crowd = model.stream_.learner
    learner, state = crowd.base, model.stream_.state
    rows, (_, questions, bits) = state.store.view(len(state.told)), zip(*state.told, strict=True)
    said = abilities.hindsight(learner, state.base, rows, questions, bits)
    plain = np.array([learner.chance(state.base, x, q.put_to(HONEST)) for x, q in zip(rows, questions, strict=True)])
    exact = []
    for i in range(0, 120, 6):
        kept = [n for n in range(120) if n != i]
        left = learner.tell_many(learner.init(), rows[kept], [questions[n] for n in kept], [bits[n] for n in kept])
        exact.append(learner.chance(left, rows[i], questions[i].put_to(HONEST)))
    some = np.arange(0, 120, 6)
    assert np.abs(said[some] - exact).mean() < 0.6 * np.abs(plain[some] - exact).mean()


def test_fits_of_strangers_are_looked_at():
    X, y = sine(2, 200)
    model = told(askone.OneBitRegressor(-1.5, 1.5, random_state=0).start(X), X, y, 0)
    learner, state = model.stream_.learner, model.stream_.state
    fit = learner.fit(replace(state, due=0))
    assert learner.people(learner.adopt(state, fit)) != []
    for name, spoilt in (
        ("rates", fit["rates"] + 1.0),
        ("rates", fit["rates"][:, :1]),
        ("intervals", fit["intervals"][:1]),
        ("common", np.array(np.nan)),
        ("answers", np.array(1.5)),
        ("anew", np.array(1)),  # with nothing to learn by
    ):
        with pytest.raises(InvalidArgument, match="fit"):
            learner.adopt(state, {key: one for key, one in fit.items() if key != "learnt"} | {name: spoilt})
    arrays = learner.to_arrays(state)
    with pytest.raises(InvalidArgument, match="people must be arrays of shapes"):
        learner.from_arrays(arrays | {"rates": arrays["rates"][1:]})


def test_a_fit_of_before_there_were_people_is_the_learners():
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140, 3))
    model = askone.OneBitRegressor(-6, 6, random_state=0, keep_log=False).start(X)
    learner, state = model.stream_.learner, model.stream_.state
    for x in X:
        question = learner.ask(state, x, np.empty(0))
        state = learner.tell(state, x, question, bool(question.holds(x[0])))
    fit = learner.fit(state)
    bare = {name.removeprefix("base-"): array for name, array in fit.items()}
    after, older = learner.adopt(state, fit), learner.adopt(state, bare)
    assert np.array_equal(learner.predict(after, X), learner.predict(older, X))
    assert after.base.fits[0].keys() == older.base.fits[0].keys()


@pytest.mark.parametrize("kind", ["number", "class"])
def test_a_flip_comes_after_what_people_do(kind):
    """P(yes) = pi + (1 - 2 pi) (g + (1 - g - l) p), by the learner and by what is fitted beside it."""
    rng, pi, slips = np.random.default_rng(0), 0.25, ErrorRates(0.3, 0.1)
    X = rng.normal(size=(150, 2))
    if kind == "number":
        model = askone.OneBitRegressor(-3, 3, flip=pi, random_state=0).start(X)
    else:
        model = askone.OneBitClassifier(["a", "b", "c"], flip=pi, random_state=0).start(X)
    for x in X:
        question = model.ask(x)
        model.tell(question, bool(rng.uniform() < 0.5), person="ann")
    learner, state = model.stream_.learner, model.stream_.state
    question = model.ask(X[0])
    honest = (learner.chance(state, X[0], question) - pi) / (1 - 2 * pi)
    heard = learner.chance(state, X[0], question.put_to(slips))
    assert heard == pytest.approx(pi + (1 - 2 * pi) * slips.heard(True, honest), abs=1e-9)


def test_learning_anew_leaves_questions_of_others_out_of_the_evidence():
    """Asked where yes and no are equally likely, they would make the bank ever vaguer."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.gamma(4.0, 0.25, 700), rng.integers(0, 8, 700)])
    y = X[:, 0] + np.array([-0.4, 0.1, 0.0, 0.5, -0.2, 0.3, -0.1, 0.2])[X[:, 1].astype(int)]
    model = told(askone.OneBitRegressor(-1.0, 4.0, random_state=0, keep_log=False).start(X), X, y, 0)
    learner, state = model.stream_.learner, model.stream_.state
    assert state.base.awake >= 0  # trees ask, too
    again, told_now = learner._relearnt(state, state.habits)
    rows, front = state.store.view(len(told_now)), learner.base._front
    questions, bits = [question for _, question, _ in told_now], [bit for *_, bit in told_now]
    others = [question.learnt is not None and question.learnt % learner.base.turns > 0 for question in questions]
    first = int(state.base.turns[0][[fit is not None for fit in state.base.fits]].min())
    quiet = np.array([one and question.learnt >= first for one, question in zip(others, questions, strict=True)])
    assert 0 < quiet.sum() < len(quiet)
    alone = learner.base.base.relearnt_judged(state.base.base, front(rows), questions, bits, quiet)
    same = learner.base.base.to_arrays(alone)
    assert all(np.array_equal(same[name], one) for name, one in learner.base.base.to_arrays(again.base).items())


def test_what_was_learnt_anew_in_vain_is_not_tried_at_the_next_look():
    X, y = sine(3, 200)
    learner, state = (one := told(regressor(X, 0), X, y, 0).stream_).learner, one.state
    in_vain = learner.fit(replace(state, due=0, anew=10**6))
    assert in_vain["anew"].item() == 0
    assert learner.adopt(replace(state, anew=150), in_vain).anew == 4 * 200
    assert learner.adopt(replace(state, anew=201), in_vain).anew == 201  # it was not tried


def test_nothing_is_learnt_anew_with_habits_that_all_was_learnt_with(crowded, monkeypatch):
    stream = crowded[0][0].stream_
    learner, state = stream.learner, replace(stream.state, due=0, anew=0)
    rates = learner._rates(state, state.base, state.told)
    worse = KnownHabits(rates.habits.rates + 0.2)
    assert not learner._as_told(state, worse)
    base, told_now = learner._relearnt(state, rates.habits)
    state = replace(state, base=base, told=told_now, habits=rates.habits)
    assert learner._as_told(state, rates.habits)
    assert not learner._as_told(state, worse)
    again, _ = learner._relearnt(replace(state, due=1), rates.habits)
    one, other = (learner.base.to_arrays(some) for some in (base, again))  # it would have come to the same
    assert all(np.array_equal(one[name], other[name]) for name in one)
    monkeypatch.setattr(CrowdLearner, "_rates", lambda *_: rates)
    monkeypatch.setattr(CrowdLearner, "_relearnt", lambda *_: pytest.fail("it was learnt anew"))
    found = learner.fit(state)
    assert found["anew"].item() == 0
    assert learner.adopt(state, found).anew == 4 * 1000  # as after learning anew in vain


def test_rates_are_found_by_the_answers_as_they_were_learnt_anew():
    """What a person said leaves its trace in the state with today's habits: taking it out must use the same."""
    X, y = sine(1, 200)
    model = told(regressor(X, 0), X, y, 0)
    learner, state = model.stream_.learner, model.stream_.state
    habits = state.habits._replace(rates=np.full_like(state.habits.rates, 0.3))
    _, told_now = learner._relearnt(state, habits)
    assert {one[1].slips for one in told_now} == {ErrorRates(0.3, 0.3)}


def test_people_are_suspected_while_answers_are_few():
    """Of all it is tried that they are careful, and of those who seem to err most that they do not look."""
    X, y = sine(4, 60)
    X = np.column_stack([X, X[::-1]])
    model = askone.OneBitClassifier(["a", "b", "c"], random_state=0, keep_log=False).start(X)
    told(model, X, np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])], 0)
    learner, state = model.stream_.learner, model.stream_.state
    rates = learner._rates(state, state.base, state.told)
    tried = [habits.rates for habits in learner._suspected(state, rates)]
    assert (tried[0] == 0.03).all()
    blind = [int(place) for one in tried[1:] for place in np.flatnonzero((one == 0.5).all(axis=1))]
    heard = np.flatnonzero(state.answers >= 6)
    assert sorted(blind) == heard.tolist()
    assert blind[0] == heard[np.argmax(rates.habits.rates[heard].sum(axis=1))]
    few = replace(learner, suspects=2)._suspected(state, rates)
    assert [habits.rates.tolist() for habits in few] == [one.tolist() for one in tried[:3]]
    assert not replace(learner, suspects=0)._suspected(state, rates)
    assert not learner._suspected(replace(state, answers=10 * state.answers), rates)
    assert (learner.init().anew, replace(learner, suspects=0).init().anew) == (60, 150)
