"""Embedders: what makes vectors of texts, pictures or numbers, brought by whoever runs askone.

An embedder is code, so it is named by whoever starts a command or a server and by nobody else: a campaign holds its
name and the hash of its content, and what was not named in this process is never loaded.

>>> from sklearn.feature_extraction.text import HashingVectorizer
>>> Transformer(HashingVectorizer(n_features=4)).embed(["one", "two words"]).shape
(2, 4)
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from askone._common.lazy_import import import_now, lazy_import
from askone._common.types import Array
from askone.encoding._digest import content_digest
from askone.encoding.base import Part
from askone.encoding.vectors import WIDEST, stacked
from askone.errors import InvalidArgument

if TYPE_CHECKING:
    from scipy import sparse
    from sklearn import exceptions
    from sklearn.utils import validation

    from askone.encoding import _onnx, _torch, word_vectors
else:
    sparse = lazy_import("scipy.sparse")
    exceptions = lazy_import("sklearn.exceptions")
    validation = lazy_import("sklearn.utils.validation")
    _onnx = lazy_import("askone.encoding._onnx")
    _torch = lazy_import("askone.encoding._torch")
    word_vectors = lazy_import("askone.encoding.word_vectors")

GROUP: Final = "askone.embedders"
"""The group of entry points."""
WORDS: Final = "word-vectors"
"""The embedder of texts that comes along (see ``word_vectors``)."""
_AT_ONCE: Final = 64  # cells
_FILES: Final = (".onnx", ".pt2", ".pt")


class Embedder(ABC):
    """Makes vectors of cells.

    ``embed`` has texts (a missing one is ""), numbers or vectors (n x p, float32; a missing one is 0), or pictures
    (n x side x side x 3 colours from 0 to 255, uint8), and returns n vectors of one width.  The same cell always has
    the same vector.  ``digest`` is a hash of all that the vectors depend on.
    """

    side: int = 224

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hash of its content."""

    @abstractmethod
    def embed(self, cells: Any) -> Array:
        """Return vectors, n x width."""


@final
class Transformer(Embedder):
    """A transformer of scikit-learn that is fitted, or needs no fit; pictures come as rows of numbers from 0 to 1."""

    def __init__(self, transformer: Any) -> None:
        try:
            validation.check_is_fitted(transformer)
        except exceptions.NotFittedError as error:
            allowed = "a fitted transformer (fit it, keep it in a file, and load it in your module)"
            raise InvalidArgument("embedder", allowed, f"{type(transformer).__name__}, which is not fitted") from error
        except TypeError:  # not scikit-learn's, and so without a fit
            pass
        self._transformer, self._digest = transformer, content_digest(transformer)

    @property
    def digest(self) -> str:
        return self._digest

    def embed(self, cells: Any) -> Array:
        if isinstance(cells, np.ndarray) and cells.ndim == 4:
            cells = cells.reshape(len(cells), -1) / np.float32(255)
        out = self._transformer.transform(cells)
        return np.asarray(out.toarray() if sparse.issparse(out) else out)


# -- by name ------------------------------------------------------------------------------------------

_USED: dict[str, Embedder] = {}
_NAMED: dict[str, str] = {}


def name_embedder(text: str) -> str:
    """Load the embedder that ``[NAME=]WHERE`` says; return its name.  WHERE is one of

    - ``module:object``: an importable Embedder, transformer of scikit-learn or module of torch;
    - a file: ONNX (``.onnx``), ``torch.export`` (``.pt2``), TorchScript (``.pt``);
    - the name of an entry point of the group ``askone.embedders``, or ``word-vectors``.
    """
    given, _, where = text.rpartition("=")
    file = where.lower().endswith(_FILES)
    name = given or (Path(where).name if file else where)
    if name not in _NAMED or _NAMED[name] != where:
        use_embedder(_from_file(Path(where)) if file else _object(where), name)
        _NAMED[name] = where
    return name


def unnamed() -> list[str]:
    """Return the names of embedders that are objects of this process alone."""
    return [name for name in _USED if name not in _NAMED]


def use_embedder(embedder: Any, name: str) -> Embedder:
    """Let ``name`` stand for an embedder, transformer or module of torch in this process."""
    made = embedder() if isinstance(embedder, type) and issubclass(embedder, Embedder) else embedder
    if not isinstance(made, Embedder):
        if _torch.is_module(made):
            made = _torch.TorchModule(made)
        elif callable(getattr(made, "transform", None)) and not isinstance(made, type):
            made = Transformer(made)
        else:
            allowed = "an Embedder, a fitted transformer of scikit-learn or a module of torch"
            raise InvalidArgument("embedder", allowed, f"{name!r}: {type(made).__name__}")
    _USED[name] = made
    _NAMED.pop(name, None)
    return made


