import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import askone
from askone import SGD, Bisection, Game, OneBitClassifier, RecursiveLeastSquares, Remembering, SetLikelihood
from askone.checks import check_learner
from askone.errors import AlreadyAnswered, IncompatibleParts, InvalidArgument
from askone.estimators import model_file
from askone.labels.losses import SURROGATES
from askone.learners.gradients.subset import SET_FAMILIES
from learner_samples import BY_GRADIENTS as ALL
from learner_samples import KNOWN_BY, MODELS, NAMES, PAIRS, five, learners
from samples import assert_sees_bits_only, reloaded, small_rows


@pytest.mark.parametrize("name", ALL)
def test_contracts(name):
    check_learner(ALL[name], small_rows(), five(40)[1])


def test_a_growing_model_works_too():
    check_learner(dict(learners(MODELS["kernel"]))["median sphere"], small_rows(), five(40)[1])


@pytest.mark.parametrize("name", [name for name in ALL if "full" not in name])
def test_labels_that_answer_alike_teach_alike(name):
    """Other labels on the same side of every question leave the same state, bit for bit."""
    learner = ALL[name]
    X, y = five(80)
    assert_sees_bits_only(learner, X, y, NAMES)


@pytest.mark.filterwarnings("ignore::askone.SortedRowsWarning", "ignore::askone.LabelRangeWarning")
@parametrize_with_checks(
    [
        OneBitClassifier(),
        OneBitClassifier(learner=SGD(questions="sphere")),
        OneBitClassifier(learner=SGD(questions="singletons", loss="logistic")),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


SMALL = SGD(n_components=100)
STRATEGIES = {family: SGD(questions=family, n_components=100) for family in SET_FAMILIES} | {
    "auto": SetLikelihood(n_components=100), "game": Game(n_components=100), "bisection": Bisection(SMALL)
}  # fmt: skip


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_learns(name):
    X, y = five(1500)
    model = OneBitClassifier(NAMES, learner=STRATEGIES[name], random_state=0).fit(X, y)
    assert model.score(*five(1000, 9)) > (0.6 if name in ("coordinates", "passive", "game") else 0.8)


@pytest.mark.parametrize("loss", SURROGATES)
@pytest.mark.parametrize(
    "options", [{}, {"max_set_size": 1}, {"sets": [[a, b] for a in NAMES for b in NAMES if a < b]}]
)
def test_every_surrogate_learns_from_restricted_sets(loss, options):
    X, y = five(1200)
    model = OneBitClassifier(NAMES, learner=SGD(loss=loss, n_components=100), random_state=0, **options).fit(X, y)
    assert model.score(*five(1000, 9)) > 0.75


def test_attributes_alone_are_asked_and_learnt():
    X, y = five(1200)
    model = OneBitClassifier(NAMES, attributes=KNOWN_BY, learner=SetLikelihood(n_components=100), random_state=0).fit(
        X, y
    )
    assert model.score(*five(1000, 9)) > 0.75
    asked = {str(question) for question in model.ask(X)}
    assert asked == {"Is it feline?", "Does it have tufted ears?", "Is it tame?"}


def test_probabilities_follow_the_truth():
    """A coin with a known bias on each side: the estimates lie within their noise."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(4000, 1))
    p = np.where(X[:, :1] > 0, [[0.7, 0.2, 0.1]], [[0.1, 0.3, 0.6]])
    y = np.array(["a", "b", "c"])[(rng.uniform(size=(4000, 1)) > np.cumsum(p, axis=1)).sum(axis=1)]
    for loss in ("squared", "logistic"):
        learner = SGD(loss=loss, model="linear", step="sqrt")
        model = OneBitClassifier(["a", "b", "c"], learner=learner, random_state=0).fit(X, y)
        assert model.predict_proba([[1.0], [-1.0]]) == pytest.approx(
            np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), abs=0.1
        )


def test_costs_move_the_decision():
    """Missing a rotten fruit costs ten times more than throwing a good one away."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 1))
    y = np.where(rng.uniform(size=4000) < (X[:, 0] + 1) / 2, "rotten", "good")
    cost = [[0, 10], [1, 0]]
    learner = SetLikelihood(n_components=50)
    cautious = OneBitClassifier(["good", "rotten"], cost=cost, learner=learner, random_state=0).fit(X, y)
    plain = OneBitClassifier(["good", "rotten"], learner=learner, random_state=0).fit(X, y)
    grid = np.linspace(-0.95, 0.95, 200)[:, None]
    thrown = np.mean(cautious.predict(grid) == "rotten")
    assert thrown > 0.75  # all with a risk above 1/11, that is x > -.82
    assert 0.35 < np.mean(plain.predict(grid) == "rotten") < 0.65
    assert cautious.decision_function(grid).shape == (200,)


def test_a_hierarchical_loss_prefers_the_right_branch():
    """No animal is likely, but felines are: the loss by distance in the tree says feline."""
    names = ["cat", "lion", "owl"]
    loss = [[0, 1, 4], [1, 0, 4], [4, 4, 0]]
    rng = np.random.default_rng(0)
    y = rng.choice(names, p=[0.3, 0.3, 0.4], size=4000)
    X = rng.normal(size=(4000, 1))
    learner = SGD(model="linear", step="sqrt")
    tree = OneBitClassifier(names, cost=loss, learner=learner, random_state=0).fit(X, y)
    flat = OneBitClassifier(names, learner=learner, random_state=0).fit(X, y)
    assert np.mean(flat.predict(X[:200]) == "owl") > 0.8
    assert np.mean(np.isin(tree.predict(X[:200]), ["cat", "lion"])) > 0.95


def test_live_with_many_small_questions():
    X, y = five(60)
    model = OneBitClassifier(NAMES, random_state=0).start(X)
    assert set(model.predict(X)) <= set(NAMES)
    questions = model.ask(X[:30], key=list(range(30)))
    for question, name in zip(questions[::-1], y[:30][::-1], strict=True):
        model.tell(question, question.answer(name))
    with pytest.raises(AlreadyAnswered):
        model.tell(questions[0], True)
    assert all(1 <= len(question.members) <= 3 for question in questions)
    open_ = model.ask(X[40])
    back = reloaded(model)
    assert (back.predict(X) == model.predict(X)).all()
    assert (back.tell(open_, True).predict(X) == model.tell(open_, True).predict(X)).all()
    assert list(back.classes_) == list(NAMES)


SAVED = [
    {"attributes": KNOWN_BY},
    {"sets": PAIRS},
    {"sets": {"who?": ["cat", "owl"], "what?": ["lion", "owl"], "where?": ["owl", "chicken"], "how?": ["cat"]}},
    {"cost": 1 - np.eye(5)},
    {"learner": "game"},
    {"learner": Bisection()},
    {"learner": Remembering()},
    {"learner": RecursiveLeastSquares(questions="full")},
    {"learner": SGD(loss="logistic", step="dowg")},
]


@pytest.mark.parametrize("options", SAVED, ids=str)
def test_saving_keeps_everything(options):
    X, y = five(100)
    model = OneBitClassifier(NAMES, random_state=0, **options).fit(X, y)
    back = reloaded(model)
    assert (back.predict(X) == model.predict(X)).all()
    draw = np.random.default_rng(0).uniform(size=model.stream_.learner.width)
    row = five(50, 5)[0][0]
    assert back.stream_.learner.ask(back.stream_.state, row, draw) == model.stream_.learner.ask(
        model.stream_.state, row, draw
    )


def test_several_questions_per_row_are_counted():
    X, y = five(200)
    model = OneBitClassifier(NAMES, learner="bisection", budget=150, random_state=0).fit(X, y)
    assert model.stream_.asked == model.stream_.budget.spent == 150
    everything = OneBitClassifier(NAMES, learner="bisection", random_state=0).fit(X, y)
    assert everything.stream_.learner.rows_known(everything.stream_.state) == 200
    assert 200 < everything.stream_.asked < 200 * np.log2(5) + 200
    live = OneBitClassifier(NAMES, learner="bisection", random_state=0).start(X)
    count = 0
    while live.wants(X[0], "first"):
        question = live.ask(X[0], key="first")
        live.tell(question, question.answer("owl"))
        count += 1
    assert 2 <= count <= 3


def test_memory_asks_each_row_no_more_than_needed():
    X, y = five(40)
    model = OneBitClassifier(NAMES, learner="memory", budget=2000, random_state=0).fit(X, y)
    assert model.stream_.asked < 40 * 4
    learner, state = model.stream_.learner, model.stream_.state
    assert not any(learner.wants(state, x, i) for i, x in enumerate(X))


def test_classes_are_found_in_y_or_given():
    X, y = five(50)
    assert list(OneBitClassifier(random_state=0).fit(X, y).classes_) == sorted(set(y))
    digits = OneBitClassifier(random_state=0).fit(X, np.arange(50) % 3)
    assert digits.predict(X).dtype.kind == "i"
    with pytest.raises(InvalidArgument, match="y must be one of: 'a', 'b'; got 'c'"):
        OneBitClassifier(["a", "b"]).fit(X, ["a", "b", "c", "a", "b"] * 10)
    with pytest.raises(InvalidArgument, match="classes must be a list of class names"):
        OneBitClassifier().start(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": SGD(questions="telepathy")}, "questions must be one of"),
        ({"learner": SGD(loss="hinge")}, "loss must be one of"),
        ({"learner": SGD(loss="logistic", questions="sphere")}, "'median'"),
        ({"classes": ["a", "a"]}, "different classes"),
        ({"attributes": {"feline": ["dog"]}}, "feline"),
        ({"attributes": KNOWN_BY, "learner": SGD(questions="sphere")}, "'designed'"),
        ({"attributes": KNOWN_BY, "learner": SGD(loss="median")}, "'squared'"),
        ({"attributes": KNOWN_BY, "cost": 1 - np.eye(5)}, "sets that span"),
        ({"cost": np.eye(4)}, "5 x 5"),
        ({"learner": "game", "cost": 1 - np.eye(5)}, "left alone"),
        ({"learner": Remembering(SGD(questions="singletons"))}, "'sphere'"),
        ({"learner": Remembering(precision=0.1)}, "precision must be one of: None"),
        ({"learner": "bisection", "resample": True}, "resample must be one of: False"),
        ({"learner": askone.Filters()}, "learner must be one of: 'SetLikelihood', 'SGD'"),
        ({"resample": "often"}, "resample must be"),
        ({"max_set_size": 9}, "max_set_size"),
    ],
)
def test_bad_arguments_leave_the_model_as_it_was(options, message):
    X, y = five(30)
    model = OneBitClassifier(**{"classes": NAMES} | options)
    before = dict(model.__dict__)
    with pytest.raises(InvalidArgument, match=message):
        model.fit(X, y)
    assert model.__dict__ == before


def test_the_median_has_no_probabilities():
    X, y = five(30)
    model = OneBitClassifier(NAMES, learner=SGD(loss="median"), random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = model.predict_proba
    attributes = OneBitClassifier(NAMES, attributes=KNOWN_BY, learner="sgd", random_state=0).fit(X, y)
    with pytest.raises(InvalidArgument, match="sets that span"):
        attributes.predict_proba(X)


def test_a_wrong_tell_changes_nothing():
    X, _ = five(30)
    model = OneBitClassifier(NAMES, random_state=0).start(X)
    question = model.ask(X[0])
    before = model.stream_.state
    for answer in ("cat", 1, None, "yes"):
        with pytest.raises(InvalidArgument):
            model.tell(question, answer)
    with pytest.raises(askone.AskoneError):
        model.tell(askone.Subset(("cat",)), True)
    assert model.stream_.state is before
    with pytest.raises(IncompatibleParts):
        OneBitClassifier(NAMES, attributes=KNOWN_BY, learner=SGD(questions="singletons")).start(X)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"classes": 5}, "classes"),
        ({"classes": "abc"}, "classes"),
        ({"classes": {"a", "b"}}, "classes"),
        ({"classes": ["a"]}, "classes"),
        ({"cost": [[0, 1], [1, 0]]}, "cost"),
        ({"cost": 1 - np.eye(5), "learner": SGD(loss="median")}, "loss"),
        ({"cost": 1 - np.eye(5), "learner": SGD(questions="sphere")}, "loss"),
        ({"cost": 1 - np.eye(5), "learner": SGD(questions="passive")}, "loss"),
        ({"attributes": KNOWN_BY, "learner": SGD(loss="logistic", questions="full")}, "loss"),
        ({"attributes": KNOWN_BY, "learner": "game"}, "questions"),
        ({"attributes": KNOWN_BY, "learner": "memory"}, "learner"),
        ({"max_set_size": 2, "learner": "memory"}, "learner"),
        ({"sets": []}, "sets"),
        ({"attributes": {}}, "attributes"),
        ({"learner": SGD(gamma=1.0)}, "gamma"),
    ],
)
def test_the_right_argument_is_named(options, argument):
    model = OneBitClassifier(**{"classes": NAMES} | options)
    with pytest.raises(InvalidArgument) as refused:
        model.start(five(30)[0])
    assert refused.value.argument == argument


