"""addressing.loopback: nodes have addresses of their own, which protocols announce."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kernels import need
from labs import results, viaduct

# The address of n1 on the link that is cut is not what pings to n1 go to. OLSR announces nodes' own
# addresses with its HNA messages.
RING = """
nodes: 4
links: [{ring: all}]
addressing: {loopback: 10.255.0.0/24}
routing:
  protocol: OLSR
  attributes: {HelloInterval: 250ms, TcInterval: 500ms, HnaInterval: 500ms}
duration: 12s
flows:
  - {type: ping, from: n0, to: n1, interval: 100ms, name: before, duration: 1s}
  - {type: ping, from: n0, to: n1, interval: 100ms, name: after, start: 9s}
  - {type: udp, from: n1, to: n0, rate: 100kbit, name: udp, start: 9s}
  - {type: tcp, from: n0, to: n1, rate: 1Mbit, name: tcp, start: 9s, duration: 2s}
events: [{at: 2s, link: n0-n1, state: down}]
"""


@pytest.mark.parametrize("mode", ["simulate", "emulate", "offload", "kernels"])
def test_a_node_stays_reachable_without_one_of_its_links(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    if mode == "kernels":
        need()
    of_kernels = ["--mode", "simulate", "--set", "stack=kernel"]
    words = of_kernels if mode == "kernels" else ["--mode", mode]
    file = tmp_path / "a.json"
    viaduct("run", scenario(RING), *words, "--json", file).expect()
    flows = {flow["name"]: flow for flow in results(file)["flows"]}
    assert flows["before"]["received"] == 10
    assert flows["after"]["received"] == flows["after"]["sent"] > 0
    assert flows["udp"]["loss"] == 0
    assert flows["tcp"]["rate_bit_per_s"] > 0.8e6


@pytest.mark.parametrize("plane", ["kernel", "ebpf", "joined", "userspace", "auto"])
def test_every_data_plane_knows_them(
    plane: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    text = """
nodes: 4
links: [{line: all}]
routing: {protocol: static}
addressing: {ipv6: "fd00::/48", loopback: "10.255.0.0/24 fd00:255::/64"}
duration: 2s
flows:
  - {type: ping, from: n0, to: n3}
  - {type: ping, from: n0, to: n2, address: ipv6}
  - {type: tcp, from: n3, to: n0, rate: 1Mbit}
"""
    file = tmp_path / "a.json"
    path = scenario(text)
    viaduct("run", path, "--set", f"data_plane={plane}", "--json", file).expect()
    for flow in results(file)["flows"]:
        assert flow.get("loss", 0) == 0, flow


def test_a_protocol_that_announces_no_networks_is_refused(
    scenario: Callable[[str], Path],
) -> None:
    text = "nodes: 3\nlinks: [{line: all}]\nrouting: {protocol: AODV}\n"
    text += "addressing: {loopback: 10.255.0.0/24}\n"
    line = viaduct("run", scenario(text), "--mode", "simulate").error_line(2)
    assert "AODV, which announces only one address" in line
