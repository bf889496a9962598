"""The base of runs: jobs that compute, numbers that are kept, a figure, and claims with a verdict."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from askone.paper._plots import Figure
from askone.version import __version__

Numbers = dict[str, Any]

HOLDS, IN_PART, FAILS, CORRECTED = "holds", "holds in part", "does not hold", "corrected"
VERDICTS = (HOLDS, IN_PART, FAILS, CORRECTED)


@final
@dataclass(frozen=True)
class Job:
    """One piece of work: a function of plain arguments that gives plain JSON values.

    Jobs are what is handed to other processes or machines, and what is kept when a run is stopped.  ``trials`` names
    the argument that lists trials, where a device may compute those of several jobs at once; the function then takes a
    ``device``, and its value is a list with one entry for each trial, or a dictionary of such lists.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    trials: str = ""

    @property
    def key(self) -> str:
        """A name that changes with the function, its arguments and the version."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        text = json.dumps([__version__, name, self.arguments], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def __call__(self) -> Any:
        return self.function(**self.arguments)

    def on(self, device: str) -> Job:
        """Return the same job on a device, kept under a name of its own."""
        return replace(self, arguments={**self.arguments, "device": device})


@final
@dataclass(frozen=True)
class Claim:
    """A claim of the paper: what it says, what was measured here, and whether it holds."""

    text: str
    paper: str
    here: str
    verdict: str
    why: str = ""


class Run(ABC):
    """A figure or a claim of the paper."""

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str] = ""
    """What the figure shows, where the title does not say it all."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Data sets it reads (see ``askone.datasets``)."""

    @abstractmethod
    def jobs(self, quick: bool) -> Sequence[Job]:
        """Return the work, in an order that ``numbers`` knows."""

    @abstractmethod
    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return everything that the figure and the claims need, as JSON values, from the jobs' results."""

    @abstractmethod
    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the verdicts."""

    @abstractmethod
    def draw(self, numbers: Numbers) -> Figure:
        """Return the figure, in the paper's layout."""


def graded(each: list[bool]) -> str:
    """Return the verdict on a claim that has several cases.

    >>> graded([True, False])
    'holds in part'
    """
    return HOLDS if all(each) else IN_PART if any(each) else FAILS
