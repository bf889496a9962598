"""Modules of torch as embedders; with ``learners.models.neural`` the door to torch."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.encoding._digest import content_digest
from askone.encoding.embedders import Embedder
from askone.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    import torch
else:
    torch = lazy_import("torch")


def is_module(value: Any) -> bool:
    """Return whether an object is a module of torch; without torch there is none."""
    return "torch" in sys.modules and isinstance(value, torch.nn.Module)


def torch_file(path: Path) -> Embedder:
    """Return what ``torch.export.save`` (.pt2) or ``torch.jit.save`` (.pt) has written."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        if path.suffix.lower() == ".pt2":
            return TorchModule(torch.export.load(path).module(), digest)
        return TorchModule(torch.jit.load(path, map_location="cpu"), digest)
    except ImportError as error:
        raise MissingExtra("modules of torch need torch: pip install 'askone[torch]'") from error
    except (RuntimeError, ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        allowed = "a module written by torch.export.save (.pt2) or torch.jit.save (.pt)"
        raise InvalidArgument("embedder", allowed, f"{path.name}: {error}"[:200]) from error


@final
class TorchModule(Embedder):
    """A module of torch, of float tensors n x p or n x 3 x side x side (colours from 0 to 1), or of a list of texts."""

    def __init__(self, module: Any, digest: str | None = None) -> None:
        self._module, self.side = module, int(getattr(module, "side", Embedder.side))
        if digest is None:  # what torch.export gives is ready to use, and refuses to be told so
            module.eval()
            state = {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}
            digest = content_digest([type(module), repr(module), state])
        self._digest = digest

    @property
    def digest(self) -> str:
        return self._digest

    def embed(self, cells: Any) -> Array:
        if isinstance(cells, np.ndarray):
            pictures = cells.ndim == 4
            cells = torch.from_numpy(np.ascontiguousarray(cells.transpose(0, 3, 1, 2) if pictures else cells)).float()
            cells = cells / 255 if pictures else cells
        with torch.no_grad():
            out = self._module(cells).float().cpu().numpy()
        return np.asarray(out.reshape(len(out), -1))
