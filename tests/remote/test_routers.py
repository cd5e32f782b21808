"""`viaduct hub` with clients that have the programs of routers: nodes of ad hoc networks."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import test_hub
from labs import inside, viaduct, wait_until
from test_hub import Hosts, client_of, end, hub, transfer
from test_join import READY, join, joined, reaches
from wires import entered

hosts = test_hub.hosts

LINE = """
mode: {mode}
nodes:
  a: {{remote: {whose}}}
  n1: {{}}
  n2: {{}}
  b: {{remote: {whose}}}
  c: {{}}
links:
  - {{pair: [a, n1], spec: delay=10ms}}
  - {{pair: [n1, n2]}}
  - {{pair: [n2, b]}}
  - {{pair: [n2, c]}}
routing: {{protocol: AODV}}
"""
"""Two routers are between the clients of a and b, and between that of a and node c."""
A, B, C = "10.0.0.1", "10.0.0.10", "10.0.0.14"
MODES = ("simulate", "emulate", "offload")

DSDV = """
mode: {mode}
links:
  - {links}
routing:
  protocol: DSDV
  attributes: {{PeriodicUpdateInterval: 1s, SettlingTime: 500ms}}
convergence: {{required: false, timeout: 10s}}
"""

OF_CLIENTS = {"unclaimed", "from_program_no_stack"}
"""What is lost in any case: packets from before a client speaks, and its kernel's own of IPv6."""


def router(hosts: Hosts, node: str, vni: int, *addresses: str) -> str:
    """A plain client of a router; returns its namespace."""
    namespace = hosts.client(node, vni, list(addresses), [])
    Hosts.run(namespace, "route add default dev eth0")
    return namespace


def speaks(namespace: str) -> None:
    """Anyone's node has its client once that has spoken: an ARP request is enough."""

    def is_answered() -> bool:
        Hosts.run(namespace, "neigh replace 192.0.2.9 dev eth0 use")
        return "lladdr" in inside(namespace, "ip", "neigh", "show", "192.0.2.9").output

    wait_until(is_answered, f"{namespace} is answered")


def routers_between(namespace: str, address: str) -> int:
    """How many have passed on the answer to one ping, which is the first packet on its way."""
    answer = inside(namespace, "ping", "-n", "-c1", "-W", "30", address).expect()
    return 64 - int(answer.output.split("ttl=")[1].split()[0])


@pytest.mark.parametrize("mode", MODES)
def test_clients_are_nodes_of_an_ad_hoc_network(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, mode: str
) -> None:
    """They reach each other and simulated nodes, and no packet is lost while a route is sought."""
    file = scenario(LINE.format(mode=mode, whose="any"))
    a, b = router(hosts, "a", 1, f"{A}/30"), router(hosts, "b", 2, f"{B}/30")
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        speaks(b)
        assert routers_between(a, B) == 2
        assert routers_between(b, A) == 2
        assert routers_between(a, C) == 2
        assert 0.020 <= least_seconds(a, B) < 1
        transfer(a, b, B, 100_000)
        transfer(b, a, A, 100_000)
        # Longer than a link's MTU: in fragments from the client, and in fragments to the other.
        inside(a, "ping", "-c2", "-W", "30", "-s", "4000", B).expect()
        end(process)
    results = json.loads(written.read_text())
    for node in ("a", "b"):
        client = client_of(results, node)
        assert client["client"] == "192.0.2.1"
        assert client["rx_frames"] > 70
        assert set(client["drops"]) <= OF_CLIENTS, client
    assert results["drops"] == {}


def least_seconds(namespace: str, address: str) -> float:
    """The shortest of some round trips."""
    done = inside(namespace, "ping", "-c", "5", "-i", "0.2", "-W", "5", address).expect()
    return float(done.output.rsplit("= ", 1)[1].split("/")[0]) / 1e3


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_who_joins_is_a_router(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, mode: str
) -> None:
    """One joins late, leaves, and comes back; nobody answers in its place."""
    file = scenario(LINE.format(mode=mode, whose="true"))
    key, written = test_hub.key_of(file), tmp_path / "hub.json"
    look = ["sh", "-c", "ip -4 route; cat /sys/class/net/eth0/mtu; ping -n -c 2 -W 30 b"]
    with hub(hosts, file, "--json", str(written)) as process:
        assert join(hosts, key, "--node", "a", "--", *READY[:2], "ping -c2 -W1 b").status == 1
        with joined(hosts, key, "--node", "b", "--", *READY):
            done = join(hosts, key, "--node", "a", "--", *look).expect()
            assert "default dev eth0 proto static scope link" in done.output
            assert "\n1500\n" in done.output
            assert "2 received" in done.output
            assert done.output.count("ttl=62") == 2
        assert join(hosts, key, "--node", "a", "--", *READY[:2], "ping -c2 -W1 b").status == 1
        with joined(hosts, key, "--node", "b", "--", *READY):
            assert "2 received" in join(hosts, key, "--node", "a", "--", *look).expect().output
        end(process)
    results = json.loads(written.read_text())
    assert results["claims"] == 6
    # Packets for b while it had no client.
    assert client_of(results, "b")["drops"]["unclaimed"] >= 2, results["clients"]


