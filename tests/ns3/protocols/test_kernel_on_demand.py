"""Protocols that find routes on demand on nodes whose stack is a kernel in virtual time.

A packet for which the kernel has no route goes up to the protocol, and the protocol's route goes
down to the kernel, as in mode offload; the kernel takes no time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernels import need
from labs import BUILD, results, viaduct, without_wall_clock

Run = Callable[..., dict[str, Any]]
LINE = "nodes: 4\nlinks: [{line: all}]\n"
AODV = "routing: {protocol: AODV}\n"
IPV6 = "addressing: {ipv4: none, ipv6: 'fd00::/48'}\n"
ON_DEMAND = {
    "AODV": AODV,
    "Ipv6RequestRouting": "routing: {protocol: 'ns3::Ipv6RequestRouting'}\n" + IPV6,
}


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    need()
    names = ("strange-routing", "ipv6-request-routing")
    built = ":".join(str(BUILD / "ns3" / f"lib{name}.so") for name in names)
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", built)


@pytest.fixture
def run(scenario: Callable[[str], Path], tmp_path: Path) -> Run:
    def simulate(text: str, stack: str = "kernel") -> dict[str, Any]:
        report = tmp_path / "run.json"
        file = scenario(f"mode: simulate\nstack: {stack}\n{text}")
        viaduct("run", file, "--json", report).expect()
        return results(report)

    return simulate


def upcalls(result: dict[str, Any], what: str = "upcalls") -> dict[str, dict[str, Any]]:
    """By node."""
    ends = "/" + what
    return {
        name.removesuffix(ends): one
        for name, one in result["counters"].items()
        if name.endswith(ends)
    }


@pytest.mark.parametrize("protocol", list(ON_DEMAND))
def test_flows_on_a_line(protocol: str, run: Run) -> None:
    result = run(
        ON_DEMAND[protocol]
        + LINE
        + """duration: 6s
flows:
  - {type: ping, from: n0, to: n3, interval: 100ms, start: 2s, duration: 3s}
  - {type: udp, from: n3, to: n1, size: 160, rate: 100kbit, start: 2s, duration: 3s}
  - {type: tcp, from: n1, to: n3, rate: 2Mbit, start: 3s, duration: 2s}
