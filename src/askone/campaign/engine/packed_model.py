"""A campaign's model as it is kept, opened as far as asking needs it.

The whole of it is an estimator, which is made where something is predicted (``model_builder.unpack``): whoever asks
needs the learner alone, and scikit-learn is not loaded for it.

>>> from askone.campaign.engine.model_builder import make_estimator, pack
>>> from askone.campaign.settings.settings import Items, Settings
>>> kept = pack(make_estimator(Settings("Drinks", Items(("tea", "milk"))), None), None)
>>> beginning(kept).learner.space.items
('tea', 'milk')
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, NamedTuple, final

from askone.errors import InvalidFile
from askone.estimators import model_file
from askone.learners.base import Learner

MODEL, ENCODER = "model.zip", "encoder.json"


@final
class LearnerStart(NamedTuple):
    """A learner, its first state, and the seed of its questions."""

    learner: Learner[Any]
    seed: int


def parts(packed: bytes) -> tuple[bytes, Any]:
    """Return the model as ``save`` wrote it, and its encoder as JSON values."""
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            model_file.check_sizes(archive, len(packed))
            model, record = archive.read(MODEL), json.loads(archive.read(ENCODER))
    except model_file.UNREADABLE as error:
        raise InvalidFile(f"not a packed model: {error}") from error
    return model, record


def require_small(packed: bytes) -> None:
    """Raise ``InvalidFile`` if a model is too large to be opened again; only its directory is read."""
    model = parts(packed)[0]
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        model_file.check_sizes(archive, len(model))


def beginning(packed: bytes) -> LearnerStart:
    """Return the learner of a packed model: the same as that of the estimator which was packed."""
    document, arrays = model_file.read(io.BytesIO(parts(packed)[0]))
    try:
        return LearnerStart(model_file.decode(document["learner"], arrays, None), document["seed"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidFile(f"a packed model is damaged: {error!r}") from error
