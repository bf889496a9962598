"""Fits are entries of the log: live, replayed and saved they are the same, and they fall out with an answer."""

import json
from dataclasses import replace

import numpy as np
import pytest

import askone
from askone._common.packed_arrays import digest, pack, unpack
from askone.checks import check_learner
from askone.errors import InvalidArgument, InvalidFile
from askone.learners.abilities import Refits, able
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.range_search import Calibrated
from askone.session.log import Fitted, Kept, event_from_json
from askone.session.oracle import Oracle
from askone.session.replay import fold
from askone.session.simulation import simulate
from askone.session.stream import Stream
from refitting import FittedMean
from samples import models, reloaded, same, small_labels, small_rows

LEARNER = FittedMean(askone.Real(-2, 2), 2)
X, y = small_rows(40), small_labels(1, 40)[:, 0]


def played(learner=LEARNER, rows=40):
    kept = Kept()
    stream = Stream(learner, seed=3, log=kept.note, rows=kept.rows, fits=kept.fits)
    for i in range(rows):
        question = stream.ask(X[i], key=i)
        stream.tell(question, question.answer(y[i]))
    return stream, kept


def fits_of(events):
    return [event for event in events if isinstance(event, Fitted)]


def through_json(events):
    return [event_from_json(json.loads(json.dumps(event.to_json()))) for event in events]


def test_a_fit_is_an_event_and_is_folded_where_it_took_effect():
    stream, kept = played()
    fits = fits_of(kept.events)
    assert [fit.learnt for fit in fits] == [6, 8, 10, 12, 15, 18, 22, 27, 33, 40]
    assert [fit.id for fit in fits] == [f"fit-{n}" for n in range(10)]
    assert set(kept.fits) == {fit.hash for fit in fits}
    events = through_json(kept.events)
    assert same(LEARNER, stream.state, fold(LEARNER, kept.rows, events, kept.fits))
    assert same(LEARNER, stream.state, fold(LEARNER, kept.rows, events))  # a bare log: they are computed anew
    assert same(LEARNER, stream.state, fold(LEARNER, kept.rows, events, own=False))  # and where they are due
    unfitted = [event for event in events if not isinstance(event, Fitted)]
    assert not same(LEARNER, stream.state, fold(LEARNER, kept.rows, unfitted))


def test_what_was_kept_is_adopted_and_not_computed_again():
    """As on another processor, whose fits differ in their last digits."""
    stream, kept = played()
    other = {name: pack({**unpack(packed), "slope": np.array([0.7])}) for name, packed in kept.fits.items()}
    renamed = {name: digest(packed) for name, packed in other.items()}
    events = [replace(e, hash=renamed[e.hash]) if isinstance(e, Fitted) else e for e in kept.events]
    state = fold(LEARNER, kept.rows, events, {renamed[name]: packed for name, packed in other.items()})
    assert state.slope.tolist() == [0.7]
    assert not same(LEARNER, state, stream.state)


def test_damaged_fits_are_refused():
    _, kept = played()
    name = fits_of(kept.events)[0].hash
    with pytest.raises(InvalidFile, match=f"the fit {name} is damaged"):
        fold(LEARNER, kept.rows, kept.events, {**kept.fits, name: b"[]\n"})


@pytest.mark.parametrize("gone", [[2], [39], [20, 7], [12, 13, 3]])
def test_a_fit_falls_out_with_an_answer_it_was_made_of(gone):
    stream, kept = played()
    for number in gone:
        before = len(fits_of(kept.events))
        stream.retract(number)
        assert len(fits_of(kept.events)) == before + (number < 39)  # a new one is due at once, or not yet
        assert same(LEARNER, stream.state, fold(LEARNER, kept.rows, through_json(kept.events), kept.fits))
        question = stream.ask(X[number], key=f"{number} again")
        stream.tell(question, True)
        assert same(LEARNER, stream.state, fold(LEARNER, kept.rows, through_json(kept.events), kept.fits))
    stream.tell(gone[0], False)
    assert same(LEARNER, stream.state, fold(LEARNER, kept.rows, through_json(kept.events), kept.fits))
    assert len({event.id for event in kept.events}) == len(kept.events)


def test_another_learner_has_fits_of_its_own():
    stream, kept = played()
    stream.retract(5)
    other = FittedMean(askone.Real(-2, 2), 2, first=9)
    taught = Kept()
    new = Stream(other, log=taught.note, rows=taught.rows, fits=taught.fits)
    askone.session.teach(new, kept.rows, kept.events)
    # Not where the answer was still among the others that was taken back later.
    assert [fit.learnt for fit in fits_of(taught.events)] == [39]
    assert same(other, new.state, fold(other, taught.rows, taught.events, taught.fits))
    question = new.ask(X[0], key="more")
    new.tell(question, True)
    assert same(other, new.state, fold(other, taught.rows, taught.events, taught.fits))
    plain = FilterLearner(askone.Real(-2, 2), (models()["linear"].features,))
    without = [event for event in kept.events if not isinstance(event, Fitted)]
    assert same(plain, fold(plain, kept.rows, kept.events), fold(plain, kept.rows, without))


