"""The encoding of images: what a model sees of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from askone._common.types import Array
from askone.encoding.base import Part
from askone.errors import InvalidArgument
from askone.features import pictures

PIXELS: Final = 256


@final
@dataclass(frozen=True)
class ImagePart(Part):
    """An image, by its edges and colours, or by the gray values that were made of it."""

    column: str
    seen: str = "gray"  # what parts say that were written when there was nothing else
    kind: ClassVar[str] = "image"

    @property
    def side(self) -> int | None:
        """Pixels on each side of what a cell holds; None: 16 x 16 gray values as one row."""
        return None if self.seen == "gray" else pictures.SIDE

    @property
    def names(self) -> tuple[str, ...]:
        if self.side is None:
            return tuple(f"{self.column}: pixel {place}" for place in range(PIXELS))
        return tuple(f"{self.column}: {name}" for name in pictures.NAMES)

    def encode(self, cells: Sequence[Any]) -> Array:
        shape = (PIXELS,) if self.side is None else (self.side, self.side, 3)
        what = f"{PIXELS} gray values" if self.side is None else "x".join(map(str, shape)) + " colours"
        if any(isinstance(cell, str) for cell in cells):
            raise InvalidArgument(self.column, what, "a name: an image is encoded by its content")
        pixels = [None if cell is None else np.asarray(cell, dtype=np.float64) for cell in cells]
        if any(one is not None and (one.shape != shape or not np.isfinite(one).all()) for one in pixels):
            raise InvalidArgument(self.column, f"finite {what}", "others")
        nothing = np.zeros(len(self.names))
        values = pictures.picture_features if self.side is not None else np.asarray
        rows = [nothing if one is None else values(one) for one in pixels]
        return np.array(rows).reshape(len(cells), len(nothing))
