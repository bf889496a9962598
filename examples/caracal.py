"""Example 1 of the paper: few people know a caracal, everybody sees tufted ears.

Eight animals, told by attributes alone.  Each photograph gets one question, such as "Does it have
tufted ears?"; nobody is asked for a species.  Run it: python examples/caracal.py
"""

import numpy as np

import askone

ATTRIBUTES = {
    "feline": ["cat", "lion", "tiger", "caracal"],
    "tufted ears": ["caracal", "great horned owl", "araucana chicken"],
    "sandy color": ["lion", "caracal", "camel"],
    "Could it be a pet?": ["cat", "araucana chicken", "goldfish"],
    "feathers": ["great horned owl", "araucana chicken"],
}
ANIMALS = ["cat", "lion", "tiger", "caracal", "great horned owl", "araucana chicken", "goldfish", "camel"]

rng = np.random.default_rng(0)
photographs = rng.normal(size=(2500, 4))  # stand-ins for image features
centres = 2.5 * rng.normal(size=(8, 4))
species = rng.integers(8, size=2500)
photographs += centres[species]
names = np.array(ANIMALS)[species]

model = askone.OneBitClassifier(ANIMALS, attributes=ATTRIBUTES, random_state=0).start(photographs)
print("What is asked:")
for question in dict.fromkeys(map(str, model.ask(photographs[:200]))):
    print("  ", question)

model = askone.OneBitClassifier(ANIMALS, attributes=ATTRIBUTES, random_state=0).fit(photographs[:1500], names[:1500])
print(
    f"After one such question about each of 1500 photographs: {model.score(photographs[1500:], names[1500:]):.1%} right"
)
caracals = photographs[1500:][names[1500:] == "caracal"]
print(f"Caracals found: {np.mean(model.predict(caracals) == 'caracal'):.1%}, and nobody was asked for one")

# Attributes that leave two animals alike are refused, and which:
try:
    askone.OneBitClassifier(ANIMALS, attributes={"feline": ATTRIBUTES["feline"]}).start(photographs)
except askone.AskoneError as error:
    print("Too few attributes:", error)

# Any sets may be named instead; or none larger than so many classes:
pairs = [[a, b] for i, a in enumerate(ANIMALS) for b in ANIMALS[i + 1 :]]
for title, options in (("pairs only", {"sets": pairs}), ("one animal at a time", {"max_set_size": 1})):
    other = askone.OneBitClassifier(ANIMALS, random_state=0, **options).fit(photographs[:700], names[:700])
    print(f"{title}, 700 questions: {other.score(photographs[1500:], names[1500:]):.1%} right")
