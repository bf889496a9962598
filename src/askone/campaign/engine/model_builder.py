"""The model of a campaign: made from its settings and a sample of rows, packed with its encoder, unpacked.

>>> from askone.campaign.settings.settings import Numbers, Settings
>>> estimator = make_estimator(Settings("Prices", Numbers(0, 100)), np.array([[0.0], [0.5], [1.0]]))
>>> packed = unpack(pack(estimator, Encoder(())))
>>> str(packed.estimator.ask([0.5])), packed.encoder
('Is the value above 50?', Encoder(parts=()))
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, Final, NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone.campaign.engine.packed_model import ENCODER, MODEL, parts
from askone.campaign.settings.settings import ClassNames, Items, Numbers, Settings
from askone.campaign.tables.encoder import Encoder
from askone.errors import InvalidArgument
from askone.estimators.base import OneBitEstimator
from askone.estimators.choices.base import LearnerChoice
from askone.estimators.choices.gradients import SGD, RecursiveLeastSquares
from askone.estimators.choices.likelihoods import Filters, SetLikelihood, Thurstone
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.loading import load
from askone.estimators.ranker import OneBitRanker
from askone.estimators.regressor import OneBitRegressor
from askone.labels.number import Wording
from askone.session import row_selection

_PLACES: Final = {
    "flip": "learner.flip", "interval": "learner.interval", "loss": "learner.loss", "learner": "learner.learner",
    "low": "labels.low", "high": "labels.high", "decimals": "labels.decimals", "classes": "labels.classes",
    "items": "labels.items", "max_set_size": "labels.max_set_size", "wording": "question.wording",
    "select": "ask.order",
}  # fmt: skip


@final
class Packed(NamedTuple):
    """A model and what makes its inputs of a row; an order without rows has no encoder."""

    estimator: OneBitEstimator
    encoder: Encoder | None


def make_estimator(settings: Settings, sample: Array | None, features: int | None = None) -> OneBitEstimator:
    """Return the model, begun with a look at encoded rows; None: an order of items, without rows.

    ``features`` is how many it has at most of each kind (None: as many as the estimator is best with).

    The campaign counts its budget itself; the model only plans with it (a range is sought with at most a
    quarter of the questions).
    """
    if sample is None and not isinstance(settings.labels, Items):
        raise InvalidArgument("rows", "a table, to ask about its rows", None)
    estimator = _estimator(settings, features)
    try:
        if isinstance(estimator, OneBitRanker):
            estimator.start(sample)
        else:
            estimator.start(np.asarray(sample, dtype=np.float64))
        if settings.ask.order == "uncertain":
            row_selection.as_forecasting(estimator.stream_.learner)
    except InvalidArgument as error:
        raise InvalidArgument(_PLACES.get(error.argument, error.argument), error.allowed, error.got) from error
    estimator.budget = estimator.stream_.budget = None
    return estimator


def _estimator(settings: Settings, features: int | None) -> OneBitEstimator:
    labels, question, learner = settings.labels, settings.question, settings.learner
    budget = settings.ask.budget
    shared: dict[str, Any] = {
        "learner": _choice(settings, features),
        "flip": learner.flip,
        "budget": None if budget is None else max(1, budget // settings.ask.overlap),
        "keep_log": False,
        "random_state": learner.seed,
    }
    if isinstance(labels, Items):
        return OneBitRanker(labels.items, wording=question.wording, **shared)
    if isinstance(labels, ClassNames):
        attributes = None if labels.attributes is None else {title: list(one) for title, one in labels.attributes}
        sets: dict[str, Any] = {"attributes": attributes, "max_set_size": labels.max_set_size}
        return OneBitClassifier(labels.classes, **sets, wording=question.wording, **shared)
    return OneBitRegressor(
        labels.low,
        labels.high,
        wording=Wording((labels.noun,) if labels.noun else (), labels.unit, question.wording, question.answers),
        decimals="auto" if labels.decimals is None else labels.decimals,
        interval=learner.interval,
        **shared,
    )


def _choice(settings: Settings, features: int | None) -> LearnerChoice:
    """Return the learner of the settings, with so many features."""
    labels, learner = settings.labels, settings.learner
    if learner.learner == "rls":
        return RecursiveLeastSquares(n_components=features)
    if learner.learner == "sgd" or learner.loss != "median":
        return SGD(loss=learner.loss if isinstance(labels, Numbers) else "auto", n_components=features)
    if isinstance(labels, Numbers):
        return Filters(n_components=features)
    return (SetLikelihood if isinstance(labels, ClassNames) else Thurstone)(n_components=features)


def pack(estimator: OneBitEstimator, encoder: Encoder | None) -> bytes:
    """Return a model and its encoder as one zip: the model as ``save`` writes it, and JSON.  The same for the same."""
    model, whole = io.BytesIO(), io.BytesIO()
    estimator.save(model)
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MODEL), model.getvalue())
        record = None if encoder is None else encoder.to_json()
        archive.writestr(zipfile.ZipInfo(ENCODER), json.dumps(record, allow_nan=False))
    return whole.getvalue()


def unpack(packed: bytes) -> Packed:
    """Return the inverse of ``pack``."""
    model, record = parts(packed)
    return Packed(load(io.BytesIO(model)), None if record is None else Encoder.from_json(record))
