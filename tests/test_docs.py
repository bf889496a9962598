"""The documents run: every Python block, and every value that a comment promises."""

import io
import re
import tomllib
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from askone import checks
from askone.cli.main import parser
from askone.estimators.learner_choices.base import MODELS
from askone.estimators.regressor import OneBitRegressor
from askone.labels.losses import LOSSES
from askone.learners.gradients import FAMILY_NAMES
from askone.learners.gradients.ranking import RANK_FAMILIES
from askone.learners.step_rules import AVERAGES, STEP_RULES
from walking import commands, run

ROOT = Path(__file__).resolve().parents[1]

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LEARNERS = OneBitRegressor._learners
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if path.parent.name not in ("tutorials", "recipes")], ids=named
)
def test_python_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(path.read_text())
    if any("import torch" in block for block in blocks):
        pytest.importorskip("torch", reason="this document uses torch")
    names: dict = {}
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        for block in blocks:
            run(block, names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_commands_have_the_options_that_documents_use(path):
    for words in commands(path):
        if words[0] == "askone" and not {"NAME", "..."} & set(words):
            parser().parse_args(words[1:])


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target


NAMED_FILE = re.compile(r"`([\w./-]+\.(?:py|pyi|js|md|yml|toml|txt))(?:: ([a-z_]\w*))?`")
WRITTEN = ("tutorials", "recipes")  # whose files the reader saves
FOLDERS = ("", "src/askone", "docs", "benchmarks", "tests")
FILES = {path.name: path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")}


@pytest.mark.parametrize(
    "path",
    [*(path for path in DOCUMENTS if path.parent.name not in WRITTEN), ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"],
    ids=named,
)
def test_files_that_are_named_are_there(path):
    """Where a folder goes before, as in tables of the architecture, the rest of the way is enough."""
    for match in NAMED_FILE.finditer(path.read_text()):
        name, member = match.groups()
        near = [ROOT / folder / name for folder in FOLDERS] + [
            one for one in (ROOT / "src").rglob(Path(name).name) if one.as_posix().endswith(f"/{name}")
        ]
        found = next((one for one in near if one.exists()), None if "/" in name else FILES.get(name))
        assert found is not None, f"there is no {name}"
        assert member is None or re.search(rf"^(def|class) {member}\b|^{member}\b", found.read_text(), re.MULTILINE), (
            match
        )


def test_every_choice_is_in_the_guide_and_the_readme():
    guide, readme = (ROOT / "docs" / "guide.md").read_text(), (ROOT / "README.md").read_text()
    for name in (*LOSSES, *FAMILY_NAMES, *MODELS, *STEP_RULES, *AVERAGES, *LEARNERS):
        assert f'"{name}"' in readme, name
        assert f'"{name}"' in guide, name
    for choice in LEARNERS.values():
        assert f"`{choice.__name__}" in readme, choice
        assert f"`{choice.__name__}" in guide, choice
    for name in RANK_FAMILIES:
        assert f'"{name}"' in guide, name
    for name in ("check_loss_gradient", "check_gradient_unbiased", "check_learner"):
        assert name in guide
        assert callable(vars(checks)[name])


def test_the_readmes_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_room_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    for path in (ROOT / "src" / "askone").iterdir():
        if path.name[:2] != "__" and path.name not in ("py.typed", "version.py"):
            assert f"`{path.name}{'/' if path.is_dir() else ''}" in text, path.name


def test_what_is_to_be_installed_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "Dockerfile", ROOT / "Makefile"]:
        for wanted in re.findall(r"pip install ([^\n`#]*)", path.read_text(encoding="utf-8")):
            # In a clone: by its name it would be looked for where it is not.
            assert "askone" not in re.sub(r"/\S*", "", wanted), f"{path.name}: pip install {wanted}"
    sources = [*DOCUMENTS, ROOT / "CHANGELOG.md", *(ROOT / "src").rglob("*.py"), ROOT / "Dockerfile", ROOT / "Makefile"]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"(?:pip install \S*?['\"]?(?:\.|askone)|askone)\[([a-z,]+)\]", text)
        named += re.findall(r"\(extras? ((?:`[a-z]+`(?:, )?)+)", text)
        for name in re.findall("[a-z]+", " ".join(named)):
            assert name in extras, f"{path.name} names the extra {name}"


def test_every_extra_is_among_the_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for extra in set(project["optional-dependencies"]) - {"dev"}:
        assert f"`{extra}`" in text or f"| {extra} (extra)" in text, extra
