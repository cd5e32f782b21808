"""Protocols that find routes on demand, where a forwarder in userspace passes packets up."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import (
    BUILD,
    forwarder,
    inside,
    is_alive,
    own_routes,
    results,
    viaduct,
    wait_until,
)
from simulators import await_restart, kill_simulator

Write = Callable[[str], Path]
USERSPACE = "data_plane: userspace\n"
IPV6 = "addressing: {ipv4: none, ipv6: 'fd00::/48'}\n"
LINE = "nodes: 4\nlinks: [{line: all}]\n"
FAR = {"": "10.0.0.10", "6": "fd00:0:0:2::2"}  # n3
FAMILIES = pytest.mark.parametrize("family", list(FAR), ids=["ipv4", "ipv6"])


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(BUILD / "ns3" / "libstrange-routing.so"))


def decisions(family: str) -> str:
    """A protocol without a table: at every node the first packet to a destination goes up."""
    protocol = f"routing: {{protocol: 'strange::Routing{family}', attributes: {{Table: None}}}}\n"
    return protocol + USERSPACE + (IPV6 if family else "")


def answered(namespace: str, target: str) -> bool:
    return inside(namespace, "ping", "-c1", "-W5", target).status == 0


def forget(lab: str, family: str) -> None:
    """Waits until no kernel has a route: the next packet goes up at each node."""
    for node in ("n0", "n1", "n2", "n3"):
        wait_until(lambda n=node: not own_routes(f"{lab}.{n}", f"-{family or 4}"), "no use")


@FAMILIES
def test_each_packet_that_a_forwarder_passes_up_arrives_there_and_goes_on(
    family: str, scenario: Write, tmp_path: Path
) -> None:
    file = scenario(
        decisions(family)
        + LINE
        + "duration: 2s\nflows: [{type: ping, from: n0, to: n3, interval: 10ms, duration: 1s}]\n"
    )
    report = tmp_path / "run.json"
    viaduct("run", file, "--mode", "offload", "--json", report).expect()
    run = results(report)
    (flow,) = run["flows"]
    assert flow["received"] == flow["sent"] == 100
    for node in ("n1", "n2"):
        ports = run["data_planes"][node]["packets"].values()
        up = run["counters"][f"{node}/upcalls"]
        assert 0 < sum(port["passed-up"] for port in ports) == up["rx_frames"] == up["tx_frames"]
        assert sum(port["forwarded"] for port in ports) > 100, "most stay below"
        assert not run["data_planes"][node].get("drops")


@FAMILIES
def test_a_forwarder_that_is_killed_passes_up_again(family: str, lab: str, scenario: Write) -> None:
    """The first packet without a route is not lost, and no kernel forwards it instead."""
    viaduct("up", scenario(decisions(family) + "duration: 1h\n" + LINE)).expect()
    try:
        wait_until(lambda: answered(f"{lab}.n0", FAR[family]), "the protocol knows the way")
        for _ in range(2):
            killed = forwarder(lab, 4)
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda pid=killed: not is_alive(pid), "it is dead")
            wait_until(lambda: answered(f"{lab}.n0", FAR[family]), "it forwards again")
            forget(lab, family)
            assert answered(f"{lab}.n0", FAR[family])
    finally:
        viaduct("down", lab).expect()


def test_a_new_simulator_gets_the_packets_of_the_same_forwarder(lab: str, scenario: Write) -> None:
    viaduct("up", scenario(decisions("") + "duration: 1h\n" + LINE)).expect()
    try:
        wait_until(lambda: answered(f"{lab}.n0", FAR[""]), "the protocol knows the way")
        process = forwarder(lab, 4)
        kill_simulator()
        await_restart(lab)
        wait_until(lambda: answered(f"{lab}.n0", FAR[""]), "its protocol knows the way")
        forget(lab, "")
        assert answered(f"{lab}.n0", FAR[""])
        assert forwarder(lab, 4) == process
    finally:
        viaduct("down", lab).expect()


def test_nodes_that_forward_nothing_reach_each_other_and_nobody_else(
    lab: str, scenario: Write
) -> None:
    pair = "duration: 1h\nnodes: 2\nlinks: [{line: all}]\n"
    viaduct("up", scenario(decisions("") + pair)).expect()
    try:
        wait_until(lambda: answered(f"{lab}.n0", "10.0.0.2"), "the protocol knows the way")
        assert not answered(f"{lab}.n0", FAR[""])
    finally:
        viaduct("down", lab).expect()


def planes(run: dict[str, Any]) -> set[str]:
    return {each["name"] for each in run["data_planes"].values()}


def test_sixteen_nodes_find_all_ways(scenario: Write, tmp_path: Path) -> None:
    flows = "".join(
        f"  - {{type: ping, from: n{i}, to: n{15 - i}, interval: 100ms, start: 1s, duration: 6s}}\n"
        for i in range(16)
    )
    file = scenario(
        "routing: {protocol: AODV}\nduration: 8s\nnodes: 16\n"
        + "links: [{grid: {columns: 4, rows: 4}}]\n"
        + USERSPACE
        + f"flows:\n{flows}"
    )
    report = tmp_path / "run.json"
    viaduct("run", file, "--mode", "offload", "--json", report).expect()
    run = results(report)
    assert planes(run) == {"userspace"}
    for flow in run["flows"]:
        # AODV may need several tries, on a busy machine for most of the six seconds.
        assert flow["received"] > 0, flow


@FAMILIES
def test_planes_may_differ_on_the_way(family: str, scenario: Write, tmp_path: Path) -> None:
    file = scenario(
        decisions(family)
        + "nodes: {count: 4, n1: {data_plane: kernel}, n2: {data_plane: ebpf}}\n"
        + "links: [{ring: all}]\nduration: 1200ms\n"
        + "flows: [{type: ping, from: n1, to: n3, interval: 100ms, duration: 1s},\n"
        + "  {type: ping, from: n0, to: n2, interval: 100ms, duration: 1s}]\n"
    )
    report = tmp_path / "run.json"
    viaduct("run", file, "--mode", "offload", "--json", report).expect()
    run = results(report)
    assert planes(run) == {"userspace", "kernel", "ebpf"}
    for flow in run["flows"]:
        assert flow["received"] == flow["sent"] == 10, flow
