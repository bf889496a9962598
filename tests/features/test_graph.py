"""The graph of rows: what its functions are, at nodes and beside them, and what they teach."""

import numpy as np
import pytest

import askone
from askone.errors import InvalidArgument
from askone.estimators.learner_choices.defaults import SetLikelihood
from askone.features import graph as module
from askone.features.graph import NeighbourGraph
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from samples import reloaded


def rings(n, seed=0):
    """Three rings around each other, the same number of rows in each, and which ring a row is of."""
    rng = np.random.default_rng(seed)
    which, angle = np.arange(n) % 3, rng.uniform(0.0, 2.0 * np.pi, n)
    radius = 1.0 + which + 0.1 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), which


@pytest.fixture(scope="module")
def made():
    X, which = rings(600)
    scaler = Scaler.from_rows(X)
    return X, which, NeighbourGraph.from_rows(X, Nystroem.from_rows(X, 20, scaler=scaler), scaler=scaler)


def functions(graph, X):
    return graph(X)[:, : graph.values.shape[1]] / np.sqrt(0.9)


def test_functions_at_nodes_are_those_of_the_laplacian(made):
    """By dense matrices: F F^T of the 200 smoothest, whatever basis of equal eigenvalues was found."""
    X, _, graph = made
    Z = graph.nodes.astype(float)
    n, apart = len(Z), np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :10]
    spread = np.take_along_axis(apart, near, axis=1)[:, -1]
    W = np.zeros((n, n))
    for i in range(n):
        W[i, near[i]] = np.exp(-(apart[i, near[i]] ** 2) / (spread[i] * spread[near[i]]))
    W = np.maximum(W, W.T)
    root = 1.0 / np.sqrt(W.sum(axis=1))
    eigenvalues, U = np.linalg.eigh(root[:, None] * W * root)
    change, U = np.maximum(1.0 - eigenvalues[::-1][:200], 0.0), U[:, ::-1][:, :200]
    F = root[:, None] * U / (1.0 + change / change[19])
    F /= np.linalg.norm(F, axis=1)[:, None]
    np.testing.assert_allclose(graph.spread, spread, rtol=1e-6)
    np.testing.assert_allclose(graph.values @ graph.values.T, F @ F.T, atol=2e-5)
    places = [int(np.abs(Z - row).sum(axis=1).argmin()) for row in graph.scaler(X)]  # nodes are sorted, rows are not
    np.testing.assert_allclose(functions(graph, X), graph.values[places], atol=1e-7)


def test_a_row_beside_nodes_has_their_weighted_mean(made):
    _, _, graph = made
    X = rings(40, seed=1)[0]
    Z, rows = graph.nodes.astype(float), graph.scaler(X)
    for x, found in zip(rows, functions(graph, X), strict=True):
        apart = np.linalg.norm(Z - x, axis=1)
        near = np.argsort(apart)[:10]
        w = np.exp(-(apart[near] ** 2) / (apart[near[-1]] * graph.spread[near]))
        mean = w @ graph.values[near].astype(float)
        np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-8)


def test_a_row_is_the_same_whatever_other_rows_there_are(made):
    X, _, graph = made
    mixed = np.vstack([X[:5], rings(7, seed=2)[0], X[5:9]])
    together = graph(mixed)
    assert together.shape == (16, graph.size)
    for i in range(len(mixed)):
        np.testing.assert_array_equal(graph(mixed[i : i + 1])[0], together[i])
    W = np.random.default_rng(0).normal(size=(graph.size, 3))
    np.testing.assert_allclose(graph.times(mixed, W), together @ W, atol=1e-10)


def test_neighbours_are_alike_and_strangers_are_not(made):
    X, which, graph = made
    F = functions(graph, X)
    alike = np.abs(F @ F.T)
    same = which[:, None] == which[None]
    assert alike[same].mean() > 20.0 * alike[~same].mean()


