"""The tables, what guards the log, and the numbered steps from an older database to this one.

A new database gets the tables as they are here; ``MIGRATIONS`` brings an older one to the same.  A change of the
tables is a change here and one more function there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

METADATA = sa.MetaData()
Statements = Callable[[str], list[str]]
"""What brings a database of a dialect one version further."""
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REAL: sa.Double[float] = sa.Double()
TEXT = sa.Text()
BYTES = sa.LargeBinary()


def _column(name: str, kind: sa.types.TypeEngine[Any], **more: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, **{"nullable": False, **more})


def _campaign() -> sa.Column[Any]:
    return sa.Column("campaign", WHOLE, sa.ForeignKey("campaigns.id"), nullable=False)


def _of(table: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{table}.id", ondelete="CASCADE")


MIGRATED = sa.Table("migrations", METADATA, _column("number", WHOLE, primary_key=True), _column("at", REAL))

# A campaign without a name is being made or deleted: nobody sees it, and its log may be deleted.
sa.Table(
    "campaigns",
    METADATA,
    sa.Column("id", WHOLE, sa.Identity(always=False), primary_key=True),
    _column("name", TEXT, nullable=True, unique=True),
    _column("title", TEXT),
    _column("owner", TEXT),
    _column("created", REAL),
    _column("row_count", WHOLE),
    _column("fingerprint", TEXT),
    _column("dtype", TEXT),
    _column("width", WHOLE),
    _column("learner", BYTES),
    _column("maker", TEXT),
    _column("touched", REAL),
    sqlite_autoincrement=True,
)
ENTRIES = sa.Table(
    "entries",
    METADATA,
    _campaign(),
    _column("seq", WHOLE),
    _column("id", TEXT),
    _column("kind", TEXT),
    _column("who", TEXT),
    _column("at", REAL),
    _column("number", WHOLE, nullable=True),
    _column("body", TEXT),
    _column("hash", TEXT),
    sa.PrimaryKeyConstraint("campaign", "seq"),
    sa.Index("entries_by_id", "campaign", "id", unique=True),
    sa.Index("entries_by_kind", "campaign", "kind", "seq"),
    sqlite_with_rowid=False,
)
ROWS = sa.Table(
    "table_rows",
    METADATA,
    _campaign(),
    _column("position", WHOLE),
    _column("key", TEXT),
    _column("content", TEXT),
    _column("features", BYTES),
    _column("gold", TEXT, nullable=True),
    sa.PrimaryKeyConstraint("campaign", "position"),
    sa.UniqueConstraint("campaign", "key"),
)
_GOLD = ROWS.c.gold.is_not(None)
sa.Index("gold_rows", ROWS.c.campaign, ROWS.c.position, sqlite_where=_GOLD, postgresql_where=_GOLD)
SEATS = sa.Table(
    "seats",
    METADATA,
    _campaign(),
    _column("number", WHOLE),
    _column("seat", WHOLE),
    _column("position", WHOLE),
    _column("person", TEXT),
    _column("lease", TEXT),
    _column("expires", REAL),
    _column("ahead", TEXT, nullable=True),
    sa.PrimaryKeyConstraint("campaign", "number", "seat"),
    sa.Index("seats_by_person", "campaign", "person"),
    sa.Index("seats_by_lease", "campaign", "lease"),
    sqlite_with_rowid=False,
)
MEDIA = sa.Table(
    "media",
    METADATA,
    _campaign(),
    _column("key", TEXT),
    _column("kind", TEXT),
    _column("data", BYTES),
    sa.PrimaryKeyConstraint("campaign", "key"),
)
SNAPSHOTS = sa.Table(
    "snapshots",
    METADATA,
    _campaign(),
    _column("seq", WHOLE),
    _column("fingerprint", TEXT),
    _column("data", BYTES),
    sa.PrimaryKeyConstraint("campaign", "seq"),
)
sa.Table(
    "users",
    METADATA,
    _column("id", TEXT, primary_key=True),
    _column("name", TEXT),
    _column("folded", TEXT, unique=True),
    _column("role", TEXT),
    _column("password", TEXT, nullable=True),
    _column("disabled", WHOLE),
)
sa.Table(
    "members",
    METADATA,
    sa.Column("campaign", WHOLE, _of("campaigns"), nullable=False),
    sa.Column("person", TEXT, _of("users"), nullable=False, index=True),
    _column("role", TEXT),
    sa.PrimaryKeyConstraint("campaign", "person"),
)
sa.Table(
    "sessions",
    METADATA,
    _column("hash", TEXT, primary_key=True),
    sa.Column("person", TEXT, _of("users"), nullable=False, index=True),
    _column("csrf", TEXT),
    _column("expires", REAL),
)
sa.Table(
    "tokens",
    METADATA,
    _column("id", TEXT, primary_key=True),
    _column("hash", TEXT, unique=True),
    _column("prefix", TEXT),
    sa.Column("person", TEXT, _of("users"), nullable=False, index=True),
    _column("scopes", TEXT),
    _column("expires", REAL, nullable=True),
    _column("title", TEXT),
)
sa.Table(
    "invitations",
    METADATA,
    _column("id", TEXT, primary_key=True),
    _column("hash", TEXT, unique=True),
    sa.Column("campaign", WHOLE, _of("campaigns"), nullable=False, index=True),
    _column("expires", REAL, nullable=True),
    _column("most_uses", WHOLE, nullable=True),
    _column("uses", WHOLE),
    _column("title", TEXT),
)
sa.Table(
    "webhooks",
    METADATA,
    _column("id", TEXT, primary_key=True),
    sa.Column("campaign", WHOLE, _of("campaigns"), nullable=False, index=True),
    _column("url", TEXT),
    _column("secret", TEXT),
    _column("events", TEXT),
    _column("status", TEXT),
)
sa.Table(
    "deliveries",
    METADATA,
    _column("id", TEXT, primary_key=True),
    sa.Column("webhook", TEXT, _of("webhooks"), nullable=False, index=True),
    _column("body", TEXT),
    _column("due", REAL, index=True),
    _column("tries", WHOLE),
)
sa.Table("settings", METADATA, _column("name", TEXT, primary_key=True), _column("value", TEXT))

KEPT = ("entries", "table_rows", "seats", "media", "snapshots")
"""The tables of a campaign's own data, in which a deletion may be long."""

