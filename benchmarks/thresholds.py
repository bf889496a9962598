"""Thresholds of hearing: askone beside AEPsych, QUEST+ and psignifit on six simulated listeners.

    python benchmarks/thresholds.py [--seeds N] [--peers MINUTES]
    python benchmarks/thresholds.py --quick      some seconds: one listener, no peers; prints and writes nothing

A listener says whether a tone was heard (see ``thresholds_listeners``).  Ours is the default learner, at pitches in
random order, 36 of them in each round.  Peers run in an environment of their own (AEPsych needs NumPy below 2), which
is made in the user's cache; their runs are kept in results/thresholds.json, and ``--peers`` adds others for so many
minutes, one process with one thread at a time (0: none).  Writes docs/thresholds.md.
"""

from __future__ import annotations

import argparse
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
from page import grid, machine, taken_with
from thresholds_listeners import LEVELS, LISTENERS, LOOKS, PITCHES, Listener, Run

from askone import OneBitRegressor

HERE = Path(__file__).parent
PAGE, KEPT = HERE.parent / "docs" / "thresholds.md", HERE / "results" / "thresholds.json"
NEEDED = ("aepsych==0.8.0", "questplus==2023.1", "psignifit==4.3")
PEERS = {
    "QUEST+": "thresholds_quest.py", "psignifit": "thresholds_quest.py",
    "AEPsych, GP": "thresholds_aepsych.py", "AEPsych, semi-parametric": "thresholds_aepsych.py",
}  # fmt: skip
SEEDS = {"QUEST+": 10}  # of the others as many as time allows
QUIET = {"OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000"}


def ours(listener: Listener, seed: int, most: int = LOOKS[-1]) -> Run:
    """Return errors at LOOKS, and seconds of processor an answer."""
    rows, rng = PITCHES[:, None], np.random.default_rng(seed)
    uniforms, order = rng.uniform(size=most), np.concatenate([rng.permutation(len(rows)) for _ in range(most)])
    model = OneBitRegressor(*LEVELS, resample=True, keep_log=False, random_state=seed).start(rows)
    errors, spent = [], 0.0
    for n in range(most):
        row, began = rows[order[n]], time.process_time()
        tone = model.ask(row)
        spent += time.process_time() - began
        heard = listener.hears(row[0], tone.shown, uniforms[n])
        began = time.process_time()
        model.tell(tone, not heard)  # "yes" is that the threshold lies above
        spent += time.process_time() - began
        if n + 1 in LOOKS:
            errors.append(listener.error(model.predict(rows)))
    return errors, spent / most


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
    """Add runs of peers, those with the fewest first, until the time is spent."""
    python, end = environment(), time.monotonic() + 60 * minutes
    known = {(one["peer"], one["listener"], one["seed"]) for one in runs}
    wanted = [(p, name, seed) for seed in range(10) for name in LISTENERS for p in PEERS if seed < SEEDS.get(p, 10)]
    for peer, name, seed in wanted:
        left = end - time.monotonic()
        if (peer, name, seed) in known or left < 30:
            continue
        command = [str(python), PEERS[peer], peer, name, str(seed), str(LOOKS[-1])]
        try:
            done = subprocess.run(
                command, cwd=HERE, env=os.environ | QUIET, capture_output=True, text=True, timeout=left, check=True
            )
        except subprocess.TimeoutExpired:
            break
        runs.append(json.loads(done.stdout.splitlines()[-1]))


def table(runs: list[dict[str, Any]], names: list[str]) -> str:
    rows: list[tuple[Any, ...]] = []
    for name in names:
        for peer in ("askone", *PEERS):
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

    won = {
        n: sum(mean("askone", name, k) <= min(mean(peer, name, k) for peer in PEERS) for name in LISTENERS)
        for k, n in enumerate(LOOKS)
    }
    return "Listeners, of six, at whom askone errs at most as much as the best peer: " + ", ".join(
        f"{count} after {n} answers" for n, count in won.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--peers", type=float, default=35.0, metavar="MINUTES")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = list(LISTENERS)[:1] if options.quick else list(LISTENERS)
    ours(LISTENERS[names[0]], 0, 3)  # compiles
    found = []
    for name in names:
        for seed in range(1 if options.quick else options.seeds):
            errors, seconds = ours(LISTENERS[name], seed)
            found.append({"peer": "askone", "listener": name, "seed": seed, "errors": errors, "seconds": seconds})
    if options.quick:
        print(table(found, names))
        return
    runs = json.loads(KEPT.read_text())["runs"] if KEPT.exists() else []
    runs = [one for one in runs if one["peer"] != "askone"] + found
    if options.peers > 0:
        run_peers(runs, options.peers)
    of = machine(peers=", ".join(NEEDED))
    KEPT.write_text(json.dumps({"with": of, "runs": runs}) + "\n")
    PAGE.write_text(page(runs, of), encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)


def page(runs: list[dict[str, Any]], of: dict[str, Any]) -> str:
    return f"""# Thresholds of perception

How loud must a tone be to be heard, at each pitch?  Six simulated listeners, the test functions of AEPsych: three kinds
of hearing loss (Dubno et al. 2013), and tones that are heard with Φ((level − threshold)/β).  The mean absolute error of
the threshold at 36 pitches over seven octaves, in dB; levels from −20 to 120 dB may be played.

{table(runs, list(LISTENERS))}

{verdict(runs)}.

- **askone**: `OneBitRegressor(-20, 120, resample=True)` and nothing else, pitches in random order.
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
