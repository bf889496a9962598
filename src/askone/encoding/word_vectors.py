"""Static word vectors: the mean of what its pieces of words are in 256 dimensions, for texts in European languages.

The vectors come in the wheel of ``wordllama`` (``pip install 'askone[vectors]'``), of which two files are read and no
code is run: nothing is downloaded.  The door to ``tokenizers``.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.encoding.embedders import Embedder
from askone.errors import MissingExtra

if TYPE_CHECKING:
    import tokenizers
else:
    tokenizers = lazy_import("tokenizers")

_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_PIECES: Final = "tokenizers/l2_supercat_tokenizer_config.json"


@final
class WordVectors(Embedder):
    """Texts by the mean vector of their pieces, of length 1 (a text without any: 0)."""

    def __init__(self) -> None:
        found = find_spec("wordllama")
        if found is None or not found.submodule_search_locations or find_spec("tokenizers") is None:
            raise MissingExtra("word vectors need wordllama: pip install 'askone[vectors]'")
        self._folder = Path(found.submodule_search_locations[0])

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(b"".join((self._folder / name).read_bytes() for name in (_WEIGHTS, _PIECES))).hexdigest()

    @cached_property
    def _vectors(self) -> Array:
        data = (self._folder / _WEIGHTS).read_bytes()
        length = int.from_bytes(data[:8], "little")
        (told,) = (one for name, one in json.loads(data[8 : 8 + length]).items() if name != "__metadata__")
        first, last = told["data_offsets"]
        numbers = np.frombuffer(data[8 + length :][first:last], dtype="<f2")
        return numbers.reshape(told["shape"]).astype(np.float32)

    @cached_property
    def _pieces(self) -> Any:
        return tokenizers.Tokenizer.from_file(str(self._folder / _PIECES))

    def embed(self, cells: Any) -> Array:
        out = np.zeros((len(cells), self._vectors.shape[1]), dtype=np.float32)
        for place, cell in enumerate(cells):
            pieces = self._pieces.encode(str(cell), add_special_tokens=False).ids if str(cell).strip() else []
            mean = self._vectors[pieces].mean(axis=0) if pieces else out[place]
            out[place] = mean / max(float(np.sqrt(mean @ mean)), 1e-12)
        return out
