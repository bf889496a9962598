"""Handwritten digits, which everybody can read: the images that come with scikit-learn."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import final

from sklearn.datasets import load_digits

from askone.campaign.settings.settings import AskSettings, ClassNames, LearnerSettings, QuestionSettings, Settings
from askone.campaign.tables.images import drawn
from askone.cli.demo.base import DemoTask, Knowledge
from askone.client.question import Posed

FLIP = 0.03
_SIDE = 144  # pixels


@final
class Reader(Knowledge):
    """A person who can read digits."""

    def __init__(self, truth: Mapping[str, str]) -> None:
        self.truth = truth

    def answer(self, question: Posed, chance: random.Random) -> bool:
        return question.holds(self.truth[question.key])


def digits(folder: Path, count: int = 800) -> DemoTask:
    """Return the task; its images, ink on paper, are written into a folder."""
    images, labels = load_digits(return_X_y=True)
    truth, pictures = {}, folder / "digits"
    pictures.mkdir()
    for place, (image, label) in enumerate(zip(images[:count], labels[:count], strict=True)):
        name = f"digit-{place + 1:04}.png"
        (pictures / name).write_bytes(drawn(1 - image.reshape(8, 8) / 16, _SIDE))
        truth[name] = str(label)
    settings = Settings(
        title="Handwritten digits",
        labels=ClassNames(tuple("0123456789")),
        question=QuestionSettings(instructions="Which digit did somebody write? Read it, then answer yes or no."),
        ask=AskSettings(exam_share=0.15, lease_seconds=60),
        learner=LearnerSettings(flip=FLIP),
    )
    return DemoTask("digits", settings, pictures, Reader(truth))
