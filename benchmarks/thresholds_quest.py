"""QUEST+ and psignifit in the benchmark of thresholds, run by ``thresholds.py`` in an environment of their own.

    python thresholds_quest.py PEER LISTENER ANSWERS SEED ...

QUEST+ keeps a threshold, and a spread of 1 to 20 dB, at each of eight pitches in turn; psignifit is fitted to the
answers that QUEST+ got.  Between the eight pitches lie lines.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import psignifit
from psignifit import _priors, sigmoids
from questplus import QuestPlus
from scipy import special, stats
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


def lean() -> None:
    """Give psignifit its normal and beta distributions without SciPy's checks, which take nine tenths of its time.

    Its fits stay what they are, to the last digit.
    """

    def beta(x: Any, a: float, b: float) -> Array:
        x = np.asarray(x, dtype=float)
        return np.where((x >= 0.0) & (x <= 1.0), stats.beta._pdf(np.clip(x, 0.0, 1.0), a, b), 0.0)

    sigmoids.Gaussian._ppf = lambda _, x, loc=0, scale=1: special.ndtri(x) * scale + loc
    sigmoids.Gaussian._cdf = lambda _, x, loc=0, scale=1: special.ndtr((x - loc) / scale)
    normal = SimpleNamespace(ppf=special.ndtri)
    given = SimpleNamespace(norm=lambda **_: normal, beta=SimpleNamespace(pdf=beta))
    _priors.scipy = SimpleNamespace(stats=given)


if __name__ == "__main__":
    lean()
    told(dict.fromkeys(("QUEST+", "psignifit"), quest))
