import io
import json
import pickle
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import askone
from askone import SGD, Bisection, Filters, GenericScheme, Remembering, Wording
from askone.errors import AlreadyAsked, BudgetSpent, IncompatibleParts, InvalidArgument, InvalidFile, UnknownQuestion
from askone.estimators import InputScaleWarning
from askone.estimators.learner_choices.base import MODELS
from askone.labels.losses import LOSSES, Huber, Loss, Quantile
from askone.learners.gradients import FAMILY_NAMES, PAIRS
from askone.learners.models.linear import FeatureModel
from askone.learners.step_rules import AVERAGES, STEP_RULES
from samples import models, reloaded, small_labels, small_rows

X, Y = small_rows(300), small_labels(1, 300)[:, 0]


# Every check of scikit-learn's, without exceptions of our own making: with a declared range, and
# without one (where a quarter of the rows finds it).
@pytest.mark.filterwarnings("ignore::askone.SortedRowsWarning", "ignore::askone.LabelRangeWarning")
@parametrize_with_checks([askone.OneBitRegressor(), askone.OneBitRegressor(-4, 4, learner=Filters(model="linear"))])
def test_scikit_learns_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_the_first_five_minutes():
    model = askone.OneBitRegressor(low=-30, high=45, random_state=0).start(X)
    assert model.predict(X[:2]).tolist() == [7.5, 7.5]
    question = model.ask(X[0])
    assert isinstance(question, askone.HalfSpace)
    assert str(question) == "Is the value above 7.5?"
    assert question.holds(8.0) is True
    model.tell(question, True)
    assert model.predict(X[:1])[0] > 7.5


def test_predict_before_anything():
    assert askone.OneBitRegressor(0, 10).predict([[1.0]]).tolist() == [5.0]
    assert askone.OneBitRegressor([0, 0], [10, 20]).predict([[1.0]]).tolist() == [[5.0, 10.0]]


def test_ask_without_showing_rows_works_and_warns():
    model = askone.OneBitRegressor(0, 10, random_state=0)
    with pytest.warns(InputScaleWarning, match="start"):
        question = model.ask([0.1, 0.2])
    model.tell(question, True)
    assert model.predict([[0.1, 0.2]])[0] > 5


def test_without_a_range_questions_find_it():
    y = 1000 + 50 * Y
    model = askone.OneBitRegressor(random_state=0).fit(X, y)
    assert 850 < model.predict(X).mean() < 1150
    live = askone.OneBitRegressor(learner=Filters(calibration=20), random_state=0).start(X)
    asked = [live.ask(x) for x in X[:20]]
    assert {q.purpose for q in asked} == {"range"}


def test_fit_is_ask_and_tell_in_a_row():
    simulated = askone.OneBitRegressor(-3, 3, random_state=5).fit(X, Y)
    live = askone.OneBitRegressor(-3, 3, random_state=5).start(X)
    for x, y in zip(X, Y, strict=True):
        question = live.ask(x)
        live.tell(question, question.holds(y))
    assert np.allclose(simulated.predict(X), live.predict(X), atol=1e-9)


def test_fit_learns_and_every_comparison_is_one_argument():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(4000, 2))
    y = np.sin(many[:, 0]) + 0.1 * rng.normal(size=4000)
    learners = {name: SGD(questions=name) for name in FAMILY_NAMES} | {
        name: name for name in ("generic", "ellipsoid", "bisection")
    }
    scores = {
        name: askone.OneBitRegressor(-2, 2, learner=learner, random_state=0).fit(many, y).score(many, y)
        for name, learner in learners.items()
    }
    assert scores["active"] > 0.9
    assert scores["full"] == pytest.approx(scores["active"], abs=0.01)  # the median of one output is a sign
    assert scores["passive"] < scores["active"]


def test_an_oracle_in_place_of_labels():
    oracle = askone.Oracle(Y, flip=0.1, skip=0.1)
    model = askone.OneBitRegressor(-3, 3, random_state=0).fit(X, oracle)
    assert oracle.questions == 300
    assert model.stream_.answered == 300 - oracle.skips


def test_batches_are_told_in_any_order_late_or_never():
    model = askone.OneBitRegressor(-3, 3, random_state=0).start(X)
    questions = model.ask(X[:10], key=list("abcdefghij"))
    for i in (7, 2, 9):
        model.tell(questions[i], True)
    assert model.stream_.answered == 3
    with pytest.raises(AlreadyAsked):
        model.ask(X[0], key="a")
    with pytest.raises(UnknownQuestion):
        model.tell(10, True)
    model.skip(questions[0])


