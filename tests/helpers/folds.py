"""A hash of what every learner asks and learns, on whatever processor this process takes itself to run on.

    PYTHONPATH=src:tests/helpers python tests/helpers/folds.py [names]

prints them as JSON.  Each learner is asked and told row by row, then streamed whole and in small blocks, and what
was streamed is told again one answer at a time: one log has one state.
"""

import hashlib
import json
import sys
from functools import partial

import numpy as np

from askone import Ranking
from askone._common import decomposition, random_table
from askone.learners.abilities import AsksAgain, Forecasts, Streams, able, stream
from askone.learners.streaming import Exchange, StreamTask
from askone.session.oracle import Oracle

# Maps are fitted once and stored, by LAPACK; here they are fitted everywhere alike.  Only in a process of its own:
# whoever merely imports this file (pytest looks for doctests in it) keeps NumPy as it is.
if __name__ == "__main__":
    np.linalg.eigh = lambda A: (lambda s: (s[1][::-1], s[2][::-1].T))(decomposition.svd(A))

from askone.features.layout import RowLayout
from askone.features.maps import Intercept, Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.classes import Classes
from askone.labels.losses import LOSSES, Squared
from askone.labels.number import Real
from askone.learners import gradients
from askone.learners.base import marked
from askone.learners.contest import Contest
from askone.learners.forgetting import Forgetting
from askone.learners.gradients.half_space import FullGradient, pair
from askone.learners.gradients.ranking import RANK_LOSSES, RANK_PAIRS, rank_strategy
from askone.learners.gradients.subset import Designed
from askone.learners.kalman.prediction_intervals import Intervals
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.mixture.base import Mixture
from askone.learners.mixture.classes import ClassMixture
from askone.learners.mixture.discriminant import DiscriminantMember
from askone.learners.mixture.kernel import KernelMember
from askone.learners.mixture.members import LinearMember
from askone.learners.mixture.number import NumberMixture
from askone.learners.mixture.trees import TreeMember
from askone.learners.paper.ellipsoid import EllipsoidLearner
from askone.learners.paper.generic import GenericSGD
from askone.learners.range_search import Calibrated
from askone.learners.rls.pseudo_labels import PseudoLabels, PseudoMeans
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.learners.step_rules import AVERAGES, STEP_RULES
from askone.learners.thurstone.banks import default_bank
from askone.learners.thurstone.ranker import ThurstoneLearner
from learner_samples import BY_GRADIENTS, BY_LIKELIHOOD, NAMES, REPEATED
from samples import any_labels, models, small_rows

ITEMS = ("tea", "coffee", "milk", "water")
MODELS = models()
MAPS = (
    Linear(Scaler.from_rows(small_rows())),
    *(Nystroem.from_rows(small_rows(), 20, bandwidth=b) for b in (0.5, 2.0)),
)
PLAIN = RowLayout.plain(2)
MEMBERS = (TreeMember(PLAIN), LinearMember(PLAIN, Scaler.from_rows(small_rows()), 3.0))
WIDE = np.random.default_rng(5).normal(size=(240, 14))