def test_ten_clients_carry_each_others_packets(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """A ring of nothing but clients: the one that is opposite is five hops away."""
    count = 10
    nodes = ", ".join(f"n{i}: {{remote: any}}" for i in range(count))
    text = f"nodes: {{{nodes}}}\nlinks: [{{ring: all}}]\nrouting: {{protocol: AODV}}\n"
    file = scenario(text)
    own = [[f"10.0.0.{4 * i + 1}/30", f"10.0.0.{4 * (i - 1) + 2}/30"] for i in range(count)]
    own[0][1] = f"10.0.0.{4 * (count - 1) + 2}/30"
    clients = [router(hosts, f"n{i}", i + 1, *addresses) for i, addresses in enumerate(own)]
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        for client in clients:
            speaks(client)
        for i, client in enumerate(clients):
            opposite = own[(i + count // 2) % count][0].split("/")[0]
            assert routers_between(client, opposite) == count // 2 - 1
        end(process)
    results = json.loads(written.read_text())
    assert [each["node"] for each in results["clients"]] == [f"n{i}" for i in range(count)]
    for client in results["clients"]:
        assert set(client["drops"]) <= OF_CLIENTS, client


@pytest.mark.parametrize("mode", MODES)
def test_dsdv(hosts: Hosts, scenario: Callable[[str], Path], mode: str) -> None:
    """On a shared link, where ns-3's DSDV reaches all pairs."""
    links = "{shared: [a, b, c]}\nnodes: {a: {remote: any}, b: {remote: any}, c: {}}"
    file = scenario(DSDV.format(mode=mode, links=links))
    a, b = router(hosts, "a", 1, "10.0.0.1/29"), router(hosts, "b", 2, "10.0.0.2/29")
    with hub(hosts, file) as process:
        speaks(b)
        for target in ("10.0.0.2", "10.0.0.3"):
            wait_until(lambda target=target: reaches(a, target), f"a reaches {target}")
        assert routers_between(b, "10.0.0.1") == 0
        end(process)


def test_dsdv_over_several_hops(hosts: Hosts, scenario: Callable[[str], Path]) -> None:
    """Along a line ns-3's DSDV carries packets one way, and none back (docs/routes.md)."""
    links = "{line: all}\nnodes: {a: {remote: any}, n1: {}, n2: {}, b: {remote: any}}"
    file = scenario(DSDV.format(mode="simulate", links=links))
    a, b = router(hosts, "a", 1, "10.0.0.1/30"), router(hosts, "b", 2, "10.0.0.10/30")
    with hub(hosts, file) as process:
        speaks(b)
        with entered(b):
            receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            receiver.bind(("10.0.0.10", 5000))
            receiver.settimeout(0.5)
        with entered(a):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

        def arrives() -> bool:
            sender.sendto(b"hello", ("10.0.0.10", 5000))
            try:
                return receiver.recvfrom(100)[1][0] == "10.0.0.1"
            except TimeoutError:
                return False

        with sender, receiver:
            wait_until(arrives, "a datagram comes over two routers")
        end(process)


def test_a_router_of_a_protocol_that_has_hosts(
    hosts: Hosts, scenario: Callable[[str], Path]
) -> None:
    """A client may have either place with OLSR: a router's by `host: false`."""
    text = """
nodes: {a: {remote: any, host: false}, n1: {}, h: {remote: any}}
links: [{pair: [a, n1]}, {pair: [n1, h]}]
routing: {protocol: OLSR, attributes: {HelloInterval: 250ms, TcInterval: 500ms}}
"""
    a = router(hosts, "a", 1, "10.0.0.1/30")
    h = hosts.client("h", 2, ["10.0.0.6/30"], ["10.0.0.5"])
    with hub(hosts, scenario(text)) as process:
        speaks(a)
        wait_until(lambda: reaches(h, "10.0.0.5"), "h has its gateway")
        wait_until(lambda: reaches(a, "10.0.0.6"), "a reaches h")
        assert routers_between(h, "10.0.0.1") == 1
        end(process)


@pytest.mark.parametrize("plane", ["userspace", "auto"])
def test_the_files_data_plane_is_of_the_other_nodes(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, plane: str
) -> None:
    file = scenario(LINE.format(mode="offload", whose="any"))
    a, b = router(hosts, "a", 1, f"{A}/30"), router(hosts, "b", 2, f"{B}/30")
    with hub(hosts, file, "--set", f"data_plane={plane}") as process:
        speaks(b)
        assert routers_between(a, B) == 2
        end(process)


def test_bad_input(scenario: Callable[[str], Path]) -> None:
    for change, message in (
        ("nodes.a.host=true", "AODV announces nodes, not networks"),
        ("nodes.a.data_plane=ebpf", "through the simulator"),
        ("nodes.a.gateway=n1", "only a host has a gateway"),
        ("addressing.ipv6=fd00::/48", "supports only IPv4"),
    ):
        file = scenario(LINE.format(mode="simulate", whose="any"))
        line = viaduct("hub", file, "--set", change).error_line(2)
        assert message in line
        assert "/proc" not in line
