from importlib.machinery import ModuleSpec

import numpy as np
import pytest
from scipy.optimize import minimize

from askone.errors import InvalidArgument
from askone.features.kernels import Gaussian
from askone.features.layout import RowLayout
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.labels.classes import Classes
from askone.labels.number import Real
from askone.learners.mixture.bits import ClassBits, NumberBits
from askone.learners.mixture.classes import ClassMixture
from askone.learners.mixture.discriminant import DiscriminantMember
from askone.learners.mixture.kernel import KernelMember
from askone.learners.mixture.members import LinearMember
from askone.learners.mixture.trees import TreeMember, _is_installed, as_arrays
from askone.learners.softmax.classifier import SetLikelihoodLearner

lightgbm = pytest.importorskip("lightgbm")
NUMBERS, CLASSES = NumberBits(Real(-3, 3)), ClassBits(Classes(("ant", "bee", "cow")))
LAYOUT = RowLayout(dense=5, hidden=(3, 4), levels=(40,), pairs=3, terms=6)


def table(n=600):
    """Rows of that layout: numbers, a category of 40 by its place and nearly none level by level, a few terms."""
    rng = np.random.default_rng(0)
    X = np.zeros((n, LAYOUT.columns))
    X[:, :3], X[:, 5] = rng.normal(size=(n, 3)), rng.integers(-1, 40, size=n)
    for row in X:
        held = rng.choice(6, size=rng.integers(4), replace=False)
        row[6 : 6 + len(held)], row[9 : 9 + len(held)] = 1 + held, 1.0
    return X


def about(X, noise=0.1):
    """The truth, and one bit about each row at a threshold near it, in units of the noise."""
    rng = np.random.default_rng(1)
    truth = np.sin(X[:, 0]) + (X[:, 5] % 3 == 0)
    c = truth + 0.5 * rng.normal(size=len(X))
    above = truth + noise * rng.normal(size=len(X)) > c
    bits = np.column_stack([c, np.full(len(X), np.inf), above, np.zeros(len(X)), np.ones(len(X))])
    return truth, NUMBERS.scaled(bits, noise)


def test_trees_do_not_give_up_a_class_that_was_only_asked_about_as_something_else():
    """Cows are known by what they are not: of cells of all rows together, ants and bees alone explain every one."""
    kind = np.random.default_rng(0).integers(3, size=900)
    X, cells = np.zeros((900, 2)), np.eye(3, 4)[kind]
    X[:, 0] = kind + 0.1 * np.random.default_rng(1).normal(size=900)
    cows = np.flatnonzero(kind == 2)
    cells[cows] = np.where((cows % 2 == 0)[:, None], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0])
    trees = TreeMember(RowLayout.plain(2))
    said = trees.scores(trees.fit(CLASSES, X, cells, 0.0, None), X)
    assert (said.argmax(axis=1) == kind).mean() > 0.95


def test_trees_as_arrays_say_what_lightgbm_says(monkeypatch):
    fitted = []
    kind = lightgbm.Booster
    monkeypatch.setattr(lightgbm, "Booster", lambda *given: fitted.append(kind(*given)) or fitted[-1])
    X, trees = table(), TreeMember(LAYOUT)
    truth, bits = about(X)
    fit = trees.fit(NUMBERS, X, bits, 0.0, None)
    assert fit["words"].shape[1] == 2
    assert np.isnan(fit["threshold"]).any()
    seen = X[:, [0, 1, 2, 5]]
    said = trees.scores(fit, X)
    assert said[:, 0] == pytest.approx(fitted[-1].predict(seen, raw_score=True) + fit["middle"], abs=1e-9)
    assert np.abs(0.1 * said[:, 0] - truth).mean() < 0.25 * np.abs(truth - np.median(truth)).mean()
    cells = np.eye(3, 4)[(X[:, 5] % 3).astype(int)]
    fit = trees.fit(CLASSES, X, cells, 0.0, None)
    expected = fitted[-1].predict(seen, raw_score=True) + fit["middle"]
    assert trees.scores(fit, X) == pytest.approx(expected, abs=1e-9)
    assert (trees.scores(fit, X).argmax(axis=1) == cells.argmax(axis=1)).mean() > 0.95


def test_trees_by_lightgbm_s_own_loss_are_as_good_as_by_ours(monkeypatch):
    X, trees = table(), TreeMember(LAYOUT)
    truth, bits = about(X)
    losses, errors = [], []
    for _ in range(2):
        said = trees.scores(trees.fit(NUMBERS, X, bits, 0.0, None), X)
        losses.append(NUMBERS.slopes(said, bits, 0.0).losses.mean())
        errors.append(np.abs(0.1 * said[:, 0] - truth).mean())
        monkeypatch.setattr(NumberBits, "logistic", lambda *_: None)
    assert losses[0] < 1.02 * losses[1]
    assert errors[0] < 1.1 * errors[1]