def learners():
    """All of them by name, with the number of answers they are told."""
    real, two = Real(-2, 2, decimals=2), Real([-2, -2], 2)
    filters = FilterLearner(real, MAPS, wary=0.2, forgets=True)
    yield "filters", filters, 160
    yield "filters, unrounded, two outputs", FilterLearner(two, MAPS[:2]), 80
    yield "filters, diagonal", FilterLearner(real, MAPS, diagonal=True), 160
    yield "filters, quantile, flips", FilterLearner(real, MAPS[1:], quantile=0.9, flip=0.1), 80
    yield "filters, revenue", FilterLearner(Real(0, 4, decimals=2), MAPS, goal="revenue"), 160
    yield "filters, many columns", FilterLearner(real, (Nystroem.from_rows(WIDE, 24),)), 60
    yield "interval", Intervals(filters), 120
    yield "range sought", Calibrated(filters, questions=20), 80
    for name in ("classes", "small sets", "attributes", "costs", "flips", "fourier"):
        yield f"classes: {name}", BY_LIKELIHOOD[name], 200
    yield "contest", Contest(tuple(SetLikelihoodLearner(Classes(NAMES), one) for one in MAPS), first=32, last=128), 160
    yield "mixture", NumberMixture(FilterLearner(real, MAPS, forgets=True), MEMBERS, PLAIN), 160
    many = KernelMember(PLAIN, Scaler.from_rows(small_rows()), size=30)
    yield "mixture, kernel", NumberMixture(FilterLearner(real, MAPS), (many,), PLAIN), 160
    five = SetLikelihoodLearner(Classes(NAMES), MAPS[1])
    yield "mixture, classes", ClassMixture(Forgetting(five), MEMBERS, PLAIN, flip=0.05), 160
    normal = DiscriminantMember(PLAIN, Scaler.from_rows(small_rows()))
    yield "mixture, discriminant", ClassMixture(five, (normal,), PLAIN), 160
    yield "forgetting", Forgetting(SetLikelihoodLearner(Classes(NAMES), MAPS[1]), alarm=1.01, odds=2.0), 160
    drinks = Ranking(ITEMS, embedding="items")
    yield "order", ThurstoneLearner(drinks, (default_bank(Intercept(2)), default_bank(MAPS[0]))), 120
    yield (
        "order, by items",
        ThurstoneLearner(Ranking(tuple("abcdefghijkl"), embedding="items"), (default_bank(MAPS[1]),)),
        60,
    )
    for loss in LOSSES:
        yield f"sgd: {loss}", SGDLearner(real, MODELS["linear"], pair(LOSSES[loss](), "active", 1)), 60
    for rule in STEP_RULES:
        yield (
            f"sgd: {rule}",
            SGDLearner(two, MODELS["fourier"], step=STEP_RULES[rule](**({"horizon": 60} if rule == "theorem" else {}))),
            60,
        )
    for average in AVERAGES:
        yield f"sgd: average {average}", SGDLearner(real, MODELS["kernel"], average=AVERAGES[average]()), 60
    yield "sgd: ridge", SGDLearner(real, MODELS["laplacian"], ridge=0.5), 60
    yield "sgd: ridge, features", SGDLearner(real, MODELS["nystroem"], ridge=0.5), 60
    yield "sgd: half-Cauchy", SGDLearner(two, MODELS["linear"], gradients.HalfCauchy()), 60
    yield "sgd: labels", SGDLearner(two, MODELS["kernel"], FullGradient(Squared())), 60
    yield "sgd: labels, features", SGDLearner(two, MODELS["nystroem"], FullGradient()), 60
    for name, learner in BY_GRADIENTS.items():
        yield f"surrogate: {name}", learner, 40
    for loss, family in RANK_PAIRS:
        strategy = rank_strategy(Ranking(ITEMS), RANK_LOSSES[loss](), family)
        yield f"surrogate of orders: {loss} {family}", Surrogate(strategy, MODELS["linear"]), 40
    yield "least squares", PseudoMeans(two, MAPS[1]), 80
    yield "least squares, classes", PseudoLabels(Designed(Classes(NAMES), Squared()), MAPS[1]), 80
    yield "ellipsoid", EllipsoidLearner(real, MAPS[0]), 60
    yield "generic", GenericSGD(two, MODELS["linear"]), 40
    for name, learner in REPEATED.items():
        yield name, learner, 60


