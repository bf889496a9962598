"""Models read back from disk."""

from __future__ import annotations

from typing import Any

from askone.errors import InvalidArgument, InvalidFile
from askone.estimators import files
from askone.estimators._old_params import modern
from askone.estimators.base import OneBitEstimator
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.ranker import OneBitRanker
from askone.estimators.regressor import OneBitRegressor
from askone.learners.models.base import Model

ESTIMATORS: dict[str, type[OneBitEstimator]] = {
    cls.__name__: cls for cls in (OneBitRegressor, OneBitClassifier, OneBitRanker)
}


def load(path: files.Place, model: Model[Any] | None = None) -> Any:
    """A model saved by ``save``, from a path or an open binary file; a network is handed in again as ``model``."""
    document, arrays = files.read(path)
    estimator = ESTIMATORS.get(str(document.get("estimator")))
    if estimator is None:
        raise InvalidArgument("path", f"a saved {' or '.join(ESTIMATORS)}", document.get("estimator"))
    try:
        params = {name: files.decode(value, arrays, model) for name, value in document["params"].items()}
        return estimator(**modern(params, document["learner"]))._restored(document, arrays, model)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidFile(f"{files.shown(path)} is damaged: {error!r}") from error
