"""`viaduct hub`: nodes of a simulation in real time whose programs are on other hosts."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import (
    TIMEOUT,
    Running,
    execute,
    inside,
    running,
    simulator_of,
    viaduct,
    wait_until,
)
from wires import entered

NODES = """
nodes:
  r: {{}}
  a: {{remote: {a}}}
  b: {{remote: {b}}}
links:
  - {{pair: [a, r], spec: delay=10ms}}
  - {{pair: [r, b]}}
addressing: {{ipv6: "fd00::/48"}}
routing: {{protocol: static}}
"""


@dataclass
class Hosts:
    """The hub's host and the clients' host, which one wire connects; and clients' namespaces."""

    hub: str
    clients: str
    name: str

    def client(
        self, node: str, vni: int, addresses: list[str], gateways: list[str], **options: str
    ) -> str:
        """A client by a plain VXLAN interface; returns its namespace."""
        namespace = f"{self.name}{node}"
        execute(["ip", "netns", "add", namespace]).expect()
        remote = options.get("remote", "192.0.2.254")
        add = (
            f"ip -n {self.clients} link add v{vni} type vxlan id {vni} remote {remote} dstport 4789"
        )
        execute(add.split()).expect()
        execute(
            f"ip -n {self.clients} link set v{vni} netns {namespace} name eth0".split()
        ).expect()
        self.run(namespace, "link set lo up", f"link set eth0 mtu {options.get('mtu', '1500')} up")
        for address in addresses:
            nodad = ["nodad"] if ":" in address else []
            execute(["ip", "-n", namespace, "addr", "add", address, "dev", "eth0", *nodad]).expect()
        for gateway in gateways:
            family = "-6" if ":" in gateway else "-4"
            execute(
                ["ip", "-n", namespace, family, "route", "add", "default", "via", gateway]
            ).expect()
        return namespace

    @staticmethod
    def run(namespace: str, *commands: str) -> None:
        for command in commands:
            execute(["ip", "-n", namespace, *command.split()]).expect()


@pytest.fixture
def hosts(lab: str) -> Iterator[Hosts]:
    made = Hosts(f"{lab}H", f"{lab}C", lab)
    for namespace in (made.hub, made.clients):
        execute(["ip", "netns", "add", namespace]).expect()
    link = f"link add eth0 netns {made.hub} type veth peer name eth0 netns {made.clients}"
    execute(["ip", *link.split()]).expect()
    for namespace, number in ((made.hub, 254), (made.clients, 1)):
        Hosts.run(
            namespace,
            f"addr add 192.0.2.{number}/24 dev eth0",
            f"addr add 2001:db8::{number:x}/64 dev eth0 nodad",
            "link set lo up",
            "link set eth0 up",
        )
    Hosts.run(made.clients, "addr add 192.0.2.66/24 dev eth0")
    try:
        yield made
    finally:
        for line in execute(["ip", "netns", "list"]).output.splitlines():
            if line.split()[0].startswith(lab):
                execute(["ip", "netns", "del", line.split()[0]])


def key_of(file: Path) -> Path:
    """Where a hub of this scenario has its key."""
    return file.with_suffix(".key")


@contextlib.contextmanager
def hub(hosts: Hosts, file: Path, *options: str) -> Iterator[Running]:
    """The hub, serving; ended by Ctrl-C if it still runs."""
    with contextlib.ExitStack() as stack:
        with entered(hosts.hub):
            process = stack.enter_context(running("hub", file, "--key", key_of(file), *options))
        process.wait_for("a client without Viaduct")
        yield process


def end(process: Running, status: int = 0) -> None:
    process.process.send_signal(signal.SIGINT)
    assert process.wait() == status, process.read()


def client_of(results: dict, node: str) -> dict:
    return next(each for each in results["clients"] if each["node"] == node)


