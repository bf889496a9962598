"""Whether the concept that a bank has learnt is still so: two young filters forecast beside it, and the rows are kept.

Questions are asked where yes and no are equally likely, so that no answer surprises; but after a change a filter that
knows little is soon right where the bank is wrong.  Two filters begin anew again and again, one after ``SHORT`` answers
and one after eight times as many, as the best filter of the bank began.  With l the log evidence,

    lead = (l_young - l_young at its start) - (max l_bank - max l_bank at the same time)

is the log-likelihood ratio of the two.  When it is h = 4 + log(2 n) or so above its least value so far, with n answers
that the bank knows, the concept has changed, and it did so when it was least: the bank begins anew from the answers
since.  If the bank is right about itself this happens, where nothing changes, at most once in exp(h) answers (Lorden's
bound for CUSUM), that is at least 50 times as many as it knows.  If the rows since then are other rows than before, as
in a sorted table, what was learnt of those may still be so, and it is no change.

No feature map is quite right, so a bank may lose to a young filter for a while and know more all the same.  The former
bank therefore learns on beside the new one and comes back if its forecasts become the better ones (``Trial``).

``learners.forgetting`` finds changes for learners of other families.  Its alarm would never ring here, as it waits for
surprises, and it forgets all, where a bank has the answers since the change and learns them anew.  Both compare the
rows by ``RowMoments``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from askone._common.types import Array
from askone.learners.kalman._bank import Bank
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.row_shift import RowMoments

SHORT, _TIMES = 128, 8
_ALARM, _DOUBLING = 4.0, 0.7  # nats, and those that each doubling of the answers adds
_KEPT = 1 << 18  # numbers of rows that are kept, at most
_TOLD = 6  # numbers of an answer beside the row
_LOOKS = 2  # each look at a trial comes after so many times as many answers as the last
_BACK = 6.0  # nats that a former bank forecasts better since the last look, to come back
_TRIED = 8  # a former bank goes when the new one knows one in so many of its answers


@final
@dataclass(frozen=True, eq=False)
class Watch:
    """Two young filters; for each max l_bank at its start, its least lead, and answers kept by then (2 x 3).

    ``kept`` has ``count`` answers: the row, the threshold, 1 for yes, the variance of what else it depends on, the
    upper end (of a range), and slips; ``rows`` are the moments of the rows before.
    """

    young: Bank
    marks: Array
    count: int
    kept: Buffer
    rows: RowMoments

    @classmethod
    def begun(cls, young: Bank, evidence: float, rows: RowMoments) -> Watch:
        """Return a watch that begins now."""
        return cls(young, np.array([[evidence, 0.0, 0.0]] * 2), 0, Buffer(len(rows.mean) + _TOLD), rows)

    def heard(
        self, young: Bank, X: Array, thresholds: Array, answers: Array, extra: float, upper: float, slips: Array
    ) -> Watch:
        """Return the same after some answers (slips: n x 2)."""
        told = np.empty((len(X), X.shape[1] + _TOLD))
        told[:, :-_TOLD], told[:, -_TOLD], told[:, 1 - _TOLD] = X, thresholds, answers
        told[:, 2 - _TOLD], told[:, 3 - _TOLD], told[:, 4 - _TOLD :] = extra, upper, slips
        return Watch(young, self.marks, self.count + len(X), self.kept.extended(self.count, told), self.rows)

    def judged(self, evidence: float, known: int) -> tuple[Watch, int | None]:
        """Return the same with the leads of now, and after how many of the answers the concept changed, if it did."""
        marks, alarm = self.marks.copy(), _ALARM + _DOUBLING * known.bit_length()
        for i in range(2):
            lead, place = self.young.evidence[i] - (evidence - marks[i, 0]), int(marks[i, 2])
            found = lead - marks[i, 1] > alarm
            if found and not self._others(place):
                return self, place
            if found or lead < marks[i, 1]:
                marks[i, 1:] = lead, self.count
        return replace(self, marks=marks), None

    def raised(self, by: float) -> Watch:
        """Return the same for a bank whose log evidence is so much higher, as it has learnt the same answers anew."""
        return replace(self, marks=self.marks + np.array([by, 0.0, 0.0]))

    def renewed(self, young: Bank, evidence: float) -> Watch:
        """Return the same with another first filter, which begins now; if it is time, with another second one, too."""
        columns = len(self.rows.mean)
        if self.count >= SHORT * max(1, min(_TIMES, _KEPT // (columns * SHORT))):
            return Watch.begun(young.joined(young), evidence, self._met(self.count))
        marks = self.marks.copy()
        marks[0] = evidence, 0.0, self.count
        return replace(self, young=young.joined(self.young.taken(np.array([1]))), marks=marks)

    def since(self, place: int) -> tuple[Array, Array]:
        """Return the rows from a place on, and what was told of them."""
        kept = self.kept.view(self.count)[place:]
        return np.ascontiguousarray(kept[:, :-_TOLD]), kept[:, -_TOLD:]

    def _met(self, place: int) -> RowMoments:
        """Return the moments of all rows until a place."""
        return self.rows.met(self.kept.view(place)[:, :-_TOLD])

    def _others(self, place: int) -> bool:
        """Return whether the rows from a place on are other rows than those before."""
        return self._met(place).differ(RowMoments.none(len(self.rows.mean)).met(self.since(place)[0]))

    def to_arrays(self) -> dict[str, Array]:
        """Return all as arrays."""
        counts = np.array([self.young.count, self.rows.count])
        rows = np.array([self.rows.mean, self.rows.squares])
        return {
            "marks": self.marks,
            "kept": self.kept.view(self.count).copy(),
            "counts": counts,
            "rows": rows,
        } | self.young.arrays()

    @classmethod
    def from_arrays(cls, kind: type[Bank], arrays: dict[str, Array]) -> Watch:
        """Return the watch of ``to_arrays``."""
        kept, (count, rows) = arrays["kept"], arrays["counts"].tolist()
        young = kind(count, **{name: arrays[name] for name in kind.parts})
        missing = len(arrays["rows"][0]) + _TOLD - kept.shape[1]  # files of before there were slips
        kept = np.hstack([kept, np.zeros((len(kept), missing))])
        buffer = Buffer(kept.shape[1]).extended(0, kept)
        return cls(young, arrays["marks"], len(kept), buffer, RowMoments(rows, *arrays["rows"]))


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """A bank that was left for a new one; max l of both at the last look, and what the new one knows at the next."""

    former: Bank
    marks: Array

    @classmethod
    def begun(cls, former: Bank, new: Bank) -> Trial:
        """Return a trial that begins, or goes on, now."""
        return cls(former, np.array([former.evidence.max(), new.evidence.max(), _LOOKS * new.count]))

    def raised(self, by: float) -> Trial:
        """Return the same for a new bank whose log evidence is so much higher, as it has learnt the same anew."""
        return replace(self, marks=self.marks + np.array([0.0, by, 0.0]))

    def judged(self, new: Bank) -> tuple[Bank, Trial | None]:
        """Return the bank that goes on, the former one if it forecast better since the last look; the trial, if any.

        A new bank that was better goes on being tried until it knows an eighth of what the former one knows: what
        changes for some hundred answers only is no other concept.
        """
        if new.count < self.marks[2]:
            return new, self
        gains = self.former.evidence.max() - self.marks[0], new.evidence.max() - self.marks[1]
        if gains[0] > gains[1] + _BACK:
            return self.former, None
        return new, None if _TRIED * new.count >= self.former.count else Trial.begun(self.former, new)

    def to_arrays(self) -> dict[str, Array]:
        """Return all as arrays."""
        return {"trial": self.marks, "counts": np.array([self.former.count])} | self.former.arrays()

    @classmethod
    def from_arrays(cls, kind: type[Bank], arrays: dict[str, Array]) -> Trial:
        """Return the trial of ``to_arrays``."""
        return cls(kind(int(arrays["counts"][0]), **{name: arrays[name] for name in kind.parts}), arrays["trial"])


Watching = Watch | Trial | None
"""Who watches a bank: nobody at first."""


def beside(watch: Watching) -> list[Bank]:
    """Return the bank that learns beside the one in charge, if there is one."""
    if watch is None:
        return []
    return [watch.young if isinstance(watch, Watch) else watch.former]


def from_arrays(kind: type[Bank], arrays: dict[str, Array]) -> Watching:
    """Return the watch or the trial that these are the arrays of; None: there was none."""
    if not arrays:
        return None
    return (Trial if "trial" in arrays else Watch).from_arrays(kind, arrays)
