"""Settings of the tests, and where real data may lie."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from refitting import fitted
from stores import any_store, here, postgres, postgres_url, store, store_url

# Shared machines are slow at odd moments: properties are never timed.
settings.register_profile("askone", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("askone")

__all__ = ["any_store", "fitted", "here", "postgres", "postgres_url", "store", "store_url"]
ROOT = Path(__file__).resolve().parents[1]


# Files that take minutes: begun last, they would be waited for while the other workers have nothing left.
LONG = ("tests/benchmarks/test_quick.py", "tests/test_real_data.py", "tests/test_examples.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; all others keep their order."""
    if config.getoption("shuffle") is None:
        items.sort(key=lambda item: not item.nodeid.startswith(LONG))


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A script of the benchmarks by name; they lie beside each other and are no package."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The real data: ASKONE_DATA, or ../shared/data where it exists."""
    directory = Path(os.environ.get("ASKONE_DATA", ROOT.parent / "shared" / "data"))
    if not directory.is_dir():
        pytest.skip("real data: set ASKONE_DATA to a directory that holds it")
    return directory
