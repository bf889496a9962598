"""askone label, to answer in this terminal; answer, to let a program answer as a person.  Neither needs a server."""

from __future__ import annotations

import argparse
import getpass
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, final

from rich.console import Console

from askone._common.validate import as_count
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import PERSON, PROGRAM, Answer, Next, Release, Request, Served, Serving, Skip, Undo
from askone.campaign.output.views import picture_of, shown_fields
from askone.cli.console import counted, number, say
from askone.cli.files import known_store
from askone.client.question import Posed
from askone.errors import AskoneError, InvalidArgument, NotPrivate, UnknownQuestion
from askone.labels.wording import percent_text
from askone.privacy import coin_toss, flip_probability, randomized
from askone.server.security.tokens import new_id
from askone.store.accounts.users import Role
from askone.store.store import Store

_KEYS = {"y": True, "yes": True, "1": True, "n": False, "no": False, "2": False}
_WHY = {
    "paused": "The campaign is paused: askone resume {name}.",
    "closed": "The campaign is closed.",
    "spent": "The budget is spent.",
    "waiting": "Others hold all open questions: try again in a minute.",
    "resting": "Whoever answers here is paused: askone people {name} says why, --resume ends it.",
    "done": "There is nothing left to ask you.",
}


def posed(campaign: Campaign, served: Served) -> Posed:
    """Return a question as a person has it."""
    view = campaign.settings.labels.view(served.question)
    words = {"kind": view.kind, "sentence": str(served.question), "answers": view.answers or ("Yes", "No")}
    row = {"fields": shown_fields(served.row, campaign.settings.rows.show), "image": None}
    return Posed.from_json({"lease": served.lease, "number": served.number, "row": row, **words, **view.parts})


@final
class Desk:
    """One person at work on a campaign of a store; servers may serve it to others at the same time."""

    def __init__(self, store: Store, name: str, person: str, kind: str = PERSON) -> None:
        self.campaign, self._store, self._person, self._kind = Campaign.open(store, name), store, person, kind
        self._serving = Serving("waiting")
        self._began = 0.0

    @property
    def state(self) -> str:
        """Why there is no question, in words."""
        return _WHY[self._serving.state].format(name=self.campaign.name)

    def ask(self) -> Posed | None:
        """Return the question that this person has before them."""
        if self._serving.question is None:
            self._serve(Next(self._person, ahead=False))
        served = self._serving.question
        return None if served is None else posed(self.campaign, served)

    def picture(self) -> bytes | None:
        """Return the picture of its row, if it has one."""
        served = self._serving.question
        found = None if served is None else picture_of(self._store, self.campaign.name, served.row.position)
        return None if found is None else found[1]

    def tell(self, question: Posed, answer: bool, cost: float | None = None) -> None:
        """Answer it; to a private campaign, flipped here, before the store or the log see it.

        The answer may have cost something.
        """
        if self.epsilon is not None:
            self._tell(question, randomized(answer, self.epsilon), None)
        else:
            self._tell(question, answer, time.monotonic() - self._began, cost)

    def _tell(self, question: Posed, answer: bool, took: float | None, cost: float | None = None) -> None:
        who = self._person
        self._serve(Answer(who, question.lease, answer, new_id("a"), took, self.epsilon, self._kind, cost))

    @property
    def epsilon(self) -> float | None:
        """By which answers are made private."""
        return self.campaign.settings.privacy.epsilon

    def skip(self, question: Posed) -> None:
        """Leave it; in a private campaign by the toss of a coin."""
        if self.epsilon is not None:
            self._tell(question, coin_toss(), None)
        else:
            self._serve(Skip(self._person, question.lease, new_id("s"), kind=self._kind))

    def undo(self) -> None:
        """Take back the last answer or skip."""
        self._serve(Undo(self._person, new_id("u")))

    def leave(self) -> None:
        """Give back what is open, so that nobody waits for it."""
        if self._serving.question is not None:
            self.campaign.serve([Release(self._person, (self._serving.question.lease,))], time.time())
        self.campaign.keep()

    def rates(self) -> dict[str, Any]:
        """Return what is known of this person's answers, as of everybody's."""
        found = (one for one in self.campaign.people() if one["id"] == self._person)
        return next(found, {"answers": 0, "privacy": self.campaign.settings.privacy.spent(0)})

    def _serve(self, request: Request) -> None:
        [result] = self.campaign.serve([request], time.time())
        if isinstance(result, AskoneError):
            raise result
        assert isinstance(result, Serving)
        self._serving, self._began = result, time.monotonic()


