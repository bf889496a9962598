"""Thresholds of hearing: askone beside AEPsych, QUEST+ and psignifit on six simulated listeners.

    python benchmarks/thresholds.py [--seeds N] [--peers MINUTES]
    python benchmarks/thresholds.py --quick      some seconds: one listener, no peers; prints and writes nothing

A listener says whether a tone was heard (see ``thresholds_listeners``).  Ours is the default learner, at pitches in
random order, 36 of them in each round, and at pitches that it chooses.  Peers run in an environment of their own
(AEPsych needs NumPy below 2), which is made in the user's cache; their runs are kept in results/thresholds.json, and
``--peers`` adds others for so many minutes, one process with one thread at a time (0: none).  Writes
docs/thresholds.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from page import HERE, arguments, grid, machine, taken_with
from thresholds_listeners import LEVELS, LISTENERS, LOOKS, PITCHES, Listener, Run, run

from askone import OneBitRegressor

PAGE, KEPT = HERE.parent / "docs" / "thresholds.md", HERE / "results" / "thresholds.json"
NEEDED = ("aepsych==0.8.0", "questplus==2023.1", "psignifit==4.3")
OURS = {"askone": False, "askone, pitch chosen": True}
PEERS = {
    "QUEST+": "thresholds_quest.py", "psignifit": "thresholds_quest.py",
    "AEPsych, GP": "thresholds_aepsych.py", "AEPsych, semi-parametric": "thresholds_aepsych.py",
}  # fmt: skip
QUICK, SEEDS = ("QUEST+", "psignifit"), 10  # of AEPsych as many as time allows
QUIET = {"OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000"}


def ours(listener: Listener, seed: int, most: int = LOOKS[-1], chosen: bool = False) -> Run:
    """Return errors at LOOKS, and seconds of processor an answer; ``chosen``: at pitches that the model chooses."""
    rows, rng = PITCHES[:, None], np.random.default_rng(seed)
    rng.uniform(size=most)  # those by which the listener hears, in ``run``
    order = iter(np.concatenate([rng.permutation(len(rows)) for _ in range(most)]))
    model = OneBitRegressor(*LEVELS, resample=True, keep_log=False, random_state=seed).start(rows)

    def answer(uniform: float) -> None:
        place = next(order)
        tone, place = model.ask_from(rows) if chosen else (model.ask(rows[place]), place)
        heard = listener.hears(rows[place, 0], tone.shown, uniform)
        model.tell(tone, not heard)  # "yes" is that the threshold lies above

    return run(listener, seed, answer, lambda: model.predict(rows), most)


def environment() -> Path:
    """Return the Python of the peers' environment, made once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    place = cache / "askone" / "benchmarks" / "thresholds"
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        venv.create(place, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDED], check=True)
        (place / "complete").touch()
    return python


def run_peers(runs: list[dict[str, Any]], minutes: float) -> None:
    """Add runs of peers: all seeds of the quick ones, then those of AEPsych, fewest first, until the time is spent."""
    python, end = environment(), time.monotonic() + 60 * minutes
    known = {(one["peer"], one["listener"], one["seed"]) for one in runs}
    missing = {
        (peer, name): [seed for seed in range(SEEDS) if (peer, name, seed) not in known]
        for name in LISTENERS for peer in PEERS
    }  # fmt: skip
    quick = [(peer, name, seeds) for (peer, name), seeds in missing.items() if seeds and peer in QUICK]
    slow = [(peer, name, [seed]) for (peer, name), seeds in missing.items() if peer not in QUICK for seed in seeds]
    for peer, name, seeds in quick + sorted(slow, key=lambda each: each[2]):
        left = end - time.monotonic()
        if left < 30:
            break
        command = [str(python), PEERS[peer], peer, name, str(LOOKS[-1]), *map(str, seeds)]
        try:
            done = subprocess.run(
                command, cwd=HERE, env=os.environ | QUIET, capture_output=True, text=True, timeout=left, check=True
            )
        except subprocess.TimeoutExpired:
            break
        runs += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        kept(runs)


def table(runs: list[dict[str, Any]], names: list[str]) -> str:
    rows: list[tuple[Any, ...]] = []
    for name in names:
        for peer in (*OURS, *PEERS):
            mine = [one for one in runs if (one["peer"], one["listener"]) == (peer, name)]
            if mine:
                means = np.mean([one["errors"] for one in mine], axis=0)
                timed = [one["seconds"] for one in mine if one["seconds"] is not None]
                cost = 1000 * float(np.mean(timed)) if timed else None
                rows.append((name, peer, len(mine), *(f"{value:.1f}" for value in means), cost))
    return grid(("listener", "", "seeds", *(f"{n} answers" for n in LOOKS), "ms an answer"), rows)


