"""Learners of one's own: what they can do they can do in estimators, files and campaigns, too."""

import io
from dataclasses import dataclass

import numpy as np
import pytest

import askone
from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import ClassNames, LearnerSettings, Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument
from askone.learners import HasDeviation, HasInterval, HasProbabilities, registry
from askone.learners.abilities import able
from askone.learners.contest import Contest
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.range_search import Calibrated
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.questions.half_space import half_space
from askone.questions.subset import Subset
from samples import Grid, models, reloaded
from staged import play

LINE = models()["linear"].features


class Plain:
    """What is the same for learners whose state is one array."""

    @property
    def columns(self):
        return self.inputs

    def to_arrays(self, state):
        return {"state": state}

    def from_arrays(self, arrays):
        return arrays["state"]


@dataclass(frozen=True, eq=False)
class Toy(Plain, HasDeviation):
    """The mean of thresholds, up after a yes and down after a no; its deviation is one over the answers."""

    space: askone.Real
    inputs: int
    shift: float = 0.25
    width = 0

    def init(self):
        return np.zeros(2)

    def ask(self, state, x, uniform):
        return half_space(self.space, (1.0,), float(state[0]), 1.0, int(state[1]))

    def tell(self, state, x, question, answer):
        return np.array([state[0] + (self.shift if answer else -self.shift) / (state[1] + 1), state[1] + 1])

    def predict(self, state, X):
        return self.space.from_unit(np.full((len(X), 1), state[0]))

    def std(self, state, X):
        return np.full((len(X), 1), 10.0 / (state[1] + 1))

    def count(self, state):
        return int(state[1])


@dataclass(frozen=True, eq=False)
class Ended(Toy, HasInterval):
    """The same, with ends that labels lie between."""

    def interval(self, state, X, level=None):
        middle = self.predict(state, X)
        return middle - 1, middle + 3


@dataclass(frozen=True, eq=False)
class Counted(Plain, HasProbabilities):
    """How often each class was the answer, whatever the row."""

    space: askone.Classes
    inputs: int
    width = 1

    def init(self):
        return np.ones(self.space.size)

    def ask(self, state, x, uniform):
        return Subset((self.space.names[int(uniform[0] * self.space.size)],), wording=self.space.wording)

    def tell(self, state, x, question, answer):
        after = state.copy()
        after[self.space.index(question.members[0], "question")] += bool(answer)
        return after

    def predict(self, state, X):
        return self.probabilities(state, X)

    def probabilities(self, state, X):
        return np.tile(state / state.sum(), (len(X), 1))

    def count(self, state):
        return int(state.sum() - self.space.size)


@pytest.fixture(autouse=True)
def names(monkeypatch):
    monkeypatch.setattr(registry, "_OWN", {})
    for name, kind in (("toy", Toy), ("ended", Ended), ("counted", Counted)):
        registry.register(name, kind, lambda space, rows, columns, seed, kind=kind: kind(space, columns))


def campaign_of(tmp_path, store, labels, learner):
    (tmp_path / "t.csv").write_text("id,size\n" + "".join(f"r{i},{i}\n" for i in range(60)))
    settings = Settings("Own", labels, learner=LearnerSettings(learner=learner))
    create_campaign(store, "own", settings, open_table(tmp_path / "t.csv"), "ann", 0.0)
    return Campaign.open(store, "own")


def test_a_campaign_says_how_sure_a_learner_of_ones_own_is(tmp_path, store):
    campaign = campaign_of(tmp_path, store, Numbers(0, 100), "toy")
    play(campaign, ["ann", "bob"], lambda row: 70.0, 30)
    [found] = campaign.predictions([3])
    std = 10.0 / (campaign.projection.learner.count(campaign.projection.state) + 1)
    assert found["std"] == pytest.approx(std)
    assert found["prediction_low"] == pytest.approx(found["prediction"] - 2 * std)
    assert found["prediction_high"] == pytest.approx(found["prediction"] + 2 * std)
    again = Campaign.open(store, "own", fresh=True)
    assert again.predictions([3]) == campaign.predictions([3])
    model = reloaded(campaign.model())
    values, spread = model.predict(np.zeros((1, model.n_features_in_)), return_std=True)
    assert (values[0], spread[0]) == pytest.approx((found["prediction"], std))


def test_its_interval_comes_first(tmp_path, store):
    campaign = campaign_of(tmp_path, store, Numbers(0, 100), "ended")
    [found] = campaign.predictions([3])
    assert (found["low"], found["high"], found["std"]) == (49.0, 53.0, 10.0)
    model = askone.OneBitRegressor(0, 100, learner="ended").start([[0.0], [1.0], [2.0]])
    assert [end.tolist() for end in model.predict_interval([[5.0]])] == [[49.0], [53.0]]


