"""Stored answers teach other models, exactly as a fold of them does, and say which model forecasts them best."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import askone
from askone import SGD
from askone.errors import AlreadyStarted, IncompatibleParts, InvalidArgument, InvalidFile, UnknownQuestion
from askone.labels.losses import Median, Squared
from askone.learners.gradients import pair
from askone.learners.gradients.ranking import rank_strategy
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import DoG
from askone.session.log import Answered, Asked, Retracted, Skipped
from askone.session.replay import fold
from samples import Grid, GridRegressor, models, reloaded, same, small_labels, small_rows

X, Y = small_rows(), small_labels(1)[:, 0]
CLASSES = np.array(["low", "mid", "high"])[np.digitize(Y, [-0.4, 0.4])]
ORDERS = np.array([np.random.default_rng(i).permutation(["tea", "milk", "coffee"]) for i in range(40)])
LINEAR, SPACE = models()["linear"], askone.Real(-2, 2)


def campaign(learner, seed=0, n=30):
    """Answers come late, the last question stays open, one is skipped."""
    log = []
    stream = askone.Stream(learner, seed=seed, log=log.append)
    questions = []
    for i in range(n):
        questions.append(stream.ask(X[i], key=i))
        if i >= 2 and i != 7:
            stream.tell(questions[i - 2], questions[i - 2].holds(Y[i - 2]))
    stream.skip(questions[5])
    stream.tell(questions[n - 2], True)
    return stream, log


# -- refit = fold -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(models()))
def test_a_refit_is_the_fold(name):
    _, log = campaign(SGDLearner(SPACE, LINEAR))
    learner = SGDLearner(SPACE, models()[name], pair(Median(), "passive"), step=DoG())
    stream = askone.refit(log, X, learner)
    assert same(learner, stream.state, fold(learner, dict(enumerate(X)), log))
    assert stream.answered == 28


def test_the_same_learner_goes_on_as_if_nothing_had_happened():
    stream, log = campaign(SGDLearner(SPACE, LINEAR), seed=6)
    again = askone.refit(log, X, SGDLearner(SPACE, LINEAR), seed=6, own=True)
    assert again.open == stream.open == [29]
    assert again.keys == stream.keys
    assert same(stream.learner, again.state, stream.state)
    assert again.ask(X[33], key="new") == stream.ask(X[33], key="new")
    for one in (stream, again):
        one.tell(29, False)
    assert same(stream.learner, again.state, stream.state)


def test_an_answer_that_was_taken_back_leaves_its_question_open():
    _, log = campaign(SGDLearner(SPACE, LINEAR))
    gone = [*log, Retracted("retract-3", "answer-3")]
    stream = askone.refit(gone, X, SGDLearner(SPACE, LINEAR), own=True)
    assert (stream.open, stream.answered) == ([3, 29], 27)
    rest = [event for event in log if not (isinstance(event, Answered) and event.id == "answer-3")]
    assert same(stream.learner, stream.state, fold(stream.learner, X, rest))


def test_the_rows_may_come_as_a_table_with_other_columns(tmp_path):
    _, log = campaign(SGDLearner(SPACE, LINEAR))
    askone.write_log(tmp_path / "log.jsonl", log)
    assert askone.read_log(tmp_path / "log.jsonl") == log
    other = pd.DataFrame({"square": X[:, 0] ** 2, "a": X[:, 0], "b": X[:, 1]}, index=range(len(X)))[::-1]
    model = askone.refit(log, other, askone.OneBitRegressor(-2, 2, learner=SGD(model="linear", questions="passive")))
    learner = model.stream_.learner
    assert learner.columns == 3
    rows = {i: [X[i, 0] ** 2, *X[i]] for i in range(40)}
    assert same(learner, model.stream_.state, fold(learner, rows, askone.read_log(tmp_path / "log.jsonl")))


def test_logs_that_cannot_be_read(tmp_path):
    for text in ("{", "3\n", '{"format": 1, "kind": "sung"}'):
        (tmp_path / "log").write_text(text)
        with pytest.raises(InvalidFile):
            askone.read_log(tmp_path / "log")
    log = []
    stream = askone.Stream(SGDLearner(SPACE, LINEAR), log=log.append)
    stream.tell(stream.ask(X[0]), True)
    with pytest.raises(InvalidFile, match="go by ~0, ~1, ... in the order of asking"):
        askone.refit(log, X, SGDLearner(SPACE, LINEAR), own=True)
    with pytest.raises(InvalidArgument, match="names each row once"):
        askone.refit(log, pd.DataFrame(X, index=[0] * 40), SGDLearner(SPACE, LINEAR), own=True)
    with pytest.raises(InvalidArgument, match="learner must be a Learner or an estimator"):
        askone.refit(log, X, "model")


def test_questions_of_another_family_are_refused_by_name():
    _, half_spaces = campaign(SGDLearner(SPACE, LINEAR))
    sets = askone.OneBitClassifier(keep_log=True, random_state=0).fit(X, CLASSES)
    ranker = Surrogate(rank_strategy(askone.Ranking(("tea", "milk")), None, "borda"), LINEAR)
    with pytest.raises(
        IncompatibleParts, match="learns from the log's questions: subset, such as 'Is it.*got SGDLearner"
    ):
        askone.refit(sets.log_, X, SGDLearner(SPACE, LINEAR), own=True)
    with pytest.raises(IncompatibleParts, match="half-space, such as 'Is the value above.*got Surrogate"):
        askone.refit(half_spaces, X, ranker)
    with pytest.raises(IncompatibleParts, match="about 2 output"):
        askone.refit(half_spaces, X, SGDLearner(askone.Real([-2, -2], 2), LINEAR), own=True)
    model = askone.OneBitClassifier(["a", "b"], random_state=0)
    with pytest.raises(IncompatibleParts):
        askone.refit(half_spaces, X, model)
    assert model._stream() is None


# -- estimators -------------------------------------------------------------------------------------

FITTED = {
    "median": (lambda **o: askone.OneBitRegressor(-2, 2, **o), Y),
    "squared": (lambda **o: askone.OneBitRegressor(-2, 2, learner=SGD(loss="squared"), **o), Y),
    "two outputs": (lambda **o: askone.OneBitRegressor([-2, -2], 2, **o), small_labels(2)),
    "bisection": (lambda **o: askone.OneBitRegressor(-2, 2, learner=askone.Bisection(precision=0.2), **o), Y),
    "memory": (lambda **o: askone.OneBitRegressor(-2, 2, learner="memory", budget=150, **o), Y),
    "resampled": (lambda **o: askone.OneBitRegressor(-2, 2, resample=True, budget=90, **o), Y),
    "classes": (
        lambda **o: askone.OneBitClassifier(["high", "low", "mid"], learner=askone.SetLikelihood(n_components=20), **o),
        CLASSES,
    ),
    "orders": (lambda **o: askone.OneBitRanker(["tea", "milk", "coffee"], **o), ORDERS),
}


@pytest.mark.parametrize("name", FITTED)
def test_a_kept_log_of_fit_is_all_there_was(name):
    make, labels = FITTED[name]
    plain = make(random_state=0).fit(X, labels)
    kept = make(random_state=0, keep_log=True).fit(X, labels)
    assert plain.stream_.asked == kept.stream_.asked
    learner, rows = kept.stream_.learner, X[:7]
    assert np.allclose(learner.predict(plain.stream_.state, rows), learner.predict(kept.stream_.state, rows))
    again = kept.refit(make(random_state=0).start(X))  # the same rows shown, then the same answers
    if name != "resampled":  # steps that are fixed by the number of rows would not be the same
        assert np.array_equal(learner.predict(kept.stream_.state, rows), again.stream_.predict(rows))
    assert same(again.stream_.learner, again.stream_.state, fold(again.stream_.learner, X, kept.log_))
    with pytest.raises(UnknownQuestion, match="kept no log: keep_log=True"):
        plain.log_  # noqa: B018


def test_a_log_that_sought_a_range():
    """fit stops the search early; a live model that seeks longer says so, one with a range learns from all."""
    kept = askone.OneBitRegressor(learner=askone.Filters(calibration=8), keep_log=True, random_state=0).fit(X, Y)
    with pytest.raises(IncompatibleParts, match="it takes one about the range while that is sought.*got CrowdLearner"):
        kept.refit(askone.OneBitRegressor(learner=askone.Filters(calibration=8), random_state=0))
    other = askone.OneBitRegressor(-2, 2, learner=SGD(questions="passive"), random_state=0)
    assert kept.refit(other).stream_.answered == 40


def test_slopes_at_another_models_predictions_mislead_and_are_warned_of():
    """|x| by 1000 answers: at another bandwidth the infimum loss learns from them, slopes do not."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, size=(1000, 1))
    truth = 20 + 60 * np.abs(rows[:, 0])
    options = {"low": 0, "high": 100, "random_state": 0}
    kept = askone.OneBitRegressor(**options, learner="sgd", keep_log=True).fit(rows, truth + 8 * rng.normal(size=1000))
    with pytest.warns(askone.RefitWarning, match="SGDLearner takes slopes at its own predictions"):
        misled = kept.refit(askone.OneBitRegressor(**options, learner=SGD(bandwidth=0.5)))
    other = kept.refit(askone.OneBitRegressor(**options, learner=SGD(bandwidth=0.5, questions="passive")))
    errors = [np.abs(model.predict(rows) - truth).mean() for model in (other, misled)]
    assert errors[0] < 3
    assert errors[1] > 3 * errors[0]


