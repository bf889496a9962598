"""Compiled code: the one door to numba; whoever has inner loops takes ``jit`` and the products from here.

The same bits on every processor and for every size of block: sums have one order, whatever the width of a
vector, and nothing is contracted (a fused multiply-add rounds once where others round twice) or reassociated.
A sum over rows goes row by row, out += x_j W[j], which vectorises as it stands; a sum along a row has eight lanes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar, final

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core.caching import IndexDataCacheFile
from numba.extending import intrinsic, overload

from askone._common.types import Array

R = TypeVar("R")

_LANES = 8
_ROWS = 4
_POWERS = np.array([float(f"1e{k}") for k in range(309)])


@final
class FileOfEachSignature(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """Name kept code after what it takes.  Numba counts: of two processes at once, one reads the other's as its own."""

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of a signature."""
        name = self._index_name.removesuffix(".nbi")
        self._data_name_pattern = f"{name}.{sha256(repr(key).encode()).hexdigest()[:16]}.{{number:d}}.nbc"
        super().save(key, data)


@final
class _NotCollecting(event.Listener):  # type: ignore[misc]  # numba has no types
    """Looks for no garbage while numba compiles: what it makes stays, and looking takes a tenth of the time."""

    def __init__(self) -> None:
        self._before: list[bool] = []

    def on_start(self, _: Any) -> None:
        """Note how it was: functions that others call are compiled meanwhile."""
        self._before.append(gc.isenabled())
        gc.disable()

    def on_end(self, _: Any) -> None:
        """Go on as before."""
        if self._before.pop():
            gc.enable()


event.register("numba:compile", _NotCollecting())  # these come one at a time: numba compiles under a lock


def jit(function: Callable[..., R]) -> Callable[..., R]:
    """Return it compiled; compiled code is kept between runs.  Without ``fastmath``: see above."""
    return _compiled(function, alone=True)


def jit_long(function: Callable[..., R]) -> Callable[..., R]:
    """Return the same for what takes long: other threads go on meanwhile.

    Where a call is short, they would only take the interpreter away.
    """
    return _compiled(function, alone=False)


def _compiled(function: Callable[..., R], alone: bool) -> Callable[..., R]:
    compiled: Any = numba.njit(cache=True, error_model="numpy", nogil=not alone)(function)
    if not numba.config.DISABLE_JIT:  # with it, the function is as it was
        cache = compiled._cache
        source = cache._impl.locator.get_source_stamp()
        cache._cache_file = FileOfEachSignature(cache.cache_path, cache._impl.filename_base, source)
    found: Callable[..., R] = compiled
    return found


def is_kept(function: Callable[..., Any]) -> bool:
    """Return whether code of a compiled function is kept for this processor, for some signature."""
    if numba.config.DISABLE_JIT:
        return True
    dispatcher: Any = function
    processor = dispatcher.targetctx.codegen().magic_tuple()
    return any(key[1] == processor for key in dispatcher._cache._cache_file._load_index())


def _lanes(a: Array, b: Array) -> float:
    """Return <a, b> as eight sums, of every eighth product, added in halves; what is left over comes last."""
    whole, sums = len(a) - len(a) % _LANES, [0.0] * _LANES
    for i in range(whole):
        sums[i % _LANES] += a[i] * b[i]
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [one + other for one, other in zip(sums[:half], sums[half:], strict=True)]
    total = sums[0]
    for i in range(whole, len(a)):
        total += a[i] * b[i]
    return total


@intrinsic
def _vector_lanes(_: Any, a: Any, b: Any) -> Any:
    """Return the same by vectors of eight: LLVM takes loops over lanes apart, and is not to reorder a sum itself."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [context.make_array(kind)(context, builder, one) for kind, one in zip(signature.args, args)]  # noqa: B905
        vector, count, short = ir.VectorType(ir.DoubleType(), _LANES), arrays[0].nitems, ir.IntType(32)

        def at(k: int, i: Any) -> Any:
            return cgutils.get_item_pointer(context, builder, signature.args[k], arrays[k], [i], wraparound=False)

        def lanes(k: int, i: Any) -> Any:
            if signature.args[k].layout == "C":
                return builder.load(builder.bitcast(at(k, i), vector.as_pointer()), align=8)
            found = ir.Constant(vector, ir.Undefined)
            for lane in range(_LANES):
                one = builder.load(at(k, builder.add(i, count.type(lane))))
                found = builder.insert_element(found, one, short(lane))
            return found

        def added(total: Any, read: Any, i: Any) -> None:
            builder.store(builder.fadd(builder.load(total), builder.fmul(read(0, i), read(1, i))), total)

        sums = cgutils.alloca_once_value(builder, vector([0.0] * _LANES))
        whole = builder.sub(count, builder.srem(count, count.type(_LANES)))
        with cgutils.for_range_slice(builder, count.type(0), whole, count.type(_LANES)) as (i, _):
            added(sums, lanes, i)
        halves, size = builder.load(sums), _LANES
        while size > 1:
            size //= 2
            masks = [ir.VectorType(short, size)(list(range(k, k + size))) for k in (0, size)]
            halves = builder.fadd(*(builder.shuffle_vector(halves, halves, mask) for mask in masks))
        total = cgutils.alloca_once_value(builder, builder.extract_element(halves, short(0)))
        with cgutils.for_range_slice(builder, whole, count, count.type(1)) as (i, _):
            added(total, lambda k, i: builder.load(at(k, i)), i)
        return builder.load(total)

    return types.float64(a, b), code