def _given(name: str | None, usual: Callable[[], str]) -> str:
    """Return the name that was given by --as, an empty one as well, which is refused then."""
    return usual() if name is None else name


def _person(store: Store, campaign: str, name: str, role: Role = "annotator") -> str:
    """Return the id of a person of this name, let into the campaign; one who is new has no password."""
    store.campaign(campaign)  # before anybody is made
    accounts = store.accounts
    user = accounts.user_by_name(name)
    if user is not None and user.disabled:
        raise InvalidArgument("--as", "somebody who is not disabled (see askone users enable)", name)
    person = new_id("p") if user is None else user.id
    if user is None:
        try:
            accounts.add_user(person, name, role, None)
        except InvalidArgument as error:
            raise InvalidArgument("--as", f"a name {error.allowed}", error.got) from error
    if accounts.role_in(campaign, person) is None:
        accounts.add_member(campaign, person, "annotator")
    return person


# -- a person -------------------------------------------------------------------------------------


def run_label(chosen: argparse.Namespace, console: Console) -> int:
    """Ask in this terminal until there is no question left, or whoever answers has had enough."""
    with known_store(chosen.store) as store:
        desk = Desk(store, chosen.name, _person(store, chosen.name, _given(chosen.person, getpass.getuser)))
        if desk.campaign.settings.question.instructions:
            say(console, desk.campaign.settings.question.instructions)
        if desk.epsilon is not None:
            say(console, _consent(desk.epsilon, desk.rates()["privacy"]))
        say(console, "y: yes (or the first), n: no (or the second), s: skip, u: undo, q: quit")
        try:
            while (question := desk.ask()) is not None:
                if not _answered(desk, question, console):
                    break
            else:
                say(console, desk.state)
        finally:
            desk.leave()
        say(console, f"{counted(desk.rates()['answers'], 'answer')} of yours in {desk.campaign.title}.")
    return 0


def _consent(epsilon: float, ledger: Mapping[str, Any] | None) -> str:
    """Return what somebody should know whose answers are private."""
    pi, spent, budget = flip_probability(epsilon), ledger["spent"] if ledger else 0.0, ledger and ledger["budget"]
    said = (
        f"Answers are private: each is turned into its opposite at random, in {percent_text(pi)} of cases, before it "
        f"is recorded (epsilon = {epsilon:g}); to skip is to toss a coin.  That you answered, and when, is recorded."
    )
    return said if budget is None else f"{said}  You have spent {spent:g} of {budget:g}."


def _answered(desk: Desk, question: Posed, console: Console) -> bool:
    """Show a question and do what is typed; False: quit."""
    for name, value in question.row.items():
        say(console, f"  {name}: {value}")
    if desk.picture() is not None:
        say(console, "  (a picture, which the browser shows: askone serve)")
    yes, no = question.answers
    while True:
        try:
            typed = input(f"{question.sentence} [{yes}/{no}] ").strip()
        except EOFError:
            return False
        known = {**_KEYS, yes.lower(): True, no.lower(): False}
        if typed.lower() in ("q", "quit"):
            return False
        if typed.lower() in ("u", "undo"):
            try:
                desk.undo()
            except (UnknownQuestion, NotPrivate) as error:
                say(console, f"{error}.")
                continue
            return True
        if typed.lower() in ("s", "skip"):
            desk.skip(question)
            return True
        if typed.lower() in known:
            desk.tell(question, known[typed.lower()])
            return True
        say(console, "Please type y, n, s, u or q.")


# -- a program ------------------------------------------------------------------------------------


