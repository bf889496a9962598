"""Models saved when estimators had the arguments of their learners."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import askone
from askone import (
    SGD,
    AskoneError,
    Bisection,
    Ellipsoid,
    Filters,
    Game,
    GenericScheme,
    OneBitRegressor,
    RecursiveLeastSquares,
    Remembering,
    SetLikelihood,
    Thurstone,
    Wording,
    load,
)
from askone.errors import InvalidFile
from askone.estimators import model_file
from askone.estimators.loading import modern
from askone.labels.losses import Huber, LogCosh, Quantile
from samples import small_labels, small_rows

REGRESSOR = {
    "low": -2, "high": 2, "unit": "", "names": None, "wording": "", "answers": ("yes", "no"), "bundles": None,
    "decimals": "auto", "loss": "median", "quantile": 0.5, "delta": None, "limit": None, "questions": "active",
    "learner": "auto", "model": "auto", "kernel": "gaussian", "bandwidth": None, "n_components": 100, "step": "auto",
    "gamma": None, "average": "auto", "ridge": 0.0, "calibration": 60, "precision": None, "flip": 0.0,
    "interval": None, "covariance": "auto", "resample": False, "select": None, "keep_log": None, "random_state": 0,
}  # fmt: skip
CLASSIFIER = {
    "classes": ("a", "b"), "attributes": None, "sets": None, "max_set_size": None, "cost": None, "wording": "",
    "learner": "auto", "flip": 0.0, "questions": "auto", "loss": "auto", "model": "auto", "kernel": "gaussian",
    "bandwidth": None, "n_components": 500, "step": "auto", "gamma": None, "average": "polynomial", "ridge": 0.0,
    "resample": False, "select": None, "keep_log": None, "random_state": 0,
}  # fmt: skip
RANKER = {name: value for name, value in CLASSIFIER.items() if name not in ("classes", "attributes", "sets", "cost")}
RANKER = RANKER | {"items": ("a", "b"), "n_components": 100, "average": "auto"}
del RANKER["max_set_size"]

R, C, P = REGRESSOR, CLASSIFIER, RANKER
FEW, MANY = {"n_components": 100}, {"n_components": 500, "average": "polynomial"}


@pytest.mark.parametrize(
    ("old", "changes", "saved", "learner"),
    [
        (R, {}, "Filters", Filters(**FEW)),
        (R, {"interval": 0.9}, "Intervals", Filters(**FEW)),
        (R, {"loss": "quantile", "quantile": 0.9}, "Filters", Filters(quantile=0.9, **FEW)),
        (R, {"loss": Quantile(0.3), "covariance": "full"}, "Filters", Filters(quantile=0.3, covariance="full", **FEW)),
        (R, {"step": "dog"}, "SGD", SGD(step="dog", loss="median", questions="active", **FEW)),
        (R, {"loss": "quantile", "quantile": 0.9, "questions": "full"}, "SGD",
         SGD(loss=Quantile(0.9), questions="full", **FEW)),
        (R, {"loss": "huber", "delta": 3.0}, "SGD", SGD(loss=Huber(3.0), questions="active", **FEW)),
        (R, {"loss": "logcosh", "delta": 3.0}, "SGD", SGD(loss=LogCosh(3.0), questions="active", **FEW)),
        (R, {"loss": "huber"}, "SGD", SGD(loss="huber", questions="active", **FEW)),
        (R, {"questions": "generic", "gamma": 2.0}, "GenericSGD", GenericScheme(loss="median", gamma=2.0, **FEW)),
        (R, {"questions": "ellipsoid"}, "Ellipsoid", Ellipsoid(**FEW)),
        (R, {"learner": "rls", "loss": "squared"}, "PseudoMeans", RecursiveLeastSquares(questions="active", **FEW)),
        (R, {"questions": "bisection", "precision": 0.1}, "BisectedReal", Bisection(SGD(loss="median", **FEW), 0.1)),
        (R, {"resample": "memory"}, "RememberedReal", Remembering(SGD(loss="median", questions="active", **FEW))),
        (C, {}, "Contest", SetLikelihood(n_components=500)),
        (C, {"model": "linear"}, "SetLikelihood", SetLikelihood(model="linear", n_components=500)),
        (C, {"questions": "sphere"}, "Surrogate", SGD(questions="sphere", **MANY)),
        (C, {"questions": "game"}, "Game", Game(**MANY)),
        (C, {"questions": "bisection"}, "BisectedClasses", Bisection(SGD(**MANY))),
        (C, {"resample": "memory"}, "RememberedClasses", Remembering(SGD(**MANY))),
        (C, {"learner": "rls"}, "PseudoLabels", RecursiveLeastSquares(n_components=500)),
        (P, {}, "Thurstone", Thurstone(**FEW)),
        (P, {"gamma": 2.0}, "Surrogate", SGD(gamma=2.0, **FEW)),
        (P, {"learner": "rls", "questions": "pairs"}, "PseudoLabels", RecursiveLeastSquares(questions="pairs", **FEW)),
    ],
    ids=str,
)  # fmt: skip
def test_every_choice_of_old_is_found(old, changes, saved, learner):
    params = modern(old | changes, {"type": saved})
    assert params["learner"] == learner
    assert params["resample"] is False
    kind = {"low": askone.OneBitRegressor, "classes": askone.OneBitClassifier, "items": askone.OneBitRanker}
    estimator = next(make for name, make in kind.items() if name in params)(**params)
    assert estimator.start(small_rows()).stream_.asked == 0


def test_words_arguments_that_came_later_and_arguments_of_today():
    params = modern(REGRESSOR | {"names": ("size",), "unit": "m", "wording": "over {threshold}?"}, {"type": "Filters"})
    assert params["wording"] == Wording(("size",), "m", "over {threshold}?")
    assert "unit" not in params
    words = modern(REGRESSOR | {"answers": ("more", "less")}, {"type": "Filters"})["wording"]
    assert words.answers == ("more", "less")
    searching = {"type": "Calibrated", "template": {"type": "SGD"}}
    few = {"low": None, "high": None, "questions": "active", "model": "linear", "step": "dog"}
    assert modern(few, searching)["learner"] == SGD(model="linear", step="dog", questions="active")
    today = askone.OneBitRegressor(-2, 2, learner="sgd").get_params(deep=False)
    assert modern(today, {"type": "SGD"}) == today


@pytest.mark.parametrize("learner", ["auto", Filters(model="linear")])
def test_guesses_and_lapses_were_the_estimators_own(tmp_path, learner):
    assert modern({"low": 0, "guess": 0.0, "lapse": 0.0, "learner": learner}, {}) == {"low": 0, "learner": learner}
    chosen = replace(Filters() if learner == "auto" else learner, guess=0.02, lapse=0.5)
    model = OneBitRegressor(0, 10, learner=chosen, random_state=0).start(np.eye(3))
    model.tell(model.ask([0.0, 0.0, 1.0]), True).save(tmp_path / "new")
    document, arrays = model_file.read(tmp_path / "new")
    document["params"] |= {"guess": 0.02, "lapse": 0.5, "learner": model_file.encode(learner, arrays)}
    model_file.save(tmp_path / "old", document, arrays)
    old = askone.load(tmp_path / "old")
    assert old.learner == chosen
    assert np.array_equal(old.threshold(np.eye(3)), model.threshold(np.eye(3)))


def test_a_file_with_old_arguments_goes_on(tmp_path):
    X, y = small_rows(60), small_labels(1, 60)[:, 0]
    model = askone.OneBitRegressor(-2, 2, learner=SGD(questions="passive", gamma=2.0), random_state=0).fit(X, y)
    model.save(tmp_path / "new")
    document, arrays = model_file.read(tmp_path / "new")
    document["params"] = {**REGRESSOR, "answers": ["yes", "no"], "questions": "passive", "gamma": 2.0}
    model_file.save(tmp_path / "old", document, arrays)
    old = askone.load(tmp_path / "old")
    assert np.array_equal(old.predict(X), model.predict(X))
    assert np.array_equal(old.fit(X, y).predict(X), model.predict(X))
    document["learner"]["type"] = "Oracle"
    model_file.save(tmp_path / "odd", document, arrays)
    with pytest.raises(InvalidFile):
        askone.load(tmp_path / "odd")


def test_learners_are_saved_by_the_names_they_had():
    for name in ("SGD", "Filters", "Ellipsoid", "Game", "SetLikelihood", "Thurstone"):
        assert model_file.SAVEABLE[name].__name__ != name
        assert model_file.SAVEABLE[f"choice of {name}"] is getattr(askone, name)


@pytest.mark.parametrize(
    ("place", "value"), [(("learner", "base", "base", "space", "low"), [None, []]), (("open",), [""])]
)
def test_a_damaged_document_is_refused_as_such(place, value):
    model, kept, damaged = OneBitRegressor(0, 10, random_state=0).start(np.eye(3)), io.BytesIO(), io.BytesIO()
    model.tell(model.ask([0.0, 0.0, 1.0]), True).save(kept)
    with zipfile.ZipFile(kept) as old, zipfile.ZipFile(damaged, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "askone.json":
                document = part = json.loads(content)
                for step in place[:-1]:
                    part = part[step]
                part[place[-1]] = value
                content = json.dumps(document).encode()
            new.writestr(name, content)
    damaged.seek(0)
    with pytest.raises(AskoneError):
        load(damaged)


def test_few_bytes_that_become_many_are_refused_unread(tmp_path):
    """Zeros are packed a thousand to one: a model takes no more memory than its file and a limit allow."""
    path = tmp_path / "bomb.askone"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("askone.json", b'{"format": 1}')
        with archive.open("arrays/a.npy", "w", force_zip64=True) as member:
            for _ in range(300):
                member.write(bytes(1 << 20))
    with pytest.raises(InvalidFile, match="would take"):
        load(path)
    with path.open("rb") as file, pytest.raises(InvalidFile, match="would take"):
        load(file)
