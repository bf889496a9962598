"""Tables from databases: by a query, never written to, and without their secrets."""

import sqlite3
from contextlib import closing

import pytest

from askone.campaign.tables.sql import open_query, without_secrets
from askone.cli.main import main
from askone.errors import InvalidArgument, InvalidFile
from askone.store.open import open_store
from commands import ask

HOMES = """
CREATE TABLE homes (id integer primary key, town text, size real, code text, known text, photo blob);
INSERT INTO homes VALUES (1, 'Rome', 80.5, '007', '3', NULL), (2, '50% off: now', NULL, '010', NULL, NULL),
  (3, 'Oslo', 70, '011', '4', NULL);
"""


@pytest.fixture
def shop(tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.executescript(HOMES)
    return f"sqlite:///{tmp_path}/shop.db"


def rows_of(table):
    rows = [row for chunk in table.chunks() for row in chunk]
    assert rows == table.sample
    return rows


def test_a_query_gives_a_table(shop):
    found = open_query(shop, "SELECT id, town, size, code, known FROM homes WHERE town LIKE '%o%' AND ':a' <> ''")
    assert [(one.name, one.kind) for one in found.columns] == [
        ("id", "number"), ("town", "text"), ("size", "number"), ("code", "text"), ("known", "number")
    ]  # fmt: skip
    assert rows_of(found) == [
        {"id": 1, "town": "Rome", "size": 80.5, "code": "007", "known": 3},
        {"id": 2, "town": "50% off: now", "size": None, "code": "010", "known": None},
        {"id": 3, "town": "Oslo", "size": 70.0, "code": "011", "known": 4},
    ]
    assert found.title == "Shop"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (None, '--query must be given, such as "SELECT \\* FROM ..."; there are homes'),
        ("SELECT * FROM hoems", "rows.query must be a SELECT .* got shop.db: no such table: hoems"),
        ("DELETE FROM homes", "readonly database"),
        ("SELECT 1; DELETE FROM homes", "one statement at a time"),
        ("SELECT id FROM homes WHERE id > 9", "shop.db: has no rows"),
        ("SELECT id, id FROM homes", "same name 'id'"),
        ("SELECT x'00ff' AS photo", "shop.db: row 1, column 'photo': numbers or texts are needed; got bytes"),
        ("SELECT 9e999 AS n", "row 1, column 'n': a finite number"),
        ("PRAGMA user_version = 3", "readonly|SELECT"),
    ],
)
def test_what_is_wrong_is_named(shop, query, reason):
    with pytest.raises((InvalidArgument, InvalidFile), match=reason):
        open_query(shop, query)
    assert open_query(shop, "SELECT count(*) AS n FROM homes").sample == [{"n": 3}]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite:///none.db", "file must be a database that exists; got none.db"),
        ("sqlite://", "file must be a database: sqlite:///file or postgresql"),
        ("mysql://ann:secret@db/shop", "got mysql://…"),
        ("postgresql://ann:secret@[::", "got postgresql://…"),
    ],
)
def test_other_databases_are_refused_without_their_secrets(here, url, reason):
    with pytest.raises(InvalidArgument, match=reason) as refused:
        open_query(url, "SELECT 1")
    assert "secret" not in str(refused.value)
    assert not (here / "none.db").exists()


def test_a_database_of_postgresql(postgres, postgres_url):
    schema = postgres_url.rpartition("%3D")[2]
    postgres.run(
        f"CREATE TABLE {schema}.homes AS SELECT n AS id, n::numeric / 4 AS size, date '2026-03-01' + n AS day, "
        "n % 2 = 0 AS old, json_build_object('n', n) AS more, '5% of :x' AS words FROM generate_series(1, 12000) AS n"
    )
    found = open_query(postgres_url, "SELECT * FROM homes ORDER BY id")
    assert found.rows == 12_000
    assert sum(len(chunk) for chunk in found.chunks()) == 12_000
    assert found.sample[0] == {
        "id": 1, "size": 0.25, "day": "2026-03-02", "old": "false", "more": '{"n": 1}', "words": "5% of :x"
    }  # fmt: skip
    for query in (f"DROP TABLE {schema}.homes", f"SELECT 1 AS n; COMMIT; DROP TABLE {schema}.homes"):
        with pytest.raises(InvalidArgument, match="rows.query must be a SELECT"):
            open_query(postgres_url, query)
    assert open_query(postgres_url, "SELECT count(*) AS n FROM homes").sample == [{"n": 12_000}]
    with pytest.raises(InvalidArgument, match="there are homes"):
        open_query(postgres_url, None)
    with pytest.raises(InvalidArgument, match="file must be a database that can be read") as refused:
        open_query("postgresql://ann:canary@127.0.0.1:1/shop", None)
    assert "canary" not in str(refused.value)
    assert "canary" not in without_secrets(postgres_url)


def test_the_command_reads_a_database_and_keeps_no_password(here, shop):
    query = "SELECT id, town, size FROM homes"
    options = ("--kind", "number", "--low", "0", "--high", "9", "--query", query)
    (here / "deep").mkdir()
    assert main(["new", "sqlite:///shop.db", *options, "--out", "deep/c.toml"]) == 0
    assert f'file = "sqlite:///{here}/shop.db"' in (here / "deep" / "c.toml").read_text()
    assert "Campaign shop: 3 rows" in ask("new", "deep/c.toml").out
    with open_store("askone.db") as store:
        assert next(store.entries("shop")).event.settings["rows"]["query"] == query
    (here / "a.csv").write_text("a,b\n1,2\n")
    assert "--query must be left out: it is for databases" in ask("new", "a.csv", *options, status=2).err