# REPLACE deletes without a trigger for deletions: so an insertion that would replace is refused, and one that leaves
# a gap as well.
_SQLITE = """
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
WHEN (SELECT name FROM campaigns WHERE id = OLD.campaign) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entries_follow BEFORE INSERT ON entries
WHEN NEW.seq <> 1 + coalesce((SELECT max(seq) FROM entries WHERE campaign = NEW.campaign), 0)
OR EXISTS (SELECT 1 FROM entries WHERE campaign = NEW.campaign AND id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the log is append-only: an entry is new, and the next one'); END;
"""
_POSTGRESQL = """
CREATE FUNCTION askone_entries_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF (SELECT name FROM campaigns WHERE id = OLD.campaign) IS NULL THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'the log is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE ON entries
FOR EACH ROW EXECUTE FUNCTION askone_entries_stay();
CREATE TRIGGER entries_remain BEFORE TRUNCATE ON entries
FOR EACH STATEMENT EXECUTE FUNCTION askone_entries_stay();
"""


def whole(dialect: Dialect) -> Iterator[str]:
    """Yield the statements that make all tables, indexes and triggers in an empty database."""
    for table in METADATA.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
    if dialect.name == "sqlite":
        yield from (f"{text} END" for text in _SQLITE.split("END;") if text.strip())
    else:
        yield _POSTGRESQL


MIGRATIONS: list[Statements] = []
"""Step n brings a database from version n to n + 1: its statements, by the dialect's name."""


def version() -> int:
    """Return the version of the tables above."""
    return 1 + len(MIGRATIONS)
