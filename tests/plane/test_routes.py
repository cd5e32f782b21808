"""Routes in the kernel are those of the protocol, for protocols of every kind, unchanged."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import (
    BUILD,
    FAST_OLSR,
    addresses,
    execute,
    inside,
    own_routes,
    results,
    viaduct,
    wait_until,
)

NODES = 4

PROTOCOLS = {
    "olsr": FAST_OLSR,
    "rip": "routing: {protocol: ns3::Rip, attributes: {UnsolicitedRoutingUpdate: 2s,"
    " StartupDelay: 100ms}}\n",
    "static": "routing: {protocol: static}\n",
}


def line_of(lab: str) -> list[list[str]]:
    """The addresses of each node of a line, left one first."""
    found = []
    for index in range(NODES):
        have = addresses(f"{lab}.n{index}")
        found.append([have[name] for name in sorted(have)])
    return found


def next_hop_address(line: list[list[str]], here: int, there: int) -> str:
    """The neighbour's address on the way from one node of the line to another."""
    return line[here + 1][0] if there > here else line[here - 1][-1]


def lookup(namespace: str, destination: str) -> str:
    """The gateway the kernel itself would use; the destination where it is on link."""
    text = inside(namespace, "ip", "route", "get", destination).expect().output
    words = text.split()
    return words[words.index("via") + 1] if "via" in words else destination


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_pair_takes_the_line(
    protocol: str, lab: str, scenario: Callable[[str], Path]
) -> None:
    file = scenario(PROTOCOLS[protocol] + f"duration: 1h\nnodes: {NODES}\nlinks: [{{line: all}}]\n")
    viaduct("up", file).expect()
    try:
        line = line_of(lab)
        for here in range(NODES):
            namespace = f"{lab}.n{here}"
            for there in range(NODES):
                if abs(here - there) < 2:
                    continue
                for address in line[there]:
                    expected = next_hop_address(line, here, there)
                    assert lookup(namespace, address) == expected, (namespace, address)
        assert wait_until(
            lambda: inside(f"{lab}.n0", "ping", "-c1", "-W2", line[-1][0]).status == 0, "an answer"
        )
        if protocol == "olsr":
            # what the table holds is what was asked for, destination by destination
            routed = set(own_routes(f"{lab}.n0"))
            far = {address for node in line[2:] for address in node}
            assert {str(ipaddress.ip_interface(r).ip) for r in routed} >= far
    finally:
        viaduct("down", lab).expect()


def test_dsdv_reaches_whom_it_reaches_in_simulation(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """ns-3's DSDV knows one interface a node; on a line it misses some pairs, the same ones."""
    file = scenario(
        "routing: {protocol: ns3::dsdv::RoutingProtocol,"
        " attributes: {PeriodicUpdateInterval: 1s, SettlingTime: 200ms}}\n"
        f"duration: 1s\nnodes: {NODES}\nlinks: [{{line: all}}]\n"
        "convergence: {timeout: 8s, required: false}\n"
    )
    missed = []
    for mode in ("simulate", "offload"):
        report = tmp_path / f"{mode}.json"
        viaduct("run", file, "--mode", mode, "--json", report)
        missed.append(results(report)["convergence"]["unreachable"])
    assert missed[0] == missed[1]
    assert ["n0", "n3"] not in missed[0], "it does route over several hops"


def test_ripng(lab: str, scenario: Callable[[str], Path]) -> None:
    file = scenario(
        "routing: {protocol: ns3::RipNg, attributes: {UnsolicitedRoutingUpdate: 2s,"
        " StartupDelay: 100ms}}\n"
        "addressing: {ipv4: none, ipv6: fd00::/48}\n"
        "duration: 1h\nnodes: 3\nlinks: [{line: all}]\n"
    )
    viaduct("up", file).expect()
    try:
        routes = own_routes(f"{lab}.n0", "-6")
        assert len(routes) == 1
        assert (next(iter(routes.values())) or "").startswith("fe80:")
        target = viaduct("exec", f"{lab}:n2", "--", "ip", "-6", "-br", "addr", "show", "eth0")
        address = next(w for w in target.expect().output.split() if w.startswith("fd00:"))
        assert inside(f"{lab}.n0", "ping", "-c1", "-W2", address.split("/")[0]).status == 0
    finally:
        viaduct("down", lab).expect()


def test_a_lab_needs_no_ulimit(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(
        PROTOCOLS["static"]
        + "duration: 200ms\nnodes: 30\nlinks: [{line: all}]\n"
        + "flows: [{type: ping, from: n0, to: n1}]\n"
    )
    report = tmp_path / "report.json"
    run = ["run", str(file), "--mode", "offload", "--json", str(report)]
    execute(["prlimit", "--nofile=128:4096", str(BUILD / "viaduct"), *run]).expect()
    assert results(report)["flows"][0]["received"] > 0


def test_only_own_routes_are_removed(lab: str, scenario: Callable[[str], Path]) -> None:
    file = scenario(FAST_OLSR + "duration: 1h\nnodes: 3\nlinks: [{ring: all}]\n")
    viaduct("up", file).expect()
    try:
        here = f"{lab}.n0"
        inside(here, "ip", "route", "add", "blackhole", "198.51.100.0/24").expect()
        before = own_routes(here)
        inside(f"{lab}.n1", "ip", "link", "set", "eth0", "down").expect()
        wait_until(lambda: own_routes(here) != before, "the protocol sees the link go")
        kept = inside(here, "ip", "route", "show", "198.51.100.0/24").output
        assert kept.strip(), "a route of somebody else is not touched"
        inside(f"{lab}.n1", "ip", "link", "set", "eth0", "up").expect()
        wait_until(lambda: own_routes(here) == before, "the routes are back")
    finally:
        viaduct("down", lab).expect()
