"""What a campaign leaves behind: every format says the same, and spreadsheets are safe from it."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import askone
from answered import KINDS, answer, make
from askone.campaign.engine.commands import Exclude, Next, Undo
from askone.campaign.output import export
from askone.campaign.output._formats import Sink, file_chunks, safe_cell
from askone.errors import InvalidArgument, InvalidFile, MissingExtra
from askone.store.entries import BEGINNING, body, chain, entry_from_json

parquet = pytest.importorskip("pyarrow.parquet")


def read_csv(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_comes_with_its_question(store, kind):
    campaign = make(store, kind)
    count = answer(campaign, 12)
    [undone] = campaign.serve([Undo("ann", "u-1")], 50.0)
    assert undone.question is not None
    campaign.serve([Exclude("boss", "x-1", "bob")], 60.0)
    found = list(export.answers(store, "c"))
    assert len(found) == count
    assert [one["seq"] for one in found] == sorted(one["seq"] for one in found)
    assert sum(one["retracted"] for one in found) == 1
    assert [one["excluded"] for one in found] == [one["person"] == "bob" for one in found]
    asked = {entry.event.id: entry for entry in store.entries("c", kinds=["asked"])}
    for one in found:
        source = asked[f"ask-{one['number']}"]
        question = askone.question_from_json(one["question"])
        assert question == source.event.question
        assert one["sentence"] == str(question)
        assert one["row"] == source.event.row
        assert one["learnt"] == source.event.learnt
        assert one["role"] == (source.aside.get("role") or "normal")
        assert (one["density"] is None) == (kind != "number")
        assert (one["probability"] is None) == (kind == "number")
        assert one["seconds"] == 1.5
        assert one["stale"] >= 0
        assert one["time"].startswith("1970-01-01T00:00:")
    if kind == "order":
        assert all(one["said"] in ("tea", "coffee", "milk") for one in found)
    assert set(found[0]) == {name for name, _ in export.ANSWER_COLUMNS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_formats_agree(store, kind):
    campaign = make(store, kind)
    answer(campaign, 8)
    truth = list(export.answers(store, "c"))
    lines = b"".join(export.answer_chunks(store, "c", "jsonl")).decode().splitlines()
    assert [json.loads(line) for line in lines] == truth
    table = parquet.read_table(io.BytesIO(b"".join(export.answer_chunks(store, "c", "parquet")))).to_pylist()
    assert [{**one, "question": json.loads(one["question"])} for one in table] == truth
    cells = read_csv(b"".join(export.answer_chunks(store, "c", "csv")))
    assert [json.loads(original_cell(one["question"])) for one in cells] == [one["question"] for one in truth]
    for one, cell in zip(truth, cells, strict=True):
        assert cell["answer"] == str(one["answer"]).lower()
        assert cell["density"] == ("" if one["density"] is None else repr(one["density"]))
        assert original_cell(cell["sentence"]) == one["sentence"]


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_every_row(store, kind):
    campaign = make(store, kind, count=30)
    answer(campaign, 12)
    found = list(export.predictions(campaign, size=7))
    assert len(found) == 30
    assert [one["row"] for one in found] == [f"r{i}" for i in range(30)]
    truth = campaign.predictions(range(30))
    if kind == "number":  # the last digit may depend on how many rows are predicted at once
        assert [one["prediction"] for one in found] == pytest.approx([one["prediction"] for one in truth], rel=1e-9)
    else:
        assert [one["prediction"] for one in found] == [one["prediction"] for one in truth]
    if kind == "number":
        # After so few answers a prediction may lie at an end of the range, which no interval leaves.
        assert all(one["low"] <= one["prediction"] <= one["high"] and one["std"] > 0 for one in found)
        assert all(0 <= one["low"] < one["high"] <= 1000 for one in found)
    if kind == "class":
        assert all(one["probabilities"][one["prediction"]] == one["probability"] for one in found)
    table = parquet.read_table(io.BytesIO(b"".join(export.prediction_chunks(campaign, "parquet")))).to_pylist()
    values = [one["prediction"] if kind != "order" else json.loads(one["prediction"]) for one in table]
    assert values == [one["prediction"] for one in truth]
    cells = read_csv(b"".join(export.prediction_chunks(campaign, "csv")))
    assert len(cells) == 30
    assert all(len(cell[name]) <= 12 for cell in cells for name in ("std", "low", "high", "probability"))
    if kind == "class":
        assert cells[3]["probability"] == repr(float(f"{found[3]['probability']:.6g}"))
        assert all(len(str(one)) <= 12 for one in json.loads(cells[3]["probabilities"]).values())
    assert len(b"".join(export.prediction_chunks(campaign, "jsonl")).splitlines()) == 30


def test_the_model_is_the_campaigns(store, tmp_path):
    campaign = make(store)
    answer(campaign, 10)
    campaign.model().save(tmp_path / "model")
    X = np.array([row.features for row in store.rows("c", range(30))], dtype=float)
    loaded = askone.load(tmp_path / "model").predict(X)
    assert loaded.tolist() == [one["prediction"] for one in campaign.predictions(range(30))]


def test_the_log_can_be_checked_by_anybody(store):
    campaign = make(store)
    answer(campaign, 5)
    before = BEGINNING
    for line in b"".join(export.log_chunks(store, "c")).decode().splitlines():
        record = json.loads(line)
        mark = record.pop("hash")
        before = chain(before, body(entry_from_json(record)))
        assert mark == before
    assert before == store.head("c")[1]


def test_an_export_is_what_was_when_it_began(store):
    campaign = make(store)
    answer(campaign, 3)
    pieces = export.answer_chunks(store, "c", "jsonl")
    first = export.answers(store, "c")
    kept = [next(first)]
    answer(campaign, 2, start=3)
    campaign.serve([Undo("ann", "u-1")], 99.0)
    kept += list(first)
    assert len(kept) == 3
    assert not any(one["retracted"] for one in kept)
    assert b"".join(pieces).count(b"\n") == 5  # a generator begins when it is first asked


def test_nothing_to_export(store):
    campaign = make(store)
    assert list(export.answers(store, "c")) == []
    assert read_csv(b"".join(export.answer_chunks(store, "c", "csv"))) == []
    assert parquet.read_table(io.BytesIO(b"".join(export.answer_chunks(store, "c", "parquet")))).num_rows == 0
    campaign.serve([Next("ann")], 1.0)
    with pytest.raises(InvalidArgument, match="format must be one of: 'csv', 'jsonl', 'parquet'"):
        export.answer_chunks(store, "c", "xlsx")


# -- cells ----------------------------------------------------------------------------------------

DANGEROUS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    '"=1+1"',
    " =1",
    "'=1",
    "＝1+1",
    "-",
    "''",
    '"" =1',
]


def original_cell(text):
    return text.removeprefix("'")


@pytest.mark.parametrize("text", DANGEROUS)
def test_formulas_are_not_run(text):
    safe = safe_cell(text)
    assert safe == "'" + text
    assert original_cell(safe) == text


@given(st.text())
def test_the_way_back_is_exact(text):
    safe = safe_cell(text)
    assert original_cell(safe) == text
    assert safe[:1] not in tuple("=+-@\t\r\n")
    assert safe.lstrip(' "')[:1] not in tuple("=+-@")


@given(st.lists(st.tuples(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.booleans()), max_size=5))
def test_csv_reads_back(cells):
    columns = (("=text", "text"), ("number", "float"), ("flag", "bool"))
    records = [{"=text": a, "number": b, "flag": c} for a, b, c in cells]
    data = b"".join(file_chunks(records, columns, "csv"))
    table = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert table[0] == ["'=text", "number", "flag"]
    assert [(original_cell(a), float(b), c == "true") for a, b, c in table[1:]] == cells
    for row in table[1:]:
        assert row[0][:1] not in tuple("=+-@\t\r")


def test_parquet_comes_in_row_groups(monkeypatch):
    monkeypatch.setattr("askone.campaign.output._formats._GROUP", 10)
    pieces = list(file_chunks(({"n": i, "note": None} for i in range(25)), (("n", "int"), ("note", "json")), "parquet"))
    file = parquet.ParquetFile(io.BytesIO(b"".join(pieces)))
    assert file.num_row_groups == 3
    assert file.read().to_pylist() == [{"n": i, "note": None} for i in range(25)]
    assert len(pieces) >= 4


def test_parquet_needs_its_extra(monkeypatch):
    monkeypatch.setattr("askone.campaign.output._formats.parquet", None)
    with pytest.raises(MissingExtra, match=r"askone\[server\]"):
        list(file_chunks([], (("n", "int"),), "parquet"))


def test_a_sink_hands_on_what_is_written():
    sink = Sink()
    assert sink.writable()
    assert sink.write(b"ab") == 2
    assert (sink.take(), sink.take()) == (b"ab", b"")


def test_a_model_may_have_no_encoder(store, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(export.model_bytes(make(store)))
    assert askone.load(path).encoder is None
    assert askone.load(path).predict(np.zeros((1, 3))).shape == (1,)
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidFile):
        askone.load(path)
