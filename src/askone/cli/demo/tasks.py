"""The campaigns of the demonstration: handwritten digits, prices of flats, favourite drinks; who knows the answers."""

from __future__ import annotations

import csv
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from askone.campaign.settings.settings import (
    AskSettings,
    ClassNames,
    Items,
    LearnerSettings,
    Numbers,
    QuestionSettings,
    RowSettings,
    Settings,
)
from askone.campaign.tables.safe_images import drawn
from askone.client.question import Posed


class Knowledge(ABC):
    """The truth that a simulated person knows; the learner never sees it."""

    @abstractmethod
    def answer(self, question: Posed, key: str, chance: random.Random) -> bool:
        """Return the answer to a question, as it was shown, about the row of a key."""


@final
class Flipping(Knowledge):
    """A person who errs in a share ``flip`` of the answers.

    >>> class Yes(Knowledge):
    ...     def answer(self, question, key, chance):
    ...         return True
    >>> somebody, chance = Flipping(Yes(), 0.1), random.Random(0)
    >>> 880 < sum(somebody.answer(None, "", chance) for _ in range(1000)) < 920
    True
    """

    def __init__(self, inner: Knowledge, flip: float) -> None:
        self._inner, self._flip = inner, flip

    def answer(self, question: Posed, key: str, chance: random.Random) -> bool:
        return self._inner.answer(question, key, chance) != (chance.random() < self._flip)


@final
@dataclass(frozen=True)
class DemoTask:
    """A campaign to be: ``table`` is a file or a folder of images, or None for an order of items."""

    name: str
    settings: Settings
    table: Path | None
    knowledge: Knowledge


# -- handwritten digits, which everybody can read: the images that come with scikit-learn --

FLIP = 0.03
_SIDE = 144  # pixels


@final
class Reader(Knowledge):
    """A person who can read digits."""

    def __init__(self, truth: Mapping[str, str]) -> None:
        self.truth = truth

    def answer(self, question: Posed, key: str, chance: random.Random) -> bool:
        return question.holds(self.truth[key])


def digits(folder: Path, count: int = 800) -> DemoTask:
    """Return the task; its images, ink on paper, are written into a folder."""
    images, labels = load_digits(return_X_y=True)
    truth, pictures = {}, folder / "digits"
    pictures.mkdir()
    for place, (image, label) in enumerate(zip(images[:count], labels[:count], strict=True)):
        name = f"digit-{place + 1:04}.png"
        (pictures / name).write_bytes(drawn(1 - image.reshape(8, 8) / 16, _SIDE))
        truth[name] = str(label)
    settings = Settings(
        title="Handwritten digits",
        labels=ClassNames(tuple("0123456789")),
        question=QuestionSettings(instructions="Which digit did somebody write? Read it, then answer yes or no."),
        ask=AskSettings(exam_share=0.15, lease_seconds=60),
        learner=LearnerSettings(flip=FLIP),
    )
    return DemoTask("digits", settings, pictures, Reader(truth))


# -- drinks in the order in which people like them: no rows, only pairs --

LIKED: Final = {
    "water": 1.1,
    "coffee": 1.8,
    "tea": 1.3,
    "cocoa": 0.6,
    "lemonade": 0.2,
    "orange juice": 0.9,
    "tomato juice": -1.2,
    "kombucha": -0.6,
}
"""How much people like each: the difference decides how many prefer one to the other."""


@final
class Drinker(Knowledge):
    """A person with a taste, by Bradley and Terry: P(first) = 1 / (1 + exp(u(second) - u(first)))."""

    def answer(self, question: Posed, key: str, chance: random.Random) -> bool:
        first, second = question.answers
        return chance.random() < 1 / (1 + math.exp(2 * (LIKED[second] - LIKED[first])))


def drinks() -> DemoTask:
    """Return the task."""
    settings = Settings(
        title="Favourite drinks",
        labels=Items(tuple(LIKED)),
        question=QuestionSettings(instructions="One of the two, here and now: which?"),
        ask=AskSettings(exam_share=0.15),
    )
    return DemoTask("drinks", settings, None, Drinker())


# -- flats of a made-up town, and what they would sell for --

