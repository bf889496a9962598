"""Every benchmark has a quick look at whether it works, which ends well, says something and writes nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
# What each one prints when it got to its end.
ENDS = {
    "bags": "# Several rows at once",
    "prices": "# Prices that earn while they are learnt",
    "stream": "## Memory of a feature model",
    "paper": "## The streams of the paper's runs",
    "efficiency": "# How many questions it takes",
    "untuned": "| two moons |",
    "data": "| seven classes (made) |",
    "people": "How the crowd is made",
    "privacy": "How the problems are made",
    "rankings": "How the comparisons are made",
    "rows": "| a step |",
    "thresholds": "| metabolic, beta 2 | askone ",
    "server": "No fault was found.",
    "trust": "## Numbers: answers that err",
    "drill": "Everybody was served.",
    "joining": "## People who join at once",
    "large": "## Campaigns of very many answers",
    "crashes": "nothing lost, nothing twice, live = replay",
    "soak": "Nothing lost, nothing twice, live = replay.",
}
# (The quick look at efficiency is tests/benchmarks/test_efficiency.py.)
RUNS = {name: [name] for name in ENDS if name != "efficiency"}
RUNS["server, large"] = ["server", "--only", "large"]
NEEDS = {
    "server": "uvicorn",
    "crashes": "uvicorn",
    "soak": "uvicorn",
    "drill": "uvicorn",
    "joining": "uvicorn",
    "efficiency": "matplotlib",
    "data": "lightgbm",
    "rankings": "choix",
}


def written() -> dict[Path, tuple[int, int]]:
    """Size and time of every file that a benchmark may rewrite."""
    found = [path for folder in (ROOT / "docs", FOLDER / "results") for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_every_benchmark_is_looked_at():
    own = {path.stem for path in FOLDER.glob("*.py") if "--quick" in path.read_text(encoding="utf-8")}
    assert own == set(ENDS)


@pytest.mark.parametrize("run", list(RUNS))
def test_a_quick_run_ends_well_and_writes_nothing(run: str, tmp_path: Path) -> None:
    name, *options = RUNS[run]
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"the benchmark {name} needs {NEEDS[name]}")
    before = written()
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--quick", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ENDS[name] in done.stdout
    if name == "trust":
        assert len(re.findall("^## ", done.stdout, re.MULTILINE)) == len(list(FOLDER.glob("trust_*.py")))
    assert written() == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("broken", [False, True])
def test_without_a_compiler_there_is_no_c_loop_and_a_line_says_so(broken, part, monkeypatch, tmp_path):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # the script sets them: they are put back
    stream = part("stream")
    if broken:
        compiler = tmp_path / "cc"
        compiler.write_text("#!/bin/sh\nexit 1\n")
        compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    libraries, why = stream.compiled(tmp_path)
    assert libraries == {}
    assert ("could not compile stream.c" if broken else "no compiler (cc, gcc, clang) found") in why
    problem = stream.Problem(stream.SIZES[0], 10)
    row = stream.row_of(problem, {("weather", "askone"): [2.0, 1.0], ("weather", "numpy"): [9.0]})
    assert (row["askone"], row["c"], row["ratio"], row["verdict"]) == (1.0, None, None, "no compiler")
