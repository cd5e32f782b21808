"""Routers that run ns-3's protocol, and one of the same lab that runs a real daemon instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import own_routes, viaduct, wait_until
from routers import Router, bird, frr, say

LINE = """
nodes:
  a: {host: true}
  r0: {}
  r1: {}
  real: {routing: none}
  b: {host: true}
links: [{line: [a, r0, r1, real, b]}]
duration: 1h
"""
ADDRESSING = {"RIP": "", "RIPng": "addressing: {ipv4: none, ipv6: fd00::/48}\n"}


def answers(lab: str, node: str, to: str) -> bool:
    """Whether a ping between two hosts is answered."""
    ping = ["ping", "-n", "-c1", "-W1", to]
    return viaduct("exec", f"{lab}:{node}", "--", *ping).status == 0


@pytest.mark.parametrize(
    ("mode", "protocol", "router"),
    [
        ("offload", "RIP", frr("ripd")),
        ("emulate", "RIP", bird("rip")),
        ("offload", "RIPng", bird("ripng")),
        ("emulate", "RIPng", frr("ripngd")),
    ],
    ids=str,
)
def test_a_daemon_and_ns3_teach_each_other_their_routes(
    mode: str,
    protocol: str,
    router: Router,
    lab: str,
    scenario: Callable[[str], Path],
    folder: Path,
) -> None:
    attributes = "attributes: {UnsolicitedRoutingUpdate: 2s}"
    text = f"mode: {mode}\nrouting: {{protocol: {protocol}, {attributes}}}\n"
    done = viaduct("up", scenario(text + ADDRESSING[protocol] + LINE)).expect()
    try:
        # Between a, r0 and r1, and between b and its gateway; the daemon starts later.
        assert "8 of 8 pairs are reachable" in done.errors
        assert not answers(lab, "a", "b")
        router.start(lab, "real", folder / "real")
        wait_until(lambda: answers(lab, "a", "b"), lambda: say(folder))
        wait_until(lambda: answers(lab, "b", "a"), lambda: say(folder))
        assert not own_routes(f"{lab}.real", "-4"), "the daemon's routes, not ns-3's"
        assert not own_routes(f"{lab}.real", "-6")
    finally:
        viaduct("down", lab).expect()