@final
@dataclass
class _Spent:
    """What a program has done in this run."""

    answers: int = 0
    skips: int = 0
    tokens: float = 0.0
    cost: float = 0.0


def run_answer(chosen: argparse.Namespace, console: Console) -> int:
    """Let a program answer until there is no question left, or it has given ``--most`` answers."""
    most = math.inf if chosen.most is None else as_count(chosen.most, "--most", 1)
    program, tally = _program(chosen.program), _Spent()
    with known_store(chosen.store) as store:
        role: Role = "program" if chosen.kind == PROGRAM else "annotator"
        who = _person(store, chosen.name, _given(chosen.person, lambda: chosen.program), role)
        desk = Desk(store, chosen.name, who, chosen.kind)
        try:
            while tally.answers < most and (question := desk.ask()) is not None:
                _let_answer(desk, question, program, tally)
        finally:
            desk.leave()
        why = desk.state if tally.answers < most else "As many as it was to give."
        say(console, f"{counted(tally.answers, 'answer')}, {counted(tally.skips, 'skip')}. {why}")
        for line in _worth(desk.rates(), tally, desk.campaign.settings.ask.currency):
            say(console, line)
    return 0


def _program(place: str) -> Callable[[Posed], Any]:
    """Return a function of a module, which may lie in this directory."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise InvalidArgument("--with", "module:function, such as my_model:answer", place)
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = vars(import_module(module)).get(name)
    except ModuleNotFoundError as error:
        if error.name != module.split(".")[0]:
            raise
        raise InvalidArgument("--with", "a module that can be imported, or lies here", module) from error
    finally:
        sys.path.remove(str(Path.cwd()))
    if not callable(found):
        raise InvalidArgument("--with", f"a function of the module {module}", name)
    return found  # type: ignore[no-any-return]  # whatever it is, it can be called


def _let_answer(desk: Desk, question: Posed, program: Callable[[Posed], Any], tally: _Spent) -> None:
    question.record["picture"] = desk.picture()
    said, cost = program(question), None
    if isinstance(said, Mapping):
        cost = None if said.get("cost") is None else float(said["cost"])
        tally.tokens += float(said.get("tokens") or 0.0)
        tally.cost += cost or 0.0
        said = said.get("answer")
    if said is None:
        desk.skip(question)
        tally.skips += 1
        return
    desk.tell(question, question.bit(said), cost)
    tally.answers += 1


def _worth(rates: Mapping[str, Any], tally: _Spent, currency: str) -> list[str]:
    """Return how often it is right, as far as known answers and other people tell, and what a bit of it costs.

    Right with a probability p, an answer tells 1 + p log2 p + (1 - p) log2 (1 - p) bits of what is true; where others
    answer too, the learner knows better (``Person.bits``).
    """
    asked, right = rates.get("gold_asked", 0), rates.get("gold_right", 0)
    lines, compared = [], rates.get("agreement_of", 0)
    if asked:
        lines.append(f"Right in {right} of {counted(asked, 'question')} whose answer is known.")
    if compared:
        lines.append(f"Agrees with others in {percent_text(rates['agreement'])} of {counted(compared, 'question')}.")
    if not tally.answers or not (tally.tokens or tally.cost):
        return lines
    costs = [(one / tally.answers, unit) for one, unit in ((tally.tokens, "tokens"), (tally.cost, currency)) if one]
    told = f"An answer costs {_sum(costs, 1.0)}"
    known = rates.get("rates")
    if not asked and known is None:
        return [*lines, f"{told}; what a bit costs, known answers tell (rows.gold), or other people's."]
    p = (right + 1) / (asked + 2)  # as far as a share of so few is known
    bits = 1 + p * math.log2(p) + (1 - p) * math.log2(1 - p) if known is None else known["bits"]
    each = f"some {number(bits)} bits: {_sum(costs, bits)} per bit" if bits > 0.01 else "next to nothing"
    return [*lines, f"{told}, and tells {each}."]


def _sum(costs: list[tuple[float, str]], bits: float) -> str:
    return " and ".join(f"{number(cost / bits)} {unit}".rstrip() for cost, unit in costs)
