"""QUEST+ and psignifit in the benchmark of thresholds, run by ``thresholds.py`` in an environment of their own.

    python thresholds_quest.py PEER LISTENER SEED ANSWERS

QUEST+ keeps a threshold, and a spread of 1 to 20 dB, at each of eight pitches in turn; psignifit is fitted to the
answers that QUEST+ got.  Between the eight pitches lie lines.
"""

from __future__ import annotations

import numpy as np
import psignifit
from questplus import QuestPlus
from thresholds_listeners import LEVELS, OCTAVES, PITCHES, Array, Listener, Run, run, told

_PLACES = np.linspace(*OCTAVES, 8)
_SPREADS = (1.0, 2.0, 4.0, 7.0, 10.0, 14.0, 20.0)


def quest(peer: str, listener: Listener, seed: int, most: int) -> Run:
    levels = np.arange(LEVELS[0], LEVELS[1] + 1.0, 4.0)
    domain = {"mean": np.arange(LEVELS[0], LEVELS[1] + 1.0, 2.0), "sd": _SPREADS, "lower_asymptote": [0.0]}
    made = {
        "stim_domain": {"intensity": levels},
        "param_domain": domain | {"lapse_rate": [0.0]},
        "outcome_domain": {"response": ["yes", "no"]},
        "func": "norm_cdf",
        "stim_scale": "linear",
    }
    each = [QuestPlus(**made) for _ in _PLACES]
    turn = iter(np.tile(np.arange(len(each)), most))
    heard_at: list[list[tuple[float, bool, int]]] = [[] for _ in each]

    def answer(uniform: float) -> None:
        k = int(next(turn))
        level = float(each[k].next_stim["intensity"])
        heard = listener.hears(_PLACES[k], level, uniform)
        each[k].update(stim={"intensity": level}, outcome={"response": "yes" if heard else "no"})
        heard_at[k].append((level, heard, 1))

    def thresholds() -> Array:
        found = [one.param_estimate["mean"] for one in each]
        if peer == "psignifit":
            found = [
                psignifit.psignifit(
                    np.array(some, dtype=float), sigmoid="norm", experiment_type="yes/no", stimulus_range=LEVELS,
                    fixed_parameters={"gamma": 0.0, "lambda": 0.0}, verbose=False,
                ).threshold(0.5, return_ci=False)
                for some in heard_at
            ]  # fmt: skip
        return np.interp(PITCHES, _PLACES, np.array(found, dtype=float))

    return run(listener, seed, answer, thresholds, most)


if __name__ == "__main__":
    told(dict.fromkeys(("QUEST+", "psignifit"), quest))
