"""A process that only sleeps and wakes: how late it wakes is the machine's own delay, whatever servers do.

It ends with its input, and prints each delay as [seconds of the monotonic clock, seconds too late].
"""

from __future__ import annotations

import json
import select
import sys
import time

STEP, NOTED = 0.02, 0.05
"""Seconds: how long it sleeps, and how late it wakes when that is noted."""


def main() -> None:
    notes, over, before = [], False, time.monotonic()
    while not over:
        over = bool(select.select([sys.stdin], [], [], STEP)[0])
        now = time.monotonic()
        if now > before + STEP + NOTED:
            notes.append([now, now - before - STEP])
        before = now
    print(json.dumps(notes))


if __name__ == "__main__":
    main()
