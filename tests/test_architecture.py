"""What ``import askone`` loads, what it exports, and how the code is written."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from inspect import signature
from pathlib import Path

import askone
from askone.estimators.loading import ESTIMATORS

SOURCE = Path(askone.__file__).parent
ROOT = Path(__file__).resolve().parents[1]


@cache
def trees():
    """All modules, read once."""
    return {path: ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}


def test_importing_askone_loads_no_heavy_library():
    heavy = ("torch", "matplotlib", "starlette", "sqlalchemy")
    code = f"import askone, sys; print([m for m in {heavy!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_processes_that_tests_start_find_compiled_modules():
    """Without that each of them compiles all that it imports, where the environment forbids to keep it."""
    code = "import sys; print(sys.dont_write_bytecode)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_exports_are_exact_and_sorted():
    assert sorted(askone.__all__) == askone.__all__
    assert all(getattr(askone, name) is not None for name in askone.__all__)


def test_house_rules():
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "hasattr", path
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, path
                assert not (isinstance(node.type, ast.Name) and node.type.id == "Exception"), path
        assert "utils" not in path.stem, path


def test_classes_are_abstract_or_final():
    looked_at = [(path, tree) for path, tree in trees().items() if path.name != "errors.py"]
    classes = [(path, node) for path, tree in looked_at for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = {ast.unparse(base).split("[")[0].rpartition(".")[2] for _, node in classes for base in node.bases}
    for path, node in classes:
        decorators = {ast.unparse(d).split("(")[0] for d in node.decorator_list}
        extended = node.name in bases or node.name == "InputScaleWarning"
        extended = extended or "Protocol" in {ast.unparse(base) for base in node.bases}
        assert extended != ("final" in decorators), f"{path.name}: {node.name}"


def test_no_estimator_has_more_than_14_arguments():
    for estimator in ESTIMATORS.values():
        assert len(signature(estimator).parameters) <= 14, estimator


def test_the_documents_name_files_that_exist():
    for document in ("architecture.md", "design.md"):
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        for name in re.findall(r"`((?:[a-z_0-9]+/)+(?:[a-z_0-9]+\.pyi?)?)", text):
            rooms = (
                ROOT,
                SOURCE,
                *(SOURCE / room for room in ("campaign", "cli", "estimators", "learners", "paper", "server", "store")),
            )
            assert any((room / name).exists() for room in rooms), f"{document}: {name}"


def test_private_modules_are_imported_inside_their_folder_alone():
    for path, tree in trees().items():
        own = ".".join(("askone", *path.relative_to(SOURCE).parent.parts))
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("askone."):
                continue
            for module in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                folder, _, name = module.rpartition(".")
                if name.startswith("_") and (SOURCE.parent / Path(*folder.split("."), f"{name}.py")).exists():
                    assert f"{own}.".startswith(f"{folder}."), f"{path}: {module}"


def test_a_class_has_a_name_of_its_own():
    names = Counter(node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
