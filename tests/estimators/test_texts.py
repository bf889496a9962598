"""Texts and few answers: what budgets of most people allow."""

import numpy as np
import pandas as pd
import pytest

from askone import OneBitClassifier
from askone.errors import InvalidArgument

WORDS = {"good": ["lovely", "tasty", "friendly", "great"], "bad": ["cold", "rude", "awful", "slow"]}


def reviews(n, seed):
    """Two words of eight say which it is; the others say nothing, and one is in no other text."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["good", "bad"], n)
    first, second = ([rng.choice(WORDS[kind]) for kind in kinds] for _ in range(2))
    texts = [
        f"The food was {a} and the staff {b}, table {i}" for i, (a, b) in enumerate(zip(first, second, strict=True))
    ]
    return pd.DataFrame({"review": texts}), kinds


def topics(n, seed):
    """Each of eight classes has three words, of which a text has two, and one of anybody's."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(8, size=n)
    own = 3 * kinds[:, None] + rng.integers(3, size=(n, 2))
    words = np.column_stack([own, rng.integers(24, size=n)])
    texts = [f"word{a} word{b} and word{c} {i}" for i, (a, b, c) in enumerate(words)]
    return pd.DataFrame({"text": texts}), np.array([f"topic {kind}" for kind in kinds])


def share_of_wrong(data, answers, seed):
    """The share of wrong classes of rows that were not seen."""
    frame, kinds = data(answers + 400, seed)
    model = OneBitClassifier(sorted(set(kinds)), random_state=seed).fit(frame[:answers], kinds[:answers])
    return (model.predict(frame[answers:]) != kinds[answers:]).mean()


def test_a_few_dozen_answers_teach_what_short_texts_say():
    """Of 40 texts hardly one word of the eight is in none, and each is in ten of them."""
    assert np.mean([share_of_wrong(reviews, 40, seed) for seed in range(4)]) < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_no_class_is_given_up_for_what_was_asked_first(seed):
    """400 answers are three times the bits that the classes of all 24 words have; half the classes were lost once."""
    assert share_of_wrong(topics, 400, seed) < 0.05


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_plain_texts_are_rows(kind):
    frame, kinds = reviews(60, 0)
    texts = frame["review"].tolist()
    frame = frame.rename(columns={"review": "text"})
    named = OneBitClassifier(["good", "bad"], random_state=0).fit(frame, kinds)
    plain = OneBitClassifier(["good", "bad"], random_state=0).fit(kind(texts), kinds)
    assert plain.feature_names_in_.tolist() == ["text"]
    assert plain.predict(kind(texts[:9])).tolist() == named.predict(frame[:9]).tolist()
    model = OneBitClassifier(["good", "bad"], random_state=0).start(kind(texts))
    assert len(model.ask(texts[:2] if kind is pd.Series else kind(texts[:2]))) == 2  # a Series is one row by name
    assert str(model.ask(texts[2], key="c"))
    with pytest.raises(InvalidArgument, match="X must be"):
        OneBitClassifier(["good", "bad"]).start([texts[:2], texts[2:4]])


def test_plain_texts_go_to_the_only_column():
    frame, kinds = reviews(60, 0)
    model = OneBitClassifier(["good", "bad"], random_state=0).fit(frame, kinds)
    assert model.predict(frame["review"].tolist()).tolist() == model.predict(frame).tolist()
