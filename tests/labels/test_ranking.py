"""Rankings: decoding, questions, exact unbiasedness, the log, the estimator."""

import json
import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from sklearn.base import clone

from askone import SGD, checks
from askone._common import random_table
from askone.errors import AskoneError, IncompatibleParts, InvalidAnswer, InvalidArgument
from askone.estimators import OneBitRanker
from askone.labels import linear_ordering
from askone.labels.losses import Median, SignLogistic
from askone.labels.ranking import Ranking
from askone.learners.gradients.ranking import RANK_FAMILIES, RANK_LOSSES, RANK_PAIRS, RankStrategy, rank_strategy
from askone.learners.sgd.surrogate import Surrogate
from askone.questions.comparison import BestOf, PairSum, Prefer
from askone.questions.registry import question_from_json
from askone.questions.reveal import Reveal
from askone.session.log import Answered, Asked, event_from_json
from askone.session.oracle import Oracle
from askone.session.replay import fold
from askone.session.stream import Stream
from samples import models, reloaded, same, small_rows

MODELS = models()
ITEMS = ("ant", "bee", "cow", "doe")
PAIRS = sorted(RANK_PAIRS)


def space(m=4):
    return Ranking(ITEMS[:m])


def everything(m=4):
    return [list(order) for order in permutations(ITEMS[:m])]


def learner(loss, family, model="linear", m=4):
    return Surrogate(rank_strategy(space(m), RANK_LOSSES[loss](), family), MODELS[model])


def antisymmetric(m, rng):
    W = np.triu(rng.normal(size=(m, m)), 1)
    return W - W.T


def small_orders(n=40, m=4):
    utilities = small_rows(n) @ np.array([[1.0, -1.0, 0.3, 0.1], [0.2, 0.5, -1.0, 0.4]])[:, :m]
    return space(m).from_scores(utilities)


# -- decoding -------------------------------------------------------------------------------------


def test_every_order_is_reached():
    orders = everything()
    decoded = space().decode(space().embed(orders), np.zeros((24, 1)))
    assert decoded.tolist() == orders


def test_with_zeros_and_ones_one_order_is_always_reached():
    """The erratum: <z, 1{i above j}> with z >= 0 is greatest for the order in which items are listed."""
    orders = everything()
    zero_one = (space().embed(orders) + 1) / 2
    values = zero_one @ zero_one.T  # rows: what is decoded; columns: every order as a candidate
    assert (values[:, orders.index(list(ITEMS))] == values.max(axis=1)).all()


def test_borda_is_linear_in_the_embedding():
    orders, one = everything(), space()
    assert np.allclose(one.embed(orders) @ one.incidence.T / 3, one.borda(orders))
    assert np.abs(one.borda(orders)).max() == 1.0


def test_pairs_are_found_by_their_names():
    one = space()
    for k, (i, j) in enumerate(zip(*one.pairs, strict=True)):
        assert one.pair(ITEMS[i], ITEMS[j]) == (k, 1.0)
        assert one.pair(ITEMS[j], ITEMS[i]) == (k, -1.0)


@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_the_search_equals_brute_force(m):
    rng = np.random.default_rng(m)
    for _ in range(20):
        W = antisymmetric(m, rng)
        best = max(linear_ordering.value(W, order) for order in permutations(range(m)))
        found = linear_ordering.best_order(W)
        assert math.isclose(found.value, best)
        assert found.bound == found.value == linear_ordering.value(W, found.order)
        assert math.isclose(linear_ordering.by_subsets(W).value, best)


@pytest.mark.parametrize("m", [11, 12])
def test_the_program_equals_the_search_over_subsets(m):
    W = antisymmetric(m, np.random.default_rng(m))
    assert math.isclose(linear_ordering.by_program(W).value, linear_ordering.by_subsets(W).value)


