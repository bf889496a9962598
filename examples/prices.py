"""What would people pay?  Three ways to find out by offers that are taken or left.

Nobody is asked for a number.  A shop shows a price, the customer buys or does not, and the shop
learns from that alone.  Run it: python examples/prices.py
"""

import numpy as np

import askone
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.learners.paper.ellipsoid import EllipsoidLearner

rng = np.random.default_rng(0)


def one_product() -> None:
    """A product whose value to a customer depends on their age, and differs between people."""
    ages = rng.uniform(18, 80, size=(4000, 1))
    typical = 20 + 0.5 * ages[:, 0]
    values = typical + 8 * rng.normal(size=len(ages))  # what each would pay: never seen by the model
    words = askone.Wording(unit="€", template="Would you buy it for {threshold}?", answers=("bought", "did not buy"))
    model = askone.OneBitRegressor(0, 100, wording=words, random_state=0)
    model.start(ages)
    for age, value in zip(ages, values, strict=True):
        offer = model.ask(age)
        model.tell(offer, "bought" if offer.holds(value) else "did not buy")
    print("One product.  The last offer:", offer)
    for age in (20, 50, 80):
        found = model.predict([[age]])[0]
        print(f"  at {age} half of the customers pay {found:5.1f} €   (truly {20 + 0.5 * age:.1f} €)")


def baskets() -> None:
    """Two products sold in three baskets only; prices of each come out all the same."""
    income = rng.uniform(0, 1, size=(6000, 1))
    values = np.column_stack([2 + 2 * income[:, 0], 8 - 3 * income[:, 0]]) + 0.5 * rng.normal(size=(6000, 2))
    words = askone.Wording(("apples", "pears"), "€", "Would you pay more than {threshold} for {amount}?")
    sold, linear = [(1, 0), (2, 1), (0, 1)], askone.Filters(model="linear")
    model = askone.OneBitRegressor(0, 10, wording=words, bundles=sold, learner=linear, random_state=0)
    model.start(income)
    print("\nBaskets.  Some questions:")
    for row in income[:3]:
        print("  ", model.ask(row))
    model.fit(income, values)  # the same by simulation: labels are hidden, one bit each comes out
    for row in (0.0, 1.0):
        apples, pears = model.predict([[row]])[0]
        print(f"  income {row:.0f}: an apple {apples:.2f} € (truly {2 + 2 * row:.2f} €),", end=" ")
        print(f"a pear {pears:.2f} € (truly {8 - 3 * row:.2f} €)")


def without_noise() -> None:
    """Values that follow the features exactly: each offer halves what is possible."""
    rooms = rng.normal(size=(1000, 3))
    values = 60 + rooms @ [12.0, -5.0, 3.0]
    space = askone.Real(0, 120, unit="€", decimals=1, wording="Would you take the room for {threshold}?")
    seller = askone.Stream(EllipsoidLearner(space, Linear(Scaler.from_rows(rooms)), margin=2.0))
    sold, earned = 0, 0.0
    for room, value in zip(rooms, values, strict=True):
        offer = seller.ask(room)
        taken = offer.holds(value)
        seller.tell(offer, taken)
        sold, earned = sold + taken, earned + taken * offer.threshold
    low, high = (end[0] for end in seller.learner.interval(seller.state, rooms[:1]))
    print(f"\nWithout noise.  A room is worth {low:.1f} € to {high:.1f} € (truly {values[0]:.1f} €)")
    print(f"  {sold} of {len(rooms)} rooms sold, for {earned:.0f} € of at most {values.sum():.0f} €")


if __name__ == "__main__":
    one_product()
    baskets()
    without_noise()
