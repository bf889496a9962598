"""Tasks of Label Studio: what is written can be imported there, and what is answered there comes back."""

import io
import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from answered import KINDS, answer, make
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Exclude, Next, SetStatus, Undo
from askone.campaign.output import label_studio
from askone.campaign.output.label_studio import CONFIG, Imported, import_tasks, task_chunks
from askone.campaign.settings.settings import RowSettings
from askone.campaign.tables import json_list
from askone.errors import CampaignClosed, InvalidFile
from samples import same


@pytest.fixture
def campaign(store):
    return make(store)


def tasks_of(store):
    return json.loads(b"".join(task_chunks(store, "c")))


def taken(campaign, tasks, now=1000.0):
    return import_tasks(campaign, io.BytesIO(json.dumps(tasks).encode()), now)


def exported(tasks, answers):
    """What Label Studio makes of tasks in which people chose: its own numbers, our results as they were."""
    made = []
    for i, task in enumerate(tasks):
        notes = [note | {"id": 900 + i, "task": i, "completed_by": 1} for note in task["annotations"]]
        number = task["data"]["askone_number"]
        for person, choice in answers.get(number, []):
            value = {"choices": [choice]}
            result = {"id": "Dx_aB91", "from_name": "answer", "to_name": "question", "type": "choices", "value": value}
            told = {"was_cancelled": False, "lead_time": 4.288, "created_at": "2026-03-09T22:16:08.728353Z"}
            notes.append({"id": 1000 * person + i, "completed_by": person, "result": [result], **told})
        made.append({"id": i, "project": 7, "data": task["data"], "annotations": notes, "predictions": []})
    return made


def choices(tasks):
    """The parts of the labelling interface that a task must fill."""
    wanted = {node.get("value")[1:] for node in ET.fromstring(CONFIG).iter() if node.get("value")}
    names = {node.get("name") for node in ET.fromstring(CONFIG).iter() if node.get("name")}
    for task in tasks:
        assert wanted <= set(task["data"])
        options = [one["value"] for one in task["data"]["answers"]]
        for note in task["annotations"]:
            [result] = note["result"]
            assert result["type"] == "choices"
            assert {result["from_name"], result["to_name"]} <= names
            assert set(result["value"]["choices"]) <= set(options)
    return names


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_hold_questions_and_answers(store, kind):
    campaign = make(store, kind)
    answer(campaign, 6)
    campaign.serve([Next("cat")], 50.0)
    tasks = tasks_of(store)
    choices(tasks)
    asked = {entry.event.question.number: entry for entry in store.entries("c", kinds=["asked"])}
    assert {task["data"]["askone_number"] for task in tasks} == set(asked)
    given = {entry.event.id: entry for entry in store.entries("c", kinds=["answered"])}
    notes = [(task, note) for task in tasks for note in task["annotations"]]
    assert len(notes) == 6
    for task, note in notes:
        data, entry = task["data"], given[note["result"][0]["id"]]
        question = asked[data["askone_number"]].event.question
        assert data["question"] == str(question)
        assert data["row_text" if "row_text" in data else "text"]
        assert data["key"] == asked[data["askone_number"]].event.row
        words = [str(question.first), str(question.second)] if kind == "order" else ["Yes", "No"]
        assert note["result"][0]["value"]["choices"] == [words[0 if entry.event.answer else 1]]
        assert note["lead_time"] == 1.5
    assert any(not task["annotations"] for task in tasks)


@pytest.mark.parametrize("kind", KINDS)
def test_the_round_trip(store, kind):
    campaign = make(store, kind)
    answer(campaign, 5)
    waiting = [campaign.serve([Next(person)], 50.0)[0].question for person in ("cat", "dog")]
    tasks = tasks_of(store)
    words = {t["data"]["askone_number"]: [one["value"] for one in t["data"]["answers"]] for t in tasks}
    before, (first, second) = campaign.projection.answers, (one.number for one in waiting)
    sent = exported(tasks, {first: [(3, words[first][0])], second: [(4, words[second][1])]})
    found = taken(campaign, sent)
    assert found == Imported(answers=2, already=before)
    assert campaign.projection.answers == before + 2
    new = list(store.entries("c", kinds=["answered"]))[before:]
    assert [(e.event.asked, e.event.answer, e.who, e.took) for e in new] == [
        (f"ask-{first}", True, "label-studio:3", 4.288),
        (f"ask-{second}", False, "label-studio:4", 4.288),
    ]
    assert taken(campaign, sent) == Imported(already=before + 2)  # a file may be taken twice
    back = exported(tasks_of(store), {})
    assert taken(campaign, back) == Imported(already=before + 2)
    fresh = Campaign.open(store, "c", fresh=True)
    assert same(campaign.projection.learner, campaign.projection.state, fresh.projection.state)
    answer(campaign, 2, start=500, now=2000.0)  # and it goes on


def test_what_a_person_holds_is_not_taken_away(campaign, store):
    [held] = campaign.serve([Next("ann")], 10.0)
    sent = exported(tasks_of(store), {held.question.number: [(1, "Yes")]})
    assert taken(campaign, sent, now=11.0) == Imported(already=1)
    assert taken(campaign, sent, now=500.0) == Imported(answers=1)


