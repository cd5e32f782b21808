"""The broker against misbehaving clients, and with unusual routes of protocols."""

from __future__ import annotations

import json
import re
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from labs import REPOSITORY, TIMEOUT, as_nobody, execute, ip, own_routes, records, viaduct

SOURCES = REPOSITORY / "src"
FRAMING = (SOURCES / "sys/ipc/message.h").read_text()
MAGIC = int(re.findall(r"kMagic = (0x[0-9A-F]+)", FRAMING)[0], 16)
VERSION = int(
    re.findall(r'kService = \{"broker", (\d+)', (SOURCES / "lab/broker/protocol.cc").read_text())[0]
)
REPLY, ERROR = 1, 2
FIRST = int(re.findall(r"kFirstRequest = (\d+)", FRAMING)[0])
REQUESTS = re.findall(
    r"^  (k\w+)",
    (SOURCES / "lab/broker/protocol.h").read_text().split("enum class Request")[1].split("};")[0],
    re.MULTILINE,
)
CREATE_LAB, DESTROY_LAB, OPEN_PACKET_SOCKET, APPLY_ROUTES, SET_LINK_UP, KILL, DESCRIBE = (
    FIRST + REQUESTS.index(name)
    for name in (
        "kCreateLab", "kDestroyLab", "kOpenPacketSocket", "kApplyRoutes", "kSetLinkUp", "kKill",
        "kDescribe",
    )
)  # fmt: skip
SPAWN = int(re.findall(r"kSpawn = (\d+)", (SOURCES / "sys/privilege/spawn.h").read_text())[0])
HEADER = struct.Struct("=IHH8sHHIIHH")
MORE = 1
MAX_PACKET = 64 * 1024
REPLACED, ADDED, REMOVED = 0, 1, 2

STATIC = "routing: {protocol: static}\nduration: 1h\nnodes: 3\nlinks: [{line: all}]\n"


def header(
    kind: int,
    length: int,
    *,
    flags: int = 0,
    magic: int = MAGIC,
    version: int = VERSION,
    service: bytes = b"broker",
) -> bytes:
    """A packet's header."""
    return HEADER.pack(magic, 1, version, service, kind, flags, 7, length, 0, 0)


CLIENTS: list[Broker] = []  # a lab is gone only when all of them are


class Broker:
    """A client that follows the protocol only as far as the test wants."""

    def __init__(self, lab: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(TIMEOUT)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.socket.connect(f"/run/viaduct/{lab}/control")
        CLIENTS.append(self)

    def send(self, packet: bytes) -> None:
        """One packet, as it is."""
        self.socket.send(packet)

    def receive(self) -> tuple[int, dict[str, Any]] | None:
        """Type and content of the answer; None if the broker closed the connection."""
        packet = self.socket.recv(MAX_PACKET + 64)
        if not packet:
            return None
        kind = HEADER.unpack_from(packet)[4]
        return kind, json.loads(packet[HEADER.size :] or b"{}")

    def request(self, kind: int, payload: bytes) -> tuple[int, dict[str, Any]] | None:
        """A valid request, in as many packets as it needs."""
        while len(payload) > MAX_PACKET:
            part, payload = payload[:MAX_PACKET], payload[MAX_PACKET:]
            self.send(header(kind, len(part), flags=MORE) + part)
        self.send(header(kind, len(payload)) + payload)
        return self.receive()

    def ask(self, kind: int, **content: object) -> tuple[int, dict[str, Any]] | None:
        """A request in JSON."""
        return self.request(kind, json.dumps(content).encode())

    def routes(self, node: str, records: list[bytes]) -> tuple[int, dict[str, Any]] | None:
        """Applies route changes."""
        name = node.encode()
        payload = struct.pack("=II", len(name), len(records)) + name + b"".join(records)
        return self.request(APPLY_ROUTES, payload)


def route(change: int, prefix: str, gateway: str, interface: str, metric: int = 20) -> bytes:
    """A RouteRecord."""
    address, length = prefix.split("/")
    destination = socket.inet_aton(address).ljust(16, b"\0")
    hop = socket.inet_aton(gateway or "0.0.0.0").ljust(16, b"\0")
    return struct.pack(
        "=IBBBB16s16s16s", metric, change, FAMILY, int(length), 0, destination, hop,
        interface.encode(),
    )  # fmt: skip


FAMILY = 4  # wire::Family


@pytest.fixture
def up(lab: str, scenario: Callable[[str], Path]) -> Iterator[str]:
    """A lab of three nodes; still in order at the end of every test."""
    viaduct("up", scenario(STATIC)).expect()
    yield lab
    while CLIENTS:
        CLIENTS.pop().socket.close()
    viaduct("exec", f"{lab}:n0", "--", "true").expect()
    viaduct("down", lab).expect()


HOSTILE = {
    "empty packet": b"x",
    "truncated header": header(DESCRIBE, 0)[:11],
    "wrong magic": header(DESCRIBE, 2, magic=0xDEADBEEF) + b"{}",
    "another version": header(DESCRIBE, 2, version=VERSION + 1) + b"{}",
    "another service": header(DESCRIBE, 2, service=b"steward") + b"{}",
    "unknown request": header(999, 2) + b"{}",
    "an answer as request": header(REPLY, 2) + b"{}",
    "length beyond the packet": header(DESCRIBE, 4000) + b"{}",
    "length short of the packet": header(DESCRIBE, 1) + b"{}",
    "no JSON": header(OPEN_PACKET_SOCKET, 4) + b"\xff\xfe\x00{",
    "deeply nested JSON": header(OPEN_PACKET_SOCKET, 60000) + b"[" * 60000,
    "routes that claim too many": header(APPLY_ROUTES, 10)
    + struct.pack("=II", 2, 0xFFFFFFFF)
    + b"n0",
    "routes with a long name": header(APPLY_ROUTES, 8) + struct.pack("=II", 0xFFFFFFFF, 0),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_packet(name: str, up: str) -> None:
    client = Broker(up)
    client.send(HOSTILE[name])
    answer = client.receive()
    assert answer is None or answer[0] == ERROR, answer
    # and it serves the next client normally
    kind, description = Broker(up).ask(DESCRIBE) or (0, {})
    assert kind == REPLY
    assert description["name"] == up


def test_endless_message(up: str) -> None:
    client = Broker(up)
    part = header(DESCRIBE, MAX_PACKET, flags=MORE) + b" " * MAX_PACKET
    with pytest.raises((BrokenPipeError, ConnectionError)):
        for _ in range(400):  # 25 MiB, above what a message may have
            client.send(part)
    assert (Broker(up).ask(DESCRIBE) or (0,))[0] == REPLY


def test_silent_client_blocks_nobody(up: str) -> None:
    silent = Broker(up)
    silent.send(header(DESCRIBE, 10, flags=MORE) + b"{         ")
    assert (Broker(up).ask(DESCRIBE) or (0,))[0] == REPLY


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (OPEN_PACKET_SOCKET, {"node": "n9", "interface": "eth0", "ether_type": 3, "filter": "",
                              "promiscuous": True}),
        (OPEN_PACKET_SOCKET, {"node": "../../n0", "interface": "eth0", "ether_type": 3,
                              "filter": "", "promiscuous": True}),
        (OPEN_PACKET_SOCKET, {"node": "n0", "interface": "lo", "ether_type": 3, "filter": "",
                              "promiscuous": True}),
        (OPEN_PACKET_SOCKET, {"node": "n0", "interface": "eth0", "ether_type": 3,
                              "filter": "no such words", "promiscuous": True}),
        (OPEN_PACKET_SOCKET, {"node": 5}),
        (SET_LINK_UP, {"node": "n0", "interface": "eth7", "up": False}),
        (SPAWN, {"node": "n0", "arguments": []}),
        (KILL, {"pid": 1, "signal": 9}),
        (CREATE_LAB, {"name": "another", "nodes": [], "links": []}),
        (CREATE_LAB, {}),
    ],
    ids=["unknown node", "a path as node", "no lab interface", "bad filter", "wrong type",
         "unknown interface", "no program", "kill init", "a second lab", "empty lab"],
)  # fmt: skip
def test_not_of_this_run(kind: int, content: dict[str, Any], up: str) -> None:
    answer = Broker(up).ask(kind, **content)
    assert answer is not None
    assert answer[0] == ERROR
    assert answer[1]["message"]


