"""Plain arrays as bytes: the same arrays are the same bytes everywhere, and so have one hash.

A line of JSON names each array, its type and its shape; their numbers follow, one array after the other.  Whoever reads
bytes of strangers gets arrays of as many bytes, or an ``InvalidFile``.

>>> packed = pack({"b": np.zeros(2), "a": np.arange(3)})
>>> packed == pack({"a": np.arange(3), "b": np.zeros(2)})
True
>>> {name: array.tolist() for name, array in unpack(packed).items()}
{'a': [0, 1, 2], 'b': [0.0, 0.0]}
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping

import numpy as np

from askone._common.types import Array
from askone.errors import InvalidArgument, InvalidFile

_KINDS = "biufSU"
_HEAD = 1 << 20  # bytes that say what follows: arrays of nothing take more time than room


def pack(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays of numbers, flags or short texts as bytes."""
    return b"".join(packed_parts(arrays))


def packed_parts(arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of ``pack`` in parts, which are the arrays' own where they can be.

    Nothing that is large is copied: whoever copies it lets no other thread go on meanwhile.
    """
    plain = {name: np.asarray(arrays[name]) for name in sorted(arrays)}
    odd = [name for name, array in plain.items() if array.dtype.kind not in _KINDS]
    if odd:
        raise InvalidArgument(f"arrays[{odd[0]!r}]", "an array of numbers, flags or texts", plain[odd[0]].dtype)
    little = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in plain.items()}
    head = [[name, array.dtype.str, list(array.shape)] for name, array in little.items()]
    yield json.dumps(head).encode() + b"\n"
    for array in little.values():
        # As bytes: texts have no buffer of their own kind, and there is no view of nothing.
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""


def unpack(packed: bytes) -> dict[str, Array]:
    """Return the arrays of ``pack``."""
    head, _, _ = packed.partition(b"\n")
    start, arrays = len(head) + 1, {}
    try:
        if len(head) > _HEAD:
            raise ValueError(f"a head of {len(head)} bytes")
        for name, kind, shape in json.loads(head):
            dtype, count = np.dtype(kind), math.prod(shape)
            if dtype.kind not in _KINDS or min(shape, default=0) < 0 or start + count * dtype.itemsize > len(packed):
                raise ValueError(f"an array {name!r} that it cannot hold")
            # A copy: aligned, and nobody else's.
            arrays[name] = np.frombuffer(packed, dtype, count, start).reshape(shape).copy()
            start += count * dtype.itemsize
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidFile(f"not packed arrays: {error}") from error
    if start != len(packed):
        raise InvalidFile(f"not packed arrays: {len(packed) - start} bytes more than they say")
    return arrays


def digest(packed: bytes) -> str:
    """Return the hash that packed arrays go by."""
    return hashlib.sha256(packed).hexdigest()
