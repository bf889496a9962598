"""The same questions and states, bit for bit, on every processor and for every size of block.

Hashes are kept in tests/data/folds.json.  Where an algorithm changes on purpose they are written anew by
``PYTHONPATH=src:tests/helpers python tests/helpers/folds.py > tests/data/folds.json``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = json.loads((ROOT / "tests" / "data" / "folds.json").read_text(encoding="utf-8"))
MAIN = (
    "filters", "filters, diagonal", "interval", "classes: classes", "classes: costs", "order", "sgd: median",
    "sgd: average uniform", "least squares", "mixture", "mixture, kernel",
    "mixture, classes",
)  # fmt: skip
NO_AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
SETTINGS = {
    "as it is": ({"OMP_NUM_THREADS": "", "OPENBLAS_NUM_THREADS": ""}, ()),  # with threads, unlike all other tests
    "x86-64 without extensions": (
        {
            "NUMBA_CPU_NAME": "generic",
            "OPENBLAS_CORETYPE": "Prescott",
            "NPY_DISABLE_CPU_FEATURES": f"{NO_AVX512} AVX2 FMA3",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX2_Usable,-FMA_Usable",
        },
        MAIN,
    ),
    "haswell": (
        {"NUMBA_CPU_NAME": "haswell", "OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": NO_AVX512}, MAIN
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_questions_and_states_are_those_that_are_kept(name):
    setting, wanted = SETTINGS[name]
    if not (sys.platform == "linux" and os.uname().machine == "x86_64") and wanted:
        pytest.skip("names of processors are those of x86-64")
    paths = os.pathsep.join(str(ROOT / part) for part in ("src", "tests/helpers"))
    environment = {**os.environ, "PYTHONPATH": paths, **setting}
    command = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "helpers" / "folds.py"), *wanted]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found == {name: KEPT[name] for name in (wanted or KEPT)}