def test_another_user_is_refused(up: str) -> None:
    script = (
        "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"s.connect('/run/viaduct/{up}/control')"
    )
    done = as_nobody("/usr/bin/python3", "-c", script, cwd=Path("/"))
    assert "Permission" in done.errors


def test_ten_thousand_routes(up: str) -> None:
    gateway = next(
        info["local"]
        for info in ip(f"{up}.n1", "address", "show", "eth0")[0]["addr_info"]
        if info["family"] == "inet"
    )
    prefixes = [f"100.{64 + i // 65536}.{i // 256 % 256}.{i % 256}/32" for i in range(10_000)]
    client = Broker(up)
    before = own_routes(f"{up}.n0")
    added = client.routes("n0", [route(ADDED, p, gateway, "eth0") for p in prefixes])
    assert added is not None
    assert added[0] == REPLY, added
    assert len(own_routes(f"{up}.n0")) == len(before) + 10_000
    removed = client.routes("n0", [route(REMOVED, p, gateway, "eth0") for p in prefixes])
    assert removed is not None
    assert removed[0] == REPLY, removed
    assert own_routes(f"{up}.n0") == before


def test_odd_routes(up: str) -> None:
    """A default route, a host route to a neighbour, an unused next hop: all are accepted.

    Protocols know better than the kernel whom a link reaches; only what cannot be is refused, and
    named, and the rest is in all the same.
    """
    node = f"{up}.n0"
    gateway = next(
        info["local"]
        for info in ip(f"{up}.n1", "address", "show", "eth0")[0]["addr_info"]
        if info["family"] == "inet"
    )
    client = Broker(up)
    good = [
        route(ADDED, "0.0.0.0/0", gateway, "eth0"),
        route(ADDED, f"{gateway}/32", "", "eth0"),
        route(ADDED, "192.0.2.0/24", "192.0.2.77", "eth0"),
    ]
    answer = client.routes("n0", good)
    assert answer is not None
    assert answer[0] == REPLY, answer
    have = own_routes(node)
    assert have["default"] == gateway
    assert gateway in have
    assert have["192.0.2.0/24"] == "192.0.2.77"
    bad = [
        route(ADDED, "203.0.113.0/24", gateway, "eth7"),
        route(ADDED, "198.51.100.0/24", gateway, "eth0"),
    ]
    answer = client.routes("n0", bad)
    assert answer is not None
    assert answer[0] == ERROR, answer
    assert "203.0.113.0" in answer[1]["message"]
    assert "198.51.100.0/24" in own_routes(node), "the others are in all the same"
    assert execute(["ip", "-n", node, "route", "get", "8.8.8.8"]).status == 0


def test_record_is_gone_after_destroy(lab: str, scenario: Callable[[str], Path]) -> None:
    viaduct("up", scenario(STATIC)).expect()
    answer = Broker(lab).ask(DESTROY_LAB)
    assert answer is not None
    assert answer[0] == REPLY
    assert lab not in records()
    CLIENTS.pop().socket.close()
