"""IPv6 in every mode, as IPv4: routes, flows, programs' packets of every length, errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import results, viaduct

MODES = ["simulate", "traditional", "emulate", "offload"]
REAL_MODES = MODES[1:]
STATIC = "routing: {protocol: static}\n"
RIPNG = """
routing:
  protocol: ns3::RipNg
  attributes: {UnsolicitedRoutingUpdate: 2s, StartupDelay: 100ms}
"""
IPV6 = "addressing: {ipv4: none, ipv6: fd00::/48}\n"
BOTH = "addressing: {ipv6: fd00::/48}\n"


def run(file: Path, mode: str, tmp_path: Path) -> dict:
    report = tmp_path / f"{mode}.json"
    viaduct("run", file, "--mode", mode, "--json", report).expect()
    return results(report)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("routing", [STATIC, RIPNG], ids=["static", "ripng"])
def test_flows(mode: str, routing: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(
        routing
        + IPV6
        + """
duration: 4s
nodes: 4
links: [{line: all, spec: rate=20mbit}]
flows:
  - {type: ping, from: n3, to: n0, duration: 2s}
  - {type: udp, from: n0, to: n3, rate: 400kbit, duration: 2s}
  - {type: tcp, from: n0, to: n3, duration: 2s, start: 1s}
"""
    )
    done = run(file, mode, tmp_path)
    assert done["convergence"]["reachable"] == done["convergence"]["pairs"] == 12
    ping, udp, tcp = done["flows"]
    for flow in done["flows"]:
        assert not flow.get("error"), flow
    # Number and time depend on the machine; all of them get through.
    assert ping["received"] > 3
    assert udp["sent"] > 50
    assert udp["loss"] < 0.5
    assert tcp["rate_bit_per_s"] > 1e5


@pytest.mark.parametrize("mode", REAL_MODES)
def test_grid_of_static_routes(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Both versions of IP, over a grid, a chord and parallel links."""
    file = scenario(
        STATIC
        + BOTH
        + """
duration: 5s
nodes: 9
links:
  - {grid: {columns: 3, rows: 3}}
  - {pair: [n0, n4]}
  - {pair: [n7, n8], name: second}
programs:
  - {node: n6, command: "ping -c 3 -i 0.2 {n2}"}
  - {node: n6, command: "ping -6 -c 3 -i 0.2 fd00:0:0:1::2"}
"""
    )
    done = run(file, mode, tmp_path)
    assert done["convergence"]["reachable"] == done["convergence"]["pairs"] == 72
    assert all(program["ok"] for program in done["programs"]), done["programs"]


@pytest.mark.parametrize("mode", REAL_MODES)
def test_every_echo_request_is_answered_once(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Also those that come in fragments."""
    file = scenario(
        STATIC
        + BOTH
        + """
duration: 8s
nodes: 3
links: [{line: all}]
programs:
  - {node: n0, command: "ping -4 -c 10 -i 0.2 10.0.0.6"}
  - {node: n0, command: "ping -6 -c 10 -i 0.2 fd00:0:0:1::2"}
  - {node: n0, command: "ping -4 -c 10 -i 0.2 -s 4000 10.0.0.6"}
  - {node: n0, command: "ping -6 -c 10 -i 0.2 -s 4000 fd00:0:0:1::2"}
"""
    )
    for program in run(file, mode, tmp_path)["programs"]:
        assert program["ok"], program
        assert "10 received" in program["output"], program["output"]
        assert "DUP!" not in program["output"], program["output"]


@pytest.mark.parametrize("mode", REAL_MODES)
def test_datagrams_in_fragments_reach_programs(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "serve.py").write_text(
        "import socket\n"
        "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
        "s.bind(('::', 5353))\n"
        "while True:\n"
        "    data, sender = s.recvfrom(65536)\n"
        "    s.sendto(data, sender)\n"
    )
    (tmp_path / "ask.py").write_text(
        "import os, socket, sys\n"
        "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
        "s.settimeout(1)\n"
        "for size in (100, 3000, 20000):\n"
        "    sent = os.urandom(size)\n"
        "    for attempt in range(20):\n"
        "        s.sendto(sent, (sys.argv[1], 5353))\n"
        "        try:\n"
        "            if s.recv(65536) == sent:\n"
        "                break\n"
        "        except (TimeoutError, ConnectionRefusedError):\n"
        "            continue\n"
        "    else:\n"
        "        sys.exit(f'{size} bytes never came back')\n"
    )
    file = scenario(
        STATIC
        + IPV6
        + f"""
duration: 60s
nodes: 3
links: [{{line: all}}]
programs:
  - {{node: n2, command: "python3 {tmp_path}/serve.py", background: true}}
  - {{node: n0, command: "python3 {tmp_path}/ask.py {{n2}}"}}
"""
    )
    asked = run(file, mode, tmp_path)["programs"][1]
    assert asked["ok"], asked


@pytest.mark.parametrize("mode", REAL_MODES)
def test_a_program_learns_that_there_is_no_route(
    mode: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    file = scenario(
        STATIC
        + IPV6
        + """
duration: 3s
nodes: 2
links: [{line: all}]
programs: [{node: n0, command: "sh -c 'ping -6 -c 1 -W 3 fd99::1 2>&1; true'"}]
"""
    )
    output = run(file, mode, tmp_path)["programs"][0]["output"]
    assert re.search("unreachable|No route", output), output
