"""A campaign played to its end by somebody who knows the labels and errs now and then."""

from __future__ import annotations

from typing import Any

import numpy as np

from askone.campaign.campaign import Campaign
from askone.campaign.engine import model_builder
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.kinds.base import Kind
from askone.campaign.settings.settings import AskSettings, LearnerSettings, Settings
from askone.store.entries import Entry, Row
from askone.store.notices import Began
from askone.store.open import open_store

FEATURES = 40  # of each bandwidth: a tenth of the time of a full model


def played(
    labels: Kind, X: np.ndarray, truth: np.ndarray, answers: int, seed: int = 0, slip: float = 0.0, **ask: Any
) -> Campaign:
    """Return a campaign over these rows after so many answers, or fewer if it stopped by itself."""
    settings = Settings("A", labels, ask=AskSettings(budget=answers, **ask), learner=LearnerSettings(seed=seed))
    rows = [Row(i, str(i), {}, x) for i, x in enumerate(X.astype(np.float32))]
    packed = model_builder.pack(model_builder.make_estimator(settings, X, features=FEATURES), None)

    def began(count: int, mark: str) -> Entry:
        return Entry(Began("began", settings.to_json(), count, mark))

    store, errs = open_store("memory:"), np.random.default_rng(seed).random(answers + 1) < slip
    store.create("c", "A", "", packed, began, [rows])
    campaign, number = Campaign.open(store, "c"), 0
    [serving] = campaign.serve([Next("ann")], 1.0)
    while serving.question is not None:  # type: ignore[union-attr]  # errors would show here
        asked = serving.question  # type: ignore[union-attr]
        said = bool(asked.question.answer(truth[asked.row.position])) != bool(errs[number])
        number += 1
        [serving] = campaign.serve([Answer("ann", asked.lease, said, f"a-{number}")], 1.0 + number)
    return campaign


def predictions(campaign: Campaign, positions: range) -> dict[str, np.ndarray]:
    """Return columns of predictions at some rows."""
    told = campaign.predictions(positions)
    return {name: np.array([one[name] for one in told]) for name in told[0] if name not in ("row", "image")}
