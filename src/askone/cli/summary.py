"""Sum up what ``askone new`` made of a table: what was guessed can be wrong."""

from __future__ import annotations

from shlex import quote

from askone.campaign.engine.model_builder import unpack
from askone.campaign.kinds.base import listed
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import Table
from askone.errors import InvalidArgument
from askone.store.store import Store


def summary(settings: Settings, table: Table | None, question: str | None = None) -> list[str]:
    """Return labels, question and columns; ``question`` is the first one, if there is a campaign already.

    >>> from askone.campaign.settings.settings import AskSettings, Items
    >>> for line in summary(Settings("Drinks", Items(("tea", "milk")), ask=AskSettings(budget=50)), None):
    ...     print(line)
      labels       an order of 2 items: tea, milk
      ends         after 50 answers
    """
    lines = [("labels", settings.labels.described()), ("first asked", question or "")]
    if table is not None:
        lines += _columns(settings, table)
    lines.append(("ends", _end(settings, table)))
    return [f"  {title:<12} {text}" for title, text in lines if text]


def first_question(store: Store, name: str) -> str:
    """Return the sentence of the question that the campaign begins with; nothing is asked of anybody."""
    packed = unpack(store.learner(name))
    row = None if packed.encoder is None else store.rows(name, [0])[0].features
    return str(packed.estimator.ask(row))  # type: ignore[arg-type]  # without an encoder it asks about no row


def _columns(settings: Settings, table: Table) -> list[tuple[str, str]]:
    rows = settings.rows
    kinds = {column.name: column.kind for column in table.columns}
    learnt = [f"{name} ({kinds[name]})" for name in rows.learn or ()]
    key = rows.key or "none: rows are numbered"
    gold = f"{rows.gold}, asked about in {settings.ask.gold_share:.0%} of questions" if rows.gold else ""
    return [
        ("key", key),
        ("people see", listed(rows.show or ()) or "nothing"),
        ("model sees", listed(learnt) or "nothing: one number for all rows"),
        ("known labels", gold),
    ]


def _end(settings: Settings, table: Table | None) -> str:
    ask = settings.ask
    if ask.budget is not None:
        return f"after {ask.budget} answers"
    if table is None or settings.is_rowless(table.rows):
        return "when you close it: there is no budget"
    return f"with the rows, each asked once of {ask.overlap} {'person' if ask.overlap == 1 else 'people'}"


def doubts(settings: Settings, table: Table | None) -> list[str]:
    """Return what a person should look at: known labels that nobody is measured by.

    A column that may tell the label.
    """
    rows, labels, found = settings.rows, settings.labels, []
    if rows.gold is not None and not settings.ask.gold_share:
        found.append(f"Nobody is measured by the known labels in {rows.gold!r}: ask.gold_share is 0.")
    noun = labels.noun.casefold()
    seen = [name for name in dict.fromkeys([*(rows.show or ()), *(rows.learn or ())]) if name.casefold() == noun]
    if table is not None and seen:
        found.append(
            f"The column {seen[0]!r} is called as the labels are, and it is shown or learnt: "
            f"if it holds the labels, use --gold {quote(seen[0])}."
        )
    return found


def require_unknown(settings: Settings, table: Table) -> None:
    """Refuse a table in which every label is known: such rows measure people, and none is left to ask about."""
    gold = settings.rows.gold
    cells = [] if gold is None else [row.get(gold) for row in table.sample]
    if gold is not None and len(cells) == table.rows and all(cell is not None and str(cell).strip() for cell in cells):
        allowed = "a column that is empty in the rows to ask about (a known label only measures people)"
        came = f"{gold!r}, filled in all {table.rows} rows; leave a column out by --show and --learn"
        raise InvalidArgument("rows.gold", allowed, came)
