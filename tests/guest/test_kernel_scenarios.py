"""Scenarios whose nodes have a real kernel as their stack, in virtual time: needs no root, but a
kernel that was built (viaduct kernel build)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from labs import results, viaduct, without_wall_clock

LINE = """
name: kernelline
mode: simulate
stack: kernel
duration: 3s
nodes: {count: 3, n2: {sysctls: {net.ipv4.tcp_congestion_control: reno}}}
links: [{line: all, spec: "delay=5ms rate=10Mbit"}]
routing: {protocol: static}
flows:
  - {type: udp, from: n0, to: n2, size: 1000, rate: 1Mbit, duration: 2s}
  - {type: tcp, from: n0, to: n2}
  - {type: ping, from: n2, to: n0, duration: 1s}
"""


@pytest.fixture(autouse=True)
def needs_kernel() -> None:
    if viaduct("kernel", "list").status != 0 or not viaduct("kernel", "list").output.strip():
        pytest.skip("no kernel for guests: viaduct kernel build")


def simulate(folder: Path, name: str, text: str = LINE) -> dict[str, Any]:
    scenario = folder / "kernelline.yaml"
    scenario.write_text(text)
    file = folder / name
    viaduct("run", scenario, "--json", file, timeout=120).expect()
    return results(file)


def test_flows_run_over_kernels_and_repeat_exactly(tmp_path: Path) -> None:
    run = simulate(tmp_path, "a.json")
    udp, tcp, ping = run["flows"]
    assert udp["sent"] == pytest.approx(1e6 * 2 / 8 / 1000, abs=2)
    assert udp["received"] > 0.9 * udp["sent"]
    assert udp["delay_ms"]["p50"] > 10.0
    assert 5e6 < tcp["rate_bit_per_s"] < 10e6
    assert ping["received"] == ping["sent"] == 10
    # Two links of 5 ms each way, and what is in their queues.
    assert ping["rtt_ms"]["min"] > 20.0
    assert without_wall_clock(run) == without_wall_clock(simulate(tmp_path, "b.json"))


def test_kernels_in_the_simulators_process_give_the_same_results(tmp_path: Path) -> None:
    embedded = LINE + "guests: embedded\n"
    run = simulate(tmp_path, "embedded.json", embedded)
    process = simulate(tmp_path, "process.json", LINE + "guests: process\n")
    assert run["flows"] == process["flows"]


RING = """
mode: simulate
stack: kernel
nodes: 6
links: [{ring: all}]
duration: 2s
"""


@pytest.mark.parametrize(
    "routing",
    [
        "routing: {protocol: RIP}",
        "routing: {protocol: RIPng}\naddressing: {ipv4: none, ipv6: 'fd00::/48'}",
        "routing: {protocol: OLSR}",
        "routing: {protocol: DSDV}",
    ],
    ids=["RIP", "RIPng", "OLSR", "DSDV"],
)
def test_protocols_hear_their_neighbours_through_kernels(routing: str, tmp_path: Path) -> None:
    """RIP binds a socket to its group, and relies on ns-3 to deliver what nobody has joined."""
    nodes = 3 if "DSDV" in routing else 6  # it announces a node's first interface only
    text = RING.replace("nodes: 6", f"nodes: {nodes}").replace("name", "") + routing + "\n"
    if "DSDV" in routing:
        text = text.replace("{ring: all}", "{shared: all}")
    run = simulate(tmp_path, "d.json", text + "flows: [{type: ping, from: n0, to: n2}]\n")
    assert run["convergence"]["reachable"] == run["convergence"]["pairs"] == nodes * (nodes - 1)
    assert run["flows"][0]["loss"] == 0


def test_kernels_and_ns3_stacks_talk(tmp_path: Path) -> None:
    mixed = LINE.replace("stack: kernel", "").replace("n2: {", "n2: {stack: kernel, ")
    udp, tcp, ping = simulate(tmp_path, "c.json", mixed)["flows"]
    assert udp["received"] > 0.9 * udp["sent"]
    assert tcp["rate_bit_per_s"] > 1e6
    assert ping["received"] == ping["sent"]


def test_unknown_kernel_is_one_line(tmp_path: Path) -> None:
    scenario = tmp_path / "other.yaml"
    scenario.write_text(LINE.replace("stack: kernel", "stack: kernel:9.99"))
    line = viaduct("run", scenario).error_line(3)
    assert "9.99" in line and "viaduct kernel build" in line
