"""askone demo: three campaigns on a server, or one in the terminal."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from rich.console import Console

from askone.cli.console import say
from askone.cli.demo.headless import headless
from askone.cli.demo.run import Demo, run


def run_demo(chosen: argparse.Namespace, console: Console) -> int:
    """Show what askone does."""
    answers: dict[str, Any] = {} if chosen.answers is None else {"answers": chosen.answers}
    if chosen.headless:
        return headless(**answers, console=console)
    demo = Demo(chosen.host, chosen.port, chosen.store, seconds=chosen.seconds_per_answer, **answers)
    return run(demo, partial(say, console))
