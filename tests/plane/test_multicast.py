"""Multicast routes of protocols in the kernels' tables.

A line n0 - n1, and n2 and n3 behind n1; and a ring n1, n2, n4, n3 between n0 and the member n5.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from labs import BUILD, TIMEOUT, environment, execute, ip, viaduct, wait_until

LIBRARY = BUILD / "ns3" / "libflood-routing.so"
GROUP, NOBODYS = "239.1.1.1", "239.1.1.2"
SCENARIO = f"""
nodes: 4
links: [{{pair: [n0, n1]}}, {{pair: [n1, n2]}}, {{pair: [n1, n3]}}]
routing:
  protocol: "ns3::FloodRouting"
  attributes: {{Interval: 100ms, Members: "{GROUP} 2 {GROUP} 3"}}
duration: 1h
"""
RING = f"""
nodes: 6
links: [{{pair: [n0, n1]}}, {{pair: [n1, n2]}}, {{pair: [n1, n3]}}, {{pair: [n2, n4]}},
        {{pair: [n3, n4]}}, {{pair: [n4, n5]}}]
routing:
  protocol: "ns3::FloodRouting"
  attributes: {{Interval: 100ms, Members: "{GROUP} 5"}}
duration: 1h
"""
# Prints what comes to the groups on any interface, a line each.
RECEIVER = """
import socket, struct, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 5000))
index = socket.if_nametoindex("eth0")
for group in sys.argv[1:]:
    request = socket.inet_aton(group) + struct.pack("=4xi", index)
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
print("ready", flush=True)
while True:
    print(receiver.recv(100).decode(), flush=True)
"""
SENDER = """
import socket, struct, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
request = struct.pack("=8xi", socket.if_nametoindex("eth0"))
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, request)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, int(sys.argv[2]))
for word in sys.argv[3:]:
    sender.sendto(word.encode(), (sys.argv[1], 5000))
"""


def python(namespace: str, text: str, *arguments: str) -> list[str]:
    """The command that runs a program in a namespace."""
    return ["ip", "netns", "exec", namespace, "/usr/bin/python3", "-c", text, *arguments]


def send(lab: str, group: str, *words: str, ttl: int = 8) -> None:
    """From n0."""
    execute(python(f"{lab}.n0", SENDER, group, str(ttl), *words)).expect()


@contextlib.contextmanager
def receiver(namespace: str) -> Iterator[Callable[[], str]]:
    """A member of both groups; a function that returns the next word that came."""
    process = subprocess.Popen(
        python(namespace, RECEIVER, GROUP, NOBODYS),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        assert process.stdout

        def read() -> str:
            assert process.stdout
            return process.stdout.readline().strip()

        assert read() == "ready"
        yield read
    finally:
        process.kill()
        process.wait(TIMEOUT)


def resolved(namespace: str) -> list[dict[str, Any]]:
    """The entries of the kernel's table."""
    found: list[dict[str, Any]] = ip(namespace, "mroute", "show", "table", "all")
    return [each for each in found if each.get("iif", "unresolved") != "unresolved"]


def entries(namespace: str) -> dict[str, list[str]]:
    """Group to the interfaces that its packets leave by."""
    return {
        entry["dst"]: sorted(hop["oif"] for hop in entry.get("multipath", []))
        for entry in resolved(namespace)
    }


def inputs(namespace: str) -> list[str]:
    """The interfaces by which the group's packets are taken that leave again."""
    return [
        each["iif"] for each in resolved(namespace) if each["dst"] == GROUP and "multipath" in each
    ]


@pytest.fixture(params=["kernel", "ebpf", "joined", "userspace"])
def tree(
    request: pytest.FixtureRequest,
    lab: str,
    scenario: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """The lab, whose protocol knows its way to both members."""
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(LIBRARY))
    viaduct("up", scenario(f"data_plane: {request.param}\n{SCENARIO}")).expect()

    def is_ready() -> bool:
        send(lab, GROUP, "early")
        return entries(f"{lab}.n1").get(GROUP) == ["eth1", "eth2"]

    try:
        wait_until(is_ready, "an entry for both members")
        yield lab
    finally:
        viaduct("down", lab).expect()


def test_every_member_gets_every_packet_once(tree: str) -> None:
    with receiver(f"{tree}.n2") as next2, receiver(f"{tree}.n3") as next3:
        words = [str(number) for number in range(50)]
        send(tree, GROUP, *words)
        assert [next2() for _ in words] == words
        assert [next3() for _ in words] == words
        send(tree, NOBODYS, "unwanted")  # nobody has told the protocol
        send(tree, GROUP, "too short", ttl=1)  # n1 is a hop
        send(tree, GROUP, "last", ttl=2)
        assert next2() == "last"
        assert next3() == "last"
    assert NOBODYS not in entries(f"{tree}.n1") or entries(f"{tree}.n1")[NOBODYS] == []


def test_entries_follow_the_protocol(tree: str) -> None:
    execute(["ip", "-n", f"{tree}.n1", "link", "set", "eth2", "down"]).expect()
    wait_until(lambda: entries(f"{tree}.n1")[GROUP] == ["eth1"], "n3 is cut off")
    with receiver(f"{tree}.n2") as next2:
        send(tree, GROUP, "one")
        assert next2() == "one"
    execute(["ip", "-n", f"{tree}.n1", "link", "set", "eth2", "up"]).expect()
    wait_until(lambda: entries(f"{tree}.n1")[GROUP] == ["eth1", "eth2"], "n3 is back")
    with receiver(f"{tree}.n2") as next2, receiver(f"{tree}.n3") as next3:
        send(tree, GROUP, "two")
        assert next2() == "two"
        assert next3() == "two"


def test_a_group_is_taken_from_where_its_packets_come_now(
    lab: str, scenario: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(LIBRARY))
    viaduct("up", scenario(f"data_plane: kernel\n{RING}")).expect()
    try:

        def taken_from() -> list[str]:
            send(lab, GROUP, "early")
            return inputs(f"{lab}.n4")

        wait_until(lambda: len(taken_from()) == 1, "an entry for the member")
        (before,) = taken_from()
        (other,) = {"eth0", "eth1"} - {before}
        execute(["ip", "-n", f"{lab}.n4", "link", "set", before, "down"]).expect()
        wait_until(lambda: taken_from() == [other], "the other way round the ring")
        with receiver(f"{lab}.n5") as next5:
            words = [str(number) for number in range(50)]
            send(lab, GROUP, *words)
            assert [next5() for _ in words] == words
    finally:
        viaduct("down", lab).expect()