def test_beyond_there_is_a_bound():
    rng = np.random.default_rng(0)
    for m in (20, 40):
        found = linear_ordering.best_order(antisymmetric(m, rng))
        assert found.value <= found.bound
        assert sorted(found.order) == list(range(m))
    assert found.value < found.bound  # 40 items in a whirl: not known to be the best
    certain = linear_ordering.best_order(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    assert certain.order == list(range(39, -1, -1))  # no circles: exact for any number
    assert certain.value == certain.bound


def test_an_unfinished_program_has_a_bound(monkeypatch):
    monkeypatch.setattr(linear_ordering, "_NODES", 0)
    W = antisymmetric(16, np.random.default_rng(3))
    stopped = linear_ordering.by_program(W)
    assert stopped.value <= stopped.bound <= np.abs(np.triu(W)).sum() + 1e-9


def test_blocks_are_single_items_where_nothing_goes_round():
    W = np.subtract.outer(np.arange(6.0), np.arange(6.0))
    assert [block.tolist() for block in linear_ordering.blocks(W)] == [[5], [4], [3], [2], [1], [0]]


@pytest.mark.parametrize("embedding", ["pairs", "items"])
def test_ties_fall_by_the_content_of_the_row(embedding):
    one = Ranking(ITEMS, embedding=embedding)
    rows = np.arange(400.0)[:, None]
    orders = one.decode(np.zeros((400, one.m)), rows)
    first = Counter(orders[:, 0])
    assert all(abs(first[item] - 100) < 5 * math.sqrt(400 * 0.25 * 0.75) for item in ITEMS)
    assert (one.decode(np.zeros((2, one.m)), rows[[7, 7]]) == orders[[7, 7]]).all()


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Ranking(("ant",)), "at least two items"),
        (lambda: Ranking(("ant", "ant")), "'ant' twice"),
        (lambda: Ranking("ant"), "a list of items"),
        (lambda: Ranking(("ant", "bee"), wording="{first}?"), "with {first} and {second}"),
        (lambda: Ranking(("ant", "bee"), embedding="wins"), "embedding must be one of"),
        (lambda: space().labels([["ant", "bee", "cow", "elk"]]), "'elk'"),
        (lambda: space().labels([["ant", "bee", "cow", "cow"]]), "every item once"),
        (lambda: space().labels([["ant", "bee"]]), "all 4 items"),
        (lambda: Prefer("ant", "ant"), "another item"),
        (lambda: Prefer("ant", "bee", probability=0.0), "above 0"),
        (lambda: Prefer("ant", "bee", yes=1.0), "given where yes is"),
        (lambda: Prefer("ant", "bee").answer(["ant", "cow"]), "'bee'"),
        (lambda: BestOf(("ant",)), "at least two"),
        (lambda: BestOf(("ant", "bee", "ant")), "twice"),
        (lambda: PairSum(ITEMS, (1.0,), 0.0), "6 finite numbers"),
        (lambda: Surrogate(RANK_PAIRS["squared", "borda"](space()), MODELS["linear"]), "embedding must be"),
    ],
)
def test_bad_parts_are_refused(call, message):
    with pytest.raises(InvalidArgument, match=message):
        call()


def test_an_empty_list_of_orders_is_one():
    assert space().labels(np.empty((0, 4), dtype=object)).shape == (0, 4)


# -- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        Prefer("ant", "bee", 0.25, 1.0, 0.0, 3, 7, "{second} or rather {first}?"),
        Prefer(1, 2.5),
        BestOf(("cow", "ant", "bee"), 0.1, 3, 7),
        PairSum(("ant", "bee", "cow"), (0.6, 0.0, -0.8), 0.1, 3, 7),
    ],
    ids=lambda q: q.kind,
)
def test_questions_survive_json(question):
    back = question_from_json(json.dumps(question.to_json()))
    assert back == question
    assert hash(back) == hash(question)
    assert str(back) == str(question)
    assert back.numbered(9).number == 9


def test_sentences():
    assert str(Prefer("salt, pepper", "sugar")) == 'Do you prefer "salt, pepper" or sugar?'
    assert str(Prefer("ant", "bee", wording="{second} or {first}?")) == "bee or ant?"
    long = str(PairSum(tuple(range(8)), tuple(np.arange(1.0, 29.0)), 0.0))
    assert "(22 more, list " in long
    assert len(long) < 300


@pytest.mark.parametrize("answer", [1, 0, None, "cow", ("ant",), np.array([True])], ids=repr)
def test_a_pair_takes_a_bool_or_one_of_its_names(answer):
    with pytest.raises(InvalidAnswer):
        Prefer("ant", "bee").accept(answer)
    assert Prefer("ant", "bee").accept("ant") is True
    assert Prefer("ant", "bee").accept("bee") is False


