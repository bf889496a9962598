"""What a campaign would be like, before there is one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import final

from askone.campaign.engine.commands import Next
from askone.campaign.lazy import campaign, create
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import Cells, Table
from askone.campaign.tables.image_folder import IMAGE, Images
from askone.server._campaign_service import CampaignService
from askone.server._responses import QuestionResponse, ServingResponse
from askone.store.open import open_store
from askone.store.store import Store

QUESTIONS, ROWS, IMAGES = 5, 200, 40


@final
class SampleTable(Table):
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
class SampleImages(Images):
    """Some images of a table as a table."""

    def __init__(self, table: Images, count: int = IMAGES) -> None:
        self._table = table
        names = [row[IMAGE] for row in table.sample[:: max(1, len(table.sample) // count)]][:count]
        super().__init__(names, table.title, table.limits)

    def _read(self, name: str) -> bytes:
        return self._table.image(name)


def sample_table(table: Table | None) -> Table | None:
    """Return a few rows of a table."""
    if table is None:
        return None
    return SampleImages(table) if isinstance(table, Images) else SampleTable(table)


def preview_questions(settings: Settings, table: Table | None) -> list[QuestionResponse]:
    """Return the first questions: those of a campaign in memory, about a few of the rows."""
    with open_store("memory:") as store:
        create.create_campaign(store, "preview", settings, sample_table(table), "", 0.0)
        service = CampaignService(campaign.Campaign.open(store, "preview"))
        served = service.serve([Next(f"p{n}", ahead=False) for n in range(QUESTIONS)], 1.0)
        found = [one.question for one in served if isinstance(one, ServingResponse) and one.question is not None]
        return [_with_picture(question, store) for question in found]


def _with_picture(question: QuestionResponse, store: Store) -> QuestionResponse:
    """Put the picture itself in place of its address: the campaign that has it is gone when the page looks."""
    row = question.row
    kept = store.media("preview", row.key) if row.image is not None else None
    image = None if kept is None else f"data:{kept[0]};base64,{base64.b64encode(kept[1]).decode()}"
    return question.model_copy(update={"row": row.model_copy(update={"image": image})})
