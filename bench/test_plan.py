"""A quick benchmark has a time budget, and says what that cost."""

from __future__ import annotations

import time

import pytest
from harness import plan as plans
from harness.plan import make_plan
from harness.process import OutOfTime, at_most


class Clock:
    """Time that only passes when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(plans.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_rounds_that_do_not_fit_are_left_out_and_named(clock: Clock) -> None:
    plan = make_plan("path", True, 5)
    plan.started = clock.now
    rounds = []
    with plan.part("links", 0.5):
        for number, _ in plan.turns("ab"):
            rounds.append(number)
            clock.now += 60
    assert rounds == [1, 2]
    assert plan.shortened == ["links: 2 of 5 rounds"]


def test_the_first_point_is_measured_in_any_case(clock: Clock) -> None:
    plan = make_plan("path", True, 3)
    plan.started = clock.now - 1000
    assert list(plan.points("sizes", [1, 2, 3])) == [1]
    assert plan.shortened == ["1 of 3 sizes"]


def test_all_parts_together_keep_the_budget(clock: Clock) -> None:
    plan = make_plan("path", True, 3)
    plan.started = clock.now
    for share in (0.4, 0.4, 0.6, 1.0):
        with plan.part("part", share):
            for _ in plan.points("points", range(1000)):
                clock.now += 1
    assert clock.now - plan.started <= plans.QUICK_SECONDS
    assert clock.now - plan.started > plans.QUICK_SECONDS - 5


def test_a_full_experiment_takes_its_time(clock: Clock) -> None:
    plan = make_plan("path", False, 3)
    plan.started = clock.now
    for _ in plan.turns("ab"):
        clock.now += 3600
    assert not plan.shortened


def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(OutOfTime), at_most(0.05):
        time.sleep(20)
    with at_most(None):
        time.sleep(0.01)
