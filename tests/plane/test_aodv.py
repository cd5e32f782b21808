"""A routing protocol that finds routes on demand (ns-3's AODV, unmodified), in every mode."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import (
    BUILD,
    TIMEOUT,
    VIADUCT,
    environment,
    execute,
    own_routes,
    results,
    viaduct,
    wait_until,
)

MODES = ["simulate", "traditional", "emulate", "offload"]
PLANES = ["kernel", "userspace"]
LINE = """
routing: {protocol: AODV}
duration: 5s
nodes: 4
links: [{line: all}]
flows:
  - {type: ping, from: n0, to: n3, interval: 100ms, duration: 3s}
  - {type: udp, from: n3, to: n1, size: 160, rate: 100kbit, duration: 4s}
  - {type: tcp, from: n1, to: n3, rate: 2Mbit, start: 1s, duration: 2s}
"""


def upcalls(run: dict[str, Any]) -> dict[str, Any]:
    """The counters of each node's packets without a route."""
    found = {name.split("/")[0]: one for name, one in run["counters"].items() if "/upcalls" in name}
    assert found, "the protocol finds routes on demand"
    return found


@pytest.mark.parametrize("mode", MODES)
def test_flows_on_a_line(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(LINE), "--mode", mode, "--json", file).expect()
    assert "routes on demand" in done.output + done.errors
    run = results(file)
    assert run["convergence"]["on_demand"] is True
    for flow in run["flows"]:
        assert not flow.get("error"), flow
    ping, udp, tcp = run["flows"]
    assert ping["received"] > 0.8 * ping["sent"]
    assert udp["received"] > 0.8 * udp["sent"]
    assert tcp["rate_bit_per_s"] > 1e5


