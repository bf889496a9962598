"""Any discrete problem with a loss matrix: mistakes that cost differently, and a tree of classes.

Finite(labels, loss) embeds labels by the loss, learns by least squares from questions about sets, and
predicts what costs least on average.  Run it: python examples/costs.py
"""

import numpy as np

import askone

rng = np.random.default_rng(0)


def rotten_fruit() -> None:
    """Selling a rotten fruit costs ten times what throwing a good one away does."""
    firmness = rng.uniform(0, 1, size=(4000, 1))
    state = np.where(rng.uniform(size=4000) < firmness[:, 0], "good", "rotten")
    cost = [[0, 10], [1, 0]]  # cost[predicted][true], in the order of the classes
    print("Fruit: what is sold, and what each fruit costs on average")
    for title, options in (("all mistakes alike", {}), ("by their cost", {"cost": cost})):
        model = askone.OneBitClassifier(["good", "rotten"], random_state=0, **options)
        model.fit(firmness[:3000], state[:3000])
        sold = model.predict(firmness[3000:])
        truth = state[3000:]
        paid = np.mean([cost[int(p == "rotten")][int(t == "rotten")] for p, t in zip(sold, truth, strict=True)])
        print(f"  {title:20s} {np.mean(sold == 'good'):.0%} sold, {paid:.2f} per fruit")


def tree_of_animals() -> None:
    """A loss that counts steps in a tree: if in doubt between cats and one bird, say a cat."""
    animals = ["cat", "lion", "owl"]
    steps = [[0, 1, 4], [1, 0, 4], [4, 4, 0]]
    seen = rng.choice(animals, p=[0.3, 0.3, 0.4], size=3000)
    rows = np.zeros((3000, 1))
    print("Animals: cat .3, lion .3, owl .4")
    for title, options in (("right or wrong", {}), ("by the tree", {"cost": steps})):
        linear = askone.SetLikelihood(model="linear")
        model = askone.OneBitClassifier(animals, learner=linear, random_state=0, **options).fit(rows, seen)
        print(f"  {title:20s} predicts {model.predict(rows[:1])[0]}")


rotten_fruit()
tree_of_animals()
