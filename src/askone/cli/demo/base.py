"""The base of demonstration campaigns: settings, a table, and what simulated people know."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import final

from askone.campaign.settings.settings import Settings
from askone.client.question import Posed


class Knowledge(ABC):
    """The truth that a simulated person knows; the learner never sees it."""

    @abstractmethod
    def answer(self, question: Posed, chance: random.Random) -> bool:
        """Return the answer to a question, as it was shown."""


@final
class Flipping(Knowledge):
    """A person who errs in a share ``flip`` of the answers.

    >>> class Yes(Knowledge):
    ...     def answer(self, question, chance):
    ...         return True
    >>> somebody, chance = Flipping(Yes(), 0.1), random.Random(0)
    >>> 880 < sum(somebody.answer(None, chance) for _ in range(1000)) < 920
    True
    """

    def __init__(self, inner: Knowledge, flip: float) -> None:
        self._inner, self._flip = inner, flip

    def answer(self, question: Posed, chance: random.Random) -> bool:
        return self._inner.answer(question, chance) != (chance.random() < self._flip)


@final
@dataclass(frozen=True)
class DemoTask:
    """A campaign to be: ``table`` is a file or a folder of images, or None for an order of items."""

    name: str
    settings: Settings
    table: Path | None
    knowledge: Knowledge
