"""A bad network between clients and hub, made by the product's own path emulator."""

from __future__ import annotations

import contextlib
import json
import re
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import test_hub
from labs import Running, execute, inside, wait_until
from test_hub import NODES, Hosts, client_of, end, hub, transfer
from test_join import joined, reaches
from wires import entered

hosts = test_hub.hosts

PACKETS = 2000
BAD = "delay=3ms loss=5% dup=4% reorder=5%"
"""Of each direction, for datagrams and the control connection alike."""
_RECEIVE_BUFFER_FORCE = 33
PLACES = {4: ("192.0.2.254", "10.0.0.6"), 6: ("[2001:db8::fe]", "fd00:0:0:1::2")}
"""The hub, and node b."""


@contextlib.contextmanager
def bad_network(hosts: Hosts) -> Iterator[Running]:
    """The wire between the hosts is cut, and joined by an emulated path."""
    middle = f"{hosts.name}M"
    execute(["ip", "netns", "add", middle]).expect()
    Hosts.run(hosts.hub, "link del eth0")
    for place, port, number in ((hosts.clients, "a", 1), (hosts.hub, "b", 254)):
        Hosts.run(
            place,
            f"link add eth0 type veth peer name {port} netns {middle}",
            f"addr add 192.0.2.{number}/24 dev eth0",
            f"addr add 2001:db8::{number:x}/64 dev eth0 nodad",
            "link set eth0 up",
        )
        Hosts.run(middle, f"link set dev {port} up")
    with entered(middle):
        path = Running("path", "--between", "a", "b", "--up", BAD, "--down", BAD)
    try:
        path.wait_for(" is running ")
        yield path
    finally:
        path.stop()


def datagrams_read(namespace: str) -> int:
    """What the kernel gave to UDP sockets of this namespace, of both versions of IP."""
    text = inside(namespace, "cat", "/proc/net/snmp").output
    lines = [line.split() for line in text.splitlines() if line.startswith("Udp:")]
    ipv6 = re.search(r"Udp6InDatagrams\s+(\d+)", inside(namespace, "cat", "/proc/net/snmp6").output)
    return int(lines[1][lines[0].index("InDatagrams")]) + (int(ipv6[1]) if ipv6 else 0)


def count_through(sender: str, receiver: str, address: str) -> tuple[int, int]:
    """Numbered datagrams; returns how many came, and how many came again."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    seen: set[int] = set()
    again = 0
    with entered(receiver), socket.socket(family, socket.SOCK_DGRAM) as into:
        into.bind((address, 9000))
        into.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, 8 << 20)
        with entered(sender), socket.socket(family, socket.SOCK_DGRAM) as out:
            out.connect((address, 9000))
            for number in range(PACKETS):
                out.send(struct.pack("!I", number))
                time.sleep(0.001)
        while select.select([into], [], [], 1)[0]:
            (number,) = struct.unpack("!I", into.recv(100))
            again += number in seen
            seen.add(number)
    return len(seen), again


@pytest.mark.parametrize("mode", ["simulate", "offload"])
@pytest.mark.parametrize("version", [4, 6])
def test_loss_reordering_and_duplicates_on_the_way(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, mode: str, version: int
) -> None:
    """Overlay and claims go on; what the way lost is not the hub's, and nothing is hidden."""
    address, target = PLACES[version]
    own = {node: f"{hosts.name}own{node}" for node in "ab"}
    for namespace in own.values():
        execute(["ip", "netns", "add", namespace]).expect()
    text = NODES.format(a="true", b="true") + f"mode: {mode}\ntiming: {{lateness_limit: 30s}}\n"
    file = scenario(text)
    key, written = test_hub.key_of(file), tmp_path / "hub.json"
    with bad_network(hosts), hub(hosts, file, "--json", str(written)) as process:
        before = datagrams_read(hosts.hub)
        with contextlib.ExitStack() as stack:
            clients = [
                stack.enter_context(
                    joined(
                        hosts,
                        key,
                        *("--wait", "30s", "--node", node, "--into", namespace),
                        address=address,
                        ready=f"node {node} is interface eth0",
                    )
                )
                for node, namespace in own.items()
            ]
            wait_until(lambda: reaches(own["a"], target.strip("[]")), "b is reached")
            came, again = count_through(own["a"], own["b"], target)
            transfer(own["a"], own["b"], target)
            time.sleep(6)  # in which a connection would have been given up
            assert [each.read().count("retrying") for each in clients] == [0, 0]
            # Twice 5% on the way, up and down.
            assert 0.86 < came / PACKETS < 0.95
            assert 0.04 < again / came < 0.13
            for each in clients:
                end(each, 130)
        read = datagrams_read(hosts.hub) - before
        end(process)
    results = json.loads(written.read_text())
    assert results["claims"] == 2
    assert results["returns"] == 0
    assert results["drops"] == {}
    assert results["verdict"] == "VALID"
    assert results["frames"].get("lost", 0) == 0
    # Each datagram that came was somebody's.
    assert results["datagrams"] == read
    drops: dict[str, int] = {}
    for node in ("a", "b"):
        for cause, count in client_of(results, node)["drops"].items():
            drops[cause] = drops.get(cause, 0) + count
    assert set(drops) <= {"unclaimed", "spoofed"}, "what came before and after the claims"
    received = sum(client_of(results, node)["rx_frames"] for node in "ab")
    assert received + drops.get("spoofed", 0) == read
