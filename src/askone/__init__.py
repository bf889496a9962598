"""askone learns a model by asking one yes/no question per example."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from askone.version import __version__

if TYPE_CHECKING:
    from askone import checks, theory
    from askone.choices import Subset
    from askone.client import Client as Client  # not in __all__: it needs an extra
    from askone.errors import AskoneError
    from askone.estimators.base import InputScaleWarning
    from askone.estimators.classifier import OneBitClassifier
    from askone.estimators.loading import load
    from askone.estimators.ranker import OneBitRanker
    from askone.estimators.regressor import OneBitRegressor
    from askone.events import read_log, write_log
    from askone.finite import Classes, Finite
    from askone.oracles import Oracle
    from askone.questions import HalfSpace, Reveal, question_from_json
    from askone.rankings import Ranking
    from askone.replay import RefitWarning
    from askone.simulation import simulate
    from askone.spaces import Real
    from askone.stored import compare, refit
    from askone.streams import Budget, Stream

__all__ = [
    "AskoneError",
    "Budget",
    "Classes",
    "Finite",
    "HalfSpace",
    "InputScaleWarning",
    "OneBitClassifier",
    "OneBitRanker",
    "OneBitRegressor",
    "Oracle",
    "Ranking",
    "Real",
    "RefitWarning",
    "Reveal",
    "Stream",
    "Subset",
    "__version__",
    "checks",
    "compare",
    "load",
    "question_from_json",
    "read_log",
    "refit",
    "simulate",
    "theory",
    "write_log",
]

# Where each name is: loaded when it is first used, since all of them together take seconds.
_PLACES = {
    "AskoneError": "errors",
    "Budget": "streams",
    "Classes": "finite",
    "Client": "client",
    "Finite": "finite",
    "HalfSpace": "questions",
    "InputScaleWarning": "estimators.base",
    "OneBitClassifier": "estimators.classifier",
    "OneBitRanker": "estimators.ranker",
    "OneBitRegressor": "estimators.regressor",
    "Oracle": "oracles",
    "Ranking": "rankings",
    "Real": "spaces",
    "RefitWarning": "replay",
    "Reveal": "questions",
    "Stream": "streams",
    "Subset": "choices",
    "compare": "stored",
    "load": "estimators.loading",
    "question_from_json": "questions",
    "read_log": "events",
    "refit": "stored",
    "simulate": "simulation",
    "write_log": "events",
}
_MODULES = ("checks", "theory")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"askone.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'askone' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"askone.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_MODULES})