def transfer(sender: str, receiver: str, address: str, size: int = 3_000_000) -> None:
    """So many bytes over TCP: they arrive, and are the same."""
    data = random.Random(1).randbytes(size)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with entered(receiver), socket.create_server((address, 7777), family=family) as server:
        server.settimeout(TIMEOUT)
        with entered(sender), socket.socket(family) as out:
            out.settimeout(TIMEOUT)
            out.connect((address, 7777))
            into, _ = server.accept()
            with into:
                into.settimeout(TIMEOUT)
                thread = threading.Thread(target=lambda: (out.sendall(data), out.close()))
                thread.start()
                got = b""
                while part := into.recv(1 << 20):
                    got += part
                thread.join()
                assert got == data


A = ["10.0.0.1/30", "fd00::1/64"], ["10.0.0.2", "fd00::2"]
B = ["10.0.0.6/30", "fd00:0:0:1::2/64"], ["10.0.0.5", "fd00:0:0:1::1"]
"""Addresses and gateways that the scenario gives to the remote nodes."""


@pytest.mark.parametrize("underlay", ["192.0.2", "2001:db8:"])
def test_two_plain_clients(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, underlay: str
) -> None:
    there = "192.0.2.1" if underlay == "192.0.2" else "2001:db8::1"
    remote = "192.0.2.254" if underlay == "192.0.2" else "2001:db8::fe"
    file = scenario(NODES.format(a=f'"{there}"', b="any"))
    a = hosts.client("a", 1, *A, remote=remote)
    b = hosts.client("b", 2, *B, remote=remote)
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        # Anyone's node has its client when that has spoken.
        wait_until(lambda: inside(b, "ping", "-c1", "-W1", "10.0.0.5").status == 0, "b answers")
        for target, seconds in (("10.0.0.6", 0.020), ("fd00:0:0:1::2", 0.020)):
            # The first one waits until both ends know each other's address.
            inside(a, "ping", "-c", "1", "-W", "5", target).expect()
            done = inside(a, "ping", "-c", "5", "-i", "0.2", "-W", "5", target).expect()
            least = float(done.output.rsplit("= ", 1)[1].split("/")[0]) / 1e3
            assert seconds <= least < 1, done
        for target in ("10.0.0.6", "fd00:0:0:1::2"):
            transfer(a, b, target)
            transfer(b, a, "10.0.0.1" if "." in target else "fd00::1")
        end(process)
    results = json.loads(written.read_text())
    for node in ("a", "b"):
        client = client_of(results, node)
        assert client["client"] == there
        assert client["rx_frames"] > 0
        assert set(client["drops"]) <= {"unclaimed"}, client
    assert results["drops"] == {}


def test_a_long_transfer_does_not_use_up_its_share(
    hosts: Hosts, scenario: Callable[[str], Path]
) -> None:
    """Super-frames of a kernel on this machine: what was read of them is free again."""
    file = scenario(NODES.format(a='"192.0.2.1"', b='"192.0.2.1"'))
    a = hosts.client("a", 1, *A)
    b = hosts.client("b", 2, *B)
    with hub(hosts, file) as process:
        transfer(a, b, "10.0.0.6", 150_000_000)
        end(process)


