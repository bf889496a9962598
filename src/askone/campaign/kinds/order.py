"""Labels that are orders of items: which of two comes first?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, final

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.campaign.kinds.base import (
    SCATTER,
    UNSURE,
    Check,
    Columns,
    Exam,
    ExamPlan,
    Kind,
    Smooth,
    Truth,
    View,
    listed,
    named,
    objects,
)
from askone.campaign.kinds.consistency import Said, by_orders
from askone.campaign.settings.section import Names, about, section
from askone.errors import InvalidArgument
from askone.labels.ranking import Ranking
from askone.learners.abilities import Forecasts, able
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.questions.comparison import Prefer

if TYPE_CHECKING:
    from askone.campaign.settings.settings import QuestionSettings, Settings
    from askone.estimators import ranker
    from askone.estimators.learner_choices import defaults
    from askone.estimators.learner_choices.base import LearnerChoice
    from askone.features import maps
    from askone.learners.models import linear
else:
    defaults = lazy_import("askone.estimators.learner_choices.defaults")
    linear = lazy_import("askone.learners.models.linear")
    maps = lazy_import("askone.features.maps")
    ranker = lazy_import("askone.estimators.ranker")


@final
@section("labels")
class Items(Kind):
    """Labels are orders of these items."""

    items: Annotated[Names, about("what is put in order")]

    kind: ClassVar[str] = "order"
    learners: ClassVar[tuple[str, ...]] = ("auto", "thurstone", "sgd", "rls")
    measure: ClassVar[str] = "agreement"
    view_kind: ClassVar[str] = "pair"
    needs_rows: ClassVar[bool] = False
    rehearsed: ClassVar[int] = 1_000  # pairs are chosen with care
    usage: ClassVar[str] = "order (with --items)"
    options: ClassVar[Mapping[str, str]] = {"items": "items"}

    def space(self, question: QuestionSettings) -> Ranking:
        return Ranking(self.items, question.wording)

    def described(self) -> str:
        return f"an order of {len(self.items)} items: {listed(self.items)}"

    def as_label(self, value: Any) -> list[Any]:
        """Return items in order: a JSON list, or "tea > milk > water".

        >>> Items(("tea", "milk")).as_label("milk > tea")
        ['milk', 'tea']
        """
        text = str(value)
        try:
            parts = json.loads(text) if text.lstrip().startswith("[") else text.split(">")
        except (ValueError, RecursionError):
            parts = None
        if not isinstance(parts, list) or not all(isinstance(part, str | int | float) for part in parts):
            raise InvalidArgument("label", "items in order, such as a > b > c", repr(text)[:60])
        order = [named(self.items, part) for part in parts]
        if len(set(order)) < len(order) or len(order) != len(self.items):
            raise InvalidArgument("label", f"all {len(self.items)} items in order", repr(text)[:60])
        return order

    def estimator(self, settings: Settings, **shared: Any) -> ranker.OneBitRanker:
        return ranker.OneBitRanker(self.items, wording=settings.question.wording, **shared)

    def likelihood(self, settings: Settings, features: int | None) -> LearnerChoice:
        return defaults.Thurstone(n_components=features)

    def rivals(self, settings: Settings, columns: int, mixed: bool) -> Mapping[str, LearnerChoice]:
        """Return one order for everybody, where rows have something to tell people apart by."""
        return {"Without context": defaults.Thurstone(model=linear.FeatureModel(maps.Intercept(columns)))}

    def view(self, question: Question) -> View:
        if not isinstance(question, Prefer):
            return super().view(question)
        left, right = str(question.first), str(question.second)
        parts = {"pair": {"left": left, "right": right}}
        mark, chance = {"first": left, "second": right}, question.probability
        return View("pair", parts, (left, right), mark, probability=chance, template=question.template)

    def exam(self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan) -> Exam | None:
        """Return a pair drawn uniformly: it agrees with the predicted order as often as (1 + Kendall's tau) / 2."""
        space = learner.space
        if not isinstance(space, Ranking):
            return None
        order = list(space.decode(learner.predict(state, x[None]), x[None])[0])
        k = min(int(uniform[0] * space.P), space.P - 1)
        first, second = (space.items[int(places[k])] for places in space.pairs)
        if uniform[1] < 0.5:
            first, second = second, first
        question = Prefer(first, second, 1.0 / space.P, learnt=learner.count(state), wording=space.wording)
        return Exam(question, (0.0, 1.0) if order.index(first) < order.index(second) else (1.0, 0.0))

    def sure_question(
        self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan
    ) -> Check | None:
        """Return a pair of an item from the first quarter of the predicted order and one from the last."""
        space = learner.space
        if not isinstance(space, Ranking) or not able(learner, Forecasts):
            return None
        order = list(space.decode(learner.predict(state, x[None]), x[None])[0])
        quarter = -(-len(order) // 4)
        first, last = (min(int(u * quarter), quarter - 1) for u in uniform[:2])
        pair = (order[first], order[-1 - last]) if uniform[2] < 0.5 else (order[-1 - last], order[first])
        question = Prefer(*pair, learnt=learner.count(state), wording=space.wording)
        chance = learner.chance(state, x, question)
        return None if UNSURE < chance < 1 - UNSURE else Check(question, min(max(chance, UNSURE), 1 - UNSURE))

    def compatible(self, said: Said) -> int:
        return by_orders(said, self.items)

    @property
    def columns(self) -> Columns:
        return (("prediction", "json"),)

    def predicted(
        self, estimator: ranker.OneBitRanker, X: Array, rowless: bool = False, stretch: float = 1.0
    ) -> dict[str, list[Any]]:
        orders = [estimator.predict(None).tolist()] if rowless else estimator.predict(X).tolist()
        return {"prediction": [list(order) for order in orders]}

    @property
    def forecast_measure(self) -> str:
        return "share of pairs in the right order"

    def truth(self, smooth: Smooth, X: Array, order: Array, test: Array, random: np.random.Generator) -> Truth:
        """Make up orders; how good predictions are is the share of pairs in the right order."""
        f = smooth(len(self.items))
        noisy = f[order] + SCATTER * random.gumbel(size=(len(order), len(self.items)))
        i, j = np.triu_indices(len(self.items), 1)
        above = f[test][:, i] > f[test][:, j]
        labels = objects(self.items)[np.argsort(-noisy, axis=1)]
        return labels, lambda space, z: float(np.mean((space.embed(space.decode(z, X[test])) > 0) == above))
