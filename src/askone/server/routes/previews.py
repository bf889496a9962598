"""What a campaign would be like, before there is one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, final

from askone._common.lazy_import import lazy_import
from askone.campaign.engine.commands import Next, Serving
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import Cells, Table
from askone.campaign.tables.image_folder import IMAGE, Images
from askone.server._campaign_view import Front
from askone.store.open import open_store
from askone.store.store import Store

if TYPE_CHECKING:
    from askone.campaign import campaign
    from askone.campaign import create as intake
else:
    campaign = lazy_import("askone.campaign.campaign")
    intake = lazy_import("askone.campaign.create")

QUESTIONS, ROWS, IMAGES = 5, 200, 40


@final
class Few(Table):
    """The sample of a table as a table."""

    def __init__(self, table: Table, rows: int = ROWS) -> None:
        step = max(1, len(table.sample) // rows)
        self.title, self.columns = table.title, table.columns
        self.sample = table.sample[::step][:rows]
        self.rows = len(self.sample)

    def chunks(self) -> Iterator[list[Cells]]:
        """See ``Table.chunks``."""
        yield self.sample


@final
class FewImages(Images):
    """Some images of a table as a table."""

    def __init__(self, table: Images, count: int = IMAGES) -> None:
        self._table = table
        names = [row[IMAGE] for row in table.sample[:: max(1, len(table.sample) // count)]][:count]
        super().__init__(names, table.title, table.limits)

    def _read(self, name: str) -> bytes:
        return self._table.image(name)


def few(table: Table | None) -> Table | None:
    """A few rows of a table."""
    if table is None:
        return None
    return FewImages(table) if isinstance(table, Images) else Few(table)


def previewed(settings: Settings, table: Table | None) -> list[dict[str, Any]]:
    """The first questions: those of a campaign in memory, about a few of the rows."""
    with open_store("memory:") as store:
        intake.create_campaign(store, "preview", settings, few(table), "", 0.0)
        front = Front(campaign.Campaign.open(store, "preview"))
        served = front.campaign.serve([Next(f"p{n}", ahead=False) for n in range(QUESTIONS)], 1.0)
        found = [one.question for one in served if isinstance(one, Serving) and one.question is not None]
        return [_pictured(front.question(question, 1.0), store) for question in found]


def _pictured(question: dict[str, Any], store: Store) -> dict[str, Any]:
    """The picture itself in place of its address: the campaign that has it is gone when the page looks."""
    row = question["row"]
    kept = store.media("preview", row["key"]) if row["image"] is not None else None
    if kept is None:
        return {**question, "row": {**row, "image": None}}
    return {**question, "row": {**row, "image": f"data:{kept[0]};base64,{base64.b64encode(kept[1]).decode()}"}}
