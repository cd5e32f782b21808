"""What goes wrong around ns-3's device: processes killed at any instant, links that come and go."""

from __future__ import annotations

import contextlib
import json
import random
import re
import signal
import subprocess
import time

import pytest
from labs import BUILD, execute, inside, wait_until
from routed import PROGRAM, Hosts, Program, wait_for_the_router

INTERFACE = BUILD / "examples" / "viaduct-interface"
PORTS = ["AfPacket", "AfXdp"]

# A megabyte many times, whose digest the receiver sends back.
_SEND = """
import hashlib, random, socket, sys
data = random.Random(5).randbytes(1 << 20)
link = socket.create_connection((sys.argv[1], 7001), timeout=30)
digest = hashlib.sha256()
for _ in range(16):
    link.sendall(data)
    digest.update(data)
link.shutdown(socket.SHUT_WR)
got = b"".join(iter(lambda: link.recv(64), b""))
print("same" if got == digest.digest() else "different")
"""
_RECEIVE = """
import hashlib, socket
server = socket.create_server(("::", 7001), family=socket.AF_INET6, dualstack_ipv6=True)
print("ready", flush=True)
link, _ = server.accept()
digest = hashlib.sha256()
for block in iter(lambda: link.recv(1 << 18), b""):
    digest.update(block)
link.sendall(digest.digest())
"""


def skip_without(port: str) -> None:
    """AF_XDP is left out of builds without its libraries."""
    if port == "AfXdp" and "support AF_XDP" in execute([str(INTERFACE), *on("lo", port)]).errors:
        pytest.skip("this build has no AF_XDP")


def on(interface: str, port: str) -> list[str]:
    """Arguments of INTERFACE."""
    return [f"--interface={interface}", f"--ns3::RingNetDevice::Port={port}"]


@pytest.mark.parametrize("port", PORTS)
def test_a_transfer_arrives_to_the_byte_and_every_frame_is_counted(hosts: Hosts, port: str) -> None:
    """Its senders have all offloads: super-frames, checksums that hardware would complete."""
    skip_without(port)
    with contextlib.ExitStack() as stack:
        command = [str(PROGRAM), "--left=r0", "--right=r1", "--warm-up=0s", "--duration=12s"]
        router = Program(stack, hosts.router, *command, f"--port={port}", "--bql=false")
        for to in ("10.1.2.2", "fd00:2::2"):
            wait_for_the_router(hosts, to)
            receiver = Program(stack, hosts.right, "python3", "-c", _RECEIVE)
            assert receiver.process.stdout
            assert receiver.process.stdout.readline() == "ready\n"
            sent = inside(hosts.left, "python3", "-c", _SEND, to).expect()
            assert sent.output == "same\n"
            receiver.output()
        text = router.output()
    assert re.findall(r"lost at the port: (\d+)", text) == ["0", "0"]
    assert re.findall(r"dropped: (\d+)", text)[:2] == ["0", "0"]
    for interface, told in zip(("r0", "r1"), re.findall(r"sent: (\d+) frames", text), strict=True):
        shown = inside(hosts.router, "ip", "-j", "-s", "link", "show", interface).expect()
        assert json.loads(shown.output)[0]["stats64"]["tx"]["packets"] == int(told)


@pytest.mark.parametrize("port", PORTS)
def test_a_transfer_in_a_tunnel_arrives(hosts: Hosts, port: str) -> None:
    """Its super-frames are inside of VXLAN's datagrams, whose headers each segment needs anew."""
    skip_without(port)
    for host, own, far in ((hosts.left, 1, 2), (hosts.right, 2, 1)):
        ends = ["local", f"10.1.{own}.2", "remote", f"10.1.{far}.2"]
        kind = ["type", "vxlan", "id", "7", "dstport", "4789", "udpcsum", *ends]
        made = execute(["ip", "-n", host, "link", "add", "vx", *kind])
        if "Unknown device type" in made.errors:
            pytest.skip("this kernel has no VXLAN")
        made.expect()
        inside(host, "ip", "addr", "add", f"10.9.0.{own}/24", "dev", "vx").expect()
        inside(host, "ip", "link", "set", "vx", "up").expect()
    with contextlib.ExitStack() as stack:
        command = [str(PROGRAM), "--left=r0", "--right=r1", "--warm-up=0s", "--duration=8s"]
        router = Program(stack, hosts.router, *command, f"--port={port}", "--bql=false")
        wait_for_the_router(hosts, "10.9.0.2")
        receiver = Program(stack, hosts.right, "python3", "-c", _RECEIVE)
        assert receiver.process.stdout
        assert receiver.process.stdout.readline() == "ready\n"
        sent = inside(hosts.left, "python3", "-c", _SEND, "10.9.0.2").expect()
        assert sent.output == "same\n"
        receiver.output()
        text = router.output()
    assert re.findall(r"dropped: (\d+)", text)[:2] == ["0", "0"]


