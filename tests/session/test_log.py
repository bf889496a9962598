import pytest

from askone.errors import InvalidArgument, InvalidFile
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.labels.number import Real
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner
from askone.questions.half_space import HalfSpace
from askone.session.log import Answered, Asked, Fitted, Retracted, Revisited, Skipped, event_from_json
from askone.session.replay import fold

EVENTS = [
    Asked("a", "row", HalfSpace((1.0,), 3.0), 4),
    Answered("b", "a", True),
    Answered("c", "a", (1.0, 2.0)),
    Skipped("d", "a"),
    Retracted("e", "b"),
    Revisited("f", "row"),
    Fitted("g", 1, "ab12"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.kind)
def test_json(event):
    assert event_from_json(event.to_json()) == event
    assert event.to_json()["format"] == 1


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "asked"},
        {"kind": "asked", "format": 2},
        {"kind": "asked", "format": 1},
        {"kind": "sung", "format": 1},
    ],
)
def test_unreadable(record):
    with pytest.raises(InvalidFile):
        event_from_json(record)


def test_a_log_with_a_hole_is_refused():
    learner = SGDLearner(Real(), FeatureModel(Linear(Scaler.identity(1))))
    with pytest.raises(InvalidFile, match="whose question or row is not here"):
        fold(learner, {"row": [0.0]}, [Answered("b", "a", True)])
    with pytest.raises(InvalidFile, match="whose question or row is not here"):
        fold(learner, {}, EVENTS[:2])
    with pytest.raises(InvalidFile, match="answers a question twice"):
        fold(learner, {"row": [0.0]}, [*EVENTS[:2], Answered("c", "a", False)])
    again = [*EVENTS[:2], EVENTS[4], Answered("c", "a", False)]
    assert learner.count(fold(learner, {"row": [0.0]}, again)) == 1
    with pytest.raises(InvalidFile, match="answers a question twice"):
        fold(learner, {"row": [0.0]}, [*again, Answered("d", "a", False)])
    with pytest.raises(InvalidFile, match="answers a question twice"):
        fold(learner, {"row": [0.0]}, [*again, Retracted("f", "c"), Answered("b", "a", True)])
    with pytest.raises(InvalidFile, match="does not hold"):
        fold(learner, {"row": [0.0]}, [*EVENTS[:2], Retracted("e", "z")])
    with pytest.raises(InvalidFile, match="'v' visits 'elsewhere', a row that is not here"):
        fold(learner, {"row": [0.0]}, [*EVENTS[:2], Revisited("v", "elsewhere")])
    with pytest.raises(InvalidArgument, match="event_from_json"):
        fold(learner, {"row": [0.0]}, [EVENTS[0].to_json()])
