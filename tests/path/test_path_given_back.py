"""`viaduct path`: interfaces are given back as they were, whatever ends the path."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest
from labs import execute, inside, viaduct, wait_until
from test_path import BETWEEN
from wires import Wires, traces_of


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits for somebody to ask how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def features(wires: Wires) -> str:
    """The offloads of the emulator's interfaces."""
    text = [inside(wires.middle, "ethtool", "-k", port).expect().output for port in "ab"]
    return "".join(text)


def promiscuity(wires: Wires) -> int:
    """How many sockets have the interfaces in promiscuous mode."""
    links = execute(["ip", "-n", wires.middle, "-d", "-j", "link"]).expect().output
    return sum(link.get("promiscuity", 0) for link in json.loads(links))


@pytest.mark.parametrize("others", ["", "-other"])
def test_clean_gives_back_what_killed_paths_had(wires: Wires, others: str) -> None:
    before = features(wires)
    names = [wires.middle, wires.middle + others]
    for name in names:  # the second one finds what the first one left
        with wires.path(*BETWEEN, "--name", name, "--up", "delay=10s") as path:
            assert features(wires) != before
            record = Path(f"/run/viaduct/.paths/{name}/record.json")
            keeper = json.loads(record.read_text().splitlines()[0])["pid"]
            os.kill(keeper, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):  # it ends with its keeper
                os.kill(path.pid, signal.SIGKILL)
            path.wait()
            wait_until(lambda pid=keeper: has_ended(pid), "the keeper is dead")
    assert sorted(traces_of(wires)) == sorted(set(names))
    assert features(wires) != before, "there is something to restore"
    cleaned = viaduct("clean").expect().output
    assert all(name in cleaned for name in names)
    assert features(wires) == before
    assert not traces_of(wires)


def test_a_renamed_interface_is_given_back(wires: Wires) -> None:
    before = features(wires)
    with wires.path(*BETWEEN) as path:
        assert features(wires) != before, "there is something to restore"
        here = ["ip", "-n", wires.middle, "link", "set", "dev"]
        for change in (["a", "down"], ["a", "name", "renamed"]):
            execute([*here, *change]).expect()
        path.process.send_signal(signal.SIGINT)
        assert path.wait() == 0
    wait_until(lambda: not traces_of(wires), "no record is left")
    execute([*here, "renamed", "name", "a"]).expect()
    assert features(wires) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_interfaces_are_given_back(wires: Wires, number: signal.Signals) -> None:
    before = features(wires)
    with wires.path(*BETWEEN, "--up", "delay=1s") as path:
        wires.ping(1)
        assert promiscuity(wires) == 2
        assert features(wires) != before, "no super-frames"
        path.process.send_signal(number)
        assert path.wait() == (0 if number != signal.SIGKILL else -9)
        if number != signal.SIGKILL:
            assert "timing: p50/p99/max lateness" in path.text
    wait_until(lambda: features(wires) == before, "offloads are as they were")
    wait_until(lambda: promiscuity(wires) == 0, "nor are they promiscuous")
    wait_until(lambda: not traces_of(wires), "no record is left")