def test_budget():
    model = askone.OneBitRegressor(-3, 3, budget=2).start(X)
    model.ask(X[:2])
    with pytest.raises(BudgetSpent):
        model.ask(X[2])
    limited = askone.OneBitRegressor(-3, 3, budget=50).fit(X, Y)
    assert limited.stream_.asked == 50


def test_resampling_asks_as_often_as_the_budget_allows():
    model = askone.OneBitRegressor(-3, 3, budget=1000, resample=True, random_state=0).fit(X[:100], Y[:100])
    assert model.stream_.asked == model.stream_.answered == 1000
    assert model.score(X, Y) > askone.OneBitRegressor(-3, 3, random_state=0).fit(X[:100], Y[:100]).score(X, Y)


def test_pandas_and_feature_names():
    frame = pd.DataFrame(X, columns=["hour", "wind"])
    model = askone.OneBitRegressor(-3, 3, random_state=0).fit(frame, pd.Series(Y))
    assert model.feature_names_in_.tolist() == ["hour", "wind"]
    live = askone.OneBitRegressor(-3, 3, random_state=0).start(frame)
    assert len(live.ask(frame[:3])) == 3
    live.tell(live.ask(frame.iloc[0]), True)
    with pytest.raises(InvalidArgument, match="feature names"):
        model.predict(frame.rename(columns={"wind": "rain"}))
    with pytest.raises(InvalidArgument, match="feature names"):
        live.ask(frame.rename(columns={"wind": "rain"}).iloc[0])


def test_pipelines_clones_and_pickles():
    pipe = make_pipeline(StandardScaler(), askone.OneBitRegressor(-3, 3, random_state=0))
    assert np.isfinite(cross_val_score(pipe, X, Y, cv=3)).all()
    model = askone.OneBitRegressor(-3, 3, random_state=0, budget=100, wording=Wording(["size"])).fit(X, Y)
    copy = clone(model)
    assert copy.get_params()["wording"] == Wording(("size",))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_a_learners_arguments_are_parameters():
    for name in ("sgd", SGD()):
        model = askone.OneBitRegressor(-3, 3, learner=name, random_state=0)
        search = GridSearchCV(model, {"learner__step": ["sqrt", "dog"], "learner__average": ["tail"]}, cv=2).fit(X, Y)
        assert search.best_estimator_.learner.step in ("sqrt", "dog")
        assert model.learner == name  # the search changes clones
    model = askone.OneBitRegressor(-3, 3, learner=Bisection(SGD(step="dog")))
    assert model.get_params()["learner__learner__step"] == "dog"
    copy = clone(model).set_params(learner__learner__step="coin", learner__precision=0.5, random_state=1)
    assert copy.learner == Bisection(SGD(step="coin"), 0.5)
    assert model.learner == Bisection(SGD(step="dog"))
    assert Bisection() == Bisection(SGD())
    assert repr(model) == "OneBitRegressor(high=3, learner=Bisection(learner=SGD(step='dog')), low=-3)"
    assert copy.set_params(learner="sgd", learner__gamma=2.0).learner == SGD(gamma=2.0)
    with pytest.raises(InvalidArgument, match=r"stride must be one of: model, kernel.* \(arguments of SGD\)"):
        model.set_params(learner__learner__stride=3)
    with pytest.raises(AttributeError):
        model.learner.precision = 3.0


def test_random_state():
    y = small_labels(2, 300)
    a, b, c = (askone.OneBitRegressor(-3, 3, random_state=s).fit(X, y).predict(X) for s in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize(
    "options",
    [
        {"low": -3, "high": 3},
        {"low": -3, "high": 3, "learner": SGD(model="kernel", average="tail")},
        {"low": -3, "high": 3, "learner": SGD(model="linear", step="adagrad-diagonal")},
        {"low": -3, "high": 3, "learner": SGD(model="fourier", loss="huber", ridge=0.1)},
        {"low": -3, "high": 3, "learner": SGD(loss=Huber(0.3), step="coin")},
        {"low": np.array([-3.0]), "high": [np.float64(3)], "learner": SGD(questions="passive"), "unit": "m"},
        {"low": -3, "high": 3, "wording": Wording(["x"], answers=("more", "less"))},
        {"low": -3, "high": 3, "learner": "generic"},
        {"low": -3, "high": 3, "learner": SGD(questions="full", loss="squared")},
        {},
    ],
    ids=str,
)
def test_saved_models_come_back_without_pickle(tmp_path, options):
    model = askone.OneBitRegressor(random_state=3, **options).fit(X, Y)
    path = tmp_path / "model.askone"
    model.save(path)
    back = askone.load(path)
    assert np.array_equal(back.predict(X), model.predict(X))
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("askone.json"))["format"] == 1
    # It goes on as if it had never stopped: the same next question, the same next state.
    one, two = model.ask(X[0]), back.ask(X[0])
    assert one == two
    answer = one.answer(Y[0])
    assert np.array_equal(model.tell(one, answer).predict(X), back.tell(two, answer).predict(X))


