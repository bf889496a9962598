"""Polling preferences: one comparison per person, without and with what is known about the person.

Ten dishes, 3000 people.  Each person has an order of all ten in mind and is asked about one pair
(or for the best of three).  Without context one order is learnt for everybody; with the person's
age, hunger and budget, an order for each.

    python examples/rankings.py
"""

from __future__ import annotations

import numpy as np

from askone import SGD, OneBitRanker, Ranking, Thurstone

DISHES = ("soup", "salad", "pasta", "curry", "pizza", "sushi", "stew", "tacos", "risotto", "omelette")
PEOPLE, NEW = 3000, 300


def people(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is known about each person, the order they have in mind, and their order on an average day."""
    rng = np.random.default_rng(seed)
    taste, popularity = rng.normal(size=(3, len(DISHES))), rng.normal(size=len(DISHES))
    X = rng.normal(size=(PEOPLE + NEW, 3))
    usual = X @ taste + popularity
    space = Ranking(DISHES)
    return X, space.from_scores(usual + rng.normal(size=usual.shape)), space.from_scores(usual)


def poll(model: OneBitRanker, X: np.ndarray | None, orders: np.ndarray, best_of: int) -> OneBitRanker:
    """Live: ask each person once, hear the answer, learn at once."""
    for i, order in enumerate(orders):
        row = None if X is None else X[i]
        question = model.ask(row) if best_of == 2 else model.ask_best(row, k=best_of)
        answer = question.answer(order)
        model.tell(question, answer)
    return model


def main() -> None:
    X, orders, usual = people(seed=0)
    known, new = slice(0, PEOPLE), slice(PEOPLE, PEOPLE + NEW)

    everybody = poll(OneBitRanker(DISHES, random_state=0), None, orders[known], best_of=2)
    print("One order for all:", ", ".join(everybody.predict()[:5]), "...")
    print(f"  agrees with new people's usual orders: Kendall's tau {everybody.score(None, usual[new]):.2f}")

    print(f"An order for each, after {PEOPLE} questions:")
    odds = SGD(questions="bradley-terry", model="linear")
    for name, learner, best_of in (
        ("pairs that tell most (default)", Thurstone(model="linear"), 2),
        ("pairs by lot, Borda scores", SGD(model="linear"), 2),
        ("pairs by lot, Bradley-Terry", odds, 2),
        ("the best of 3, Bradley-Terry", odds, 3),
    ):
        model = OneBitRanker(DISHES, learner=learner, random_state=0).start(X[known])
        poll(model, X[known], orders[known], best_of)
        print(f"  {name:30s} tau {model.score(X[new], usual[new]):.2f}")
        question = model.ask_best(X[PEOPLE], k=3)
    print("A question:", question)


if __name__ == "__main__":
    main()