def test_ask_and_tell_keep_their_log_and_another_model_goes_on():
    model = askone.OneBitRegressor(-2, 2, random_state=0).start(X)
    for i in range(20):
        question = model.ask(X[i], key=f"row {i}")
        model.tell(question, question.holds(Y[i]))
    late = model.ask(X[20])
    passive = SGD(bandwidth=0.7, n_components=30, questions="passive")
    other = model.refit(askone.OneBitRegressor(-2, 2, learner=passive))
    learner = other.stream_.learner
    assert same(learner, other.stream_.state, fold(learner, model.rows_, model.log_))
    assert learner.model.features.representers.shape[0] <= 21
    other.tell(late, late.holds(Y[20]))
    question = other.ask(X[30])
    assert question.number == 21
    other.tell(question, True)
    assert len(other.log_) == len(model.log_) + 3
    third = other.refit(askone.OneBitRegressor(-2, 2, learner=passive).start(X))
    assert third.stream_.answered == 22
    with pytest.raises(AlreadyStarted, match="learnt from 22 answer"):
        model.refit(third)
    started = askone.OneBitRegressor(-2, 2, random_state=0).start(X)
    started.ask(X[0])
    with pytest.raises(AlreadyStarted, match="waits for 1"):
        model.refit(started)
    with pytest.raises(InvalidArgument, match="other must be an estimator"):
        model.refit(learner)


