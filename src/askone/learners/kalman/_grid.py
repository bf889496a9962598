"""Which filters a bank has: of many noise scales, prior scales and feature maps at first, then those that do well.

Filters that the answers speak against are dropped; beside the best one others begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from askone._common.arithmetic import log, normal_quantile
from askone._common.types import Array
from askone.features.maps import FeatureMap
from askone.learners.kalman._bank import Bank, DiagonalBank, FullBank

_UNLIKELY = 4.0  # nats, of evidence against flips that nobody declared, and against noise beyond the range
_USUAL = 0.05  # noise scale that is likeliest before any answer; a decade from it costs a nat
_MIDDLE = 1.0  # nats, of evidence against other prior scales than the middle one
_RARE = 0.43  # how many nats e times as much noise is likelier where the rarer answer is e times as rare as the other
_YOUNG = 1.0  # nats that a filter is behind the one that it begins as
_FIRST_LOOK = 64  # answers before any filter is dropped
_SECOND_LOOK = 1024  # answers before noise scales between the others come in
_BEHIND = 30.0  # in nats of evidence: such a filter has no weight, nor hope of any
_GROUPS = 2  # pairs of feature map and prior scale that are kept to the end
_LEVEL, _MOST_LEVEL = 3.0, 8  # nats behind the best: of such pairs more are kept, where answers say little
_CREWS = 64  # banks whose filters are looked up, at most
_LOOKED, _HEAD = 100_000, 64  # numbers of rows that are kept at most, and what each row takes beside
NOISES = tuple(float(f"{10 ** (k / 4 - 4):.3g}") for k in range(19))
PRIORS = (0.1, 0.5, 2.5)


@final
class Crew(NamedTuple):
    """What the filters of a bank are: noise scale, flip probability and map of each, and the maps in use."""

    noise: Array
    flips: Array
    places: Array
    maps: tuple[int, ...]


@final
@dataclass(frozen=True, eq=False)
class FilterGrid:
    """All filters that there may be (see ``FilterLearner``), and what each of those alive in a bank is."""

    maps: tuple[FeatureMap, ...]
    noises: tuple[float, ...]
    priors: tuple[float, ...]
    quantile: float
    flip: float
    wary: float
    diagonal: bool

    @cached_property
    def table(self) -> Array:
        """Feature map, prior scale, noise scale and flip probability of each filter, K x 4."""
        flips, places = sorted({self.flip, max(self.flip, self.wary)}), range(len(self.maps))
        return np.array([(g, t, s, pi) for pi in flips for g in places for t in self.priors for s in self.noises])

    @cached_property
    def size(self) -> int:
        """Features p of the largest map; the others are filled up with zeros."""
        return max(one.size for one in self.maps)

    @cached_property
    def lean(self) -> float:
        """How many deviations of the noise the quantile is above the median."""
        return 0.0 if self.quantile == 0.5 else float(normal_quantile(self.quantile))  # half a second to compile

    @cached_property
    def rarer(self) -> float:
        """How often the rarer answer is given at the quantile."""
        return min(self.quantile, 1 - self.quantile)

    @property
    def kind(self) -> type[Bank]:
        """What banks are made of."""
        return DiagonalBank if self.diagonal else FullBank

    # -- what the filters of a bank are and see -------------------------------------------------

    @cached_property
    def _crews(self) -> dict[bytes, Crew]:
        return {}

    @cached_property
    def _looks(self) -> dict[tuple[int, bytes], Array]:
        return {}

    def crew(self, bank: Bank) -> Crew:
        """Return what the filters are, looked up once: few banks have others than the last one."""
        key = bank.alive.tobytes()
        found = self._crews.get(key)
        if found is None:
            if len(self._crews) >= _CREWS:
                self._crews.clear()
            place, _, noise, flips = np.ascontiguousarray(self.table[bank.alive].T)
            places = place.astype(np.int64)
            found = self._crews[key] = Crew(noise, flips, places, tuple(np.unique(places).tolist()))
        return found

    def noise(self, bank: Bank) -> Array:
        """Return the noise scale of each filter."""
        return self.crew(bank).noise

    def flips(self, bank: Bank) -> Array:
        """Return how often answers are flipped by what each filter reckons with."""
        return self.crew(bank).flips

    def places(self, bank: Bank) -> Array:
        """Return the map of each filter."""
        return self.crew(bank).places

    def in_use(self, *banks: Bank) -> Sequence[int]:
        """Return the maps that some filter sees rows by."""
        if len(banks) == 1:
            return self.crew(banks[0]).maps
        return sorted({g for bank in banks for g in self.crew(bank).maps})

    def seen_by(self, g: int, rows: Array) -> Array:
        """Return phi(row) of one map, n x its size; a single row is kept: who asks about it will tell about it."""
        if len(rows) > 1:
            return self.maps[g](rows)
        key = g, rows.tobytes()
        found = self._looks.get(key)
        if found is None:
            if len(self._looks) * (self.size + rows.shape[1] + _HEAD) >= _LOOKED:
                self._looks.clear()
            found = self._looks[key] = self.maps[g](rows)
        return found

    def features(self, rows: Array, wanted: Sequence[int]) -> Array:
        """Return phi(row) of the maps in use, filled up with zeros: maps x n x p."""
        out = np.zeros((len(self.maps), len(rows), self.size))
        for g in wanted:
            out[g, :, : self.maps[g].size] = self.seen_by(g, rows)
        return out

    def seen(self, bank: Bank, features: Array) -> tuple[Array, Array]:
        """Return <x, mu> and x^T S x of each filter at some rows, K x n."""
        return bank.seen(features, self.places(bank))

    # -- which filters there are ----------------------------------------------------------------

    def first(self) -> Bank:
        """Return every second noise scale; of wary filters every fourth, from the noisiest on, at the middle prior.

        With noise s and prior scale t the log evidence begins at -log10(s / .05)^2 - [t is not the middle one]: of
        many filters some that are far from right would foretell the first twenty answers by chance, and lead.
        """
        place = np.arange(len(self.table))
        noisier = len(self.noises) - 1 - place % len(self.noises)
        prior = place // len(self.noises) % len(self.priors)
        spare = (noisier % 4 == 0) & (prior == len(self.priors) // 2)
        alive = np.flatnonzero(np.where(self.table[:, 3] == self.flip, place % len(self.noises) % 2 == 0, spare))
        bank = self.begun(alive)
        doubts = (self.flips(bank) > self.flip) + (self.noise(bank) > 1.0)
        rarer = _RARE * log(0.5 / self.rarer)
        noisier = np.array([rarer * log(s) - (log(s / _USUAL) / log(10.0)) ** 2 for s in self.noise(bank).tolist()])
        return replace(bank, evidence=noisier - _UNLIKELY * doubts - _MIDDLE * (prior[alive] != len(self.priors) // 2))

    def first_near(self, bank: Bank) -> Bank:
        """Return those of the first that are of a map, or a prior scale, of the bank's and next to it by the other."""
        first, steps = self.first(), len(self.priors)
        map_of, prior_of = (
            part[:, None] for part in np.divmod(first.alive // len(self.noises) % (len(self.maps) * steps), steps)
        )
        maps, priors = np.divmod(np.unique(bank.alive // len(self.noises)) % (len(self.maps) * steps), steps)
        near = np.abs(map_of - maps) + np.abs(prior_of - priors) <= 1
        return first.taken(np.flatnonzero(near.any(axis=1)))

    def begun(self, alive: Array) -> Bank:
        """Return filters that know nothing."""
        return self.kind.begun(alive, self.table[alive, 1], self.size)

    def thinned(self, bank: Bank) -> Bank:
        """Return, at powers of two, the filters that the answers do not speak against; fewer groups each time."""
        if bank.count < _FIRST_LOOK or bank.count & (bank.count - 1):
            return bank
        groups = bank.alive // len(self.noises)
        best = {int(g): bank.evidence[groups == g].max() for g in np.unique(groups)}
        halvings = (bank.count // _FIRST_LOOK).bit_length() - 1
        ranked, plain = sorted(best, key=lambda g: (-best[g], g)), len(self.maps) * len(self.priors)
        level = [g for g in ranked if g < plain and best[g] > best[ranked[0]] - _LEVEL][:_MOST_LEVEL]
        kept = [*level, *[g for g in ranked if g < plain][: max(_GROUPS, plain >> halvings)]]
        kept += [g for g in ranked if g >= plain][: max(_GROUPS, len(self.maps) >> halvings)]
        hopeful = bank.evidence > bank.evidence.max() - _BEHIND
        # One that forgives stays whatever it forecasts: after a change the sure ones would never come round.
        hopeful |= bank.alive == bank.alive[groups == ranked[0]].max()
        stay = np.flatnonzero(np.isin(groups, kept) & hopeful)
        if len(stay) < len(groups):
            bank = bank.taken(stay)
        return self._with_neighbours(bank)

    def _with_neighbours(self, bank: Bank) -> Bank:
        """Return the bank with filters next to the one that foretold best: of more and less noise, more and no doubt.

        Each begins as that one, with S as s^2, which it is about proportional to; it pays for not having been there.
        So no scale is lost for good to answers that were mixed up for a while, or to an early chance.  A gain of
        twice too much or too little costs questions in the end: the steps become smaller.
        """
        leader = int(np.argmax(bank.evidence))
        k, scales = int(bank.alive[leader]), len(self.noises)
        step, half = (2 if bank.count < _SECOND_LOOK else 1), len(self.table) // 2
        near = [k + side * step for side in (-1, 1) if 0 <= k % scales + side * step < scales]
        if self.table[-1, 3] > self.flip:
            near.append((k + half) % len(self.table))
        new = np.setdiff1d(near, bank.alive)
        if not len(new):
            return bank
        ratio = self.table[new, 2] / self.table[k, 2]
        born = bank.taken(np.full(len(new), leader)).sharpened(ratio)
        return bank.joined(replace(born, alive=new, evidence=born.evidence - _YOUNG))
