"""Modules that take long to load, each loaded when it is first used: ``from askone._common.lazy import sparse``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askone._common.lazy_import import lazy_import

if TYPE_CHECKING:
    from scipy import optimize, sparse, special
    from scipy.sparse import linalg
    from sklearn import neighbors

    from askone._common import arithmetic, compiled, decomposition
else:
    arithmetic = lazy_import("askone._common.arithmetic")
    compiled = lazy_import("askone._common.compiled")
    decomposition = lazy_import("askone._common.decomposition")
    linalg = lazy_import("scipy.sparse.linalg")
    neighbors = lazy_import("sklearn.neighbors")
    optimize = lazy_import("scipy.optimize")
    sparse = lazy_import("scipy.sparse")
    special = lazy_import("scipy.special")

__all__ = ["arithmetic", "compiled", "decomposition", "linalg", "neighbors", "optimize", "sparse", "special"]