def test_a_log_goes_on_with_its_fits(tmp_path):
    stream, kept = played()
    stream.retract(38)
    askone.write_log(tmp_path / "log", kept.events, kept.fits)
    log, fits = askone.read_log(tmp_path / "log"), askone.read_fits(tmp_path / "log")
    assert (log, fits) == (kept.events, kept.fits)
    again = askone.refit(log, kept.rows, LEARNER, seed=3, own=True, fits=fits)
    for one in (stream, again):
        question = one.ask(X[0], key="more")
        one.tell(question, True)
    assert same(LEARNER, stream.state, again.state)
    text = (tmp_path / "log").read_text()
    (tmp_path / "log").write_text(text.replace('"data": "', '"data": "AAAA'))
    with pytest.raises(InvalidFile, match="is damaged"):
        askone.read_fits(tmp_path / "log")


def test_a_simulation_and_a_stream_fit_alike():
    stream, _ = played()
    assert same(LEARNER, stream.state, simulate(LEARNER, X, Oracle(y), seed=3).state)


def test_a_range_that_is_sought_has_the_fits_of_what_it_stands_for():
    learner = Calibrated(LEARNER, questions=12)
    assert able(learner, Refits)
    assert not able(Calibrated(FilterLearner(askone.Real(-2, 2), (models()["linear"].features,))), Refits)
    stream, kept = played(learner)
    assert stream.state.space is not None
    assert fits_of(kept.events)
    assert same(learner, stream.state, fold(learner, kept.rows, through_json(kept.events), kept.fits))
    assert same(learner, stream.state, simulate(learner, X, Oracle(y), seed=3).state)
    with pytest.raises(InvalidArgument, match="fitted to its answers"):
        Calibrated(FilterLearner(askone.Real(-2, 2), (models()["linear"].features,))).fit(stream.state)


def test_the_contract_of_a_learner_has_fits():
    check_learner(LEARNER, X, y)
    check_learner(Calibrated(LEARNER, questions=12), X, y)


def test_models_are_saved_with_their_fits(fitted):
    model = askone.OneBitRegressor(-2, 2, learner="fitted", keep_log=True, random_state=0).fit(X, y)
    bare = askone.OneBitRegressor(-2, 2, learner="fitted", random_state=0).fit(X, y)
    assert np.array_equal(model.predict(X), bare.predict(X))
    back = reloaded(model)
    assert len(back.fits_) == 10
    assert (back.fits_, back.log_) == (model.fits_, model.log_)
    for one in (model, back):
        for i in range(10):
            question = one.ask(X[i], key=f"more {i}")
            one.tell(question, bool(i % 2))
    assert back.log_ == model.log_
    assert fits_of(back.log_)[-1].id == "fit-10"
    learner = back.stream_.learner
    assert same(learner, model.stream_.state, fold(learner, back.rows_, back.log_, back.fits_))
    other = askone.OneBitRegressor(-2, 2, learner="fitted", random_state=0)
    assert np.array_equal(model.refit(other).predict(X), model.predict(X))


def test_models_that_forecast_are_compared_with_their_fits():
    _, kept = played()
    judged = askone.compare(kept.events, kept.rows, {"one": LEARNER, "never fitted": replace(LEARNER, first=99)})
    assert not np.array_equal(judged.losses["one"], judged.losses["never fitted"])


@pytest.mark.parametrize(
    "packed",
    [b"", b"[]\nmore", b'[["a", "<f8", [1]]]\n', b'[["a", "|O", [0]]]\n', b'[["a", "<f8", [-1]]]\n', b"{", b"[1]\n"],
)
def test_bytes_that_are_no_arrays_are_refused(packed):
    with pytest.raises(InvalidFile, match="not packed arrays"):
        unpack(packed)


def test_arrays_are_packed_alike_everywhere():
    arrays = {"a": np.arange(6.0).reshape(2, 3), "flag": np.array(True), "text": np.array(["x", "yz"])}
    back = unpack(pack(arrays))
    assert all(np.array_equal(back[name], arrays[name]) for name in arrays)
    turned = {"text": arrays["text"], "flag": arrays["flag"], "a": np.asfortranarray(arrays["a"]).astype(">f8")}
    assert digest(pack(turned)) == digest(pack(arrays))
    with pytest.raises(InvalidArgument, match="numbers, flags or texts"):
        pack({"a": np.array([{}])})
