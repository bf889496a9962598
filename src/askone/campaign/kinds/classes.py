"""Labels that are classes: is it one of these?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, final

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone._common.validate import as_count
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
from askone.campaign.kinds.consistency import Said, by_classes
from askone.campaign.settings.section import Attributes, Names, about, section, setting
from askone.errors import InvalidArgument
from askone.labels.classes import Classes, FiniteSpace
from askone.learners.abilities import probabilities
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.questions.subset import Subset
from askone.session.bags import ChosenBag, Pace, best_question

if TYPE_CHECKING:
    from askone.campaign.kinds.estimates import Estimate, ExamAnswer
    from askone.campaign.settings.settings import QuestionSettings, Settings
    from askone.campaign.tables.base import Column, Table
    from askone.estimators import classifier
    from askone.estimators.learner_choices import defaults
    from askone.estimators.learner_choices.base import LearnerChoice
else:
    classifier = lazy_import("askone.estimators.classifier")
    defaults = lazy_import("askone.estimators.learner_choices.defaults")

_MOST_SUGGESTED = 30  # different labels that are taken for classes
_LONGEST_SUGGESTED = 100  # characters of such a label


@final
@section("labels")
class ClassNames(Kind):
    """Labels are classes.  ``attributes`` (a title, and the classes that have it) are then what alone is asked."""

    classes: Annotated[Names, about("the classes")]
    attributes: Attributes = setting(None, "titles, each with the classes that have it")
    max_set_size: int | None = setting(None, "at most so many classes in a question", 3, ge=1)

    kind: ClassVar[str] = "class"
    learners: ClassVar[tuple[str, ...]] = ("auto", "likelihood", "sgd", "rls")
    measure: ClassVar[str] = "share right"
    view_kind: ClassVar[str] = "set"
    usage: ClassVar[str] = "class (with --classes)"
    options: ClassVar[Mapping[str, str]] = {"classes": "classes"}
    places: ClassVar[Mapping[str, str]] = {"names": "classes", "label": "classes", "sets": "attributes"}

    def __post_init__(self) -> None:
        if self.max_set_size is not None:
            as_count(self.max_set_size, "labels.max_set_size", 1, max(1, len(self.classes) - 1))

    @classmethod
    def suggested(cls, table: Table, gold: Column) -> Self | None:
        """Return the classes that known labels name, if they are few, come again and are no numbers."""
        known = [row[gold.name].strip() for row in table.sample if isinstance(row[gold.name], str)]
        levels = sorted({*known} - {""})
        if len(known) >= 8 and len(levels) == len(known):  # each is another: texts, or numbers with a unit
            return None
        few = 2 <= len(levels) <= _MOST_SUGGESTED and max(map(len, levels)) <= _LONGEST_SUGGESTED
        return cls(tuple(levels)) if few and gold.kind != "number" else None

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "attributes": self._titled()}

    def _titled(self) -> dict[str, list[Any]] | None:
        return None if self.attributes is None else {title: list(members) for title, members in self.attributes}

    def space(self, question: QuestionSettings) -> Classes:
        return Classes(self.classes, self.attributes or (), (), self.max_set_size, question.wording)

    def described(self) -> str:
        return f"one of {len(self.classes)} classes: {listed(self.classes)}"

    def as_label(self, value: Any) -> Any:
        return named(self.classes, value)

    def estimator(self, settings: Settings, **shared: Any) -> classifier.OneBitClassifier:
        return classifier.OneBitClassifier(
            self.classes,
            attributes=self._titled(),
            max_set_size=self.max_set_size,
            wording=settings.question.wording,
            **shared,
        )

    def likelihood(self, settings: Settings, features: int | None) -> LearnerChoice:
        return defaults.SetLikelihood(n_components=features)

    def rivals(self, settings: Settings, columns: int, mixed: bool) -> Mapping[str, LearnerChoice]:
        """Return the likelihood without fitted models beside it, and one with linear features."""
        alone: dict[str, LearnerChoice] = {"Likelihood alone": defaults.SetLikelihood(fitted=False)} if mixed else {}
        return {**alone, "Linear": defaults.SetLikelihood(model="linear")}

    def view(self, question: Question) -> View:
        """Return the set; where it has a title, a page shows that alone."""
        if not isinstance(question, Subset):
            return super().view(question)
        members = [str(name) for name in question.members]
        parts = {"title": question.title} if question.title else {"set": members}
        mark, chance = {"members": members}, question.probability
        return View("set", parts, mark=mark, probability=chance, template=question.template)

    def exam(self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan) -> Exam | None:
        """Return "Is it f(x)?", which is right as often as the model is; or one of the attributes or sets by lot."""
        space, learnt = learner.space, learner.count(state)
        if not isinstance(space, FiniteSpace):
            return None
        best = space.decode(learner.predict(state, x[None]), x[None])[0, 0]
        prescribed = [*space.attributes, *space.sets]
        if not prescribed:
            return Exam(Subset((best,), wording=space.wording, learnt=learnt), (0.0, 1.0), predicted=best)
        title, members = prescribed[min(int(uniform[0] * len(prescribed)), len(prescribed) - 1)]
        question = Subset(tuple(members), title, wording=space.wording, learnt=learnt)
        return Exam(question, (0.0, 1.0) if best in members else (1.0, 0.0), predicted=best)

    def sure_question(
        self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan
    ) -> Check | None:
        """Return "Is it c?" for a class that it all but certainly is not; or such an attribute or set."""
        space, found = learner.space, probabilities(learner, state, x[None])
        if found is None or not isinstance(space, FiniteSpace):
            return None
        chances = dict(zip(self.classes, found[0].tolist(), strict=True))
        sets = [*space.attributes, *space.sets] or [("", (name,)) for name in self.classes]
        said = [(title, members, sum(chances[name] for name in members)) for title, members in sets]
        sure = [one for one in said if not UNSURE < one[2] < 1 - UNSURE]
        if not sure:
            return None
        title, members, chance = sure[min(int(uniform[0] * len(sure)), len(sure) - 1)]
        question = Subset(tuple(members), title, wording=space.wording, learnt=learner.count(state))
        return Check(question, min(max(chance, UNSURE), 1 - UNSURE))

    def best_bag(
        self, learner: Learner[Any], state: Any, X: Array, pace: Pace, most: int
    ) -> tuple[ChosenBag, Question] | None:
        return best_question(learner, state, X, pace, most)

    @property
    def exam_measure(self) -> str:
        """The share of classes, or, where these alone are asked about, that of attributes: more of them are right."""
        return self.measure if self.attributes is None else "share of attributes right"

    def estimate(self, what: str, predicted: Sequence[Any], exams: Sequence[ExamAnswer]) -> Estimate:
        if self.attributes is not None:
            allowed = (
                "asked where labels.attributes is left out: exams tell how many of these are right, not of classes"
            )
            raise InvalidArgument("what", allowed, repr(what)[:60])
        return super().estimate(what, predicted, exams)

    @property
    def has_bags(self) -> bool:
        return self.attributes is None

    def compatible(self, said: Said) -> int:
        return by_classes(said, self.classes)

    @property
    def columns(self) -> Columns:
        types = {type(name) for name in self.classes}
        first: Columns = (("prediction", "text" if types == {str} else "float" if types == {float} else "json"),)
        return *first, ("probability", "float"), ("probabilities", "json")

    def predicted(
        self, estimator: classifier.OneBitClassifier, X: Array, rowless: bool = False, stretch: float = 1.0
    ) -> dict[str, list[Any]]:
        stream, best = estimator.stream_, estimator.predict(X).tolist()
        found = probabilities(stream.learner, stream.state, X)
        if found is None:
            return {"prediction": best, **dict.fromkeys(("probability", "probabilities"), [None] * len(best))}
        names, rows = [str(name) for name in self.classes], found.tolist()
        chances = [dict(zip(names, row, strict=True)) for row in rows]
        return {"prediction": best, "probability": list(map(max, rows)), "probabilities": chances}

    def doubts(self, predicted: Mapping[str, Sequence[Any]]) -> list[float]:
        """Return the probability that each is wrong."""
        return [1.0 - (chance or 0.0) for chance in predicted["probability"]]

    def doubt(self, learner: Learner[Any], state: Any, X: Array) -> Array | None:
        """Return the probability that the likeliest class is wrong."""
        chances = probabilities(learner, state, X)
        return None if chances is None else np.asarray(1.0 - chances.max(axis=1))

    def truth(self, smooth: Smooth, X: Array, order: Array, test: Array, random: np.random.Generator) -> Truth:
        """Make up classes; how good predictions are is the share that is right."""
        f, names = smooth(len(self.classes)), objects(self.classes)
        best = names[f[test].argmax(axis=1)]
        noisy = f[order] + SCATTER * random.gumbel(size=(len(order), len(names)))
        return names[noisy.argmax(axis=1)], lambda space, z: float(np.mean(space.decode(z, X[test])[:, 0] == best))
