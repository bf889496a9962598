"""Servers for tests, and a browser to look at their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

if find_spec("uvicorn") is None:
    collect_ignore_glob = ["*"]  # all of it needs the extra server
else:
    from askone.server.ops import warm_up
    from askone.server.ops.memory import GarbageCollector
    from journeys import killing
    from pages import chromium
    from sites import LOOSE, Site


@pytest.fixture(scope="module", autouse=True)
def light() -> Iterator[None]:
    """Servers of tests begin at once: they look through no memory, and open campaigns when they are asked for."""
    with mock.patch.object(GarbageCollector, "collect", return_value=False), mock.patch.object(warm_up, "CAMPAIGNS", 0):
        yield


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all tests of a module."""
    with Site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Site]:
    """One for this test."""
    with Site(tmp_path) as site:
        yield site


@pytest.fixture
def site_of(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Several, each as it is wanted."""
    with ExitStack() as sites:
        yield lambda config=LOOSE, **more: sites.enter_context(Site(tmp_path, config, **more))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Any]:
    with killing.Nursery() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found
