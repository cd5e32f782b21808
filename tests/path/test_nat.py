"""A NAT at the near end of a direction (`nat=port`): sockets, live changes, scenarios."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import TIMEOUT, results, viaduct, wait_until
from wires import LEFT, RIGHT, Wires, entered

BETWEEN = ("--between", "a", "b")
PORT = 4433
Write = Callable[[str], Path]


def made(namespace: str, kind: int, address: str = "", port: int = 0) -> socket.socket:
    """A socket of this host."""
    with entered(namespace):
        one = socket.socket(socket.AF_INET, kind)
    one.settimeout(TIMEOUT)
    if address:
        one.bind((address, port))
    return one


@contextlib.contextmanager
def ends(wires: Wires, kind: int = socket.SOCK_DGRAM) -> Iterator[tuple[socket.socket, ...]]:
    """A client of the left host, and the server of the right one."""
    client, server = made(wires.left, kind), made(wires.right, kind, RIGHT, PORT)
    with client, server:
        yield client, server


def lost(wires: Wires) -> int:
    """How many packets to the left had no binding."""
    fates = [each["fates"] for each in wires.pipelines() if each["direction"] == "down"]
    return int(fates[0]["no_binding"])


def seen_from(client: socket.socket, server: socket.socket, data: bytes) -> int:
    """The port that the server sees the client's datagram come from; the answer arrives."""
    client.sendto(data, (RIGHT, PORT))
    got, sender = server.recvfrom(100)
    assert got == data
    server.sendto(data[::-1], sender)
    assert client.recvfrom(100) == (data[::-1], (RIGHT, PORT))
    return int(sender[1])


def test_a_server_sees_another_port_until_it_is_rebound(wires: Wires) -> None:
    with wires.path(*BETWEEN, "--up", "nat=port delay=2ms"), ends(wires) as (client, server):
        seen = seen_from(client, server, b"first")
        assert seen != client.getsockname()[1]
        assert seen_from(client, server, b"again") == seen
        wires.viaduct("path", "set", *BETWEEN, "--up", "nat=port:id=2").expect()
        server.sendto(b"late", (LEFT, seen))
        wait_until(lambda: lost(wires) == 1, "the answer to the old port is lost")
        other = seen_from(client, server, b"moved")
        assert other != seen
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(100)


def test_connections_and_errors_pass(wires: Wires) -> None:
    with wires.path(*BETWEEN, "--up", "nat=port"):
        with ends(wires, socket.SOCK_STREAM) as (client, server):
            server.listen()
            client.connect((RIGHT, PORT))
            accepted, sender = server.accept()
            with accepted:
                assert sender[1] != client.getsockname()[1]
                client.sendall(b"x" * 200000)
                client.shutdown(socket.SHUT_WR)
                assert len(b"".join(iter(lambda: accepted.recv(65536), b""))) == 200000
        # The port is closed: the error quotes a packet from a port that the client does not know.
        with made(wires.left, socket.SOCK_DGRAM) as client:
            client.connect((RIGHT, 9))
            client.send(b"hello")
            with pytest.raises(ConnectionRefusedError):
                client.recv(100)
        assert wires.ping(2).expect()


def test_both_directions_cannot_have_one(wires: Wires) -> None:
    done = wires.viaduct(
        "path", *BETWEEN, "--up", "nat=port", "--down", "nat=port", "--duration", "1s"
    )
    assert done.status == 2
    assert "nat: the other direction already has NAT" in done.errors
    with wires.path(*BETWEEN, "--up", "nat=port"):
        done = wires.viaduct("path", "set", *BETWEEN, "--down", "nat=port")
        assert done.status == 2
        assert "nat: the other direction already has NAT" in done.errors


def test_a_refused_change_leaves_the_bindings(wires: Wires) -> None:
    with wires.path(*BETWEEN, "--up", "nat=port"), ends(wires) as (client, server):
        seen = seen_from(client, server, b"first")
        for down in ("delay=trace:/nowhere", "nat=port"):
            done = wires.viaduct("path", "set", *BETWEEN, "--up", "nat=port:id=2", "--down", down)
            assert done.status == 2
            server.sendto(b"still", (LEFT, seen))
            assert client.recv(100) == b"still"
            assert seen_from(client, server, b"again") == seen


def test_it_moves_to_the_other_direction_and_back(wires: Wires) -> None:
    with wires.path(*BETWEEN, "--up", "nat=port"), ends(wires) as (client, server):
        for up, down in (("nat=none", "nat=port"), ("nat=port", "nat=none")):
            change = ("path", "set", *BETWEEN, "--up", up, "--down", down)
            wires.viaduct(*change).expect()
        assert seen_from(client, server, b"back") != client.getsockname()[1]


