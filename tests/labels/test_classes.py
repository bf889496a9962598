import itertools
import json

import numpy as np
import pytest

from askone import Classes, Finite, Subset, question_from_json
from askone.errors import InvalidArgument
from askone.labels.classes import MOST_SETS

ANIMALS = ("cat", "lion", "caracal", "owl", "chicken")
KNOWN_BY = {"feline": ["cat", "lion", "caracal"], "tufted ears": ["caracal", "owl"], "tame": ["cat", "chicken"]}


def test_attributes_are_asked_by_their_names():
    space = Classes(ANIMALS, attributes=KNOWN_BY)
    assert space.allowed.titles == ("feline", "tufted ears", "tame")
    assert space.allowed.inside[1].tolist() == [0, 0, 1, 1, 0]
    assert not space.allowed.spans  # three attributes, five classes: told apart, but p(y|x) does not follow


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["cat"]}, "at least two classes"),
        ({"names": ["cat", "cat"]}, "'cat' twice"),
        ({"names": ["1", 1]}, "'1' twice"),
        ({"names": "cats"}, "names must be a list of classes"),
        ({"names": ["cat", " "]}, "none of them blank"),
        ({"names": ["cat", None]}, "texts or numbers"),
        ({"attributes": {"feline": ["cat", "dog"]}}, r"attributes\['feline'\] must be one of: 'cat'.*got 'dog'"),
        ({"attributes": {"feline": []}}, "a set of 1 to 4 different classes"),
        ({"attributes": {"alive": ANIMALS}}, "a set of 1 to 4 different classes"),
        ({"attributes": {"feline": ["cat", "cat"]}}, "different classes"),
        ({"attributes": {"feline": "cat"}}, "lists of classes"),
        ({"sets": [["cat", "unicorn"]]}, "sets must be one of"),
        ({"sets": [["cat"], ["lion"]]}, "tells 'caracal' from 'owl' from 'chicken'"),
        ({"attributes": {"feline": ["cat", "lion", "caracal"]}}, "tells 'cat' from 'lion' from 'caracal'; 'owl' from"),
        ({"max_set_size": 0}, "max_set_size must be a whole number from 1 to 4"),
        ({"max_set_size": 5}, "max_set_size must be a whole number from 1 to 4"),
        ({"max_set_size": 2, "attributes": KNOWN_BY}, "None where attributes or sets"),
        ({"sets": [["cat"], ["lion", "cat"], ["cat", "lion"]]}, "different sets"),
        ({"sets": [["cat"], ["lion", "caracal", "owl", "chicken"]]}, "complements"),
        ({"attributes": {"feline": ["cat"], "Is it feline?": ["lion"]}}, "different sentences"),
        ({"attributes": {" ": ["cat"]}}, "none of them blank"),
        ({"attributes": 5}, "attributes must be a list of sets"),
        ({"sets": "cat"}, "sets must be a list of sets"),
        ({"names": {"cat", "lion"}}, "names must be a list of classes"),
        ({"names": [1, 1.0]}, "'1.0' twice"),
        ({"names": [1, float("nan")]}, "finite numbers"),
        ({"wording": "Is it {set}}?"}, r"a text with \{set\}"),
        ({"wording": "Is it so?"}, r"a text with \{set\}"),
        ({"wording": "{set} {who}"}, r"a text with \{set\}"),
    ],
)
def test_bad_spaces_are_refused_with_reasons(options, message):
    with pytest.raises(InvalidArgument, match=message):
        Classes(**{"names": ANIMALS} | options)


def test_a_set_and_its_complement_are_one_question():
    for K, most in ((2, 1), (3, 2), (4, 2), (6, 3), (7, 6)):
        inside = Classes(tuple(range(K)), max_set_size=most).allowed.inside
        both = {tuple(row) for row in inside} | {tuple(1 - row) for row in inside}
        assert len(both) == 2 * len(inside)
        assert inside.sum(axis=1).max() <= most


def test_too_many_sets_are_drawn_not_listed():
    assert Classes(tuple(range(10)), max_set_size=3).drawn_size is None
    many = Classes(tuple(range(60)), max_set_size=3)
    assert many.drawn_size == 3
    assert many.allowed is None
    assert MOST_SETS < 60 * 59 * 58 / 6


def test_labels_are_names():
    space = Classes((3, 5, 8))
    assert space.labels(np.array([8, 3])).tolist() == [[8], [3]]
    assert space.labels([5.0]).tolist() == [[5]]
    for wrong in ([4], ["3"], [[3, 5]], [None]):
        with pytest.raises(InvalidArgument):
            space.labels(wrong)


def test_ties_are_broken_at_random_but_alike_for_equal_rows():
    space = Classes(ANIMALS)
    rows = np.random.default_rng(0).normal(size=(4000, 3))
    scores = np.zeros((4000, 5))
    scores[:, 3] = -1
    names = space.decode(scores, rows)[:, 0]
    counts = np.array([np.sum(names == name) for name in ANIMALS])
    assert counts[3] == 0
    # Four equal shares of 4000: five standard deviations of a binomial.
    assert np.abs(counts[[0, 1, 2, 4]] - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)
    assert space.decode(scores[:1], rows[17:18])[0, 0] == names[17]
    assert (space.decode(scores[::-1], rows[::-1])[::-1, 0] == names).all()


