"""Networks by maximum likelihood of stored bits."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

import askone
from askone.errors import InvalidArgument, WrongType
from askone.estimators._network_likelihood import likelihood_of
from askone.learners.sgd.sgd import SGDLearner
from askone.questions.comparison import Prefer
from askone.session.log import Answered, Asked
from samples import models

torch = pytest.importorskip("torch", reason="networks need torch (make test installs it; TORCH= leaves it out)")
fit_network = pytest.importorskip("askone.estimators.network").fit_network

ITEMS = ("tea", "coffee", "milk", "water")
FAMILIES = {
    "numbers": (askone.Real([-1, 2], [1, 6]), askone.HalfSpace((0.6, -0.8), 0.3)),
    "classes": (askone.Classes(("a", "b", "c")), askone.Subset(("a", "c"))),
    "orders": (askone.Ranking(("tea", "milk", "wine")), Prefer("wine", "tea")),
}


def network(inputs, outputs, width=16):
    torch.manual_seed(0)
    layers = (torch.nn.Linear(inputs, width), torch.nn.Tanh(), torch.nn.Linear(width, outputs))
    return torch.nn.Sequential(*layers)


def logged(questions, answers):
    pairs = zip(questions, answers, strict=True)
    return [
        event
        for i, (question, answer) in enumerate(pairs)
        for event in (Asked(f"a{i}", i, question, 0), Answered(f"b{i}", f"a{i}", bool(answer)))
    ]


def sine(n=1500, noise=0.1, flip=0.0, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(0, 10, size=(n, 1))
    truth = 50 + 30 * np.sin(0.6 * rows[:, 0])
    questions = [askone.HalfSpace((1.0,), c) for c in rng.uniform(0, 100, size=n)]
    y = truth + 50 * noise * rng.normal(size=n)
    bits = [q.holds(v) != (u < flip) for q, v, u in zip(questions, y, rng.random(n), strict=True)]
    return rows, truth, logged(questions, bits)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_likelihood_is_its_formula(name):
    space, question = FAMILIES[name]
    likelihood = likelihood_of(space)
    f = np.random.default_rng(0).normal(size=likelihood.outputs)
    noise = np.linspace(0.4, 0.7, likelihood.outputs)
    if name == "numbers":
        y = space.from_unit(f)
        spread = math.hypot(0.6 * noise[0] * space.scales[0], 0.8 * noise[1] * space.scales[1])
        expected = ndtr((np.dot(question.direction, y) - question.threshold) / spread)
    elif name == "classes":
        expected = np.exp(f)[[0, 2]].sum() / np.exp(f).sum()
    else:
        expected = 1 / (1 + np.exp(f[0] - f[2]))
    vector, number = likelihood.encode(question)
    parts = [torch.as_tensor(np.array(part)) for part in ([f], [vector], [number], noise)]
    yes, no = (float(part.exp()[0]) for part in likelihood.logs(torch, *parts))
    assert (yes, yes + no) == pytest.approx((expected, 1.0))
    with pytest.raises(InvalidArgument, match="question must be a"):
        likelihood.encode(askone.Reveal(1))


def test_numbers_from_bits_alone():
    rows, truth, log = sine()
    net = network(1, 1)
    fitted = fit_network(log, rows, net, askone.Real(0, 100), device="cpu", rate=0.02, epochs=40)
    error = np.sqrt(np.mean((fitted.predict(rows) - truth) ** 2))
    assert error < 5  # of a range of 100, standard deviation 21; noise 5
    assert 3 < fitted.noise[0] < 7.5  # truly 5
    assert fitted.predict(rows).shape == (1500,)
    question = askone.HalfSpace((1.0,), 50.0)
    expected = ndtr((fitted.predict(rows[:1])[0] - 50) / fitted.noise[0])
    assert fitted.chance(rows[0], question) == pytest.approx(expected, rel=1e-4)
    with pytest.raises(InvalidArgument, match="one of classes"):
        fitted.predict_proba(rows)
    held = [bits for _, bits in fitted.curve]
    assert fitted.epoch == int(np.argmin(held)) + 1
    again = fit_network(log, rows, net, askone.Real(0, 100), device="cpu", rate=0.02, epochs=40)
    assert np.array_equal(again.predict(rows), fitted.predict(rows))
    assert again.curve == fitted.curve


def test_wrong_answers_are_found_out():
    rows, _, log = sine(flip=0.15)
    trusting, wary = (
        fit_network(log, rows, network(1, 1), askone.Real(0, 100), device="cpu", rate=0.02, epochs=40, flip=flip)
        for flip in (0.0, None)
    )
    assert 0.08 < wary.flip < 0.22
    assert min(b for _, b in wary.curve) < min(b for _, b in trusting.curve)
    assert trusting.noise[0] > 2 * wary.noise[0]  # without a share of wrong answers, they look like noise


def test_classes_from_sets():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, size=(1500, 2))
    names = np.array(["left", "right", "top", "bottom"])
    truth = np.where(np.abs(rows[:, 0]) > np.abs(rows[:, 1]), rows[:, 0] > 0, 2 + (rows[:, 1] < 0))
    sets = [askone.Subset(tuple(names[list(two)].tolist())) for two in itertools.combinations(range(4), 2)]
    questions = [sets[i] for i in rng.integers(6, size=1500)]
    log = logged(questions, [names[k] in q.members for k, q in zip(truth, questions, strict=True)])
    fitted = fit_network(
        log, rows, network(2, 4), askone.Classes(tuple(names.tolist())), device="cpu", rate=0.02, epochs=40
    )
    assert np.mean(fitted.predict(rows) == names[truth]) > 0.9
    proba = fitted.predict_proba(rows)
    assert np.allclose(proba.sum(axis=1), 1)
    assert fitted.chance(rows[0], sets[0]) == pytest.approx(proba[0, :2].sum(), rel=1e-4)


def test_costs_decide_what_is_predicted():
    log = logged([askone.Subset(("fine",))] * 60, [True] * 40 + [False] * 20)
    rows = np.zeros((60, 1))
    dear = askone.Finite(("fine", "ill"), loss=((0, 10), (1, 0)))
    plain = askone.Classes(("fine", "ill"))
    kinds = [
        fit_network(log, rows, network(1, 2), space, device="cpu", holdout=0, epochs=80, rate=0.01)
        for space in (plain, dear)
    ]
    assert [kind.predict(rows[:1])[0] for kind in kinds] == ["fine", "ill"]
    assert kinds[0].predict_proba(rows[:1])[0, 0] == pytest.approx(2 / 3, abs=0.05)


def test_orders_from_pairs():
    rng = np.random.default_rng(0)
    space = askone.Ranking(ITEMS)
    rows = rng.normal(size=(2000, 2))
    utilities = rows @ rng.normal(size=(2, 4)) * 2
    pairs = [rng.permutation(4)[:2] for _ in range(2000)]
    chance = [1 / (1 + np.exp(u[b] - u[a])) for u, (a, b) in zip(utilities, pairs, strict=True)]
    log = logged([Prefer(ITEMS[a], ITEMS[b]) for a, b in pairs], rng.random(2000) < chance)
    fitted = fit_network(log, rows, network(2, 4), space, device="cpu", rate=0.02, epochs=40)
    tau = np.mean(space.embed(fitted.predict(rows)) * space.embed(space.from_scores(utilities)))
    assert tau > 0.8
    a, b = pairs[0]
    scores = fitted.scores(rows[:1])[0]
    assert fitted.chance(rows[0], log[0].question) == pytest.approx(1 / (1 + np.exp(scores[b] - scores[a])), rel=1e-4)


def test_two_outputs_and_a_campaign_of_another_model():
    """The log is that of a linear model; the network's rows are the same, in double precision, unscaled."""
    rng = np.random.default_rng(0)
    rows, log = rng.uniform(-1, 1, size=(800, 2)), []
    y = np.column_stack([3 + rows[:, 0] ** 2, 5 * rows[:, 1]])
    stream = askone.Stream(SGDLearner(askone.Real([0, -6], [5, 6]), models()["linear"]), log=log.append)
    for i, x in enumerate(rows):
        question = stream.ask(x, key=i)
        stream.tell(question, question.holds(y[i]))
    space, seen = askone.Real([0, -6], [5, 6]), []
    options = {"device": "cpu", "rate": 0.02, "scale_inputs": False, "progress": seen.append, "epochs": 40}
    fitted = fit_network(log, rows, network(2, 2).double(), space, **options)
    assert np.abs(fitted.predict(rows) - y).mean(axis=0) == pytest.approx([0, 0], abs=0.5)
    assert fitted.scaler.center.tolist() == [0, 0]
    assert seen == list(range(1, len(fitted.curve) + 1))


