"""Packets that go up to a protocol that finds routes on demand: where they are lost is counted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import BUILD, results, running, simulator_of

ROUTING = {
    "AODV": "routing: {protocol: AODV}\n",
    "Ipv6RequestRouting": "routing: {protocol: 'ns3::Ipv6RequestRouting'}\n"
    "addressing: {ipv4: none, ipv6: fd00::/48}\n",
}


@pytest.mark.parametrize("plane", ["kernel", "userspace"])
@pytest.mark.parametrize("protocol", list(ROUTING))
def test_a_simulator_that_is_too_slow_voids_the_run(
    protocol: str,
    plane: str,
    scenario: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More packets come than wait for it; no limit of lateness hides that."""
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(BUILD / "ns3" / "libipv6-request-routing.so"))
    text = f"""{ROUTING[protocol]}mode: offload
data_plane: {plane}
duration: 9s
timing: {{lateness_limit: 50s}}
nodes: 3
links: [{{line: all}}]
flows: [{{type: udp, from: n0, to: n2, size: 100, rate: 16Mbit, start: 2s, duration: 2s}}]
"""
    file = tmp_path / "run.json"
    with running("run", scenario(text), "--json", file) as command:
        command.wait_for("routes on demand")
        simulator = simulator_of(command.pid)
        time.sleep(1)
        os.kill(simulator, signal.SIGSTOP)
        time.sleep(2.5)  # 1.5 s of the flow
        os.kill(simulator, signal.SIGCONT)
        assert command.wait() == 4, command.text
    run = results(file)
    (flow,) = run["flows"]
    full = run["data_planes"]["n0"]["drops"]["upcall_queue_full"]
    assert full > 100  # 30,000, if the machine keeps up
    assert run["verdict"] == "VOID"
    assert f"lost at n0, data plane {plane}: {full} packets (upcall_queue_full)" in command.text
    assert "sender's interfaces" not in command.text, "listed twice"
    upcalls = run["counters"]["n0/upcalls"]
    dropped = sum(upcalls.get("drops", {}).values())  # AODV keeps 64
    assert upcalls["rx_frames"] == upcalls["tx_frames"] + dropped, "each has a fate"
    # Kept packets come to n1 at once, which a forwarder may be too slow for.
    behind = sum(run["data_planes"]["n1"].get("drops", {}).values())
    behind += sum(run["counters"]["n1/upcalls"].get("drops", {}).values())
    ends = 5  # markers of the sender
    assert abs(flow["sent"] - flow["received"] - full - dropped - behind) <= ends
