"""Models on disk: a zip of one JSON document and plain arrays.  No pickle, a format number.

What may be saved is listed in ``SAVEABLE``: frozen dataclasses by name, with their fields.  A
neural model's architecture is code and is not saved: ``load(path, model=Neural(net, columns))``
hands it in again and its weights come from the file.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from askone._common import zip_archive
from askone._common.atomic_write import atomic_write
from askone._common.types import Array
from askone._common.zip_archive import ArchiveLimits, check_whole, require_small_directory
from askone.errors import InvalidArgument, InvalidFile
from askone.estimators.learner_choices.defaults import Filters, SetLikelihood, Thurstone
from askone.estimators.learner_choices.gradients import SGD, Ellipsoid, Game, GenericScheme, RecursiveLeastSquares
from askone.estimators.learner_choices.repeated import Bisection, Remembering
from askone.features import graph, kernels, maps, scaling
from askone.features.layout import RowLayout
from askone.labels import classes, losses
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.labels.wording import Wording
from askone.learners import gradients, registry, step_rules
from askone.learners.contest import Contest
from askone.learners.forgetting import Forgetting
from askone.learners.gradients.ranking import RANK_PAIRS
from askone.learners.gradients.subset import SET_PAIRS
from askone.learners.kalman.prediction_intervals import Intervals
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.mixture.classes import ClassMixture
from askone.learners.mixture.discriminant import DiscriminantMember
from askone.learners.mixture.kernel import KernelMember
from askone.learners.mixture.members import LinearMember
from askone.learners.mixture.number import NumberMixture
from askone.learners.mixture.trees import TreeMember
from askone.learners.models.base import Model
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.ellipsoid import EllipsoidLearner
from askone.learners.paper.game import GameLearner
from askone.learners.paper.generic import GenericSGD
from askone.learners.people.crowd import CrowdLearner
from askone.learners.range_search import Calibrated
from askone.learners.repeated.bisection import BisectedClasses, BisectedReal
from askone.learners.repeated.memory import RememberedClasses, RememberedReal
from askone.learners.rls.pseudo_labels import PseudoLabels, PseudoMeans
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.step_search import StepSearch
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.learners.thurstone.banks import PairBank
from askone.learners.thurstone.many import ManyItemsLearner
from askone.learners.thurstone.ranker import ThurstoneLearner

Place = str | os.PathLike[str] | io.BufferedIOBase

FORMAT = 1
UNREADABLE = (*zip_archive.UNREADABLE, KeyError, SyntaxError, TypeError)
"""What zipfile, json and NumPy raise for a file that is damaged or made to mislead."""
_DOCUMENT = "askone.json"
ENCODER = "encoder.json"
"""What makes rows of tables, where a model takes tables."""
_SMALLEST, _RATIO = 256 << 20, 20
"""Bytes that any model may take, and how many times as many as its file has a larger one may."""
_LIMITS = ArchiveLimits(members=100_000, ratio=math.inf)
_SAVED: tuple[type, ...] = (
    scaling.Scaler, RowLayout, maps.Front, maps.Intercept, maps.Linear, maps.Nystroem, maps.Fourier,
    graph.NeighbourGraph, Real, Wording, classes.Classes, classes.Finite, Ranking,
    FeatureModel, KernelExpansion, GenericSGD, Calibrated, Surrogate, Intervals, Contest, Forgetting, PairBank,
    StepSearch, NumberMixture, ClassMixture, TreeMember, LinearMember, KernelMember, DiscriminantMember, CrowdLearner,
    ManyItemsLearner, BisectedClasses, BisectedReal, RememberedClasses, RememberedReal, PseudoLabels, PseudoMeans,
    gradients.HalfCauchy, losses.SignLogistic,
    *losses.LOSSES.values(), *losses.SURROGATES.values(), *gradients.PAIRS.values(), *SET_PAIRS.values(),
    *RANK_PAIRS.values(), *step_rules.STEP_RULES.values(), *step_rules.AVERAGES.values(), *kernels.KERNELS.values(),
)  # fmt: skip
# Classes that are saved by another name than they have now.
_NAMED: dict[str, type] = {
    "SGD": SGDLearner, "Filters": FilterLearner, "Ellipsoid": EllipsoidLearner, "Game": GameLearner,
    "SetLikelihood": SetLikelihoodLearner, "Thurstone": ThurstoneLearner,
}  # fmt: skip
_CHOICES: tuple[type, ...] = (
    SGD, Filters, SetLikelihood, Thurstone, RecursiveLeastSquares, Bisection, Remembering, Game, GenericScheme,
    Ellipsoid,
)  # fmt: skip
SAVEABLE: dict[str, type] = {
    **{cls.__name__: cls for cls in _SAVED},
    **_NAMED,
    **{f"choice of {cls.__name__}": cls for cls in _CHOICES},
}
_NAMES = {cls: name for name, cls in SAVEABLE.items()}


def save(path: Place, document: dict[str, Any], arrays: dict[str, Array], encoder: Any = None) -> None:
    """Write a document (see ``encode``), arrays, and an encoder; a named file appears whole or not at all."""
    if isinstance(path, io.BufferedIOBase):
        _write(path, document, arrays, encoder)
        return
    if not isinstance(path, str | os.PathLike) or Path(path).is_dir():
        raise InvalidArgument("path", "the name of a file", path)
    with atomic_write(path) as out:
        _write(out, document, arrays, encoder)


def _write(place: io.BufferedIOBase, document: dict[str, Any], arrays: dict[str, Array], encoder: Any) -> None:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        # Without the time of writing: the same model is the same bytes.
        _member(archive, _DOCUMENT, json.dumps({"format": FORMAT, **document}, allow_nan=False).encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(array), allow_pickle=False)
            _member(archive, f"arrays/{name}.npy", buffer.getvalue())
        if encoder is not None:
            _member(archive, ENCODER, json.dumps(encoder, allow_nan=False).encode())


def _member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), data, compress_type=zipfile.ZIP_DEFLATED)


def shown(path: Place) -> str:
    """Return what a place is called in an error."""
    return os.fspath(path) if isinstance(path, str | os.PathLike) else "this file"


def read(path: Place) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the document and the arrays of a file written by ``save``."""
    with contextlib.ExitStack() as stack:
        file: Any = path
        if isinstance(path, str | os.PathLike):
            file = stack.enter_context(Path(path).open("rb"))
        try:
            require_small_directory(file, _LIMITS.members)
            with zipfile.ZipFile(file) as archive:
                check_sizes(archive, file.seek(0, os.SEEK_END))
                document = json.loads(archive.read(_DOCUMENT))
                if ENCODER in archive.namelist():
                    document[ENCODER] = json.loads(archive.read(ENCODER))
                names = [name for name in archive.namelist() if name.startswith("arrays/")]
                arrays = {name[7:-4]: _array(archive.read(name)) for name in names}
        except UNREADABLE as error:
            made = "which model.save and askone export --what model write"
            raise InvalidFile(f"{shown(path)} is not a model saved by askone, {made}: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidFile(f"{shown(path)} has another format than {FORMAT}, the one this version reads")
    return document, arrays


def check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse a file that would take much more memory than it has bytes: zeros are packed a thousand to one."""
    check_whole(archive.infolist(), replace(_LIMITS, total=max(_SMALLEST, _RATIO * size)), size)


def _array(data: bytes) -> Array:
    """Return an array of a file; its head may not promise more than there is, since memory is taken by it."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of another format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array that is longer or shorter than it says")
    array: Array = np.load(io.BytesIO(data), allow_pickle=False)
    return array


