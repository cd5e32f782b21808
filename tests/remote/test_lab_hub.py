"""`viaduct hub` of a lab: remote nodes at the ends of real links."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import test_hub
from labs import addresses, descendants, forwarders, inside, namespaces, viaduct, wait_until
from test_hub import NODES, Hosts, client_of, end, hub, transfer

hosts = test_hub.hosts

LINE = """
mode: {mode}
data_plane: {plane}
nodes:
  a: {{remote: any}}
  r0: {{}}
  r1: {{}}
  r2: {{}}
  b: {{}}
links:
  - {{pair: [a, r0], spec: delay=10ms}}
  - {{pair: [r0, r1]}}
  - {{pair: [r1, r2]}}
  - {{pair: [r2, b]}}
routing: {{protocol: olsr}}
"""
GATEWAY, FAR = "10.0.0.2", "10.0.0.14"
"""Of the line's client, and of its other end."""


def namespaces_of(lab: str) -> set[str]:
    """Those of its nodes."""
    return {name for name in namespaces() if name.startswith(f"{lab}.")}


def ping(namespace: str, address: str, *options: str) -> float:
    """Returns the least time, in seconds."""
    words = ["ping", "-c", "5", "-i", "0.2", "-W", "5", *options, address]
    done = inside(namespace, *words).expect()
    return float(done.output.rsplit("= ", 1)[1].split("/")[0]) / 1e3


@pytest.mark.parametrize(
    ("mode", "plane"),
    [
        ("offload", "kernel"),
        ("offload", "ebpf"),
        ("offload", "joined"),
        ("offload", "userspace"),
        ("offload", "auto"),
        ("emulate", "simulator"),
    ],
)
def test_a_plain_client_of_a_lab_of_each_plane(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, mode: str, plane: str
) -> None:
    """All of its routers are reached, and reach it; the way takes what its SPEC says."""
    file = scenario(LINE.format(mode=mode, plane=plane))
    a = hosts.client("a", 1, ["10.0.0.1/30"], [GATEWAY])
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        assert 0.020 <= ping(a, GATEWAY) < 1
        assert 0.020 <= ping(a, FAR) < 1
        b = f"{file.stem}.b"
        assert 0.020 <= ping(b, "10.0.0.1") < 1
        if mode == "offload":  # ns-3 forwards TCP as well, but is slow at it
            transfer(a, b, FAR)
            transfer(b, a, "10.0.0.1")
        end(process)
    results = json.loads(written.read_text())
    client = client_of(results, "a")
    assert client["client"] == "192.0.2.1"
    assert client["rx_frames"] >= 15
    assert client["tx_frames"] >= 15
    assert set(client["drops"]) <= {"unclaimed"}, client
    assert results["frames"]["events"] > 0
    assert results["events"]["events"] > 0
    assert not namespaces_of(file.stem)


