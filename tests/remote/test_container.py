"""Containers as nodes of a lab: namespaces that are there already, and stay as they are."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import users
from labs import (
    VIADUCT,
    Done,
    all_answered,
    descendants,
    execute,
    inside,
    namespaces,
    records,
    running,
    viaduct,
    wait_until,
)
from users import User

user = users.user


SCENARIO = """
nodes: {{n0: {{}}, n1: {{}}, db: {{container: {container}}}}}
links:
  - {{pair: [n0, n1]}}
  - {{pair: [n1, db], spec: "{spec}"}}
addressing: {{ipv6: "fd00::/48"}}
routing: {{protocol: static}}
"""
DB, DB6 = "10.0.0.6", "fd00:0:0:1::2"
N0, N06 = "10.0.0.1", "fd00::1"


@dataclass
class Container:
    """A process in a namespace of its own, without a network."""

    namespace: str
    process: subprocess.Popen

    def state(self) -> list[str]:
        """Everything that must be the same afterwards."""
        looks = [
            "ip -o link",
            "ip -o addr",
            "ip -4 route show table all",
            "ip -6 route show table all",
            "ip rule",
            "sysctl net.ipv4.ip_forward net.ipv4.conf.all.rp_filter net.ipv4.conf.default.rp_filter"
            " net.ipv6.conf.all.forwarding net.ipv6.conf.default.disable_ipv6"
            " net.ipv4.ping_group_range net.ipv4.tcp_congestion_control",
        ]
        return [inside(self.namespace, *look.split()).expect().output for look in looks]


@pytest.fixture
def container(lab: str) -> Iterator[Container]:
    own = f"{lab}own"
    execute(["ip", "netns", "add", own]).expect()
    process = subprocess.Popen(["ip", "netns", "exec", own, "sleep", "600"])
    made = Container(own, process)
    wait_until(
        lambda: Path(f"/proc/{process.pid}/ns/net").stat().st_ino
        == Path(f"/run/netns/{own}").stat().st_ino,
        "it is in its namespace",
    )
    try:
        yield made
    finally:
        process.kill()
        process.wait()
        execute(["ip", "netns", "del", own])


def reaches(namespace: str, address: str) -> bool:
    return inside(namespace, "ping", "-c", "1", "-W", "2", address).status == 0


def file_of(scenario: Callable[[str], Path], name: object, spec: str = "delay=5ms") -> Path:
    return scenario(SCENARIO.format(container=name, spec=spec))


def check(lab: str, container: Container) -> None:
    """Packets in both directions, in both families."""
    for target in (DB, DB6):
        ping = ["ping", "-c", "3", "-i", "0.2", "-W", "5", target]
        all_answered(f"{lab}.n0", 3, partial(viaduct, "exec", f"{lab}:n0", "--", *ping))
    for target in (N0, N06):
        assert reaches(container.namespace, target)


@pytest.mark.parametrize("spec", ["", "delay=5ms"])
@pytest.mark.parametrize("by", ["pid", "name"])
def test_a_container_is_a_node(
    scenario: Callable[[str], Path], lab: str, container: Container, by: str, spec: str
) -> None:
    before = container.state()
    name = container.process.pid if by == "pid" else container.namespace
    viaduct("up", file_of(scenario, name, spec)).expect()
    try:
        check(lab, container)
        error = viaduct("exec", f"{lab}:db", "--", "true").error_line(2)
        assert "node db is a container" in error
    finally:
        viaduct("down", lab).expect()
    assert container.state() == before
    assert container.process.poll() is None
    assert f"{lab}.db" not in namespaces()


def test_a_container_of_docker(
    scenario: Callable[[str], Path], lab: str, container: Container, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    words = '[ "$1 $2 $3 $4 $5" = "inspect --type container --format {{.State.Pid}}" ] || exit 64'
    answer = f"case $6 in web) echo {container.process.pid};; stopped) echo 0;; "
    answer += "*) echo no such container >&2; exit 1;; esac"
    (programs / "docker").write_text(f"#!/bin/sh\n{words}\n{answer}\n")
    (programs / "docker").chmod(0o755)

    def up(name: str) -> Done:
        path = f"PATH={programs}:/usr/sbin:/usr/bin:/sbin:/bin"
        return execute(["env", path, str(VIADUCT), "up", str(file_of(scenario, name))])

    before = container.state()
    assert "is not running" in up("stopped").error_line(2)
    assert "no such container" in up("other").error_line(2)
    up("web").expect()
    try:
        check(lab, container)
    finally:
        viaduct("down", lab).expect()
    assert container.state() == before


def test_nothing_stays_in_a_container(
    scenario: Callable[[str], Path], lab: str, container: Container
) -> None:
    """Everything of the run is killed at once; its record tells what there is."""
    before = container.state()
    file = file_of(scenario, container.process.pid)
    program = 'programs: [{node: n0, command: "sleep 600"}]\nduration: 600s\n'
    file.write_text(file.read_text() + program)
    with running("run", file) as process:
        wait_until(lambda: reaches(container.namespace, N0), "it is a node")
        pids = [process.pid, *descendants(process.pid)]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                os.kill(pid, number)
        wait_until(lambda: process.process.poll() is not None, "the command has ended")
        assert "eth0" in "".join(container.state())
        assert f"removed {lab}" in viaduct("clean").expect().output
    assert container.state() == before
    assert container.process.poll() is None
    assert lab not in records()


def test_a_container_that_ends_first(
    scenario: Callable[[str], Path], lab: str, container: Container
) -> None:
    viaduct("up", file_of(scenario, container.process.pid)).expect()
    try:
        container.process.kill()
        container.process.wait()
        execute(["ip", "netns", "del", container.namespace]).expect()
    finally:
        viaduct("down", lab).expect()
    assert lab not in records()


TAP = """
nodes: 2
links:
  - {{line: all}}
  - {{interface: {tap}, node: n1, addresses: [10.9.0.1/24]}}
