"""One batch of requests in one transaction of the store: who has which question, what comes next, what is written.

Nothing has happened before the transaction is committed: if it fails, the projection is read anew.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import final

from askone.campaign.engine._leases import Leases, fresh_lease
from askone.campaign.engine.commands import Ahead, Request, Served, Serving, State, ids_of, leases_of, people_of
from askone.campaign.engine.planner import MINUTE, QUIET, DraftQuestion, Planner
from askone.campaign.engine.projection import PlannedQuestion
from askone.session.checkpoints import Fit
from askone.store.entries import Entry, Seat
from askone.store.notices import Reasked
from askone.store.transactions import Prefetched, Transaction

_AT_ONCE = 20  # answers: more, such as another process wrote, are learnt from when the transaction is over


def looked_up(transaction: Transaction, after: int, requests: Sequence[Request], now: float) -> Prefetched:
    """Return what the store has for these requests, and what the log holds after entry ``after``."""
    people, leases = sorted(set(people_of(requests))), sorted(set(leases_of(requests)))
    return transaction.look(after, ids_of(requests), people, leases, now, _page(requests))


def _page(requests: Sequence[Request]) -> int:
    return 8 + 2 * len(requests)


@final
class Batch:
    """One batch of commands.  The projection has caught up with what was looked up."""

    def __init__(
        self, planner: Planner, transaction: Transaction, looked: Prefetched, requests: Sequence[Request], now: float
    ) -> None:
        self.planner, self.projection, self.now = planner, planner.projection, now
        self.known = looked.known
        lease = planner.settings.lease_seconds
        self.seats = Leases(self.projection, transaction, looked.seats, looked.free, _page(requests), now, lease)
        self.private = planner.whole.privacy.epsilon is not None
        self.entries: list[Entry] = []
        self.fits: list[Fit] = []
        self.measured = False
        """Whether the error of the model is known better than before."""
        few = planner.present(people_of(requests), now) <= QUIET
        self._quiet = few and not self.projection.trainer.slow  # others write nothing meanwhile, in whatever campaign

    def note(self, entry: Entry) -> Entry:
        """Note that it happens: the projection knows of it, and it will be written."""
        if self.private and entry.who:  # how long somebody thought about a question tells something of the answer
            entry = replace(entry, at=entry.at // MINUTE * MINUTE)
        placed = Entry(entry.event, entry.who, entry.at, entry.took, entry.aside, self.projection.seq + 1)
        self.projection.note(placed)
        self.entries.append(entry)
        self.known[entry.id] = placed
        return placed

    def affordable(self, more: int = 1) -> bool:
        """Return whether the budget has room for so many more questions."""
        projection = self.projection
        return (
            projection.budget is None
            or projection.seats_asked + (len(projection.reserved) + more) * projection.overlap <= projection.budget
        )

    # -- what somebody has before them ------------------------------------------------------------

    def serving(self, person: str, ahead: bool = True, duplicate: bool = False) -> Serving:
        """Return what this person has before them now."""
        if not self._may(person):
            return self._without(person, self._why_not(person), duplicate)
        seats = self.seats
        seat = seats.held(person) or self._gold(person, ahead)
        seat = seat or self._given(seats.left_over(person), person)
        if self.planner.second_opinions.rows_left:
            seat = seat or self._again(person)
        seat = seat or self._fresh(person, ahead) or self._again(person)
        seat = seat or self._given(seats.last(person), person)
        if seat is None:
            return self._without(person, self._why(person), duplicate)
        return self.with_question(seat, person, ahead, duplicate)

    def _given(self, seat: Seat | None, person: str) -> Seat | None:
        return None if seat is None else self.seats.give(seat, person)

    def with_question(self, seat: Seat, person: str, ahead: bool = True, duplicate: bool = False) -> Serving:
        """Return a seat's question, held for its person."""
        projection, row = self.projection, self.planner.row_cache.row(seat.position)
        following = self._following(person, seat.number)
        if ahead and seat.ahead is None and seat.seat == 0 and following is not None:
            seat = self._look_ahead(seat, following)
        served = Served(seat.lease, seat.number, projection.asked[seat.number].question, row, seat.expires)
        looked = self._ahead(seat) if ahead else None
        return Serving("question", served, looked, *self._counts(person), duplicate, self._rest_of_bag(seat))

    def _rest_of_bag(self, seat: Seat) -> tuple[Served, ...]:
        """Return what is asked at once with a seat's question, as far as its person still has it."""
        asked, bag = self.projection.asked, self.projection.asked[seat.number].bag
        if bag is None:
            return ()
        mine = [one for one in self.seats.here.values() if one.person == seat.person and one.number != seat.number]
        held = [one for one in mine if asked[one.number].bag == bag and one.number not in self.projection.closed]
        given = [self.seats.give(one, seat.person) for one in sorted(held, key=lambda one: one.number)]
        rows = [self.planner.row_cache.row(one.position) for one in given]
        return tuple(
            Served(one.lease, one.number, asked[one.number].question, row, one.expires)
            for one, row in zip(given, rows, strict=True)
        )

    def after(self, seat: Seat, person: str, bit: str | None) -> Serving:
        """Return what was set aside for whoever has the question's first seat, if it still is; else what is next."""
        projection, following = self.projection, self._following(person, seat.number)
        elsewhere = self.seats.holds(person) or (seat.seat and seat.number not in projection.closed)
        if following is None or elsewhere or not self._may(person):
            return self.serving(person)
        if bit is not None and seat.ahead is not None and seat.ahead["yes"]["plan"][0] == following.number:
            draft = self._draft(seat, bit)
            return self.with_question(self._ask(draft, person, True, seat.ahead["lease"]), person)
        self._learn()
        return self.with_question(self._ask(self.planner.draft(following, projection.state), person, True), person)

    def _may(self, person: str) -> bool:
        """Return whether this person is to answer, as far as that depends on them and on the campaign's status."""
        projection, most = self.projection, self.planner.whole.per_person
        if projection.status != "running" or person in projection.excluded or person in projection.paused:
            return False
        return most is None or projection.person(person).answers < most

    def _why_not(self, person: str) -> State:
        """Return why this person is not to answer."""
        if self.projection.status != "running":
            return self.projection.status
        return "resting" if person in self.projection.paused else "done"

    def _without(self, person: str, state: State, duplicate: bool) -> Serving:
        mine, left, undoable = self._counts(person)
        return Serving(state, None, None, mine, 0 if state == "spent" else left, undoable, duplicate)

    def _counts(self, person: str) -> tuple[int, int | None, int]:
        projection, known = self.projection, self.projection.people.get(person)
        left = None if projection.budget is None else max(0, projection.budget - projection.answers)
        return (0, left, 0) if known is None else (known.answers, left, 0 if self.private else len(known.done))

    def _why(self, person: str) -> State:
        """Return why there is no question: others may still give some back, the budget is spent, or none is left."""
        projection = self.projection
        if any(projection.open_to(person, number) for number in projection.touched) or self._orphan(
            person, projection.reserved
        ):
            return "waiting"
        return "done" if self.affordable() else "spent"

    # -- new questions ----------------------------------------------------------------------------

    def _learn(self) -> None:
        """Before a question is made, where few are at work; among many, what was just said is one bit of dozens."""
        if self._quiet and self.projection.trainer.pending <= _AT_ONCE:
            self.projection.trainer.settle()

    def _fresh(self, person: str, ahead: bool) -> Seat | None:
        """Return a question that was not asked before."""
        self._learn()  # which row tells most depends on it, too
        projection = self.projection
        plan = self._orphan(person, projection.closed)
        if plan is None and self.affordable():
            plan = self.planner.plan(person, projection.numbers)
        if plan is None and projection.reserved:
            firsts = [seat for seat in self.seats.of(projection.reserved) if seat.seat == 0]
            held = {seat.number for seat in firsts if seat.expires > self.now}
            plan = self._orphan(person, projection.reserved.keys() - held)
        if plan is None:
            return None
        return self._bag(plan, person) or self._ask(self.planner.draft(plan, projection.state), person, ahead)

    def _bag(self, plan: PlannedQuestion, person: str) -> Seat | None:
        """Return the first of some questions that are asked at once instead of one that only teaches."""
        if plan.role or plan.number < self.projection.numbers or self.projection.overlap > 1:
            return None
        drafts = self.planner.bag(plan.number, person)
        if not drafts or not self.affordable(len(drafts)):
            return None
        first, *others = drafts
        seat = self._ask(first, person, False)
        for draft in others:
            self._ask(draft, person, False)
        return seat

    def _again(self, person: str) -> Seat | None:
        """Return a question that others answered, where another opinion tells more than a new row, or none is left."""
        projection = self.projection
        number = self.planner.second_opinions.best(person) if self.affordable() else None
        if number is None:
            return None
        event = Reasked(f"ask-{number}-again-{projection.reasked.get(number, 0) + 1}", f"ask-{number}")
        placed = self.note(Entry(event, person, self.now))
        return self.seats.give(Seat(number, placed.seq, projection.asked[number].position), person)

    def _gold(self, person: str, ahead: bool) -> Seat | None:
        """Return a question with a known answer, where it is this person's turn: also before what others left over."""
        if self.projection.overlap == 1 or not self.affordable():
            return None
        plan = self.planner.gold_for(person, self.projection.numbers)
        return None if plan is None else self._ask(self.planner.draft(plan, self.projection.state), person, ahead)

    def _orphan(self, person: str, before: Collection[int]) -> PlannedQuestion | None:
        """Return what was set aside to come after one of these questions, and will not come by itself."""
        plans = (self._following(person, number) for number in self.projection.reserved if number in before)
        return next((plan for plan in plans if plan is not None), None)

    def _following(self, person: str, number: int) -> PlannedQuestion | None:
        """Return what is set aside to come after a question, unless this person has had that row."""
        plan, seen = self.projection.reserved.get(number), self.projection.person(person).gold_seen
        return None if plan is None or (plan.role == "gold" and plan.position in seen) else plan

    def _ask(self, draft: DraftQuestion, person: str, ahead: bool, lease: str = "") -> Seat:
        """Put a question: it is logged with what is to follow it, and has its seats."""
        projection, plan = self.projection, draft.plan
        needed, following = 2 if plan.number >= projection.numbers else 1, None
        # Questions that nobody holds come first: then nothing is set aside, and they are found next time.
        others_first = self.seats.left_over(person) or self.planner.second_opinions.best(person)
        if ahead and self.affordable(needed) and others_first is None:
            number = max(projection.numbers, plan.number + 1)
            following = self.planner.plan(person, number, plan, ahead=1)
            if following is not None and not following.role and self.planner.bag(number, person, plan.position):
                following = None  # several rows at once come next: they are found when this one is answered
        self.note(draft.entry(self.planner.row_cache.row(plan.position).key, person, self.now, following))
        for extra in range(1, projection.seats(plan.number)):
            self.seats.put(Seat(plan.number, extra, plan.position))
        expires = self.now + self.planner.settings.lease_seconds
        return self.seats.put(Seat(plan.number, 0, plan.position, person, lease or fresh_lease(), expires))

    # -- looking ahead ----------------------------------------------------------------------------

    def _look_ahead(self, seat: Seat, following: PlannedQuestion) -> Seat:
        self._learn()
        no, yes = self.planner.drafts(seat.number, following, self._quiet)
        lease = fresh_lease()
        self.planner.remember(lease, no, yes)
        other = {} if no is yes else {"no": no.to_json()}
        return self.seats.put(replace(seat, ahead={"lease": lease, "yes": yes.to_json(), **other}))

    def _ahead(self, seat: Seat) -> Ahead | None:
        if seat.ahead is None or seat.number not in self.projection.reserved:
            return None
        row = self.planner.row_cache.row(self.projection.reserved[seat.number].position)
        each = [self._draft(seat, bit) for bit in ("yes", "no")]
        yes, no = (Served(seat.ahead["lease"], d.plan.number, d.question, row, seat.expires) for d in each)
        return Ahead(yes, no)

    def _draft(self, seat: Seat, bit: str) -> DraftQuestion:
        """Return what the seat has for after an answer; a no that is not there is as the yes."""
        ahead = seat.ahead or {}
        made = self.planner.made.get(ahead["lease"])
        if made is not None:
            return made[bit == "yes"]
        return DraftQuestion.from_json(ahead["no"] if bit == "no" and "no" in ahead else ahead["yes"])
