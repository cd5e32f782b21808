"""`viaduct path --port tap`: the path is between TAP devices, and counts frames as on a wire."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from labs import execute, inside, viaduct, wait_until
from scapy.layers.l2 import Dot1Q
from test_path import MARK, finish, frame, numbers, up_of
from test_xdp import LEFT6, RIGHT6, check_udp, give_ipv6, transfer
from wires import LEFT, RIGHT, Tap, Wires

DEVICES = ("t0", "t1")
TAP = ("--between", *DEVICES, "--port", "tap")


def ip(wires: Wires, *words: str) -> str:
    """Runs `ip` in the emulator's namespace."""
    return execute(["ip", "-n", wires.middle, *words]).expect().output


def links(wires: Wires) -> dict[str, Any]:
    """The emulator's interfaces, by name."""
    return {link["ifname"]: link for link in json.loads(ip(wires, "-d", "-j", "link", "show"))}


def features(wires: Wires) -> list[str]:
    """What the kernel's ends do themselves and what they leave to a reader."""
    shown = [inside(wires.middle, "ethtool", "-k", name).expect().output for name in DEVICES]
    return [text.replace(" [requested on]", "") for text in shown]


def make(wires: Wires, *names: str) -> None:
    """Persistent devices, up."""
    for name in names:
        ip(wires, "tuntap", "add", "dev", name, "mode", "tap")
        ip(wires, "link", "set", "dev", name, "up")


def bridge(wires: Wires, veth: str, tap: str) -> None:
    """Joins a device to a host's cable."""
    name = f"br-{veth}"
    if name not in links(wires):
        ip(wires, "link", "add", name, "type", "bridge", "mcast_snooping", "0")
        ip(wires, "link", "set", "dev", veth, "master", name)
    ip(wires, "link", "set", "dev", tap, "master", name)
    ip(wires, "link", "set", "dev", name, "up")


@pytest.fixture
def hosts(wires: Wires) -> tuple[Tap, Tap]:
    """The hosts of left:eth0 = a, br-a, t0 <path> t1, br-b, b = right:eth0."""
    make(wires, *DEVICES)
    bridge(wires, "a", "t0")
    bridge(wires, "b", "t1")
    return Tap(wires.left, "eth0"), Tap(wires.right, "eth0")


def test_made_devices_are_up_and_end_with_the_path(wires: Wires) -> None:
    with wires.path(*TAP, "--json", "-") as path:
        made = links(wires)
        for name in DEVICES:
            assert made[name]["linkinfo"]["info_data"]["type"] == "tap"
            assert "LOWER_UP" in made[name]["flags"]
        assert "another program uses the device" in wires.viaduct("path", *TAP).error_line(2)
        results = finish(path)
    assert all(port["access"].startswith("TUN/TAP device") for port in results["ports"])
    assert not set(DEVICES) & set(links(wires))
    with wires.path(*TAP) as path:
        path.process.send_signal(signal.SIGKILL)
        wait_until(lambda: not set(DEVICES) & set(links(wires)), "they are gone")
    assert wires.middle not in viaduct("path", "ls").expect().output


def take_descriptor(pid: int, file: str) -> int:
    """A copy of a process's descriptor of this file, as whoever runs as its user can have."""
    here = next(
        int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir() if str(each.readlink()) == file
    )
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    taken = int(libc.syscall(438, process, here, 0))  # pidfd_getfd(2)
    os.close(process)
    assert taken >= 0, os.strerror(ctypes.get_errno())
    return taken


@pytest.mark.parametrize("end", ["normal", "killed", "held"])
def test_made_devices_end_with_the_path_whatever_their_reader_did(wires: Wires, end: str) -> None:
    """The path's process is the user's, who can make a device outlive its descriptors."""
    make_persistent = 0x400454CB  # TUNSETPERSIST of linux/if_tun.h
    with wires.path(*TAP, "--json", "-") as path:
        taken = take_descriptor(path.pid, "/dev/net/tun")
        fcntl.ioctl(taken, make_persistent, 1)
        if end != "held":
            os.close(taken)
        if end == "killed":
            record = next(Path("/run/viaduct/.paths").glob("*/record.json"))
            keeper = json.loads(record.read_text().splitlines()[0])["pid"]
            for pid in (keeper, path.pid):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: "dead" in viaduct("path", "ls").output, "its keeper is dead")
            assert set(DEVICES) & set(links(wires)), "one is left"
            assert "removed" in viaduct("clean").expect().output
        else:
            finish(path)
        wait_until(lambda: not set(DEVICES) & set(links(wires)), "they are gone")
    if end == "held":
        os.close(taken)


