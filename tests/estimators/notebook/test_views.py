import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import askone
from askone.errors import InvalidArgument, MissingExtra, NotYet
from samples import small_labels, small_rows

X, Y = small_rows(120), small_labels(1, 120)[:, 0]
DRINKS = ["tea", "coffee", "milk"]


@pytest.fixture
def pyplot():
    with mpl.rc_context({"backend": "agg"}):
        from matplotlib import pyplot as plt  # noqa: PLC0415  # with this backend alone

        yield plt
        plt.close("all")


def live(answers: int = 12):
    model = askone.OneBitRegressor(-4, 4, unit="m", random_state=0).start(X)
    for key in range(answers):
        question = model.ask(X[key], key=key)
        model.tell(question, question.holds(Y[key]))
    return model


def poll(answers: int = 12):
    model = askone.OneBitRanker(DRINKS, random_state=0)
    for _ in range(answers):
        question = model.ask()
        model.tell(question, question.holds(DRINKS))
    return model


def classes(**options):
    return askone.OneBitClassifier(random_state=0, **options).fit(X, np.where(Y > 0, "up", "down"))


MODELS = {
    "fresh": lambda: askone.OneBitRegressor(-4, 4),
    "without a range": askone.OneBitRegressor,
    "without classes": askone.OneBitClassifier,
    "impossible": lambda: askone.OneBitRegressor(5, 1),
    "of no such learner": lambda: askone.OneBitClassifier(["a", "b"], learner="none"),
    "fitted": lambda: askone.OneBitRegressor(-4, 4, random_state=0, budget=130).fit(X, Y),
    "fitted by gradients": lambda: askone.OneBitRegressor(-4, 4, learner="sgd", random_state=0).fit(X, Y),
    "fitted to classes": classes,
    "live": live,
    "poll": poll,
    "fresh poll": lambda: askone.OneBitRanker(DRINKS),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_shows_itself_and_its_attributes(name):
    model = MODELS[name]()
    assert "predict" in dir(model)  # scikit-learn's looks at each attribute
    shown = model._repr_mimebundle_()
    assert shown["text/plain"] == repr(model)
    assert "<strong>OneBit" in shown["text/html"]
    assert "learns" in shown["text/html"]
    assert "Traceback" not in shown["text/html"]
    assert type(model).__name__ in make_pipeline(StandardScaler(), model)._repr_html_()


def test_what_is_not_there_yet_says_so_and_is_an_attribute_error():
    model = askone.OneBitRegressor(-4, 4)
    for name in ("log_", "rows_", "fits_", "range_"):
        assert getattr(model, name, "nothing") == "nothing"
        with pytest.raises(NotYet, match="call start, ask or fit first"):
            getattr(model, name)
    assert getattr(model.fit(X, Y), "log_", None) is None
    with pytest.raises(NotYet, match="keep_log=True keeps it"):
        _ = model.log_


def test_a_card_escapes_what_people_wrote():
    wicked = "<script>alert(1)</script>"
    for model in (askone.OneBitRegressor(0, 1, unit=wicked), askone.OneBitClassifier([wicked, "b"])):
        assert "<script" not in model._repr_html_()
        assert "&lt;script&gt;" in model._repr_html_()


def test_the_curve_of_a_fit_is_against_labels_and_changes_nothing():
    model = askone.OneBitRegressor(-4, 4, random_state=0).fit(X, Y)
    curve = model.learning_curve()
    assert curve.points[-1][0] == 120
    assert curve.points[-1][1] == pytest.approx(np.abs(model.predict(X) - Y).mean())
    logged = askone.OneBitRegressor(-4, 4, random_state=0, keep_log=True).fit(X, Y)
    np.testing.assert_allclose(logged.learning_curve().points, curve.points)
    np.testing.assert_array_equal(logged.predict(X), model.predict(X))
    found = classes()
    assert found.learning_curve().points[-1][1] == np.mean(found.predict(X) != np.where(Y > 0, "up", "down"))
    assert str(found.learning_curve()).startswith("share of wrong classes: ")
    chosen = askone.OneBitRegressor(-4, 4, random_state=0, select="auto").fit(X[:20], Y[:20])
    assert chosen.learning_curve().points[-1][0] == 20


def test_the_curve_of_people_is_what_the_model_expects():
    for model, unit in ((live(), "m"), (poll(), "%")):
        curve = model.learning_curve()
        assert (curve.points[-1][0], curve.unit) == (12, unit)
        assert curve.points[-1][1] < curve.points[0][1]
        assert "as the model expects" in str(curve)
    hidden = askone.OneBitRegressor(-4, 4, random_state=0).fit(X, askone.Oracle(Y))
    with pytest.raises(NotYet, match="no learning curve"):
        hidden.learning_curve()


def test_the_curve_goes_on_where_a_log_is_resumed():
    for model, resumed in ((live(60), live(0)), (poll(), poll(0))):
        resumed.learn_from(model.log_, model.rows_, own=True, fits=model.fits_)
        points = resumed.learning_curve().points
        assert len(points) > 5
        assert set(points) <= set(model.learning_curve().points)
        assert points[-1] == model.learning_curve().points[-1]


def test_progress_is_shown_where_it_is_wanted(capsys):
    askone.OneBitRegressor(-4, 4, random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""
    shown = askone.OneBitRegressor(-4, 4, random_state=0).fit(X, Y, progress=True)
    assert "120/120" in capsys.readouterr().out
    assert len(shown.learning_curve().points) > 50
    patient = askone.OneBitRegressor(-4, 4, learner="bisection", random_state=0).fit(X[:9], Y[:9], progress=True)
    assert patient.stream_.asked > 9
    with pytest.raises(InvalidArgument, match="progress must be"):
        askone.OneBitRegressor(-4, 4).fit(X, Y, progress="yes")


def test_plots_draw_on_given_axes_or_new_ones(pyplot):
    fitted = classes(keep_log=True)
    _, axes = pyplot.subplots(1, 2)
    assert fitted.plot_curve(axes[0]) is axes[0]
    assert axes[0].get_ylabel() == "share of wrong classes (%)"
    assert fitted.plot_questions(axes[1]) is axes[1]
    assert {text.get_text() for text in axes[1].get_yticklabels()} == {"up", "down"}
    assert live().plot_questions().get_ylabel() == "threshold (m)"
    assert len(poll().plot_questions().patches) == 6
    with pytest.raises(NotYet, match="call start"):
        askone.OneBitRegressor(-4, 4).plot_curve()
    with pytest.raises(NotYet, match="no question was answered"):
        live(0).plot_questions()


def test_the_log_is_a_data_frame():
    model = live(3)
    model.skip(model.ask(X[3], key="skipped"))
    question = model.ask(X[4], key="retracted")
    model.tell(question, True)
    model.retract(question)
    model.tell(model.ask(X[5], key="ann's"), True, person="ann")
    frame = model.log_frame()
    assert frame["person"].fillna("").tolist() == [""] * 5 + ["ann"]
    frame = frame[:5]
    assert frame["row"].tolist() == [0, 1, 2, "skipped", "retracted"]
    assert frame["status"].tolist() == ["answered", "answered", "answered", "skipped", "open"]
    assert frame["answer"].isna().tolist() == [False, False, False, True, True]
    assert str(frame["answer"].dtype) == "boolean"
    assert f"Is the value above {frame['threshold'][1]:g} m?" == frame["question"][1]
    assert live(0).log_frame().empty
    assert poll(2).log_frame()["question"][0].startswith("Do you prefer ")


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"data frames need pandas: pip install 'askone\[notebook\]'"):
        live(1).log_frame()
