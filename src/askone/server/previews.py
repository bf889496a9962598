"""What a campaign would be like, before there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from askone.campaign.campaign import Campaign
from askone.campaign.columns import Cells, Table
from askone.campaign.intake import create_campaign
from askone.campaign.requests import Next, Serving
from askone.campaign.settings import Numbers, RowSettings, Settings
from askone.server.front import Front
from askone.store.opening import open_store

QUESTIONS, ROWS = 5, 200


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


def previewed(settings: Settings, table: Table | None) -> list[dict[str, Any]]:
    """The first questions: those of a campaign in memory, about a few of the rows."""
    store = open_store("memory:")
    try:
        create_campaign(store, "preview", settings, None if table is None else Few(table), "", 0.0)
        front = Front(Campaign.open(store, "preview"))
        served = front.campaign.serve([Next(f"p{n}", ahead=False) for n in range(QUESTIONS)], 1.0)
        found = [one.question for one in served if isinstance(one, Serving) and one.question is not None]
        return [front.question(question, 1.0) for question in found]
    finally:
        store.close()


def suggested(table: Table) -> Settings:
    """Settings to begin with: a column whose name says so is the key, labels are numbers."""
    names = [column.name for column in table.columns]
    keys = [name for name in names if name.casefold() in ("id", "key", "uuid", "name") and _tells_apart(table, name)]
    return Settings(table.title, Numbers(), rows=RowSettings(key=keys[0] if keys else None))


def _tells_apart(table: Table, name: str) -> bool:
    values = [row.get(name) for row in table.sample]
    return None not in values and len(set(map(str, values))) == len(values)
