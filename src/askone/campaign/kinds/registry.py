"""All kinds of labels by name; a kind of one's own is added by ``register``."""

from __future__ import annotations

from askone.campaign.kinds.base import Kind
from askone.campaign.kinds.classes import ClassNames
from askone.campaign.kinds.number import Numbers
from askone.campaign.kinds.order import Items

KINDS: dict[str, type[Kind]] = {}
"""Kinds by the name that settings have in ``labels.kind``."""
UNSURE = Numbers
"""The kind to begin with where nothing says which it is."""


def register(kind: type[Kind]) -> type[Kind]:
    """Make a kind known by its name; returns it, so that it can decorate a class."""
    KINDS[kind.kind] = kind
    return kind


for _kind in (Numbers, ClassNames, Items):
    register(_kind)
