"""A client of `viaduct hub` that sends all it can, and the others."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import test_hub
from labs import execute, inside
from test_hub import Hosts, client_of, end, hub

hosts = test_hub.hosts

OTHERS = 49
FLOOD = """
import socket
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.SOL_UDP, 103, 100)  # UDP_SEGMENT: datagrams of 100 bytes
out.connect(("10.1.50.2", 9))
print("floods", flush=True)
while True:
    try:
        out.send(bytes(6000))
    except OSError:
        pass  # what comes back
"""


def _scenario(mode: str) -> str:
    names = range(1, OTHERS + 2)
    nodes = "".join(f"  c{i}: {{remote: any, vni: {i}}}\n" for i in names)
    links = "".join(
        f"  - {{pair: [c{i}, r], addresses: [10.1.{i}.1/30, 10.1.{i}.2/30]}}\n" for i in names
    )
    return f"mode: {mode}\nnodes:\n  r: {{}}\n{nodes}links:\n{links}routing: {{protocol: static}}\n"


def _clients(hosts: Hosts) -> list[str]:
    """Their namespaces; the flooder's is the last."""
    first, second = [], []
    names = [f"{hosts.name}c{i}" for i in range(1, OTHERS + 2)]
    for i, name in enumerate(names, 1):
        execute(["ip", "netns", "add", name]).expect()
        first += [
            f"link add v{i} type vxlan id {i} remote 192.0.2.254 dstport 4789",
            f"link set v{i} netns {name} name eth0",
        ]
        second.append(f"ip -n {name} addr add 10.1.{i}.1/30 dev eth0")
        second.append(f"ip -n {name} link set eth0 mtu 1500 up")
    batch = ["ip", "-n", hosts.clients, "-batch", "-"]
    subprocess.run(batch, input="\n".join(first), text=True, check=True)
    execute(["sh", "-ec", "\n".join(second)]).expect()
    return names


@contextlib.contextmanager
def _flood(namespace: str) -> Iterator[None]:
    words = ["ip", "netns", "exec", namespace, sys.executable, "-c", FLOOD]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"floods\n"
            yield
        finally:
            process.kill()


def _answers(clients: list[str]) -> list[int]:
    """How many of 200 requests of each client are answered."""
    pings = [
        subprocess.Popen(
            ["ip", "netns", "exec", name]
            + ["ping", "-q", "-c", "200", "-i", "0.02", "-W", "5", f"10.1.{i}.2"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for i, name in enumerate(clients, 1)
    ]
    answers = []
    for ping in pings:
        text = ping.communicate()[0]
        found = re.search(r"(\d+) received", text)
        assert found, text
        answers.append(int(found[1]))
    return answers


# Alone: it takes all of the machine, and what is compared is what the machine then has for each.
@pytest.mark.alone
@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_who_floods_takes_nothing_from_the_others(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, mode: str
) -> None:
    clients = _clients(hosts)
    written = tmp_path / "hub.json"
    with hub(hosts, scenario(_scenario(mode)), "--json", str(written)) as process:
        inside(clients[-1], "ping", "-c1", "-W", "9", "10.1.50.2").expect()
        with _flood(clients[-1]):
            answers = _answers(clients[:-1])
        end(process)
    results = json.loads(written.read_text())
    flooder = client_of(results, "c50")
    lost = sum(flooder["drops"].get(cause, 0) for cause in ("overload", "socket_full"))
    offered = flooder["rx_frames"] + lost
    # It was served, too, and with more than any other wanted.
    assert flooder["rx_frames"] > 10 * 200
    assert offered > 10 * sum(answers)
    assert flooder["rx_frames"] < offered / 2, "the hub was overloaded"
    square = sum(each * each for each in answers)
    assert square > 0, "nobody else was served"
    assert sum(answers) ** 2 / (len(answers) * square) >= 0.99, answers
    # All that was lost was the flooder's.
    assert min(answers) / 200 > flooder["rx_frames"] / offered, answers
    for i in range(1, OTHERS + 1):
        drops = client_of(results, f"c{i}")["drops"]
        assert not {"overload", "socket_full"} & set(drops), drops