def test_a_forwarder_that_dies_is_a_failure(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    file = scenario(LINE.format(mode="offload", plane="userspace"))
    a = hosts.client("a", 1, ["10.0.0.1/30"], [GATEWAY])
    written = tmp_path / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        killed = forwarder_of(file.stem)
        os.kill(killed, signal.SIGKILL)
        process.wait_for("the forwarder exited unexpectedly 1 times")
        wait_until(lambda: forwarder_of(file.stem) not in (0, killed), "there is another")
        wait_until(lambda: inside(a, "ping", "-c1", "-W1", FAR).status == 0, "it forwards")
        end(process, 1)
    (failure,) = json.loads(written.read_text())["failures"]
    assert failure.startswith("the forwarder exited unexpectedly 1 times and was restarted")


def forwarder_of(lab: str) -> int:
    """0: it has none now."""
    return next((pid for node in ("r0", "r1", "r2", "b") for pid in forwarders(f"{lab}.{node}")), 0)


@pytest.mark.parametrize("mode", ["offload", "emulate"])
@pytest.mark.parametrize("underlay", ["192.0.2", "2001:db8:"])
def test_two_remote_nodes_over_both_versions_of_ip(
    hosts: Hosts, scenario: Callable[[str], Path], mode: str, underlay: str
) -> None:
    there = "192.0.2.1" if underlay == "192.0.2" else "2001:db8::1"
    remote = "192.0.2.254" if underlay == "192.0.2" else "2001:db8::fe"
    file = scenario(NODES.format(a=f'"{there}"', b="any") + f"mode: {mode}\n")
    a = hosts.client("a", 1, *test_hub.A, remote=remote)
    b = hosts.client("b", 2, *test_hub.B, remote=remote)
    with hub(hosts, file) as process:
        wait_until(lambda: inside(b, "ping", "-c1", "-W1", "10.0.0.5").status == 0, "b answers")
        for target in ("10.0.0.6", "fd00:0:0:1::2"):
            assert 0.020 <= ping(a, target) < 1
        end(process)


def test_a_remote_node_on_a_shared_link(hosts: Hosts, scenario: Callable[[str], Path]) -> None:
    """With two nodes of the lab and another client, and a SPEC of its own."""
    text = """
mode: offload
nodes:
  r: {}
  n: {}
  a: {remote: any, gateway: r}
  b: {remote: any, gateway: r}
  far: {}
links:
  - {shared: [r, n, a, b], spec: delay=5ms}
  - {pair: [r, far]}
routing: {protocol: static}
addressing: {ipv6: "fd00::/48"}
"""
    file = scenario(text)
    a = hosts.client("a", 1, ["10.0.0.3/29", "fd00::3/64"], ["10.0.0.1", "fd00::1"])
    b = hosts.client("b", 2, ["10.0.0.4/29", "fd00::4/64"], ["10.0.0.1", "fd00::1"])
    with hub(hosts, file) as process:
        inside(b, "ping", "-c1", "-W", "5", "10.0.0.1").expect()
        far = addresses(f"{file.stem}.far")["eth0"]
        for target in ("10.0.0.1", "10.0.0.2", "10.0.0.4", far, "fd00::2", "fd00::4"):
            assert 0.010 <= ping(a, target) < 1
        end(process)


def test_spec_changes_live_and_shows_in_stats(
    hosts: Hosts, scenario: Callable[[str], Path]
) -> None:
    file = scenario(LINE.format(mode="offload", plane="kernel"))
    a = hosts.client("a", 1, ["10.0.0.1/30"], [GATEWAY])
    with hub(hosts, file) as process:
        assert ping(a, GATEWAY) >= 0.020
        viaduct("path", "set", file.stem, "--pair", "a-r0", "--up", "delay=40ms").expect()
        assert ping(a, GATEWAY) >= 0.050
        end(process)


@pytest.mark.parametrize("victim", ["viaduct-engine", "viaduct-broker", "viaduct-sim"])
def test_a_process_of_the_hub_dies(
    hosts: Hosts, scenario: Callable[[str], Path], victim: str
) -> None:
    """The command says so, ends, and leaves nothing."""
    file = scenario(LINE.format(mode="offload", plane="kernel"))
    with hub(hosts, file) as process:
        tree = [process.pid, *descendants(process.pid)]
        names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in tree}
        os.kill(next(pid for pid, name in names.items() if name == victim), signal.SIGKILL)
        assert process.wait() == 1, process.read()
    viaduct("clean").expect()
    assert not namespaces_of(file.stem)


def test_what_cannot_be(scenario: Callable[[str], Path]) -> None:
    """One line each."""
    file = scenario(NODES.format(a="any", b="any"))
    assert "traditional" in viaduct("hub", file, "--set", "mode=traditional").error_line(2)
    text = NODES.format(a="any", b="any").replace(
        "spec: delay=10ms", "spec: delay=10ms, " "emulator: kernel"
    )
    error = viaduct("hub", scenario(text), "--mode", "offload", "--port", "0").error_line(2)
    assert "a-r" in error
    assert "emulator: engine" in error
    aodv = NODES.format(a="any", b="any").replace("protocol: static", "protocol: aodv")
    assert "AODV" in viaduct("hub", scenario(aodv), "--mode", "offload").error_line(2).upper()
