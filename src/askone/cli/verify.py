"""askone verify, whether logs are what was written; and replay, whether the model is what its log makes of it."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console

from askone.campaign.engine.projection import FIT
from askone.campaign.lazy import campaign as campaigns
from askone.campaign.lazy import export
from askone.cli.console import counted, say
from askone.cli.files import known_store, whole_file
from askone.cli.manage import person_of
from askone.session.checkpoints import Fit, fit_of, learnt
from askone.session.log import Fitted
from askone.store.entries import Entry
from askone.store.notices import Excluded
from askone.store.store import Store
from askone.store.verification import Verdict, verify

_ROWS = 200  # whose predictions are compared


def run_verify(chosen: argparse.Namespace, console: Console) -> int:
    """Check hashes of logs, rows and kept states; 1 if any is broken."""
    with known_store(chosen.store) as store:
        names = [chosen.name] if chosen.name is not None else [record.name for record in store.campaigns()]
        verdicts = [verify(store, name) for name in names]
    for verdict in verdicts:
        say(console, _verdict(verdict))
    return 0 if all(verdict.valid for verdict in verdicts) else 1


def _verdict(verdict: Verdict) -> str:
    found = f"{counted(verdict.entries, 'entry', 'entries')}, {counted(verdict.rows, 'row')}"
    if verdict.broken is None:
        told = f"{verdict.campaign}: as written; {found}; head {verdict.head}"
        states, fits = (", ".join(map(str, lost)) for lost in (verdict.damaged, verdict.unfitted))
        told += f"; DAMAGED is what was kept at {states}: it will be folded anew" if states else ""
        mend = f"askone replay {verdict.campaign} --refit makes it anew"
        return told + (f"; MISSING or damaged is the fit of entry {fits}: {mend}" if fits else "")
    return f"{verdict.campaign}: BROKEN at entry {verdict.broken}: {verdict.reason}; good before it: {found}"


def run_replay(chosen: argparse.Namespace, console: Console) -> int:
    """Fold the log from its beginning; 1 if the state differs in any bit from the one that is kept."""
    with known_store(chosen.store) as store:
        fresh = campaigns.Campaign.open(store, chosen.name, fresh=True)
        lost = _refit(store, fresh, console) if chosen.refit else 0
        status = max(lost, _compare(store, fresh, console))
        answered = {who for who, person in fresh.projection.people.items() if person.answers}
        for given in chosen.without:
            _leave_out(fresh, person_of(store, given, answered), given, console)
        if chosen.out is not None:
            with whole_file(Path(chosen.out)) as out:
                out.write(export.model_bytes(fresh))
            say(console, f"Model: {chosen.out}")
    return status


def _refit(store: Store, fresh: campaigns.Campaign, console: Console) -> int:
    """Make each fit anew; one that is missing is kept again if it is the same.  1 if one is still missing."""
    learner, lost = fresh.projection.learner, 0
    X = next((page.astype(np.float64) for _, page in store.feature_pages(fresh.name, _ROWS)), np.zeros((1, 1)))
    for told, made, state in fresh.projection.trainer.remade():
        kept = store.fit(fresh.name, told.hash)
        if made.hash == told.hash:
            found = "the same" if kept is not None else "the same: it was missing, and is kept again"
            store.add_fits(fresh.name, [made] if kept is None else [])
        elif kept is None:
            found, lost = "MISSING, and made anew it is another: the model goes on without it", 1
        else:
            both = (learner.predict(learnt(learner, state, one), X) for one in (Fit(told.hash, kept), made))
            far = float(np.abs(np.subtract(*both)).max())
            found = f"another: predictions of {counted(len(X), 'row')} differ by at most {far:.3g}"
        say(console, f"{fresh.name}: the fit of entry {told.seq}, of {counted(told.learnt, 'lesson')}: {found}.")
    return lost


def _compare(store: Store, fresh: campaigns.Campaign, console: Console) -> int:
    kept = campaigns.Campaign.open(store, fresh.name)
    same = state_bytes(fresh) == state_bytes(kept)
    lessons = counted(len(fresh.projection.lessons.all), "lesson")
    told = f"{counted(fresh.projection.seq, 'entry', 'entries')}, {lessons} learnt anew"
    verdict = "the state is the same, bit for bit" if same else "the state DIFFERS from the one that was kept"
    say(console, f"{fresh.name}: {told}: {verdict}.")
    return 0 if same else 1


def state_bytes(campaign: campaigns.Campaign) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Return the state of a campaign's model, to the bit."""
    arrays = campaign.projection.learner.to_arrays(campaign.projection.state)
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def _leave_out(campaign: campaigns.Campaign, person: str, name: str, console: Console) -> None:
    """Nobody's log is changed: the exclusion is folded here alone."""
    projection = campaign.projection
    before = len(projection.lessons.all)
    projection.apply([Entry(Excluded(f"replay-without-{person}", person), seq=projection.seq + 1)])
    while (due := projection.trainer.due()) is not None:  # fits that had these answers in them are gone
        fit = fit_of(due.learner, due.state)
        projection.trainer.made[fit.hash] = fit.packed
        number = len(projection.trainer.made)
        event = Fitted(f"{FIT}without-{person}-{number}", due.learnt, fit.hash, due.after)
        projection.apply([Entry(event, seq=projection.seq + 1)])
    told = f"{projection.people[person].answers} answers; {before} lessons become {len(projection.lessons.all)}"
    say(console, f"Without {name}: {told}.")
