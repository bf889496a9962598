"""After a load: nothing that was acknowledged is lost, nothing is there twice, and the log gives the same model."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from killing import bits
from server_load import Record

from askone.campaign.campaign import Campaign
from askone.session.log import Answered, Asked
from askone.store.open import open_store
from askone.store.verification import verify


def checked(url: str, name: str, loads: Sequence[Record]) -> dict[str, Any]:
    """Counts of what went wrong, all of which should be 0; and whether the hash chain and the model are right."""
    with closing(open_store(url)) as store:
        positions: Counter[int] = Counter()
        given: Counter[str] = Counter()
        ids: Counter[str] = Counter()
        for entry in store.entries(name):
            if isinstance(entry.event, Asked):
                positions[int(entry.aside["position"])] += 1
            elif isinstance(entry.event, Answered):
                given[entry.event.asked] += 1
                ids[entry.event.id] += 1
        acknowledged = [one for load in loads for one in load.acknowledged]
        begin = time.perf_counter()
        same, lessons = _same(Campaign.open(store, name), Campaign.open(store, name, fresh=True))
        return {
            "answers": sum(ids.values()),
            "acknowledged": len(acknowledged),
            "lost": sum(one not in ids for one in acknowledged),
            "duplicates": sum(count - 1 for count in ids.values()) + len(acknowledged) - len(set(acknowledged)),
            "questions_answered_twice": sum(count > 1 for count in given.values()),
            "rows_asked_twice": sum(count > 1 for count in positions.values()),
            "rows_served_twice": sum(load.twice for load in loads),
            "chain_valid": verify(store, name).valid,
            "replay_same": same,
            "replay_lessons": lessons,
            "replay_seconds": time.perf_counter() - begin,
        }


def _same(live: Campaign, fresh: Campaign) -> tuple[bool, int]:
    """Whether the state that the server kept, continued, is the fold from the beginning, bit for bit."""
    return bits(live) == bits(fresh), len(fresh.book.lessons.all)


def faults(found: dict[str, Any]) -> list[str]:
    """What should not be."""
    zero = ("lost", "duplicates", "questions_answered_twice", "rows_asked_twice", "rows_served_twice")
    true = ("chain_valid", "replay_same")
    return [f"{name}: {found[name]}" for name in zero if found[name]] + [name for name in true if not found[name]]
