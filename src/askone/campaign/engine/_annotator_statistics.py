"""Statistics of the people who answer, from the log alone."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple, final

FAST = 0.3
"""Answers given within so many seconds were hardly read."""


@final
class Undoable(NamedTuple):
    """An action that can be taken back: an answer or a skip (its event), of a question."""

    id: str
    number: int
    skipped: bool


@final
@dataclass
class Annotator:
    """One person's answers, counted."""

    answers: int = 0
    yes: int = 0
    skips: int = 0
    flags: int = 0
    fast: int = 0
    gold_asked: int = 0
    gold_right: int = 0
    last_seen: float = 0.0
    before: int = 0
    """Answers before they were last asked again after a pause."""
    program: bool = False
    cost: float = 0.0
    priced: int = 0
    """How many answers came with a cost; ``cost`` is their sum, of those that were taken back as well."""
    seconds: array[float] = field(default_factory=lambda: array("f"))
    done: list[Undoable] = field(default_factory=list)
    gold_seen: set[int] = field(default_factory=set)

    def answered(self, answer: bool, took: float | None, truth: bool | None, sign: int = 1) -> None:
        """Count an answer, or with sign -1 take it out of the counts."""
        self.answers += sign
        self.yes += sign * answer
        self.measure(answer, truth, sign)
        if took is not None and sign > 0:
            self.seconds.append(took)
            self.fast += took < FAST

    def measure(self, answer: bool, truth: bool | None, sign: int = 1) -> None:
        """Count an answer to a question whose true answer is known."""
        if truth is not None:
            self.gold_asked += sign
            self.gold_right += sign * (answer == truth)

    def cost_of_answer(self, price: float | None) -> float | None:
        """Return what an answer costs: as was said with each, or of a person the ``price`` that all have."""
        if self.priced:
            return self.cost / self.priced
        return None if self.program else price

    def undo(self, event: str) -> int | None:
        """Forget something that is taken back, mostly the last; return its question, if it was there."""
        for place in range(len(self.done) - 1, -1, -1):
            if self.done[place].id == event:
                return self.done.pop(place).number
        return None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "answers": self.answers,
            "skips": self.skips,
            "flags": self.flags,
            "yes_rate": self.yes / self.answers if self.answers else None,
            "median_seconds": round(median(self.seconds), 2) if self.seconds else None,
            "fast": self.fast,
            "hasty": bool(self.seconds) and median(self.seconds) < FAST,
            "gold_asked": self.gold_asked,
            "gold_right": self.gold_right,
            "last_seen": self.last_seen or None,
        }
