"""AEPsych in the benchmark of thresholds, run by ``thresholds.py`` in an environment of its own.

    python thresholds_aepsych.py PEER LISTENER ANSWERS SEED ...

It chooses pitch and level: ten Sobol points, then EAVC at the level 0.5, by a Gaussian process over both or by its
semi-parametric model.  The search for the next tone has 2 restarts of 128 points instead of 10 of 1024, which takes
a quarter to a half of the time.  Other options are as they come.
"""

from __future__ import annotations

import logging

import numpy as np
import torch
from aepsych.config import Config
from aepsych.strategy import SequentialStrategy
from thresholds_listeners import LEVELS, OCTAVES, PITCHES, Array, Listener, Run, run, told

MODELS = {"AEPsych, GP": "GPClassificationModel", "AEPsych, semi-parametric": "HadamardSemiPModel"}


def aepsych(peer: str, listener: Listener, seed: int, most: int) -> Run:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    axes = "".join(
        f"[{name}]\npar_type = continuous\nlower_bound = {low}\nupper_bound = {high}\n"
        for name, (low, high) in (("pitch", OCTAVES), ("level", LEVELS))
    )
    settings = (
        "[common]\nparnames = [pitch, level]\nstimuli_per_trial = 1\noutcome_types = [binary]\n"
        f"strategy_names = [init, opt]\n{axes}"
        f"[init]\ngenerator = SobolGenerator\nmin_asks = 10\n[SobolGenerator]\nseed = {seed}\n"
        f"[opt]\ngenerator = OptimizeAcqfGenerator\nmodel = {MODELS[peer]}\nmin_asks = {most}\n"
        "[OptimizeAcqfGenerator]\nacqf = EAVC\nrestarts = 2\nsamps = 128\n[EAVC]\ntarget = 0.5\n"
        "[HadamardSemiPModel]\nstim_dim = 1\nlikelihood = BernoulliObjectiveLikelihood\n"
        "[BernoulliObjectiveLikelihood]\nobjective = ProbitObjective\n"
    )
    strategy = SequentialStrategy.from_config(Config(config_str=settings))
    levels = np.linspace(*LEVELS, 141)

    def thresholds() -> Array:  # pitch by pitch: a model has the covariance of all that it is asked for at once
        columns = [torch.tensor(np.column_stack([np.full(len(levels), pitch), levels])) for pitch in PITCHES]
        return crossings(np.array([strategy.model.predict(one)[0].detach().numpy() for one in columns]), levels)

    def answer(uniform: float) -> None:
        tone = strategy.gen()
        pitch, level = tone.flatten().tolist()
        strategy.add_data(tone, [int(listener.hears(pitch, level, uniform))])

    return run(listener, seed, answer, thresholds, most)


def crossings(values: Array, levels: Array) -> Array:
    """Return the lowest level at which each row of values is above 0: between two levels along a line."""
    above, found = values > 0.0, np.empty(len(values))
    for i, k in enumerate(above.argmax(axis=1).tolist()):
        if not above[i].any():
            found[i] = levels[-1]
        elif k == 0:
            found[i] = levels[0]
        else:
            a, b = values[i, k - 1], values[i, k]
            found[i] = levels[k - 1] - (levels[k] - levels[k - 1]) * a / (b - a)
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    told(dict.fromkeys(MODELS, aepsych))