def test_its_probabilities_are_the_campaigns(tmp_path, store):
    campaign = campaign_of(tmp_path, store, ClassNames(("cat", "owl")), "counted")
    play(campaign, ["ann"], lambda row: ["owl"], 20)
    [found] = campaign.predictions([3])
    assert found["prediction"] == "owl"
    assert found["probabilities"]["owl"] > 0.7
    model = campaign.model()
    row = np.zeros((1, model.n_features_in_))
    assert model.predict_proba(row)[0].tolist() == list(found["probabilities"].values())
    assert model.decision_function(row).shape == (1,)


def test_what_it_cannot_do_is_refused_by_name():
    model = askone.OneBitRegressor(0, 100, learner="toy").start([[0.0], [1.0], [2.0]])
    with pytest.raises(InvalidArgument, match="interval must be"):
        model.predict_interval([[1.0]])
    for options in ({"flip": 0.1}, {"interval": 0.9}):
        with pytest.raises(InvalidArgument, match="OwnLearner does not read it"):
            askone.OneBitRegressor(0, 100, learner="toy", **options).start([[0.0], [1.0], [2.0]])
    with pytest.raises(InvalidArgument, match="learner.guess must be left alone"):
        Settings("Numbers", Numbers(0, 100), learner=LearnerSettings(guess=0.1, learner="toy"))
    with pytest.raises(InvalidArgument, match="low must be given"):
        askone.OneBitRegressor(learner="toy").start([[0.0], [1.0], [2.0]])
    registry.register("wrong", Toy, lambda *_: None)
    with pytest.raises(InvalidArgument, match="a Learner of these labels and rows"):
        askone.OneBitRegressor(0, 100, learner="wrong").start([[0.0], [1.0], [2.0]])


def test_a_name_stands_for_what_was_registered_alone(tmp_path, store, monkeypatch):
    saved = io.BytesIO()
    askone.OneBitRegressor(0, 100, learner="toy").start([[0.0], [1.0], [2.0]]).save(saved)
    campaign_of(tmp_path, store, Numbers(0, 100), "toy")
    monkeypatch.setattr(registry, "_OWN", {})
    with pytest.raises(InvalidArgument, match=r"learner must be registered: askone.learners.register\('toy', ...\)"):
        askone.load(io.BytesIO(saved.getvalue()))
    with pytest.raises(InvalidArgument):
        Campaign.open(store, "own")
    with pytest.raises(InvalidArgument, match="learner.learner must be one of"):
        Settings("Own", Numbers(0, 100), learner=LearnerSettings(learner="toy"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("os.system", Toy, Toy), "name must be a word"),
        ((3, Toy, Toy), "name must be a text"),
        (("good", object, Toy), "kind must be a dataclass"),
        (("good", Toy, None), "make must be a function"),
        (("counted", Toy, Toy), "name must be one that is not taken"),
    ],
)
def test_what_register_refuses(arguments, message):
    with pytest.raises(InvalidArgument, match=message):
        registry.register(*arguments)


def test_wrappers_can_what_they_stand_for():
    space = askone.Real(-1, 1)
    bank, steps = FilterLearner(space, (LINE,)), SGDLearner(space, models()["linear"])
    assert able(Calibrated(bank), HasDeviation)
    assert not able(Calibrated(steps), HasDeviation)
    assert able(Calibrated(bank), HasInterval)
    assert not able(Calibrated(steps), HasInterval)
    assert Calibrated(bank).std(Calibrated(bank).init(), [[0.0, 0.0]]) is None
    other = FilterLearner(space, (LINE,), noises=(1.0,))
    both = Contest((bank, other))
    state, X = both.init(), [[1.0, 0.5]]
    assert able(both, HasDeviation)
    assert not able(both, HasProbabilities)
    parts = [one.std(one.init(), X) for one in (bank, other)]
    assert both.std(state, X) == pytest.approx(np.sqrt((parts[0] ** 2 + parts[1] ** 2) / 2))
    assert not able(Contest((Grid(space), Grid(space, noise=0.1))), HasDeviation)
    classes = SetLikelihoodLearner(askone.Classes(("cat", "owl")), LINE)
    pair = Contest((classes, classes))
    assert pair.probabilities(pair.init(), X) == pytest.approx(np.full((1, 2), 0.5), abs=1e-15)
