"""What other models would have had: a campaign's own model and others, compared by the answers that are stored.

Each begins anew and learns from the answers in their order; before it learns one it says how likely it is, and pays
-log2 of that for what was answered (``askone.compare``), but for an answer that it all but excluded no more than if it
had given it one chance in a hundred: people slip.  Models that do not forecast are compared by their risk, where
exams tell it: those drawn from the whole range (``exams = "mean"``), and random pairs.  Nobody is asked, and no label
is needed; but the questions are those that the campaign's own model asked, others would have asked others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, final

import numpy as np

from askone._common.types import Array
from askone.campaign.campaign import Campaign
from askone.campaign.engine import model_builder
from askone.campaign.engine.training_set import Lesson, ToldLesson, teaches
from askone.campaign.kinds.base import UNSURE
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import SAMPLE
from askone.estimators.comparison import RISK, Step, judged
from askone.labels.number import Real
from askone.learners.abilities import Forecasts, Wraps, able
from askone.learners.base import Learner
from askone.learners.exams import PURPOSE, tells_risk
from askone.learners.mixture.base import Mixture
from askone.questions.base import Question
from askone.questions.half_space import HalfSpace

FEWEST: Final = 30
"""Answers, or exams, without which nothing is compared."""
MOST: Final = 10_000
"""Answers that are learnt from: the first so many.  Differences are known well enough by then."""
SURE: Final = 3.0
"""Standard errors by which a model must be ahead to be called better: several are looked at."""
OWN: Final = "This campaign's model"
DEFAULT: Final = "The default"
_BITS = "bits per answer"
_NONE = "There is no other model to compare with."
_UNTOLD = "This campaign's model does not forecast answers, and there are too few exams that tell its error."


@final
@dataclass(frozen=True)
class ComparedModel:
    """A model, what it was judged by, and how far it is from the campaign's own: below zero, it is better.

    ``error`` and ``difference_error`` are standard errors; that of the difference is paired, answer by answer.
    """

    name: str
    measure: str
    unit: str
    answers: int
    value: float
    error: float
    difference: float
    difference_error: float


@final
@dataclass(frozen=True)
class ModelComparison:
    """What was found when there were so many ``answers``: the campaign's own model first, the others best first."""

    answers: int
    models: tuple[ComparedModel, ...]
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "models": [asdict(one) for one in self.models]}


def compare_models(campaign: Campaign, most: int = MOST) -> ModelComparison:
    """Compare a campaign's model with others, by its first so many answers."""
    projection, own = campaign.projection, campaign.projection.learner
    told = list(projection.trainer.told(most))
    steps = [_step(one, own) for one in told]
    answers, count = len(projection.lessons.all), sum(step.asked is not None for step in steps)
    if count < FEWEST:
        return ModelComparison(answers, (), f"There are too few answers to compare models: {count} of {FEWEST}.")
    rivals = _rivals(campaign)
    if not rivals:
        return ModelComparison(answers, (), _NONE)
    found = _compared(own, rivals, steps, campaign.settings)
    return ModelComparison(answers, found, verdict(found) if found else _UNTOLD)


def _step(told: ToldLesson, own: Learner[Any]) -> Step:
    """Return what an answer teaches; further opinions, when a question is decided, teach and are not forecast."""
    lesson, asking, example = told
    asked = _as_exam(told, own) if isinstance(lesson, Lesson) else None
    return Step(example, asked, partial(teaches, asking=asking))


def _as_exam(told: ToldLesson, own: Learner[Any]) -> Question:
    """Return the question; a threshold drawn from the whole range is marked as one that tells any model's risk."""
    question, asking = told.example.question, told.asking
    drawn = asking.role == "exam" and asking.aim == "mean" and isinstance(question, HalfSpace)
    return whole_range(own.space, question) if drawn and isinstance(own.space, Real) else question


def whole_range(space: Real, question: Question) -> Question:
    """Return a threshold that was drawn from all of a range, marked so; its density becomes that in half ranges."""
    if not isinstance(question, HalfSpace):
        return question
    return replace(question, purpose=PURPOSE, density=question.density * float(space.scale[0]))


