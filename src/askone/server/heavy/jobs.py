"""What is done with people's files, as functions of plain values: so that a process of its own can do it.

A job takes the store (those of ``STORED`` alone) and JSON values, and returns JSON values.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, final

from askone._common.packed_arrays import unpack
from askone._common.zip_archive import ArchiveLimits
from askone.campaign.engine.commands import Next
from askone.campaign.lazy import backup, campaign, comparison, packed_model, tables
from askone.campaign.lazy import create as creation
from askone.campaign.lazy import forecast as forecasting
from askone.campaign.output.views import held_position, picture_of
from askone.campaign.settings.doubts import Doubt, doubts
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Cells, Limits, Table
from askone.campaign.tables.image_tables import IMAGE, ImageTable
from askone.errors import InvalidArgument
from askone.learners.abilities import Refits, able
from askone.server._campaign_service import CampaignService
from askone.server._responses import PreviewResponse, QuestionResponse, ServingResponse
from askone.session.checkpoints import fit_of
from askone.store.accounts.accounts import Accounts
from askone.store.open import open_store
from askone.store.store import Store

File = tuple[str, str, int]
"""Where a file lies, what its sender calls it, and how many cells it may have."""
_BACKUPS: Final = ArchiveLimits(total=8 << 30, members=500_000, line=8 << 20)
QUESTIONS, ROWS, IMAGES = 5, 200, 40
"""What a preview has at most."""


@lru_cache(maxsize=1)
def _opened(path: str, title: str, cells: int) -> Table:
    # A file is read from end to end to be opened, and looked at several times before it becomes a campaign.
    return tables.open_table(path, Limits(cells=cells), title)


def _table(file: File | None) -> Table | None:
    return None if file is None else _opened(*file)


def let_go() -> None:
    """Let go of the file that was looked at last: it may be removed."""
    _opened.cache_clear()


def describe(_: None, file: File) -> dict[str, Any]:
    """Return what is in a file."""
    table = _opened(*file)
    vectors = {column.name: column.examples[0] for column in table.columns if column.kind == "vector"}
    return {
        "rows": table.rows,
        "columns": [column.to_json() for column in table.columns],
        "sample": [{**cells, **vectors} for cells in table.sample[:5]],
        "suggested": suggest(table).to_json(),
        "part": table.part,
        "parts": list(table.parts),
    }


def preview(_: None, file: File | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the first questions that a campaign would ask, and its settings as they are understood."""
    chosen, table = Settings.from_json(settings), _table(file)
    sample = None if table is None else _sample(table)
    found, whole = list[Doubt](), chosen
    if table is not None and sample is not None:
        whole = creation.with_columns(chosen, table)
        creation.require_unknown(whole, table)
        creation.require_labels(whole, table)
        found = doubts(whole, table)
        if creation.all_known(whole, sample):  # others are not
            whole = replace(whole, rows=replace(whole.rows, gold=None), ask=replace(whole.ask, gold_share=0.0))
    questions = _questions(whole, sample)
    told = [{"text": one.text, "column": one.column} for one in found]
    return PreviewResponse(
        questions=questions, settings=chosen.to_json(), toml=chosen.to_toml(), doubts=told
    ).model_dump()


def forecast(
    _: None, file: File | None, settings: dict[str, Any], answers: int, flip: float, people: str | None
) -> dict[str, Any]:
    """Return how well a campaign would do, simulated with made-up answers about the real rows."""
    return forecasting.forecast(Settings.from_json(settings), _table(file), answers, flip, people=people).to_json()


def create(store: Store, name: str, settings: dict[str, Any], file: File | None, owner: str, at: float) -> None:
    """Make a campaign; whoever makes it manages it."""
    try:
        creation.create_campaign(store, name, Settings.from_json(settings), _table(file), owner, at)
    finally:
        let_go()
    store.accounts.add_member(name, owner, "manager")


def add_rows(store: Store, name: str, file: File, who: str, at: float) -> int:
    """Add the rows of a file to a campaign, which goes on meanwhile; return how many."""
    try:
        return creation.add_rows(store, name, _opened(*file), at, who)
    finally:
        let_go()


