"""The whole suite, again and again, beside processes that are busy: `make stress`.

    python tests/stress.py [--runs 10] [--busy 4] [--workers 3] [--seed 0] [paths or options of pytest]

No test depends on speed or order: files come in another order each time, by the seed of the run, and every core has
twice as much to do as it can.  At the end it names each failure with the runs in which it was seen; what these said is
in a folder that is named at the beginning.  It ends with an error where anything failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_WRONG = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_TOTAL = re.compile(r"\d+ (?:passed|failed|error).* in [^\n=]*")


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Processes that do nothing, as fast as they can."""
    started = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def failures(said: str) -> list[str]:
    """Return the tests that failed, by what pytest said.

    >>> failures("..F\\nFAILED tests/a.py::test_b[1-x] - assert 0\\nERROR tests/c.py\\n1 failed, 2 passed in 3.1s")
    ['tests/a.py::test_b[1-x]', 'tests/c.py']
    """
    return sorted(set(_WRONG.findall(said)))


def run(seed: int, workers: int, more: Sequence[str], log: Path) -> tuple[list[str], str]:
    """Run the suite once; return what failed, and pytest's last words."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
    with log.open("w") as out:
        code = subprocess.run([*command, "--shuffle", str(seed), *more], cwd=ROOT, stdout=out, stderr=out).returncode
    said = log.read_text(errors="replace")
    total = _TOTAL.findall(said)
    wrong = failures(said)
    if code and not wrong:
        wrong = [f"pytest itself, which ended with {code}"]
    return wrong, total[-1] if total else "no result"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in {"runs": 10, "busy": 2 * (os.cpu_count() or 1), "workers": 3, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    chosen, more = parser.parse_known_args(given)
    folder = Path(tempfile.mkdtemp(prefix="askone-stress-"))
    print(f"what pytest says is kept in {folder}", flush=True)
    seen = defaultdict(list)
    with busy(chosen.busy):
        for number in range(1, chosen.runs + 1):
            begun, seed = time.monotonic(), chosen.seed + number
            wrong, total = run(seed, chosen.workers, more, folder / f"{number}.log")
            for name in wrong:
                seen[name].append(number)
            minutes, load = (time.monotonic() - begun) / 60, os.getloadavg()[1]
            print(f"run {number}, --shuffle {seed}, {minutes:.0f} min, load {load:.0f}: {total}", flush=True)
    clean = chosen.runs - len({number for numbers in seen.values() for number in numbers})
    print(f"{clean} of {chosen.runs} runs without a failure")
    for name, numbers in sorted(seen.items()):
        print(f"{name}: in {', '.join(map(str, numbers))}")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
