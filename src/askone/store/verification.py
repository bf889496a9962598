"""Is a log what was written?  Its chain of hashes, its numbers, the rows that it speaks of, and states kept of it.

>>> from askone.store.entries import Entry
>>> from askone.store.notices import Began
>>> from askone.store.open import open_store
>>> store = open_store("memory:")
>>> store.create("demo", "Demo", "ann", b"", lambda n, mark: Entry(Began("b", {}, n, mark)), [])
>>> verdict = verify(store, "demo")
>>> verdict.valid, verdict.entries, verdict.rows
(True, 1, 0)
>>> store.close()
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import final

from askone.errors import InvalidFile
from askone.session.log import Fitted
from askone.store._codec import Line, Packer, grown
from askone.store.entries import BEGINNING, chain
from askone.store.notices import Began, Grown
from askone.store.store import Store


@final
@dataclass(frozen=True)
class Verdict:
    """The result of a check: numbers of good entries and rows, and the first broken entry with the reason.

    ``head`` is the hash of the last good entry.  A log that was cut at its end is whole by itself: only who noted a
    head can tell.  ``damaged`` are states that are not as they were kept, by their numbers: nothing is lost,
    since whoever opens the campaign folds them anew, but a disk or a hand has changed what was written.
    """

    campaign: str
    entries: int
    rows: int
    head: str
    broken: int | None = None
    reason: str = ""
    damaged: tuple[int, ...] = ()
    unfitted: tuple[int, ...] = ()
    """Entries whose fit is missing or damaged: the model goes on without it."""

    @property
    def valid(self) -> bool:
        """Whether nothing is broken."""
        return self.broken is None and not self.damaged and not self.unfitted


def verify(store: Store, campaign: str) -> Verdict:
    """Check a campaign's log from its beginning, and rows, fits and kept states by their hashes."""
    before, seq = BEGINNING, 0
    marks: list[tuple[int, int, str]] = []
    unfitted: list[int] = []
    for line in store.lines(campaign):
        reason = _fault(line, seq + 1, before)
        if reason:
            return Verdict(campaign, seq, 0, before, seq + 1, reason)
        before, seq = line.hash, line.seq
        event = line.entry().event if line.kind in (Began.kind, Grown.kind, Fitted.kind) else None
        if isinstance(event, Fitted) and store.fit(campaign, event.hash) is None:
            unfitted.append(line.seq)
        if isinstance(event, Began | Grown):
            marks.append((line.seq, event.rows, event.fingerprint))
    if not marks:
        return Verdict(campaign, 0, 0, before, 1, "it is missing")
    rows, broken = _rows(store, campaign, marks)
    reason = "" if broken is None else "the rows are not those whose fingerprint it has"
    kept = (*store.snapshots(campaign), store.projection(campaign))
    damaged = tuple(abs(one.seq) for one in kept if one is not None and one.data is None)
    return Verdict(campaign, seq, rows, before, broken, reason, damaged, tuple(unfitted))


def _fault(line: Line, seq: int, before: str) -> str:
    """Return what is wrong with an entry at a place, or nothing."""
    if line.seq != seq:
        return "it is missing"
    if not hmac.compare_digest(chain(before, line.body).encode(), line.hash.encode()):
        return "its hash is not that of its text after the entry before"
    try:
        entry = line.entry()
    except InvalidFile as error:
        return str(error)
    said = (entry.seq, entry.id, entry.event.kind, entry.who, entry.at)
    if said != (line.seq, line.id, line.kind, line.who, line.at):
        return "its columns are not what its text says"
    if seq == 1 and line.kind != Began.kind:
        return "a log begins with the making of its campaign"
    return ""


def _rows(store: Store, campaign: str, marks: list[tuple[int, int, str]]) -> tuple[int, int | None]:
    """Return how many rows are as they were, and the first entry that speaks of others."""
    seen, whole = 0, ""
    for seq, count, fingerprint in marks:
        packer = Packer()
        for page in store.row_pages(campaign, after=seen - 1):
            packer.pack(0, page[: count - packer.count])
            if packer.count == count:
                break
        whole = packer.fingerprint if seq == 1 else grown(whole, packer.fingerprint)
        if packer.count != count or whole != fingerprint:
            return seen, seq
        seen += count
    more = store.campaign(campaign).rows > seen
    return seen, marks[-1][0] if more else None
