"""What prices earn while they are learnt: beside the best fixed price, explore-then-commit and Thompson's rule.

    python benchmarks/prices.py [--seeds 10] [--jobs 2] [--quick]

writes docs/prices.md.  Customers come one after the other; each is offered one price and buys or does not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from page import Array, arguments, grid, keep_page, machine, taken_with
from scipy import stats
from sklearn.linear_model import LogisticRegression

from askone import Filters, OneBitRegressor

HIGHEST = 100.0
CUSTOMERS = (100, 300, 1000, 3000)
Values = tuple[Array, Callable[[Array], Array], Array]
"""Columns of customers, P(value > c) at each of them for a price c, and what the offer is worth to each."""


def strangers(random: np.random.Generator, n: int) -> Values:
    """Nothing is known of anybody: Weibull values, and two columns that say nothing."""
    law = stats.weibull_min(1.6, scale=45)
    return random.uniform(size=(n, 2)), lambda c: np.broadcast_to(law.sf(c), (n,)), law.rvs(n, random_state=random)


def commuters(random: np.random.Generator, n: int) -> Values:
    """The further they go, the more they pay: gamma values whose scale grows with one of three columns."""
    X = random.uniform(size=(n, 3))
    law = stats.gamma(4.0, scale=4 + 10 * X[:, 0])
    return X, lambda c: law.sf(c), law.rvs(random_state=random)


def regions(random: np.random.Generator, n: int) -> Values:
    """Six regions, each with a price level of its own, and income beside: normal values."""
    region, income = random.integers(6, size=n), random.normal(size=n)
    law = stats.norm(np.array([30, 55, 42, 70, 25, 48])[region] + 4 * income, 9)
    return np.column_stack([np.eye(6)[region], income]), lambda c: law.sf(c), law.rvs(random_state=random)


def guests(random: np.random.Generator, n: int) -> Values:
    """Regulars pay some 35, tourists some 65; who is one is told by two columns, in part: values with two peaks."""
    X = random.normal(size=(n, 2))
    share = 1 / (1 + np.exp(-1.5 * X[:, 0] - X[:, 1]))
    low, high = stats.norm(35, 7), stats.norm(65, 9)
    value = np.where(random.random(n) < share, high.rvs(n, random_state=random), low.rvs(n, random_state=random))
    return X, lambda c: share * high.sf(c) + (1 - share) * low.sf(c), value


SHOPS = {one.__name__: one for one in (strangers, commuters, regions, guests)}
PRICES = np.arange(1.0, HIGHEST + 1)


def askone_offers(X: Array, bought: Callable[[int, float], bool], seed: int) -> None:
    """Offer by the library's default learner with the goal "revenue"."""
    shop = OneBitRegressor(0, HIGHEST, learner=Filters(goal="revenue"), decimals=0, random_state=seed).start(X)
    for n, row in enumerate(X):
        offer = shop.ask(row)
        shop.tell(offer, bought(n, float(offer.threshold)))


def thompson(count: int) -> Callable[..., None]:
    """Return Thompson's rule over so many prices, each with a beta law of its own; nobody looks at columns."""

    def offer(X: Array, bought: Callable[[int, float], bool], seed: int) -> None:
        random, prices = np.random.default_rng(seed), HIGHEST * (np.arange(count) + 0.5) / count
        yes, no = np.ones(count), np.ones(count)
        for n in range(len(X)):
            k = int(np.argmax(prices * random.beta(yes, no)))
            taken = bought(n, prices[k])
            yes[k], no[k] = yes[k] + taken, no[k] + 1 - taken

    return offer


def explore(share: float, seen: bool) -> Callable[..., None]:
    """Return explore-then-commit: even prices to this share of customers, then the best one by what they bought.

    ``seen``: for each customer, by a logistic regression on columns and price, fitted once.
    """

    def offer(X: Array, bought: Callable[[int, float], bool], seed: int) -> None:
        random, first = np.random.default_rng(seed), max(20, int(share * len(X)))
        tried = random.permutation(np.linspace(0, HIGHEST, first + 1)[1:])
        taken = np.array([bought(n, float(c)) for n, c in enumerate(tried)])
        columns = X if seen else np.zeros((len(X), 1))
        model = LogisticRegression(C=10.0, max_iter=1000) if taken.any() and not taken.all() else None
        if model is not None:
            model.fit(np.column_stack([columns[:first], tried / HIGHEST]), taken)
        for n in range(first, len(X)):
            if model is None:
                chances = np.full(len(PRICES), float(taken.any()))
            else:
                offers = np.column_stack([np.tile(columns[n], (len(PRICES), 1)), PRICES / HIGHEST])
                chances = model.predict_proba(offers)[:, 1]
            bought(n, float(PRICES[np.argmax(PRICES * chances)]))

    return offer


SHARES, COUNTS = (0.05, 0.1, 0.2, 0.4), (5, 10, 20)
SELLERS: dict[str, dict[str, Callable[..., None]]] = {
    "askone, goal revenue": {"": askone_offers},
    "explore, then one price": {f"{share:.0%}": explore(share, False) for share in SHARES},
    "explore, then a regression": {f"{share:.0%}": explore(share, True) for share in SHARES},
    "Thompson, one price for all": {str(count): thompson(count) for count in COUNTS},
}


