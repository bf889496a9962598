"""Every example runs, anywhere, and has something to say; notebooks are kept without what they show."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def named(path):
    return path.name


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=named)
def test_examples_run(path, tmp_path):
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_notebooks_run(path, tmp_path):
    """In a process of its own, by a real kernel."""
    pytest.importorskip("ipykernel", reason="notebooks need a kernel")
    pytest.importorskip("nbclient", reason="notebooks need nbclient")
    script = (
        "import sys, jupyter_client, nbclient, nbformat\n"
        "notebook = nbformat.read(sys.argv[1], as_version=4)\n"
        # By files, not by ports: one that is free when it is chosen may be a server's when the kernel takes it.
        "kernel = jupyter_client.AsyncKernelManager(kernel_name='python3', transport='ipc')\n"
        "nbclient.NotebookClient(notebook, km=kernel, timeout=1200).execute()\n"
        "print(sum(bool(cell.get('outputs')) for cell in notebook.cells))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path], cwd=tmp_path, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_notebooks_are_kept_without_outputs(path):
    notebook = pytest.importorskip("nbformat", reason="notebooks need nbformat").read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