def test_a_saved_model_keeps_keys_budget_and_open_questions():
    model = askone.OneBitRegressor(-4, 4, budget=4, random_state=0).start(X)
    questions = [model.ask(x, key=key) for x, key in zip(X, ["a", 7, "b"], strict=False)]
    back = reloaded(model.tell(questions[0], True))
    for key in ("a", 7, "b"):
        with pytest.raises(AlreadyAsked):
            back.ask(X[0], key=key)
    back.tell(questions[1], False)
    back.ask(X[5])
    with pytest.raises(BudgetSpent, match="0 of 4 left"):
        back.ask(X[6])


def test_an_answer_is_taken_back_until_the_model_is_saved():
    model, other = (askone.OneBitRegressor(-4, 4, random_state=0).start(X) for _ in range(2))
    questions, _ = model.ask(X[:3]), other.ask(X[:3])
    for question in questions:
        model.tell(question, True)
    other.tell(0, True).tell(2, True)
    assert np.array_equal(model.retract(questions[1]).predict(X), other.predict(X))
    back, log = reloaded(model), []
    back.stream_._log = log.append
    with pytest.raises(InvalidArgument, match="answered where this stream has no history"):
        back.retract(0)
    back.tell(1, False)
    assert np.array_equal(back.predict(X), other.tell(1, False).predict(X))
    assert log[0].id == "answer-1+1"  # answer-1 was taken back before
    back.retract(1)
    assert np.array_equal(back.predict(X), model.predict(X))
    fitted = askone.OneBitRegressor(-4, 4, random_state=0).fit(X, Y)
    with pytest.raises(InvalidArgument, match="no history"):
        fitted.retract(0)


