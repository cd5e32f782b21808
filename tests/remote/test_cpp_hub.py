"""A C++ program of a user whose nodes are other hosts: ns3::HubHelper."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator

import test_hub
from labs import TIMEOUT, VIADUCT, inside
from test_hub import Hosts

hosts = test_hub.hosts
PROGRAM = str(VIADUCT.parent / "examples" / "viaduct-remote-hub")


@contextlib.contextmanager
def serving(namespace: str) -> Iterator[None]:
    """The program, while it serves."""
    command = ["ip", "netns", "exec", namespace, PROGRAM, "--duration=600s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            yield
        finally:
            process.kill()


def test_two_hosts_and_a_simulated_center(hosts: Hosts) -> None:
    clients = [
        hosts.client(f"p{i}", i, [f"10.1.{i}.1/24"], [f"10.1.{i}.2"], mtu="1450") for i in (1, 2)
    ]
    with serving(hosts.hub):
        answer = inside(clients[0], "ping", "-c", "3", "-i", "0.2", "10.1.2.1").expect().output
    assert "3 received" in answer
    # Two links of 10 ms, there and back.
    assert float(answer.split("min/avg/max/mdev = ")[1].split("/")[0]) >= 40


def test_what_it_says_at_its_end(hosts: Hosts) -> None:
    done = inside(hosts.hub, PROGRAM, "--duration=500ms", "--points=3").expect()
    assert done.output.splitlines() == [
        "ready",
        *(f"point {i}: 0 frames in, 0 out, 0 lost" for i in (1, 2, 3)),
    ]


def test_what_cannot_be(hosts: Hosts) -> None:
    assert "--points: expected 1 to 250" in inside(hosts.hub, PROGRAM, "--points=0").error_line(2)
    with serving(hosts.hub):
        refused = inside(hosts.hub, PROGRAM, timeout=TIMEOUT)
        assert "UDP port 4789" in refused.error_line(1)
