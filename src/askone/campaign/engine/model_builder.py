"""The model of a campaign: made from its settings and a sample of rows, packed with its encoder, unpacked.

>>> from askone.campaign.settings.settings import Numbers, Settings
>>> estimator = make_estimator(Settings("Prices", Numbers(0, 100)), np.array([[0.0], [0.5], [1.0]]))
>>> packed = unpack(pack(estimator, Encoder(())))
>>> str(packed.estimator.ask([0.5])), packed.encoder
('Is the value above 50?', Encoder(parts=(), pairs=0))
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone.campaign.engine.packed_model import ENCODER, MODEL, parts
from askone.campaign.engine.second_opinions import refuse_auto
from askone.campaign.settings.settings import Settings
from askone.encoding.encoder import Encoder
from askone.errors import InvalidArgument
from askone.estimators.base import OneBitEstimator
from askone.estimators.learner_choices.base import LearnerChoice
from askone.estimators.learner_choices.gradients import SGD, RecursiveLeastSquares
from askone.estimators.loading import load
from askone.features.layout import RowLayout
from askone.learners import registry


@final
class PackedModel(NamedTuple):
    """A model and what makes its inputs of a row; an order without rows has no encoder."""

    estimator: OneBitEstimator
    encoder: Encoder | None


def make_estimator(
    settings: Settings, sample: Array | None, features: int | None = None, layout: RowLayout | None = None
) -> OneBitEstimator:
    """Return the model, begun with a look at encoded rows; None: an order of items, without rows.

    ``features`` is how many it has at most of each kind (None: as many as the estimator is best with); ``layout``
    says what the columns of rows are (None: numbers).
    """
    estimator = begin(settings, chosen_learner(settings, features), sample, layout)
    try:
        refuse_auto(settings, estimator.stream_.learner)
    except InvalidArgument as error:
        raise InvalidArgument(settings.place(error.argument), error.allowed, error.got) from error
    return estimator


def begin(
    settings: Settings, choice: LearnerChoice | str, sample: Array | None, layout: RowLayout | None = None
) -> OneBitEstimator:
    """Return a model with this learner, begun with a look at encoded rows (see ``make_estimator``)."""
    if sample is None and settings.labels.needs_rows:
        raise InvalidArgument("rows", "a table, to ask about its rows", None)
    learner, budget = settings.learner, settings.ask.budget
    # The campaign counts its budget itself; the model only plans with it: a quarter at most to seek a range.
    estimator = settings.labels.estimator(
        settings,
        learner=choice,
        flip=settings.flip,
        budget=None if budget is None else max(1, budget // settings.ask.people),
        keep_log=False,
        random_state=learner.seed,
    )
    try:
        rows: Any = None if sample is None else np.asarray(sample, dtype=np.float64)
        estimator.start(rows, layout=layout)
    except InvalidArgument as error:
        raise InvalidArgument(settings.place(error.argument), error.allowed, error.got) from error
    estimator.budget = estimator.stream_.budget = None
    return estimator


def chosen_learner(settings: Settings, features: int | None = None) -> LearnerChoice | str:
    """Return the learner of the settings, with so many features; one that was registered by its name."""
    labels, learner = settings.labels, settings.learner
    if learner.learner in registry.names():
        return learner.learner
    if learner.learner == "rls":
        return RecursiveLeastSquares(n_components=features)
    if learner.learner == "sgd" or learner.loss != "median":
        return SGD(loss=learner.loss if "loss" in labels.tuned else "auto", n_components=features)
    return labels.likelihood(settings, features)


def pack(estimator: OneBitEstimator, encoder: Encoder | None) -> bytes:
    """Return a model and its encoder as one zip: the model as ``save`` writes it, and JSON.  The same for the same."""
    model, whole = io.BytesIO(), io.BytesIO()
    estimator.save(model)
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MODEL), model.getvalue())
        record = None if encoder is None else encoder.to_json()
        archive.writestr(zipfile.ZipInfo(ENCODER), json.dumps(record, allow_nan=False))
    return whole.getvalue()


def unpack(packed: bytes) -> PackedModel:
    """Return the inverse of ``pack``."""
    model, record = parts(packed)
    return PackedModel(load(io.BytesIO(model)), None if record is None else Encoder.from_json(record))
