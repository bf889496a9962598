"""Servers behind the pages: a small one whose answers are functions, and the real one over a real file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from journeys import House, house
from pages import Site, opened


@pytest.fixture(scope="module")
def shared() -> Iterator[Site]:
    with Site() as found:
        yield found


@pytest.fixture
def site(shared: Site) -> Site:
    """The small server, as it is at first."""
    shared.reset()
    return shared


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    """One tab for all tests of a module, as opening one is slow."""
    return opened(browser)


@pytest.fixture
def place(browser: Any, nursery: Any, tmp_path: Path) -> Iterator[House]:
    """The real server, in which nothing went wrong."""
    with house(tmp_path, nursery) as found:
        yield found
        found.check()
