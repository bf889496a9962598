"""Learners of every family, small, for tests that run all of them."""

import numpy as np

from askone import Classes
from askone.labels.classes import Finite
from askone.labels.losses import SURROGATES, Median, Quantile, Squared
from askone.labels.number import Real
from askone.learners.gradients import FullGradient, QuantileThreshold
from askone.learners.gradients.subset import SET_PAIRS, FullLabel, Sphere, set_strategy
from askone.learners.paper.game import GameLearner
from askone.learners.repeated.bisection import BisectedClasses, BisectedReal
from askone.learners.repeated.memory import RememberedClasses, RememberedReal
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.softmax.classifier import SetLikelihoodLearner
from samples import models

NAMES = ("cat", "lion", "caracal", "owl", "chicken")
KNOWN_BY = {"feline": ["cat", "lion", "caracal"], "tufted ears": ["caracal", "owl"], "tame": ["cat", "chicken"]}
PAIRS = [[a, b] for a in NAMES for b in NAMES if a < b]
MODELS = models()


def five(n=300, seed=0):
    """Five classes in sectors of the plane."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi)
    return X, np.array(NAMES)[(angle // (2 * np.pi / 5)).astype(int)]


def learners(model):
    space = Classes(NAMES)
    for loss, family in SET_PAIRS:
        yield f"{loss} {family}", Surrogate(set_strategy(space, SURROGATES[loss](), family), model)
    yield (
        "attributes",
        Surrogate(set_strategy(Classes(NAMES, attributes=KNOWN_BY), SURROGATES["squared"](), "designed"), model),
    )
    costs = Finite(NAMES, loss=np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
    yield "costs", Surrogate(set_strategy(costs, SURROGATES["squared"](), "designed"), model)
    yield "game", GameLearner(space, model)


BY_GRADIENTS = dict(learners(MODELS["nystroem"]))

FEATURES = models()["nystroem"].features
COST = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
BY_LIKELIHOOD = {
    "classes": SetLikelihoodLearner(Classes(NAMES), FEATURES),
    "small sets": SetLikelihoodLearner(Classes(NAMES, max_set_size=1), FEATURES),
    "attributes": SetLikelihoodLearner(Classes(NAMES, attributes=KNOWN_BY), FEATURES),
    "sets": SetLikelihoodLearner(Classes(NAMES, sets=PAIRS), FEATURES),
    "costs": SetLikelihoodLearner(Finite(NAMES, loss=COST), FEATURES),
    "flips": SetLikelihoodLearner(Classes(NAMES), FEATURES, flip=0.1),
    "linear": SetLikelihoodLearner(Classes(NAMES), models()["linear"].features),
    "fourier": SetLikelihoodLearner(Classes(NAMES), models()["fourier"].features),
    "one prior": SetLikelihoodLearner(Classes(NAMES), FEATURES, scales=(1.0,), temperatures=(1.0,)),
}

MODEL = models()["linear"]
LETTERS = tuple("abcdefg")
BITS = {f"bit {b}": [LETTERS[y] for y in range(7) if y >> b & 1] for b in range(3)}


def classes_of(n=40):
    return np.array(LETTERS)[np.random.default_rng(3).integers(7, size=n)]


def bisected(space=None, loss=None):
    return BisectedClasses(Surrogate(FullLabel(space or Classes(LETTERS), loss or Median()), MODEL))


REPEATED = {
    "bisected reals": BisectedReal(SGDLearner(Real([-2, -2], 2), MODEL, FullGradient()), 0.1),
    "bisected, rounded": BisectedReal(SGDLearner(Real(-2, 2, decimals=1), MODEL, FullGradient(Squared())), 0.01),
    "bisected classes": bisected(),
    "bisected attributes": bisected(Classes(LETTERS, attributes=BITS), Squared()),
    "bisected costs": bisected(Finite(LETTERS, loss=1 - np.eye(7)), Squared()),
    "remembered median": RememberedReal(SGDLearner(Real(-2, 2), MODEL)),
    "remembered quantile": RememberedReal(SGDLearner(Real(-2, 2, decimals=1), MODEL, QuantileThreshold(Quantile(0.8)))),
    "remembered classes": RememberedClasses(Surrogate(Sphere(Classes(LETTERS)), MODEL)),
}
