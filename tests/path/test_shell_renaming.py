"""`viaduct shell` on a machine whose interfaces are renamed meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest
import test_shell
from labs import execute, inside, viaduct, wait_until
from test_shell import (
    FORWARDS6,
    HAS_IPV6,
    forwards,
    keeper_of,
    neighbour,
    running_shell,
    traces_of,
)

home = test_shell.home  # the fixture


def rename(namespace: str, old: str, new: str) -> None:
    """As udev does with an interface that has come; older kernels want it down for that."""
    for change in (["down"], ["name", new]):
        execute(["ip", "-n", namespace, "link", "set", "dev", old, *change]).expect()
    execute(["ip", "-n", namespace, "link", "set", "dev", new, "up"]).expect()


def shells_of(namespace: str) -> list[str]:
    """The records of the machine's shells."""
    return [trace for trace in traces_of(namespace) if trace.startswith("/run")]


def neighbours_ping(sender: str, other: int) -> str:
    """One ping across the machine to another neighbour, which has a route back."""
    return inside(sender, *f"ping -n -c 1 -W 1 192.0.{other}.2".split()).output


@pytest.mark.parametrize("kill", [False, True])
def test_renamed_interfaces_forward_for_the_shell_only(home: str, kill: bool) -> None:
    """One that was there before the shell, and one that has come since; and a name that returns."""
    families = ["4/conf/{}/forwarding", *([FORWARDS6] if HAS_IPV6 else [])]
    with contextlib.ExitStack() as stack:
        outside = {2: stack.enter_context(neighbour(home, 2))}
        command = stack.enter_context(running_shell(home, "--", "sh", "-c", "echo ready; sleep 60"))
        command.wait_for("ready")
        outside[3] = stack.enter_context(neighbour(home, 3))
        for family in families:
            wait_until(lambda f=family: forwards(home, "up3", f), f"it forwards: {family}")
        rename(home, "up2", "wan")
        rename(home, "up3", "up2")
        for number, namespace in outside.items():
            route = ["route", "add", "default", "via", f"192.0.{number}.1"]
            execute(["ip", "-n", namespace, *route]).expect()
        for family in families:
            assert forwards(home, "wan", family)
            assert forwards(home, "up2", family)
        assert " 100% packet loss" in neighbours_ping(outside[2], 3)
        assert " 100% packet loss" in neighbours_ping(outside[3], 2)
        if kill:
            for pid in (keeper_of(home), command.pid):
                os.kill(pid, signal.SIGKILL)
            command.wait()
            viaduct("clean").expect()
        else:
            command.process.send_signal(signal.SIGINT)
            command.wait()
            wait_until(lambda: not traces_of(home), "the shell is gone")
        for family in families:
            assert not forwards(home, "wan", family)
            assert not forwards(home, "up2", family)


def test_a_renamed_interface_forwards_as_long_as_a_shell_needs_it(home: str) -> None:
    waits = ["--", "sh", "-c", "echo ready; sleep 60"]
    with neighbour(home, 2), running_shell(home, *waits) as first:
        first.wait_for("ready")
        rename(home, "up2", "wan")
        with running_shell(home, *waits) as second:
            second.wait_for("ready")
            first.process.send_signal(signal.SIGINT)
            first.wait()
            wait_until(lambda: len(shells_of(home)) == 1, "one is left")
            assert forwards(home, "wan")
            second.process.send_signal(signal.SIGINT)
            second.wait()
        wait_until(lambda: not traces_of(home), "none is left")
        assert not forwards(home, "wan")
