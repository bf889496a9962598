"""Tutorials and recipes do what they say, from the first command to the last."""

import io
import random
import subprocess
import sys
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path

import pytest

from askone.cli.main import main
from walking import walk

pytest.importorskip("starlette", reason="needs the extra server")
ROOT = Path(__file__).resolve().parents[1]
WALKED = sorted(path for folder in ("tutorials", "recipes") for path in (ROOT / "docs" / folder).glob("*.md"))


@contextmanager
def served(store):
    """The address of a server of a store, as it says it."""
    command = [sys.executable, "-u", "-m", "askone", "serve", "--store", store, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            yield next(line.split()[-1] for line in server.stdout if line.startswith("askone serves "))
        finally:
            server.terminate()


@pytest.mark.parametrize("path", WALKED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_reader_gets_through(path, here, monkeypatch):
    monkeypatch.syspath_prepend(str(here))
    random.seed(0)  # people of the documents draw by lot
    modules = set(sys.modules)
    with redirect_stdout(io.StringIO()), ExitStack() as servers:
        # Where a program speaks to the server, one runs; elsewhere browsers would.
        speaks = "askone.Client(" in path.read_text("utf-8")
        walk(
            path, main, lambda: speaks and monkeypatch.setenv("ASKONE_URL", servers.enter_context(served("askone.db")))
        )
    for name in set(sys.modules) - modules:  # what a reader saved: the next document may have one of that name
        if str(here) in str(vars(sys.modules[name]).get("__file__")):
            del sys.modules[name]


def test_pictures_are_small_and_used():
    pictures = {path.name for path in (ROOT / "docs" / "tutorials" / "pictures").iterdir()}
    text = "".join(path.read_text("utf-8") for path in WALKED)
    assert {name for name in pictures if f"pictures/{name}" not in text} == set()
    for path in (ROOT / "docs" / "tutorials" / "pictures").iterdir():
        assert path.stat().st_size < 150_000, path
