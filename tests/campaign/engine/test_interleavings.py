"""Whatever people do, in whatever order: live = replay = snapshot + tail, on every store."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import (
    Answer,
    Done,
    Exclude,
    Include,
    Next,
    Release,
    Serving,
    SetBudget,
    SetStatus,
    Skip,
    TakeFit,
    Undo,
)
from askone.campaign.settings.settings import LearnerSettings
from askone.errors import AskoneError, CampaignClosed, LeaseLost, UnknownQuestion
from askone.session.checkpoints import fit_of
from askone.store.open import open_store
from askone.store.verification import verify
from refitting import register
from staged import ANIMALS, DRINKS, PRICES, asking, stage, state_of
from stores import KINDS

PEOPLE = st.sampled_from(["ann", "bob", "cid"])
SHAPES = [
    asking(PRICES, exam_share=0.2),
    asking(PRICES, overlap=2, budget=30, gold="price", gold_share=0.2),
    asking(ANIMALS, overlap=3, exam_share=0.3),
    asking(DRINKS, budget=25),
    asking(PRICES, overlap="auto", budget=30, exam_share=0),
    None,  # a learner that is fitted now and then
]
_made = iter(range(10**9))


class People(RuleBasedStateMachine):
    """Three people and a manager at two processes of one campaign, with a store each where that can be."""

    stores = ()

    @initialize(shape=st.sampled_from(SHAPES))
    def begin(self, shape):
        if shape is None:
            shape = asking(replace(PRICES, learner=LearnerSettings(learner="fitted")), exam_share=0.1)
        self.name = f"c{next(_made)}"
        gold = {3: 75.0, 5: 20.0} if shape.rows.gold else None
        self.desks = [stage(self.stores[0], shape, rows=12, name=self.name, gold=gold)]
        self.desks.append(Campaign.open(self.stores[1], self.name))
        self.now, self.count, self.shape = 1.0, 0, shape
        self.held, self.returned, self.prompt, self.begun = {}, False, True, {}

    def id(self):
        self.count += 1
        return f"e{self.count}"

    def do(self, desk, *requests):
        results = self.desks[desk].serve(requests, self.now, learn=self.prompt)
        for result in results:
            if isinstance(result, AskoneError):
                assert isinstance(result, LeaseLost | CampaignClosed | UnknownQuestion), result
            elif isinstance(result, Serving) and result.question is not None:
                self.check(requests, result)
        return results

    def check(self, requests, result):
        who = requests[-1].person
        self.held[who] = result.question.lease

    @rule(desk=st.integers(0, 1), who=PEOPLE, ahead=st.booleans())
    def asks(self, desk, who, ahead):
        self.do(desk, Next(who, ahead))

    @rule(desk=st.integers(0, 1), who=PEOPLE, bit=st.booleans(), twice=st.booleans())
    def answers(self, desk, who, bit, twice):
        request = Answer(who, self.held.get(who, "none"), bit, self.id(), 1.0)
        results = self.do(desk, *[request] * (1 + twice))
        if twice and isinstance(results[0], Serving):
            assert results[1].duplicate

    @rule(desk=st.integers(0, 1), who=PEOPLE, reason=st.sampled_from(["skip", "cannot tell"]))
    def skips(self, desk, who, reason):
        self.do(desk, Skip(who, self.held.get(who, "none"), self.id(), reason))

    @rule(desk=st.integers(0, 1), who=PEOPLE)
    def undoes(self, desk, who):
        self.do(desk, Undo(who, self.id()))

    @rule(desk=st.integers(0, 1), who=PEOPLE)
    def leaves(self, desk, who):
        self.do(desk, Release(who, (self.held.get(who, "none"),)))

    @rule(seconds=st.sampled_from([1.0, 61.0]))
    def waits(self, seconds):
        self.now += seconds

    @rule(desk=st.integers(0, 1), status=st.sampled_from(["paused", "running", "running"]))
    def turns(self, desk, status):
        assert self.do(desk, SetStatus("boss", self.id(), status)) == [Done(1)]

    @rule(desk=st.integers(0, 1), who=PEOPLE, back=st.booleans())
    def excludes(self, desk, who, back):
        self.returned = self.returned or (back and who in self.desks[desk].projection.excluded)
        self.do(desk, (Include if back else Exclude)("boss", self.id(), who))

    @rule(desk=st.integers(0, 1))
    def grants_more(self, desk):
        self.do(desk, SetBudget("boss", self.id(), 40))

    @rule(desk=st.integers(0, 1), lessons=st.integers(0, 5), prompt=st.booleans())
    def learns_some_of_it(self, desk, lessons, prompt):
        self.prompt = prompt
        left = iter(range(lessons))
        self.desks[desk].learn(lambda: next(left, None) is not None)

    @rule(desk=st.integers(0, 1))
    def begins_a_fit(self, desk):
        due = self.desks[desk].due_fit()
        if due is not None:
            self.begun[desk] = TakeFit(due, fit_of(due.learner, due.state))

    @rule(desk=st.integers(0, 1))
    def has_made_a_fit(self, desk):
        if desk in self.begun:
            self.do(desk, self.begun.pop(desk))

    @rule(desk=st.integers(0, 1))
    def keeps(self, desk):
        self.desks[desk].keep()

    @precondition(lambda self: self.count % 5 == 4)
    @rule()
    def restarts(self):
        self.desks[0] = Campaign.open(self.stores[0], self.name)

    @invariant()
    def nothing_is_asked_beyond_the_overlap(self):
        if not self.__dict__.get("desks"):
            return
        projection = self.desks[0].projection
        seen = [one.position for one in projection.asked.values() if one.role != "gold"]
        assert projection.rowless or len(seen) == len(set(seen))
        for one in projection.asked.values():
            standing = [given for given in one.given if given.who not in projection.excluded]
            assert len({given.who for given in one.given}) == len(one.given)
            # Somebody who is included again comes on top of whoever was asked instead.
            assert len(standing) <= projection.seats(one.number) or self.returned

    def nobody_waits_in_vain(self):
        """A question that is open has a seat for each answer that it lacks."""
        projection = self.desks[0].projection
        with self.stores[0].transaction(self.name) as transaction:
            for number in projection.touched:
                seats = transaction.seats(numbers=[number])
                assert len(seats) == projection.lacking(number) or (
                    self.returned and len(seats) > projection.lacking(number)
                )

    def teardown(self):
        if not self.__dict__.get("desks"):
            return
        for desk in self.desks:
            desk.refresh()
        self.nobody_waits_in_vain()
        live = state_of(self.desks[0])
        assert state_of(self.desks[1]) == live
        assert state_of(Campaign.open(self.stores[1], self.name, fresh=True)) == live
        assert state_of(Campaign.open(self.stores[0], self.name)) == live
        assert verify(self.stores[0], self.name).valid


# A turn in a file or a server waits for the disk: fewer examples say as much, since what they share is one contract.
EXAMPLES = {"memory": 25, "sqlite": 8, "postgresql": 5}


@pytest.mark.parametrize("kind", KINDS)
def test_any_order_of_requests(kind, request, tmp_path, fitted):
    register(first=3)
    url = {"memory": "memory:", "sqlite": str(tmp_path / "store.db")}.get(kind) or request.getfixturevalue(
        "postgres_url"
    )
    first = open_store(url)
    second = first if kind == "memory" else open_store(url)

    class Here(People):
        stores = (first, second)

    Here.TestCase.settings = settings(
        max_examples=EXAMPLES[kind],
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    Here.TestCase().runTest()
    first.close()
    second.close()