def given_fit(learner, told):
    """Return fits that are the same everywhere: two trees for each output, one that splits levels; one of each kind."""
    m = learner.likelihood.outputs
    count = 2 * m
    left = np.arange(-1, -2 * count, -2, dtype=np.int32)
    trees = {
        "middle": np.arange(m) / 8, "roots": np.arange(count, dtype=np.int32), "value": np.arange(2 * count) / 16 - 0.5,
        "feature": np.arange(count, dtype=np.int32) % 2, "threshold": np.where(np.arange(count) % 3, 0.25, np.nan),
        "left": left, "right": left - 1,
        "words": np.full((count, 1), 5, dtype=np.uint32),
    }  # fmt: skip
    line = {"W": np.arange(3 * m).reshape(3, m) / 7 - 0.4}
    kernel = {
        "Z": small_rows(9), "bandwidth": np.array(0.5), "a": np.arange(9 * m).reshape(9, m) / 16 - 0.25,
        "b": np.full(m, 0.125),
    }  # fmt: skip
    normal = {
        "components": np.eye(2), "means": np.arange(2 * m).reshape(m, 2) / 8 - 0.25, "constants": np.arange(m) / 8,
        "factors": np.tile([[1.5, 0.0], [0.25, 2.0]], (m, 1, 1)), "freedom": 5.0 + np.arange(m), "heat": np.array(0.5),
    }  # fmt: skip
    given, fits = {TreeMember: trees, LinearMember: line, KernelMember: kernel, DiscriminantMember: normal}, {}
    for i, one in enumerate(learner.members):
        fits |= marked(f"{i}-", {**given[type(one)], "scale": np.array(1.0)})
    return {"told": np.array(told), "since": np.array(0), **fits}


def digest(learner, state):
    """Return the hash of a state."""
    whole = hashlib.sha256()
    for name, array in sorted(learner.to_arrays(state).items()):
        whole.update(f"{name} {array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def live(learner, X, oracle, n):
    """Return the hash of questions asked one by one, and of the state they lead to; of what rows are worth."""
    state, asked, words = learner.init(), 0, hashlib.sha256()
    for i in range(n):
        again = isinstance(learner, AsksAgain)
        while asked < n and (not again or learner.wants(state, X[i], i)):
            key = (i,) if again else ()
            question = learner.ask(state, X[i], random_table.uniforms(1, asked, 1, learner.width)[0], *key)
            words.update(json.dumps(question.to_json(), sort_keys=True).encode())
            state = learner.tell(state, X[i], question, oracle.respond(i, question), *key)
            asked += 1
            if isinstance(learner, Mixture) and asked in (40, 100):
                state = learner.adopt(state, given_fit(learner, asked))
            if not again:
                break
    if able(learner, Forecasts):
        words.update(np.asarray(learner.worth(state, X[:20])).tobytes())
    return [words.hexdigest()[:16], digest(learner, state)]


def streamed(learner, X, oracle, sizes, listen=None):
    """Return the state after blocks of these sizes, over and over."""
    task = StreamTask(np.arange(len(X)), oracle, partial(uniforms, learner.width), listen=listen)
    state, done, turn = learner.init(), 0, 0
    while done < len(X):
        size = sizes[turn % len(sizes)]
        state = stream(learner, state, X[done : done + size], task.part(done, done + size))
        done, turn = done + size, turn + 1
    return state


def uniforms(width, first, count):
    return random_table.uniforms(1, first, count, width)


def told_again(learner, X, heard):
    """Return the state after telling what was streamed, one answer at a time."""
    state = learner.init()
    for one in heard:
        state = learner.tell(state, X[one.row], one.question, one.answer)
    return state


def hashes(learner, n):
    X = WIDE[:n] if learner.columns == WIDE.shape[1] else small_rows(n)
    found = live(learner, X, Oracle(any_labels(learner, n), resample=True), n)
    if isinstance(learner, AsksAgain | Mixture) or not able(learner, Streams):  # a mixture's stream makes its own fits
        return found
    heard = []
    whole = digest(learner, streamed(learner, X, Oracle(any_labels(learner, n)), [n], heard.append))
    blocks = digest(learner, streamed(learner, X, Oracle(any_labels(learner, n)), [1, 5, 30]))
    same = {whole, blocks}
    if len(heard) == n and all(isinstance(one, Exchange) for one in heard):  # half-spaces are heard in blocks
        same.add(digest(learner, told_again(learner, X, heard)))
    return [*found, whole if len(same) == 1 else f"blocks differ: {sorted(same)}"]


if __name__ == "__main__":
    wanted = sys.argv[1:]
    found = {name: hashes(one, n) for name, one, n in learners() if not wanted or name in wanted}
    print(json.dumps(found, indent=1))
