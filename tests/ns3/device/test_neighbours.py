"""Real hosts beside a router of ns-3 that asks from time to time whether they are still there."""

from __future__ import annotations

import contextlib
import re

from labs import inside
from routed import PROGRAM, Hosts, Program, wait_for_the_router

_TIMES = ["DelayFirstProbe=200ms", "ReachableTime=300ms"]


def test_ipv6_goes_on_while_hosts_are_probed(hosts: Hosts) -> None:
    """The answers of Linux have no link-layer address, and ns-3 lost all packets for 3 s then."""
    command = [str(PROGRAM), "--left=r0", "--right=r1", "--duration=3000s", "--warm-up=1s"]
    command += [f"--ns3::Icmpv6L4Protocol::{name}" for name in _TIMES]
    with contextlib.ExitStack() as stack:
        Program(stack, hosts.router, *command)
        wait_for_the_router(hosts, "fd00:2::2")
        seen = inside(hosts.left, "ping", "-c", "150", "-i", "0.02", "fd00:2::2").expect().output
    # A host that is busy may answer late, and a probe holds no more than three packets back.
    received = re.search(r"(\d+) received", seen)
    assert received, seen
    assert int(received[1]) > 140, seen
