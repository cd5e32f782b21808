"""`viaduct path --port dpdk`: the path is the same, and nothing is left on the interfaces."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import pytest
from labs import execute, viaduct, wait_until
from test_path import BETWEEN, MARK, frame, numbers, serve_one_that_was_elsewhere
from test_xdp import LEFT6, RIGHT6, give_ipv6, lose_a_quarter, offloads, transfer
from wires import LEFT, RIGHT, Tap, Wires

DPDK = ("--port", "dpdk")


def doctor(name: str) -> dict[str, str]:
    """What `viaduct doctor` finds of a feature."""
    found = json.loads(viaduct("doctor", "--json").output)
    return next(row for row in found if row["name"] == name)


@pytest.fixture(autouse=True, scope="module")
def built() -> None:
    """Skips where the build has no DPDK."""
    row = doctor("DPDK")
    if "does not support DPDK" in row["detail"]:
        pytest.skip(row["detail"])


def promiscuous(wires: Wires) -> list[int]:
    """How many want all frames of the emulator's interfaces."""
    shown = execute(["ip", "-n", wires.middle, "-d", "-j", "link", "show"]).expect().output
    return [link.get("promiscuity", 0) for link in json.loads(shown) if link["ifname"] in "ab"]


def test_loss_is_counted_and_nothing_else_is_lost(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    printed = lose_a_quarter(wires, taps, DPDK, "DPDK ")
    assert "EAL" not in printed, "DPDK's log is no user's"


def test_tcp_of_both_families(wires: Wires) -> None:
    give_ipv6(wires)
    with wires.path(*BETWEEN, *DPDK, "--up", "delay=2ms", "--down", "delay=3ms"):
        transfer(wires, socket.AF_INET, LEFT, RIGHT, 1 << 20)
        transfer(wires, socket.AF_INET6, LEFT6, RIGHT6, 1 << 20)


def test_killed_it_leaves_nothing(wires: Wires) -> None:
    before, quiet = offloads(wires), promiscuous(wires)
    with wires.path(*BETWEEN, *DPDK) as path:
        assert promiscuous(wires) != quiet
        path.process.send_signal(signal.SIGKILL)
        wait_until(lambda: promiscuous(wires) == quiet, "promiscuous mode is off")
        wait_until(lambda: offloads(wires) == before, "the offloads are as they were")
    assert wires.ping(1).status != 0, "nobody forwards"
    assert not Path("/run/dpdk").exists()


def test_an_interface_comes_back(wires: Wires) -> None:
    with wires.path(*BETWEEN, *DPDK) as path:
        execute(["ip", "-n", wires.middle, "link", "del", "dev", "a"]).expect()
        wires.join(wires.left, "a")
        path.wait_for("interface a is back\n")
        tap, far = Tap(wires.left, "eth0"), Tap(wires.right, "eth0")
        tap.send(frame(3))
        assert numbers(far.receive_all(1, MARK)) == [3]


def test_an_interface_that_was_elsewhere(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    serve_one_that_was_elsewhere(wires, taps, *DPDK)


def test_netmap_is_refused_where_it_is_not_built(wires: Wires) -> None:
    if doctor("netmap")["state"] == "yes":
        pytest.skip("this machine has netmap")
    before = offloads(wires)
    assert "netmap" in wires.viaduct("path", *BETWEEN, "--port", "netmap").error_line(3)
    assert offloads(wires) == before
