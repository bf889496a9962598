"""All ways of asking about classes, side by side: one argument chooses.

On the digits that come with scikit-learn, one question per image (the last two ask several, or for the
label itself).  The same on other data, with repeats and more questions: askone strategies --help.
Run it: python examples/strategies.py
"""

import numpy as np
from sklearn.datasets import load_digits

import askone
from askone.learners.paper.equilibrium import equilibrium

X, y = load_digits(return_X_y=True)
train, test = slice(0, 800), slice(800, None)

print(f"{'strategy':22s} questions  right")
STRATEGIES = {
    "designed": askone.SGD(),
    "singletons": askone.SGD(questions="singletons"),
    "singletons, logistic": askone.SGD(questions="singletons", loss="logistic"),
    "singletons, median": askone.SGD(questions="singletons", loss="median"),
    "sphere": askone.SGD(questions="sphere"),
    "coordinates": askone.SGD(questions="coordinates"),
    "passive": askone.SGD(questions="passive"),
    "game": askone.Game(),
    "bisection": askone.Bisection(),
    "full": askone.SGD(questions="full"),
}
for name, learner in STRATEGIES.items():
    model = askone.OneBitClassifier(learner=learner, budget=800, random_state=0)
    model.fit(X[train], y[train])
    print(f"{name:22s} {model.stream_.asked:9d}  {model.score(X[test], y[test]):.1%}")

# The min-max game of proposition 3 where all is known: the paper's counter-example.
solved = equilibrium([0.4, 0.3, 0.3], np.eye(3))
print(f"\np = (.4, .3, .3), single classes asked: value {solved.value:.3f}, ask with {solved.mu.round(3)},")
print(f"predict with {solved.v.round(3)}: without a majority the likeliest class is not the favourite")
