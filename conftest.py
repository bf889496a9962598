"""What is set before anything is collected: threads, where compiled code is kept, and what cannot be collected.

Without an extra there is nothing to collect in the modules that are the door to it, nor in those behind it.
"""

import os
import random
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent


def compiled_sources() -> str:
    """Return a name for what is compiled: numba keeps code without looking at what it calls."""
    sources = (path.read_bytes() for path in sorted((ROOT / "src").rglob("*.py")))
    return sha256(b"".join(one for one in sources if b"jit" in one)).hexdigest()[:12]


# A worker is a thread: those of BLAS would wait for each other, at twice the time of processor and more.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
# Containers often forbid Python to keep compiled modules.  Then each of some hundred processes that tests start would
# compile all that it imports, which takes it several times as long as what it is there for.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(ROOT / ".numba" / "modules")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# One place for all workers and for the processes that tests start: nothing is compiled twice.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba" / compiled_sources()))
collect_ignore = ["docs/_site"]  # MkDocs loads what is in there
collect_ignore += (
    [] if find_spec("torch") else ["src/askone/learners/models/neural.py", "src/askone/estimators/network.py"]
)
collect_ignore += [] if find_spec("sqlalchemy") else ["src/askone/store"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """An option to let files come in another order, which no test may depend on."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="take files in an order by lot")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take files in an order by lot where that is wished; what is in one stays together."""
    seed = config.getoption("shuffle")
    if seed is not None:
        files = sorted({item.path for item in items})
        places = dict(zip(files, random.Random(seed).sample(range(len(files)), len(files)), strict=True))
        items.sort(key=lambda item: places[item.path])