@overload(_lanes)
def _compiled_lanes(a: Any, b: Any) -> Any:  # noqa: ARG001  # it goes by their names
    def lanes(a: Any, b: Any) -> Any:
        return _vector_lanes(a, b)

    return lanes


@jit
def dot(a: Array, b: Array) -> float:
    """Return <a, b>, in eight lanes."""
    return _lanes(a, b)


def _tile_of(height: int, lanes: int) -> Callable[..., None]:
    """Return what adds X W to so many rows and columns of out, from i and c on, in the order of W's rows."""

    def named(function: Callable[..., R]) -> Callable[..., R]:
        # Kept code is linked by names, which numba numbers anew in each process: no two shapes are to share one, lest
        # code that two processes kept is mixed up.
        function.__name__ = function.__qualname__ = f"tile_{height}_by_{lanes}"
        return function

    def tile(X: Array, W: Array, out: Array, i: int, c: int) -> None:
        for j in range(len(W)):
            out[i : i + height, c : c + lanes] += X[i : i + height, j, None] * W[j, c : c + lanes]

    @intrinsic
    def add_tile(_: Any, X: Any, W: Any, out: Any, i: Any, c: Any) -> Any:
        """Sums are in registers."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arrays = [context.make_array(kind)(context, builder, args[k]) for k, kind in enumerate(signature.args[:3])]
            first, column, short = args[3], args[4], ir.IntType(32)
            vector = ir.VectorType(context.get_value_type(signature.args[2].dtype), lanes)

            def at(k: int, row: Any, place: Any) -> Any:
                index = [row, place]
                return cgutils.get_item_pointer(context, builder, signature.args[k], arrays[k], index, wraparound=False)

            def several(k: int, row: Any) -> Any:
                return builder.bitcast(at(k, row, column), vector.as_pointer())

            rows = [builder.add(first, first.type(r)) for r in range(height)]
            align = 8 if vector.element == ir.DoubleType() else 4
            sums = [cgutils.alloca_once_value(builder, builder.load(several(2, row), align=align)) for row in rows]
            with cgutils.for_range(builder, cgutils.unpack_tuple(builder, arrays[1].shape)[0]) as loop:
                w = builder.load(several(1, loop.index), align=align)
                for row, total in zip(rows, sums, strict=True):
                    one = builder.insert_element(vector(ir.Undefined), builder.load(at(0, row, loop.index)), short(0))
                    x = builder.shuffle_vector(one, one, ir.VectorType(short, lanes)([0] * lanes))
                    builder.store(builder.fadd(builder.load(total), builder.fmul(x, w)), total)
            for row, total in zip(rows, sums, strict=True):
                builder.store(builder.load(total), several(2, row), align=align)
            return context.get_dummy_value()

        return types.void(X, W, out, i, c), code

    @overload(tile)
    def compiled_tile(X: Any, W: Any, out: Any, i: Any, c: Any) -> Any:  # noqa: ARG001  # it goes by their names
        def compiled(X: Any, W: Any, out: Any, i: Any, c: Any) -> Any:
            return add_tile(X, W, out, i, c)

        return named(compiled)

    return named(tile)


_tall, _wide = (_tile_of(height, _LANES) for height in (2 * _ROWS, _ROWS))
_half, _quarter, _single = (_tile_of(_ROWS, lanes) for lanes in (4, 2, 1))


@jit
def add_row_product(x: Array, W: Array, out: Array) -> None:
    """out += x W for one row, in the order of W's rows: eight of them at a time, for which out is read once."""
    p, q = W.shape
    whole = p - p % 8
    for j in range(0, whole, 8):
        A, B, C, D, E, F, G, H = W[j], W[j + 1], W[j + 2], W[j + 3], W[j + 4], W[j + 5], W[j + 6], W[j + 7]
        a, b, c, d, e, f, g, h = x[j], x[j + 1], x[j + 2], x[j + 3], x[j + 4], x[j + 5], x[j + 6], x[j + 7]
        for k in range(q):
            part = (((out[k] + a * A[k]) + b * B[k]) + c * C[k]) + d * D[k]
            out[k] = (((part + e * E[k]) + f * F[k]) + g * G[k]) + h * H[k]
    for j in range(whole, p):
        for k in range(q):
            out[k] += x[j] * W[j, k]


