"""A kind of label from outside the package: the share of people who would, asked for in percent."""

import io
import json
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

from askone import OneBitRegressor, load
from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.forecast import forecast
from askone.campaign.kinds.base import SCATTER, Kind, View
from askone.campaign.kinds.number_exam import laplace, number_exam, usual_error
from askone.campaign.kinds.registry import KINDS, register
from askone.campaign.output import export, label_studio
from askone.campaign.output.backup import backup, restore
from askone.campaign.settings.section import Line, about, section
from askone.campaign.settings.settings import AskSettings, QuestionSettings, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument
from askone.estimators.learner_choices.defaults import Filters
from askone.labels.number import Real
from askone.labels.wording import Wording
from askone.server.serializers import QuestionSerializer
from commands import ask
from samples import same


@section("labels")
class Share(Kind):
    """Labels are shares of people, 0 to 100 %."""

    deed: Annotated[Line, about("what people would do")]
    most: Annotated[float, about("the largest share that is plausible", ge=1, le=100)] = 100.0

    kind: ClassVar[str] = "share"
    learners: ClassVar[tuple[str, ...]] = ("auto", "filters")
    measure: ClassVar[str] = "mean error"
    is_share: ClassVar[bool] = False
    view_kind: ClassVar[str] = "threshold"
    is_drawn_by_rows: ClassVar[bool] = True
    rehearsed: ClassVar[int] = 300
    usage: ClassVar[str] = "share (with --set labels.deed=WORDS)"

    def space(self, question):
        return Real(0.0, self.most, (), "%", 0, question.wording, question.answers)

    def described(self):
        return f"shares of people who {self.deed}"

    @property
    def error_unit(self):
        return "points"

    def as_label(self, value):
        text = str(value).removesuffix("%").strip()
        if not text.replace(".", "", 1).isdigit() or float(text) > 100:
            raise InvalidArgument("label", "a share of 100 %", repr(value))
        return float(text)

    def estimator(self, settings, **shared):
        words = settings.question.wording or f"Would more than {{threshold}} of people {self.deed}?"
        return OneBitRegressor(0.0, self.most, decimals=0, wording=Wording((), "%", words), **shared)

    def likelihood(self, settings, features):
        return Filters(n_components=features)

    def view(self, question):
        told = {"shown": f"{question.threshold:g}", "unit": "%", "name": self.deed, "side": "above"}
        mark = {"y": question.threshold}
        return View("threshold", {"threshold": told}, ("More", "Fewer"), mark, density=question.density)

    def exam(self, learner, state, x, uniform, plan):
        f = min(max(float(learner.predict(state, x[None])[0, 0]), 0.0), self.most)
        above = laplace(f, usual_error(learner.space, plan).error)
        return number_exam(learner.space, f, above, plan, float(uniform[0]), learner.count(state))

    @property
    def columns(self):
        return ("prediction", "float"), ("odds", "text")

    def predicted(self, estimator, X, rowless=False, stretch=1.0):
        shares = np.clip(estimator.predict(X), 0.0, self.most).tolist()
        return {"prediction": shares, "odds": [f"{share:.0f}:{100 - share:.0f}" for share in shares]}

    def truth(self, smooth, X, order, test, random):
        f = np.clip(self.most / 2 + self.most / 5 * smooth(1)[:, 0], 0, self.most)
        labels = np.clip(f[order] + SCATTER * random.standard_normal(len(order)), 0, self.most)
        return labels, lambda _, z: float(np.mean(np.abs(z[:, 0] - f[test])))