def restore(store: Store, path: str, name: str | None, owner: str) -> str:
    """Make a campaign of a backup; return its name."""
    with Path(path).open("rb") as source:
        made = backup.restore(store, source, name, owner, _BACKUPS, known=_known(store.accounts, owner))
    store.accounts.add_member(made, owner, "manager")
    return made


def _known(accounts: Accounts, owner: str) -> set[str]:
    """Return whom a backup may speak for: who takes part in what its owner manages, and no administrator."""
    managed = [one.campaign for one in accounts.campaigns_of(owner) if one.role == "manager"]
    people = {owner, *(member.user for campaign in managed for member in accounts.members(campaign))}
    return people - {user.id for user in accounts.users() if user.role == "admin"}


def fit(_: None, folder: str) -> None:
    """Make the fit of a learner at a state, both files of a folder, and leave it there."""
    place = Path(folder)
    learner = packed_model.beginning((place / "learner").read_bytes()).learner
    if not able(learner, Refits):
        raise InvalidArgument("learner", "one that is fitted to its answers", type(learner).__name__)
    state = learner.from_arrays(unpack((place / "state").read_bytes()))
    (place / "fit").write_bytes(fit_of(learner, state).packed)


def compare(store: Store, name: str) -> dict[str, Any]:
    """Return what other models would have made of a campaign's answers."""
    return comparison.compare_models(campaign.Campaign.open(store, name)).to_json()


READING: Final[dict[str, Callable[..., Any]]] = {
    "describe": describe, "preview": preview, "forecast": forecast, "fit": fit,
}  # fmt: skip
STORED: Final[dict[str, Callable[..., Any]]] = {
    "create": create, "add_rows": add_rows, "restore": restore, "compare": compare,
}  # fmt: skip


@final
class SampleTable(Table):
    """The sample of a table as a table."""

    def __init__(self, table: Table, rows: int = ROWS) -> None:
        step = max(1, len(table.sample) // rows)
        self.title, self.columns = table.title, table.columns
        self.sample = table.sample[::step][:rows]
        self.rows = len(self.sample)

    def chunks(self) -> Iterator[list[Cells]]:
        yield self.sample


@final
class SampleImages(ImageTable):
    """Some images of a table as a table."""

    def __init__(self, table: ImageTable, count: int = IMAGES) -> None:
        self._table = table
        names = [row[IMAGE] for row in table.sample[:: max(1, len(table.sample) // count)]][:count]
        super().__init__(names, table.title, table.limits)
        self.columns = table.columns  # also if none of these lies in a folder
        self.sample = [self._cells(name) for name in self.names]

    def _read(self, name: str) -> bytes:
        return self._table.image(name)


def _sample(table: Table) -> Table:
    return SampleImages(table) if isinstance(table, ImageTable) else SampleTable(table)


def _questions(settings: Settings, table: Table | None) -> list[QuestionResponse]:
    """Return the first questions of a campaign in memory."""
    with open_store("memory:") as store:
        creation.create_campaign(store, "preview", settings, table, "", 0.0)
        service = CampaignService(campaign.Campaign.open(store, "preview"))
        people = [f"p{n}" for n in range(QUESTIONS)]
        served = service.serve([Next(person, ahead=False) for person in people], 1.0)
        found = [
            (one.question, person)
            for one, person in zip(served, people, strict=True)
            if isinstance(one, ServingResponse) and one.question is not None
        ]
        return [_with_picture(question, person, store) for question, person in found]


def _with_picture(question: QuestionResponse, person: str, store: Store) -> QuestionResponse:
    """Put the picture itself in place of its address: the campaign that has it is gone when the page looks."""
    row, position = question.row, held_position(store.seats_of("preview", person), question.lease)
    kept = None if row.image is None or position is None else picture_of(store, "preview", position)
    image = None if kept is None else f"data:{kept[0]};base64,{base64.b64encode(kept[1]).decode()}"
    return question.model_copy(update={"row": row.model_copy(update={"image": image})})