@pytest.mark.parametrize("rounds", [0, 7])
def test_trees_so_far_are_the_model_where_lightgbm_gives_up(monkeypatch, rounds):
    update, done = lightgbm.Booster.update, []

    def fail(booster, **more):
        if len(done) == rounds:
            raise lightgbm.basic.LightGBMError("Check failed: (best_split_info.right_count) > (0)")
        done.append(update(booster, **more))

    monkeypatch.setattr(lightgbm.Booster, "update", fail)
    X, trees = table(), TreeMember(LAYOUT)
    fit = trees.fit(CLASSES, X, np.eye(3, 4)[(X[:, 5] % 3).astype(int)], 0.0, None)
    assert len(fit["roots"]) == 3 * rounds
    trees.check(fit, 3)
    assert trees.scores(fit, X).shape == (len(X), 3)


def test_a_fit_of_trees_is_the_same_twice():
    X, trees = table(200), TreeMember(LAYOUT)
    _, bits = about(X)
    one, other = (trees.fit(NUMBERS, X, bits, 0.0, None) for _ in range(2))
    assert all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


def test_trees_of_nothing_are_constants():
    X, trees = table(8), TreeMember(LAYOUT)
    _, bits = about(X)
    fit = trees.fit(NUMBERS, X, bits, 0.0, None)
    assert np.ptp(trees.scores(fit, X)) == 0.0
    assert as_arrays("tree\n")["roots"].tolist() == []


def test_leaves_have_as_many_more_bits_as_flipped_ones_tell_less():
    """Of 40 bits no two leaves have 15 each once they are flipped with chance .25: that asks for 60 in each."""
    X, trees = table(40), TreeMember(LAYOUT, part=1.0)
    _, bits = about(X)
    spread = [np.ptp(trees.scores(trees.fit(NUMBERS, X, bits, flip, None), X)) for flip in (0.0, 0.25)]
    assert spread[0] > 0.0 == spread[1]


@pytest.mark.parametrize("likelihood", [NUMBERS, CLASSES])
def test_lines_are_the_best_there_are(likelihood):
    """By another method, from another start, no better weights are found."""
    X = table(150)
    line = LinearMember(LAYOUT, Scaler.from_rows(X[:, :5]), tau=2.0)
    _, bits = about(X)
    bits = bits if likelihood is NUMBERS else np.eye(3, 4)[(X[:, 6] % 3).astype(int)]
    fit = line.fit(likelihood, X, bits, 0.05, None)
    A = line._matrix(X).toarray()
    assert line.scores(fit, X) == pytest.approx(A @ fit["W"][:-1] + fit["W"][-1])

    def value(flat):
        W = flat.reshape(fit["W"].shape)
        constants = 0.5 * (W[-1] ** 2).sum() if likelihood is CLASSES else 0.0
        losses = likelihood.slopes(A @ W[:-1] + W[-1], bits, 0.05).losses.sum()
        return losses + 0.5 * (W[:-1] ** 2).sum() / 4.0 + constants

    start = np.random.default_rng(3).normal(size=fit["W"].size)
    assert value(fit["W"].ravel()) <= minimize(value, start, method="CG").fun + 0.02


