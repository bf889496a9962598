"""What every (loss, question family) pair has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from askone.losses import Loss


class Gradient(ABC):
    """One (loss, family) pair."""

    family: ClassVar[str]
    unbiased: ClassVar[bool] = True
    single_output: ClassVar[bool] = False
    loss: Loss

    @abstractmethod
    def bound(self, m: int) -> float:
        """B: a (typical, where there is none) bound on |g|; Algorithm 1's gamma is B times the true step."""
