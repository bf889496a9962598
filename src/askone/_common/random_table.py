"""Randomness as a value: row t of a table of uniforms, a function of (seed, t) alone.

Only ``ask`` draws.  Question t of a stream uses row t, whoever computes it and in whatever order,
so a simulation that draws ten thousand rows at once and a server that draws one see the same.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from askone._common.lazy import arithmetic
from askone._common.types import Array

# What a draw is for; streams of different purposes never share numbers.
ASK, FLIP, SKIP, DESIGN, ORDER, TIES, CHOICE, POOL, ROLE, EXAM, KEEP, DRAW, INTERVAL, PERSON = range(14)
_WORDS = 4  # a Philox counter yields four doubles
_CHUNK = 1 << 14


def uniforms(seed: int, first: int, count: int, width: int, purpose: int = ASK) -> Array:
    """Return rows first .. first + count - 1 of the table: independent uniforms in (0, 1).

    >>> table = uniforms(0, 0, 100, 3)
    >>> bool((table[40:42] == uniforms(0, 40, 2, 3)).all())
    True
    """
    if count == 1:
        rows = max(1, _CHUNK // max(width, 1))
        chunk = _chunk(seed, first // rows, rows, width, purpose)
        return chunk[first % rows : first % rows + 1]
    return _table(seed, first, count, width, purpose)


@lru_cache(maxsize=16)
def _chunk(seed: int, index: int, rows: int, width: int, purpose: int) -> Array:
    # Setting up a generator costs twenty microseconds; a chunk shares that among its rows.
    table = _table(seed, index * rows, rows, width, purpose)
    table.flags.writeable = False
    return table


def _table(seed: int, first: int, count: int, width: int, purpose: int) -> Array:
    counters = -(-width // _WORDS)
    key = np.array([seed, purpose], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key, counter=first * counters))
    table = generator.random((count, counters * _WORDS))[:, :width]
    return np.maximum(table, 2.0**-54)


def by_content(rows: Array, width: int, seed: int = 0) -> Array:
    """Return uniforms that depend on the content of each row alone, n x width: to break ties of predictions.

    A prediction must not depend on the company a row is in, nor may ties always fall to one side.

    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> bool((by_content(rows, 2)[1] == by_content(rows[1:], 2)[0]).all())
    True
    """
    keys = [hashlib.blake2b(row.tobytes(), digest_size=7).digest() for row in np.ascontiguousarray(rows + 0.0)]
    numbers = [int.from_bytes(key, "little") for key in keys]
    return np.array([_table(seed, number, 1, width, TIES)[0] for number in numbers]).reshape(len(rows), width)


def by_name(name: str, width: int, seed: int = 0) -> list[float]:
    """Return uniforms that depend on a name alone: for what happens to somebody, whatever happens to others meanwhile.

    >>> by_name("ann 7", 2) == by_name("ann 7", 2) != by_name("ann 8", 2)
    True
    """
    key = hashlib.blake2b(f"{seed} {name}".encode("utf-8", "surrogatepass"), digest_size=7 * width).digest()
    return [(int.from_bytes(key[7 * k : 7 * k + 7], "little") + 0.5) / 2.0**56 for k in range(width)]


def sphere(uniform: Array) -> Array:
    """Return rows of uniforms turned into directions uniform on the sphere (normals, normalised).

    >>> float(np.linalg.norm(sphere(uniforms(0, 0, 5, 3)), axis=1).round(12).max())
    1.0
    """
    normal = arithmetic.normal_quantiles(np.ravel(uniform)).reshape(uniform.shape)
    length = np.sqrt(np.sum(normal * normal, axis=1))
    if not length.all():  # all uniforms 1/2: any direction will do
        normal[length == 0, 0], length[length == 0] = 1.0, 1.0
    return np.asarray(normal / length[:, None])
