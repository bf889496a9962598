"""A torch network by maximum likelihood of stored answers (``pip install 'askone[torch]'``).

One bit per answer is enough for a likelihood, whoever asked the question:

- half-spaces: P(yes) = Phi((<f(x), u> - c) / s_u), s_u^2 = sum_j u_j^2 s_j^2, the noise s learnt with f;
- sets: P(yes) = sum_{y in A} softmax(f(x))_y;
- pairs: P(first) = 1 / (1 + exp(f_j(x) - f_i(x))).

A share e of answers may be wrong at random: P becomes e + (1 - 2e) P.  Answers spread over the log are
held out, and training stops when their likelihood no longer grows.

>>> from askone.labels.number import Real
>>> from askone.session.log import Answered, Asked
>>> from askone.questions.half_space import HalfSpace
>>> log = [Asked("a", 0, HalfSpace((1.0,), 50.0), 0), Answered("b", "a", True)]
>>> net = torch.nn.Linear(1, 1)
>>> fitted = fit_network(log, [[0.0]], net, Real(0, 100), epochs=20, seed=0, device="cpu")
>>> fitted.predict([[0.0]]).shape
(1,)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from rich.progress import track

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_count, as_flag, as_number, as_row, as_rows, as_seed
from askone.errors import InvalidArgument, WrongType
from askone.estimators._network_likelihood import Likelihood, likelihood_of
from askone.features.scaling import Scaler
from askone.labels.base import Space
from askone.labels.classes import Finite, FiniteSpace
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.models.neural import torch
from askone.questions.base import Question
from askone.session.checkpoints import Example
from askone.session.log import Event
from askone.session.replay import Rows, answers, as_table, stacked

_NOISE = 0.5  # where s starts, in half ranges
_RARELY = 0.05  # where the share of wrong answers starts
_FASTER = 10.0  # noise is a few numbers for all answers: it may move faster than the weights


@final
@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network that has learnt from answers, in the user's units.

    ``noise`` is s for each output of a real label, ``flip`` the share of wrong answers; ``curve`` has
    the loss in bits per answer after each epoch, (while training, held out), and ``epoch`` is the one
    whose weights were kept.
    """

    module: Any
    space: Space
    scaler: Scaler
    noise: tuple[float, ...]
    flip: float
    curve: tuple[tuple[float, float], ...]
    epoch: int

    def predict(self, X: ArrayLike) -> Array:
        """Return numbers (n, or n x m), classes (n), or orders (n x items, best first)."""
        rows = as_rows(X, self.scaler.columns)
        if isinstance(self.space, Real):
            predictions = self.space.from_unit(self.scores(rows))
            return predictions[:, 0] if self.space.m == 1 else predictions
        if isinstance(self.space, Ranking):
            return self.space.from_scores(self.scores(rows), rows)
        proba = self.predict_proba(rows)
        merits = -proba @ self.space.matrix.T if isinstance(self.space, Finite) else proba
        names = self.space.names  # type: ignore[attr-defined]  # of classes, or predict_proba has refused
        return np.array([names[place] for place in np.argmax(merits, axis=1)])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return p(y|x) of the classes, n x K."""
        if not isinstance(self.space, FiniteSpace):
            raise InvalidArgument("space", "one of classes, for their probabilities", type(self.space).__name__)
        scores = self.scores(X)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def scores(self, X: ArrayLike) -> Array:
        """Return what the network gives: unit labels, or scores of the classes or items."""
        with torch.no_grad():
            return np.asarray(self.module(_inputs(self.module, self.scaler, X)).double().cpu().numpy())

    def chance(self, x: ArrayLike, question: Question) -> float:
        """Return p(yes) for a question about a row."""
        likelihood = likelihood_of(self.space)
        vector, number = likelihood.encode(question)
        with torch.no_grad():
            values = self.module(_inputs(self.module, self.scaler, as_row(x, self.scaler.columns))).double().cpu()
            parts = [torch.as_tensor(np.array(part)) for part in ([vector], [number], self._unit_noise)]
            yes, _ = likelihood.logs(torch, values, parts[0], parts[1], parts[2])
        return self.flip + (1 - 2 * self.flip) * math.exp(float(yes[0]))

    @property
    def _unit_noise(self) -> list[float]:
        if not isinstance(self.space, Real):
            return []
        return [s / scale for s, scale in zip(self.noise, self.space.scales, strict=True)]


@final
@dataclass(frozen=True)
class _Plan:
    holdout: float
    epochs: int
    patience: int
    batch: int
    rate: float
    decay: float
    seed: int


def fit_network(
    log: Iterable[Event],
    rows: Rows,
    net: Any,
    space: Space,
    *,
    flip: float | None = 0.0,
    holdout: float = 0.2,
    epochs: int = 200,
    patience: int = 20,
    batch: int = 128,
    rate: float = 3e-3,
    decay: float = 0.0,
    scale_inputs: bool = True,
    seed: int = 0,
    device: str | None = None,
    progress: bool | Callable[[int], None] = False,
) -> FittedNetwork:
    """Return a copy of ``net``, fitted to all answers of a log.

    The net maps rows (n x columns) to unit labels (``Real``: [-1, 1] is the range), to logits of the
    classes, or to scores of the items.  ``flip`` is the share of wrong answers (None: learnt).  A part
    ``holdout`` of the answers, spread over the log, judges each epoch; the best epoch's weights are kept, and
    training stops ``patience`` epochs after it.  Mini-batches of ``batch``, Adam with ``rate`` and weight
    ``decay``; the same seed gives the same net on the same device.  ``progress`` shows a bar, or is called with
    the epochs that are done.
    """
    if not isinstance(net, torch.nn.Module):
        raise WrongType("net", "a torch.nn.Module", type(net).__name__)
    share = None if flip is None else as_number(flip, "flip", 0.0, 0.49)
    plan = _Plan(
        as_number(holdout, "holdout", 0.0, 0.9), as_count(epochs, "epochs", 1), as_count(patience, "patience", 1),
        as_count(batch, "batch", 1), as_number(rate, "rate", 0.0, strict=True), as_number(decay, "decay", 0.0),
        as_seed(seed),
    )  # fmt: skip
    table, likelihood = as_table(rows), likelihood_of(space)
    told = answers(table, log)
    if not told:
        raise InvalidArgument("log", "one with at least one answer", "none")
    shown = stacked(table)
    scaler = Scaler.from_rows(shown) if as_flag(scale_inputs, "scale_inputs") else Scaler.identity(shown.shape[1])
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    module = copy.deepcopy(net).to(where)
    training = _Training(module, likelihood, share, _data(module, scaler, likelihood, told), plan)
    cuda = [torch.device(where)] if torch.device(where).type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):  # for layers that draw, such as dropout; the caller's draws stay
        torch.manual_seed(plan.seed)
        training.run(progress)
    noise = training.noise.detach().double().exp().cpu().numpy() if isinstance(space, Real) else np.zeros(0)
    units = tuple(float(s) for s in noise * (space.scale if isinstance(space, Real) else 1.0))
    curve, epoch = tuple(training.curve), training.epoch
    return FittedNetwork(module.eval(), space, scaler, units, float(training.share().detach()), curve, epoch)


@final
class _Training:
    """A module, its noise, the answers as tensors, and the loop over epochs."""

    def __init__(self, module: Any, likelihood: Likelihood, flip: float | None, data: Any, plan: _Plan) -> None:
        self.module, self.likelihood, self.flip, self.plan = module, likelihood, flip, plan
        self.inputs, self.vectors, self.numbers, self.bits = data
        width = tuple(module.eval()(self.inputs[:1]).shape)
        if width != (1, likelihood.outputs):
            raise InvalidArgument("net", f"one that maps a row to {likelihood.outputs} output(s)", f"shape {width}")
        like: dict[str, Any] = {"dtype": self.inputs.dtype, "device": self.inputs.device}
        self.noise = torch.full((likelihood.outputs,), math.log(_NOISE), **like).requires_grad_(True)
        self.odds = torch.full((), math.log(2 * _RARELY / (1 - 2 * _RARELY)), **like).requires_grad_(True)
        self.curve: list[tuple[float, float]] = []
        self.epoch = 0

    def run(self, progress: bool | Callable[[int], None]) -> None:
        """Epochs until the held-out answers are forecast no better."""
        count = len(self.bits)
        held = int(self.plan.holdout * count)
        # Spread over the whole log: a good asker's late answers are coins, and would judge nothing.
        rest = np.unique(((np.arange(held) + 0.5) * count / max(held, 1)).astype(np.int64))
        first = np.setdiff1d(np.arange(count), rest)
        weights = [p for p in self.module.parameters() if p.requires_grad]
        groups = [
            {"params": weights, "weight_decay": self.plan.decay},
            {"params": [self.noise, self.odds], "lr": _FASTER * self.plan.rate, "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=self.plan.rate)
        best, kept = math.inf, self._weights()
        for epoch in track(range(1, self.plan.epochs + 1), "epochs", disable=progress is not True):
            trained = self._pass(optimizer, epoch, first)
            judged = self._judged(rest) if held else trained
            self.curve.append((trained, judged))
            if judged < best or not held:
                best, kept, self.epoch = judged, self._weights(), epoch
            if callable(progress):
                progress(epoch)
            if epoch - self.epoch >= self.plan.patience:
                break
        learnt, self.noise, self.odds = kept
        self.module.load_state_dict(learnt)

    def share(self) -> Any:
        """Return the share of wrong answers."""
        if self.flip is not None:
            return torch.full_like(self.odds, self.flip)
        return 0.5 * torch.sigmoid(self.odds)

    def _pass(self, optimizer: Any, epoch: int, chosen: Any) -> float:
        self.module.train()
        answers = len(chosen)
        order = chosen[np.argsort(random_table.uniforms(self.plan.seed, epoch, 1, answers, random_table.ORDER)[0])]
        total = 0.0
        for part in np.array_split(order, -(-answers // self.plan.batch)):
            optimizer.zero_grad()
            loss = self._bits(torch.as_tensor(part, device=self.inputs.device))
            loss.mean().backward()
            optimizer.step()
            total += float(loss.detach().sum())
        return total / answers

    def _judged(self, rest: Any) -> float:
        self.module.eval()
        with torch.no_grad():
            return float(self._bits(torch.as_tensor(rest, device=self.inputs.device)).mean())

    def _bits(self, which: Any) -> Any:
        """Return -log2 P(what was answered)."""
        values = self.module(self.inputs[which])
        yes, no = self.likelihood.logs(torch, values, self.vectors[which], self.numbers[which], self.noise.exp())
        bits = self.bits[which]
        right, wrong = torch.where(bits, yes, no), torch.where(bits, no, yes)
        if self.flip != 0.0:
            share = self.share()
            right = torch.logaddexp(right + torch.log1p(-share), wrong + torch.log(share))
        return -right / math.log(2.0)

    def _weights(self) -> Any:
        return copy.deepcopy(self.module.state_dict()), self.noise.detach().clone(), self.odds.detach().clone()


def _data(module: Any, scaler: Scaler, likelihood: Likelihood, told: list[Example]) -> tuple[Any, Any, Any, Any]:
    for one in told:
        if not isinstance(one.answer, bool):
            raise InvalidArgument("log", "one whose answers are yes or no", f"{one.answer!r}")
    inputs = _inputs(module, scaler, [np.asarray(one.x, dtype=np.float64) for one in told])
    encoded = [likelihood.encode(one.question) for one in told]
    vectors, numbers = np.array([vector for vector, _ in encoded]), np.array([number for _, number in encoded])
    bits = torch.as_tensor(np.array([one.answer for one in told]), device=inputs.device)
    like: dict[str, Any] = {"dtype": inputs.dtype, "device": inputs.device}
    return inputs, torch.as_tensor(vectors, **like), torch.as_tensor(numbers, **like), bits


def _inputs(module: Any, scaler: Scaler, X: ArrayLike) -> Any:
    first = next(iter(module.parameters()), None)
    if first is None:
        raise InvalidArgument("net", "a module with parameters to learn", "none")
    return torch.as_tensor(scaler(as_rows(X, scaler.columns)), dtype=first.dtype, device=first.device)
