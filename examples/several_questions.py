"""Several questions about a row, until its label is known (section 7.2 of the paper), counted.

Classes: a Huffman code of what the model expects, so that a good model is confirmed by one "yes".  Reals:
the range is halved until it is narrow enough.  And Algorithm 1 with memory, which never asks what earlier
answers about a row imply.  Run it: python examples/several_questions.py
"""

import numpy as np
from sklearn.datasets import load_digits

import askone

X, y = load_digits(return_X_y=True)
train, test = slice(0, 1200), slice(1200, None)


def one_image() -> None:
    """Twenty questions, live."""
    model = askone.OneBitClassifier(range(10), learner="bisection", random_state=0).start(X[train])
    while model.wants(X[0], "first image"):
        question = model.ask(X[0], key="first image")
        answer = question.holds(y[0])
        print("  ", question, "yes" if answer else "no")
        model.tell(question, answer)


def digits() -> None:
    """The same budget spent on many rows once, or on fewer rows until they are known."""
    for title, learner in (
        ("one question per row", askone.SGD(questions="sphere")),
        ("Algorithm 1 with memory", askone.Remembering()),
        ("until the label is known", askone.Bisection()),
    ):
        model = askone.OneBitClassifier(learner=learner, budget=1200, random_state=0).fit(X[train], y[train])
        print(f"  {title:26s} {model.stream_.asked} questions: {model.score(X[test], y[test]):.1%} right")


def temperatures() -> None:
    """Reals, to within half a degree."""
    rng = np.random.default_rng(0)
    hours = rng.uniform(0, 24, size=(2000, 1))
    degrees = 10 + 8 * np.sin(2 * np.pi * (hours[:, 0] - 9) / 24) + rng.normal(size=2000)
    for title, learner in (
        ("one question per row", "auto"),
        ("Algorithm 1 with memory", "memory"),
        ("dichotomy of each label", askone.Bisection(precision=0.5)),
    ):
        model = askone.OneBitRegressor(-10, 30, unit="°C", learner=learner, budget=2000, random_state=0)
        model.fit(hours, degrees)
        error = np.abs(model.predict(hours) - 10 - 8 * np.sin(2 * np.pi * (hours[:, 0] - 9) / 24)).mean()
        print(f"  {title:26s} {model.stream_.asked} questions: {error:.2f} °C off")


print("One image:")
one_image()
print("Digits:")
digits()
print("Temperatures:")
temperatures()
