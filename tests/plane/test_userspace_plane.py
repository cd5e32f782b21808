"""Labs whose packets are forwarded by a process of their own (`data_plane: userspace`)."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import (
    FAST_OLSR,
    addresses,
    counted,
    execute,
    forwarder,
    inside,
    is_alive,
    marked_processes,
    ping_all,
    results,
    viaduct,
    wait_until,
)
from scapy.layers.inet import ICMP
from scapy.utils import rdpcap
from test_bpf_planes import FLOWS, STATIC, listed

Write = Callable[[str], Path]
USERSPACE = "data_plane: userspace\n"
IPV6 = "addressing: {ipv4: none, ipv6: fd00::/48}\n"


def ping_ttl(namespace: str, target: str) -> str:
    """The TTL of an answer; empty: there is none."""
    output = inside(namespace, "ping", "-c1", "-W1", target).output
    return output.partition("ttl=")[2].split(" ")[0]


def test_a_line_of_olsr_routers(lab: str, scenario: Write) -> None:
    """Every hop counts and answers, though no kernel forwards."""
    file = scenario(FAST_OLSR + USERSPACE + "duration: 1h\nnodes: 5\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()
    try:
        last = addresses(f"{lab}.n4")["eth0"]
        forwarding = inside(f"{lab}.n2", "sysctl", "-n", "net.ipv4.ip_forward").expect().output
        assert forwarding.strip() == "0"
        answered = ping_all(f"{lab}.n0", last, 50, "-i0.01")
        assert answered.count("ttl=61") == answered.count("ttl=") > 0, answered
        expired = inside(f"{lab}.n0", "ping", "-c1", "-W5", "-t2", last).output
        assert f"From {addresses(f'{lab}.n2')['eth0']}" in expired
        process = forwarder(lab, 5)
        status = Path(f"/proc/{process}/status").read_text()
        assert "NoNewPrivs:\t1" in status
    finally:
        viaduct("down", lab).expect()
    assert not is_alive(process)


def test_a_ring_that_is_cut(lab: str, scenario: Write) -> None:
    """OLSR finds the other way around, and the forwarder follows."""
    file = scenario(FAST_OLSR + USERSPACE + "duration: 1h\nnodes: 5\nlinks: [{ring: all}]\n")
    viaduct("up", file).expect()
    try:
        target = addresses(f"{lab}.n2")["eth0"]
        wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "63", "the short way")
        execute(["ip", "-n", f"{lab}.n1", "link", "set", "eth1", "down"]).expect()
        # n2's address on the cut link is still its own: by way of n4 and n3
        wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "62", "the long way")
        execute(["ip", "-n", f"{lab}.n1", "link", "set", "eth1", "up"]).expect()
        wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "63", "the short way again")
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize(("family", "far"), [("-4", "10.99.0.1/32"), ("-6", "fd99::1/128")])
def test_routes_of_others(lab: str, family: str, far: str, scenario: Write) -> None:
    """What `ip` changes on a node counts at once, as nothing else changes there."""
    both = "addressing: {ipv4: 10.0.0.0/8, ipv6: fd00::/48}\n"
    file = scenario(STATIC + USERSPACE + both + "duration: 1h\nnodes: 3\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()

    def ip(node: str, *arguments: str) -> None:
        execute(["ip", "-n", f"{lab}.{node}", family, *arguments]).expect()

    def neighbour(node: str, interface: str) -> str:
        namespace = ["ip", "-n", f"{lab}.{node}", family, "-j", "addr", "show", interface]
        (link,) = json.loads(execute([*namespace, "scope", "global"]).expect().output)
        return str(link["addr_info"][0]["local"])

    try:
        target = far.partition("/")[0]
        ip("n2", "addr", "add", far, "dev", "lo")
        ip("n0", "route", "add", far, "via", neighbour("n1", "eth0"))
        assert not ping_ttl(f"{lab}.n0", target)
        ip("n1", "route", "add", far, "via", neighbour("n2", "eth0"))
        wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "63", "the route is followed")
        ip("n1", "route", "del", far)
        wait_until(lambda: not ping_ttl(f"{lab}.n0", target), "its end, too")
        ip("n1", "addr", "add", far, "dev", "lo")
        wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "64", "n1 has the address")
        ip("n1", "addr", "del", far, "dev", "lo")
        ip("n1", "route", "add", far, "via", neighbour("n2", "eth0"))
        wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "63", "n1 does not filter it any more")
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_flows_are_complete(family: str, scenario: Write, tmp_path: Path) -> None:
    """Of a run, in both families, over all kinds of links; TCP too."""
    addressing = IPV6 if family == "ipv6" else ""
    tcp_flow = "  - {type: tcp, from: n4, to: n0, duration: 2s}\n"
    file = scenario(STATIC + USERSPACE + addressing + FLOWS + tcp_flow)
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    ping, udp, tcp = results(tmp_path / "run.json")["flows"]
    assert ping["loss"] == udp["loss"] == 0
    assert tcp["rate_bit_per_s"] > 1e6, tcp


def test_captures_are_complete(lab: str, scenario: Write, tmp_path: Path) -> None:
    """Captures have what the forwarder sends."""
    file = scenario(STATIC + USERSPACE + FLOWS + "captures: [n0-n1, n1-n2]\n")
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    for link in ("n0-n1", "n1-n2"):
        packets = rdpcap(str(tmp_path / f"{lab}-captures" / f"{link}.pcap"))
        kinds = [packet[ICMP].type for packet in packets if ICMP in packet]
        assert kinds.count(0) == kinds.count(8) == done["flows"][0]["sent"], link


def test_nodes_of_several_planes_and_none_that_forwards(scenario: Write, tmp_path: Path) -> None:
    """Kernel, userspace and simulator in one line; a pair needs no forwarder."""
    nodes = "nodes: {n0: {}, n1: {data_plane: kernel}, n2: {}, n3: {data_plane: simulator}, n4: {}}"
    links = "links: [{line: [n0, n1, n2, n3, n4]}]"
    flow = "flows: [{type: ping, from: n0, to: n4, duration: 1s}]"
    file = scenario(f"{STATIC}{USERSPACE}{nodes}\n{links}\nduration: 2s\n{flow}\n")
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    assert results(tmp_path / "run.json")["flows"][0]["loss"] == 0
    flow = "flows: [{type: ping, from: n0, to: n1, duration: 1s}]"
    file = scenario(f"{STATIC}{USERSPACE}nodes: 2\nlinks: [{{line: all}}]\nduration: 2s\n{flow}\n")
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    assert results(tmp_path / "run.json")["flows"][0]["loss"] == 0


def test_a_forwarder_that_is_killed_is_replaced(lab: str, scenario: Write) -> None:
    """The next one finds the tables as they were; nothing writes them again."""
    file = scenario(STATIC + USERSPACE + "duration: 1h\nnodes: 4\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()
    try:
        target = addresses(f"{lab}.n3")["eth0"]
        for _ in range(3):
            assert ping_ttl(f"{lab}.n0", target) == "62"
            killed = forwarder(lab, 4)
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "62", "it forwards again")
            assert forwarder(lab, 4) != killed
    finally:
        viaduct("down", lab).expect()


def test_it_outlives_the_simulator_but_not_the_broker(lab: str, scenario: Write) -> None:
    """A lab goes on without its simulator and whoever watched that, but not without its broker."""
    # Static routes: a protocol may just have lost a neighbour, on a busy machine.
    file = scenario(STATIC + USERSPACE + "duration: 1h\nnodes: 3\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()
    target = addresses(f"{lab}.n2")["eth0"]
    process = forwarder(lab, 3)
    (simulator,) = (pid for pid, line in marked_processes().items() if "viaduct-sim" in line)
    watcher = int(Path(f"/proc/{simulator}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(watcher, signal.SIGKILL)
    os.kill(simulator, signal.SIGKILL)
    wait_until(lambda: not is_alive(simulator), "the simulator is dead")
    wait_until(lambda: ping_ttl(f"{lab}.n0", target) == "63", "it forwards")
    os.kill(listed(lab)["broker_pid"], signal.SIGKILL)
    wait_until(lambda: not is_alive(process), "the forwarder is dead")
    viaduct("clean").expect()
    assert not execute(["ip", "netns", "list"]).output.count(f"{lab}.")


def received(namespace: str) -> int:
    """IP packets that the node's kernel has got, of both families."""
    return counted(namespace, "IpInReceives", "Ip6InReceives")