UNSURE = 0.04
"""How far off a guess of a price is, as a share of it."""
LOW, HIGH = 50_000.0, 1_000_000.0
# Districts with their streets, and euros for a square metre in the middle of the range.
_DISTRICTS: Final = {
    "Old Town": (("Canal Street", "Bell Lane", "Market Square"), 6100),
    "Riverside": (("Willow Bank", "Ferry Road", "Mill Street"), 5400),
    "University": (("Library Road", "Garden Street", "Poplar Avenue"), 4700),
    "Station": (("Platform Road", "Rail Street", "Depot Lane"), 3400),
    "Northfield": (("Orchard Way", "Maple Street", "Meadow Road"), 3100),
    "Harbour": (("Crane Street", "Quay Road", "Anchor Lane"), 3900),
}
_CONDITIONS: Final = {"needs work": 0.8, "good": 1.0, "renovated": 1.12, "new": 1.22}
COLUMNS: Final = ("flat", "street", "district", "size", "rooms", "floor", "lift", "built", "balcony", "condition")


@final
class Agent(Knowledge):
    """A person who knows the market, give or take a few percent: near the price the answer may be wrong."""

    def __init__(self, truth: Mapping[str, float]) -> None:
        self.truth = truth

    def answer(self, question: Posed, key: str, chance: random.Random) -> bool:
        return question.holds(self.guess(key, chance))

    def guess(self, key: str, chance: random.Random) -> float:
        """Return what somebody takes for the price."""
        return self.truth[key] * math.exp(chance.gauss(0, UNSURE))


def flats(folder: Path, count: int = 3000, seed: int = 0) -> DemoTask:
    """Return the task; its table, without prices, is written into a folder."""
    rows, prices = flats_and_prices(count, seed)
    path = folder / "flats.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    settings = Settings(
        title="What flats sell for",
        labels=Numbers(LOW, HIGH, "EUR", -3, "the price"),
        rows=RowSettings(key="flat", show=COLUMNS[1:], learn=COLUMNS[2:]),
        question=QuestionSettings(
            wording="Is its market price {side} {threshold}?",
            instructions="Size is in square metres. Answer as if the flat were on the market today.",
        ),
        ask=AskSettings(exam_share=0.15, price=0.1, currency="EUR"),
    )
    truth = {str(row[0]): float(price) for row, price in zip(rows, prices, strict=True)}
    return DemoTask("flats", settings, path, Agent(truth))


def flats_and_prices(count: int, seed: int = 0) -> tuple[list[tuple[Any, ...]], NDArray[np.float64]]:
    """Return rows as in ``COLUMNS``, and their prices in whole thousands of euros.

    >>> rows, prices = flats_and_prices(3)
    >>> len(rows[0]) == len(COLUMNS), bool((prices >= LOW).all())
    (True, True)
    """
    chance = np.random.default_rng(seed)
    names = list(_DISTRICTS)
    rows: list[tuple[Any, ...]] = []
    prices = np.empty(count)
    for i in range(count):
        district = names[int(chance.integers(len(names)))]
        streets, metre = _DISTRICTS[district]
        street = f"{streets[int(chance.integers(len(streets)))]} {int(chance.integers(1, 120))}"
        size = int(np.clip(np.exp(chance.normal(4.25, 0.38)), 22, 165))
        rooms = int(np.clip(round(size / 27 + chance.normal(0, 0.5)), 1, 6))
        floor, lift = int(chance.integers(0, 7)), bool(chance.random() < 0.5)
        built = int(chance.choice([1900, 1928, 1956, 1972, 1988, 2004, 2017]) + chance.integers(0, 8))
        balcony = bool(chance.random() < 0.6)
        condition = (
            "new" if built >= 2015 else str(chance.choice(["needs work", "good", "renovated"], p=[0.2, 0.5, 0.3]))
        )
        worth = metre * size * (70 / size) ** 0.08 * _CONDITIONS[condition]
        worth *= 1 + 0.04 * balcony + (0.01 * floor if lift else -0.025 * max(0, floor - 2))
        worth *= 0.93 if 1950 <= built < 1985 else 1.0
        worth *= float(np.exp(chance.normal(0, 0.05)))
        prices[i] = 1000 * round(float(np.clip(worth, LOW, HIGH)) / 1000)
        cells = (size, rooms, floor, "yes" if lift else "no", built, "yes" if balcony else "no", condition)
        rows.append((f"F{i + 1:05}", street, district, *cells))
    return rows, prices