"""
    )
    assert result["convergence"]["on_demand"] is True
    ping, udp, tcp = result["flows"]
    assert ping["received"] == ping["sent"] == 30
    assert udp["received"] == udp["sent"] > 200
    assert tcp["rate_bit_per_s"] > 1e6


@pytest.mark.parametrize("protocol", list(ON_DEMAND))
def test_a_flow_leaves_the_simulator_as_long_as_it_is_used(protocol: str, run: Run) -> None:
    """Seven seconds are more than a route's lifetime, which copies of the flow's packets extend."""
    result = run(
        ON_DEMAND[protocol]
        + LINE
        + "duration: 9s\nflows:\n"
        + "  - {type: udp, from: n0, to: n3, size: 160, rate: 100kbit, start: 1s, duration: 7s}\n"
    )
    (flow,) = result["flows"]
    assert flow["received"] == flow["sent"] > 500
    assert set(upcalls(result)) == {"n0", "n1", "n2", "n3"}
    assert upcalls(result)["n0"]["rx_frames"] > 0
    for node, counters in upcalls(result).items():
        assert counters["rx_frames"] < 0.05 * flow["sent"], node
    copied = upcalls(result, "copies")["n1"]["rx_frames"]
    assert 7 / 0.25 - 2 < copied < flow["sent"] / 4, "one packet of a flow in 250 ms"


@pytest.mark.parametrize("protocol", list(ON_DEMAND))
def test_a_cut_link_is_gone_round(protocol: str, run: Run) -> None:
    result = run(
        ON_DEMAND[protocol]
        + "nodes: 5\nlinks: [{ring: all}]\nduration: 12s\n"
        + "events: [{at: 4s, link: n4-n0, state: down}]\n"
        + "flows: [{type: ping, from: n4, to: n1, interval: 100ms, start: 1s, duration: 10s}]\n"
    )
    times = [when for when, _ in result["flows"][0]["samples"]]
    assert [when for when in times if when < 4], "before the cut"
    assert [when for when in times if when > 9], "after it"


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize(
    "attributes", ["Table: None", "Table: Broken", "Table: None, NeedsPacket: true"]
)
def test_without_a_table_decisions_about_packets_are_routes(
    attributes: str, ipv6: bool, run: Run
) -> None:
    result = run(
        f"routing: {{protocol: 'strange::Routing{6 if ipv6 else ''}',"
        f" attributes: {{{attributes}}}}}\n"
        + (IPV6 if ipv6 else "")
        + LINE
        + "duration: 1200ms\n"
        + "flows: [{type: ping, from: n0, to: n3, interval: 100ms, duration: 1s}]\n"
    )
    (flow,) = result["flows"]
    assert flow["received"] == flow["sent"] == 10
    for node in ("n1", "n2"):  # the first packet of each direction
        counters = upcalls(result)[node]
        assert 0 < counters["rx_frames"] == counters["tx_frames"] <= 4, node


@pytest.mark.parametrize(
    ("asks", "ipv6", "expected"),
    [
        ("Nothing", False, 9),
        ("Nothing", True, 9),
        ("Loopback", False, 10),
        ("Loopback", True, 10),
        ("Unready", False, 9),
    ],
)
def test_what_is_looked_for_is_found_by_the_flow_itself(
    asks: str, ipv6: bool, expected: int, run: Run
) -> None:
    result = run(
        f"routing: {{protocol: 'strange::Routing{6 if ipv6 else ''}',"
        f" attributes: {{Table: None, Asks: {asks}}}}}\n"
        + (IPV6 if ipv6 else "")
        + LINE
        + "duration: 1200ms\n"
        + "flows: [{type: ping, from: n0, to: n3, interval: 100ms, duration: 1s}]\n"
    )
    assert result["flows"][0]["received"] == expected


def test_a_protocol_that_changes_packets_fails_the_run(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """The kernels that get them would not undo it."""
    file = scenario(
        "mode: simulate\nstack: kernel\nduration: 1200ms\n"
        + "routing: {protocol: 'strange::Routing', attributes: {Table: None, AddsHeader: true}}\n"
        + LINE
        + "flows: [{type: ping, from: n0, to: n3, interval: 100ms, duration: 1s}]\n"
    )
    report = tmp_path / "run.json"
    assert viaduct("run", file, "--json", report).status == 1
    assert any("changed" in line and "stack: ns3" in line for line in results(report)["failures"])


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("asks", ["No", "Loopback"])
def test_a_protocol_may_speak_by_raw_sockets(asks: str, ipv6: bool, run: Run) -> None:
    """Those of ns-3 send to all nodes of a link without being allowed to broadcast."""
    result = run(
        f"routing: {{protocol: 'strange::Routing{6 if ipv6 else ''}',"
        f" attributes: {{Table: None, Transport: Broadcast, Asks: {asks}}}}}\n"
        + (IPV6 if ipv6 else "")
        + LINE
        + "duration: 2s\n"
        + "flows: [{type: ping, from: n0, to: n3, interval: 100ms, duration: 1s}]\n"
    )
    assert result["flows"][0]["received"] == 10


def test_a_protocol_that_speaks_by_packet_sockets_fails_the_run(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """The kernel gets its frames, and no route is ever found."""
    file = scenario(
        "mode: simulate\nnodes: {count: 3, n1: {stack: kernel}}\nlinks: [{line: all}]\n"
        + "routing: {protocol: 'strange::Routing', attributes: {Transport: Packet}}\n"
        + "convergence: {required: false, timeout: 1s}\nduration: 1s\n"
    )
    report = tmp_path / "run.json"
    assert viaduct("run", file, "--json", report).status == 1
    (failure,) = results(report)["failures"]
    assert "n1: a protocol on the node listens to frames of EtherType 0x88b5" in failure
    assert "stack: ns3" in failure
    viaduct("run", file, "--set", "nodes.n1.stack=ns3").expect()


def test_it_repeats_exactly_and_takes_the_time_that_it_takes_ns3s_stack(run: Run) -> None:
    text = (
        AODV
        + "nodes: 4\nlinks: [{line: all, spec: 'delay=2ms rate=10Mbit'}]\nduration: 5s\n"
        + "flows: [{type: ping, from: n0, to: n3, interval: 100ms, start: 2s, duration: 2s}]\n"
    )
    result = run(text)
    assert without_wall_clock(result) == without_wall_clock(run(text))
    (kernels,), (ns3s,) = result["flows"], run(text, "ns3")["flows"]
    assert kernels["rtt_ms"]["max"] == pytest.approx(ns3s["rtt_ms"]["max"], abs=0.1)
    assert kernels["received"] == ns3s["received"] == 20


def test_sixteen_nodes_and_stacks_that_differ(run: Run) -> None:
    """Every third one has ns-3's stack, and they share links, on which addresses are resolved."""
    ns3s = ", ".join(f"n{i}: {{stack: ns3}}" for i in range(0, 16, 3))
    flows = "".join(
        f"  - {{type: ping, from: n{i}, to: n{15 - i}, interval: 100ms, start: 1s, duration: 2s}}\n"
        for i in range(16)
    )
    links = "".join(
        f"  - {{shared: [{', '.join(f'n{j}' for j in range(i, i + 4))}]}}\n"
        for i in range(0, 13, 3)
    )
    result = run(
        AODV + f"duration: 4s\nnodes: {{count: 16, {ns3s}}}\nlinks:\n{links}flows:\n{flows}"
    )
    for flow in result["flows"]:
        assert flow["received"] > 0.8 * flow["sent"], flow


def test_two_nodes_reach_each_other_and_nobody_else(run: Run) -> None:
    result = run(
        AODV
        + "nodes: 2\nlinks: [{line: all}]\nduration: 6s\n"
        + "programs: [{node: n0, command: [ping, -c1, -W1, 10.0.0.2]},\n"
        + "  {node: n0, command: [sh, -c, '! ping -c1 -W4 10.9.9.9'], start: 1s}]\n"
    )
    assert result["failures"] == []
    assert upcalls(result)["n0"]["rx_frames"] > 0
    assert upcalls(result)["n1"]["tx_frames"] <= upcalls(result)["n1"]["rx_frames"]