def dropped(namespace: str) -> int:
    """Packets that came in and that the interfaces count as dropped."""
    links = json.loads(inside(namespace, "ip", "-j", "-s", "link").expect().output)
    return sum(link["stats64"]["rx"]["dropped"] for link in links)


@pytest.mark.parametrize("family", ["4", "6"])
def test_kernels_get_no_copies(lab: str, family: str, scenario: Write) -> None:
    """Of what the forwarder takes; it is no loss, and what is for the node arrives."""
    both = "addressing: {ipv4: 10.0.0.0/8, ipv6: fd00::/48}\n"
    file = scenario(STATIC + USERSPACE + both + "duration: 1h\nnodes: 4\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()

    def address(node: str) -> str:
        listed = execute(["ip", "-n", f"{lab}.{node}", f"-{family}", "-j", "addr", "show", "eth0"])
        (link,) = json.loads(listed.expect().output)
        return next(a["local"] for a in link["addr_info"] if a["scope"] == "global")

    def ping(target: str) -> None:
        ping_all(f"{lab}.n0", target, 200, f"-{family}", "-i0.002")

    try:
        ping(address("n3"))
        for node in ("n1", "n2"):
            before, drops = received(f"{lab}.{node}"), dropped(f"{lab}.{node}")
            ping(address("n3"))
            assert received(f"{lab}.{node}") - before < 50
            assert dropped(f"{lab}.{node}") == drops
        before = received(f"{lab}.n1")
        ping(address("n1"))
        assert received(f"{lab}.n1") - before >= 200
        inside(f"{lab}.n1", "nft", "add table inet mine").expect()
        before = received(f"{lab}.n1")
        wait_until(lambda: ping(address("n3")) or received(f"{lab}.n1") - before >= 400, "nft")
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize(("family", "host"), [("-4", "10.77.0.{}"), ("-6", "fd77::{}")])
def test_an_added_address_answers_at_once(
    lab: str, family: str, host: str, scenario: Write
) -> None:
    """While packets to it come in already."""
    both = "addressing: {ipv4: 10.0.0.0/8, ipv6: fd00::/48}\n"
    file = scenario(STATIC + USERSPACE + both + "duration: 1h\nnodes: 3\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()
    length = "32" if family == "-4" else "128"

    def ip(node: str, *arguments: str) -> None:
        execute(["ip", "-n", f"{lab}.{node}", family, *arguments]).expect()

    try:
        neighbour = json.loads(
            execute(["ip", "-n", f"{lab}.n1", family, "-j", "addr", "show", "eth0"]).output
        )[0]["addr_info"]
        via = next(one["local"] for one in neighbour if one["scope"] == "global")
        for number in range(1, 21):
            added = host.format(number)
            ip("n0", "route", "add", f"{added}/{length}", "via", via)
            ip("n1", "addr", "add", f"{added}/{length}", "dev", "lo")
            answered = inside(f"{lab}.n0", "ping", "-c5", "-i0.1", "-W1", added).output
            assert " 0 received" not in answered, answered
    finally:
        viaduct("down", lab).expect()
