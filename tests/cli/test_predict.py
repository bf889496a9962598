"""askone predict: new rows of every kind of table, scored by what was exported."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from PIL import Image
from pyarrow import parquet

import askone
from answered import answer
from askone.campaign.campaign import Campaign
from askone.campaign.output import scoring
from askone.campaign.tables.open import open_table
from askone.store.open import open_store
from commands import ask

BIKES = "id,size,colour,note\n" + "".join(
    f"r{i},{i / 10 if i % 7 else ''},{'red' if i % 2 else 'blue'},{'good' if i % 3 else 'rusty old'} bike {i}\n"
    for i in range(60)
)


@pytest.fixture
def bikes(here):
    (here / "bikes.csv").write_text(BIKES)
    ask("new", "bikes.csv", "--kind", "number", "--low", 0, "--high", 2000, "--key", "id", "--name", "bikes")
    with open_store("askone.db") as store:
        campaign = Campaign.open(store, "bikes")
        answer(campaign, 20)
        expected = [one["prediction"] for one in campaign.predictions(range(60))]
    ask("export", "bikes", "--what", "model", "--out", "bikes.askone")
    return expected


def test_an_exported_model_predicts_from_raw_columns(here, bikes):
    frame = pd.read_csv("bikes.csv")
    model = askone.load("bikes.askone")
    assert np.allclose(model.predict(frame), bikes)
    assert np.allclose(model.predict(frame.to_dict("records")), bikes)
    assert model.ask(frame.iloc[3]) is not None


def test_rows_are_scored_from_and_into_every_format(here, bikes):
    frame = pd.read_csv("bikes.csv")
    frame.to_parquet("new.parquet")
    frame.to_json("new.jsonl", orient="records", lines=True)
    for source in ("bikes.csv", "new.parquet", "new.jsonl"):
        said = ask("predict", "bikes.askone", source, "--out", "scored.parquet").out
        assert "Written: scored.parquet, 60 rows" in said
        found = parquet.read_table("scored.parquet").to_pandas()
        assert list(found.columns) == [*frame.columns, "prediction", "low", "high"]
        assert np.allclose(found["prediction"], bikes)
        assert (found["low"] <= found["high"]).all()
        assert found["size"].isna().sum() == 9
    ask("predict", "bikes.askone", "new.parquet", "--out", "scored.csv")
    with (here / "scored.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == frame["id"].tolist()
    assert [float(row["prediction"]) for row in rows] == [float(f"{value:.6g}") for value in bikes]
    assert max(len(row[name]) for row in rows for name in ("prediction", "low", "high")) <= 8
    ask("predict", "bikes.askone", "bikes.csv", "--out", "scored.jsonl")
    lines = [json.loads(line) for line in (here / "scored.jsonl").read_text().splitlines()]
    assert np.allclose([line["prediction"] for line in lines], bikes)
    ask("predict", "bikes.askone", "bikes.csv")
    assert (here / "bikes-predictions.csv").exists()


def test_what_does_not_fit_is_said_and_nothing_is_written(here, bikes):
    (here / "other.csv").write_text("id,size,color,note\nr1,2,red,x\n")
    for arguments, message in (
        (("bikes.askone", "other.csv"), "got id, size, color, note: colour is missing"),
        (("bikes.csv", "bikes.csv"), "is not a model saved by askone, which model.save and askone export"),
        (("none.askone", "bikes.csv"), "model must be a saved model"),
        (("bikes.askone", "bikes.csv", "--out", "a.xls"), "--out must be a name that ends in one of"),
    ):
        assert message in ask("predict", *arguments, status=2).err
    assert not list(here.glob("*predictions*"))


def test_processes_and_clusters_say_the_same(here, bikes, monkeypatch):
    found = scoring.Scoring((here / "bikes.askone").read_bytes(), open_table("bikes.csv"))
    monkeypatch.setattr(scoring, "_ROWS", 7)
    expected = [piece["prediction"] for piece in found.pieces(None)]
    monkeypatch.setattr(scoring, "_ENOUGH", 1)
    monkeypatch.setattr(scoring, "workers", lambda: 2)
    with scoring.predicting(60) as executor:
        assert [piece["prediction"] for piece in found.pieces(executor)] == expected


# Its own threads and processes end with warnings that are no concern of ours.
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_predicts_by_its_address(here, bikes):
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=1, processes=True, **options) as cluster:
        ask("predict", "bikes.askone", "bikes.csv", "--out", "scored.csv", "--dask", cluster.scheduler_address)
    assert np.allclose(pd.read_csv("scored.csv")["prediction"], bikes)


def test_photographs_are_scored_by_class(here):
    random = np.random.default_rng(0)
    for place in range(12):
        shade = 200 if place % 2 else 40
        pixels = np.clip(shade + random.normal(0, 10, (20, 20, 3)), 0, 255).astype(np.uint8)
        (here / "photos").mkdir(exist_ok=True)
        Image.fromarray(pixels).save(here / "photos" / f"{place}.png")
    ask("new", "photos", "--kind", "class", "--classes", "day,night", "--name", "photos")
    ask("export", "photos", "--what", "model", "--out", "photos.askone")
    ask("predict", "photos.askone", "photos", "--out", "scored.csv")
    found = pd.read_csv("scored.csv")
    assert sorted(found["image"]) == sorted(f"{place}.png" for place in range(12))
    assert set(found["prediction"]) <= {"day", "night"}
    assert found["probability"].between(0.5, 1).all()


def test_a_model_of_numbers_by_name(here):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(50, 2)), columns=["a", "b"])
    model = askone.OneBitRegressor(-3, 3, random_state=0).fit(frame, frame["a"])
    model.save("model.askone")
    frame.assign(prediction="mine").to_parquet("rows.parquet")
    frame.to_csv("rows.csv", index=False)
    ask("predict", "model.askone", "rows.csv", "--out", "scored.csv")
    cells = pd.read_csv("scored.csv", dtype=str)
    assert [float(cell) for cell in cells["a"]] == frame["a"].tolist()  # the table's own are as they were
    ask("predict", "model.askone", "rows.parquet", "--out", "scored.parquet")
    found = pd.read_parquet("scored.parquet")
    assert np.allclose(found["prediction_"], model.predict(frame))
    assert set(found["prediction"]) == {"mine"}


def test_cells_that_cannot_be_read_are_told(here, monkeypatch):
    cells = [f'r{i},"{1000 + 10 * i:,} km"\n' for i in range(30)]
    (here / "cars.csv").write_text("id,driven\n" + "".join(cells) + "r30,unknown\n")
    made = ask("new", "cars.csv", "--kind", "number", "--low", 0, "--high", 9, "--name", "cars").out
    assert "1 cell of 'driven' ('unknown') cannot be read and counts as missing." in made
    ask("export", "cars", "--what", "model", "--out", "cars.askone")
    (here / "new.csv").write_text("id,driven\n" + "a,far\nb,far\n" * 30 + 'c,"1,200 km"\nd,?\n')
    monkeypatch.setattr(scoring, "_ROWS", 7)
    said = ask("predict", "cars.askone", "new.csv", "--out", "scored.csv")
    assert said.err == "askone: 60 cells of 'driven' (such as 'far') cannot be read and count as missing\n"
    assert len(pd.read_csv("scored.csv")) == 62