def test_what_does_not_count_is_not_written(campaign, store):
    answer(campaign, 6)
    campaign.serve([Undo("ann", "u-1"), Exclude("boss", "x-1", "bob")], 100.0)
    assert sum(len(task["annotations"]) for task in tasks_of(store)) == 2


def test_strange_annotations_are_counted(campaign, store):
    [held] = campaign.serve([Next("ann")], 10.0)
    number = held.question.number
    data = {"askone_number": number, "askone_campaign": "c"}
    result = {"type": "choices", "value": {"choices": ["Yes"]}}
    tasks = [
        {"data": data, "annotations": [{"result": [result], "was_cancelled": True}, {"result": []}, {}]},
        {"data": data, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["Yes", "No"]}}]}]},
        {"data": data, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["Perhaps"]}}]}]},
        {"data": data | {"askone_number": 10_000}, "annotations": [{"result": [result]}]},
        {"data": data | {"askone_campaign": "other"}, "annotations": [{"result": [result]}]},
        {"data": data | {"askone_number": True}, "annotations": [{"result": [result]}]},
        {"data": {}, "annotations": [{"result": [result]}]},
        {"data": data, "annotations": {"a": 1}},
        {"data": [], "annotations": ["x"]},
        "nonsense",
        {"data": data, "annotations": [{"id": 1, "result": [result], "completed_by": {"email": "e@x.org"}}]},
    ]
    assert taken(campaign, tasks) == Imported(answers=1, already=0, unknown=4, other=5)
    [entry] = store.entries("c", kinds=["answered"])
    assert "e@x.org" not in json.dumps(entry.to_json())


@pytest.mark.parametrize("text", [b"", b"{}", b"[" * 100_000, b"\xff\xfe", b"nonsense"])
def test_bad_files(campaign, text):
    with pytest.raises(InvalidFile):
        import_tasks(campaign, io.BytesIO(text), 1.0)


def test_a_closed_campaign_takes_nothing(campaign, store):
    [held] = campaign.serve([Next("ann")], 10.0)
    campaign.serve([SetStatus("boss", "t-1", "closed")], 11.0)
    with pytest.raises(CampaignClosed):
        taken(campaign, exported(tasks_of(store), {held.question.number: [(1, "Yes")]}))


def test_no_questions_yet(store):
    make(store)
    assert json.loads(b"".join(task_chunks(store, "c"))) == []


def test_the_small_export_is_refused(store):
    """It has the answers beside the fields, without the ids by which they are told apart."""
    campaign = make(store, "number")
    answer(campaign, 3)
    small = [task["data"] | {"id": 7, "answer": "Yes", "annotator": 1} for task in tasks_of(store)]
    with pytest.raises(InvalidFile, match="export JSON; got JSON-MIN"):
        taken(campaign, small)


def test_only_what_people_see_is_read_there(store):
    settings = replace(KINDS["number"], rows=RowSettings(show=("size",), learn=("size", "text")))
    campaign = make(store, settings=settings)
    answer(campaign, 1)
    task = tasks_of(store)[0]["data"]
    assert task["text"].startswith("size: ")
    assert "\n" not in task["text"]
    assert "row_text" in task


# -- files of strangers -----------------------------------------------------------------------------


def listed(text):
    return list(label_studio._tasks_in(io.BytesIO(text)))


@pytest.mark.parametrize("text", ["[]", " [ ] ", '[{"a": [1, "ü"]}, null]', "[1]", "[12345, -1.5e3]", "\ufeff[1]"])
def test_lists_are_read_as_json_reads_them(text, monkeypatch):
    for piece in (1, 3, 1 << 20):
        monkeypatch.setattr(json_list, "_PIECE", piece)
        assert listed(text.encode()) == json.loads(text.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[", b"[1", b"[1 2]", b"[1,]", b"[1]x", b"[,1]", b'["\xff"]', b"[" * 10**6]
)
def test_what_is_no_list_is_refused(text):
    with pytest.raises(InvalidFile, match="must be"):
        listed(text)


def test_memory_is_for_one_task(monkeypatch):
    monkeypatch.setattr(label_studio, "_MOST", 1000)
    monkeypatch.setattr(json_list, "_PIECE", 100)
    assert len(listed(b"[" + b",".join([b"7"] * 5000) + b"]")) == 5000
    with pytest.raises(InvalidFile, match="at most 1000 characters"):
        listed(b"[[" + b",".join([b"[]"] * 5000) + b"]]")


def test_a_bad_end_undoes_nothing_since_nothing_was_done(campaign, store, monkeypatch):
    answer(campaign, 2)
    campaign.serve([Next("cat")], 100.0)
    tasks = json.loads(b"".join(task_chunks(store, "c")))
    head, text = store.head("c"), json.dumps(tasks)
    for bad in (text[:-1], text[:-1] + ', {"askone_number": 1}]'):
        with pytest.raises(InvalidFile):
            import_tasks(campaign, io.BytesIO(bad.encode()), 200.0)
    monkeypatch.setattr(label_studio, "_MOST_ANNOTATIONS", 1)
    with pytest.raises(InvalidFile, match="at most 1 annotations"):
        import_tasks(campaign, io.BytesIO(text.encode()), 200.0)
    assert store.head("c") == head
