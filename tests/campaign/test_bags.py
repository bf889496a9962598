"""Several rows in one question, in campaigns: served together, answered at once, folded like single answers."""

from contextlib import closing, contextmanager

import numpy as np
import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, AnswerBag, Next, Undo
from askone.campaign.output.backup import backup, restore
from askone.campaign.settings.settings import AskSettings, ClassNames, Items, LearnerSettings, Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument, LeaseLost
from askone.session.bags import Bag
from askone.store.open import open_store
from staged import one as serve

ROWS = 240
CHANCE = np.random.default_rng(0)
CLASSES = CHANCE.integers(3, size=ROWS)
X = np.eye(3)[CLASSES] * 6 + CHANCE.normal(size=(ROWS, 3))


@contextmanager
def opened(folder, **ask):
    path = folder / "blobs.csv"
    lines = [f"r{n}," + ",".join(f"{x:.4f}" for x in row) for n, row in enumerate(X)]
    path.write_text("key,a,b,c\n" + "\n".join(lines) + "\n")
    names = ClassNames(("class 0", "class 1", "class 2"))
    settings = Settings("Blobs", names, ask=AskSettings(**{"exam_share": 0.0, **ask}), learner=LearnerSettings(seed=1))
    with closing(open_store("memory:")) as store:
        create_campaign(store, "blobs", settings, open_table(str(path)), "", 1.0)
        yield Campaign(store, "blobs")


@pytest.fixture
def campaign(tmp_path):
    with opened(tmp_path, bag=9) as found:
        yield found


def asked_of(serving):
    """The questions that are asked together."""
    return (serving.question, *serving.bag)


def leases_of(serving):
    return tuple(one.lease for one in asked_of(serving))


def truth_of(serving):
    return [one.question.holds(f"class {CLASSES[one.row.position]}") for one in asked_of(serving)]


def run(campaign, until=10_000):
    """Answer truthfully; return the last serving, how many keys were pressed, and how many bags there were."""
    now, keys, bags = 2.0, 0, 0
    serving = serve(campaign, Next("ann"), now)
    while serving.state == "question" and keys < until:
        truth, name = truth_of(serving), f"a{now:.0f}"
        now += 1.0
        if serving.bag:
            bag, bags = Bag.of(len(truth)), bags + 1
            while bag.asked:
                bag = bag.told(all(truth[i] for i in bag.asked))
            leases = leases_of(serving)
            said = tuple(bool(one) for one in bag.answers)
            assert list(said) == truth
            serving = serve(campaign, AnswerBag("ann", leases, said, name, 3.0 * bag.questions + 0.5 * bag.looks), now)
            keys += bag.questions
        else:
            serving, keys = serve(campaign, Answer("ann", serving.question.lease, truth[0], name, 3.5), now), keys + 1
    return serving, keys, bags


def test_all_rows_are_known_with_far_fewer_keys(campaign):
    serving, keys, bags = run(campaign)
    assert serving.state == "done"
    assert campaign.projection.answers == ROWS
    assert bags >= 10
    assert keys < 0.6 * ROWS
    # Each row had one question, whether alone or with others.
    assert len({one.position for one in campaign.projection.asked.values()}) == ROWS
    press, look = campaign.projection.pace.rates
    # Somebody took 3 s for a question and half a second for a row; the belief before, 1.6 and .4, counts for 50.
    assert press > 2.0
    assert 0.35 < look < 0.55
    live = campaign.projection.learner.to_arrays(campaign.projection.state)
    again = Campaign(campaign.store, "blobs", fresh=True)
    again.refresh()
    folded = again.projection.learner.to_arrays(again.projection.state)
    assert again.projection.pace == campaign.projection.pace
    assert live.keys() == folded.keys()
    assert all(np.array_equal(live[name], folded[name]) for name in live)


def test_another_bag_under_a_used_id_is_not_lost_unseen(campaign):
    answers, now, serving = campaign.projection.answers, 1000.0, first_bag(campaign)

    def tell(serving, name):
        leases = leases_of(serving)
        return serve(campaign, AnswerBag("ann", leases, tuple(truth_of(serving)), name, 1.0), now)

    said = tell(serving, "bag")
    assert tell(serving, "bag").duplicate  # the same again, as when the first reply was lost
    while not said.bag or len(said.bag) != len(serving.bag) or truth_of(said) != truth_of(serving):
        now += 1.0
        said = (
            tell(said, f"b{now}")
            if said.bag
            else serve(campaign, Answer("ann", said.question.lease, truth_of(said)[0], f"c{now}", 1.0), now)
        )
    answers = campaign.projection.answers
    with pytest.raises(InvalidArgument, match="one of its own"):
        tell(said, "bag")
    assert campaign.projection.answers == answers
    tell(said, "another")
    assert campaign.projection.answers == answers + 1 + len(said.bag)


def test_without_the_setting_there_are_none(tmp_path):
    with opened(tmp_path) as campaign:
        _, keys, bags = run(campaign, until=80)
        assert (keys, bags) == (80, 0)


def first_bag(campaign):
    now = 2.0
    serving = serve(campaign, Next("ann"), now)
    while not serving.bag:
        now += 1.0
        serving = serve(campaign, Answer("ann", serving.question.lease, truth_of(serving)[0], f"b{now:.0f}"), now)
    return serving


