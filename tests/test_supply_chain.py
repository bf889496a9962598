"""What the project is made of: no code from files, no secrets, nothing from elsewhere; how it is packed."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from askone.cli.main import parser
from askone.server.app import ROUTES

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted(path for path in (ROOT / "src/askone/server/web").rglob("*") if path.is_file())


def trees():
    for path in SOURCES:
        yield path, ast.parse(path.read_text())


def called(node):
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


# -- code ---------------------------------------------------------------------------------------------


def test_nothing_that_is_loaded_can_run():
    """No pickle or what is built on it, no evaluation of texts, no shell; arrays are read without objects."""
    modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "imp", "code", "codeop", "pty", "yaml", "xml"}
    calls = {
        "eval",
        "exec",
        "compile",
        "__import__",
        "os.system",
        "os.popen",
        "joblib.load",
        "torch.load",
        "np.fromfile",
    }
    for path, tree in trees():
        for node in ast.walk(tree):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            # A spreadsheet is XML: it is read once all of it is known to define nothing.
            known = {"xml"} if path.name == "_spreadsheet.py" else set()
            assert not {name.split(".")[0] for name in names} & modules - known, (path, names)
            assert called(node) not in calls, (path, node.lineno)
            if isinstance(node, ast.Call):
                given = {one.arg: ast.unparse(one.value) for one in node.keywords}
                assert given.get("shell") != "True", (path, node.lineno)
                assert given.get("allow_pickle") != "True", (path, node.lineno)
                if called(node) == "np.load":
                    assert given["allow_pickle"] == "False", (path, node.lineno)


WRITTEN = {
    "_ID", "_TOKEN", "_ROW", "ENTRY_COLUMNS", "SEAT_COLUMNS", "CHUNK", "PAGE", "pragma", "columns", "column",
    "table", "places", "', '.join(record)", "where", "only", "by", "among", "upto", "lock_number(lock)",
    "database.among_texts", "ADD_CAMPAIGN", "PUT_OVER",
}  # fmt: skip
"""What statements are put together from: all of it is written in the sources, none of it comes from outside."""


def test_statements_are_put_together_from_our_own_words_alone():
    """No text of a person's becomes part of a statement: values go beside it."""
    verbs = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|WHERE|FROM|VALUES|BEGIN)\b")
    strange = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and verbs.search(ast.unparse(node)):
                parts = [ast.unparse(one.value) for one in node.values if isinstance(one, ast.FormattedValue)]
                strange += [(path.name, node.lineno, part) for part in parts if part not in WRITTEN]
            if isinstance(node, ast.Call) and called(node).endswith((".format", "%")):
                assert not verbs.search(ast.unparse(node.func)), (path, node.lineno)
    assert strange == []


def test_bandit_is_part_of_the_checks():
    """`make check` runs it; what it is told to pass over is named, with the reason, where it is told."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert any(one.startswith("bandit") for one in settings["project"]["optional-dependencies"]["dev"])
    assert "bandit -q -c pyproject.toml -r src" in (ROOT / "Makefile").read_text()
    assert set(settings["tool"]["bandit"]["skips"]) == {"B101", "B104", "B105", "B106", "B311", "B608"}


# -- secrets ------------------------------------------------------------------------------------------

SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b"
    r"|\bxox[abprs]-[A-Za-z0-9-]{9,}|\bask1_[A-Za-z0-9_-]{43}|\bwhsec_[A-Za-z0-9_-]{43}|\beyJ[A-Za-z0-9_-]{10,}\.eyJ|\bAIza[0-9A-Za-z_-]{35}\b"
    r"|\b(sk|rk)_live_[0-9a-zA-Z]{24}|\bpypi-[A-Za-z0-9_-]{50,}|\$argon2id\$v=\d+\$[^\s'\"]{20,}"
)
DSN = re.compile(r"\b[a-z]+(?:\+[a-z]+)?://[^\s:/@'\"]+:([^\s@'\"{}]+)@")
MADE_UP = {"canary", "secret", "p", "pw", "pass", "hunter2", "word", "password", "s3cret", "***", "PASSWORD"}
"""Passwords in addresses of tests and examples."""


def ours():
    """The files that are part of the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and ".git" not in path.parts and not any(part.startswith(".venv") for part in path.parts)
    ]


def test_no_secrets_in_the_repository():
    found = []
    for path in ours():
        if not path.is_file() or path.stat().st_size > 2_000_000:
            continue
        made_up = path.is_relative_to(ROOT / "tests" / "data")  # stores of people who do not exist
        text = "" if made_up else path.read_bytes().decode("utf-8", "replace")
        found += [(path.name, one[0][:12]) for one in SECRETS.finditer(text)]
        found += [(path.name, one[0]) for one in DSN.finditer(text) if one[1] not in MADE_UP]
        assert path.name not in (".env", "id_rsa", "credentials.json"), path
        assert made_up or path.suffix not in (".pem", ".key", ".p12", ".db", ".sqlite"), path
    assert found == []


def test_the_patterns_find_secrets():
    """A test that never fails tests nothing."""
    for text in ("ask1_" + "aB3_" * 10 + "xyz", "AKIA" + "ABCDEFGH12345678", "-----BEGIN RSA " + "PRIVATE KEY-----"):
        assert SECRETS.search(f"x = '{text}'")
    assert DSN.search("postgresql://ann:realone" + "@db/x")[1] == "realone"


