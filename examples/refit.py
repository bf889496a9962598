"""The answers stay: teach other models by them, choose a model by them, and choose whom to ask next.

A campaign asks 400 people one question each and keeps its log.  Then, without asking anybody again,
another model learns from it, two models are compared by how well they would have forecast the
answers, and a forecasting model spends few questions where they tell most.
Run it: python examples/refit.py
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtr

import askone
from askone._common.validate import as_row, as_rows
from askone.errors import InvalidArgument
from askone.learners import Forecasts
from askone.questions.half_space import half_space
from askone.session.row_selection import chosen

rng = np.random.default_rng(0)
ages = rng.uniform(-1, 1, size=(400, 1))
typical = 21 + 58 * np.abs(ages[:, 0])
values = typical + 8 * rng.normal(size=400)  # never seen by a model


class Beliefs(NamedTuple):
    logs: np.ndarray
    count: int


@dataclass(frozen=True, eq=False)
class Curve(Forecasts[Beliefs]):
    """y = a + b |x|^power + noise with (a, b) on a grid, by Bayes' rule: a learner of one's own that forecasts."""

    power: float
    noise: float = 8.0
    space: ClassVar[askone.Real] = askone.Real(0, 100, decimals=0)
    columns: ClassVar[int] = 1
    width: ClassVar[int] = 1

    def means(self, X):
        """The prediction of every member of the grid, n x members."""
        a, b = np.meshgrid(np.linspace(0, 100, 41), np.linspace(-100, 100, 41))
        return a.ravel() + np.abs(X) ** self.power * b.ravel()

    def yes(self, x, question):
        """P(yes) of every member."""
        if not isinstance(question, askone.HalfSpace):
            raise InvalidArgument("question", "a HalfSpace", type(question).__name__)
        margins = question.direction[0] * self.means(as_row(x, 1))[0] - question.threshold
        return ndtr(margins / self.noise).clip(1e-12, 1 - 1e-12)

    def init(self):
        return Beliefs(np.full(41 * 41, -2 * np.log(41)), 0)

    def ask(self, state, x, uniform):
        prediction = self.predict(state, as_row(x, 1))
        return half_space(self.space, [1.0], float(self.space.to_unit(prediction)[0, 0]))

    def ask_many(self, state, X, uniform):
        return [self.ask(state, x, u) for x, u in zip(as_rows(X, 1), uniform, strict=True)]

    def tell(self, state, x, question, answer):
        yes = self.yes(x, question)
        logs = state.logs + np.log(yes if question.accept(answer) else 1 - yes)
        return Beliefs(logs - np.logaddexp.reduce(logs), state.count + 1)

    def predict(self, state, X):
        return self.means(as_rows(X, 1)) @ np.exp(state.logs)[:, None]

    def count(self, state):
        return state.count

    def to_arrays(self, state):
        return {"logs": state.logs, "count": np.array(state.count)}

    def from_arrays(self, arrays):
        return Beliefs(arrays["logs"], int(arrays["count"]))

    def chance(self, state, x, question):
        return float(np.exp(state.logs) @ self.yes(x, question))

    def worth(self, state, X):
        """The information that the answer shares with the curve: H(mean P) - mean H(P)."""

        def entropy(p):
            return -p * np.log(p) - (1 - p) * np.log(1 - p)

        weights, thresholds = np.exp(state.logs), np.round(self.predict(state, X))  # what it would ask
        yes = ndtr((self.means(as_rows(X, 1)) - thresholds) / self.noise).clip(1e-12, 1 - 1e-12)
        return entropy(yes @ weights) - entropy(yes) @ weights


def error_of(predictions: np.ndarray) -> float:
    return float(np.abs(np.ravel(predictions) - typical).mean())


def refit() -> askone.OneBitRegressor:
    """The campaign, and a second model from its log."""
    model = askone.OneBitRegressor(0, 100, unit="€", random_state=0).start(ages)
    for i, age in enumerate(ages):
        question = model.ask(age, key=i)
        model.tell(question, question.holds(values[i]))
    askone.write_log("answers.jsonl", model.log_)
    log = askone.read_log("answers.jsonl")
    print(f"400 answers, kept as {len(log)} events.  Mean error {error_of(model.predict(ages)):.1f} €")
    # Questions at another model's predictions: "passive" learns from a threshold wherever it was.
    other = askone.OneBitRegressor(0, 100, learner=askone.SGD(bandwidth=0.5, questions="passive"), random_state=0)
    print(f"Learnt again at another bandwidth: {error_of(askone.refit(log, ages, other).predict(ages)):.1f} €")
    curve = askone.refit(log, ages, Curve(1.0))
    print(f"Learnt again by Bayes' rule on a + b |x|: {error_of(curve.predict(ages)):.1f} €\n")
    return model


def compare(model: askone.OneBitRegressor) -> None:
    """Which curve?  The answers know."""
    found = askone.compare(model.log_, ages, {"a + b |x|": Curve(1.0), "a + b x^2": Curve(2.0), "a": Curve(0.0)})
    print(found)
    print(f"Best: {found.best}\n")


def select() -> None:
    """The same learner, on people as they come and on those whose answers tell most."""
    for rule in ("stream", "auto"):
        errors = [campaign(rule, seed) for seed in range(8)]
        error = np.std(errors, ddof=1) / np.sqrt(len(errors))
        print(f"20 questions, select={rule}: mean error {np.mean(errors):.1f} ± {error:.1f} € in 8 campaigns")


def campaign(rule: str | None, seed: int) -> float:
    """Twenty questions to people from a pool."""
    order = np.random.default_rng(seed).permutation(len(ages))
    stream, pool, free = askone.Stream(Curve(1.0), seed=seed), ages[order], np.arange(len(ages))
    for _ in range(20):
        place, choice = chosen(stream, pool, free, rule)
        question = stream.ask(pool[place], place, choice)
        stream.tell(question, question.holds(values[order[place]]))
        free = free[free != place]
    return error_of(stream.predict(ages))


if __name__ == "__main__":
    compare(refit())
    select()
