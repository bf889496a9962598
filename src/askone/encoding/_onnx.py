"""Networks in ONNX files as embedders.  The one door to onnxruntime (``pip install 'askone[onnx]'``)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import final

import numpy as np

from askone._common.types import Array
from askone.encoding.embedders import Embedder
from askone.errors import InvalidArgument, MissingExtra

try:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as _states
except ImportError as error:
    raise MissingExtra("ONNX files need onnxruntime: pip install 'askone[onnx]'") from error

_WRONG = (_states.Fail, _states.InvalidGraph, _states.InvalidProtobuf, _states.InvalidArgument, _states.NotImplemented)


@final
class OnnxFile(Embedder):
    """A network with one input: texts, floats n x p, or pictures n x 3 x side x side (colours from 0 to 1).

    Its first output is the vector.
    """

    def __init__(self, path: Path) -> None:
        data, options = path.read_bytes(), onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # so that sums are in one order
        try:
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except _WRONG as error:
            raise InvalidArgument("embedder", "an ONNX file", f"{path.name}: {error}"[:200]) from error
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            raise InvalidArgument(
                "embedder", "a network with one input", f"{path.name}: {[one.name for one in inputs]}"
            )
        self._input, self._digest = inputs[0], hashlib.sha256(data).hexdigest()
        shape = self._input.shape
        if len(shape) == 4 and isinstance(shape[-1], int):
            self.side = shape[-1]

    @property
    def digest(self) -> str:
        return self._digest

    def embed(self, cells: Array | list[str]) -> Array:
        values = np.asarray(cells)
        if values.ndim == 4:
            values = values.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255)
        if values.ndim == 1 and len(self._input.shape) == 2:
            values = values[:, None]
        given = values.astype(object) if self._input.type == "tensor(string)" else values
        out = np.asarray(self._session.run(None, {self._input.name: given})[0])
        return out.reshape(len(out), -1)