def test_where_sets_do_not_span_the_nearest_code_is_decoded():
    space = Classes(tuple(range(8)), attributes={str(b): [y for y in range(8) if y >> b & 1] for b in range(3)})
    assert space.allowed.span.shape == (8, 4)
    assert space.decode(space.embedding, np.zeros((8, 1)))[:, 0].tolist() == list(range(8))


# -- a loss matrix --------------------------------------------------------------------------------


def expected_loss_is_minimised(space, p, rng):
    point = p @ space.embedding
    chosen = space.index(space.decode(point[None], rng.normal(size=(1, 2)))[0, 0])
    losses = space.matrix @ p
    return losses[chosen] <= losses.min() + 1e-9


@pytest.mark.parametrize("K", [2, 3, 6])
def test_any_loss_is_decoded_by_its_least_expectation(K):
    rng = np.random.default_rng(K)
    for _ in range(50):
        space = Finite(tuple(range(K)), loss=rng.exponential(size=(K, K)))
        assert expected_loss_is_minimised(space, rng.dirichlet(np.ones(K)), rng)
        centre = space.embedding.mean(axis=0)
        assert np.linalg.norm(space.embedding - centre, axis=1).max() == pytest.approx(1.0)


def test_a_loss_of_low_rank_needs_few_dimensions():
    # A hierarchy in two halves where only the half matters: one number is enough.
    loss = [[float(z // 3 != y // 3) for y in range(6)] for z in range(6)]
    assert Finite(tuple("abcdef"), loss=loss).m == 1


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ([[0, 1]], "a 2 x 2 matrix"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[1, 2], [1, 2]], "predictions differ"),
        ("0-1", "a 2 x 2 matrix"),
        ((), "a 2 x 2 matrix"),
    ],
)
def test_bad_losses(loss, message):
    with pytest.raises(InvalidArgument, match=message):
        Finite(("a", "b"), loss=loss)


def test_a_loss_needs_sets_that_span():
    names = tuple(range(8))
    bits = [[y for y in names if y >> b & 1] for b in range(3)]
    with pytest.raises(InvalidArgument, match="sets that span"):
        Finite(names, sets=bits, loss=1 - np.eye(8))


# -- sentences ------------------------------------------------------------------------------------


def test_sentences():
    assert str(Subset(("cat",))) == "Is it cat?"
    assert str(Subset((3, 7))) == "Is it one of: 3, 7?"
    assert str(Subset(("cat", "lion"), wording="Zeigt das Bild {set}?")) == "Zeigt das Bild cat, lion?"
    assert str(Subset(("caracal",), title="Can you see tufts?")) == "Can you see tufts?"


def test_sets_never_read_alike():
    names = ["a", "b", "a, b", '"a', "b…", " a", "c"]
    sentences = {}
    for size in range(1, 5):
        for members in itertools.combinations(names, size):
            sentence = str(Subset(members))
            assert sentence not in sentences, (members, sentences.get(sentence))
            sentences[sentence] = members


def test_long_sets_are_shortened_and_never_ambiguous():
    rng = np.random.default_rng(0)
    names = [f"species {i}" for i in range(100)]
    seen = {}
    for _ in range(300):
        tail = sorted(rng.choice(94, size=30, replace=False) + 6)
        members = tuple(names[i] for i in [0, 1, 2, 3, 4, 5, *tail])  # all begin alike
        question = Subset(members)
        assert len(str(question)) < 150
        assert "30 more" in str(question)
        assert seen.setdefault(str(question), members) == members
        assert question.members == members
    assert len(seen) == 300


def test_json_and_answers():
    question = Subset(("cat", 3, 2.5), title="odd", probability=0.25, yes=(0.1, -1 / 3), no=(1e-300, 2.0), learnt=4)
    back = question_from_json(json.dumps(question.to_json()))
    assert back == question
    assert hash(back) == hash(question)
    assert question.numbered(7).number == 7
    assert question.holds(3)
    assert question.holds(np.array([2.5]))
    assert not question.holds("dog")
    with pytest.raises(InvalidArgument):
        question.holds(["cat", "dog"])
    for wrong in ("yes", 1, None, "cat"):
        with pytest.raises(InvalidArgument):
            question.accept(wrong)


@pytest.mark.parametrize(
    "fields",
    [
        {"members": ()},
        {"members": ("a", "a")},
        {"members": "ab"},
        {"members": ("a",), "probability": 0.0},
        {"members": ("a",), "yes": (np.inf,)},
        {"members": ("a",), "wording": "no place"},
    ],
)
def test_bad_sets(fields):
    with pytest.raises(InvalidArgument):
        Subset(**fields)


def test_ties_are_relative_to_the_scale_of_the_loss():
    space = Finite(("a", "b"), loss=[[0, 1e-13], [1e-13, 0]])
    point = np.array([0.9, 0.1]) @ space.embedding
    rows = np.random.default_rng(0).normal(size=(20, 2))
    assert set(space.decode(np.tile(point, (20, 1)), rows)[:, 0]) == {"a"}
    same = Finite(("a", "b", "c"), loss=[[0.1] * 3, [0.7] * 3, [0.3] * 3])  # one prediction is always the best
    assert np.abs(same.embedding).max() < 10
    assert same.decode(same.embedding[:1], rows[:1])[0, 0] == "a"
