"""askone learns a model by asking one yes/no question per example."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from askone import checks, theory
from askone.choices import Subset
from askone.errors import AskoneError
from askone.estimators import InputScaleWarning, OneBitClassifier, OneBitRanker, OneBitRegressor, load
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
from askone.version import __version__

if TYPE_CHECKING:
    from askone.client import Client as Client  # loaded when it is first used: it needs an extra

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


def __getattr__(name: str) -> Any:
    if name == "Client":
        return importlib.import_module("askone.client").Client
    raise AttributeError(f"module 'askone' has no attribute {name!r}")
