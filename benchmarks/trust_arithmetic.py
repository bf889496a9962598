"""One arithmetic: hashes of states and questions by processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from page import grid

ROOT = Path(__file__).resolve().parents[1]
NO_AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
PROCESSORS = {
    "as it is": {},
    "x86-64 without extensions": {
        "NUMBA_CPU_NAME": "generic",
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": f"{NO_AVX512} AVX2 FMA3",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX2_Usable,-FMA_Usable",
    },
    "Haswell (AVX2)": {
        "NUMBA_CPU_NAME": "haswell",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": NO_AVX512,
    },
    "Skylake (AVX-512)": {"NUMBA_CPU_NAME": "skylake-avx512", "OPENBLAS_CORETYPE": "SkylakeX"},
}
QUICK = ("filters", "classes: classes", "order", "sgd: median")


def hashed(setting: dict[str, str], wanted: tuple[str, ...], cache: str) -> dict[str, list[str]]:
    """Return the hashes of every learner under a setting of the environment."""
    paths = os.pathsep.join(str(ROOT / part) for part in ("src", "tests/helpers"))
    command = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "helpers" / "folds.py"), *wanted]
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": cache, **setting}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def section(quick: bool) -> str:
    """Return whether states and questions are those of every other processor."""
    processors = dict(list(PROCESSORS.items())[:2]) if quick else PROCESSORS
    with tempfile.TemporaryDirectory() as fresh:  # what is kept may be of an older version; the tests know theirs
        cache = os.environ.get("NUMBA_CACHE_DIR", fresh) if quick else fresh
        found = {name: hashed(setting, QUICK if quick else (), cache) for name, setting in processors.items()}
    first = next(iter(found.values()))
    rows = []
    for name, hashes in found.items():
        same = sum(hashes[learner] == first[learner] for learner in first)
        blocks = sum("differ" not in "".join(one) for one in hashes.values())
        rows.append((name, f"{same} of {len(first)}", f"{blocks} of {len(first)}"))
    return f"""## One arithmetic

Claim: questions and states are the same bit for bit on every processor, for every size of block.  Each of {len(first)}
learners was asked and told row by row, and streamed whole and in blocks of 1 to 30 rows.

{grid(("processor", "learners with the same hashes", "the same in blocks"), rows)}"""
