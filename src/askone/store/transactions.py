"""A transaction: one writer at a time reads the end of a campaign's log and appends to it.

What ``Transaction.write`` was given is durable at the end of ``Store.transaction``'s block, where
``Database.transaction`` (``_database.py``) runs COMMIT: an answer is acknowledged after that and not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from askone.errors import DuplicateEvent, UnknownCampaign
from askone.store._codec import Line, as_texts, packed_entries, packed_seat, seat_of
from askone.store._database import ENTRY_COLUMNS, SEAT_COLUMNS, Database, Record, Session, Values
from askone.store.entries import BEGINNING, Entry, Seat

# The last number by a subquery, which both databases read off the end of an index: sorting a join instead, PostgreSQL
# would read a campaign's whole log.
HEAD = """
SELECT c.id, e.seq, e.hash FROM campaigns c
LEFT JOIN entries e ON e.campaign = c.id AND e.seq = (SELECT max(seq) FROM entries WHERE campaign = c.id)
WHERE c.name = ?
"""
_TAIL = f"SELECT {ENTRY_COLUMNS} FROM entries WHERE campaign = ? AND seq > ? ORDER BY seq"
_SEATS = f"SELECT {SEAT_COLUMNS} FROM seats{{by}} WHERE campaign = ? AND "
_FREE = (
    f"SELECT {SEAT_COLUMNS} FROM seats WHERE campaign = ? AND (number, seat) > (?, ?) AND expires <= ? "
    "ORDER BY number, seat LIMIT ?"
)
PUT_FIT = "INSERT INTO fits VALUES (?, ?, ?) ON CONFLICT (campaign, hash) DO UPDATE SET data = excluded.data"


Query = tuple[str, Values]


def known_query(database: Database) -> str:
    """Return the query for a campaign's entries by their ids."""
    by = database.by.format("entries_by_id")
    return f"SELECT {ENTRY_COLUMNS} FROM entries{by} WHERE campaign = ? AND id {database.among_texts}"


@final
class Prefetched(NamedTuple):
    """What a transaction begins with (see ``Transaction.look``)."""

    tail: list[Entry]
    known: dict[str, Entry]
    seats: list[Seat]
    free: list[Seat]


@final
class Transaction:
    """What the holder of a transaction can do: each method is one round trip, for as many things as are handed in."""

    def __init__(self, session: Session, database: Database, name: str) -> None:
        found = session.fetch(HEAD, (name,))
        if not found:
            raise UnknownCampaign(name)
        self._session, self._database = session, database
        number, seq, mark = found[0]
        self.campaign: int = number
        """The campaign's number, which no other has: a name may be used again."""
        self._seq: int = seq or 0
        self._hash: str = mark or BEGINNING

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last entry."""
        return self._seq, self._hash

    def tail(self, after: int) -> list[Entry]:
        """Return what the log holds after an entry's number."""
        return self._entries(self._fetch(self._tail(after)))

    def known(self, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the entries of these events, as far as the log has them."""
        return {entry.id: entry for entry in self._entries(self._fetch(self._known(ids)))}

    def seats(self, people: Sequence[str] = (), leases: Sequence[str] = (), numbers: Sequence[int] = ()) -> list[Seat]:
        """Return the seats that these people hold, or of these leases, or of these questions: any of them."""
        return [seat_of(record) for record in self._fetch(self._seats(people, leases, numbers))]

    def free(self, now: float, limit: int, after: tuple[int, int] = (-1, -1)) -> list[Seat]:
        """Return the first seats after one that nobody holds at ``now``, in the order of (number, seat)."""
        return [seat_of(record) for record in self._fetch(self._free(now, limit, after))]

    def look(
        self, after: int, ids: Sequence[str], people: Sequence[str], leases: Sequence[str], now: float, limit: int
    ) -> Prefetched:
        """Return ``tail``, ``known``, ``seats`` and the first page of ``free`` at once."""
        queries = (self._tail(after), self._known(ids), self._seats(people, leases, ()), self._free(now, limit))
        answers = iter(self._session.several([query for query in queries if query is not None]))
        tail, known, seats, free = ([] if query is None else next(answers) for query in queries)
        entries = {entry.id: entry for entry in self._entries(known)}
        return Prefetched(self._entries(tail), entries, [seat_of(one) for one in seats], [seat_of(one) for one in free])

    def _fetch(self, query: Query | None) -> list[Record]:
        return [] if query is None else self._session.fetch(*query)

    def _entries(self, records: Sequence[Record]) -> list[Entry]:
        return [Line(*record).entry() for record in records]

    def _tail(self, after: int) -> Query | None:
        return None if after >= self._seq else (_TAIL, (self.campaign, after))

    def _known(self, ids: Sequence[str]) -> Query | None:
        as_texts("ids", ids)
        return (known_query(self._database), (self.campaign, self._database.listed(ids))) if ids else None

    def _seats(self, people: Sequence[str], leases: Sequence[str], numbers: Sequence[int]) -> Query | None:
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
            return None
        query = " UNION ".join(_SEATS.format(by=by) + text for by, text, _ in given) + " ORDER BY 1, 2"
        return query, [value for _, _, listed in given for value in (self.campaign, database.listed(listed))]

    def _free(self, now: float, limit: int, after: tuple[int, int] = (-1, -1)) -> Query:
        return _FREE, (self.campaign, *after, now, limit)

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
        ids = [entry.id for entry in placed]
        if len(set(ids)) < len(ids):
            raise DuplicateEvent(next(one for one in ids if ids.count(one) > 1))
        if not (records or seats or gone):
            return placed
        try:
            self._database.append(self._session, self.campaign, records, list(seats.values()), gone)
        except self._database.conflict as error:
            if not self._database.repeats(error):
                raise
            raise self._twice(ids) from error
        if placed:
            self._seq, self._hash = placed[-1].seq, placed[-1].hash
        return placed

    def keep_fit(self, name: str, data: bytes) -> None:
        """Keep a fit that an entry speaks of, under its hash."""
        self._session.run(PUT_FIT, (self.campaign, name, data))

    def retitle(self, title: str) -> None:
        """Give the campaign another title, with the entry that says so."""
        as_texts("title", [title])
        self._session.run("UPDATE campaigns SET title = ? WHERE id = ?", (title, self.campaign))

    def _twice(self, ids: list[str]) -> DuplicateEvent:
        # Asked outside the transaction: after an error PostgreSQL's answers no question.
        found = self._database.read(known_query(self._database), (self.campaign, self._database.listed(ids)))
        known = {record[1] for record in found if record[0] <= self._seq}
        return DuplicateEvent(next((one for one in ids if one in known), ids[0]))