@pytest.fixture(autouse=True)
def known():
    register(Share)
    yield
    del KINDS["share"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "films.csv"
    lines = [f"f{i},{i / 80:.3f},{f'{90 * i / 80:.0f} %' if i % 8 == 0 else ''}" for i in range(80)]
    path.write_text("film,stars,known\n" + "\n".join(lines))
    return path


def settings(**changes: Any) -> Settings:
    rows = RowSettings("film", ("film", "stars"), ("stars",), "known")
    ask = AskSettings(gold_share=0.1, exam_share=0.3)
    return Settings("Films", Share("see it twice", **changes), rows, QuestionSettings(), ask)


def answered(store, table, answers=60):
    """A campaign that two people answered: the true share is 90 times the stars."""
    create_campaign(store, "films", settings(), open_table(table), "ann", 0.0)
    campaign = Campaign.open(store, "films")
    for i in range(answers):
        person = ("ann", "bob")[i % 2]
        [serving] = campaign.serve([Next(person)], 1.0 + i)
        asked = serving.question
        told = asked.question.threshold < 90 * asked.row.content["stars"]
        campaign.serve([Answer(person, asked.lease, told, f"a-{i}", 2.0)], 1.5 + i)
    return campaign


def test_its_settings_are_read_written_and_refused():
    one = settings(most=80.0)
    assert Settings.from_toml(one.to_toml()) == one
    assert Settings.from_json(json.loads(json.dumps(one.to_json()))) == one
    text = one.to_toml(annotated=True)
    assert '# what people would do\ndeed = "see it twice"' in text
    assert "# number, class, order, share\n" in text
    for changed, place in (
        ({"most": 300}, "labels.most"),
        ({"deeds": "x"}, "labels.deeds"),
        ({"deed": ""}, "labels.deed"),
    ):
        record = one.to_json()
        record["labels"] |= changed
        with pytest.raises(InvalidArgument) as refused:
            Settings.from_json(record)
        assert refused.value.argument == place


def test_people_answer_and_it_is_learnt(store, table):
    campaign = answered(store, table)
    found = campaign.predictions(range(80))
    errors = [abs(one["prediction"] - 90 * i / 80) for i, one in enumerate(found)]
    assert np.mean(errors) < 12
    assert found[0]["odds"].count(":") == 1
    people = {one["id"]: one for one in campaign.people()}
    assert sum(one["gold_right"] for one in people.values()) > 0
    assert all(
        entry.gold in (None, pytest.approx(90 * i / 80, abs=0.6))
        for i, entry in enumerate(store.rows("films", range(80)))
    )


def test_its_question_is_shown(store, table):
    campaign = answered(store, table, 1)
    [serving] = campaign.serve([Next("ann")], 9.0)
    shown = QuestionSerializer("films", campaign.settings.labels, None).question(serving.question, 9.0)
    assert shown.sentence == f"Would more than {shown.threshold.shown} % of people see it twice?"
    assert shown.answers == ["More", "Fewer"]
    assert shown.set is None


def test_its_dashboard(store, table):
    told = answered(store, table).dashboard(70.0)
    assert (told["curve"]["measure"], told["curve"]["unit"]) == ("mean error", "points")
    assert told["curve"]["latest"]["value"] < 40
    assert told["cloud"]["kind"] == "threshold"
    assert told["cloud"]["x"]["name"] == "stars"
    assert len(told["cloud"]["prediction"]) == len(told["cloud"]["points"]) > 30
    assert all({"x", "y", "answer"} <= set(point) for point in told["cloud"]["points"])


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_its_exports(store, table, form):
    campaign = answered(store, table)
    assert b"".join(export.answer_chunks(store, "films", form))
    assert b"".join(export.prediction_chunks(campaign, form))
    told = list(export.answers(store, "films"))
    assert {one["said"] for one in told} == {"More", "Fewer"}
    assert {one["kind"] for one in told} == {"threshold"}
    assert all(one["density"] > 0 and one["probability"] is None for one in told)
    predictions = list(export.predictions(campaign))
    assert list(predictions[0])[-1] == "odds"
    assert predictions[3]["odds"] == campaign.predictions([3])[0]["odds"]
    tasks = json.loads(b"".join(label_studio.task_chunks(store, "films")))
    assert tasks[0]["data"]["answers"] == [{"value": "More"}, {"value": "Fewer"}]
    assert export.model_bytes(campaign)


def test_it_is_kept_restored_and_replayed(store, table, tmp_path):
    campaign = answered(store, table)
    whole = io.BytesIO()
    backup(store, "films", whole)
    assert restore(store, whole, "again") == "again"
    fresh, again = Campaign.open(store, "films", fresh=True), Campaign.open(store, "again")
    for other in (fresh, again):
        assert [one["odds"] for one in other.predictions(range(80))] == [
            one["odds"] for one in campaign.predictions(range(80))
        ]
        assert same(campaign.projection.learner, campaign.projection.state, other.projection.state)
    saved = load(io.BytesIO(export.model_bytes(campaign)))
    assert saved.encoder.encode([{"stars": 0.5}]).shape == (1, 1)


def test_it_is_rehearsed(table):
    found = forecast(replace(settings(), ask=AskSettings()), open_table(table), 80, 0.0)
    assert found.measure == "mean error"
    assert found.points[-1][2] < found.points[0][2]


def test_it_is_made_from_the_command_line(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = ask("new", str(table), "--kind", "share", "--set", "labels.deed=see it twice", "--name", "films").out
    assert "shares of people who see it twice" in out
    assert "of people see it twice?" in out
    assert "labels.deed must be given" in ask("new", str(table), "--kind", "share", status=2).err
    assert (
        "--low must be left out for --kind share"
        in ask("new", str(table), "--kind", "share", "--low", "3", status=2).err
    )
    assert "or share (with --set labels.deed=WORDS)" in ask("new", str(table), status=2).err
