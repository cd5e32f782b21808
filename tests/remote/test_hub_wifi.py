"""`viaduct hub` whose clients are Wi-Fi stations: the radio is the one that the scenario says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import test_hub
from labs import inside, viaduct, wait_until
from test_hub import Hosts, client_of, end, hub, transfer

hosts = test_hub.hosts

STATIONS = """
nodes:
  a: {{remote: any, position: [0, 0], gateway: near}}
  b: {{remote: any, position: [20, 0], gateway: near}}
  near: {{position: [50, 0]}}
  far: {{position: [100000, 0]}}
links:
  - wifi: {{nodes: all, range: 70, {wifi}}}
routing: {{protocol: static}}
convergence: {{required: false}}
"""
NEAR, FAR = "10.0.0.3", "10.0.0.4"


def station(hosts: Hosts, node: str, vni: int, address: str) -> str:
    return hosts.client(node, vni, [f"{address}/24"], [NEAR])


def answers(namespace: str, address: str) -> bool:
    return inside(namespace, "ping", "-c1", "-W1", address).status == 0


@pytest.mark.parametrize(
    "wifi", ["standard: 80211g", "standard: 80211a, access_point: near"], ids=["adhoc", "ap"]
)
def test_who_is_out_of_range_is_not_reached(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, wifi: str
) -> None:
    file = scenario(STATIONS.format(wifi=wifi))
    a = station(hosts, "a", 1, "10.0.0.1")
    b = station(hosts, "b", 2, "10.0.0.2")
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        for client in (a, b):
            wait_until(lambda one=client: answers(one, NEAR), "the near one answers")
        transfer(a, b, "10.0.0.2", 300_000)
        transfer(b, a, "10.0.0.1", 300_000)
        inside(a, "ping", "-c", "5", "-i", "0.2", "-W", "1", FAR).expect(1)
        assert answers(a, NEAR)
        end(process)
    results = json.loads(written.read_text())
    assert client_of(results, "a")["rx_frames"] > 0
    assert client_of(results, "a")["tx_frames"] > 0


def test_a_channel_is_as_fast_as_its_rate(hosts: Hosts, scenario: Callable[[str], Path]) -> None:
    """300 kB at 1 Mbit/s take 2.4 s at least, from one station to another."""
    file = scenario(STATIONS.format(wifi="standard: 80211b, rate: DsssRate1Mbps"))
    a = station(hosts, "a", 1, "10.0.0.1")
    b = station(hosts, "b", 2, "10.0.0.2")
    with hub(hosts, file) as process:
        for client in (a, b):
            wait_until(lambda one=client: answers(one, NEAR), "the near one answers")
        begin = time.monotonic()
        transfer(a, b, "10.0.0.2", 300_000)
        assert time.monotonic() - begin > 2.4
        end(process)


WALK = """
nodes:
  a: {{remote: any, position: [0, 0], gateway: b}}
  b: {{waypoints: [{waypoints}]}}
links:
  - wifi: {{nodes: all, range: 70}}
routing: {{protocol: static}}
"""


def test_a_node_that_walks_away_is_lost_and_found(
    hosts: Hosts, scenario: Callable[[str], Path]
) -> None:
    """It comes and goes, each for ten seconds."""
    places = []
    for turn in range(0, 200, 20):
        places += [f"{turn}s 50 0", f"{turn + 9}s 50 0"]
        places += [f"{turn + 10}s 5000 0", f"{turn + 19}s 5000 0"]
    file = scenario(WALK.format(waypoints=", ".join(places)))
    a = hosts.client("a", 1, ["10.0.0.1/24"], ["10.0.0.2"])
    with hub(hosts, file) as process:
        for _ in range(2):
            wait_until(lambda: answers(a, "10.0.0.2"), "it is in range")
            wait_until(lambda: not answers(a, "10.0.0.2"), "it is out of range")
        end(process)


def test_a_station_with_ipv6_addresses_is_refused(scenario: Callable[[str], Path]) -> None:
    file = scenario(
        WALK.format(waypoints="0s 50 0, 1s 50 0") + 'addressing: {ipv6: "fd00::/48"}\n',
    )
    refused = viaduct("hub", file).expect(2)
    assert "nodes.a.remote" in refused.errors
    assert "addressing.ipv6" in refused.errors
