"""Drinks in the order in which people like them: no rows, only pairs."""

from __future__ import annotations

import math
import random
from typing import Final, final

from askone.campaign.settings.settings import AskSettings, Items, QuestionSettings, Settings
from askone.cli.demo.base import DemoTask, Knowledge
from askone.client.question import Posed

LIKED: Final = {
    "water": 1.1,
    "coffee": 1.8,
    "tea": 1.3,
    "cocoa": 0.6,
    "lemonade": 0.2,
    "orange juice": 0.9,
    "tomato juice": -1.2,
    "kombucha": -0.6,
}
"""How much people like each: the difference decides how many prefer one to the other."""


@final
class Drinker(Knowledge):
    """A person with a taste, by Bradley and Terry: P(first) = 1 / (1 + exp(u(second) - u(first)))."""

    def answer(self, question: Posed, chance: random.Random) -> bool:
        first, second = question.answers
        return chance.random() < 1 / (1 + math.exp(2 * (LIKED[second] - LIKED[first])))


def drinks() -> DemoTask:
    """Return the task."""
    settings = Settings(
        title="Favourite drinks",
        labels=Items(tuple(LIKED)),
        question=QuestionSettings(instructions="One of the two, here and now: which?"),
        ask=AskSettings(exam_share=0.15),
    )
    return DemoTask("drinks", settings, None, Drinker())