def offloads(namespace: str, interface: str) -> str:
    """What ethtool says of them."""
    return inside(namespace, "ethtool", "-k", interface).expect().output


def test_a_killed_process_leaves_interfaces_as_they_were(hosts: Hosts) -> None:
    skip_without("AfXdp")
    ends = {"eth0": hosts.left, "r0": hosts.router}
    before = {name: offloads(namespace, name) for name, namespace in ends.items()}
    instants = random.Random(13)
    for number in range(12):
        process = subprocess.Popen(
            ["ip", "netns", "exec", hosts.router, str(INTERFACE), *on("r0", "AfXdp")],
            stdout=subprocess.DEVNULL,
        )
        time.sleep(instants.random() * 0.4)
        process.send_signal(signal.SIGINT if number % 3 == 0 else signal.SIGKILL)
        process.wait()
        # The next may come while the guardian of this one is at work.
        if number % 2 == 0:
            continue
        wait_until(
            lambda: all(before[name] == offloads(ends[name], name) for name in ends),
            "the offloads as they were",
        )
        shown = inside(hosts.router, "ip", "link", "show", "r0").expect().output
        assert "xdp" not in shown


@pytest.mark.parametrize("port", PORTS)
def test_a_link_that_comes_and_goes(hosts: Hosts, port: str) -> None:
    """Down and up at each end, renamed, with another MTU: it goes on; removed: it ends in order."""
    skip_without(port)
    with contextlib.ExitStack() as stack:
        options = [*on("r0", port), "--address=10.1.1.1", "--duration=20s"]
        node = Program(stack, hosts.router, str(INTERFACE), *options)
        wait_for_the_router(hosts, "10.1.1.1")
        Program(stack, hosts.left, "ping", "-f", "-q", "-w", "15", "10.1.1.1")
        for namespace, commands in (
            (hosts.router, ("link set r0 down", "link set r0 up")),
            (hosts.left, ("link set eth0 down", "link set eth0 up")),
            (hosts.router, ("link set r0 down", "link set r0 name other", "link set other up")),
            (hosts.router, ("link set other mtu 1400", "link set other mtu 1500")),
        ):
            for command in commands:
                inside(namespace, "ip", *command.split()).expect()
            wait_for_the_router(hosts, "10.1.1.1")
        inside(hosts.router, "ip", "link", "del", "other").expect()
        text = node.output()
    assert re.search(r"received: [1-9]\d* frames", text), text


@pytest.mark.parametrize("port", [*PORTS, "Auto"])
def test_what_cannot_be_is_said_in_one_line(hosts: Hosts, port: str) -> None:
    skip_without(port)

    def refusal(interface: str, *options: str) -> str:
        command = [str(INTERFACE), *on(interface, port), *options]
        return inside(hosts.router, *command).error_line(1)

    inside(hosts.router, "ip", "tuntap", "add", "tun0", "mode", "tun").expect()
    assert "does not carry Ethernet frames" in refusal("tun0")
    assert "no interface absent" in refusal("absent")
    nonsense = refusal("r0", "--ns3::RingNetDevice::Timestamps=Nobodys")
    assert "Nobodys" in nonsense
    assert "Software, User" in nonsense
    assert "pcap-filter" in refusal("r0", "--filter=udp prot 53")
    too_long = " or ".join(f"ip[{i % 1000}:2] = {i}" for i in range(2500))
    assert "4096" in refusal("r0", f"--filter={too_long}")
    inside(hosts.router, "ip", "link", "set", "r0", "mtu", "1000").expect()
    assert "MTU of 1000 bytes" in refusal("r0")
    inside(hosts.router, "ip", "link", "set", "r0", "mtu", "1500").expect()
    if port == "AfXdp":
        nobody = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
        result = inside(hosts.router, *nobody, str(INTERFACE), *on("r0", port))
        assert "requires root" in result.error_line(1)
