"""viaduct-load: whole frames past the sender's own IP stack."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from labs import BUILD, TIMEOUT, Done, execute, inside, wait_until

LOAD = str(BUILD / "viaduct-load")
NAMES = ("from", "router", "to")
ADDRESSES = {4: "10.9.2.2", 6: "fd09:2::2"}


@pytest.fixture(scope="module")
def line() -> Iterator[dict[str, str]]:
    """Three namespaces in a line, the middle one forwards, in both versions of IP."""
    spaces = {name: f"vdtload{os.getpid()}{name}" for name in NAMES}
    try:
        for space in spaces.values():
            execute(["ip", "netns", "add", space]).expect()
            execute(["ip", "-n", space, "link", "set", "lo", "up"]).expect()
            inside(space, "sysctl", "-qw", "net.ipv6.conf.all.accept_dad=0").expect()
        for number, (one, other) in enumerate([("from", "router"), ("router", "to")], 1):
            left, right = (f"name e{number} netns {spaces[name]}" for name in (one, other))
            execute(f"ip link add {left} type veth peer {right}".split()).expect()
            for host, name in enumerate((one, other), 1):
                for address in (f"10.9.{number}.{host}/24", f"fd09:{number}::{host}/64"):
                    execute(
                        f"ip -n {spaces[name]} address add {address} dev e{number}".split()
                    ).expect()
                execute(f"ip -n {spaces[name]} link set e{number} up".split()).expect()
        for key in ("ipv4.ip_forward", "ipv6.conf.all.forwarding"):
            inside(spaces["router"], "sysctl", "-qw", f"net.{key}=1").expect()
        for end, number, host in (("from", 1, 2), ("to", 2, 1)):
            for via in (f"10.9.{number}.{host}", f"fd09:{number}::{host}"):
                execute(f"ip -n {spaces[end]} route add default via {via}".split()).expect()
        for address in ADDRESSES.values():
            wait_until(lambda a=address: inside(spaces["from"], "ping", "-c1", a).status == 0, "up")
        yield spaces
    finally:
        for space in spaces.values():
            execute(["ip", "netns", "del", space])


def flow(line: dict[str, str], *options: str, family: int = 4) -> tuple[Any, Any]:
    """The sender's and the receiver's results."""
    receive = ["ip", "netns", "exec", line["to"], LOAD, "receive", "--port", "5001", "--json"]
    with subprocess.Popen(
        receive, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as receiver:
        assert receiver.stderr
        assert receiver.stdout
        assert "listening" in receiver.stderr.readline()
        to = ADDRESSES[family] if family == 4 else f"[{ADDRESSES[family]}]"
        sent = send(line["from"], f"{to}:5001", *options).expect().output
        received = receiver.stdout.read()
        assert receiver.wait(TIMEOUT) == 0
    return json.loads(sent), json.loads(received)


def send(space: str, to: str, *options: str) -> Done:
    """Sends frames."""
    return inside(space, LOAD, "send", "--to", to, "--frames", "--json", *options)


def counter(space: str, name: str) -> int:
    """One that the kernel counts for the namespace."""
    for line_ in inside(space, "nstat", "-asz", name).expect().output.splitlines():
        if line_.startswith(name):
            return int(line_.split()[1])
    raise AssertionError(name)


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("size", ["28", "161", "1452"])
def test_every_frame_is_a_packet_that_arrives(line: dict[str, str], family: int, size: str) -> None:
    forwarded = "IpForwDatagrams" if family == 4 else "Ip6OutForwDatagrams"
    own = "IpOutRequests" if family == 4 else "Ip6OutRequests"
    before = counter(line["router"], forwarded), counter(line["from"], own)
    options = ("--size", size, "--count", "3000", "--rate", "20000pps")
    sent, received = flow(line, *options, family=family)
    assert (sent["offered"], sent["sent"]) == (3000, 3000), sent
    assert (received["received"], received["lost"]) == (3000, 0), received
    assert (received["duplicates"], received["reordered"]) == (0, 0), received
    assert 3000 <= counter(line["router"], forwarded) - before[0] < 3100
    assert counter(line["from"], own) - before[1] < 100  # its stack sent none of them
    assert inside(line["to"], "nstat", "-asz", "UdpInCsumErrors").output.split()[-2] == "0"


@pytest.mark.parametrize(
    "to, options, told",
    [
        ("10.9.1.77:5001", [], "the next hop 10.9.1.77 does not answer"),
        ("127.0.0.1:5001", [], "there is no route with a single next hop"),
        ("[fd09:1::77]:5001", [], "the next hop fd09:1::77 does not answer"),
        ("239.1.2.3:5001", [], "--frames does not support multicast groups"),
        ("10.9.2.2:5001", ["--size", "9000"], "the kernel refused every packet"),
        ("10.9.2.2:5001", ["--bind", "10.66.0.1"], "10.66.0.1"),
    ],
)
def test_why_none_can_be_sent(line: dict[str, str], to: str, options: list[str], told: str) -> None:
    done = send(line["from"], to, "--duration", "1s", *options)
    assert done.status not in (0, -6, -11)
    assert told in done.errors, done.errors
    assert done.errors.count("\n") == 1, done.errors


def test_it_needs_a_capability(line: dict[str, str]) -> None:
    read = "+dac_read_search"  # the build may lie in root's home
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    drop += [f"--inh-caps={read}", f"--ambient-caps={read}"]
    done = inside(line["from"], *drop, LOAD, "send", "--to", "10.9.2.2:1", "--frames")
    assert "Operation not permitted" in done.error_line(3)
