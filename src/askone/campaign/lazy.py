"""Modules of campaigns that take long to load, and are loaded when they are first used.

Servers and commands start without them: ``from askone.campaign.lazy import backup``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from askone._common.lazy_import import lazy_import

if TYPE_CHECKING:
    from askone.campaign import campaign, create, forecast
    from askone.campaign.engine import packed_model
    from askone.campaign.output import backup, comparison, export, label_studio, scoring
    from askone.campaign.tables import open as tables
else:
    campaign = lazy_import("askone.campaign.campaign")
    create = lazy_import("askone.campaign.create")
    forecast = lazy_import("askone.campaign.forecast")
    backup = lazy_import("askone.campaign.output.backup")
    comparison = lazy_import("askone.campaign.output.comparison")
    export = lazy_import("askone.campaign.output.export")
    label_studio = lazy_import("askone.campaign.output.label_studio")
    packed_model = lazy_import("askone.campaign.engine.packed_model")
    scoring = lazy_import("askone.campaign.output.scoring")
    tables = lazy_import("askone.campaign.tables.open")

__all__ = [
    "backup", "campaign", "comparison", "create", "export", "forecast", "label_studio", "packed_model", "scoring",
    "tables",
]  # fmt: skip
