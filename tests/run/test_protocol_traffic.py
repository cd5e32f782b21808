"""What protocols and programs send: long, first, multicast, malformed packets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import FAST_OLSR, results, viaduct

REAL_MODES = ["traditional", "emulate", "offload"]
SIMULATOR_MODES = REAL_MODES[:2]  # where ns-3 forwards


def run(file: Path, mode: str, tmp_path: Path) -> dict[str, Any]:
    report = tmp_path / f"{mode}.json"
    viaduct("run", file, "--mode", mode, "--json", report).expect()
    return results(report)


@pytest.mark.parametrize("mode", REAL_MODES)
def test_control_packets_longer_than_the_mtu(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Nine OLSR neighbours do not fit into a HELLO of 100 bytes."""
    file = scenario(FAST_OLSR + "duration: 1s\nnodes: 10\nlinks: [{shared: all, mtu: 100}]\n")
    done = run(file, mode, tmp_path)
    assert done["convergence"]["reachable"] == done["convergence"]["pairs"] == 90
    for device, counters in done["counters"].items():
        lost = {key for key, value in counters.items() if "dropped" in key and value}
        assert not lost | set(counters.get("drops", {})), (device, counters)


@pytest.mark.parametrize("mode", REAL_MODES)
def test_rip_multicasts(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(
        "routing: {protocol: ns3::Rip, attributes: {UnsolicitedRoutingUpdate: 2s,"
        " StartupDelay: 100ms}}\n"
        "duration: 1s\nnodes: 3\nlinks: [{line: all}]\n"
    )
    done = run(file, mode, tmp_path)
    assert done["convergence"]["reachable"] == 6


# Random datagrams, half of which begin as OLSR packets do: with their length, and a message's type.
HOSTILE = """
import random, socket, sys, time
for port in (0, 698):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('', port))
    for i in range(500):
        time.sleep(0.002)  # no queue on the way holds them all
        data = random.randbytes(random.randrange(200))
        if i % 2 and len(data) > 4:
            data = len(data).to_bytes(2, 'big') + data[2:4] + bytes([1 + i % 4]) + data[5:]
        s.sendto(data, (sys.argv[1], 698))
"""


@pytest.mark.parametrize("mode", REAL_MODES)
def test_malformed_datagrams_do_not_end_the_simulator(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE)
    file = scenario(
        FAST_OLSR
        + f"""
duration: 20s
nodes: 3
links: [{{line: all}}]
programs:
  - {{node: n0, command: "sh -c 'ping -c 1 {{n2}} && python3 {tmp_path}/hostile.py {{n2}}'"}}
  - {{node: n0, command: "sh -c 'ping -c 1 {{n1}} && python3 {tmp_path}/hostile.py {{n1}}'"}}
"""
    )
    done = run(file, mode, tmp_path)
    for node in ("n1", "n2"):
        assert done["counters"][f"{node}/protocols"]["drops"]["malformed_datagrams"] > 100


BURST = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[2:]:
    for i in range(20):
        s.sendto(b'x' * 100, (sys.argv[1], 5353))
else:
    s.bind((sys.argv[1], 5353))
    s.settimeout(8)
    for i in range(20):
        s.recv(200)
"""


@pytest.mark.parametrize("mode", SIMULATOR_MODES)
@pytest.mark.parametrize("addressing", ["", "addressing: {ipv4: none, ipv6: fd00::/48}\n"])
def test_first_datagrams_wait_for_address_resolution(
    mode: str, addressing: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "burst.py").write_text(BURST)
    file = scenario(
        "routing: {protocol: static}\n"
        + addressing
        + f"""
duration: 15s
nodes: 3
links: [{{line: all}}]
programs:
  - {{node: n2, command: "python3 {tmp_path}/burst.py {{n2}}"}}
  - {{node: n0, command: "python3 {tmp_path}/burst.py {{n2}} send", start: 2s}}
"""
    )
    assert [program["ok"] for program in run(file, mode, tmp_path)["programs"]] == [True, True]


@pytest.mark.parametrize("mode", REAL_MODES)
def test_routers_do_not_fragment_against_the_senders_will(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    file = scenario(
        """
routing: {protocol: static}
duration: 6s
nodes: 3
links: [{pair: [n0, n1]}, {pair: [n1, n2], mtu: 1000}]
programs:
  - {node: n0, command: "sh -c 'ping -c 1 -W 3 -M do -s 1200 {n2} 2>&1; true'"}
  - {node: n0, command: "ping -c 1 -W 3 -M dont -s 1200 {n2}"}
"""
    )
    refused, fragmented = run(file, mode, tmp_path)["programs"]
    assert "mtu = 1000" in refused["output"] or "mtu=1000" in refused["output"], refused
    assert fragmented["ok"], fragmented
