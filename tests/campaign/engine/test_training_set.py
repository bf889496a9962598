"""Lessons: the mark of the first so many is that of their contents, however it came about."""

import hashlib
import random

from askone.campaign.engine.training_set import Lesson, TrainingSet


def plain(lessons, count):
    return hashlib.sha256(b"".join(b"%d,%d,%d;" % one[:3] for one in lessons.all[:count])).hexdigest()


def test_a_mark_that_goes_on_is_the_mark_from_the_beginning():
    chance, lessons = random.Random(0), TrainingSet()
    for seq in range(1, 600):
        number = seq if chance.random() < 0.8 else chance.randrange(1, seq + 1)
        decision = None if chance.random() < 0.1 else (2 * seq - chance.randrange(2), chance.random() < 0.5)
        lessons.set(number, None if decision is None else Lesson(decision[0], number, decision[1]))
        if chance.random() < 0.2:
            count = len(lessons.all) if chance.random() < 0.5 else chance.randrange(len(lessons.all) + 5)
            assert lessons.digest(count) == plain(lessons, count)
    assert lessons.digest(len(lessons.all)) == plain(lessons, len(lessons.all))