def encode(value: Any, arrays: dict[str, Array]) -> Any:
    """Return a configuration as JSON values; arrays go into ``arrays`` and are referred to by name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        name = f"config-{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple | list):
        return [encode(item, arrays) for item in value]
    if isinstance(value, dict):
        return {"mapping": [[encode(key, arrays), encode(item, arrays)] for key, item in value.items()]}
    named, own = _NAMES.get(type(value)), registry.name_of(type(value))
    if named is not None or own is not None:
        parts = {f.name: encode(getattr(value, f.name), arrays) for f in fields(value)}
        return {"own": own, "fields": parts} if named is None else {"type": named, **parts}
    if isinstance(value, Model):
        return {"type": "given"}
    raise InvalidArgument("model", "made of askone's own parts, to be saved", type(value).__name__)


def decode(value: Any, arrays: dict[str, Array], given: Model[Any] | None) -> Any:
    """Return the inverse of ``encode``; ``given`` stands where a network was."""
    if isinstance(value, list):
        return tuple(decode(item, arrays, given) for item in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "mapping" in value:
        return {key: decode(item, arrays, given) for key, item in value["mapping"]}
    if "own" in value:
        found = registry.registered(value["own"])
        if found is None:
            raise InvalidArgument("learner", f"registered: askone.learners.register({value['own']!r}, ...)", None)
        return found.kind(**{name: decode(part, arrays, given) for name, part in value["fields"].items()})
    if value.get("type") == "given":
        if given is None:
            raise InvalidArgument("model", "the network this model was saved with, as Neural(net, columns)", None)
        return given
    if value.get("type") not in SAVEABLE:
        raise InvalidFile(f"a part {value.get('type')!r} is unknown to this version")
    parts = {name: decode(part, arrays, given) for name, part in value.items() if name != "type"}
    return SAVEABLE[value["type"]](**parts)