# -- nothing from elsewhere ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_name_no_other_place(path):
    """No script, style, font or picture of another server; names of vocabularies and an example alone look like one."""
    text = path.read_bytes().decode("utf-8", "replace")
    places = set(re.findall(r"(?:https?:)?//[\w-]+(?:\.[\w-]+)+[^\s\"'`)<]*", text))
    assert {place for place in places if not place.startswith(("http://www.w3.org/", "https://example.org"))} == set()


# -- the container ------------------------------------------------------------------------------------


def instructions():
    text = (ROOT / "Dockerfile").read_text()
    lines = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return [tuple(line.split(None, 1)) for line in lines.splitlines() if line.strip()]


def test_the_container_is_nobody_and_holds_nothing():
    """Not root, from named images, without secrets or downloads of its own, one place to write to, and a pulse."""
    said = instructions()
    of = lambda verb: [rest for name, rest in said if name == verb]  # noqa: E731
    assert {name for name, _ in said} <= {
        "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD",
    }  # fmt: skip
    for image in of("FROM"):
        assert re.match(r"python:\d+\.\d+-slim-\w+", image), image
    last = max(i for i, (name, _) in enumerate(said) if name == "FROM")
    assert of("USER") == ["10001:10001"]
    user = next(i for i, (name, _) in enumerate(said) if name == "USER")
    assert user > last
    assert not [name for name, _ in said[user:] if name in ("RUN", "COPY")]
    assert of("VOLUME") == ["/data"]
    for name, place in re.findall(r"(HOME|NUMBA_CACHE_DIR|ASKONE_STORE)=(\S+)", " ".join(of("ENV"))):
        assert place == "/data" or place.startswith("/data/"), name
    assert not re.search(r"(?i)(password|secret|token|key)\s*=", (ROOT / "Dockerfile").read_text())
    assert not re.search(r"\b(curl|wget|sudo|ssh|git clone)\b", " ".join(of("RUN")))
    assert all("--require-hashes" in line for line in of("RUN") if "pip install" in line)
    assert "chmod 777" not in " ".join(of("RUN"))
    [pulse] = of("HEALTHCHECK")
    assert "/health/live" in pulse
    assert "/health/live" in {row.path for row in ROUTES if row.access.public}
    assert parser().parse_args(ast.literal_eval(of("CMD")[0])).host == "0.0.0.0"


def test_only_what_is_named_goes_into_the_container():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[1] == "*"
    named = {line[1:] for line in lines if line.startswith("!")}
    assert named == {"pyproject.toml", "README.md", "LICENSE", "requirements", "src"}
    copied = {
        part for name, rest in instructions() if name == "COPY" and "--from" not in rest for part in rest.split()[:-1]
    }
    assert copied == named


WATCHED = """
import os, sys, time
allowed = tuple(os.path.realpath(place) for place in sys.argv[1:3]) + ("/dev/",)
written = []

def watch(event, given):
    if event == "open" and isinstance(given[0], str):
        path, mode, flags = given
        if (mode and set(mode) & set("wax+")) or (flags and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            written.append(os.path.realpath(path))
    if event in ("os.mkdir", "os.rename", "os.remove"):
        at = given[2] if event == "os.rename" else given[-1]  # an open folder that the name is of, or -1
        folder = os.readlink(f"/proc/self/fd/{at}") if at >= 0 else os.getcwd()
        written.append(os.path.realpath(os.path.join(folder, given[0])))

sys.addaudithook(watch)
from sites import Site
from pathlib import Path
site = Site(Path(sys.argv[1]))
client = site.token("annotator")
for n in range(2):
    body = {"lease": site.question(client)["lease"], "answer": True, "id": f"a-{n}"}
    assert client.post("/api/v1/campaigns/drinks/answers", json=body).status_code == 200
manager = site.token("manager")
for what in ("answers", "model", "backup"):
    assert manager.get(f"/api/v1/campaigns/drinks/export/{what}").status_code == 200
sent = manager.post("/api/v1/uploads", content=b"a,b\\n1,2\\n3,4\\n", headers={"X-File-Name": "t.csv"})
assert sent.status_code == 201
site.close()
assert any(path.endswith("askone.db") for path in written)
print([path for path in written if not path.startswith(allowed)])
"""


def test_nothing_is_written_but_in_the_volume(tmp_path):
    """A root file system that is read-only does no harm: all writing is beside the database, or temporary."""
    volume, spare = tmp_path / "data", tmp_path / "tmp"
    volume.mkdir()
    spare.mkdir()
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests' / 'helpers'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(volume), "TMPDIR": str(spare), "NUMBA_DISABLE_JIT": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(volume), str(spare)], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr[-2000:]


# -- reports ------------------------------------------------------------------------------------------


def test_weaknesses_are_reported_in_private_and_fixes_are_listed():
    policy, changes = (ROOT / "SECURITY.md").read_text(), (ROOT / "CHANGELOG.md").read_text()
    assert "in private" in policy
    assert "not as a public issue" in policy
    newest = changes.split("\n## ")[1]
    assert re.search(r"^Security$", newest, re.M)


def test_the_tests_that_the_policy_names_are_there():
    named = set(re.findall(r"test_\w+\.py", (ROOT / "SECURITY.md").read_text()))
    assert named
    assert named <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}
