"""What a manager decides teaches as what is certain, and measures who answered."""

import pytest

from askone.campaign.engine.commands import Answer, Next, Rule, Undo
from commands import ask
from staged import PRICES, asking, assert_same_for_all, one, price, stage


def answered(campaign, who, answer, now=1.0):
    """Somebody's answer to the question that they have: the true one, or its contrary."""
    served = one(campaign, Next(who), now).question
    truth = served.question.answer(price(served.row))
    one(campaign, Answer(who, served.lease, truth if answer else not truth, f"{who}-{served.number}"), now)
    return served.number, truth


def numbers(campaign, which):
    return [one["number"] for one in campaign.answers(which, None, 20, 0)["answers"]]


def test_disagreements_are_listed_until_they_are_decided(store):
    campaign = stage(store, asking(PRICES, overlap=2, exam_share=0))
    number, truth = answered(campaign, "ann", True)
    assert answered(campaign, "bob", False) == (number, truth)
    assert numbers(campaign, "undecided") == numbers(campaign, "disagreement") == [number]
    one(campaign, Rule("boss", "m1", number, truth))
    assert numbers(campaign, "undecided") == []
    assert numbers(campaign, "disagreement") == [number]
    assert numbers(campaign, "wrong") == [number]
    known = {one["id"]: (one["gold_right"], one["gold_asked"]) for one in campaign.people()}
    assert known == {"ann": (1, 1), "bob": (0, 1)}
    assert campaign.projection.lessons.all == [(campaign.projection.rulings[number][0], number, truth, ())]
    one(campaign, Rule("boss", "m2", number, not truth))
    assert {one["id"]: one["gold_right"] for one in campaign.people()} == {"ann": 0, "bob": 1}
    one(campaign, Rule("boss", "m3", number, None))
    assert {one["id"]: one["gold_asked"] for one in campaign.people()} == {"ann": 0, "bob": 0}
    assert numbers(campaign, "undecided") == [number]
    assert campaign.projection.lessons.all == []


def test_what_is_decided_as_somebody_said_is_learnt_as_certain(store):
    campaign = stage(store, asking(PRICES, exam_share=0))
    asked = [answered(campaign, who, True, float(n)) for n, who in enumerate(["ann", "bob"] * 3)]
    learner, before = campaign.projection.learner, campaign.projection.state
    assert [one.answers for one in learner.people(before)] == [3, 3]
    one(campaign, Rule("boss", "m1", *asked[2]), 10.0)
    campaign.learn()
    assert [one.answers for one in learner.people(campaign.projection.state)] == [2, 3]
    assert campaign.projection.lessons.all[2].said == ()
    assert_same_for_all(campaign)
    one(campaign, Undo("bob", "u1"), 11.0)  # what is measured goes with the answer that is taken back
    one(campaign, Rule("boss", "m2", *asked[4]), 12.0)
    one(campaign, Undo("ann", "u2"), 13.0)
    assert {one["id"]: one["gold_asked"] for one in campaign.people()} == {"ann": 1, "bob": 0}


def test_decisions_do_not_make_everybody_look_worse(store):
    campaign = stage(store, asking(PRICES, exam_share=0))
    asked = [answered(campaign, "ann", n > 2, float(n)) for n in range(6)]
    before = campaign.projection.slips
    for n, (number, truth) in enumerate(asked[:3]):  # the managers look at what is odd
        one(campaign, Rule("boss", f"m{n}", number, truth), 10.0)
    assert campaign.projection.slips == before


def test_an_answer_that_the_model_hardly_expects_is_to_be_decided(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=90)
    asked = [answered(campaign, "ann", n not in (10, 11, 12), float(n))[0] for n in range(80)]
    doubtful = numbers(campaign, "undecided")
    assert doubtful
    assert set(doubtful) <= set(asked[10:13])
    one(campaign, Rule("boss", "m1", doubtful[0], None))
    assert numbers(campaign, "undecided") == doubtful
    answer = campaign.projection.asked[doubtful[0]].given[0].answer
    one(campaign, Rule("boss", "m2", doubtful[0], not answer))
    assert doubtful[0] not in numbers(campaign, "undecided")


def test_the_command_lists_and_decides(here):
    (here / "t.csv").write_text("size\n" + "\n".join(map(str, range(30))))
    ask("new", "t.csv", "--kind", "number", "--low", 0, "--high", 30, "--title", "T", "--set", "ask.overlap=2")
    assert "Nothing is left to decide" in ask("decide", "t").out
    (here / "says.py").write_text("yes = lambda question: True\nno = lambda question: False\n")
    for program in ("says:yes", "says:no"):
        ask("answer", "t", "--with", program, "--most", 3)
    told = ask("decide", "t").out
    assert "says:yes: yes, says:no: no" in told
    assert "3 questions to decide" in told
    assert "Question 0 counts as yes." in ask("decide", "t", "0", "yes").out
    ask("decide", "t", "0", "people")
    assert "there is no question 99 to be decided" in ask("decide", "t", "99", "no", status=2).err
    ask("decide", "t", "0", status=2)


@pytest.mark.parametrize("answer", [True, False])
def test_a_question_of_gold_is_not_decided(store, answer):
    campaign = stage(
        store, asking(PRICES, gold="price", gold_share=0.9, exam_share=0), gold=dict.fromkeys(range(40), 50.0)
    )
    number = one(campaign, Next("ann"), 1.0).question.number
    assert campaign.projection.asked[number].role == "gold"
    with pytest.raises(Exception, match="no question"):
        one(campaign, Rule("boss", "m1", number, answer))