MOVES = """
routing: {protocol: static}
duration: 3s
nodes: [a, b]
links: [{pair: [a, b], name: l, up: nat=port delay=1ms, down: delay=1ms}]
flows: [{type: udp, from: a, to: b, rate: 80kbit, size: 100}]
events:
  - {at: 1s, link: l, up: nat=none, down: nat=port}
  - {at: 2s, link: l, up: nat=port, down: nat=none}
"""


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_an_event_moves_it(mode: str, scenario: Write, tmp_path: Path) -> None:
    """For the second between, nothing is bound for what the first node sends."""
    done = tmp_path / "run.json"
    viaduct("run", scenario(MOVES), "--mode", mode, "--json", done).expect()
    flow = results(done)["flows"][0]
    [gap] = flow["gaps"]  # a busy machine's sender may send less in it than in a second of rest
    assert gap["lost"] == flow["sent"] - flow["received"], flow
    assert gap["from"] == pytest.approx(1, abs=0.3), flow
    assert gap["to"] == pytest.approx(2, abs=0.3), flow
    assert mode != "simulate" or flow["loss"] == pytest.approx(1 / 3, abs=0.01), flow


NETWORK = """
routing: {protocol: static}
duration: 3s
nodes: [phone, home, server]
links:
  - {pair: [phone, home]}
  - {pair: [home, server], up: "nat=port:rebind=400ms delay=5ms", down: "delay=5ms"}
flows:
  - {type: udp, from: phone, to: server, rate: 400kbit, size: 500}
  - {type: udp, from: server, to: phone, rate: 400kbit, size: 500}
  - {type: ping, from: phone, to: server, interval: 100ms}
"""
IPV6 = "addressing: {ipv4: none, ipv6: fd00::/48}\n"
PLANES = ["simulate", "traditional", "emulate", "offload"]


@pytest.mark.parametrize("mode", PLANES)
@pytest.mark.parametrize("addressing", ["", IPV6], ids=["ipv4", "ipv6"])
def test_every_mode_has_it(mode: str, addressing: str, scenario: Write, tmp_path: Path) -> None:
    """What leaves arrives, whatever its port is; what nobody asked for does not, and is counted."""
    file, done = scenario(addressing + NETWORK), tmp_path / "run.json"
    viaduct("run", file, "--mode", mode, "--json", done).expect()
    run = results(done)
    out, back, ping = run["flows"]
    assert out["loss"] == 0, out
    assert ping["loss"] == 0, ping
    assert back["loss"] == 1, back
    down = [p for p in run["engine"]["pipelines"] if p["direction"] == "down"]
    dropped = sum(each["fates"]["no_binding"] for each in down)
    # Senders of real modes say a few times that they have ended.
    assert 0 <= dropped - back["sent"] <= 10


@pytest.mark.parametrize("mode", PLANES)
def test_an_event_rebinds(mode: str, scenario: Write, tmp_path: Path) -> None:
    """TCP's connection ends with its binding, as behind a NAT that has forgotten it.

    A kernel resets it; ns-3's TCP sends again until it gives up.
    """
    duration = "300s" if mode == "simulate" else "3s"
    file = scenario(
        f"routing: {{protocol: static}}\nduration: {duration}\nnodes: [a, b]\n"
        "links: [{pair: [a, b], up: 'nat=port delay=5ms rate=5Mbit', down: 'delay=5ms'}]\n"
        "flows: [{type: tcp, from: a, to: b}]\n"
        "events: [{at: 1.5s, link: a-b, up: 'nat=port:id=2'}]\n"
    )
    done = tmp_path / "run.json"
    ended = viaduct("run", file, "--mode", mode, "--json", done)
    run = results(done)
    assert [event["change"] for event in run["events"]] == ["up nat=port:id=2"]
    assert ended.status == 1, "a connection that has broken is a failure"
    assert "flow 'tcp a->b': " in ended.errors
    assert run["flows"][0]["error"]


@pytest.mark.parametrize(
    ("link", "what"),
    [
        ("{pair: [a, b], spec: nat=port}", "one direction of a link can have NAT"),
        ("{pair: [a, b], up: nat=port, down: nat=port}", "one direction of a link can have NAT"),
        ("{shared: [a, b], spec: nat=port}", "a shared link has no side that can be behind a NAT"),
        (
            "{pair: [a, b], classes: [{name: dns, filter: udp, up: nat=port}]}",
            "nat applies to all packets of a direction",
        ),
        ("{pair: [a, b], up: 'nat=port:first=1s'}", "specify rebind, too"),
        ("{pair: [a, b], up: 'nat=10.0.0.9'}", "expected port"),
    ],
)
def test_what_cannot_be_is_refused(link: str, what: str, scenario: Write) -> None:
    file = scenario(f"routing: {{protocol: static}}\nnodes: [a, b]\nlinks: [{link}]\n")
    done = viaduct("run", file, "--mode", "simulate")
    assert done.status == 2
    assert what in done.errors
    assert len(done.errors.strip().splitlines()) == 1


def test_a_program_in_a_shell_is_behind_it() -> None:
    """The machine sees another port than the program has, and its answer comes back."""
    code = (
        "import os, socket, sys; s = socket.socket(); "
        "s.connect((os.environ['VIADUCT_HOST'], int(sys.argv[1]))); "
        "print('own', s.getsockname()[1], 'seen', s.recv(100).decode())"
    )
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            accepted, sender = server.accept()
            with accepted:
                accepted.sendall(str(sender[1]).encode())

        waiter = threading.Thread(target=answer)
        waiter.start()
        done = viaduct("shell", "--up", "nat=port", "--", sys.executable, "-c", code, str(port))
        waiter.join(TIMEOUT)
    words = done.expect().output.split()
    assert words[words.index("own") + 1] != words[words.index("seen") + 1]
