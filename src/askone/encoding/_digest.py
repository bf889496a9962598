"""The content of an object as one hash: the same in every process, other as soon as something of it is other."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from askone._common.lazy import sparse
from askone.errors import InvalidArgument

# Where an object lies in memory, and by which version it was made: nothing of what it does.
_PASSING: Final = ("_stop_words_id", "_sklearn_version")
_STEADY: Final = {*sys.stdlib_module_names, "numpy", "scipy", "sklearn", "torch", "askone"}
_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes)


def content_digest(value: Any) -> str:
    """Return the SHA-256 of an object: its class, and recursively what it holds, as pickle would see it.

    Of functions and classes the name counts, and their source unless they are of Python or a library known to keep
    what it does: others change it without a word.

    >>> content_digest({"a": [1, 2.0]}) == content_digest({"a": [1, 2.0]}) != content_digest({"a": [1, 2.5]})
    True
    """
    whole = hashlib.sha256()
    for part in _parts(value, frozenset()):
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def _parts(value: Any, above: frozenset[int]) -> Iterator[bytes]:
    yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, _PLAIN):
        yield repr(value).encode()
    elif isinstance(value, (type, FunctionType, BuiltinFunctionType, MethodType, np.ufunc, ModuleType)):
        yield _named(value)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif id(value) in above:
        yield b"itself"
    else:
        for one in _held(value):
            yield from _parts(one, above | {id(value)})


def _held(value: Any) -> list[Any]:
    """Return what an object holds, in an order that does not depend on how it came about."""
    if isinstance(value, dict):
        kept = [item for item in value.items() if item[0] not in _PASSING]
        return [one for item in sorted(kept, key=lambda item: repr(item[0])) for one in item]
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, np.ndarray):
        return [value.shape, value.ravel().tolist()]
    if sparse.issparse(value):
        rows = value.tocsr().sorted_indices()
        return [rows.shape, rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)]
    try:
        made, arguments, *rest = value.__reduce_ex__(4)
    except (TypeError, ValueError, AttributeError) as error:
        allowed = "an object whose content can be hashed, or an Embedder that says its own digest"
        raise InvalidArgument("embedder", allowed, f"{type(value).__name__}: {error}") from error
    return [made, list(arguments), *(list(one) if isinstance(one, Iterator) else one for one in rest)]


def _named(value: Any) -> bytes:
    module = str(getattr(value, "__module__", None) or "builtins")
    name = f"{module}.{getattr(value, '__qualname__', value.__name__)}"
    if module.split(".")[0] in _STEADY or isinstance(value, ModuleType):
        return name.encode()
    try:
        return f"{name}\n{inspect.getsource(value)}".encode()
    except (OSError, TypeError):  # typed at a prompt, or not written in Python
        return name.encode()
