"""Known answers are a share of what each person is asked, whatever the overlap and whoever comes first."""

import pytest

from askone.campaign.engine.commands import Answer, Next
from staged import PRICES, asking, one, price, stage

GOLD = dict.fromkeys(range(0, 400, 2), 75.0)
SHARE = 0.25


def shares(campaign, people):
    known = {who["id"]: who for who in campaign.people()}
    return [known[person]["gold_asked"] / known[person]["answers"] for person in people]


def answers(campaign, person, count, start):
    """One person answers so many questions."""
    for k in range(count):
        question = one(campaign, Next(person), start + k).question
        truth = GOLD.get(question.row.position, price(question.row))
        answer = bool(question.question.answer(truth))
        one(campaign, Answer(person, question.lease, answer, f"{person}-{k}"), start + k)


@pytest.mark.parametrize("overlap", [1, 3])
def test_everybody_has_the_share(store, overlap):
    ask = {"gold": "price", "gold_share": SHARE, "exam_share": 0.0, "overlap": overlap}
    campaign = stage(store, asking(PRICES, **ask), rows=400, gold=GOLD)
    people = ("ann", "bob", "cid")
    for place, person in enumerate(people):  # one after the other: the later have what is left over
        answers(campaign, person, 40, 1.0 + 1000 * place)
    found = shares(campaign, people)
    assert all(0.05 < share < 0.46 for share in found)  # 10 of 40, give or take three deviations
    assert sum(found) / 3 == pytest.approx(SHARE, abs=0.1)
    asked = [one.position for one in campaign.projection.asked.values() if one.role == "gold"]
    assert set(asked) <= set(GOLD)
