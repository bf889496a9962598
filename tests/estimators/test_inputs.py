"""Estimators take DataFrames with texts and categories, lists of dictionaries, and sparse matrices."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import askone
from askone.errors import InvalidArgument
from askone.estimators.inputs import inputs_for
from samples import reloaded

RANDOM = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "size": np.where(RANDOM.random(N) < 0.1, np.nan, RANDOM.normal(50, 10, N)),
        "rooms": RANDOM.integers(1, 5, N),
        "colour": RANDOM.choice(["red", "blue", "green"], N),
        "grade": pd.Categorical(RANDOM.choice([1, 2, 3], N)),
        "old": RANDOM.random(N) < 0.5,
        "note": [" ".join(RANDOM.choice(["fine", "dark", "near", "park", "noisy", "calm"], 4)) for _ in range(N)],
    }
)
Y = 3.0 * FRAME["rooms"] + np.where(FRAME["colour"] == "red", 5.0, 0.0)


def test_a_frame_is_read_as_a_campaign_reads_a_table():
    model = askone.OneBitRegressor(0, 30, random_state=0).start(FRAME)
    kinds = {part.column: part.kind for part in inputs_for(FRAME).encoder.parts}
    assert kinds == {
        "size": "number", "rooms": "number", "colour": "category", "grade": "category", "old": "category",
        "note": "terms",
    }  # fmt: skip
    assert model.layout_.levels == (3, 3, 2)
    assert model.layout_.pairs > 0
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == list(FRAME.columns)


def test_all_calls_take_frames_rows_and_dictionaries():
    model = askone.OneBitRegressor(0, 30, interval=0.8, random_state=0).start(FRAME)
    for place in range(20):
        row = FRAME.iloc[place]
        model.tell(model.ask(row, key=place), bool(Y[place] > 15))
    model.tell(model.ask(dict(FRAME.iloc[20])), True)
    for question in model.ask(FRAME[21:24]):
        model.tell(question, False)
    question, place = model.ask_from(FRAME[30:], keys=range(30, N))
    assert 0 <= place < N - 30
    again = reloaded(model.tell(question, True))
    for call in ("predict", "predict_interval"):
        first, second = (np.asarray(getattr(one, call)(FRAME)) for one in (model, again))
        assert (first == second).all()
    shuffled = FRAME[["note", "old", "grade", "colour", "rooms", "size"]].astype({"colour": "category"})
    assert (again.predict(shuffled) == model.predict(FRAME)).all()
    assert (again.predict(FRAME.to_dict("records")) == model.predict(FRAME)).all()
    assert again.predict(next(iter(model.rows_.values()))[None]).shape == (1,)
    other = model.refit(askone.OneBitRegressor(0, 30, learner=askone.Filters(model="linear"), random_state=0))
    assert other.predict(FRAME).shape == (N,)


def test_classes_are_fitted_and_scored():
    names = np.where(FRAME["colour"] == "red", "warm", "cold")
    model = askone.OneBitClassifier(["warm", "cold"], random_state=0)
    assert model.predict(FRAME).shape == (N,)
    assert model.predict_proba(FRAME).shape == (N, 2)
    assert model.fit(FRAME, names).score(FRAME, names) > 0.9
    assert clone(model).fit(FRAME[["size", "colour"]], names).n_features_in_ == 2
    assert "feature_names_in_" not in model.fit(RANDOM.normal(size=(30, 2)), ["warm", "cold"] * 15).__dict__


def test_orders_by_rows_of_a_frame():
    model = askone.OneBitRanker(["tea", "milk"], random_state=0).start(FRAME)
    model.tell(model.ask(FRAME.iloc[0]), True)
    assert model.predict(FRAME).shape == (N, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": "large"}, r"X\['size'\] must be a number; got 'large'"),
        ({"colour": None, "color": "red"}, r"X must be rows with the columns .* none with 'colour'.*'color'"),
    ],
)
def test_the_column_that_does_not_fit_is_named(change, message):
    model = askone.OneBitRegressor(0, 30).start(FRAME)
    bad = FRAME[:2].assign(**change)
    if "color" in change:
        bad = bad.drop(columns="colour")
    with pytest.raises(InvalidArgument, match=message):
        model.predict(bad)
    with pytest.raises(InvalidArgument, match="X must be a DataFrame with the columns 'size'"):
        model.predict([["a", "b"]])


def test_a_model_of_numbers_names_the_column_that_holds_others():
    model = askone.OneBitRegressor(0, 30).start(FRAME[["rooms"]])
    assert model.layout_ is None
    with pytest.raises(InvalidArgument, match=r"X\['rooms'\] must be finite numbers, as in the rows"):
        model.predict(pd.DataFrame({"rooms": ["many"]}))


def test_flags_are_the_same_however_they_are_spelled():
    model = askone.OneBitClassifier(["a", "b"], random_state=0).start(pd.DataFrame({"old": ["True", "False"] * 9}))
    model.tell(model.ask({"old": "True"}), True)
    proba = model.predict_proba(pd.DataFrame({"old": [True, False]}))
    assert (proba == model.predict_proba(pd.DataFrame({"old": ["True", "False"]}))).all()
    assert proba[0, 0] != proba[1, 0]


def test_sparse_matrices_of_few_columns_are_as_dense_ones():
    X = sparse.random(80, 30, 0.2, format="csr", random_state=0)
    y = np.asarray(X.sum(axis=1)).ravel()
    model = askone.OneBitRegressor(0, 10, random_state=0).fit(X, y)
    assert (model.predict(X) == askone.OneBitRegressor(0, 10, random_state=0).fit(X.toarray(), y).predict(X)).all()


def test_sparse_matrices_of_many_columns_are_packed():
    X = sparse.random(80, 5000, 0.002, format="csr", random_state=0)
    model = askone.OneBitRegressor(0, 10, random_state=0).start(X)
    pairs = int(np.diff(X.indptr).max())
    assert (model.layout_.pairs, model.layout_.terms, model.layout_.columns) == (pairs, 5000, 1 + 2 * pairs)
    rows = model._validated(X, reset=False)
    back = np.zeros((80, 5001))
    for row, out in zip(rows, back, strict=True):
        out[row[1 : 1 + pairs].astype(int)] += row[1 + pairs :]
    assert (back[:, 1:] == X.toarray()).all()
    question = model.ask(X[:1])[0]
    assert reloaded(model.tell(question, True)).predict(X.tocoo()).shape == (80,)
    assert (model.predict(X.toarray()) == model.predict(sparse.csc_array(X))).all()
    wide = sparse.csr_matrix(np.arange(-2500, 2500.0)[None])
    with pytest.warns(UserWarning, match="1 row.s. have more entries than rows hold"):
        kept = model._validated(wide, reset=False)[0]
    assert sorted(kept[1 + pairs :])[0] == -2500
    with pytest.raises(InvalidArgument, match="X must be 5000 columns; got 7"):
        model.predict(sparse.csr_matrix((1, 7)))
    X.data[0] = np.nan
    with pytest.raises(InvalidArgument, match=rf"X\[:, {X.indices[0]}\] must be finite"):
        model.predict(X)


def test_polars_is_read_like_pandas():
    frame = FRAME.astype({"grade": str, "old": bool})
    model = askone.OneBitRegressor(0, 30, random_state=0).fit(frame, Y)
    other = pl.DataFrame(frame.to_dict("list"))
    assert (model.predict(other) == model.predict(frame)).all()


def test_labels_that_are_none_are_refused_by_name():
    frame = [{"a": i, "b": "xy"[i % 2]} for i in range(6)]
    with pytest.raises(InvalidArgument, match=r"y must be numbers \(OneBitClassifier learns classes\); got .*'dear'"):
        askone.OneBitRegressor(0, 1).fit(frame, ["dear"] * 6)
    assert askone.OneBitRegressor(0, 9, random_state=0).fit(frame, list("123456")).predict(frame).shape == (6,)
    for missing in (None, float("nan")):
        with pytest.raises(InvalidArgument, match=r"y must be classes.* got (None|nan) in row 2 \(from 0\)|y.*NaN"):
            askone.OneBitClassifier().fit(frame, ["a", "b", missing, "a", "b", "a"])


def test_a_table_without_rows_is_refused():
    frame = pd.DataFrame({"a": [1.0], "b": ["x"]})[:0]
    with pytest.raises(InvalidArgument, match="X and y must be rows .*0 sample"):
        askone.OneBitRegressor(0, 1).fit(frame, [])
