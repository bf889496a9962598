"""Texts as terms: like scikit-learn's TF-IDF, in few places, in any language."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from askone.encoding import texts, word_vectors
from askone.encoding.columns import Column
from askone.encoding.embedders import name_embedder
from askone.encoding.encoder import Encoder, fit_encoder
from askone.encoding.texts import fit_texts, packed_terms
from askone.errors import MissingExtra

WORDS = ["good", "bad", "wine", "bread", "red", "old", "very", "not", "the", "cheese"]


def sentences(count: int, words: int = 8) -> list[str]:
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS, random.integers(1, words))) for _ in range(count)]


def dense(X, pairs, terms):
    """Return packed terms as a matrix of all terms."""
    out = np.zeros((len(X), terms + 1))
    for x, row in zip(X, out, strict=True):
        row[x[:pairs].astype(int)] = x[pairs:]
    return out[:, 1:]


@pytest.mark.parametrize("count", [50, 400])
def test_weights_are_those_of_scikit_learn(count):
    rows = sentences(count)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2 if count >= 200 else 1)
    expected = vectorizer.fit_transform(rows).toarray()
    (part,) = fit_texts(["t"], [{"t": row} for row in rows])
    X = packed_terms([part], [rows], 40)
    found = dense(X, 40, len(part.terms))
    places = [part.terms.index(term) for term in vectorizer.get_feature_names_out()]
    assert len(places) == len(part.terms)
    assert np.abs(found[:, places] - expected).max() < 1e-5


def test_terms_are_counted_in_all_rows_and_several_columns_share_their_places():
    sample = [{"a": "wine", "b": "wine", "n": 1.0}]
    rows = [[{"a": "wine", "b": "bread"}] * 3, [{"a": "cheese", "b": None}]]
    columns = [Column("a", "text"), Column("n", "number"), Column("b", "text")]
    encoder = fit_encoder(columns, sample, rows)
    assert [part.terms for part in encoder.parts if part.kind == "terms"] == [("wine", "cheese"), ("bread",)]
    assert (encoder.layout.dense, encoder.layout.pairs, encoder.layout.terms) == (1, 1, 3)
    wide = Encoder(encoder.parts, 3)
    X = wide.encode([{"a": "cheese wine", "b": "bread", "n": 1}, {"a": None, "b": "Bread!"}, {}])
    assert X[:, 1:4].tolist() == [[1, 2, 3], [3, 0, 0], [0, 0, 0]]
    assert np.allclose([x[4:6] @ x[4:6] for x in X[:1]], 1)
    assert X[:2, 4:].max(axis=1).tolist() == [1, 1]
    assert not fit_encoder([Column("a", "text")], sample).encode([{"a": "wine"}])[0, 0]  # a constant stands alone


def test_the_weightiest_terms_are_kept_where_there_are_more_than_pairs():
    rows = ["the wine", "the bread", "the cheese", "the old cheese"]
    (part,) = fit_texts(["t"], [{"t": row} for row in rows])
    x = packed_terms([part], [["the old cheese"]], 2)[0]
    kept = [part.terms[int(place) - 1] for place in x[:2]]
    assert "the" not in kept
    assert abs(x[2:] @ x[2:] - 1) < 1e-6
    full = packed_terms([part], [["the old cheese"]], 9)[0]
    assert np.count_nonzero(full[:9]) == 5


def test_a_row_holds_the_terms_of_99_of_100_texts():
    few = fit_encoder([Column("t", "text")], [{"t": "wine"}] * 500 + [{"t": " ".join(WORDS)}])
    assert few.pairs == 1
    most = fit_encoder([Column("t", "text")], [{"t": " ".join(f"word{i}" for i in range(1000))}] * 3)
    assert most.pairs == texts.PAIRS


def test_terms_are_at_most_so_many_and_the_rare_are_forgotten_first(monkeypatch):
    rows = [{"t": f"wine number{i}"} for i in range(300)]
    monkeypatch.setattr(texts, "_COUNTED", 100)
    (part,) = fit_texts(["t"], rows)
    assert part.terms == ("wine",)
    monkeypatch.setattr(texts, "TERMS", 1)
    first, second = fit_texts(["t", "u"], [{"t": "wine", "u": "bread wine"}, {"t": "x", "u": "wine"}])
    assert (first.terms, second.terms) == ((), ("wine",))


@pytest.mark.parametrize(
    ("rows", "near", "far"),
    [
        (["このワインは良いです", "このパンは悪いです"], "ワインが良い", "猫"),
        (["ไวน์นี้ดีมาก", "ขนมปังนี้แย่"], "ไวน์ดี", "แมว"),
        (["这酒很好", "这面包不好"], "好酒", "猫"),
    ],
)
def test_languages_without_blanks_are_read_by_characters(rows, near, far):
    encoder = fit_encoder([Column("t", "text")], [{"t": row} for row in rows])
    assert encoder.parts[0].characters
    X = encoder.encode([{"t": row} for row in (near, far)])
    pairs = encoder.pairs
    assert np.count_nonzero(X[0, 1 : 1 + pairs]) > np.count_nonzero(X[1, 1 : 1 + pairs])


def test_case_blanks_and_what_is_beyond_the_beginning_change_nothing():
    encoder = fit_encoder([Column("t", "text")], [{"t": row} for row in sentences(50)])
    X = encoder.encode([{"t": t} for t in ("good wine", "  GOOD\nwine ", "good wine" + " " * texts.LONG + "bread")])
    assert (X[0] == X[1]).all()
    assert (X[0] == X[2]).all()


def test_signs_are_terms():
    (part,) = fit_texts(["t"], [{"t": "good! 😀"}])
    assert {"!", "😀", "good !"} <= set(part.terms)


def test_word_vectors_are_near_for_words_that_mean_the_same(monkeypatch):
    name = name_embedder("word-vectors")
    encoder = fit_encoder([Column("t", "text")], [{"t": "a good wine"}], embed={"t": name})
    assert encoder.columns == ("t",)
    assert (encoder.layout.dense, encoder.layout.terms) == (256, 3)
    X = encoder.encode([{"t": text} for text in ("a happy cat", "the glad kitten", "taxes of the state", None)])[
        :, :256
    ]
    assert X[0] @ X[1] > X[0] @ X[2] + 0.1
    assert np.allclose(np.sum(X[:3] ** 2, axis=1), 1, atol=1e-5)
    assert not X[3].any()
    assert Encoder.from_json(encoder.to_json()) == encoder
    monkeypatch.setattr(word_vectors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"askone\[vectors\]"):
        word_vectors.WordVectors()
