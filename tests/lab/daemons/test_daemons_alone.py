"""Labs without a protocol of ns-3's (`routing: none`), routed by real daemons on all nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import REPOSITORY, inside, own_routes, results, viaduct, wait_until
from routers import Router, babeld, bird, frr, say

NODES = ["n0", "n1", "n2", "n3"]
RING = """
nodes: 4
links: [{ring: all}]
routing: none
addressing: {loopback: 10.99.0.0/24, ipv6: fd00::/48}
duration: 1h
"""
ROUTERS = [frr("ospfd"), frr("ripd"), bird("ospf"), bird("rip"), bird("babel"), babeld()]


def way(lab: str, node: str, to: str) -> str:
    """The interface by which a node's kernel sends; empty if it has no route."""
    words = inside(f"{lab}.{node}", "ip", "-4", "route", "get", to).output.split()
    return words[words.index("dev") + 1] if "dev" in words else ""


def answers(lab: str, node: str, address: str) -> bool:
    """Whether a ping from a node is answered."""
    return inside(f"{lab}.{node}", "ping", "-n", "-c1", "-W1", address).status == 0


@pytest.mark.parametrize("router", ROUTERS, ids=str)
def test_daemons_route_a_ring_and_around_a_link_that_fails(
    router: Router, lab: str, scenario: Callable[[str], Path], folder: Path
) -> None:
    addresses = [f"10.99.0.{number}" for number in range(1, 5)]
    viaduct("up", scenario(RING)).expect()
    try:
        for number, node in enumerate(NODES, 1):
            router.start(lab, node, folder / node, number)
        for address in addresses[1:]:
            wait_until(lambda to=address: answers(lab, "n0", to), lambda: say(folder))
        wait_until(lambda: way(lab, "n0", addresses[1]) == "eth0", lambda: say(folder))
        wait_until(lambda: way(lab, "n1", addresses[0]) == "eth0", lambda: say(folder))
        assert not own_routes(f"{lab}.n0"), "ns-3 has made none"

        viaduct("link", f"{lab}:n0-n1", "down").expect()
        for node, to in (("n0", addresses[1]), ("n1", addresses[0])):
            wait_until(lambda at=node, to=to: way(lab, at, to) == "eth1", lambda: say(folder))
            wait_until(lambda at=node, to=to: answers(lab, at, to), lambda: say(folder))
    finally:
        viaduct("down", lab).expect()


def test_a_run_of_daemons_as_programs_ends_when_a_route_is_there(
    lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """The programs and the configuration of examples/bird-ring.yaml."""
    configuration = REPOSITORY / "examples" / "bird-ring.conf"
    programs = [
        f"  - {{node: {node}, background: true, command: bird -f -c {configuration}"
        f" -s {tmp_path}/{node}.socket}}\n"
        for node in NODES
    ]
    reached = "sh -c 'until ping -c1 -W1 {n2}; do sleep 0.1; done'"
    programs.append(f'  - {{node: n0, timeout: 50s, command: "{reached}"}}\n')
    file = tmp_path / "results.json"
    text = RING.replace("1h", "1min") + "programs:\n" + "".join(programs)
    viaduct("run", scenario(text), "--json", file).expect()
    found = results(file)
    assert [program["ok"] for program in found["programs"]] == [True] * 5
    assert found["programs"][-1]["seconds"] < 50
    assert not list(tmp_path.glob("*.socket")), "BIRD was ended, not killed"