def run(shop: str, seller: str, setting: str, customers: int, seed: int) -> tuple[float, float]:
    """Return what one customer paid on average, and the milliseconds of one offer."""
    X, _, values = SHOPS[shop](np.random.default_rng(seed), customers)
    paid = np.zeros(customers)

    def bought(n: int, price: float) -> bool:
        paid[n] = price * bool(values[n] > price)
        return bool(values[n] > price)

    begun = time.perf_counter()
    SELLERS[seller][setting](X, bought, seed)
    return float(paid.mean()), 1000 * (time.perf_counter() - begun) / customers


def known(shop: str) -> tuple[float, float]:
    """Return what the best fixed price earns of a customer, and what the best price for each one does."""
    _, above, _ = SHOPS[shop](np.random.default_rng(0), 20_000)
    earned = np.array([c * above(np.array(c)) for c in PRICES])
    return float(earned.mean(axis=1).max()), float(earned.max(axis=0).mean())


def measured(shops: Sequence[str], sizes: Sequence[int], seeds: Sequence[int], jobs: int) -> list[dict[str, Any]]:
    """Return a line for each shop and seller, in parts of the best fixed price, by its best setting at each size."""
    lines = []
    for shop in shops:
        fixed, each = known(shop)
        lines.append({"shop": shop, "seller": "best for each, if known", "mean": [each / fixed] * len(sizes)})
        for seller, settings in SELLERS.items():
            line: dict[str, Any] = {"shop": shop, "seller": seller, "mean": [], "error": [], "setting": [], "ms": 0.0}
            for size in sizes:
                found = {
                    name: np.array(
                        Parallel(n_jobs=jobs)(delayed(run)(shop, seller, name, size, seed) for seed in seeds)
                    )
                    for name in settings
                }
                best = max(found, key=lambda name: float(found[name][:, 0].mean()))
                ratios = found[best][:, 0] / fixed
                line["mean"].append(float(ratios.mean()))
                line["error"].append(float(ratios.std(ddof=1) / np.sqrt(len(seeds))) if len(seeds) > 1 else 0.0)
                line["setting"].append(best)
                line["ms"] = float(np.median(found[best][:, 1]))
            lines.append(line)
            print(line, flush=True)
    return lines


def page(lines: Sequence[dict[str, Any]], sizes: Sequence[int], seeds: int, of: dict[str, Any]) -> str:
    """Return docs/prices.md."""
    table = []
    for one in lines:
        errors, settings = one.get("error"), one.get("setting")
        cells = [
            f"{100 * mean:.0f}" if errors is None else f"{100 * mean:.0f} ± {100 * errors[k]:.0f}"
            for k, mean in enumerate(one["mean"])
        ]
        chosen = ", ".join(settings) if settings and any(settings) else "–"
        table.append((one["shop"], one["seller"], *cells, chosen, f"{one['ms']:.1f}" if errors is not None else "–"))
    head = ("customers who are", "seller", *(f"{size:,}" for size in sizes), "best settings", "ms an offer")
    about = "\n".join(f"- *{name}*: {str(shop.__doc__).strip()}" for name, shop in SHOPS.items())
    return f"""# Prices that earn while they are learnt

Written by `make bench-prices` (`benchmarks/prices.py`): {taken_with(of)}.

`Filters(goal="revenue")`, or `labels.goal = "revenue"` in a campaign, offers each customer the price that should earn
most by what is known, and one offer in four is Thompson's, to find out (`askone.learners.kalman.pricing` has the
formulas).  `model.best_price(X)` says the best price for a row, and how likely it is paid.

What customers paid, in % of what the best fixed price is expected to earn of as many, had it been known from the first
one on (± the deviation of the mean of {seeds} runs).  More than 100 is earned by prices that differ from customer to
customer.  The other sellers have the best of their settings at each number of customers, chosen in hindsight: the
share of customers who are offered even prices first, or the number of prices that are compared.  These shops were
simulated for this page alone: how often to explore was chosen on seven others.

{grid(head, table)}

{about}

What it assumes: values scatter about what is predicted as a normal law does, near the prices that are offered.  Where
they have two peaks (*guests*) that is wrong; and whoever buys at one price and not at another, on another day, is not
modelled at all.  The chance that a price is paid is told of the price that looks best by the same answers: on average
it is a little too high, and so is what the two promise together, more so where values are not normal.
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run it."""
    chosen = arguments(__doc__, seeds=10, jobs=os.cpu_count(), quick=False).parse_args(argv)
    if chosen.quick:
        print(page(measured(["strangers"], [40], [0, 1], 1), [40], 2, machine()))
        return
    lines = measured(list(SHOPS), CUSTOMERS, range(100, 100 + chosen.seeds), chosen.jobs)
    record = {"machine": machine(), "lines": lines, "customers": CUSTOMERS, "seeds": chosen.seeds}
    keep_page("prices", record, page(lines, CUSTOMERS, chosen.seeds, record["machine"]))


if __name__ == "__main__":
    main()