def test_who_is_not_the_client_is_refused_and_counted(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    file = scenario(NODES.format(a="192.0.2.66", b="true"))
    a = hosts.client("a", 1, *A)  # from 192.0.2.1
    b = hosts.client("b", 2, *B)
    other = hosts.client("x", 77, ["10.0.0.1/30"], [])
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        for namespace, target in ((a, "10.0.0.2"), (b, "10.0.0.5"), (other, "10.0.0.2")):
            inside(namespace, "ping", "-c", "2", "-W", "1", target).expect(1)
        junk = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        junk += "for i in range(50): s.sendto(bytes(range(i)), ('192.0.2.254', 4789))"
        inside(hosts.clients, "python3", "-c", junk).expect()
        end(process)
    results = json.loads(written.read_text())
    for node in ("a", "b"):
        client = client_of(results, node)
        assert client["rx_frames"] == 0
        assert client["drops"]["spoofed"] >= 2
    assert results["drops"]["malformed"] == 50
    assert results["drops"]["unknown_vni"] >= 2


# What ended ns-3, or kept it busy for ever, from the Ethernet type on; to the router's addresses.
DEADLY = {
    "TCP option of no length": "0800 4500002c000100004006{c}0a0000010a000002"
    " 04d2005000000001000000006002ffff00000000 1e000000",
    "ICMP error that quotes nothing": "0800 4500001c000100004001{c}0a0000010a000002"
    " 0301fcfe00000000",
    "ICMPv6 of one byte": "86dd 6000000000013aff{s}{all} 87",
    "two link-layer addresses": "86dd 6000000000283aff{s}{all} 8700{n}00000000 {r}"
    " 0101020000000001 0101020000000001",
    "long hop-by-hop options": "86dd 60000000000800ff{s}{all} 3aff000000000000",
    "a routing header that ns-3 has not": "86dd 6000000000102bff{s}{r} 1100040000000000"
    "0009000900080000",
    "a solicitation without the sender's address": "86dd 6000000000183aff{s}{all}"
    " 8700{n}00000000 {r}",
    "from a group": "86dd 6000000000083aff{all}{r} 8000000000010001",
    "from nobody": "86dd 60000000000811ff00000000000000000000000000000000{r} 0009000900080000",
    "ESP to all nodes": "86dd 60000000000832ff{s}{all} 0000000100000001",
}


def deadly_frames() -> list[bytes]:
    """These, to everybody."""
    names = {
        "s": socket.inet_pton(socket.AF_INET6, "fd00::1").hex(),
        "r": socket.inet_pton(socket.AF_INET6, "fd00::2").hex(),
        "all": socket.inet_pton(socket.AF_INET6, "ff02::1").hex(),
        "n": "0000",
    }
    head = bytes.fromhex("ffffffffffff 020000000001")
    frames = []
    for text in DEADLY.values():
        packet = bytes.fromhex(text.format(c="0000", **names))
        if packet[:2] == bytes.fromhex("0800"):
            words = struct.unpack("!10H", packet[2:22])
            packet = packet[:12] + struct.pack("!H", 0xFFFF - sum(words) % 0xFFFF) + packet[14:]
        frames.append(head + packet)
    return frames


def test_no_clients_frame_ends_the_hub(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Each of these ended ns-3, or kept it busy until the machine had no memory."""
    file = scenario(NODES.format(a="any", b="any"))
    a = hosts.client("a", 1, *A)
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        inside(a, "ping", "-c1", "-W", "9", "10.0.0.2").expect()
        with entered(hosts.clients), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for frame in deadly_frames():
                out.sendto(bytes.fromhex("0800000000000100") + frame, ("192.0.2.254", 4789))
        wait_until(lambda: inside(a, "ping", "-c1", "-W9", "10.0.0.2").status == 0, "it answers")
        end(process)
    client = client_of(json.loads(written.read_text()), "a")
    assert client["drops"]["malformed"] == len([f for f in deadly_frames() if f[12] == 0x86])


def test_what_the_hub_itself_loses_voids_the_run(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """However late frames may be: those that were dropped never came."""
    file = scenario(NODES.format(a="any", b="any") + "timing: {lateness_limit: 1h}\n")
    a = hosts.client("a", 1, *A)
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        inside(a, "ping", "-c1", "-W", "9", "10.0.0.2").expect()
        simulator = simulator_of(process.pid)
        os.kill(simulator, signal.SIGSTOP)
        with entered(a), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for _ in range(20_000):
                out.sendto(b"", ("10.0.0.2", 9))
        os.kill(simulator, signal.SIGCONT)
        # What was sent before it has been read when it is answered.
        wait_until(lambda: inside(a, "ping", "-c1", "-W9", "10.0.0.2").status == 0, "it answers")
        end(process, status=4)
    results = json.loads(written.read_text())
    client = client_of(results, "a")
    lost = client["drops"].get("overload", 0) + client["drops"].get("socket_full", 0)
    assert lost > 1000, results
    assert results["frames"]["lost"] == lost
    assert results["verdict"] == "VOID"


def test_long_packets_and_path_mtus(hosts: Hosts, scenario: Callable[[str], Path]) -> None:
    """Frames longer than the underlay carries in one datagram; a router's Fragmentation Needed."""
    text = NODES.format(a="any", b="any").replace("[r, b]", "[r, b], mtu: 1400")
    file = scenario(text)
    a, b = hosts.client("a", 1, *A), hosts.client("b", 2, *B, mtu="1400")
    with hub(hosts, file) as process:
        inside(b, "ping", "-c2", "-W", "9", "10.0.0.5").expect()
        inside(a, "ping", "-c2", "-W", "9", "-s", "1472", "-M", "do", "10.0.0.2").expect()
        refused = inside(a, "ping", "-c3", "-W", "3", "-s", "1472", "-M", "do", "10.0.0.6").expect(
            1
        )
        assert "mtu = 1400" in refused.output or "mtu=1400" in refused.output, refused
        inside(a, "ping", "-c2", "-W", "9", "-s", "1372", "-M", "do", "10.0.0.6").expect()
        end(process)


def test_bad_input(scenario: Callable[[str], Path]) -> None:
    plain = scenario("nodes: 2\nlinks: [{line: all}]\n")
    assert "no node is remote" in viaduct("hub", plain).error_line(2)
    for change, message in (
        ("nodes.a.remote=nobody", "remote"),
        ("nodes.a.vni=0", "vni"),
        ("nodes.b.vni=16777216", "vni"),
        ("nodes.a.host=false", "a remote node with IPv6 addresses must be a host"),
    ):
        file = scenario(NODES.format(a="any", b="any"))
        assert message in viaduct("hub", file, "--set", change).error_line(2)
    file = scenario(NODES.format(a="{}", b="any").replace("remote: {}", "vni: 3"))
    assert "remote: true" in viaduct("hub", file).error_line(2)
    file = scenario(NODES.format(a="any", b="any"))
    error = viaduct("hub", file, "--set", "nodes.a.vni=5", "--set", "nodes.b.vni=5").error_line(2)
    assert "5" in error


def test_a_hub_without_clients_is_not_valid(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Nothing was judged; and it has served for as long as it was to."""
    text = "timing: {lateness_limit: 60s}\n" + NODES.format(a="any", b="any")
    for mode in ("simulate", "offload"):
        written = tmp_path / f"{mode}.json"
        file = scenario(text)
        with entered(hosts.hub):
            words = ("--mode", mode, "--duration", "1s", "--json", written)
            done = viaduct("hub", file, *words).expect()
        results = json.loads(written.read_text())
        assert results["verdict"] == "not judged"
        assert "no frames arrived from clients" in done.output
        assert results["seconds"] >= 1


def _fragments(gateway: str, client: str) -> list[bytes]:
    """Of a TCP segment that ends within its options, which shows in the whole of it alone."""
    segment = struct.pack("!HHIIBBHHH", 1, 2, 0, 0, 0xF0, 2, 0, 0, 0)
    packets = []
    for place, piece in ((0x2000, segment[:8]), (1, segment[8:])):
        ends = socket.inet_aton(client) + socket.inet_aton(gateway)
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(piece), 7, place, 64, 6, 0) + ends
        total = sum(struct.unpack("!10H", head))
        total = (total & 0xFFFF) + (total >> 16)
        total = (total & 0xFFFF) + (total >> 16)
        packets.append(head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:] + piece)
    return packets


def test_what_a_node_cannot_read_is_in_the_results(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """The frames pass, and what they make is dropped by the node's guard."""
    written = tmp_path / "hub.json"
    text = NODES.format(a="any", b="any").replace(
        "{pair: [a, r], ", "{pair: [a, r], addresses: [10.9.0.1/24, 10.9.0.2/24], "
    )
    with hub(hosts, scenario(text), "--json", str(written)) as process:
        with entered(hosts.clients):
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with out:
            for packet in _fragments("10.9.0.2", "10.9.0.1"):
                frame = b"\xff" * 6 + b"\2\0\0\0\0\1" + b"\x08\0" + packet
                vxlan = struct.pack("!II", 8 << 24, 1 << 8) + frame
                out.sendto(vxlan, ("192.0.2.254", 4789))
        process.wait_for("frames/s received, ")
        wait_until(lambda: " 1 of 2 nodes have a client" in process.read(), "the frames came")
        end(process)
    results = json.loads(written.read_text())
    assert results["unreadable"] == {"r": 1}
    assert client_of(results, "a")["rx_frames"] == 2
