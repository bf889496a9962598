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
_TYPES: dict[str, Any] = {"whole": WHOLE, "real": sa.Double(), "text": sa.Text(), "bytes": sa.LargeBinary()}
_MARKS = {"primary_key": "key", "nullable": "null", "unique": "unique", "index": "indexed"}


def _columns(*texts: str) -> Iterator[sa.Column[Any]]:
    """Yield columns as "name type", with what more holds: key, null, unique, indexed, of:TABLE (gone with it)."""
    for name, kind, *marks in (column.split() for text in texts for column in text.split(", ")):
        owners = [mark.removeprefix("of:") for mark in marks if mark.startswith("of:")]
        rules: dict[str, Any] = {option: mark in marks for option, mark in _MARKS.items()}
        keys = [sa.ForeignKey(f"{owner}.id", ondelete="CASCADE") for owner in owners]
        yield sa.Column(name, _TYPES[kind], *keys, **rules)


def _kept(table: str, key: str, columns: str, *rules: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    """Return a table of a campaign's own data, whose records are told apart by these columns."""
    campaign = sa.Column("campaign", WHOLE, sa.ForeignKey("campaigns.id"), nullable=False)
    primary = sa.PrimaryKeyConstraint("campaign", *key.split(", "))
    return sa.Table(table, METADATA, campaign, *_columns(columns), primary, *rules, **options)


MIGRATED = sa.Table("migrations", METADATA, *_columns("number whole key, at real"))

# A campaign without a name is being made or deleted: nobody sees it, and its log may be deleted.
sa.Table(
    "campaigns",
    METADATA,
    sa.Column("id", WHOLE, sa.Identity(always=False), primary_key=True),
    *_columns("name text null unique, title text, owner text, created real, row_count whole, fingerprint text"),
    *_columns("dtype text, width whole, learner bytes, maker text, touched real"),
    sqlite_autoincrement=True,
)
_kept(
    "entries",
    "seq",
    "seq whole, id text, kind text, who text, at real, number whole null, body text, hash text",
    sa.Index("entries_by_id", "campaign", "id", unique=True),
    sa.Index("entries_by_kind", "campaign", "kind", "seq"),
    sqlite_with_rowid=False,
)
ROWS = _kept(
    "table_rows",
    "position",
    "position whole, key text, content text, features bytes, gold text null",
    sa.UniqueConstraint("campaign", "key"),
)
_GOLD = ROWS.c.gold.is_not(None)
sa.Index("gold_rows", ROWS.c.campaign, ROWS.c.position, sqlite_where=_GOLD, postgresql_where=_GOLD)
_kept(
    "seats",
    "number, seat",
    "number whole, seat whole, position whole, person text, lease text, expires real, ahead text null",
    sa.Index("seats_by_person", "campaign", "person"),
    sa.Index("seats_by_lease", "campaign", "lease"),
    sqlite_with_rowid=False,
)
_kept("media", "key", "key text, kind text, data bytes")
_kept("snapshots", "seq", "seq whole, fingerprint text, data bytes")
_kept("fits", "hash", "hash text, data bytes")
for _name, _text in {
    "users": "id text key, name text, folded text unique, role text, password text null, disabled whole",
    "members": "campaign whole key of:campaigns, person text key indexed of:users, role text",
    "sessions": "hash text key, person text indexed of:users, csrf text, expires real",
    "tokens": "id text key, hash text unique, prefix text, person text indexed of:users, scopes text, "
    "expires real null, title text",
    "invitations": "id text key, hash text unique, campaign whole indexed of:campaigns, expires real null, "
    "most_uses whole null, uses whole, title text",
    "webhooks": "id text key, campaign whole indexed of:campaigns, url text, secret text, events text, status text",
    "deliveries": "id text key, webhook text indexed of:webhooks, body text, due real indexed, tries whole",
    "settings": "name text key, value text",
}.items():
    sa.Table(_name, METADATA, *_columns(_text))

KEPT = ("entries", "table_rows", "seats", "media", "snapshots", "fits")
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


def _with_fits(dialect: str) -> list[str]:
    whole, data = ("INTEGER", "BLOB") if dialect == "sqlite" else ("BIGINT", "BYTEA")
    return [
        f"CREATE TABLE fits (campaign {whole} NOT NULL, hash TEXT NOT NULL, data {data} NOT NULL, "
        "PRIMARY KEY (campaign, hash), FOREIGN KEY(campaign) REFERENCES campaigns (id))"
    ]


MIGRATIONS: list[Statements] = [_with_fits]
"""Step n brings a database from version n to n + 1: its statements, by the dialect's name."""


def version() -> int:
    """Return the version of the tables above."""
    return 1 + len(MIGRATIONS)