@pytest.mark.parametrize("protocol", ["AODV", "DSDV"])
def test_in_mode_offload_a_kernel_is_the_nodes_own(
    protocol: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """And in mode simulate one in virtual time: a comparison is of one file."""
    text = (
        f"stack: kernel\nrouting: {protocol}\nduration: 4s\nnodes: 3\n"
        + "links: [{shared: all}]\n"
        + "programs: [{node: n0, command: [sh, -c, 'sleep 3']}]\n"
        + "flows: [{type: ping, from: n0, to: n2, interval: 100ms, start: 1s, duration: 2s}]\n"
    )
    file = tmp_path / "run.json"
    viaduct("run", scenario(text), "--mode", "offload", "--json", file).expect()
    run = results(file)
    (flow,) = run["flows"]
    assert flow["received"] > 0.8 * flow["sent"]
    assert set(run["data_planes"]) == {"n0", "n1", "n2"}


@pytest.mark.parametrize("name", ["AODV", "aodv", "Aodv", "ns3::aodv::RoutingProtocol"])
def test_names(name: str, scenario: Callable[[str], Path]) -> None:
    text = f"""
        routing: {{protocol: "{name}"}}
        duration: 1s
        nodes: 2
        links: [{{line: all}}]
        flows: [{{type: ping, from: n0, to: n1, interval: 100ms}}]
    """
    viaduct("run", scenario(text), "--mode", "simulate").expect()


def test_hosts_are_refused(scenario: Callable[[str], Path]) -> None:
    text = """
        routing: {protocol: aodv}
        nodes: {r0: , r1: , h: {host: true}}
        links: [{pair: [r0, r1]}, {pair: [r1, h]}]
    """
    message = viaduct("run", scenario(text)).error_line(2)
    assert "AODV announces nodes, not networks" in message


@pytest.mark.parametrize("plane", PLANES)
def test_a_flow_leaves_the_simulator(
    plane: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Only first packets go up; nothing is lost, and the route stays as long as it is used."""
    text = f"""
        routing: {{protocol: AODV}}
        data_plane: {plane}
        duration: 9s
        nodes: 4
        links: [{{line: all}}]
        flows:
          - {{type: udp, from: n0, to: n3, size: 160, rate: 100kbit, start: 1s, duration: 7s}}
    """
    file = tmp_path / "run.json"
    viaduct("run", scenario(text), "--mode", "offload", "--json", file).expect()
    run = results(file)
    assert {each["name"] for each in run["data_planes"].values()} == {plane}
    flow = run["flows"][0]
    assert flow["sent"] > 300
    assert flow["received"] == flow["sent"], "AODV keeps 64 packets, more than come meanwhile"
    for node, counters in upcalls(run).items():
        # Seven seconds are twice a route's lifetime: one that is lost would be asked for again.
        assert counters["rx_frames"] < 0.2 * flow["sent"], (node, counters)


@pytest.mark.parametrize("mode", [*MODES, "offload --set data_plane=userspace"])
def test_a_cut_link_is_gone_round(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    text = """
        routing: {protocol: AODV}
        duration: 12s
        nodes: 5
        links: [{ring: all}]
        events: [{at: 2s, link: n4-n0, state: down}]
        flows: [{type: ping, from: n4, to: n1, interval: 100ms, duration: 11s}]
    """
    file = tmp_path / "run.json"
    viaduct("run", scenario(text), "--mode", *mode.split(), "--json", file).expect()
    ping = results(file)["flows"][0]
    assert [when for when, _ in ping["samples"] if when < 2], "before the cut"
    assert [when for when, _ in ping["samples"] if when > 7], "after it"


@pytest.mark.parametrize("plane", PLANES)
def test_no_packet_is_lost_doubled_or_overtaken_when_its_route_is_found(
    plane: str, lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Packets come before the route, while it is installed on each node, and after."""
    text = f"""
        routing: {{protocol: AODV, attributes: {{MaxQueueLen: 100000}}}}
        data_plane: {plane}
        nodes: 4
        links: [{{line: all}}]
    """
    viaduct("up", scenario(text)).expect()
    try:
        load = BUILD / "viaduct-load"
        listening, result = tmp_path / "listening", tmp_path / "received.json"
        listening.touch()
        command = f"{load} receive --port 5001 --json > {result} 2> {listening}"
        words = [str(VIADUCT), "exec", f"{lab}:n3", "--", "sh", "-c", command]
        with subprocess.Popen(words, env=environment()) as receiver:
            wait_until(lambda: "listening" in listening.read_text(), "the receiver")
            send = ("send", "--to", "10.0.0.10:5001", "--size", "160", "--rate", "1000pps")
            viaduct("exec", f"{lab}:n0", "--", load, *send, "--duration", "2s").expect()
            assert receiver.wait(TIMEOUT) == 0
        flow = json.loads(result.read_text())
        assert flow["sent"] > 100
        assert (flow["lost"], flow["duplicates"], flow["reordered"]) == (0, 0, 0), flow
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize("plane", PLANES)
def test_the_kernel_has_the_routes_that_are_used(
    plane: str, lab: str, scenario: Callable[[str], Path]
) -> None:
    text = f"""
        routing: {{protocol: AODV}}
        data_plane: {plane}
        nodes: 3
        links: [{{line: all}}]
    """
    viaduct("up", scenario(text)).expect()
    try:
        far = "10.0.0.6"
        wait_until(lambda: "10.0.0.2" in own_routes(f"{lab}.n0"), "the neighbour, by its hellos")
        assert far not in own_routes(f"{lab}.n0")
        viaduct("exec", f"{lab}:n0", "--", "ping", "-c", "3", "-i", "0.2", far).expect()
        wait_until(lambda: own_routes(f"{lab}.n0").get(far) == "10.0.0.2", "the route")
        wait_until(lambda: far not in own_routes(f"{lab}.n0"), "its end: nobody uses it")
        viaduct("exec", f"{lab}:n0", "--", "ping", "-c", "3", "-i", "0.2", far).expect()
        missing = execute(["ip", "netns", "exec", f"{lab}.n0", "ping", "-c", "1", "10.0.0.99"])
        assert missing.status != 0
    finally:
        viaduct("down", lab).expect()
