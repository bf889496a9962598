"""What a demonstration's campaign is: settings, a table, and what its simulated people know."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from askone.campaign.settings.settings import Settings

Shown = Mapping[str, Any]
"""A question as a page has it (``showing.shown_question``)."""


class Knowledge(ABC):
    """What somebody knows who is asked; the learner never sees it."""

    @abstractmethod
    def answer(self, key: str, question: Shown, chance: random.Random) -> bool:
        """Yes or no to a question about the row ``key``, as it was shown."""


@final
class Flipping(Knowledge):
    """Somebody who errs in a share ``flip`` of the answers.

    >>> class Yes(Knowledge):
    ...     def answer(self, key, question, chance):
    ...         return True
    >>> somebody, chance = Flipping(Yes(), 0.1), random.Random(0)
    >>> 880 < sum(somebody.answer("", {}, chance) for _ in range(1000)) < 920
    True
    """

    def __init__(self, inner: Knowledge, flip: float) -> None:
        self._inner, self._flip = inner, flip

    def answer(self, key: str, question: Shown, chance: random.Random) -> bool:
        """See ``Knowledge.answer``."""
        return self._inner.answer(key, question, chance) != (chance.random() < self._flip)


@final
@dataclass(frozen=True)
class Task:
    """A campaign to be: ``table`` is a file or a folder of images, or None for an order of items."""

    name: str
    settings: Settings
    table: Path | None
    knowledge: Knowledge
