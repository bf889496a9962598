"""Limits on how many questions may be asked."""

from __future__ import annotations

from typing import final

from askone._common.validate import as_count
from askone.errors import BudgetSpent


@final
class Budget:
    """A limit on questions; several streams may share one.

    >>> purse = Budget(2)
    >>> purse.spend()
    >>> purse.left
    1
    >>> purse.spend(2)
    Traceback (most recent call last):
    askone.errors.BudgetSpent: 2 more question(s) wanted, 1 of 2 left
    """

    def __init__(self, questions: int, spent: int = 0) -> None:
        self.questions = as_count(questions, "budget", 1)
        self.spent = as_count(spent, "spent", 0, self.questions)

    def __repr__(self) -> str:
        return f"Budget({self.questions}, spent={self.spent})"

    @property
    def left(self) -> int:
        """Questions that may still be asked."""
        return self.questions - self.spent

    def require(self, questions: int) -> None:
        """Raise if fewer are left."""
        if questions > self.left:
            raise BudgetSpent(f"{questions} more question(s) wanted, {self.left} of {self.questions} left")

    def spend(self, questions: int = 1) -> None:
        """Take questions out, all or none."""
        self.require(questions)
        self.spent += questions


def as_budget(budget: Budget | int | None) -> Budget | None:
    """Return a budget, given as one or as a number of questions."""
    return budget if budget is None or isinstance(budget, Budget) else Budget(budget)
