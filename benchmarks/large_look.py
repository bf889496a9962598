"""What a process takes to open a campaign or to answer in it, for large.py: python large_look.py STORE WHAT."""

from __future__ import annotations

import json
import re
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Next
from askone.store.open import open_store

NAME, PEOPLE = "prices", 20


def looked(path: str, what: str) -> dict[str, float]:
    """Return what opening takes ("kept", "fresh"), or answering ("turns")."""
    with closing(open_store(path)) as store:
        before, begin, clock = _memory("VmRSS"), time.process_time(), time.perf_counter()
        campaign = Campaign.open(store, NAME, fresh=what == "fresh")
        cpu, seconds = time.process_time() - begin, time.perf_counter() - clock
        found = {"cpu": cpu, "seconds": seconds, "before_mib": before, "peak_mib": _memory("VmHWM")}
        return found | (_turns(campaign) if what == "turns" else {})


def _memory(name: str) -> float:
    """MiB that this process holds, or held at most."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _turns(campaign: Campaign, turns: int = 1000) -> dict[str, float]:
    now, people = 1e9, [f"p{i:03}" for i in range(PEOPLE)]
    held = {who: campaign.serve([Next(who)], now)[0].question for who in people}  # type: ignore[union-attr]
    took = []
    for turn in range(turns):
        who, now = people[turn % PEOPLE], now + 0.1
        answer = Answer(who, held[who].lease, turn % 2 == 0, f"t-{campaign.projection.seq}", 1.0)
        begin = time.process_time()
        [served] = campaign.serve([answer], now, learn=False)
        took.append(time.process_time() - begin)
        held[who] = served.question  # type: ignore[union-attr]
        campaign.learn()
    return {"turn_p50_ms": 1e3 * float(np.median(took)), "turn_p95_ms": 1e3 * float(np.quantile(took, 0.95))}


if __name__ == "__main__":
    print(json.dumps(looked(*sys.argv[1:])))
