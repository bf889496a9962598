"""Simulated listeners of the benchmark of thresholds: hearing loss by pitch, as AEPsych's test functions have it.

Thresholds in dB at eight frequencies are those of Dubno et al. (2013, doi:10.1007/s10162-013-0396-x, figure 2).
Between them lies a cubic spline in the frequency, beyond them a line (Song et al. 2017, doi:10.1121/1.4979594); a tone
is heard with Phi((level - threshold) / beta).  Needs NumPy and SciPy alone: peers run where askone is not installed.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, interp1d
from scipy.special import ndtr

Array = NDArray[Any]
KHZ = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
LOSSES = {
    "metabolic": (21.23, 22.01, 24.24, 33.93, 41.36, 47.17, 54.12, 58.31),
    "sensory": (5.52, 4.19, 5.62, 19.84, 42.00, 53.33, 62.05, 66.09),
    "metabolic + sensory": (20.26, 20.71, 21.97, 37.49, 53.18, 64.02, 75.01, 76.61),
}
OCTAVES, LEVELS = (-3.0, 4.0), (-20.0, 120.0)
"""Pitches, in octaves above 1 kHz, and levels in dB that may be played."""
PITCHES = np.linspace(*OCTAVES, 36)
"""Where thresholds are compared."""
LOOKS = (20, 30, 50, 100)


@dataclass(frozen=True)
class Listener:
    """Somebody with a kind of hearing loss, and beta dB of doubt."""

    loss: str
    beta: float

    @cached_property
    def _lines(self) -> tuple[Any, Any]:
        losses = LOSSES[self.loss]
        return CubicSpline(KHZ, losses), interp1d(KHZ, losses, fill_value="extrapolate")

    def threshold(self, octaves: Any) -> Array:
        khz = 2.0 ** np.asarray(octaves, dtype=float)
        inside, outside = self._lines
        return np.where((khz >= KHZ[0]) & (khz <= KHZ[-1]), inside(khz), outside(khz))

    def hears(self, octaves: float, level: float, uniform: float) -> bool:
        return bool(uniform < ndtr((level - self.threshold(octaves)) / self.beta))

    def error(self, found: Array) -> float:
        """Return the mean absolute error of thresholds at PITCHES, in dB."""
        return float(np.abs(np.clip(found, *LEVELS) - self.threshold(PITCHES)).mean())


LISTENERS = {f"{loss}, beta {beta:g}": Listener(loss, beta) for loss in LOSSES for beta in (2.0, 10.0)}
Run = tuple[list[float], float]


def run(
    listener: Listener, seed: int, answer: Callable[[float], None], thresholds: Callable[[], Array], most: int
) -> Run:
    """Return errors at LOOKS, and seconds of processor an answer, of which looks at thresholds are no part."""
    uniforms, errors, spent = np.random.default_rng(seed).uniform(size=most), [], 0.0
    for n in range(most):
        began = time.process_time()
        answer(float(uniforms[n]))
        spent += time.process_time() - began
        if n + 1 in LOOKS:
            errors.append(listener.error(thresholds()))
    return errors, spent / most


def told(peers: dict[str, Callable[[str, Listener, int, int], Run]]) -> None:
    """Run what the command line says: PEER LISTENER ANSWERS SEED ...; a line of JSON is printed for each seed."""
    warnings.simplefilter("ignore")
    peer, name, most, *seeds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    for seed in seeds:
        errors, seconds = peers[peer](peer, LISTENERS[name], seed, most)
        found = {"peer": peer, "listener": name, "seed": seed, "errors": errors, "seconds": seconds}
        print(json.dumps(found), flush=True)
