"""Models read back from disk, also those that were saved when estimators had the arguments of their learners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from askone.errors import AskoneError, InvalidArgument, InvalidFile
from askone.estimators import model_file
from askone.estimators.base import OneBitEstimator
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.learner_choices.base import LearnerChoice
from askone.estimators.learner_choices.defaults import Filters, SetLikelihood, Thurstone
from askone.estimators.learner_choices.gradients import SGD, Ellipsoid, Game, GenericScheme, RecursiveLeastSquares
from askone.estimators.learner_choices.repeated import Bisection, Remembering
from askone.estimators.ranker import OneBitRanker
from askone.estimators.regressor import OneBitRegressor
from askone.labels.losses import Huber, LogCosh, Quantile
from askone.labels.wording import YES_NO, Wording
from askone.learners.models.base import Model

ESTIMATORS: dict[str, type[OneBitEstimator]] = {
    cls.__name__: cls for cls in (OneBitRegressor, OneBitClassifier, OneBitRanker)
}

# Who was chosen, by the saved name of who learns.
_CHOSEN: dict[str, type[LearnerChoice]] = {
    "Filters": Filters, "Intervals": Filters, "SGD": SGD, "Surrogate": SGD, "GenericSGD": GenericScheme,
    "Ellipsoid": Ellipsoid, "Game": Game, "SetLikelihood": SetLikelihood, "Contest": SetLikelihood,
    "Thurstone": Thurstone, "PseudoMeans": RecursiveLeastSquares, "PseudoLabels": RecursiveLeastSquares,
    "BisectedReal": Bisection, "BisectedClasses": Bisection,
    "RememberedReal": Remembering, "RememberedClasses": Remembering,
}  # fmt: skip
_LEARNERS_OWN = {
    "questions", "loss", "quantile", "delta", "limit", "step", "gamma", "average", "ridge", "calibration", "precision",
    "covariance", "model", "kernel", "bandwidth", "n_components",
}  # fmt: skip
_GONE = _LEARNERS_OWN | {"names", "answers"}


def load(path: model_file.Place, model: Model[Any] | None = None) -> Any:
    """Return a model saved by ``save``, from a path or an open binary file.

    A network is handed in again as ``model``.
    """
    document, arrays = model_file.read(path)
    estimator = ESTIMATORS.get(str(document.get("estimator")))
    if estimator is None:
        raise InvalidArgument("path", f"a saved {' or '.join(ESTIMATORS)}", document.get("estimator"))
    try:
        params = {name: model_file.decode(value, arrays, model) for name, value in document["params"].items()}
        return estimator(**modern(params, document["learner"]))._restored(document, arrays, model)
    except AskoneError:
        raise
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise InvalidFile(f"{model_file.shown(path)} is damaged: {error!r}") from error


def modern(params: Mapping[str, Any], learner: Mapping[str, Any]) -> dict[str, Any]:
    """Return an estimator's arguments as they are now; ``learner`` is the saved learner.

    >>> params = modern({"low": 0, "high": 1, "learner": "auto", "step": "dog", "ridge": 0.0}, {"type": "SGD"})
    >>> list(params), params["learner"] == SGD(step="dog")
    (['low', 'high', 'learner'], True)
    """
    if "guess" in params:
        return _with_rates(**params)
    if not params.keys() & _GONE:
        return dict(params)
    old = {name: value for name, value in params.items() if name in _LEARNERS_OWN}
    new = {name: value for name, value in params.items() if name not in _LEARNERS_OWN}
    saved = learner["template"] if learner["type"] == "Calibrated" else learner
    new["learner"] = _choice(_CHOSEN[saved["type"]], old)
    if new.get("resample") == "memory":
        new["resample"] = False
    names, answers = new.pop("names", None), tuple(new.pop("answers", YES_NO))
    if names or answers != YES_NO:
        new["wording"] = Wording(tuple(names or ()), new.pop("unit", ""), new.get("wording", ""), answers)
    return new


def _with_rates(guess: float, lapse: float, learner: str | LearnerChoice, **others: Any) -> dict[str, Any]:
    """Return the arguments of estimators that had these rates, which filters alone read."""
    if guess or lapse:
        learner = replace(learner if isinstance(learner, Filters) else Filters(), guess=guess, lapse=lapse)
    return {**others, "learner": learner}


def _choice(kind: type[Any], old: Mapping[str, Any]) -> LearnerChoice:
    if kind in (Bisection, Remembering):
        inner = {
            name: value for name, value in old.items() if name != "questions" or value not in ("bisection", "auto")
        }
        chosen: LearnerChoice = kind(_choice(SGD, inner), old.get("precision"))
        return chosen
    given = {field.name: old[field.name] for field in fields(kind) if field.name in old}
    loss = old.get("loss")
    if "loss" in given:
        given["loss"] = _loss(loss, old)
    if kind is Filters:
        given["quantile"] = loss.tau if isinstance(loss, Quantile) else old.get("quantile", 0.5)
    if kind is GenericScheme and given.get("step") == "auto":
        given["step"] = "sqrt"
    made: LearnerChoice = kind(**given)
    return made


def _loss(loss: Any, old: Mapping[str, Any]) -> Any:
    if loss == "quantile":
        return Quantile(old.get("quantile", 0.5))
    if loss in ("huber", "logcosh") and old.get("delta") is not None:
        return Huber(old["delta"]) if loss == "huber" else LogCosh(old["delta"])
    return loss
