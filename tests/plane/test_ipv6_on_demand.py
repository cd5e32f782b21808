"""An IPv6 protocol that finds routes on demand, from a user's own library, in every mode."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from labs import (
    BUILD,
    TIMEOUT,
    VIADUCT,
    environment,
    own_routes,
    results,
    viaduct,
    wait_until,
)

MODES = ["simulate", "traditional", "emulate", "offload"]
PLANES = ["kernel", "userspace"]
LIBRARY = BUILD / "ns3" / "libipv6-request-routing.so"
ON_DEMAND = """
routing: {protocol: "ns3::Ipv6RequestRouting"}
addressing: {ipv4: none, ipv6: fd00::/48}
"""
N0, N1, N2, N3 = "fd00::1", "fd00::2", "fd00:0:0:1::2", "fd00:0:0:2::2"


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(LIBRARY))


def run(file: Path, mode: str, tmp_path: Path) -> dict[str, Any]:
    report = tmp_path / "run.json"
    viaduct("run", file, "--mode", *mode.split(), "--json", report).expect()
    return results(report)


@pytest.mark.parametrize("mode", MODES)
def test_flows_on_a_line(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    text = """
        duration: 6s
        nodes: 4
        links: [{line: all}]
        flows:
          - {type: ping, from: n0, to: n3, interval: 100ms, start: 2s, duration: 3s}
          - {type: udp, from: n3, to: n1, size: 160, rate: 100kbit, start: 2s, duration: 3s}
          - {type: tcp, from: n1, to: n3, rate: 2Mbit, start: 3s, duration: 2s}
    """
    done = run(scenario(ON_DEMAND + dedent(text)), mode, tmp_path)
    assert done["convergence"]["on_demand"] is True
    for flow in done["flows"]:
        assert not flow.get("error"), flow
    ping, udp, tcp = done["flows"]
    assert ping["received"] > 0.8 * ping["sent"]
    assert udp["received"] > 0.8 * udp["sent"]
    assert tcp["rate_bit_per_s"] > 1e5


@pytest.mark.parametrize("plane", PLANES)
def test_a_flow_leaves_the_simulator(
    plane: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Only first packets go up; nothing is lost, and the route stays as long as it is used."""
    text = """
        duration: 9s
        nodes: 4
        links: [{line: all}]
        flows:
          - {type: udp, from: n0, to: n3, size: 160, rate: 100kbit, start: 1s, duration: 7s}
    """
    mode = f"offload --set data_plane={plane}"
    done = run(scenario(ON_DEMAND + dedent(text)), mode, tmp_path)
    flow = done["flows"][0]
    assert flow["sent"] > 300
    assert flow["received"] == flow["sent"]
    upcalls = {name: one for name, one in done["counters"].items() if "/upcalls" in name}
    assert upcalls
    for node, counters in upcalls.items():
        # Seven seconds are three times a route's lifetime: one that is lost would be asked for.
        assert counters["rx_frames"] < 0.2 * flow["sent"], (node, counters)


@pytest.mark.parametrize("mode", [*MODES, "offload --set data_plane=userspace"])
def test_a_cut_link_is_gone_round(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    text = """
        duration: 12s
        nodes: 5
        links: [{ring: all}]
        events: [{at: 4s, link: n4-n0, state: down}]
        flows: [{type: ping, from: n4, to: n1, interval: 100ms, start: 1s, duration: 10s}]
    """
    ping = run(scenario(ON_DEMAND + dedent(text)), mode, tmp_path)["flows"][0]
    assert [when for when, _ in ping["samples"] if when < 4], "before the cut"
    assert [when for when, _ in ping["samples"] if when > 8], "after it"


@pytest.mark.parametrize("plane", PLANES)
def test_no_packet_is_lost_doubled_or_overtaken_when_its_route_is_found(
    plane: str, lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Packets come before the route, while it is installed on each node, and after."""
    text = f"""
        data_plane: {plane}
        nodes: 4
        links: [{{line: all}}]
    """
    viaduct("up", scenario(ON_DEMAND + dedent(text))).expect()
    try:
        load = BUILD / "viaduct-load"
        listening, result = tmp_path / "listening", tmp_path / "received.json"
        listening.touch()
        command = f"{load} receive --port 5001 --json > {result} 2> {listening}"
        words = [str(VIADUCT), "exec", f"{lab}:n3", "--", "sh", "-c", command]
        with subprocess.Popen(words, env=environment()) as receiver:
            wait_until(lambda: "listening" in listening.read_text(), "the receiver")
            send = ("send", "--to", f"[{N3}]:5001", "--size", "160", "--rate", "1000pps")
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
        data_plane: {plane}
        nodes: 3
        links: [{{line: all}}]
    """
    viaduct("up", scenario(ON_DEMAND + dedent(text))).expect()
    ping = ("ping", "-6", "-c", "3", "-i", "0.2", N2)
    try:
        assert own_routes(f"{lab}.n0", "-6") == {}
        assert "3 received" in viaduct("exec", f"{lab}:n0", "--", *ping).expect().output
        wait_until(lambda: own_routes(f"{lab}.n0", "-6").get(N2, "").startswith("fe80"), "route")
        wait_until(lambda: own_routes(f"{lab}.n0", "-6") == {}, "its end: nobody uses it")
        assert "3 received" in viaduct("exec", f"{lab}:n0", "--", *ping).expect().output
        words = ["ping", "-6", "-c", "1", "-W", "4", "fd00:9::9"]
        missing = viaduct("exec", f"{lab}:n0", "--", *words)
        assert missing.status != 0
    finally:
        viaduct("down", lab).expect()


def test_ipv4_stays_as_it_is(lab: str, scenario: Callable[[str], Path]) -> None:
    """Only the family whose routes are found on demand passes packets up."""
    text = """
        routing: {protocol: "ns3::Ipv6RequestRouting"}
        addressing: {ipv6: fd00::/48}
        nodes: 2
        links: [{line: all}]
    """
    viaduct("up", scenario(text)).expect()
    try:
        for to in ("10.0.0.2", N1):
            ping = ("ping", "-c", "2", "-i", "0.2", to)
            assert "2 received" in viaduct("exec", f"{lab}:n0", "--", *ping).expect().output
    finally:
        viaduct("down", lab).expect()