@pytest.mark.parametrize("answer", [True, None, "elk", ("ant", "bee"), (), np.array(["ant", "bee"]), 0], ids=repr)
def test_the_best_is_one_of_the_few(answer):
    with pytest.raises(InvalidAnswer, match="one of: ant, bee, cow"):
        BestOf(("ant", "bee", "cow")).accept(answer)


def test_a_pair_sum_says_what_it_asks():
    """The statements with weights, as the sentence has them, decide as the sum does."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = tuple(rng.normal(size=6).tolist())
        question = PairSum(ITEMS, weights, float(rng.normal()))
        half = (question.threshold + sum(map(abs, weights))) / 2
        for order in everything():
            held = sum(w for w, above, below in question._statements if order.index(above) < order.index(below))
            assert question.answer(order) == (held > half)
            assert question.answer(order) == bool(np.dot(weights, space().embed([order])[0]) > question.threshold)


def test_who_is_named_first_is_drawn():
    strategy = rank_strategy(space(), None, "borda")
    n = 4000
    asked = [strategy.ask(np.zeros(4), u, 0) for u in random_table.uniforms(0, 0, n, strategy.width)]
    turned = sum(strategy.space.pair(q.first, q.second)[1] > 0 for q in asked)
    assert abs(turned - n / 2) < 5 * math.sqrt(n / 4)
    pairs = Counter(frozenset((q.first, q.second)) for q in asked)
    assert len(pairs) == 6
    assert all(abs(count - n / 6) < 5 * math.sqrt(n * 5 / 36) for count in pairs.values())
    assert {q.probability for q in asked} == {1 / 6}


# -- unbiasedness, exactly ------------------------------------------------------------------------


def mean_over_pairs(strategy, z, order, extra=((),)):
    """E[G | Y = order] over all pairs, both ways of naming them, and some more uniforms with weights."""
    P, total = strategy.space.P, np.zeros(len(z))
    for pair in range(P):
        for turn in (0.25, 0.75):
            for weight, *more in extra if extra != ((),) else ((1.0,),):
                question = strategy.ask(z, np.array([(pair + 0.5) / P, turn, *more]), 0)
                total += weight * strategy.teach(question, question.answer(order), z) / (2 * P)
    return total


def bradley_terry_gradient(one, z, order):
    phi = one.embed([order])[0]
    return one.incidence @ (np.tanh(z @ one.incidence) - phi)


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize(("loss", "family"), [pair for pair in PAIRS if pair[1] in ("borda", "bradley-terry", "pairs")])
def test_pairs_are_exactly_unbiased(loss, family, m):
    strategy = rank_strategy(space(m), RANK_LOSSES[loss](), family)
    one, rng = strategy.space, np.random.default_rng(m)
    for order in everything(m):
        z = 1.5 * rng.normal(size=one.m)
        target = strategy.loss.gradient(z[None], one.points([order]))[0]
        if family == "bradley-terry":
            target = bradley_terry_gradient(one, z, order)
        assert np.abs(mean_over_pairs(strategy, z, order) - target).max() < 1e-10


@pytest.mark.parametrize("m", [3, 4])
def test_thresholds_are_exactly_unbiased_within_their_limit(m):
    strategy = rank_strategy(space(m), None, "thresholded")
    rng = np.random.default_rng(m)
    for order in everything(m):
        z = rng.uniform(-1, 1, size=strategy.space.P)
        # The bit is constant between the places |z -+ 1| / 2 of V / 2: integrate piece by piece.
        cuts = np.unique(np.concatenate([[0.0, 1.0], np.abs(z - 1) / 2, np.abs(z + 1) / 2]))
        pieces = [
            (width / 2, sign, middle)
            for width, middle in zip(np.diff(cuts), (cuts[1:] + cuts[:-1]) / 2, strict=True)
            for sign in (0.25, 0.75)
        ]
        target = z - strategy.space.embed([order])[0]
        assert np.abs(mean_over_pairs(strategy, z, order, pieces) - target).max() < 1e-10


def test_a_known_bit_is_carried_for_both_answers():
    strategy = rank_strategy(space(3), None, "thresholded")
    z = np.array([0.9, 0.0, 0.0])
    low = strategy.ask(z, np.array([0.1, 0.9, 0.2, 0.99]), 0)  # z - phi <= 1.9 < V: nothing, whatever is said
    assert (low.yes, low.no) == (0.0, 0.0)
    open_ = strategy.ask(z, np.array([0.1, 0.9, 0.2, 0.3]), 0)
    assert (open_.yes, open_.no) == (0.0, 12.0)
    with pytest.raises(InvalidArgument, match="carries"):
        strategy.teach(Prefer("ant", "bee"), True, z)


def test_the_sphere_is_unbiased():
    strategy = rank_strategy(space(3), None, "sphere")
    z, n = np.array([0.3, -0.2, 0.5]), 40_000
    uniform = random_table.uniforms(0, 0, n, strategy.width)
    for order in everything(3)[::2]:
        phi = strategy.space.embed([order])[0]
        u = random_table.sphere(uniform)
        sample = np.where((u @ (phi - z))[:, None] > 0, -u, u) / 0.5  # c2(3)
        for row in (0, 17):  # the sample above is what the strategy does
            question = strategy.ask(z, uniform[row], 0)
            assert np.allclose(strategy.teach(question, question.answer(order), z), sample[row])
        error = 5 * sample.std(axis=0) / math.sqrt(n)
        target = Median().gradient(z[None], phi[None])[0]
        assert (np.abs(sample.mean(axis=0) - target) < error).all()
        assert error.max() < 0.05


def test_the_loss_of_signs():
    loss, rng = SignLogistic(), np.random.default_rng(0)
    z, y = rng.normal(size=(20, 3)), np.sign(rng.normal(size=(20, 3)))
    for j in range(3):
        nudge = 1e-6 * np.eye(3)[j]
        slope = (loss.value(z + nudge, y) - loss.value(z - nudge, y)) / 2e-6
        assert np.allclose(slope, loss.gradient(z, y)[:, j], atol=1e-7)
    assert np.linalg.norm(loss.gradient(100 * z, y), axis=1).max() <= loss.lipschitz(3)


def test_every_pair_is_a_strategy_and_others_are_refused():
    for (loss, family), cls in RANK_PAIRS.items():
        strategy = rank_strategy(space(), RANK_LOSSES[loss](), family)
        assert type(strategy) is cls
        assert isinstance(strategy, RankStrategy)
        assert strategy.bound(strategy.space.m) > 0
    for family in RANK_FAMILIES:
        for loss in RANK_LOSSES:
            if (loss, family) not in RANK_PAIRS:
                with pytest.raises(IncompatibleParts, match=family):
                    rank_strategy(space(), RANK_LOSSES[loss](), family)


# -- learners -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["linear", "kernel"])
@pytest.mark.parametrize(("loss", "family"), PAIRS)
def test_learners_keep_the_contract(loss, family, model):
    checks.check_learner(learner(loss, family, model), small_rows(12), small_orders(12))


@pytest.mark.parametrize(("loss", "family"), [pair for pair in PAIRS if pair[1] != "full"])
def test_labels_that_answer_alike_teach_alike(loss, family):
    """Other orders that answer every question as before leave the state bit for bit the same."""
    one, X, y = learner(loss, family), small_rows(60), small_orders(60)

    def told(labels):
        state, log = one.init(), []
        oracle = Oracle(labels)
        for i, x in enumerate(X):
            question = one.ask(state, x, random_table.uniforms(0, i, 1, one.width)[0])
            answer = oracle.respond(i, question)
            assert type(answer) is bool
            state = one.tell(state, x, question, answer)
            log.append((question, answer))
        return state, log

    first, log = told(y)
    others = [
        [order for order in everything() if question.answer(order) == answer][-1 if i % 2 else 0]
        for i, (question, answer) in enumerate(log)
    ]
    assert np.mean([list(a) != list(b) for a, b in zip(others, y, strict=True)]) > 0.7
    second, _ = told(others)
    assert same(one, first, second)


def test_wrong_questions_are_refused():
    for loss, family in PAIRS:
        one = learner(loss, family)
        other = BestOf(("ant", "bee")) if family != "sphere" else PairSum(("ant", "bee"), (1.0,), 0.0)
        answer = "ant" if family != "sphere" else True
        with pytest.raises(InvalidArgument, match="question must be"):
            one.tell(one.init(), np.zeros(2), other, answer)
    with pytest.raises(InvalidArgument, match="'elk'"):
        learner("squared", "borda").tell(learner("squared", "borda").init(), np.zeros(2), Prefer("ant", "elk"), True)


# -- the best of a few ----------------------------------------------------------------------------


def test_the_best_of_a_few_is_logged_as_comparisons_and_replayed():
    one, log = learner("logistic", "bradley-terry"), []
    stream = Stream(one, log=log.append)
    row = np.array([0.5, -0.5])
    stream.tell(stream.ask(row, key="ann"), True)
    asked = stream.put(row, BestOf(("cow", "ant", "bee"), 1 / 6), key="bob")
    stream.tell(asked, "ant")
    stream.tell(stream.ask(row), False)
    assert [event.id for event in log] == [
        "ask-0", "answer-0", "ask-1", "ask-1.1", "answer-1.1", "ask-1.2", "answer-1.2", "ask-2", "answer-2",
    ]  # fmt: skip
    pairs = [str(e.question) for e in log if isinstance(e, Asked)][2:4]
    assert pairs == ["Do you prefer cow or ant?", "Do you prefer ant or bee?"]
    assert [e.answer for e in log if isinstance(e, Answered)][1:3] == [False, True]
    assert stream.answered == 4
    assert stream.open == []
    again = [event_from_json(json.loads(json.dumps(event.to_json()))) for event in log]
    state = fold(one, {"ann": row, "bob": row, "~2": row}, again)
    assert same(one, state, stream.state)


def test_a_wrong_best_changes_nothing():
    one, log = learner("squared", "borda"), []
    stream = Stream(one, log=log.append)
    asked = stream.put(np.zeros(2), BestOf(("cow", "ant")))
    before = stream.state
    for call in (lambda: stream.tell(asked, "bee"), lambda: stream.tell(asked, True)):
        with pytest.raises(InvalidAnswer):
            call()
    assert stream.state is before
    assert stream.open == [0]
    assert len(log) == 1
    unknown = stream.put(np.zeros(2), BestOf(("cow", "elk")))
    with pytest.raises(InvalidArgument, match="'elk'"):
        stream.tell(unknown, "cow")
    assert stream.state is before
    assert len(log) == 2


class FullDisk(list):
    """A log that has room for so many events."""

    def __init__(self, room):
        super().__init__()
        self.room = room

    def append(self, event):
        if len(self) >= self.room:
            raise OSError("disk full")
        super().append(event)


@pytest.mark.parametrize("taken", [0, 1, 2, 3, 4])
def test_what_the_log_has_not_taken_has_not_happened(taken):
    one, log = learner("squared", "borda"), FullDisk(1 + taken)
    stream, row = Stream(one, log=log.append), np.zeros(2)
    asked = stream.put(row, BestOf(("cow", "ant", "bee"), 1 / 6), key="ann")
    if taken < 4:
        with pytest.raises(OSError, match="disk full"):
            stream.tell(asked, "ant")
    else:
        stream.tell(asked, "ant")
    assert same(one, fold(one, {"ann": row}, log), stream.state)
    assert stream.open == ([0] if taken < 2 else [])


def test_the_best_of_a_few_is_taken_back_with_all_it_implies():
    one, log = learner("logistic", "bradley-terry"), []
    stream, other = Stream(one, log=log.append), Stream(one)
    row = np.array([0.5, -0.5])
    for each in (stream, other):
        each.tell(each.put(row, BestOf(("bee", "ant"), 1 / 6), key="ann"), "ant")
        each.put(row, BestOf(("cow", "ant", "bee"), 1 / 6), key="bob")
    stream.tell(1, "ant")
    stream.retract(1)
    assert [event.id for event in log][-2:] == ["retract-1.2", "retract-1.1"]
    assert stream.open == other.open == [1]

    def folded():
        again = [event_from_json(json.loads(json.dumps(event.to_json()))) for event in log]
        return fold(one, {"ann": row, "bob": row}, again)

    assert same(one, other.state, stream.state)
    assert same(one, folded(), stream.state)
    stream.tell(1, "bee")
    other.tell(1, "bee")
    assert [event.id for event in log][-2:] == ["ask-1+1.2", "answer-1+1.2"]
    assert same(one, other.state, stream.state)
    assert same(one, folded(), stream.state)


def test_a_best_that_the_log_took_back_in_part_can_be_taken_back_wholly():
    one, log = learner("squared", "borda"), FullDisk(6)
    stream, row = Stream(one, log=log.append), np.zeros(2)
    asked = stream.put(row, BestOf(("cow", "ant", "bee"), 1 / 6), key="ann")
    stream.tell(asked, "ant")
    with pytest.raises(OSError, match="disk full"):
        stream.retract(asked)
    assert same(one, fold(one, {"ann": row}, log), stream.state)
    assert (stream.answered, stream.open) == (1, [])
    log.room = 100
    stream.retract(asked)
    assert (stream.answered, stream.open) == (0, [0])
    stream.tell(asked, "bee")
    assert len({event.id for event in log}) == len(log)


def test_an_oracle_names_the_best():
    order = [["cow", "ant", "bee", "doe"]]
    assert Oracle(order).respond(0, BestOf(("bee", "ant"))) == ("ant",)
    with pytest.raises(InvalidArgument, match="no other answer can be flipped"):
        Oracle(order, flip=0.1).respond(0, BestOf(("bee", "ant")))


# -- the estimator --------------------------------------------------------------------------------


@pytest.mark.parametrize("family", RANK_FAMILIES)
def test_fit_learns_by_context(family):
    X, y = small_rows(600), small_orders(600)
    model = OneBitRanker(ITEMS, learner=SGD(questions=family), random_state=0).fit(X, y)
    assert model.score(X, y) > (0.35 if family == "thresholded" else 0.6)
    assert model.predict(X).shape == (600, 4)
    assert model.decision_function(X).shape == (600, 4 if family in ("borda", "bradley-terry") else 6)


@pytest.mark.parametrize("family", RANK_FAMILIES)
def test_without_rows_one_order_is_learnt(family):
    rng = np.random.default_rng(0)
    y = space().from_scores(np.array([0.0, 3.0, 1.0, 2.0]) + rng.normal(size=(1500, 4)))
    model = OneBitRanker(ITEMS, learner=SGD(questions=family), random_state=0).fit(None, y)
    assert model.predict().tolist() == ["bee", "doe", "cow", "ant"]
    assert 0 < model.score(None, y) < 1
    assert model.stream_.asked == 1500


def test_live_with_rows_and_without():
    X, y = small_rows(50), small_orders(50)
    model = OneBitRanker(ITEMS, random_state=0).start(X)
    for question, order in zip(model.ask(X), y, strict=True):
        model.tell(question, question.answer(order))
    assert model.score(X, y) > 0.3
    alone = OneBitRanker(ITEMS, random_state=0, budget=3)
    question = alone.ask()
    alone.tell(question, True).skip(alone.ask()).tell(alone.ask().number, False)
    assert alone.predict().shape == (4,)
    with pytest.raises(AskoneError, match="0 of 3 left"):
        alone.ask()
    with pytest.raises(InvalidArgument, match="this model has no rows"):
        alone.predict(X)
    with pytest.raises(InvalidArgument, match="this model ranks by rows"):
        model.ask()


def test_ask_best():
    model = OneBitRanker(ITEMS, learner=SGD(questions="bradley-terry"), random_state=0)
    order = ["cow", "ant", "doe", "bee"]
    for k in (2, 3) * 40:  # the best of 3 alone never tells the two worst apart
        question = model.ask_best(k=k)
        assert isinstance(question, BestOf)
        assert len(set(question.items)) == k
        model.tell(question, *question.answer(order))
    assert model.predict().tolist() == order
    assert model.stream_.answered == 120
    asked = model.ask_best(k=2)
    before = model.decision_function()
    outside = next(item for item in ITEMS if item not in asked.items)
    for bad in (outside, "elk", True):
        with pytest.raises(InvalidAnswer):
            model.tell(asked, bad)
    assert (model.decision_function() == before).all()
    for call in (lambda: model.ask_best(k=1), lambda: model.ask_best(k=5)):
        with pytest.raises(InvalidArgument, match="k must be"):
            call()
    with pytest.raises(IncompatibleParts, match="the best of several"):
        OneBitRanker(ITEMS, learner=SGD(questions="thresholded")).ask_best()


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize(("loss", "family"), PAIRS)
def test_saved_and_loaded(loss, family, rows):
    X, y = (small_rows(60) if rows else None), small_orders(60)
    model = OneBitRanker(list(ITEMS), learner=SGD(questions=family, loss=loss), random_state=0).fit(X, y)
    one = X[0] if rows else None
    model.ask(one)
    back = reloaded(model)
    assert (back.predict(X) == model.predict(X)).all()
    assert (back.decision_function(X) == model.decision_function(X)).all()
    assert back.stream_.open == [60]
    assert back.ask(one) == model.ask(one)


def test_an_open_best_of_survives_saving():
    model = OneBitRanker(ITEMS, random_state=0)
    question = model.ask_best()
    back = reloaded(model)
    back.tell(question, question.items[0])
    model.tell(question, question.items[0])
    assert (back.decision_function() == model.decision_function()).all()


def test_only_the_supervised_baseline_is_given_orders():
    revealed = {}
    for family in RANK_FAMILIES:
        oracle = Oracle(small_orders(30))
        OneBitRanker(ITEMS, learner=SGD(questions=family), random_state=0).fit(small_rows(30), oracle)
        revealed[family] = (oracle.questions, oracle.labels_revealed)
    assert revealed == {family: (30, 30 if family == "full" else 0) for family in RANK_FAMILIES}


def test_numbers_may_be_items():
    rng = np.random.default_rng(0)
    y = np.array([rng.permutation([3, 1, 2]) for _ in range(20)])
    model = OneBitRanker([1, 2, 3], random_state=0).fit(None, y)
    assert sorted(model.predict().tolist()) == [1, 2, 3]
    assert type(model.predict()[0]) is int


def test_scikit_learns_manners():
    model = OneBitRanker(ITEMS, learner=SGD(questions="pairs", gamma=0.5))
    assert clone(model).get_params() == model.get_params()
    assert sorted(model.predict()) == sorted(ITEMS)  # any order, before the first answer
    assert model.predict(small_rows(5)).shape == (5, len(ITEMS))


def test_tables_keep_their_names():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(small_rows(40), columns=["age", "hunger"])
    model = OneBitRanker(ITEMS, random_state=0).fit(table, small_orders(40))
    assert model.predict(table).shape == (40, 4)
    assert isinstance(model.ask(table.iloc[0]), Prefer)
    assert isinstance(model.ask_best(table.iloc[1]), BestOf)
    with pytest.raises(InvalidArgument, match="feature names"):
        model.predict(table[["hunger", "age"]])
    with pytest.raises(InvalidArgument, match="40 orders, as X has rows"):
        model.score(table, small_orders(39))


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({}, small_rows(5), small_orders(4), "5 orders, as X has rows"),
        ({}, small_rows(4), [["ant", "bee", "cow", "elk"]] * 4, "'elk'"),
        ({"learner": SGD(questions="swiss")}, small_rows(4), small_orders(4), "questions must be one of"),
        ({"learner": SGD(loss="hinge")}, small_rows(4), small_orders(4), "loss must be one of"),
        ({"learner": SGD(loss="median")}, small_rows(4), small_orders(4), "'borda' questions"),
        ({"items": 7}, small_rows(4), small_orders(4), "a list of items"),
        ({}, small_rows(4), None, "y must be"),
        ({"wording": "{a}"}, small_rows(4), small_orders(4), "wording"),
    ],
    ids=str,
)
def test_the_estimator_refuses(options, X, y, message):
    model = OneBitRanker(**{"items": ITEMS, **options})
    before = dict(model.__dict__)
    with pytest.raises(AskoneError, match=message):
        model.fit(X, y)
    assert model.__dict__ == before


def test_full_reveals_orders():
    question = OneBitRanker(ITEMS, learner=SGD(questions="full")).ask()
    assert question == Reveal(4, 0, ITEMS)
    assert str(question) == "What is the order of ant, bee, cow, doe?"