def test_starting_does_not_forget_what_was_paid_for():
    X, _ = five(30)
    model = OneBitClassifier(NAMES, random_state=0).start(X).start(X)  # nothing to lose yet
    model.tell(model.ask(X[0]), True)
    with pytest.raises(askone.AskoneError, match="learnt from 1 answer"):
        model.start(X)
    assert model.stream_.answered == 1
    assert clone(model).start(X).stream_.answered == 0


def test_keys_of_other_libraries_are_taken():
    X, _ = five(30)
    model = OneBitClassifier(NAMES, random_state=0).start(X)
    model.ask(X[0], key=np.int64(7))
    model.ask(X[1:3], key=np.array(["a", "b"]))
    model.ask(X[3:4], key="solo")
    assert model.stream_.keys == {7, "a", "b", "solo"}
    for key in (1.5, None, ["x"]):
        with pytest.raises(InvalidArgument, match="key"):
            model.ask(X[4:6], key=key) if key is not None else model.ask(X[4:6], key=[None, 2.5])


def test_a_row_with_an_open_question_waits_and_a_skip_ends_it():
    X, _ = five(30)
    model = OneBitClassifier(NAMES, learner="bisection", budget=10, random_state=0).start(X)
    question = model.ask(X[0], key="first")
    with pytest.raises(askone.AskoneError, match="open question"):
        model.ask(X[0], key="first")
    model.skip(question)
    assert not model.wants(X[0], "first")
    assert model.wants(X[1], "second")
    for i in range(2, 11):
        model.ask(X[i], key=i)
    assert not model.wants(X[1], "second")  # the budget is spent