def _rivals(campaign: Campaign) -> dict[str, Learner[Any]]:
    """Return the learners that the campaign's own is compared with, by what they are called."""
    settings = campaign.settings
    default = settings.labels.likelihood(settings, None)
    encoder = model_builder.unpack(campaign.store.learner(campaign.name)).encoder
    sample = None if campaign.rowless else _sample(campaign)
    begin = partial(model_builder.begin, settings, sample=sample, layout=None if encoder is None else encoder.layout)
    usual = model_builder.chosen_learner(settings) == default
    first = campaign.projection.learner if usual else begin(default).stream_.learner
    found: dict[str, Learner[Any]] = {} if usual else {DEFAULT: first}
    if sample is not None:
        others = settings.labels.rivals(settings, sample.shape[1], _is_mixture(first))
        found |= {name: begin(choice).stream_.learner for name, choice in others.items()}
    return found


def _sample(campaign: Campaign) -> Array:
    """Return rows spread evenly over the table: as many as a campaign looks at when it begins."""
    rows = campaign.projection.rows
    places = np.unique(np.linspace(0, rows - 1, min(rows, SAMPLE)).astype(np.int64))
    return np.asarray(campaign.store.features(campaign.name, places.tolist()), dtype=np.float64)


def _is_mixture(learner: Learner[Any]) -> bool:
    inner = learner.wrapped if isinstance(learner, Wraps) else ()
    return isinstance(learner, Mixture) or any(map(_is_mixture, inner))


def _compared(
    own: Learner[Any], rivals: Mapping[str, Learner[Any]], steps: list[Step], settings: Settings
) -> tuple[ComparedModel, ...]:
    """Return what is found: of those that forecast in bits, of the others, where exams tell it, the risk."""
    everybody = {OWN: own, **rivals}
    foretelling = {name: one for name, one in everybody.items() if able(one, Forecasts)}
    found: list[ComparedModel] = []
    if OWN in foretelling and len(foretelling) > 1:
        found += _measured(foretelling, steps, _BITS, "")
    exams = sum(step.asked is not None and tells_risk(step.asked) for step in steps)
    rest = {
        name: one for name, one in everybody.items() if name == OWN or OWN not in foretelling or name not in foretelling
    }
    if len(rest) > 1 and exams >= FEWEST:
        labels = settings.labels
        found += _measured(rest, steps, "share wrong" if labels.is_share else labels.measure, labels.error_unit)
    return tuple(found)


def _measured(learners: Mapping[str, Learner[Any]], steps: list[Step], measure: str, unit: str) -> list[ComparedModel]:
    found = judged({name: (learner, None) for name, learner in learners.items()}, steps, surest=UNSURE)
    assert (found.measure == RISK) == (measure != _BITS)
    lines = [
        ComparedModel(
            one.name, measure, unit, len(found.losses[one.name]), one.bits, one.error, *found.behind(one.name, OWN)
        )
        for one in found.table
    ]
    return sorted(lines, key=lambda one: one.name != OWN)


def verdict(models: tuple[ComparedModel, ...]) -> str:
    """Return in a sentence whether another model would have been better."""
    ahead = [one for one in models if one.difference < 0.0 < one.difference_error]
    if not ahead:
        return "No other model would have forecast these answers better."
    best = max(ahead, key=lambda one: -one.difference / one.difference_error)
    errors = -best.difference / best.difference_error
    by = f"by {_amount(best)} ({errors:.1f} standard errors)"
    if errors < SURE:
        return f"No other model is clearly better: the nearest is “{best.name}”, ahead {by}, which may be chance."
    return f"“{best.name}” would have {'forecast better' if best.measure == _BITS else 'erred less'} {by}."


def _amount(one: ComparedModel) -> str:
    """Return by how much a model is ahead, in words."""
    size = f"{float(f'{-one.difference:.2g}'):,g}"
    if one.measure == _BITS:
        return f"{size} bits an answer"
    return f"{size} {one.unit}".rstrip() if one.unit or one.measure != "share wrong" else f"a share of {size}"