routing: {{protocol: static}}
"""


def test_a_virtual_machine_behind_a_tap(scenario: Callable[[str], Path], lab: str) -> None:
    """What QEMU does with its TAP while that is in a node: here a ping of the node before it."""
    tap = f"{lab}t"
    with Path("/dev/net/tun").open("r+b", buffering=0) as machine:
        tap_without_header = 0x1002  # IFF_TAP | IFF_NO_PI
        fcntl.ioctl(machine, 0x400454CA, struct.pack("16sH22x", tap.encode(), tap_without_header))
        before = json.loads(execute(["ip", "-j", "link", "show", tap]).expect().output)[0]
        viaduct("up", scenario(TAP.format(tap=tap))).expect()
        try:
            own, broadcast = bytes.fromhex("020000000099"), b"\xff" * 6
            asked = bytes([10, 9, 0, 1])
            request = bytes.fromhex("0001080006040001") + own + bytes([10, 9, 0, 2])
            frame = broadcast + own + b"\x08\x06" + request + bytes(6) + asked

            def answered() -> bool:
                machine.write(frame)
                while select.select([machine], [], [], 0.2)[0]:
                    got = machine.read(2000)
                    if got[:6] == own and got[12:14] == b"\x08\x06" and got[28:32] == asked:
                        return True
                return False

            wait_until(answered, "the node answers")
        finally:
            viaduct("down", lab).expect()
        after = json.loads(execute(["ip", "-j", "link", "show", tap]).expect().output)[0]
        for key in ("ifname", "address", "mtu"):
            assert after[key] == before[key]


def test_containers_that_cannot_be_nodes(
    scenario: Callable[[str], Path], lab: str, container: Container
) -> None:
    file = file_of(scenario, container.process.pid)
    own = container.namespace

    def change(*commands: str) -> None:
        for command in commands:
            execute(["ip", "-n", own, *command.split()]).expect()

    change("link add eth0 type veth peer name other")
    before = container.state()
    assert "already has an interface eth0" in viaduct("up", file).error_line(2)
    assert container.state() == before
    change("link set eth0 name eth7", "link set eth7 up", "link set other up")
    change("addr add 203.0.113.1/24 dev eth7", "route add default via 203.0.113.2")
    tentative = ["ip", "-n", own, "-6", "address", "show", "tentative"]
    wait_until(lambda: not execute(tentative).expect().output, "the addresses are there to stay")
    before = container.state()
    assert "already has a default route" in viaduct("up", file).error_line(2)
    assert container.state() == before
    host = file_of(scenario, os.getpid())
    assert "uses this machine's own network" in viaduct("up", host).error_line(2)
    for change_of, message in (
        ("mode=simulate", "container: not supported in mode simulate"),
        ("nodes.db.host=false", "a container is always a host"),
        ("nodes.db.container=a/b", "is not a valid container name"),
        ("nodes.db.data_plane=ebpf", "the data plane of a container is always its kernel"),
    ):
        assert message in viaduct("run", file, "--set", change_of).error_line(2)


@pytest.mark.xdist_group("privilege")
def test_a_container_is_ones_own(user: User, lab: str, container: Container) -> None:
    """Whoever may use sudo for the command may not change others' networks by it."""

    def up(pid: int) -> Done:
        text = SCENARIO.format(container=pid, spec="delay=5ms")
        return user.viaduct("up", user.write(f"{lab}.yaml", f"name: {lab}\n{text}"))

    before = container.state()
    assert "belongs to another user" in up(container.process.pid).error_line(3)
    assert container.state() == before
    unshare = ["unshare", "--user", "--map-root-user", "--net", "sleep", "600"]
    rootless = subprocess.Popen(unshare, user=user.uid, group=user.gid, extra_groups=[])
    try:
        own = Path("/proc/self/ns/net").readlink()
        ours = Path(f"/proc/{rootless.pid}/ns/net")
        wait_until(lambda: ours.readlink() != own, "it is in its namespace")
        up(rootless.pid).expect()
        try:
            ping = ["ping", "-c", "3", "-i", "0.2", "-W", "5", DB]
            done = user.viaduct("exec", f"{lab}:n0", "--", *ping)
            assert "3 received" in done.expect().output
        finally:
            user.viaduct("down", lab).expect()
        look = ["nsenter", "--net", "--target", str(rootless.pid), "ip", "-o", "link"]
        assert "eth0" not in execute(look).expect().output
    finally:
        rootless.kill()
        rootless.wait()