def test_a_saved_model_keeps_its_skips_and_counts_its_visits(tmp_path):
    X, y = five(30)
    model = OneBitClassifier(NAMES, learner="memory", random_state=0).start(X)
    for row, key in ((X[0], "first"), (X[1], None), (X[2], 7)):
        model.skip(model.ask(row, key=key))
    while model.wants(X[3], "known"):
        question = model.ask(X[3], key="known")
        model.tell(question, question.answer(y[3]))
    model.stream_.revisit(X[3], "known")
    model.save(tmp_path / "m")
    back = askone.load(tmp_path / "m")
    assert not any(back.wants(row, key) for row, key in ((X[0], "first"), (X[1], None), (X[2], 7)))
    assert back.wants(X[4])
    assert back.wants(X[2], "7")
    assert back.stream_.visits == 1

    document, arrays = model_file.read(tmp_path / "m")
    for name in ("visits", "skipped"):  # as older files have it
        del document[name]
    model_file.save(tmp_path / "old", document, arrays)
    old = askone.load(tmp_path / "old")
    assert (old.predict(X) == model.predict(X)).all()
    assert old.wants(X[0], "first")


@pytest.mark.parametrize(
    "options", [{"classes": range(5)}, {"attributes": {"x": [np.int64(0)], "y": {1, 2}, "z": [1, 3]}}]
)
def test_what_can_be_used_can_be_saved(options, tmp_path):
    X, _ = five(30)
    model = OneBitClassifier(**{"classes": range(5)} | options, random_state=0).start(X)
    model.tell(model.ask(X[0]), True)
    assert (reloaded(model).predict(X) == model.predict(X)).all()
    for wrong in (tmp_path, None):
        with pytest.raises(InvalidArgument, match="path"):
            model.save(wrong)
