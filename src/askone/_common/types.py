"""Types that every room speaks of."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of any element type; shapes are said in docstrings."""
Record = dict[str, Any]
"""A JSON object."""
Key = str | int
"""What names a row."""
