"""Seats of a campaign during one transaction: who holds which question, and what is to be written of that.

A question without an answer has a seat for each person who is to answer it; a seat that is not held, or whose lease
has run out, goes to whoever comes next, with the question that was asked.  So a row is asked once.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import final

from askone.campaign.engine.projection import Projection
from askone.store.entries import Seat
from askone.store.transactions import Transaction

_PAGES, _MANY = 5, 500


def fresh_lease() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_urlsafe(16)


@final
class Leases:
    """See the module.  ``found`` are the seats that people of the batch hold, ``free`` the first ``page`` free ones."""

    def __init__(
        self,
        projection: Projection,
        transaction: Transaction,
        found: Sequence[Seat],
        free: Sequence[Seat],
        page: int,
        now: float,
        lease: float,
    ) -> None:
        self._projection, self._transaction = projection, transaction
        self._page, self._now, self._lease = page, now, lease
        self.here = {(seat.number, seat.seat): seat for seat in found}
        self.changed: dict[tuple[int, int], Seat] = {}
        self.dropped: set[tuple[int, int]] = set()
        self._free: list[Seat] = []
        self._after: tuple[int, int] | None = None
        self._add_page(free)

    # -- changes ----------------------------------------------------------------------------------

    def put(self, seat: Seat) -> Seat:
        """Return a seat that is new or has changed."""
        place = (seat.number, seat.seat)
        self.here[place] = self.changed[place] = seat
        self.dropped.discard(place)
        return seat

    def leave(self, seat: Seat, free: bool = False) -> None:
        """A seat that is no longer; ``free``: it is for somebody else, if its question is still open."""
        if free and seat.number not in self._projection.closed:
            self.put(Seat(seat.number, seat.seat, seat.position))
            return
        place = (seat.number, seat.seat)
        self.here.pop(place, None)
        self.changed.pop(place, None)
        self.dropped.add(place)

    def give(self, seat: Seat, person: str) -> Seat:
        """Return a seat for somebody, or for longer if they have it."""
        expires = self._now + self._lease
        if seat.person == person and seat.lease:
            return self.put(replace(seat, expires=expires))
        return self.put(Seat(seat.number, seat.seat, seat.position, person, fresh_lease(), expires))

    def reseat(self, numbers: Sequence[int], seq: int) -> None:
        """Each of these questions has as many seats as it lacks answers, unless others hold more of them."""
        here: dict[int, list[Seat]] = {number: [] for number in numbers}
        for seat in self.of(here):
            here[seat.number].append(seat)
            self.here[seat.number, seat.seat] = seat
        for number, seats in here.items():
            lacking, position = self._projection.lacking(number), self._projection.asked[number].position
            spare = sorted((seat for seat in seats if seat.expires <= self._now), key=lambda seat: seat.person != "")
            for seat in spare[: max(0, len(seats) - lacking)]:
                self.leave(seat)
            for extra in range(lacking - len(seats)):
                # The place of the entry makes a number that no other seat of this question has.
                self.put(Seat(number, self._projection.seats(number) * (1 + seq) + extra, position))

    # -- looking ----------------------------------------------------------------------------------

    def own(self, person: str, leases: Sequence[str]) -> list[Seat]:
        """Return the seats that somebody holds under these leases."""
        wanted = set(leases)
        return [seat for seat in self.here.values() if seat.lease in wanted and seat.person == person and seat.lease]

    def of(self, numbers: Iterable[int]) -> list[Seat]:
        """Return the seats of these questions as they are now."""
        wanted = set(numbers)
        found = {(seat.number, seat.seat): seat for seat in self._transaction.seats(numbers=sorted(wanted))}
        found |= {place: seat for place, seat in self.changed.items() if seat.number in wanted}
        return [seat for place, seat in found.items() if place not in self.dropped]

    def held(self, person: str) -> Seat | None:
        """Return what this person has had before, and not answered."""
        mine = (seat for seat in self.here.values() if seat.person == person)
        for seat in sorted(mine, key=lambda seat: (seat.number, seat.seat)):
            if seat.number not in self._projection.closed:
                return self.give(seat, person)
            self.leave(seat)
        return None

    def holds(self, person: str) -> bool:
        """Return whether somebody has a seat."""
        return any(seat.person == person for seat in self.here.values())

    def reclaimed(self, number: int, person: str) -> Seat | None:
        """Return a seat of this question for somebody who gave it up, if nobody else holds them all."""
        if number in self._projection.closed or person in self._projection.excluded | self._projection.paused.keys():
            return None
        mine = [seat for seat in self.here.values() if seat.number == number]
        for seat in sorted(mine, key=lambda seat: (seat.person != person, seat.person != "", seat.seat)):
            if seat.person == person or seat.expires <= self._now:
                return self.give(seat, person)
        return None

    def left_over(self, person: str) -> Seat | None:
        """Return a seat of a question that was asked and that nobody holds, if this person has not had it."""
        holding = {seat.number for seat in self.here.values() if seat.person == person}
        start = 0
        for _ in range(1 + _PAGES):
            for seat in self._free[start:]:
                fits = seat.number not in holding and not self._is_changed(seat)
                if fits and self._projection.open_to(person, seat.number):
                    return seat
            if self._after is None:
                return None
            start = len(self._free)
            self._add_page(self._transaction.free(self._now, self._page, self._after))
        return None

    def last(self, person: str) -> Seat | None:
        """Return a free seat for this person, looking through all open questions: nothing else is left for them."""
        numbers = sorted(number for number in self._projection.touched if self._projection.open_to(person, number))
        pages = (self.of(numbers[start : start + _MANY]) for start in range(0, len(numbers), _MANY))
        return next((seat for page in pages for seat in page if seat.expires <= self._now), None)

    def _add_page(self, page: Sequence[Seat]) -> None:
        """A page of free seats; those of closed questions go."""
        self._after = (page[-1].number, page[-1].seat) if len(page) == self._page else None
        for seat in page:
            if seat.number in self._projection.closed and not self._is_changed(seat):
                self.leave(seat)
        self._free += [seat for seat in page if not self._is_changed(seat)]

    def _is_changed(self, seat: Seat) -> bool:
        """Return whether a seat is no longer as the store has it."""
        return (seat.number, seat.seat) in self.changed or (seat.number, seat.seat) in self.dropped
