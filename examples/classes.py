"""Which digit is it?  Ten classes, one question about each image, at most three digits in a question.

The images come with scikit-learn.  The model never sees a label: it asks "Is it one of: 3, 8, 9?", and
the yes or no is an unbiased gradient.  Run it: python examples/classes.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import askone

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)


def live() -> None:
    """Ask, have it answered, tell: what a program does with people at the other end."""
    model = askone.OneBitClassifier(range(10), random_state=0).start(X_train)  # unlabelled rows
    for row, label in zip(X_train, y_train, strict=True):
        question = model.ask(row)
        model.tell(question, question.holds(label))  # a person would say this
    print(f"The last of {len(X_train)} questions: {question}")
    print(f"  right on {model.score(X_test, y_test):.1%} of new images")
    likely = model.predict_proba(X_test[:1])[0]
    print(f"  the first new image: {likely.argmax()} with probability {likely.max():.2f} (truly {y_test[0]})")


def simulated() -> None:
    """The same by ``fit``, which hides y behind an oracle, for every surrogate; in a pipeline."""
    for loss in ("squared", "logistic", "median"):
        classifier = askone.OneBitClassifier(learner=askone.SGD(loss=loss), random_state=0)
        model = make_pipeline(StandardScaler(), classifier)
        model.fit(X_train, y_train)
        print(f"  {loss:8s} surrogate: {model.score(X_test, y_test):.1%}")


live()
print("By simulation, one bit per image:")
simulated()
