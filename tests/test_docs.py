"""The documents run: every Python block, and every value that a comment promises."""

import ast
import io
import re
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from askone import checks
from askone.estimators.learner_choices.base import MODELS
from askone.estimators.regressor import OneBitRegressor
from askone.labels.losses import LOSSES
from askone.learners.gradients import FAMILY_NAMES
from askone.learners.gradients.ranking import RANK_FAMILIES
from askone.learners.step_rules import AVERAGES, STEP_RULES

ROOT = Path(__file__).resolve().parents[1]

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LEARNERS = OneBitRegressor._learners
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run(block: str, names: dict) -> None:
    lines = block.splitlines()
    for node in ast.parse(block).body:
        promised = re.search(r"# -> (.*)$", lines[node.end_lineno - 1])
        source = compile(ast.Module([node], []), "<document>", "exec")
        if promised and isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), "<document>", "eval"), names)
            assert str(value) == promised[1].strip(), ast.unparse(node)
        else:
            exec(source, names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(path.read_text())
    if any("import torch" in block for block in blocks):
        pytest.importorskip("torch", reason="this document uses torch")
    names: dict = {}
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        for block in blocks:
            run(block, names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target


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
    for target in re.findall(r"`?make ([a-z-]+)", "".join(path.read_text() for path in DOCUMENTS)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_room_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    for path in (ROOT / "src" / "askone").iterdir():
        if path.name[:2] != "__" and path.name not in ("py.typed", "version.py"):
            assert f"`{path.name}{'/' if path.is_dir() else ''}" in text, path.name
