"""Nothing is deleted by a clock that has just jumped."""

import asyncio
import logging
import time

import pytest

from askone.server import app
from askone.server.ops.steady_clock import GRACE, SteadyClock

DAY = 86_400.0


@pytest.mark.parametrize("days", [100, -100])
def test_a_clock_that_jumps_is_not_believed_for_a_while(caplog, days):
    shift, steady = 0.0, 1000.0
    clock = SteadyClock(lambda: 1e9 + steady + shift, lambda: steady)
    assert clock.now() is None, "nor is one that may have been wrong from the start"
    steady += GRACE
    assert clock.now() == 1e9 + steady
    shift = days * DAY
    with caplog.at_level(logging.WARNING, "askone.server"):
        assert clock.now() is None
    assert "the clock jumped by" in caplog.text
    steady += 60.0
    assert clock.now() is None
    shift = 0.0
    for _ in range(60):
        assert clock.now() is None
        steady += GRACE / 60
    assert clock.now() == 1e9 + steady


def test_a_clock_that_is_slowly_set_right_is_believed():
    shift, steady = 0.0, 0.0
    clock = SteadyClock(lambda: steady + shift, lambda: steady)
    for _ in range(100):
        steady, shift = steady + GRACE / 10, shift + 30.0
        found = clock.now()
    assert found == steady + shift


def test_a_minute_in_the_future_costs_nobody_their_session(alone):
    """The server's own sweeping, while the clock is a hundred days ahead, and before and after."""
    alone.accounts.add_session("valid", "manager", "", time.time() + DAY)
    alone.accounts.add_invitation("i", "hash", "drinks", time.time() + DAY, 1)
    passed = shift = 0.0
    clock = SteadyClock(lambda: time.time() + passed + shift, lambda: time.monotonic() + passed)

    def sweep(after, ahead=0.0):
        nonlocal passed, shift
        passed, shift = after, ahead
        asyncio.run(app._delete_old(alone.services, clock))

    sweep(GRACE)
    sweep(GRACE + 60, 100 * DAY)
    sweep(GRACE + 120)
    assert alone.accounts.session("valid", time.time()) is not None
    assert [one.id for one in alone.accounts.invitations("drinks")] == ["i"]
    alone.accounts.add_session("old", "manager", "", time.time() - DAY)
    sweep(2 * GRACE)
    assert alone.accounts.session("old", 0.0) is not None
    sweep(2 * GRACE + 180)
    assert alone.accounts.session("old", 0.0) is None
    assert alone.accounts.session("valid", time.time()) is not None