def test_of_many_rows_some_are_nodes(monkeypatch):
    monkeypatch.setattr(module, "NODES", 90)
    X = rings(500)[0]
    graphs = [NeighbourGraph.from_rows(X, Linear(Scaler.from_rows(X)), seed=seed) for seed in (0, 0, 1)]
    assert [len(graph.nodes) for graph in graphs] == [90, 90, 90]
    np.testing.assert_array_equal(graphs[0].values, graphs[1].values)
    assert not np.array_equal(graphs[0].nodes, graphs[2].nodes)
    assert np.isfinite(graphs[0](X)).all()


def test_rows_that_are_the_same_are_one_node():
    X = np.repeat(rings(70)[0], 5, axis=0)
    X[0] *= -0.0  # a zero with a sign is a zero
    graph = NeighbourGraph.from_rows(X, Linear(Scaler.from_rows(X)))
    assert len(graph.nodes) == 71
    X[0] = 0.0
    assert graph._places.keys() >= set(module._keys(graph.scaler(X)))
    for few in (X[5:10], np.zeros((9, 2))):
        with pytest.raises(InvalidArgument, match="two different rows"):
            NeighbourGraph.from_rows(few, Linear(Scaler.identity(2)))


def test_a_graph_in_very_many_parts():
    """Pairs far from each other: the eigenvalue 1 comes again and again."""
    X = np.repeat(10.0 * np.arange(400.0), 12)[:, None] + np.tile(np.linspace(0, 0.1, 12), 400)[:, None]
    graph = NeighbourGraph.from_rows(np.hstack([X, X]), Linear(Scaler.identity(2)))
    assert np.isfinite(graph.values).all()
    assert np.isfinite(graph(np.array([[3.0, 3.0], [1e6, -1e6]]))).all()


@pytest.mark.parametrize("spoilt", ["nodes", "spread", "values"])
def test_arrays_of_other_shapes_are_refused(made, spoilt):
    graph = made[2]
    arrays = {name: getattr(graph, name) for name in ("nodes", "spread", "values")}
    with pytest.raises(InvalidArgument, match="nodes"):
        NeighbourGraph(graph.scaler, **{**arrays, spoilt: arrays[spoilt][:-1]}, inner=graph.inner)
    for inner in (None, Linear(Scaler.identity(3))):
        with pytest.raises(InvalidArgument, match="inner must be a feature map of 2 columns"):
            NeighbourGraph(graph.scaler, **arrays, inner=inner)


def test_a_model_is_the_same_when_it_was_saved():
    X, which = rings(300)
    model = askone.OneBitClassifier([0, 1, 2], random_state=0)
    model.start(X)
    for _ in range(30):
        question, place = model.ask_from(X)
        model.tell(question, question.holds(which[place]))
    again = reloaded(model)
    new = rings(100, seed=5)[0]
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert str(again.ask(new[0])) == str(model.ask(new[0]))


def errors_after(answers, graph, seeds):
    found = []
    for seed in range(seeds):
        X, which = rings(900, seed)
        new, truth = rings(300, 1000 + seed)
        model = askone.OneBitClassifier([0, 1, 2], learner=SetLikelihood(graph=graph), random_state=seed)
        model.start(X)
        for _ in range(answers):
            question, place = model.ask_from(X)
            model.tell(question, question.holds(which[place]))
        found.append(np.mean(model.predict(new) != truth))
    return np.array(found)


@pytest.mark.seeded
def test_rings_take_fewer_questions():
    """After 40 answers, with the graph and without, on the same rows: better by two standard errors of the mean."""
    with_it, without = errors_after(40, True, 6), errors_after(40, False, 6)
    fall = without - with_it
    assert fall.mean() > 2.0 * fall.std(ddof=1) / np.sqrt(len(fall))
    assert fall.mean() > 0.05


def test_what_graph_may_be():
    X = rings(90)[0]
    with pytest.raises(InvalidArgument, match="graph must be True or False"):
        askone.OneBitClassifier([0, 1, 2], learner=SetLikelihood(graph="yes")).start(X)
    for rows, graphs in ((X, 1), (X[:50], 0), (X[:, :1], 0)):
        learner = askone.OneBitClassifier([0, 1, 2], random_state=0).start(rows).stream_.learner
        assert repr(learner).count("NeighbourGraph(") == graphs
