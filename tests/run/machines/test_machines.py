"""One lab on several machines, which namespaces of this machine stand for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import FAST_OLSR, results, viaduct
from machines import machines

LINE = """
mode: offload
duration: 6s
nodes:
  n0: {on_machine: h1}
  n1: {on_machine: h1}
  n2: {on_machine: h2}
  n3: {on_machine: h2}
links:
  - {line: all}
flows:
  - {type: udp, from: n0, to: n3, rate: 2Mbit, duration: 2s}
  - {type: tcp, from: n3, to: n0, rate: 5Mbit, duration: 2s}
  - {type: ping, from: n0, to: n3, duration: 2s}
  - {type: ping, from: n2, to: n1, duration: 2s}
"""


@pytest.mark.usefixtures("lab")
def test_two_hosts(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Routes converge across hosts, traffic passes, there is one report."""
    with machines(2) as hosts:
        file = scenario(LINE + FAST_OLSR + hosts.hosts())
        run = hosts.start("run", file, "--json", tmp_path / "out.json", "--report", tmp_path / "r")
        assert run.wait() == 0, run.text
        out = results(tmp_path / "out.json")
        assert out["convergence"]["reachable"] == 12
        assert "12 of 12 pairs are reachable" in run.text, "of all machines, as in the results"
        assert [flow["received"] for flow in out["flows"][::2]] == [
            flow["sent"] for flow in out["flows"][::2]
        ]
        assert out["flows"][1]["rate_bit_per_s"] > 4e6
        assert out["flows"][3]["loss"] == 0
        assert [host["nodes"] for host in out["hosts"]] == [["n0", "n1"], ["n2", "n3"]]
        assert set(out["data_planes"]) == {"n0", "n1", "n2", "n3"}
        assert "the network between the machines" in out["not_judged"]
        assert (tmp_path / "r" / "index.html").exists()
        hosts.await_nothing_left()


THREE = """
mode: offload
duration: 6s
addressing: {ipv6: "fd00::/48"}
nodes: 9
links:
  - {ring: [n0, n1, n2], spec: rate=1Gbit}
  - {ring: [n3, n4, n5], spec: rate=1Gbit}
  - {ring: [n6, n7, n8], spec: rate=1Gbit}
  - {pair: [n0, n3], up: delay=20ms rate=10Mbit, down: delay=5ms rate=10Mbit}
  - {pair: [n3, n6], spec: delay=10ms rate=10Mbit}
routing: {protocol: static}
flows:
  - {type: udp, from: n0, to: n3, rate: 1Mbit, duration: 2s}
  - {type: udp, from: n3, to: n0, rate: 1Mbit, duration: 2s}
  - {type: udp, from: n1, to: n7, rate: 1Mbit, duration: 2s, address: ipv6}
  - {type: ping, from: n8, to: n1, duration: 2s, address: ipv6}
"""


@pytest.mark.usefixtures("lab")
def test_three_hosts_with_specs(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """METIS cuts the slow links; each direction's SPEC is done once; delays mean something.

    The hosts' clocks are hours apart, which the one-way delays must not show.
    """
    with machines(3, clocks=(0, 10000, 3000)) as hosts:
        file = scenario(THREE + hosts.hosts())
        run = hosts.start("run", file, "--json", tmp_path / "out.json")
        assert run.wait() == 0, run.text
        out = results(tmp_path / "out.json")
        placed = sorted(tuple(host["nodes"]) for host in out["hosts"])
        assert placed == [("n0", "n1", "n2"), ("n3", "n4", "n5"), ("n6", "n7", "n8")]
        # The fastest packet's: of the others the machine decides how late they are.
        delays = [flow["delay_ms"]["min"] for flow in out["flows"][:3]]
        error = sum(host["clock_error_ms"] for host in out["hosts"])
        for measured, expected, wrong in zip(delays, (20, 5, 30), (25, 20, 50), strict=True):
            assert expected - error < measured < wrong, delays
        assert all(flow["loss"] == 0 for flow in out["flows"])
        assert 45 < out["flows"][3]["rtt_ms"]["min"] < 70
        ahead = {host["name"]: host["clock_ahead_ms"] for host in out["hosts"]}
        assert abs(ahead["h2"] - ahead["h1"] - 1e7) <= error
        assert abs(ahead["h3"] - ahead["h1"] - 3e6) <= error
        assert error < 1000
        hosts.await_nothing_left()


def test_the_link_between_hosts_flaps(
    lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """OLSR goes around by the other link between the hosts, and packets with it."""
    square = LINE.replace("  - {line: all}", "  - {line: all}\n  - {pair: [n0, n3]}")
    square = square[: square.index("flows:")].replace("duration: 6s", "duration: 20s")
    flows = """
flows: [{type: ping, from: n0, to: n3, duration: 10s, interval: 50ms}]
events: [{link: n0-n3, at: 2s, state: down}]
"""
    with machines(2) as hosts:
        file = scenario(square + flows + FAST_OLSR + hosts.hosts())
        run = hosts.start("run", file, "--json", tmp_path / "out.json")
        assert run.wait() in (0, 1), run.text
        out = results(tmp_path / "out.json")
        assert [event["change"] for event in out["events"]] == ["down"], lab
        flow = out["flows"][0]
        assert 0.02 < flow["loss"] < 0.6, flow
        # By the end the answers come again.
        assert flow["samples"][-1][0] > 9
        hosts.await_nothing_left()


@pytest.mark.usefixtures("lab")
def test_refusals(scenario: Callable[[str], Path]) -> None:
    """One line each, and nothing is left."""
    for text, words in (
        ("machines: {h1: {address: 192.0.2.1}, h2: {}}", "machines.h2 needs address"),
        ("machines: {h1: {address: 192.0.2.1}}", "there is no machine 'h2'"),
        ("machines: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.1}}", "given twice"),
        ("machines: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}, x: {address: 192.0.2.3}}",
         "machine x has no node"),
    ):  # fmt: skip
        done = viaduct("run", scenario(LINE + FAST_OLSR + text))
        assert words in done.error_line(2)
        assert len(done.errors.strip().splitlines()) == 1, done
    with machines(2) as hosts:
        wrong = hosts.hosts().replace("192.0.2.2", "192.0.2.77")
        run = hosts.start("run", scenario(LINE + FAST_OLSR + wrong))
        assert run.wait() == 3, run.text
        assert "192.0.2.77" in run.text, run.text
        wrong = hosts.hosts().replace("192.0.2.2}", "192.0.2.9, login: 192.0.2.2}")
        run = hosts.start("run", scenario(LINE + FAST_OLSR + wrong))
        assert run.wait() == 2, run.text
        assert "none of the addresses of the scenario's machines" in run.text, run.text
        hosts.await_nothing_left()