def waves(n, d, seed):
    """Rows, products and a wave of a few of their columns, and a bit about each near it, in units of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = X[:, 0] * X[:, 1] + np.sin(X[:, 2 % d]) + X[:, 3 % d] * X[:, 4 % d]
    c = truth + rng.normal(size=n)
    bits = np.column_stack([c, np.full(n, np.inf), truth > c, np.zeros(n), np.ones(n)])
    return X, truth, NUMBERS.scaled(bits, 0.1)


def test_a_kernel_at_all_rows_is_the_best_function():
    """Its norm is that of the function, a^T K a, so that no other coefficients have a smaller penalised loss."""
    X, _, bits = waves(120, 3, 0)
    member = KernelMember(RowLayout.plain(3), Scaler.from_rows(X), tau=2.0)
    fit = member.fit(NUMBERS, X, bits, 0.05, None)
    member.check(fit, 1)
    assert len(fit["Z"]) == len(X)
    K = Gaussian(fit["bandwidth"].item()).matrix(fit["Z"], fit["Z"])
    rows = Gaussian(fit["bandwidth"].item()).matrix(member._scaled(X), fit["Z"])
    assert member.scores(fit, X) == pytest.approx(rows @ fit["a"] + fit["b"])

    def value(flat):
        a, b = flat[:-1, None], flat[-1]
        return NUMBERS.slopes(rows @ a + b, bits, 0.05).losses.sum() + 0.5 * (a.T @ K @ a).item() / 4.0

    best = minimize(value, np.zeros(len(X) + 1), method="L-BFGS-B", options={"maxfun": 100_000}).fun
    assert value(np.append(fit["a"][:, 0], fit["b"])) <= best + 0.02


def test_many_representers_see_more_than_few():
    X, _, bits = waves(1500, 8, 1)
    new, truth, _ = waves(500, 8, 2)
    errors = []
    for size in (60, 800):
        member = KernelMember(RowLayout.plain(8), Scaler.from_rows(X), size=size)
        fit = member.fit(NUMBERS, X, bits, 0.0, None)
        assert len(fit["Z"]) == size
        errors.append(np.abs(0.1 * member.scores(fit, new)[:, 0] - truth).mean())
    assert errors[1] < 0.8 * errors[0] < 0.8 * np.abs(truth - np.median(truth)).mean()
    wide = KernelMember(RowLayout.plain(600), Scaler.identity(600))
    assert len(wide.fit(NUMBERS, np.random.default_rng(0).normal(size=(300, 600)), bits[:300], 0.0, None)["Z"]) == 100


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("Z", lambda a: a[:, :1]), ("a", lambda a: a[:-1]), ("b", lambda a: np.full_like(a, np.nan)),
        ("bandwidth", lambda a: -a), ("bandwidth", lambda a: a[None]),
    ],
)  # fmt: skip
def test_a_kernel_that_nobody_fitted_is_refused(name, spoil):
    X, _, bits = waves(40, 2, 3)
    member = KernelMember(RowLayout.plain(2), Scaler.from_rows(X))
    fit = member.fit(NUMBERS, X, bits, 0.0, None)
    with pytest.raises(InvalidArgument):
        member.check({**fit, name: spoil(fit[name])}, 1)


def test_a_kernel_of_more_rows_than_are_chosen_is_refused():
    """Each row that is predicted is compared with all of them."""
    X, _, bits = waves(40, 2, 3)
    fit = KernelMember(RowLayout.plain(2), Scaler.from_rows(X)).fit(NUMBERS, X, bits, 0.0, None)
    with pytest.raises(InvalidArgument, match="at most 20 representers"):
        KernelMember(RowLayout.plain(2), Scaler.from_rows(X), size=20).check(fit, 1)


def chain(nodes, roots):
    """Trees in which a row goes from node to node, all of them."""
    left = np.arange(1, nodes + 1, dtype=np.int32)
    left[-1] = -1
    return {
        "middle": np.zeros(1), "roots": np.zeros(roots, np.int32), "feature": np.zeros(nodes, np.int32),
        "threshold": np.zeros(nodes), "left": left, "right": np.full(nodes, -1, np.int32), "value": np.zeros(1),
        "words": np.zeros((nodes, 0), np.uint32),
    }  # fmt: skip


def test_trees_that_no_way_down_ends_soon_are_refused():
    """One row would go sixty thousand steps down sixty thousand trees, and all threads would wait for it."""
    trees = TreeMember(RowLayout.plain(2), depth=4)
    trees.check(chain(4, 1000), 1)
    for nodes, roots in ((5, 1), (60_000, 60_000), (4, 1001)):
        with pytest.raises(InvalidArgument, match="soon end in leaves"):
            trees.check(chain(nodes, roots), 1)
    with pytest.raises(InvalidArgument, match="depth"):
        TreeMember(RowLayout.plain(2), depth=60_000)


def test_huge_numbers_are_refused():
    line = LinearMember(RowLayout.plain(2), Scaler.identity(2), 1.0)
    with pytest.raises(InvalidArgument, match="not huge"):
        line.check({"W": np.full((3, 1), 1e308)}, 1)


def test_members_of_other_rows_are_refused():
    """Compiled loops would read beyond the rows."""
    base = SetLikelihoodLearner(CLASSES.space, Linear(Scaler.identity(5)))
    other = LinearMember(RowLayout(dense=5, pairs=400_000_000, terms=6), Scaler.identity(5), 1.0)
    with pytest.raises(InvalidArgument, match="members"):
        ClassMixture(base, (other,), LAYOUT)
    for kind in (KernelMember, DiscriminantMember, lambda layout, scaler: LinearMember(layout, scaler, 1.0)):
        with pytest.raises(InvalidArgument, match="scaler must be of 5 columns"):
            kind(LAYOUT, Scaler.identity(4))


def test_a_library_that_does_not_load_is_not_there(monkeypatch, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "lib_lightgbm.so").write_bytes(b"no library")
    spec = ModuleSpec("lightgbm", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)
    assert not _is_installed.__wrapped__()
    (tmp_path / "lib" / "lib_lightgbm.so").unlink()
    assert _is_installed.__wrapped__()