def _from_file(path: Path) -> Embedder:
    if not path.is_file():
        raise InvalidArgument("embedder", "a file that is there", str(path))
    return _onnx.OnnxFile(path) if path.suffix.lower() == ".onnx" else _torch.torch_file(path)


def _object(where: str) -> Any:
    module, colon, attribute = where.partition(":")
    if not colon:
        return _entry_point(where)
    here, before = str(Path.cwd()), list(sys.path)
    try:
        sys.path.append(here)  # as with python itself, but behind what is installed
        value: Any = import_now(module)
        for name in attribute.split("."):
            value = getattr(value, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgument("embedder", "module:object that can be imported", f"{where!r}: {error}") from error
    finally:
        sys.path[:] = before
    return value


def _entry_point(name: str) -> Any:
    if name == WORDS:
        return word_vectors.WordVectors
    found = {one.name: one for one in entry_points(group=GROUP)}
    if name not in found:
        others = f" (installed: {', '.join(sorted(found))})" if found else ""
        allowed = f"module:object, a file ({', '.join(_FILES)}) or an entry point of {GROUP}{others}"
        raise InvalidArgument("embedder", allowed, repr(name))
    return found[name].load()


# -- in an encoder ------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class EmbeddedPart(Part):
    """A column by the vectors that an embedder makes of it.

    ``of`` is what the column holds, ``size`` the side of pictures, the width of vectors, and 1 otherwise.
    """

    column: str
    of: str
    embedder: str
    digest: str
    width: int
    size: int
    kind: ClassVar[str] = "embedded"

    @property
    def side(self) -> int:
        """Pixels on each side of pictures."""
        return self.size

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}: {place}" for place in range(self.width))

    def require(self) -> Embedder:
        """Return the embedder; refuse another than that of the beginning."""
        embedder = _USED.get(self.embedder)
        if embedder is None:
            allowed = f"{self.embedder!r}, by which {self.column!r} is seen, named at the start (--embedder)"
            raise InvalidArgument("embedder", allowed, ", ".join(map(repr, _USED)) or None)
        if embedder.digest != self.digest:
            allowed = f"{self.embedder!r} as it was when the campaign began (content {self.digest[:12]})"
            raise InvalidArgument("embedder", allowed, f"a changed one (content {embedder.digest[:12]})")
        return embedder

    def encode(self, cells: Sequence[Any]) -> Array:
        embedder, out = self.require(), np.zeros((len(cells), self.width), dtype=np.float32)
        for first in range(0, len(cells), _AT_ONCE):
            part = cells[first : first + _AT_ONCE]
            vectors = np.asarray(embedder.embed(_prepared(part, self.of, self.size, self.column)), dtype=np.float32)
            if vectors.shape != (len(part), self.width) or not np.isfinite(vectors).all():
                allowed = f"{len(part)} vectors of {self.width} finite numbers by {self.embedder!r}"
                raise InvalidArgument(self.column, allowed, f"shape {vectors.shape}, or some that are not finite")
            out[first : first + len(part)] = vectors
        return out


def fit_embedded(column: str, of: str, name: str, cells: Sequence[Any]) -> EmbeddedPart:
    """Return the part of a column that an embedder in use makes vectors of; one cell is tried."""
    embedder = _USED.get(name)
    if embedder is None:
        raise InvalidArgument("embedder", f"one in use: {', '.join(_USED) or 'none is'}", repr(name))
    some = [cell for cell in cells if cell is not None and of != "image"][:1]  # of images these are names
    size = embedder.side if of == "image" else len(some[0]) if of == "vector" and some else 1
    vectors = np.asarray(embedder.embed(_prepared(some or [None], of, size, column)))
    if vectors.ndim != 2 or len(vectors) != 1 or not 1 <= vectors.shape[1] <= WIDEST:
        allowed = f"one vector of 1 to {WIDEST} numbers for each cell"
        raise InvalidArgument("embedder", allowed, f"{name!r}: shape {vectors.shape} for one")
    return EmbeddedPart(column, of, name, embedder.digest, vectors.shape[1], size)


def _prepared(cells: Sequence[Any], of: str, size: int, column: str) -> Any:
    """Return cells as an embedder takes them."""
    if of == "image":
        shape = (size, size, 3)
        pixels = [np.zeros(shape, dtype=np.uint8) if cell is None else np.asarray(cell) for cell in cells]
        if any(one.shape != shape for one in pixels):
            raise InvalidArgument(column, f"{size}x{size}x3 colours", "others: an image is embedded by its content")
        return np.stack(pixels).astype(np.uint8)
    if of == "vector":
        return stacked(cells, size, column)
    if of == "number":
        return np.nan_to_num(np.array([[0.0 if cell is None else cell] for cell in cells], dtype=np.float32))
    return ["" if cell is None else str(cell) for cell in cells]
