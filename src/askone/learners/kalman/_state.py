"""What a bank learner knows, and its arrays in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from askone._common.types import Array
from askone.learners.base import marked, unmarked
from askone.learners.kalman import _watch
from askone.learners.kalman._bank import Bank
from askone.learners.kalman._watch import Watching


@final
@dataclass(frozen=True, eq=False)
class BankState:
    """A bank for each output, how many answers were told, and who watches for a change of the concept, later on."""

    banks: tuple[Bank, ...]
    answers: int
    watches: tuple[Watching, ...]

    def to_arrays(self) -> dict[str, Array]:
        """Return all as arrays."""
        arrays: dict[str, Array] = {"counts": np.array([self.answers, *(bank.count for bank in self.banks)])}
        for j, bank in enumerate(self.banks):
            arrays |= {f"{name}-{j}": array for name, array in bank.arrays().items()}
        for j, watch in enumerate(self.watches):
            arrays |= {} if watch is None else marked(f"watch-{j}-", watch.to_arrays())
        return arrays

    @classmethod
    def from_arrays(cls, kind: type[Bank], arrays: dict[str, Array]) -> BankState:
        """Return the state of ``to_arrays``."""
        answers, *counts = arrays["counts"].tolist()
        banks = [kind(n, **{name: arrays[f"{name}-{j}"] for name in kind.parts}) for j, n in enumerate(counts)]
        kept = [unmarked(f"watch-{j}-", arrays) for j in range(len(banks))]
        return cls(tuple(banks), answers, tuple(_watch.from_arrays(kind, one) for one in kept))
