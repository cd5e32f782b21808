"""Ctrl-C and SIGTERM at every stage of a run: it ends soon, reports that, and leaves nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import FAST_OLSR, descendants, records, running, viaduct, wait_until

SCENARIO = (
    FAST_OLSR
    + """
duration: 300s
nodes: 4
links: [{line: all}]
flows: [{type: udp, from: n0, to: n3, rate: 400kbit}, {type: tcp, from: n0, to: n3}]
programs: [{node: n1, command: sleep 1000, background: true}]
"""
)

# Seconds after the start, or a text that the run has printed by then.
STAGES: list[float | str] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, "lab", "converged"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
@pytest.mark.parametrize("stage", STAGES)
def test_interrupted(
    stage: float | str, number: int, lab: str, scenario: Callable[[str], Path]
) -> None:
    with running("run", scenario(SCENARIO)) as run:
        if isinstance(stage, str):
            run.wait_for(stage)
            time.sleep(0.3)
        else:
            time.sleep(stage)
        # as a terminal does: Ctrl-C goes to the whole group, SIGTERM to the one process
        if number == signal.SIGINT:
            os.killpg(run.pid, number)
        else:
            os.kill(run.pid, number)
        status = run.wait()
        assert status in (1, 128 + number, -number), run.text
        assert "terminate called" not in run.text
    assert lab not in records()


def test_interrupted_twice(lab: str, scenario: Callable[[str], Path]) -> None:
    """An impatient user does not stop the clean-up."""
    with running("run", scenario(SCENARIO)) as run:
        run.wait_for("converged")
        for _ in range(3):
            os.killpg(run.pid, signal.SIGINT)
            time.sleep(0.05)
        run.wait()
    assert lab not in records()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_a_stopped_broker_holds_nobody_up(
    number: int, lab: str, scenario: Callable[[str], Path]
) -> None:
    """Whoever says so twice is not made to wait for root's half; what that has made goes later."""
    with running("run", scenario(SCENARIO)) as run:
        run.wait_for("converged")
        below = descendants(run.pid).items()
        # Programs have its name until they are executed.
        broker = min(pid for pid, name in below if name == "viaduct-broker")
        os.kill(broker, signal.SIGSTOP)
        try:
            for _ in range(2):
                os.kill(run.pid, number)
                time.sleep(3)
            # Ctrl-C waits for the traffic (20 s) and for the results of what still answers (30 s).
            assert run.wait(timeout=150) != 0, run.text
        finally:
            os.kill(broker, signal.SIGCONT)
    wait_until(lambda: lab not in records(), "the broker removes the lab")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_a_filter_that_takes_minutes_holds_nobody_up(number: int) -> None:
    """libpcap compiles it, which looks at no signal."""
    addresses = " or ".join(f"host 10.{i // 250}.{i % 250}.1" for i in range(6000))
    with running("path", "--between", "no1", "no2", "--class", f"all={addresses}") as path:
        time.sleep(2)
        os.kill(path.pid, number)
        assert path.wait(timeout=10) in (128 + number, -number), path.text


@pytest.mark.parametrize("delay", [0.05, 0.5])
def test_interrupted_up(delay: float, lab: str, scenario: Callable[[str], Path]) -> None:
    """`up` has either created the whole lab or nothing."""
    with running("up", scenario(SCENARIO.split("flows")[0])) as run:
        time.sleep(delay)
        os.kill(run.pid, signal.SIGTERM)
        status = run.wait()
    if status == 0:
        viaduct("down", lab).expect()
    assert lab not in records()
