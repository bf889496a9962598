"""askone learns a model by asking one yes/no question per example."""

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
