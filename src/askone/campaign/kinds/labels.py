"""Label settings of a campaign: numbers, classes, or orders of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from askone._common.validate import as_count, as_number
from askone.campaign.settings.fields import Attributes, as_attributes, as_class_names, as_line, put
from askone.errors import InvalidArgument
from askone.labels.base import Name


@final
@dataclass(frozen=True)
class Numbers:
    """Labels are numbers in a plausible range (None: it is found by the first questions)."""

    low: float | None = None
    high: float | None = None
    unit: str = ""
    decimals: int | None = None
    name: str = ""
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise InvalidArgument(f"labels.{'low' if self.low is None else 'high'}", "given, as the other end is", None)
        for end in ("low", "high"):
            if getattr(self, end) is not None:
                put(self, end, as_number(getattr(self, end), f"labels.{end}"))
        if self.decimals is not None:
            as_count(self.decimals, "labels.decimals", -15, 15)
        as_line(self.unit, "labels.unit", empty=True)
        as_line(self.name, "labels.name", empty=True)

    @property
    def noun(self) -> str:
        """The name without its article, which questions have already.

        >>> Numbers(0, 9, name="the price").noun
        'price'
        """
        name = self.name.strip()
        return name[4:].lstrip() if name[:4].lower() == "the " else name


@final
@dataclass(frozen=True)
class ClassNames:
    """Labels are classes.  ``attributes`` (a title, and the classes that have it) are then what alone is asked."""

    classes: tuple[Name, ...]
    attributes: Attributes | None = None
    max_set_size: int | None = None
    kind: ClassVar[str] = "class"

    def __post_init__(self) -> None:
        put(self, "classes", as_class_names(self.classes, "labels.classes"))
        if self.max_set_size is not None:
            as_count(self.max_set_size, "labels.max_set_size", 1, max(1, len(self.classes) - 1))
        if self.attributes is not None:
            put(self, "attributes", as_attributes(self.attributes))


@final
@dataclass(frozen=True)
class Items:
    """Labels are orders of these items."""

    items: tuple[Name, ...]
    kind: ClassVar[str] = "order"

    def __post_init__(self) -> None:
        put(self, "items", as_class_names(self.items, "labels.items"))


Labels = Numbers | ClassNames | Items
KINDS: dict[str, type[Labels]] = {one.kind: one for one in (Numbers, ClassNames, Items)}
