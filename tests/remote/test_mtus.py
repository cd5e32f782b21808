"""Long frames between hub and clients, and the errors that tell senders of an MTU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import test_hub
from labs import inside
from test_hub import NODES, Hosts, hub
from test_join import READY, join, joined

hosts = test_hub.hosts

UNDERLAYS = {
    4: ("192.0.2.254", "10.0.0.2", "10.0.0.6", 28),
    6: ("2001:db8::fe", "fd00::2", "fd00:0:0:1::2", 48),
}
"""The hub's address; the client's gateway, the other client, and the headers of a ping, inside."""


@pytest.mark.parametrize("mode", ["simulate", "offload"])
@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("mtu", [1450, 1500, 9000])
def test_what_fits_arrives_and_what_does_not_is_answered(
    hosts: Hosts, scenario: Callable[[str], Path], mode: str, version: int, mtu: int
) -> None:
    """1450 bytes are what a network of 1500 carries over IPv4; for more it must carry more."""
    remote, gateway, far, headers = UNDERLAYS[version]
    if version == 6 or mtu > 1450:
        for place in (hosts.hub, hosts.clients):
            Hosts.run(place, "link set eth0 mtu 9100")
    narrow = mtu - 100
    text = NODES.format(a="any", b="any").replace("delay=10ms", f"delay=1ms, mtu: {mtu}")
    text = text.replace("[r, b]", f"[r, b], mtu: {narrow}") + f"mode: {mode}\n"
    a = hosts.client("a", 1, *test_hub.A, remote=remote, mtu=str(mtu))
    b = hosts.client("b", 2, *test_hub.B, remote=remote, mtu=str(narrow))
    with hub(hosts, scenario(text)):
        inside(b, "ping", "-c1", "-W", "9", "10.0.0.5").expect()
        inside(a, "ping", "-c1", "-W", "9", "10.0.0.6").expect()

        def ping(size: int, address: str) -> str:
            words = ["ping", "-c", "2", "-i", "0.2", "-W", "2", "-M", "do", "-s", str(size)]
            return inside(a, *words, address).output

        assert "2 received" in ping(mtu - headers, gateway)
        assert "0 received" in ping(mtu - headers + 1, gateway)
        refused = ping(narrow - headers + 1, far)
        assert "0 received" in refused
        assert f"mtu = {narrow}" in refused or f"mtu={narrow}" in refused, refused
        assert "2 received" in ping(narrow - headers, far)


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_over_ipv6_the_first_packet_that_is_too_long_is_an_error(
    hosts: Hosts, scenario: Callable[[str], Path], mode: str
) -> None:
    """The kernel's VXLAN would lose it: 1430 bytes and four headers are 1500."""
    file = scenario(NODES.format(a="true", b="true") + f"mode: {mode}\n")
    key = test_hub.key_of(file)
    address = "[2001:db8::fe]"
    with (
        hub(hosts, file),
        joined(hosts, key, "--node", "b", "--", *READY, address=address),
    ):

        def ping(*words: str) -> str:
            words = ("--node", "a", "--", "ping", "-c", "1", "-W", "5", *words)
            return join(hosts, key, *words, address=address).output

        for target, headers in (("10.0.0.6", 28), ("fd00:0:0:1::2", 48)):
            text = ping("-M", "do", "-s", str(1431 - headers), target)
            assert "+1 errors" in text, text
            assert "1 received" in ping("-M", "do", "-s", str(1430 - headers), target)
            assert "1 received" in ping("-s", "1472", target), "in two pieces"
