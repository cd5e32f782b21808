"""A thousand clients that claim their nodes with the key, at once, vanish together, and return."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import test_hub
from claimers import Claimer, Tls, serve_until
from labs import TIMEOUT, simulator_of
from test_hub import Hosts, end, hub
from test_many_clients import asks, many
from wires import entered

hosts = test_hub.hosts
HUB = "192.0.2.254"
"""Of the scenario's hub."""


def _source(number: int) -> str:
    """Each client's own address."""
    return f"198.18.{number >> 8}.{number & 255}"


@pytest.fixture
def crowd(hosts: Hosts) -> Iterator[Hosts]:
    """The clients' host has all of 198.18.0.0/16, and room for connections."""
    Hosts.run(hosts.hub, "route add 198.18.0.0/16 via 192.0.2.1")
    Hosts.run(hosts.clients, "route add local 198.18.0.0/16 dev lo")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield hosts
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def claim_all(tls: Tls, numbers: range, sessions: dict[int, str], own: bool) -> dict[int, Claimer]:
    """All at once; who is turned away for the crowd tries again after a second, as clients do."""
    claimers: dict[int, Claimer] = {}
    waiting = dict.fromkeys(numbers, 0.0)
    most = 0
    limit = time.monotonic() + TIMEOUT  # for one more node

    while (served := sum(bool(each.offer()) for each in claimers.values())) < len(numbers):
        now = time.monotonic()
        if served > most:
            most, limit = served, now + TIMEOUT
        assert now < limit, f"{len(numbers) - served} of {len(numbers)} are without a node"
        for number in [number for number, at in waiting.items() if at <= now]:
            claimer = Claimer(tls, (HUB, 4789), _source(number) if own else "192.0.2.1")
            claimer.claim(f"c{number}", sessions.get(number, ""))
            claimers[number] = claimer
            del waiting[number]
        stop = now + 0.2
        serve_until(
            claimers.values(),
            lambda stop=stop: time.monotonic() > stop
            or all(each.is_answered() for each in claimers.values()),
        )
        for number, claimer in list(claimers.items()):
            assert claimer.refusal() is None, claimer.refusal()
            if claimer.ended:
                claimer.close()
                del claimers[number]
                waiting[number] = time.monotonic() + 1
    return claimers


def answered(numbers: range, own: bool) -> set[int]:
    """Whose ARP requests to their gateways are answered, each asking until it is."""
    missing = set(numbers)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.bind(("", 4789))
        out.settimeout(0.5)
        limit = time.monotonic() + TIMEOUT
        while missing and time.monotonic() < limit:
            asked = sorted(missing)[:50]
            for number in asked:
                source = socket.inet_aton(_source(number) if own else "192.0.2.1")
                information = struct.pack("=I4s4s", 0, source, bytes(4))
                out.sendmsg([asks(number)], [(socket.IPPROTO_IP, 8, information)], 0, (HUB, 4789))
            for _ in asked:
                try:
                    datagram = out.recv(2000)
                except TimeoutError:
                    break
                number = int.from_bytes(datagram[4:7], "big")
                arp = datagram[8 + 14 :]
                if arp[6:8] == b"\0\2" and arp[14:18] == bytes([10, number >> 8, number & 255, 2]):
                    missing.discard(number)
                    limit = time.monotonic() + TIMEOUT  # for one more answer
    return set(numbers) - missing


@pytest.mark.parametrize("own", [True, False], ids=["addresses", "address"])
@pytest.mark.parametrize(
    ("mode", "clients"),
    [
        # One process is all the clients: beside other tests it answers some of them too late.
        pytest.param("simulate", 1000, marks=pytest.mark.alone),
        ("offload", 100),
    ],
)
def test_all_are_served_and_all_return(
    crowd: Hosts,
    scenario: Callable[[str], Path],
    tmp_path: Path,
    mode: str,
    clients: int,
    own: bool,
) -> None:
    """From an address each, or from one."""
    numbers = range(1, clients + 1)
    written = tmp_path / "hub.json"
    file = scenario(many(mode, clients, "true"))
    with hub(crowd, file, "--json", str(written)) as process, entered(crowd.clients):
        tls = Tls(test_hub.key_of(file))
        began = time.monotonic()
        first = claim_all(tls, numbers, {}, own)
        claimed = time.monotonic()
        print(f"{clients} claims: {claimed - began:.2f} s")
        offers = {number: claimer.offer() for number, claimer in first.items()}
        assert {offer["vni"] for offer in offers.values()} == set(numbers)
        assert answered(numbers, own) == set(numbers)
        print(f"served after {time.monotonic() - claimed:.2f} s")
        # They vanish together, while the simulator is busy, and all are back at once.
        simulator = simulator_of(process.pid)
        os.kill(simulator, signal.SIGSTOP)
        for claimer in first.values():
            claimer.close()
        time.sleep(1)
        os.kill(simulator, signal.SIGCONT)
        began = time.monotonic()
        sessions = {number: offer["session"] for number, offer in offers.items()}
        again = claim_all(tls, numbers, sessions, own)
        print(f"{clients} returns: {time.monotonic() - began:.2f} s")
        for number, claimer in again.items():
            assert claimer.offer() == offers[number]
        assert answered(numbers, own) == set(numbers)
        for claimer in again.values():
            claimer.say({"leave": True})
            claimer.close()
        end(process)
    results = json.loads(written.read_text())
    assert results["claims"] == 2 * clients
    assert results["returns"] == clients
    assert set(results["refused"]) <= {"too_many"}
    assert results["drops"] == {}
    for client in results["clients"]:
        assert client["rx_frames"] > 0
        assert client["tx_frames"] > 0
