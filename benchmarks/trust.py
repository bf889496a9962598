"""Numbers one can believe: everything that askone tells people of itself, held against what is true.

    python benchmarks/trust.py [--only NAME ...]     some or all sections anew; writes docs/trust.md
    python benchmarks/trust.py --quick               seconds each, with few repetitions; prints and writes nothing

A section is a module ``trust_<name>.py`` beside this one with a function ``section(quick)``, which returns Markdown:
a heading, what was claimed, a table of what was found.  Sections are kept in results/trust, so that one of them can be
measured anew without the others.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence

from page import HERE, arguments, machine, taken_with

KEPT = HERE / "results" / "trust"
PAGE = HERE.parent / "docs" / "trust.md"
SECTIONS = tuple(sorted(path.stem.removeprefix("trust_") for path in HERE.glob("trust_*.py")))
INTRODUCTION = """# Numbers one can believe

What askone says of itself (a measured error, an interval, "target reached", "bit for bit"), held against what is true
in simulations where the truth is known. Written by `make bench-trust`; each section says when and with what.
"""


def measured(name: str, quick: bool) -> str:
    """Return a section, with the time and the machine that it was measured with."""
    begun = time.perf_counter()
    found = importlib.import_module(f"trust_{name}").section(quick)
    minutes = (time.perf_counter() - begun) / 60
    return f"{found.strip()}\n\n*{taken_with(machine())}; {minutes:.1f} minutes.*\n"


def main(given: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__, quick=False)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="sections to measure anew")
    chosen = parser.parse_args(given)
    for name in chosen.only:
        found = measured(name, chosen.quick)
        print(found, flush=True)
        if not chosen.quick:
            KEPT.mkdir(parents=True, exist_ok=True)
            (KEPT / f"{name}.md").write_text(found, encoding="utf-8")
    if not chosen.quick:
        kept = [path.read_text(encoding="utf-8") for path in sorted(KEPT.glob("*.md"))]
        PAGE.write_text("\n".join([INTRODUCTION, *kept]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