def test_a_bag_is_sent_again_taken_back_and_answered_one_by_one(campaign):
    serving = first_bag(campaign)
    each = asked_of(serving)
    numbers = [one.number for one in each]
    # Whoever asks again, after a reload, has the same.
    again = serve(campaign, Next("ann"), 500.0)
    assert [one.number for one in asked_of(again)] == numbers
    before, leases = campaign.projection.answers, tuple(one.lease for one in each)
    said = tuple(truth_of(serving))
    command = AnswerBag("ann", leases, said, "bag-1", 3.0)
    serve(campaign, command, 501.0)
    assert campaign.projection.answers == before + len(each)
    assert serve(campaign, command, 502.0).duplicate
    assert campaign.projection.answers == before + len(each)
    with pytest.raises(InvalidArgument, match="id must be new"):
        serve(campaign, AnswerBag("ann", leases, tuple(not one for one in said), "bag-1"), 503.0)
    back = serve(campaign, Undo("ann", "u-1"), 504.0)
    assert campaign.projection.answers == before
    assert [one.number for one in asked_of(back)] == numbers
    alone = serve(campaign, Answer("ann", back.question.lease, said[0], "one"), 505.0)
    assert campaign.projection.answers == before + 1
    assert alone.question.number == numbers[1]
    assert len(alone.bag) == len(each) - 2
    serve(campaign, Undo("ann", "u-2"), 506.0)
    assert campaign.projection.answers == before


def test_wrong_bags_are_refused(campaign):
    serving = serve(campaign, Next("ann"), 2.0)
    with pytest.raises(InvalidArgument, match="leases must be those of one bag"):
        serve(campaign, AnswerBag("ann", (serving.question.lease,), (True,), "x"), 3.0)
    serving = first_bag(campaign)
    leases = leases_of(serving)
    before = campaign.projection.seq
    with pytest.raises(InvalidArgument, match="answers must be one for each"):
        serve(campaign, AnswerBag("ann", leases, (True,), "y"), 600.0)
    with pytest.raises(LeaseLost):
        serve(campaign, AnswerBag("bob", leases, (True,) * len(leases), "z"), 601.0)
    assert campaign.projection.seq == before


@pytest.mark.parametrize(
    ("labels", "more"),
    [(Numbers(0, 10), {}), (Items(("a", "b", "c")), {}), (ClassNames(("a", "b")), {"overlap": 3})],
)
def test_settings_that_cannot_be(labels, more):
    with pytest.raises(InvalidArgument, match="ask.bag must be 1"):
        Settings("No", labels, ask=AskSettings(bag=9, **more))
    with pytest.raises(InvalidArgument, match="ask.bag"):
        AskSettings(bag=10)


def test_ids_of_bags_are_nobodys_own(campaign):
    """An id that looks like that of a bag's answer is no such one, and an undo takes back what was sent together."""
    serving = first_bag(campaign)
    leases, truth = [one.lease for one in asked_of(serving)], truth_of(serving)
    answers = campaign.projection.answers
    for n, (lease, said) in enumerate(zip(leases[:3], truth[:3], strict=True)):
        serve(campaign, Answer("ann", lease, said, f"s1.{n}", 2.0), 700.0 + n)
    serve(campaign, Undo("ann", "u1"), 704.0)
    assert campaign.projection.answers == answers + 2
    serve(campaign, AnswerBag("ann", tuple(leases[3:]), tuple(truth[3:]), "s1"), 705.0)
    assert campaign.projection.answers == answers + 2 + len(leases[3:])
    serve(campaign, Undo("ann", "s1.u"), 706.0)
    assert campaign.projection.answers == answers + 2
    with pytest.raises(InvalidArgument, match="id must be up to 100 letters"):
        serve(campaign, AnswerBag("ann", tuple(leases[3:]), tuple(truth[3:]), "s1/0"), 707.0)


def test_exams_keep_their_share_and_nobody_answers_more_than_allowed(tmp_path):
    with opened(tmp_path, bag=9, exam_share=0.2, budget=150) as campaign:
        _, _, bags = run(campaign)
        asked = list(campaign.projection.asked.values())
        exams = sum(one.role in ("exam", "check") for one in asked)
        assert bags >= 3
        # By lot, 150 questions of chance .2: three deviations are 15; bags that hid the lots would leave some 10.
        assert 15 <= exams <= 45
    with opened(tmp_path, bag=9, per_person=75) as campaign:
        serving, _, bags = run(campaign)
        assert bags >= 1
        assert serving.state == "done"
        assert campaign.projection.person("ann").answers == 75


def test_a_campaign_with_bags_is_restored(campaign, tmp_path):
    _, _, bags = run(campaign, until=90)
    assert bags >= 1
    with (tmp_path / "kept.zip").open("wb") as file:
        backup(campaign.store, "blobs", file)
    with closing(open_store("memory:")) as other, (tmp_path / "kept.zip").open("rb") as kept:
        restore(other, kept, "again")
        again = Campaign.open(other, "again")
        assert again.projection.answers == campaign.projection.answers
        assert again.projection.pace == campaign.projection.pace
