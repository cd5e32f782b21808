"""`viaduct path switch-config`: links deflected through the emulator."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import (
    REPOSITORY,
    TIMEOUT,
    VIADUCT,
    Done,
    Running,
    environment,
    execute,
    inside,
    measured,
    viaduct,
    wait_until,
)
from wires import entered

NEVER = float("inf")  # of a round trip: nothing comes back

GOLDEN = REPOSITORY / "tests" / "path" / "golden" / "switch-config"
LINKS = ["--link", "{0}1,{0}2", "--link", "{0}3,{0}4,100,200", "--trunk", "{0}24"]
LABEL = "label={0} to=10.2.0.0/16 via=192.0.2.2 back=10.1.0.0/16 back-via=10.1.0.1"
CASES = {
    "ios-vlan": ("ios", [w.format("Gi0/") for w in LINKS]),
    "eos-vlan": ("eos", [w.format("Ethernet") for w in LINKS]),
    "junos-vlan": ("junos", [w.format("ge-0/0/") for w in LINKS]),
    "linux-vlan": ("linux", ["--bridge", "br0", *[w.format("p") for w in LINKS]]),
    "linux-redirect": ("linux", ["--link", "p1,p2", "--redirect", "p8", "p9"]),
    "ovs-vlan": ("ovs", [w.format("p") for w in LINKS]),
    "ios-mpls": ("ios", ["--trunk", "Gi0/24", "--mpls", LABEL.format(1000)]),
    "eos-mpls": ("eos", ["--trunk", "Ethernet24", "--mpls", LABEL.format(1000)]),
    "junos-mpls": ("junos", ["--trunk", "ge-0/0/24", "--mpls", LABEL.format(1000500)]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_printed(name: str) -> None:
    vendor, arguments = CASES[name]
    words = ["path", "switch-config", "--vendor", vendor, "--interface", "eth1", *arguments]
    printed = viaduct(*words).expect().output + "--- undo\n"
    printed += viaduct(*words, "--undo").expect().output
    file = GOLDEN / f"{name}.txt"
    if "VIADUCT_WRITE_GOLDEN" in os.environ:
        file.write_text(printed)
    assert printed == file.read_text()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--vendor", "nortel"], "nortel"),
        (["--vendor", "ios"], "nothing to deflect"),
        (["--vendor", "ios", "--link", "a,b"], "--trunk"),
        (["--vendor", "ios", "--link", "a,a", "--trunk", "t"], "the same port"),
        (["--vendor", "ios", "--link", "a,b", "--link", "b,c", "--trunk", "t"], "port b"),
        (["--vendor", "ios", "--link", "a,b,5,5", "--trunk", "t"], "VLAN 5"),
        (["--vendor", "ovs", "--link", "a,b", "--trunk", "t x"], "not a valid interface name"),
        (["--vendor", "linux", "--link", "a,b", "--redirect", "t", "u\nx"], "not a valid"),
        (["--vendor", "ios", "--link", "a,b,5,4095", "--trunk", "t"], "4095"),
        (["--vendor", "ios", "--link", "a,b", "--trunk", "t", "--apply"], "--apply"),
        (["--vendor", "linux", "--link", "a,b", "--trunk", "t"], "--bridge"),
        (["--vendor", "ovs", "--mpls", LABEL.format(99), "--trunk", "t"], "routers"),
        (["--vendor", "junos", "--mpls", LABEL.format(99), "--trunk", "t"], "Junos"),
        (["--vendor", "ios", "--mpls", "label=99", "--trunk", "t"], "is missing"),
    ],
)
def test_wrong_input_is_named(arguments: list[str], what: str) -> None:
    assert what in viaduct("path", "switch-config", *arguments).error_line(2)


@dataclass
class Switch:
    """A namespace with hosts at its ports p1, p2... each in a namespace of its own."""

    namespace: str
    hosts: list[str]

    @staticmethod
    def make(name: str, ports: int) -> Switch:
        switch = Switch(name, [f"{name}h{i}" for i in range(1, ports + 1)])
        for namespace in (name, *switch.hosts):
            execute(["ip", "netns", "add", namespace]).expect()
            inside(namespace, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        for number, host in enumerate(switch.hosts, 1):
            port = f"p{number}"
            peer = ["peer", "name", port, "netns", name]
            execute(["ip", "-n", host, "link", "add", "eth0", "type", "veth", *peer]).expect()
            address = f"10.78.0.{number}/24"
            execute(["ip", "-n", host, "address", "add", address, "dev", "eth0"]).expect()
            execute(["ip", "-n", host, "link", "set", "dev", "eth0", "up"]).expect()
            execute(["ip", "-n", name, "link", "set", "dev", port, "up"]).expect()
        return switch

    def remove(self) -> None:
        for namespace in (self.namespace, *self.hosts):
            execute(["ip", "netns", "delete", namespace])

    def rtt(self) -> float | None:
        """The shortest from the first host to the second, in ms; None if nothing comes back."""
        words = ["ping", "-n", "-c", "5", "-i", "0.05", "-W", "1", "10.78.0.2"]
        done = inside(self.hosts[0], *words)
        return float(done.output.split("= ")[1].split("/")[0]) if done.status == 0 else None

    def config(self, *arguments: str) -> Done:
        words = [str(VIADUCT), "path", "switch-config", *arguments]
        return execute(["ip", "netns", "exec", self.namespace, *words])


def check_deflection(switch: Switch, where: str, path: list[str], config: list[str]) -> None:
    """Through the emulator while applied; as before when undone."""
    measured(lambda: switch.rtt() or NEVER, 0, 15)
    switch.config(*config, "--apply").expect()
    assert switch.rtt() is None, "nothing joins the two ends"
    with entered(where):
        command = Running("path", *path, "--up", "delay=20ms", "--quiet")
    try:
        measured(lambda: switch.rtt() or NEVER, 20, 60)
    finally:
        command.stop()
    switch.config(*config, "--apply", "--undo").expect()
    measured(lambda: switch.rtt() or NEVER, 0, 15)


@pytest.fixture
def ovs(lab: str, tmp_path: Path) -> Iterator[Switch]:
    """Open vSwitch with its userspace datapath: needs no kernel module."""
    switch = Switch.make(lab, 3)
    names = {f"OVS_{name}DIR": str(tmp_path) for name in ("RUN", "LOG", "DB")}
    os.environ.update(names)
    socket = tmp_path / "db.sock"
    schema = "/usr/share/openvswitch/vswitch.ovsschema"
    execute(["ovsdb-tool", "create", str(tmp_path / "conf.db"), schema]).expect()
    daemons = [
        ["ovsdb-server", str(tmp_path / "conf.db"), f"--remote=punix:{socket}"],
        ["ovs-vswitchd", f"unix:{socket}", "--disable-system"],
    ]
    processes = []
    try:
        for daemon in daemons:
            words = ["ip", "netns", "exec", lab, *daemon]
            with (tmp_path / (daemon[0] + ".output")).open("wb") as log:
                processes.append(subprocess.Popen(words, stdout=log, stderr=log, env=environment()))
            wait_until(socket.exists, "the database listens")
        vsctl = ["ovs-vsctl", "--timeout=60"]
        bridge = ["add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev"]
        execute([*vsctl, *bridge]).expect()
        for port in ("p1", "p2", "p3"):
            execute([*vsctl, "add-port", "br0", port]).expect()
        yield switch
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(TIMEOUT)
        for name in names:
            del os.environ[name]
        switch.remove()


def test_open_vswitch(ovs: Switch) -> None:
    execute(["ovs-vsctl", "--timeout=60", "set", "port", "p1", "tag=5"]).expect()
    execute(["ovs-vsctl", "--timeout=60", "set", "port", "p2", "tag=5"]).expect()
    config = ["--vendor", "ovs", "--link", "p1,p2,10,20", "--trunk", "p3", "--interface", "eth0"]
    path = ["--pair", "eth0:vlan=10,eth0:vlan=20"]
    assert " ".join(path) in ovs.config(*config).expect().output
    check_deflection(ovs, ovs.hosts[2], path, config)
    tag = execute(["ovs-vsctl", "--timeout=60", "get", "port", "p1", "tag"]).expect().output
    assert tag.strip() == "5", "what it was"
    assert "nosuch" in ovs.config(
        "--vendor", "ovs", "--link", "nosuch,p2", "--trunk", "p3", "--apply"
    ).error_line(1)


@pytest.fixture
def bridge(lab: str) -> Iterator[Switch]:
    """A Linux bridge of the first two ports."""
    switch = Switch.make(lab, 4)
    here = ["ip", "-n", lab, "link"]
    execute([*here, "add", "br0", "type", "bridge"]).expect()
    for port in ("p1", "p2"):
        execute([*here, "set", "dev", port, "master", "br0"]).expect()
    execute([*here, "set", "dev", "br0", "up"]).expect()
    yield switch
    switch.remove()


def test_linux_redirect(bridge: Switch) -> None:
    emulator = bridge.hosts[2]
    execute(
        [
            "ip",
            "-n",
            bridge.hosts[3],
            "link",
            "set",
            "dev",
            "eth0",
            "netns",
            emulator,
            "name",
            "eth1",
        ]
    )
    execute(["ip", "-n", emulator, "link", "set", "dev", "eth1", "up"]).expect()
    config = ["--vendor", "linux", "--link", "p1,p2", "--redirect", "p3", "p4"]
    check_deflection(bridge, emulator, ["--between", "eth0", "eth1"], config)


def test_linux_bridge_with_vlans(bridge: Switch) -> None:
    """The kernel's bridges know VLANs, or the command says what to do instead."""
    execute(["ip", "-n", bridge.namespace, "link", "set", "dev", "p3", "master", "br0"]).expect()
    config = ["--vendor", "linux", "--bridge", "br0", "--link", "p1,p2,10,20", "--trunk", "p3"]
    filtering = ["set", "dev", "br0", "type", "bridge", "vlan_filtering", "1"]
    probe = execute(["ip", "-n", bridge.namespace, "link", *filtering])
    if probe.status != 0:
        line = bridge.config(*config, "--apply").error_line(3)
        assert "--redirect" in line
        rtt = bridge.rtt()
        assert rtt is not None, "nothing has changed"
        return
    check_deflection(bridge, bridge.hosts[2], ["--pair", "eth0:vlan=10,eth0:vlan=20"], config)
