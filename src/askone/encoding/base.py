"""What all parts of an encoder share: each makes numbers of the cells of one column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar

from askone._common.types import Array
from askone.encoding.unread import UnreadCells

Record = dict[str, Any]


class Part(ABC):
    """The encoding of one column: a frozen dataclass of plain values."""

    kind: ClassVar[str]
    column: str

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its dense numbers."""

    @abstractmethod
    def encode(self, cells: Sequence[Any]) -> Array:
        """Return dense numbers, n x names."""

    def unread(self, cells: Sequence[Any]) -> UnreadCells | None:
        """Return the cells that say something of which it makes nothing, if there are any."""
        return None

    def to_json(self) -> Record:
        """Return plain JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {"kind": self.kind, **plain}
