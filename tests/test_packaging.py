"""The sdist and the wheel made of it hold all there is, run where the sources are not, and need what is locked."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
ELSEWHERE = """
import asyncio, sys
from importlib.metadata import distribution, entry_points
import askone, httpx
from askone.server.app import create_app
from askone.store.open import open_store

assert askone.__file__.startswith(sys.argv[1]), askone.__file__
assert distribution("askone").version == askone.__version__
[command] = [one for one in entry_points(group="console_scripts") if one.name == "askone"]
assert command.load()(["new", "--store", "here.db", "--items", "tea,coffee,milk"]) == 0

async def answered(app, paths):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        return [(await client.get(path)).status_code for path in paths]

with open_store("here.db") as store:
    paths = ["/login", "/static/shared/style.css", "/static/languages/ar.json"]
    assert asyncio.run(answered(create_app(store), paths)) == [200] * 3
"""


def sources():
    """The files of the package, but for what Python and the tests leave beside them."""
    found = (path for path in (ROOT / "src" / "askone").rglob("*") if path.is_file())
    return {path.relative_to(ROOT / "src").as_posix() for path in found if "__pycache__" not in path.parts}


def built(what, tree, out):
    done = subprocess.run([sys.executable, "-c", BUILD, what, str(out)], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Made of the sdist, which is made of the sources: what either leaves out is missing."""
    folder = tmp_path_factory.mktemp("packed")
    for name in ("pyproject.toml", "README.md", "LICENSE", *(f"src/{one}" for one in sources())):
        copy = folder / "tree" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    sdist = built("build_sdist", folder / "tree", folder)
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    return built("build_wheel", folder / sdist.name.removesuffix(".tar.gz"), folder)


def test_the_wheel_holds_every_file(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    inside = {name for name in names if name.startswith("askone/")}
    assert inside == sources()
    assert {name.split("/", 1)[1] for name in names - inside} >= {"METADATA", "entry_points.txt", "licenses/LICENSE"}


def test_it_runs_where_the_sources_are_not(wheel, tmp_path):
    """A wheel without compiled code is installed by unpacking it."""
    site, place = tmp_path / "site", tmp_path / "place"
    place.mkdir()
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), "HOME": str(place), "NUMBA_DISABLE_JIT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    command = [sys.executable, "-P", "-c", ELSEWHERE, str(site)]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def locked():
    """Version and hashes of every library of the server's lock file; those of a name may differ by Python."""
    text = (ROOT / "requirements" / "server.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?=[a-z])", text[text.index("annotated-types") :]):
        name, version = re.match(r"([a-z0-9.-]+)==([^ ;]+)", block).groups()
        yield name, version, re.findall(r"--hash=sha256:[0-9a-f]{64}", block)


def test_everything_the_server_needs_is_locked():
    """`make lock` writes the file anew."""
    found = {}
    for name, version, hashes in locked():
        assert hashes, name
        found.setdefault(name, []).append(version)
    extras = PROJECT["optional-dependencies"]
    for text in (*PROJECT["dependencies"], *extras["server"], *extras["postgres"]):
        wanted = Requirement(text)
        assert canonicalize_name(wanted.name) in found, f"{wanted.name} is not locked: make lock"
        assert all(wanted.specifier.contains(one) for one in found[canonicalize_name(wanted.name)]), text


def test_releases_are_published_without_a_secret():
    """By what the publisher can prove of itself, from an environment of its own, with a list of what is inside."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "id-token: write" in text
    assert "secrets." not in text
    assert "password:" not in text
    for step in ("make dist", "make audit", "pypa/gh-action-pypi-publish"):
        assert step in text
