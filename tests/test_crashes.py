"""Servers and databases that die under load: what was granted stands once, and nothing else does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def killing() -> Iterator[Any]:
    """The harness that the benchmark uses as well."""
    pytest.importorskip("uvicorn", reason="needs the extra server")
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("killing")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def nursery(killing: Any) -> Iterator[Any]:
    with killing.Nursery() as found:
        yield found


def test_a_server_on_a_file_is_killed(killing, nursery, tmp_path):
    found = killing.killed(str(tmp_path / "store.db"), tmp_path, kills=3, seed=1, nursery=nursery)
    assert found["answers"] > 0


def test_one_of_two_servers_on_postgresql_is_killed(killing, nursery, tmp_path, postgres_url):
    found = killing.killed(postgres_url, tmp_path, kills=3, seed=2, servers=2, nursery=nursery)
    assert found["answers"] > 0


def test_the_database_goes_away_and_comes_back(killing, nursery, tmp_path, postgres, postgres_url):
    found = killing.bereft(postgres_url, tmp_path, postgres, stops=1, seed=3, nursery=nursery)
    assert found["told to wait"] > 0