def test_loss_is_counted_and_nothing_else_is_lost(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    with wires.path(*TAP, "--up", "loss=25%", "--seed", "1", "--json", "-") as path:
        for number in range(1000):
            hosts[0].send(frame(number))
        wires.arrived(1000)
        delivered = up_of({"pipelines": wires.pipelines()})["fates"]["delivered"]
        came = numbers(hosts[1].receive_all(delivered, MARK))
        results = finish(path)
    up = up_of(results)
    assert up["arrived"] == 1000
    assert up["fates"]["lost"] + len(came) == 1000
    assert came == sorted(set(came)), "in order, each once"
    assert abs(up["fates"]["lost"] - 250) < 6 * (1000 * 0.25 * 0.75) ** 0.5
    assert results["ports"][0]["rx_frames"] == 1000
    assert results["ports"][1]["tx_frames"] == len(came)


def test_super_frames_of_both_families_are_counted_as_on_the_wire(
    wires: Wires, hosts: tuple[Tap, Tap]
) -> None:
    give_ipv6(wires)
    size = 1 << 20
    with wires.path(*TAP, "--up", "delay=2ms", "--down", "delay=3ms", "--json", "-") as path:
        transfer(wires, socket.AF_INET, LEFT, RIGHT, size)
        transfer(wires, socket.AF_INET6, LEFT6, RIGHT6, size)
        results = finish(path)
    up, port = up_of(results), results["ports"][0]
    assert up["arrived"] >= 2 * size // 1448, "cut to what an MTU of 1500 carries"
    assert port["rx_frames"] < up["arrived"], "they came in super-frames"
    # Each frame has its own headers: Ethernet, IP and TCP with time stamps.
    assert up["arrived_bytes"] >= 2 * size + 66 * (2 * size // 1448)
    assert results["ports"][1]["tx_frames"] == up["fates"]["delivered"]


def test_a_rate_and_lost_segments(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    """A queue of 20 packets is one of packets of a wire, of which TCP repeats those lost."""
    spec = ("--up", "rate=50Mbit queue=20p loss=1%", "--json", "-", "--seed", "3")
    with wires.path(*TAP, *spec) as path:
        transfer(wires, socket.AF_INET, LEFT, RIGHT, 1 << 20)
        results = finish(path)
    fates = up_of(results)["fates"]
    assert 0 < fates["lost"] < 60
    assert fates["queue_full"] > 0, "a super-frame is longer than the queue"


def test_udp_of_both_families_has_right_checksums(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    give_ipv6(wires)
    with wires.path(*TAP):
        check_udp(wires)


def test_what_the_far_device_does_not_take_is_refused(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    with wires.path(*TAP, "--json", "-") as path:
        ip(wires, "link", "set", "dev", "t1", "mtu", "700")
        hosts[0].send(frame(1, 714))
        hosts[0].send(frame(2, 715))
        hosts[0].send(frame(3, 714, tag=Dot1Q(vlan=5)))
        hosts[0].send(frame(4, 715, tag=Dot1Q(vlan=5)))
        assert numbers(hosts[1].receive_all(2, MARK)) == [1, 3]
        ip(wires, "link", "set", "dev", "t1", "down")
        hosts[0].send(frame(5))
        wires.arrived(5)
        results = finish(path)
    up = up_of(results)
    assert up["fates"]["delivered"] == 2
    assert up["fates"]["refused"] == 3
    assert results["ports"][1]["tx_dropped_error"] == 3


def test_what_comes_faster_than_it_is_read_is_counted(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    ip(wires, "link", "set", "dev", "t0", "txqueuelen", "100")
    with wires.path(*TAP, "--json", "-") as path:
        with path.stopped():
            for number in range(500):
                hosts[0].send(frame(number))
        came = numbers(hosts[1].receive_all(100, MARK))
        results = finish(path)
    dropped = results["ports"][0]["rx_dropped_ring_full"]
    assert dropped > 0
    assert len(came) + dropped == 500
    assert up_of(results)["arrived"] == len(came)


def test_what_waits_at_its_end_has_arrived(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    with wires.path(*TAP, "--up", "delay=1h", "--json", "-") as path:
        with path.stopped():
            for number in range(700):
                hosts[0].send(frame(number))
            path.process.send_signal(signal.SIGINT)
        results = finish(path)
    up = up_of(results)
    assert (up["arrived"], up["waiting"]) == (700, 700)
    assert results["ports"][0]["rx_frames"] == 700


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_persistent_devices_are_left_as_they_were(
    wires: Wires, hosts: tuple[Tap, Tap], end: signal.Signals
) -> None:
    before, there = features(wires), links(wires)
    with wires.path(*TAP) as path:
        assert features(wires) != before, "checksums and segments are left to the path"
        path.process.send_signal(end)
        wait_until(lambda: features(wires) == before, "they are the kernel's again")
    after = links(wires)
    assert {name: link["mtu"] for name, link in after.items()} == {
        name: link["mtu"] for name, link in there.items()
    }
    with wires.path(*TAP):
        hosts[0].send(frame(7))
        assert numbers(hosts[1].receive_all(1, MARK)) == [7], "and can be had again"


def test_a_device_comes_back(wires: Wires, hosts: tuple[Tap, Tap]) -> None:
    with wires.path(*TAP, "--json", "-") as path:
        ip(wires, "link", "del", "dev", "t0")
        path.wait_for("interface t0 has disappeared; the path waits for the interface to return\n")
        make(wires, "t0")
        path.wait_for("interface t0 is back\n")
        bridge(wires, "a", "t0")
        hosts[0].send(frame(3))
        assert numbers(hosts[1].receive_all(1, MARK)) == [3]
        hosts[1].send(frame(4))
        assert numbers(hosts[0].receive_all(1, MARK)) == [4]
        finish(path)


def test_what_is_no_tap_device_is_refused(wires: Wires) -> None:
    before = links(wires)
    line = wires.viaduct("path", "--between", "t0", "a", "--port", "tap").error_line(2)
    assert "a" in line
    assert "not a TAP device" in line
    make(wires, "t0")
    ip(wires, "link", "set", "dev", "t0", "down")
    assert "t0 is down" in wires.viaduct("path", *TAP).error_line(2)
    ip(wires, "link", "del", "dev", "t0")
    assert links(wires).keys() == before.keys(), "nothing is left"
