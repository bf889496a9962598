"""A turn: one writer at a time reads the end of a campaign's log and appends to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from askone.errors import DuplicateEvent, UnknownCampaign
from askone.store.connections import ENTRY_COLUMNS, SEAT_COLUMNS, Database, Session
from askone.store.entries import BEGINNING, Entry, Seat
from askone.store.packing import (
    Line,
    as_texts,
    packed_entries,
    packed_seat,
    seat_of,
)

# The last number by a subquery, which both databases read off the end of an index: sorting a join instead, PostgreSQL
# would read a campaign's whole log.
HEAD = """
SELECT c.id, e.seq, e.hash FROM campaigns c
LEFT JOIN entries e ON e.campaign = c.id AND e.seq = (SELECT max(seq) FROM entries WHERE campaign = c.id)
WHERE c.name = ?
"""
_TAIL = f"SELECT {ENTRY_COLUMNS} FROM entries WHERE campaign = ? AND seq > ? ORDER BY seq"
_KNOWN = f"SELECT {ENTRY_COLUMNS} FROM entries{{by}} WHERE campaign = ? AND id {{texts}}"
_SEATS = f"SELECT {SEAT_COLUMNS} FROM seats{{by}} WHERE campaign = ? AND "
_FREE = (
    f"SELECT {SEAT_COLUMNS} FROM seats WHERE campaign = ? AND (number, seat) > (?, ?) AND expires <= ? "
    "ORDER BY number, seat LIMIT ?"
)


@final
class Turn:
    """What the holder of a turn can do: each method is one statement, for as many things as are handed in."""

    def __init__(self, session: Session, database: Database, name: str) -> None:
        found = session.fetch(HEAD, (name,))
        if not found:
            raise UnknownCampaign(name)
        self._session, self._database = session, database
        self._campaign, seq, mark = found[0]
        self._seq: int = seq or 0
        self._hash: str = mark or BEGINNING

    @property
    def campaign(self) -> int:
        """The campaign's number, which no other has: a name may be used again."""
        number: int = self._campaign
        return number

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last entry."""
        return self._seq, self._hash

    def tail(self, after: int) -> list[Entry]:
        """What the log holds after an entry's number."""
        if after >= self._seq:
            return []
        found = self._session.fetch(_TAIL, (self._campaign, after))
        return [Line(*record).entry() for record in found]

    def known(self, ids: Sequence[str]) -> dict[str, Entry]:
        """The entries of these events, as far as the log has them."""
        if not ids:
            return {}
        as_texts("ids", ids)
        found = self._session.fetch(self._knowing(), (self._campaign, self._database.listed(ids)))
        return {record[1]: Line(*record).entry() for record in found}

    def seats(self, people: Sequence[str] = (), leases: Sequence[str] = (), numbers: Sequence[int] = ()) -> list[Seat]:
        """The seats that these people hold, or of these leases, or of these questions: any of them."""
        as_texts("people", people)
        as_texts("leases", leases)
        database = self._database
        wanted: list[tuple[str, str, Sequence[str] | Sequence[int]]] = [
            ("seats_by_person", f"person {database.among_texts}", people),
            ("seats_by_lease", f"lease {database.among_texts}", leases),
            ("", f"number {database.among_numbers}", numbers),
        ]
        given = [(database.by.format(index) if index else "", text, values) for index, text, values in wanted if values]
        if not given:
            return []
        query = " UNION ".join(_SEATS.format(by=by) + text for by, text, _ in given) + " ORDER BY 1, 2"
        values = [value for _, _, listed in given for value in (self._campaign, database.listed(listed))]
        found = self._session.fetch(query, values)
        return [seat_of(record) for record in found]

    def free(self, now: float, limit: int, after: tuple[int, int] = (-1, -1)) -> list[Seat]:
        """The first seats after one that nobody holds at ``now``, in the order of (number, seat)."""
        found = self._session.fetch(_FREE, (self._campaign, *after, now, limit))
        return [seat_of(record) for record in found]

    def write(
        self, entries: Sequence[Entry], put: Sequence[Seat] = (), drop: Sequence[tuple[int, int]] = ()
    ) -> list[Entry]:
        """Append entries, put seats (new, or in the place of the old one), drop seats; the entries with their places.

        A seat that is put and dropped is put.
        """
        records, placed = packed_entries(entries, self._seq, self._hash)
        as_texts("seats", [text for seat in put for text in (seat.person, seat.lease)])
        seats = {(seat.number, seat.seat): packed_seat(seat) for seat in put}
        gone = [place for place in dict.fromkeys(drop) if place not in seats]
        self._refuse_twice([entry.id for entry in placed])
        if not (records or seats or gone):
            return placed
        try:
            self._database.append(self._session, self._campaign, records, list(seats.values()), gone)
        except self._database.conflict as error:
            if not self._database.repeats(error):
                raise
            raise self._twice([entry.id for entry in placed]) from error
        if placed:
            self._seq, self._hash = placed[-1].seq, placed[-1].hash
        return placed

    def _refuse_twice(self, ids: list[str]) -> None:
        if len(set(ids)) < len(ids):
            raise DuplicateEvent(next(one for one in ids if ids.count(one) > 1))

    def _twice(self, ids: list[str]) -> DuplicateEvent:
        # Asked outside the transaction: after an error PostgreSQL's answers no question.
        found = self._database.read(self._knowing(), (self._campaign, self._database.listed(ids)))
        known = {record[1] for record in found if record[0] <= self._seq}
        return DuplicateEvent(next((one for one in ids if one in known), ids[0]))

    def _knowing(self) -> str:
        database = self._database
        return _KNOWN.format(by=database.by.format("entries_by_id"), texts=database.among_texts)
