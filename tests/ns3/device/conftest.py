"""Fixtures of the tests of ns-3's device on real interfaces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from labs import execute, inside
from routed import Hosts


@pytest.fixture
def hosts(lab: str) -> Iterator[Hosts]:
    """The hosts, with IPv4 and IPv6."""
    made = Hosts(f"{lab}L", f"{lab}M", f"{lab}R")
    for namespace in (made.left, made.router, made.right):
        execute(["ip", "netns", "add", namespace]).expect()
        inside(namespace, "ip", "link", "set", "lo", "up").expect()
    inside(made.router, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1").expect()
    for number, (host, port) in enumerate(((made.left, "r0"), (made.right, "r1")), 1):
        veth = ["ip", "-n", host, "link", "add", "eth0", "type", "veth", "peer", "name", port]
        execute([*veth, "netns", made.router]).expect()
        inside(made.router, "ip", "link", "set", port, "up").expect()
        inside(host, "ip", "link", "set", "eth0", "up").expect()
        for family, address, router, other in (
            ("-4", f"10.1.{number}.2/24", f"10.1.{number}.1", f"10.1.{3 - number}.0/24"),
            ("-6", f"fd00:{number}::2/64", f"fd00:{number}::1", f"fd00:{3 - number}::/64"),
        ):
            more = ["nodad"] if family == "-6" else []
            inside(host, "ip", family, "addr", "add", address, "dev", "eth0", *more).expect()
            inside(host, "ip", family, "route", "add", other, "via", router).expect()
    yield made
    for namespace in (made.left, made.router, made.right):
        execute(["ip", "netns", "del", namespace]).expect()