def test_batches_cost_little():
    """Late answers take shorter steps: a batch of k is a mini-batch, not k steps from one place."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1200, 3))
    labels = 1000 + 50 * (2 * np.sin(rows[:, 0]) + rows[:, 1])
    for options in ({"low": 800, "high": 1200}, {}):
        model = askone.OneBitRegressor(random_state=0, **options).start(rows)
        for i in range(0, 1200, 60):
            for j, question in enumerate(model.ask(rows[i : i + 60])):
                model.tell(question, question.holds(labels[i + j]))
        assert model.score(rows, labels) > 0.7
        low, high = model.range_
        assert low[0] < 1000 < high[0]


def test_a_saved_range_search_goes_on():
    model = askone.OneBitRegressor(learner=Filters(calibration=30), random_state=0).start(X)
    for x, y in zip(X[:10], Y, strict=False):
        question = model.ask(x)
        model.tell(question, question.holds(y))
    assert reloaded(model).ask(X[10]) == model.ask(X[10])


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "bad"
    path.write_bytes(b"not a zip")
    with pytest.raises(InvalidFile, match="is not a model saved by askone"):
        askone.load(path)
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for document in ('{"format": 1}', '{"format": 99}', "[]", "nonsense"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("askone.json", document)
            archive.writestr("arrays/x.npy", buffer.getvalue())
        with pytest.raises(InvalidFile):
            askone.load(path)
    with pytest.raises(FileNotFoundError):
        askone.load(tmp_path / "missing")


def test_unknown_parts_are_not_instantiated(tmp_path):
    path = tmp_path / "odd"
    askone.OneBitRegressor(-3, 3).fit(X, Y).save(path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(files["askone.json"])
    document["learner"]["model"] = {"type": "os.system", "command": "true"}
    files["askone.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(InvalidFile, match="os.system"):
        askone.load(path)


def test_several_outputs_with_names_and_wording():
    model = askone.OneBitRegressor(
        0, [10, 20], random_state=0,
        wording=Wording(("apples", "pears"), template="Would you pay more than {threshold} for {amount}?"),
    ).start(X)  # fmt: skip
    assert str(model.ask(X[0])).startswith("Would you pay more than ")
    assert model.predict(X).shape == (300, 2)
    fitted = askone.OneBitRegressor(-3, 3, random_state=0).fit(X, small_labels(3, 300))
    assert fitted.predict(X).shape == (300, 3)


@pytest.mark.parametrize("questions", [*FAMILY_NAMES, "generic", "bisection"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_and_family_by_name(loss, questions):
    learner = SGD(loss=loss, questions=questions if questions in FAMILY_NAMES else "auto", model="linear")
    if questions == "bisection":
        learner = Bisection(learner)
    if questions == "generic":
        learner = GenericScheme(loss=loss)
    model = askone.OneBitRegressor(-3, 3, learner=learner, random_state=0)
    fits = (loss, questions) in PAIRS or (questions == "generic" and loss != "squared")
    if not fits and questions != "bisection":
        with pytest.raises(IncompatibleParts, match="loss must be one of"):
            model.fit(X, Y)
        return
    assert np.isfinite(model.fit(X, Y).predict(X)).all()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_by_name(name):
    learners = [SGD(model=name)] if name == "kernel" else [Filters(model=name), SGD(model=name)]
    for learner in learners:
        assert np.isfinite(askone.OneBitRegressor(-3, 3, learner=learner).fit(X, Y).predict(X)).all()


@pytest.mark.parametrize("name", STEP_RULES)
def test_every_step_by_name(name):
    assert np.isfinite(askone.OneBitRegressor(-3, 3, learner=SGD(model="linear", step=name)).fit(X, Y).predict(X)).all()


@pytest.mark.parametrize("name", AVERAGES)
def test_every_average_by_name(name):
    assert np.isfinite(askone.OneBitRegressor(-3, 3, learner=SGD(average=name)).fit(X, Y).predict(X)).all()


def test_parameters_are_in_the_users_units():
    wide, narrow = (
        askone.OneBitRegressor(-3 * s, 3 * s, learner=SGD(loss=Huber(0.3 * s)), random_state=0, decimals=None)
        for s in (10, 1)
    )
    assert np.allclose(wide.fit(X, 10 * Y).predict(X), 10 * narrow.fit(X, Y).predict(X))
    far, near = (
        askone.OneBitRegressor(-3 * s, 3 * s, learner=SGD(loss="squared", limit=4.0 * s), random_state=0, decimals=None)
        for s in (10, 1)
    )
    assert np.allclose(far.fit(X, 10 * Y).predict(X), 10 * near.fit(X, Y).predict(X))


def test_ones_own_model_and_loss():
    class Softer(Loss):
        def value(self, z, y):
            return np.sqrt(1 + (z - y) ** 2).sum(axis=1) - z.shape[1]

        def gradient(self, z, y):
            return (z - y) / np.sqrt(1 + (z - y) ** 2)

        def lipschitz(self, m):
            return np.sqrt(m)

    askone.checks.check_loss_gradient(Softer())
    full = askone.OneBitRegressor(-3, 3, learner=SGD(loss=Softer(), questions="full"), random_state=0).fit(X, Y)
    assert full.score(X, Y) > 0.3
    mine = askone.OneBitRegressor(-3, 3, learner=GenericScheme(loss=Softer(), model=models()["linear"]))
    assert np.isfinite(mine.fit(X, Y).predict(X)).all()
    with pytest.raises(InvalidArgument, match="to be saved"):
        mine.save("nowhere")
    assert isinstance(mine.stream_.learner.model, FeatureModel)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"low": 1, "high": 1}, "high"),
        ({"low": 1}, "high"),
        ({"high": 1}, "low"),
        ({"low": [0, 0, 0], "high": 1}, "low"),
        ({"low": 0, "high": "ten"}, "high"),
        ({"low": 0, "high": 1, "unit": ["m"]}, "unit"),
        ({"low": 0, "high": 1, "unit": "m", "wording": Wording(unit="km")}, "unit"),
        ({"low": 0, "high": 1, "wording": Wording(("a", "b"))}, "names"),
        ({"low": 0, "high": 1, "wording": "Buy it?"}, "wording"),
        ({"low": 0, "high": 1, "wording": "{threshold:.2f}"}, "wording"),
        ({"low": 0, "high": 1, "wording": "{price}?"}, "wording"),
        ({"low": 0, "high": 1, "budget": 2.5}, "budget"),
        ({"low": 0, "high": 1, "budget": 0}, "budget"),
        ({"low": 0, "high": 1, "resample": "yes"}, "resample"),
        ({"low": 0, "high": 1, "random_state": "x"}, "random_state"),
        ({"low": 0, "high": 1, "random_state": -1}, "random_state"),
        ({"low": 0, "high": 1, "decimals": True}, "decimals"),
        ({"low": 0, "high": 1, "decimals": "few"}, "decimals"),
        ({"low": 0, "high": 1, "decimals": 99}, "decimals"),
    ],
    ids=str,
)
def test_bad_parameters_name_themselves(options, argument):
    with pytest.raises(InvalidArgument) as caught:
        askone.OneBitRegressor(**options).fit(X, Y)
    assert caught.value.argument == argument
    assert str(caught.value).startswith(argument)


@pytest.mark.parametrize(
    ("learner", "argument"),
    [
        (SGD(loss="hinge"), "loss"),
        (SGD(limit=1.0), "limit"),
        (SGD(questions="psychic"), "questions"),
        (SGD(model="forest"), "model"),
        (SGD(kernel="cosine"), "kernel"),
        (SGD(bandwidth=0), "bandwidth"),
        (SGD(n_components=0), "n_components"),
        (SGD(step="leap"), "step"),
        (SGD(gamma=-1), "gamma"),
        (SGD(step="dog", gamma=1.0), "gamma"),
        (SGD(step=STEP_RULES["sqrt"](), gamma=1.0), "gamma"),
        (SGD(step="coin", ridge=1.0), "step"),
        (SGD(average="mode"), "average"),
        (SGD(ridge=-1), "ridge"),
        (SGD(calibration="a"), "calibration"),
        (Filters(quantile=1.5), "quantile"),
        (Filters(model="forest"), "model"),
        (Filters(kernel="cosine"), "kernel"),
        (Filters(bandwidth=0), "bandwidth"),
        (Filters(n_components=0), "n_components"),
        (Filters(calibration=0), "calibration"),
        (Filters(covariance="round"), "covariance"),
        (GenericScheme(step="dog"), "step"),
        (askone.Game(), "learner"),
        ("game", "learner"),
        (None, "learner"),
    ],
    ids=repr,
)
def test_a_learner_checks_its_arguments(learner, argument):
    with pytest.raises(InvalidArgument) as caught:
        askone.OneBitRegressor(0, 1, learner=learner).fit(X, Y)
    assert caught.value.argument == argument
    assert str(caught.value).startswith(argument)


@pytest.mark.parametrize(
    "learner",
    [SGD(loss=Huber(0.1)), SGD(loss="squared", limit=2.0), "generic", "ellipsoid", "bisection", "memory", "rls"],
    ids=repr,
)
def test_what_needs_a_range_says_so(learner):
    with pytest.raises(InvalidArgument, match="low must be given"):
        askone.OneBitRegressor(learner=learner).fit(X, Y)


def test_losses_and_words_check_themselves():
    for make, argument in (
        (lambda: Quantile(1.5), "tau"),
        (lambda: Huber(-1), "delta"),
        (lambda: Wording("price"), "names"),
        (lambda: Wording([1]), "names"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            make()
        assert caught.value.argument == argument


def test_the_theorems_step_needs_a_budget_when_live():
    with pytest.raises(InvalidArgument, match="budget must be given"):
        askone.OneBitRegressor(-3, 3, learner=SGD(step="theorem")).start(X)
    model = askone.OneBitRegressor(-3, 3, learner=SGD(step="theorem"), budget=100).start(X)
    assert model.stream_.learner.step.gamma == pytest.approx(0.1)


@pytest.mark.parametrize("bad", [[[np.nan, 1.0]], [[1.0]], "rows", [[1.0, np.inf]], [], None])
def test_bad_rows_leave_the_model_as_it_was(bad):
    model = askone.OneBitRegressor(-3, 3, random_state=0).fit(X, Y)
    before, asked = model.predict(X), model.stream_.asked
    for call in (model.predict, model.ask):
        with pytest.raises(InvalidArgument):
            call(bad)
    with pytest.raises(InvalidArgument):
        model.ask([[1.0, 2.0], [1.0]])
    assert np.array_equal(model.predict(X), before)
    assert model.stream_.asked == asked


def test_a_failed_fit_keeps_the_fitted_model():
    model = askone.OneBitRegressor(-3, 3, random_state=0).fit(X, Y)
    before = model.predict(X)
    for bad_X, bad_y in ((X, Y[:5]), (X, np.where(Y > 0, np.nan, Y)), (X, None), (X * np.nan, Y)):
        with pytest.raises(InvalidArgument):
            model.fit(bad_X, bad_y)
    assert np.array_equal(model.predict(X), before)


def test_a_refused_fit_spends_nothing():
    purse, oracle = askone.Budget(500), askone.Oracle(Y[:10])
    model = askone.OneBitRegressor(-3, 3, budget=purse)
    with pytest.raises(InvalidArgument):
        model.fit(X, oracle)
    asked = askone.Oracle(Y)
    asked.respond(250, askone.HalfSpace((1.0,), 0.0))
    with pytest.raises(AlreadyAsked):
        model.fit(X, asked)
    assert (purse.spent, oracle.questions, asked.questions) == (0, 0, 1)
    model.fit(X, Y)
    with pytest.raises(BudgetSpent):
        askone.OneBitRegressor(-3, 3, budget=askone.Budget(1, spent=1)).fit(X, Y)
    model.set_params(random_state="x")
    with pytest.raises(InvalidArgument):
        model.fit(X[:, :1], Y)
    assert model.n_features_in_ == 2


def test_a_small_fit_keeps_most_rows_for_learning():
    model = askone.OneBitRegressor(budget=1000, random_state=0).fit(X[:40], Y[:40])
    assert model.stream_.learner.base.questions == 10


def test_tell_before_ask():
    with pytest.raises(UnknownQuestion, match="no question"):
        askone.OneBitRegressor(0, 1).tell(0, True)


def test_divergence_is_said_and_leaves_the_model_as_it_was():
    model = askone.OneBitRegressor(-3, 3, random_state=0).fit(X, Y)
    before = model.predict(X)
    model.set_params(learner=SGD(questions="full", loss="squared", step="constant", gamma=50.0, model="linear"))
    with pytest.raises(askone.errors.Diverged, match="shorter steps"):
        model.fit(X, Y)
    assert np.array_equal(model.predict(X), before)


# -- several questions per row ------------------------------------------------------------------------


def test_bisection_finds_labels_to_the_precision_and_counts():
    X, y = small_rows(60), small_labels(1, 60)[:, 0]
    model = askone.OneBitRegressor(-2, 2, learner=Bisection(precision=0.25), decimals=None, random_state=0)
    assert model.fit(X, y).stream_.asked == 60 * 3  # 4 / 2^3 = 2 x 0.25
    assert model.score(X, y) > 0.3
    short = askone.OneBitRegressor(-2, 2, learner="bisection", budget=100, random_state=0).fit(X, y)
    assert short.stream_.asked == short.stream_.budget.spent == 100


def test_memory_for_numbers():
    X, y = small_rows(50), small_labels(1, 50)[:, 0]
    model = askone.OneBitRegressor(-2, 2, learner="memory", budget=300, random_state=0).fit(X, y)
    again = askone.OneBitRegressor(-2, 2, resample=True, budget=300, random_state=0).fit(X, y)
    assert 250 < model.stream_.asked <= 300  # it stops when all rows are known
    assert model.score(X, y) > again.score(X, y) - 0.1
    back = reloaded(model)
    assert np.array_equal(back.predict(X), model.predict(X))
    learner, state = back.stream_.learner, back.stream_.state
    known = next(i for i, x in enumerate(X) if not learner.wants(state, x, i))  # fit knows rows by their number
    with pytest.raises(InvalidArgument, match="x must be a row whose label is not known yet"):
        back.ask(X[known], key=known)
    fresh = small_rows(51)[50]
    question = back.ask(fresh, key="fresh")
    back.tell(question, True)
    assert back.ask(fresh, key="fresh").threshold > question.threshold


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": Bisection(precision=0)}, "precision must be a number above 0"),
        ({"learner": Bisection(SGD(questions="passive"))}, "questions must be one of: 'auto', 'full'"),
        ({"learner": Bisection("sgd")}, "learner must be Bisection"),
        ({"learner": Remembering(SGD(loss="squared"))}, "'median', 'quantile'"),
        ({"learner": Remembering(SGD(questions="full"))}, "'median', 'quantile'"),
        ({"resample": "sometimes"}, "resample must be"),
        ({"learner": "bisection", "bundles": [(1.0,)]}, "bundles must be left out"),
    ],
)
def test_what_several_questions_refuse(options, message):
    model = askone.OneBitRegressor(**{"low": -2, "high": 2} | options)
    with pytest.raises(InvalidArgument, match=message):
        model.fit(small_rows(20), small_labels(1, 20)[:, 0])
    assert "stream_" not in model.__dict__
