"""Comparisons of models that were made: one for each campaign, until its answers have grown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, final
from weakref import WeakValueDictionary

from askone.server._responses import ComparisonResponse

GROWTH: Final = 1.2
"""Growth of the answers, either way, after which models are compared anew."""


@final
class KeptComparisons:
    """See the module; campaigns are known by their numbers.  One comparison at a time is made of a campaign."""

    def __init__(self) -> None:
        self._kept: dict[int, ComparisonResponse] = {}
        self._turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def of(
        self, campaign: int, answers: int, make: Callable[[], Awaitable[ComparisonResponse]]
    ) -> ComparisonResponse:
        """Return the comparison of a campaign that has so many answers now; whoever waits for another's takes that."""
        turn = self._turns.setdefault(campaign, asyncio.Lock())
        async with turn:
            kept = self._kept.get(campaign)
            if kept is None or not kept.answers <= GROWTH * answers <= GROWTH**2 * kept.answers:
                kept = self._kept[campaign] = await make()
            return kept
