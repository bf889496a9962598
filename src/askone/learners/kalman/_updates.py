"""How the bank of one output learns, in blocks of answers, and begins anew when the concept has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from askone._common.types import Array
from askone.labels.number import Real
from askone.learners.kalman import _compiled
from askone.learners.kalman._answers import AnswerBlock
from askone.learners.kalman._bank import ALONE, Bank, Judging
from askone.learners.kalman._grid import FilterGrid
from askone.learners.kalman._watch import SHORT, Trial, Watch, Watching, beside
from askone.learners.row_shift import RowMoments

_LAPSE = 0.12  # of the rarer answer, in the weights alone: a surprise or two is no proof against a filter
_UNROUNDED = 99


@final
@dataclass(frozen=True, eq=False)
class OutputUpdates:
    """The filters and the range of one output; banks and whoever watches them come and go as values."""

    grid: FilterGrid
    space: Real
    output: int
    forgets: bool

    @cached_property
    def _units(self) -> tuple[float, float, float, float, int]:
        """Centre and scale of unit labels, between which thresholds is asked, and with how many decimals."""
        space, j = self.space, self.output
        low, high = space.clipped([[-np.inf] * space.m, [np.inf] * space.m])[:, j].tolist()
        decimals = _UNROUNDED if space.decimals is None else space.decimals
        return space.centers[j], space.scales[j], low, high, decimals

    def advanced(self, bank: Bank, features: Array, block: AnswerBlock, thin: bool = True) -> Bank:
        """Return the bank, written into, after a block of rows that does not go beyond what may be pending."""
        law = self.grid.noise(bank), self.grid.flips(bank), self.grid.lean, _LAPSE * self.grid.rarer
        about = block.upper, block.extra, *self._units
        after = bank.learnt(features, self.grid.places(bank), law, about, block.arrays, block.judged)
        return self.grid.thinned(after) if thin and after.count > bank.count and after.pending == 0 else after

    def watched(
        self, bank: Bank, watch: Watching, X: Array, features: Array, block: AnswerBlock
    ) -> tuple[Bank, Watching]:
        """Return the bank after some answers, or one begun anew if the concept has changed, and who watches."""
        heard = block.heard
        if not self.forgets or not heard.any():
            return bank, watch
        if isinstance(watch, Trial):
            watch = replace(watch, former=self.advanced(watch.former.opened(len(X)), features, block.unsaid()))
            return (bank, watch) if bank.pending else watch.judged(bank)
        if watch is not None:
            young = self.advanced(watch.young.opened(len(X)), features, block.unsaid(), thin=False)
            answers = block.thresholds[heard], block.answers[heard]
            watch = watch.heard(young, X[heard], *answers, block.extra, block.upper, block.slips[heard])
        if bank.pending:
            return bank, watch
        most = float(bank.evidence.max())
        if watch is not None:
            watch, change = watch.judged(most, bank.count)
            if change is not None:
                new, _ = self.learnt(self.grid.first(), None, *watch.since(change), watched=False)
                return new, Trial.begun(bank, new)
        if bank.count % SHORT == 0:
            young = self.grid.begun(bank.alive[[int(np.argmax(bank.evidence))]])
            if watch is None:
                watch = Watch.begun(young.joined(young), most, RowMoments.none(X.shape[1]))
            else:
                watch = watch.renewed(young, most)
        return bank, watch

    def learnt(
        self, bank: Bank, watch: Watching, X: Array, told: Array, judged: Judging = ALONE, known: Array | None = None,
        watched: bool = True,
    ) -> tuple[Bank, Watching]:  # fmt: skip
        """Return a bank after some answers (told: see ``Watch``), in blocks of those alike, and who watches.

        ``known`` gets how many answers the bank knew before each.
        """
        bank, done = bank.opened(len(X)), 0
        # Where answers of another kind begin: those of a block have one variance and one upper end.
        others = np.flatnonzero((told[1:, 2:4] != told[:-1, 2:4]).any(axis=1)) + 1
        while done < len(X):
            ahead = others[np.searchsorted(others, done, side="right") :]
            end = min(int(ahead[0]) if len(ahead) else len(X), done + _compiled.PENDING - bank.pending)
            if known is not None:
                known[done:end] = bank.count + np.arange(end - done)
            block = AnswerBlock.told(told[done:end], judged.part(done, end))
            bank, watch = self.after(bank, watch, X[done:end], block, watched)
            done = end
        return bank, watch

    def streamed(self, bank: Bank, watch: Watching, X: Array, mine: Array, asked: AnswerBlock) -> tuple[Bank, Watching]:
        """Return a bank after asking about some rows, and who watches; thresholds and answers are written down."""
        bank, done = bank.opened(_compiled.PENDING), 0
        while done < len(mine):
            rows = mine[done : done + _compiled.PENDING - bank.pending]
            part = asked.part(rows)
            bank, watch = self.after(bank, watch, X[rows], part)
            asked.thresholds[rows], asked.answers[rows] = part.thresholds, part.answers
            done += len(rows)
        return bank, watch

    def after(
        self, bank: Bank, watch: Watching, X: Array, block: AnswerBlock, watched: bool = True
    ) -> tuple[Bank, Watching]:
        """Return a bank that was opened after a block that does not go beyond what may be pending, and who watches."""
        features = self.grid.features(X, self.grid.in_use(bank, *beside(watch)))
        bank = self.advanced(bank, features, block)
        return self.watched(bank, watch, X, features, block) if watched else (bank, watch)