def verdict(runs: list[dict[str, Any]]) -> str:
    """Say on how many listeners ours errs at most as much as the best of the peers, and how their times compare."""

    def mean(peer: str, name: str, look: int) -> float:
        each = [one["errors"][look] for one in runs if (one["peer"], one["listener"]) == (peer, name)]
        return float(np.mean(each)) if each else np.inf

    def won(who: str) -> str:
        counts = (
            sum(mean(who, name, k) <= min(mean(peer, name, k) for peer in PEERS) for name in LISTENERS)
            for k in range(len(LOOKS))
        )
        return ", ".join(f"{count} after {n} answers" for count, n in zip(counts, LOOKS, strict=True))

    def seconds(*who: str) -> float:
        return float(np.mean([one["seconds"] for one in runs if one["peer"] in who and one["seconds"] is not None]))

    mine, slow = seconds("askone"), [peer for peer in PEERS if peer not in QUICK]
    times = f"An answer takes {seconds('QUEST+') / mine:.0f} times as long in QUEST+"
    if any(one["peer"] in slow and one["seconds"] is not None for one in runs):
        times += f", and {seconds(*slow) / mine:,.0f} times as long in AEPsych"
    return (
        "Listeners, of six, at whom askone errs at most as much as the best peer (each listener's own, whichever that "
        f"is): {won('askone')}; where it chooses the pitch {won('askone, pitch chosen')}.  {times}"
    )


def main() -> None:
    options = arguments(__doc__, seeds=10, peers=35.0, quick=False).parse_args()
    warnings.simplefilter("ignore")
    names = list(LISTENERS)[:1] if options.quick else list(LISTENERS)
    for chosen in OURS.values():
        ours(LISTENERS[names[0]], 0, LOOKS[0], chosen)  # compiles
    found = []
    for name in names:
        for who, chosen in OURS.items():
            for seed in range(1 if options.quick else options.seeds):
                errors, seconds = ours(LISTENERS[name], seed, chosen=chosen)
                found.append({"peer": who, "listener": name, "seed": seed, "errors": errors, "seconds": seconds})
    if options.quick:
        print(table(found, names))
        return
    runs = json.loads(KEPT.read_text())["runs"] if KEPT.exists() else []
    runs = [one for one in runs if one["peer"] not in OURS] + found
    if options.peers > 0:
        run_peers(runs, options.peers)
    PAGE.write_text(page(runs, kept(runs)), encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)


def kept(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Write all runs down, and return what they were measured with."""
    of = machine(peers=", ".join(NEEDED))
    KEPT.write_text(json.dumps({"with": of, "runs": runs}) + "\n")
    return of


def page(runs: list[dict[str, Any]], of: dict[str, Any]) -> str:
    return f"""# Thresholds of perception

How loud must a tone be to be heard, at each pitch?  Six simulated listeners, the test functions of AEPsych: three kinds
of hearing loss (Dubno et al. 2013), and tones that are heard with Φ((level − threshold)/β).  The mean absolute error of
the threshold at 36 pitches over seven octaves, in dB; levels from −20 to 120 dB may be played.

{table(runs, list(LISTENERS))}

{verdict(runs)}.

- **askone**: `OneBitRegressor(-20, 120, resample=True)` and nothing else, pitches in random order; or, as AEPsych does,
  at the pitch of the 36 that should help most (`ask_from`).
- **QUEST+**: a threshold and a spread at each of eight pitches in turn, on grids of 2 dB and of seven spreads; lines
  between the pitches.
- **psignifit** is fitted to the answers that QUEST+ got: it chooses no questions, and its fits are not in the time.
- **AEPsych** chooses pitch and level by EAVC after ten Sobol points, with a Gaussian process over both, and with its
  semi-parametric model, which has a slope and a threshold for each pitch.  Its search for the next tone has 2 restarts
  of 128 points instead of 10 of 1024, which takes a quarter to a half of the time: still 0.9 to 2.4 s an answer by the
  clock of a machine that had other work, too.
- Means of few seeds are rough.
- askone, QUEST+ and the semi-parametric model know that answers come from a threshold; AEPsych's Gaussian process does
  not.
- ms an answer: processor time of choosing a tone and learning from the answer, one thread, where it was measured.

`make bench-thresholds` makes these figures ({taken_with(of)}; {of["peers"]}).
Answers that are guessed, and the slope, are in the recipe [Hearing thresholds](recipes/hearing.md).
"""


if __name__ == "__main__":
    main()
