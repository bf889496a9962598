"""``askone.label``: the widget of the real library, its Python side alone and with its page in a browser."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import askone
from askone.errors import AlreadyStarted, InvalidArgument, InvalidFile, NotYet
from askone.estimators.notebook.widget import LabelWidget
from pages import chromium
from samples import small_labels, small_rows

X, Y = small_rows(12), small_labels(1, 12)[:, 0]


def press(widget, **message) -> None:
    """A message as the page sends it."""
    question = widget.view["question"]
    widget._handle_custom_msg({"number": None if question is None else question["number"], **message}, [])


def answer(widget, said=True) -> None:
    press(widget, do="answer", answer=said)


@pytest.fixture
def regressor():
    return askone.OneBitRegressor(-4, 4, unit="m", random_state=0)


def test_answers_teach_the_model_until_every_row_had_its_question(regressor):
    widget = askone.label(regressor, X)
    assert isinstance(widget, LabelWidget)
    assert widget.view["question"]["answers"] == ["Yes", "No"]
    assert widget.view["question"]["sentence"].startswith("Is the value above ")
    assert widget.view["row"]["fields"][0][0] == "column 0"
    while widget.view["question"] is not None:
        place = regressor.log_[-1].row
        answer(widget, bool(regressor.stream_.open_questions()[0][2].holds(Y[place])))
    assert widget.view["why"] == "Every row had its question."
    assert (widget.view["answers"], widget.view["total"]) == (12, 12)
    assert np.abs(widget.model.predict(X) - Y).mean() < 1.5
    json.dumps(widget.view)


def test_undo_goes_back_and_comes_again(regressor):
    widget = askone.label(regressor, X)
    assert not widget.view["undo"]
    press(widget, do="undo")  # nothing to take back
    first = widget.view["question"]
    answer(widget)
    second = widget.view["question"]
    press(widget, do="undo")
    assert widget.view["question"] == first
    assert regressor.stream_.answered == 0
    answer(widget, False)
    assert widget.view["question"] == second
    press(widget, do="skip")
    assert widget.view["answers"] == 1
    assert regressor.log_frame()["status"].tolist() == ["answered", "skipped", "open"]


def test_messages_that_come_late_or_make_no_sense_change_nothing(regressor):
    widget = askone.label(regressor, X)
    before = widget.view
    for message in ({"do": "answer", "answer": True, "number": 7}, {"do": "dance"}, {}):
        widget._handle_custom_msg(message, [])
        assert widget.view == before
    press(widget, do="answer", answer="perhaps")
    assert "answer must be True or False" in widget.view["error"]
    assert widget.view["question"] == before["question"]
    answer(widget)
    assert widget.view["error"] == ""


def test_results_stay_after_the_kernel_died(tmp_path, regressor):
    store = tmp_path / "answers.jsonl"
    widget = askone.label(regressor, X, store=store)
    for said in (True, False, True):
        answer(widget, said)
    waiting = widget.view["question"]
    anew = askone.label(askone.OneBitRegressor(-4, 4, unit="m", random_state=0), X, store=str(store))
    assert anew.view["answers"] == 3
    assert anew.view["question"] == waiting
    np.testing.assert_array_equal(anew.model.predict(X), regressor.predict(X))
    answer(anew)
    assert len([event for event in askone.read_log(store) if event.kind == "answered"]) == 4
    with pytest.raises(InvalidFile, match="about other rows than these"):
        askone.label(askone.OneBitRegressor(-4, 4), X + 1, store=store)
    with pytest.raises(AlreadyStarted, match="other answers than this model"):
        askone.label(regressor, X, store=store)
    again = askone.label(anew.model, X, store=store)  # the cell is run once more
    assert again.view["answers"] == 4
    store.write_text("not a log")
    with pytest.raises(InvalidFile, match="line 1 of the log is not JSON"):
        askone.label(askone.OneBitRegressor(-4, 4), X, store=store)
    with pytest.raises(InvalidArgument, match="store must be a file in a directory that exists"):
        askone.label(askone.OneBitRegressor(-4, 4), X, store=tmp_path / "none" / "x.jsonl")


def test_orders_and_classes_and_what_people_see(tmp_path):
    poll = askone.OneBitRanker(["tea", "coffee", "milk"], random_state=0)
    widget = askone.label(poll, store=tmp_path / "poll.jsonl")
    assert widget.view["question"]["pair"]
    assert (widget.view["row"], widget.view["total"]) == ({}, None)
    answer(widget)
    anew = askone.label(askone.OneBitRanker(["tea", "coffee", "milk"], random_state=0), store=tmp_path / "poll.jsonl")
    assert anew.view["answers"] == 1
    frame = pd.DataFrame({"size": [1.0, np.nan, 3.25], "colour": ["red", None, "<b>blue</b>"]})
    classes = {"classes": ["a", "b"], "random_state": 0, "budget": 2}
    widget = askone.label(askone.OneBitClassifier(**classes), frame, keys=["x", "y", "z"])
    seen = [widget.view["row"]["fields"]]
    answer(widget)
    seen.append(widget.view["row"]["fields"])
    assert seen == [[["size", "1"], ["colour", "red"]], [["size", "–"], ["colour", "–"]]]
    answer(widget)
    assert widget.view["why"] == "The budget is spent."
    png = tmp_path / "a.png"
    png.write_bytes(b"\x89PNG\r\n\x1a\n")
    for what, name in ((np.eye(2), "pixels"), ("a text", "text"), (b"\xff\xd8\xff", "image"), (png, "image")):
        shown = askone.label(askone.OneBitClassifier(["a", "b"]), X[:3], show=[what] * 3).view["row"]
        assert list(shown) == [name]
    drawn = askone.label(askone.OneBitClassifier(["a", "b"]), X[:3], show=[Image.new("L", (2, 2))] * 3).view["row"]
    assert drawn["image"].startswith("data:image/png;base64,")
    chooser = askone.OneBitClassifier(["a", "b"])
    fields = askone.label(chooser, X[:3], show=frame).view["row"]["fields"]
    assert fields[0] == ["size", ("1", "–", "3.25")[chooser.log_[-1].row]]
    assert askone.label(askone.OneBitClassifier(["a", "b"]), X[:3], show=[np.eye(2)] * 3).view["row"]["pixels"] == [
        [255, 0],
        [0, 255],
    ]


def test_what_cannot_be_labelled_is_refused(regressor):
    with pytest.raises(InvalidArgument, match="model must be an estimator"):
        askone.label("model", X)
    with pytest.raises(InvalidArgument, match="rows must be rows to ask about"):
        askone.label(regressor)
    with pytest.raises(InvalidArgument, match="show must be 12 of what people see"):
        askone.label(regressor, X, show=["one"])
    with pytest.raises(InvalidArgument, match="pictures in PNG"):
        askone.label(regressor, X, show=[b"none"] * 12)
    with pytest.raises(InvalidArgument, match=r"height x width; got shape \(2, 2, 3\)"):
        askone.label(regressor, X, show=np.zeros((12, 2, 2, 3)))
    with pytest.raises(InvalidArgument, match="keys must be 12 different keys"):
        askone.label(regressor, X, keys=["a"] * 12)
    with pytest.raises(NotYet, match="kept no log"):
        askone.label(askone.OneBitRegressor(-4, 4).fit(X, Y), X)
    with pytest.raises(InvalidArgument, match="keep_log"):
        askone.label(askone.OneBitRegressor(-4, 4, keep_log=False), X)
    with pytest.raises(InvalidArgument, match="one that asks for yes or no"):
        askone.label(askone.OneBitRegressor(-4, 4, learner=askone.SGD(questions="full")), X)


PAGE = """async ([code, view]) => {
  const {default: widget} = await import("data:text/javascript;charset=utf-8," + encodeURIComponent(code));
  const heard = [];
  const model = {
    view, get: () => model.view, on: (_, f) => heard.push(f), off: () => {},
    send: async (message) => { model.view = await toPython(message); heard.forEach((f) => f()); },
  };
  widget.render({model, el: document.querySelector("main")});
}"""


def test_the_page_answers_by_keys_and_buttons(tmp_path):
    pictures = [np.arange(64).reshape(8, 8) * (k + 1) % 17 for k in range(3)]
    widget = askone.label(askone.OneBitClassifier(["<i>cat</i>", "owl"], random_state=0), X[:3], show=pictures)

    def to_python(message):
        widget._handle_custom_msg(message, [])
        return widget.view

    with chromium() as browser:
        page = browser.new_page(viewport={"width": 760, "height": 640}, color_scheme="dark")
        failures = []
        page.on("pageerror", lambda error: failures.append(error))
        page.expose_function("toPython", to_python)
        page.set_content(f"<style>{(LabelWidget._css)}</style><main></main>")
        page.evaluate(PAGE, [str(LabelWidget._esm), widget.view])
        assert page.inner_text("h3") == widget.view["question"]["sentence"]  # as text, its markup too
        page.screenshot(path=tmp_path / "label.png")
        page.focus(".askone-label")
        page.keyboard.press("y")
        page.wait_for_function("() => document.querySelector('.count').textContent.startsWith('1 ')")
        assert widget.model.log_[1].answer is True
        page.keyboard.press("u")
        page.wait_for_function("() => document.querySelector('.count').textContent.startsWith('0 ')")
        page.click("button.no")
        page.wait_for_function("() => document.querySelector('.count').textContent.startsWith('1 ')")
        assert widget.model.log_frame()["answer"].tolist()[0] is False
        page.evaluate("before = document.querySelector('canvas')")
        page.keyboard.press("s")  # the page kept the focus
        page.wait_for_function("() => document.querySelector('canvas') !== before")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('h3').textContent === 'Every row had its question.'")
        assert widget.view["answers"] == 2
        assert not failures