def test_the_callers_network_and_draws_stay():
    rows, _, log = sine(60)
    layers = (torch.nn.Linear(1, 8), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
    net = torch.nn.Sequential(*layers)
    before = [p.detach().clone() for p in net.parameters()]
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    fits = [fit_network(log, rows, net, askone.Real(0, 100), device="cpu", epochs=5, batch=59) for _ in "ab"]
    assert torch.equal(torch.rand(2), expected)
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
    assert np.array_equal(fits[0].predict(rows), fits[1].predict(rows))


def test_refusals(capsys):
    rows, _, log = sine(20)
    space = askone.Real(0, 100)
    with pytest.raises(WrongType, match="net must be a torch.nn.Module"):
        fit_network(log, rows, "net", space)
    with pytest.raises(InvalidArgument, match="a row to 1 output"):
        fit_network(log, rows, network(1, 2), space, device="cpu")
    with pytest.raises(InvalidArgument, match="parameters to learn"):
        fit_network(log, rows, torch.nn.Tanh(), space, device="cpu")
    with pytest.raises(InvalidArgument, match="question must be a Subset"):
        fit_network(log, rows, network(1, 2), askone.Classes(("a", "b")), device="cpu")
    with pytest.raises(InvalidArgument, match="at least one answer"):
        fit_network(log[:1], rows, network(1, 1), space)
    reveal = [Asked("a", 0, askone.Reveal(1), 0), Answered("b", "a", (0.5,))]
    with pytest.raises(InvalidArgument, match="answers are yes or no"):
        fit_network(reveal, rows, network(1, 1), space, device="cpu")
    with pytest.raises(InvalidArgument, match="flip must be a number at least 0 and at most 0.49"):
        fit_network(log, rows, network(1, 1), space, flip=0.6)
    with pytest.raises(InvalidArgument, match="space must be a Real"):
        fit_network(log, rows, network(1, 1), "numbers")
    fit_network(log, rows, network(1, 1), space, device="cpu", epochs=2, progress=True)
    assert "epochs" in capsys.readouterr().out