@jit_long
def add_product(X: Array, W: Array, out: Array) -> None:
    """out += X W for contiguous matrices, for each entry in the order of W's rows: by tiles, and what is left over.

    Whoever has one row takes ``add_row_product``: with the tiles a function takes three times as long to compile.
    """
    n, q = X.shape[0], W.shape[1]
    tall, rows, columns = n - n % (2 * _ROWS), n - n % _ROWS, q - q % _LANES
    for c in range(0, columns, _LANES):
        for i in range(0, tall, 2 * _ROWS):
            _tall(X, W, out, i, c)
        for i in range(tall, rows, _ROWS):
            _wide(X, W, out, i, c)
    for i in range(0, rows, _ROWS):  # in registers, too: sums of few columns in memory take longer than all others
        c = columns
        if q & 4:
            _half(X, W, out, i, c)
            c += 4
        if q & 2:
            _quarter(X, W, out, i, c)
            c += 2
        if q & 1:
            _single(X, W, out, i, c)
    for i in range(rows, n):
        add_row_product(X[i], W, out[i])


@jit
def product(X: Array, W: Array) -> Array:
    """Return X W, for each entry in the order of W's rows: row i is the same whatever other rows there are.

    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [[13.0, 16.0]]
    """
    out = np.zeros((X.shape[0], W.shape[1]), dtype=X.dtype)
    add_product(X, W, out)
    return out


def long_product(X: Array, W: Array) -> Array:
    """Return the same of large matrices, while other threads go on."""
    out = np.zeros((X.shape[0], W.shape[1]), dtype=X.dtype)
    add_product(X, W, out)
    return out


def times(a: Array, b: Array) -> Array:
    """Return a @ b for vectors and matrices, in the order of b's rows.

    >>> times(np.eye(2), np.array([3.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    left, right = np.atleast_2d(a), b if b.ndim == 2 else b[:, None]
    found = product(np.ascontiguousarray(left), np.ascontiguousarray(right))
    return np.asarray(found.reshape(a.shape[:-1] + b.shape[1:]))


@jit
def row_dots(X: Array, Z: Array) -> Array:
    """Return X Z^T: <x_i, z_j> for all rows.

    >>> row_dots(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [[11.0, 17.0]]
    """
    out = np.empty((X.shape[0], Z.shape[0]))
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            out[i, j] = dot(X[i], Z[j])
    return out


@jit
def paired_dots(X: Array, Z: Array) -> Array:
    """Return <x_i, z_i> for each row."""
    out = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        out[i] = dot(X[i], Z[i])
    return out


@jit
def total(x: Array) -> float:
    """Return the sum of a vector's numbers, one after the other."""
    found = 0.0
    for i in range(x.shape[0]):
        found += x[i]
    return found


@jit
def rounded(value: float, decimals: int) -> float:
    """Return the value to so many decimals, as the nearest double to what a person reads.

    >>> rounded(21.38, 1), rounded(1234.0, -2)
    (21.4, 1200.0)
    """
    power = _POWERS[abs(decimals)]
    if decimals >= 0:
        return np.rint(value * power) / power
    return np.rint(value / power) * power