def test_the_best_of_several_and_no_rows_at_all():
    poll = askone.OneBitRanker(
        ["tea", "coffee", "milk", "water"], learner=SGD(questions="bradley-terry"), random_state=0
    )
    for k in (2, 3, 4) * 5:
        question = poll.ask_best(k=k)
        poll.tell(question, question.answer(["milk", "tea", "water", "coffee"]))
    poll.ask_best(k=3)
    other = poll.refit(askone.OneBitRanker(["tea", "coffee", "milk", "water"], learner=SGD(gamma=3), random_state=0))
    assert other.predict()[0] == "milk"
    assert other.stream_.open == [15]
    assert other.stream_.answered == 30
    other.tell(15, other.stream_.open_questions()[0][2].items[0])
    assert other.stream_.answered == 32


def test_logs_are_saved_copied_and_left_out(tmp_path):
    model = askone.OneBitRegressor(-2, 2, random_state=0, keep_log=True).fit(X, Y)
    for twin in (reloaded(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.log_ == model.log_
        assert all(np.array_equal(twin.rows_[name], row) for name, row in model.rows_.items())
        twin.tell(twin.ask(X[0], key="new"), True)
        assert len(twin.log_) == len(model.log_) + 2
    forgetful = askone.OneBitRegressor(-2, 2, random_state=0, keep_log=False).start(X)
    forgetful.tell(forgetful.ask(X[0]), True)
    with pytest.raises(UnknownQuestion, match="kept no log"):
        forgetful.refit(askone.OneBitRegressor(-2, 2))
    forgetful.save(tmp_path / "model")
    with pytest.raises(UnknownQuestion, match="kept no log"):
        askone.load(tmp_path / "model").rows_  # noqa: B018
    with pytest.raises(InvalidArgument, match="keep_log must be True or False"):
        askone.OneBitRegressor(-2, 2, keep_log="yes").fit(X, Y)


# -- progressive validation -------------------------------------------------------------------------

UNIT = askone.Real(-1, 1, decimals=None)
ROWS = np.linspace(-1, 1, 300)[np.random.default_rng(1).permutation(300)][:, None]


def asked_of(n, answers, threshold=0.1):
    """A log of n fixed questions."""
    pairs = [
        (Asked(f"a{i}", i, askone.HalfSpace((1.0,), threshold), i), Answered(f"b{i}", f"a{i}", answers[i]))
        for i in range(n)
    ]
    return [event for pair in pairs for event in pair]


def test_the_losses_add_up_to_the_likelihood_of_all_answers():
    bits = np.random.default_rng(2).random(50) < 0.5
    log = asked_of(50, bits.tolist())
    learner = Grid(UNIT)
    found = askone.compare(log, ROWS, {"line": learner})
    yes = np.array([learner.chances(ROWS[i], log[2 * i].question) for i in range(50)])
    joint = np.mean(np.prod(np.where(bits[:, None], yes, 1 - yes), axis=0))
    assert found.losses["line"].sum() == pytest.approx(-np.log2(joint))
    assert found.curve("line")[0][-1] == pytest.approx(found.table[0].bits)
    assert found.curve("line")[1][-1] == found.table[0].accuracy


def test_the_truth_is_chosen_with_all_the_probability_that_theory_promises():
    """P(wrong choice) <= sum over answers of sqrt(P Q): Bhattacharyya's bound, over all 2^9 logs."""
    truth, other = Grid(UNIT, (0.5, 1.0), noise=0.2), Grid(UNIT, (-1.0, 0.0), noise=0.2)
    wrong = bound = total = 0.0
    for bits in itertools.product([False, True], repeat=9):
        found = askone.compare(asked_of(9, bits), ROWS, {"truth": truth, "other": other})
        p, q = (2.0 ** -found.losses[name].sum() for name in ("truth", "other"))
        total, bound = total + p, bound + np.sqrt(p * q)
        wrong += p * (found.best != "truth")
    assert total == pytest.approx(1.0)
    assert 0 < wrong <= bound < 0.5


def test_the_truth_is_chosen_among_models_that_learn():
    """300 answers from the line: by the same bound, a wrong choice has less than one chance in a million."""
    slope, learner = 1.0, Grid(UNIT)
    state, log = learner.init(), []
    rng = np.random.default_rng(5)
    for i, x in enumerate(ROWS):
        question = learner.ask(state, x, np.zeros(1))
        answer = bool(slope * x[0] + 0.3 * rng.normal() > question.threshold)
        state = learner.tell(state, x, question, answer)
        log += [Asked(f"a{i}", i, question, i), Answered(f"b{i}", f"a{i}", answer)]
    candidates = {"cube": GridRegressor(3), "line": GridRegressor(1), "flat": Grid(UNIT, (0.0,))}
    found = askone.compare(log, ROWS, candidates)
    assert found.best == "line"
    assert [one.name for one in found.table] == ["line", "cube", "flat"]
    assert all(one.behind > 3 * one.behind_error for one in found.table[1:])
    assert found.table[0].behind == found.table[0].behind_error == 0
    paired = found.losses["cube"] - found.losses["line"]
    assert found.table[1].behind_error == pytest.approx(paired.std(ddof=1) / np.sqrt(300))
    assert str(found).splitlines()[1].startswith("line ")
    assert candidates["line"]._stream() is None  # nobody was changed
    questions = [event.question for event in log if isinstance(event, Asked)]
    overlap = [_overlap(Grid(UNIT, (1.0,)), Grid(UNIT, (1.0,), 3), x, q) for x, q in zip(ROWS, questions, strict=True)]
    assert np.prod(overlap) < 1e-6


def _overlap(one, other, x, question):
    p, q = (learner.chance(learner.init(), x, question) for learner in (one, other))
    return np.sqrt(p * q) + np.sqrt((1 - p) * (1 - q))


def test_what_cannot_be_compared():
    log = asked_of(5, [True] * 5)
    with pytest.raises(InvalidArgument, match=r"candidates\['sgd'\] must be one that has learnt, .*; got SGDLearner"):
        askone.compare(log, ROWS, {"grid": Grid(UNIT), "sgd": SGDLearner(UNIT, models()["linear"])})
    with pytest.raises(InvalidArgument, match="got SGDLearner"):
        askone.compare(log, ROWS, {"model": askone.OneBitRegressor(-1, 1, learner="sgd", random_state=0)})
    with pytest.raises(InvalidArgument, match=r"candidates\['x'\] must be a Learner or an estimator"):
        askone.compare(log, ROWS, {"x": 3})
    with pytest.raises(InvalidArgument, match="a dictionary"):
        askone.compare(log, ROWS, {})
    model = askone.OneBitRegressor(-1, 1).start(ROWS)
    with pytest.raises(InvalidArgument, match=r"log must be the events of a log, such as model.log_; got OneBitReg"):
        askone.compare(model, ROWS, {"grid": Grid(UNIT)})
    with pytest.raises(InvalidArgument, match=r"rows must be .* such as model.rows_ .*; got a list with columns"):
        askone.compare(log, [{"a": "x"}], {"grid": Grid(UNIT)})
    with pytest.raises(InvalidArgument, match="at least one answer"):
        askone.compare([log[0], Skipped("s", "a0")], ROWS, {"grid": Grid(UNIT)})
    with pytest.raises(InvalidArgument, match="name must be one of: grid"):
        askone.compare(log, ROWS, {"grid": Grid(UNIT)}).curve("line")
    reveal = [Asked("a", 0, askone.Reveal(1), 0), Answered("b", "a", (0.5,))]
    with pytest.raises(InvalidArgument, match="answers are yes or no"):
        askone.compare(reveal, ROWS, {"grid": Grid(UNIT)})


def test_without_torch_all_but_networks_works():
    code = (
        "import sys, askone; sys.modules['torch'] = None\n"
        "try:\n    import askone.estimators.network\n"
        "except askone.AskoneError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "neural models need torch: pip install 'askone[torch]'"


def test_orders_and_estimators_that_have_begun_are_compared_too():
    with pytest.raises(InvalidArgument, match="one with exam bits"):
        askone.compare(
            asked_of(2, [True] * 2), {0: [0.0], 1: [0.0]}, {"poll": askone.OneBitRanker(["a", "b"], learner="sgd")}
        )
    begun = GridRegressor().start(ROWS)
    found = askone.compare(asked_of(30, [True] * 30), ROWS, {"begun": begun, "not": GridRegressor()})
    assert np.array_equal(found.losses["begun"], found.losses["not"])
    assert begun.stream_.asked == 0


# -- risks from exam bits ---------------------------------------------------------------------------


def learnt(gamma, n=200, space=(-2, 2)):
    return askone.OneBitRegressor(*space, learner=SGD(gamma=gamma), random_state=0).fit(X[:n], Y[:n])


def test_any_learner_is_compared_by_exam_bits():
    """Two step sizes, far apart: the one whose error on the labels is less has the less risk, by paired bits."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1, 1, size=(900, 1))
    y = np.sin(3 * rows[:, 0])
    models = {
        name: askone.OneBitRegressor(-2, 2, learner=SGD(gamma=gamma), random_state=0).fit(rows[:300], y[:300])
        for name, gamma in (("short", 0.01), ("usual", 1.0))
    }
    before = {name: model.stream_.state for name, model in models.items()}
    log = askone.examine(models, rows[300:], askone.Oracle(y[300:]), seed=1)
    found = askone.compare(log, rows[300:], models)
    assert (found.best, found.measure) == ("usual", "risk")
    truth = {name: np.abs(model.predict(rows[300:]) - y[300:]).mean() for name, model in models.items()}
    for one in found.table:
        assert abs(one.bits - truth[one.name]) < 4 * one.error
    behind = found.table[1]
    assert abs(behind.behind - (truth["short"] - truth["usual"])) < 4 * behind.behind_error
    assert behind.behind > 4 * behind.behind_error
    assert "right" not in str(found)
    assert all(models[name].stream_.state is state for name, state in before.items())
    assert askone.examine(models, rows[300:], askone.Oracle(y[300:]), seed=1) == log
    squared = askone.compare(log, rows[300:], models, loss=Squared())
    mean = 0.5 * np.mean((models["usual"].predict(rows[300:]) - y[300:]) ** 2)
    assert abs(squared.table[0].bits - mean) < 4 * squared.table[0].error


def test_exam_bits_also_judge_who_learns_from_them():
    model = learnt(1.0, 40)
    log = askone.examine({"m": model}, X, askone.Oracle(Y))
    passive = askone.OneBitRegressor(-2, 2, learner=SGD(questions="passive"), random_state=0)
    found = askone.compare(log, X, {"sgd": model, "passive": passive, "default": askone.OneBitRegressor(-2, 2)})
    assert set(found.losses) == {"sgd", "passive", "default"}
    assert all(len(one) == len(X) for one in found.losses.values())


def test_classes_and_orders_have_risks_too():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2))
    y = np.where(rows[:, 0] > 0, "a", "b")
    good = askone.OneBitClassifier(["a", "b", "c"], learner="sgd", random_state=0).fit(rows[:200], y[:200])
    bad = askone.OneBitClassifier(["a", "b", "c"], learner=SGD(gamma=0.01, step="sqrt"), random_state=0)
    models = {"good": good, "bad": bad.fit(rows[:20], np.where(y[:20] == "a", "b", "c"))}
    found = askone.compare(askone.examine(models, rows[200:], askone.Oracle(y[200:])), rows[200:], models)
    truth = {name: np.mean(model.predict(rows[200:]) != y[200:]) for name, model in models.items()}
    assert found.best == "good"
    assert all(abs(one.bits - truth[one.name]) < 4 * one.error for one in found.table)
    orders = [["tea", "milk", "coffee"] if x[0] > 0 else ["coffee", "milk", "tea"] for x in rows]
    poll = askone.OneBitRanker(["tea", "milk", "coffee"], learner="sgd", random_state=0).fit(rows[:200], orders[:200])
    found = askone.compare(
        askone.examine({"p": poll}, rows[200:], askone.Oracle(orders[200:])), rows[200:], {"p": poll}
    )
    pairs = askone.Ranking(("tea", "milk", "coffee"))
    wrong = np.mean(pairs.embed(poll.predict(rows[200:])) != pairs.embed(orders[200:]))
    assert abs(found.table[0].bits - wrong) < 4 * found.table[0].error + 1e-12


def test_what_exam_bits_cannot_do():
    log = asked_of(5, [True] * 5)
    with pytest.raises(InvalidArgument, match="one with exam bits"):
        askone.compare(log, ROWS, {"sgd": learnt(1.0, 40)})
    with pytest.raises(InvalidArgument, match="None: all candidates forecast"):
        askone.compare(log, ROWS, {"grid": Grid(UNIT)}, loss=Median())
    with pytest.raises(InvalidArgument, match="models that have learnt"):
        askone.examine({}, X, askone.Oracle(Y))
