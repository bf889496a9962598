"""The question of the fully supervised baseline: what is the label?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Record
from askone._common.validate import as_label
from askone.errors import InvalidAnswer
from askone.labels.base import Name
from askone.questions.base import FORMAT, Question, listed


@final
@dataclass(frozen=True)
class Reveal(Question):
    """Ask for the label itself.  Not a yes/no question: only the fully supervised baseline asks it.

    >>> Reveal(1).answer(3.5), str(Reveal(1))
    ((3.5,), 'What is the value?')
    """

    outputs: int
    number: int | None = None
    names: tuple[Name, ...] = ()
    kind: ClassVar[str] = "reveal"

    def __str__(self) -> str:
        if self.names:
            return "What is it?" if self.outputs == 1 else f"What is the order of {listed(self.names)}?"
        return "What is the value?" if self.outputs == 1 else f"What are the {self.outputs} values?"

    def answer(self, label: ArrayLike) -> tuple[Name, ...]:
        """Return the label itself."""
        if self.names:
            return self.accept(label)
        return tuple(float(v) for v in as_label(label, self.outputs))

    def accept(self, answer: object) -> tuple[Name, ...]:
        """Return a label."""
        if self.names:
            given = (answer,) if isinstance(answer, str) or not np.iterable(answer) else tuple(answer)
            named = all(isinstance(name, str | int | float | np.generic) for name in given)
            if (
                not named
                or len(given) != self.outputs
                or len(set(given)) < len(given)
                or not set(given) <= set(self.names)
            ):
                raise InvalidAnswer("answer", f"{self.outputs} of: {listed(self.names)}", repr(answer))
            return tuple(self.names[self.names.index(name)] for name in given)
        if isinstance(answer, bool | np.bool_ | str) or answer is None:
            raise InvalidAnswer("answer", f"a label with {self.outputs} output(s)", answer)
        return tuple(float(v) for v in as_label(answer, self.outputs, "answer"))  # type: ignore[arg-type]  # checked there

    def to_json(self) -> Record:
        record = {"format": FORMAT, "kind": self.kind, "outputs": self.outputs, "number": self.number}
        return record | ({"names": list(self.names)} if self.names else {})

    @classmethod
    def from_json(cls, record: Record) -> Reveal:
        return cls(record["outputs"], record["number"], tuple(record.get("names", ())))
