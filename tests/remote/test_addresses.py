"""Addresses that a hub, or its client, cannot have, and those that only some can."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import test_hub
from labs import Done, execute, inside, ip, viaduct
from test_hub import NODES, Hosts, hub
from test_join import join
from wires import entered

hosts = test_hub.hosts


def link_local(namespace: str) -> str:
    """Of its interface on the network between the hosts."""
    (link,) = ip(namespace, "address", "show", "dev", "eth0")
    found = [each["local"] for each in link["addr_info"] if each["scope"] == "link"]
    return str(found[0])


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_anyones_node_over_link_local_addresses(
    hosts: Hosts, scenario: Callable[[str], Path], mode: str
) -> None:
    """The answers must leave by the interface from which the client's frames came."""
    name = f"{hosts.name}a"
    execute(["ip", "netns", "add", name]).expect()
    there, here = link_local(hosts.hub), link_local(hosts.clients)
    words = f"link add v1 type vxlan id 1 local {here} remote {there} dev eth0 dstport 4789"
    Hosts.run(hosts.clients, words, f"link set v1 netns {name} name eth0")
    Hosts.run(name, "addr add 10.0.0.1/30 dev eth0", "link set eth0 mtu 1430 up")
    file = scenario(NODES.format(a="any", b="any") + f"mode: {mode}\n")
    with hub(hosts, file):
        inside(name, "ping", "-c", "3", "-i", "0.2", "-W", "9", "10.0.0.2").expect()


def test_what_is_refused(hosts: Hosts, scenario: Callable[[str], Path]) -> None:
    """With a line that says what is wrong."""
    file = scenario(NODES.format(a="true", b="true"))
    key = test_hub.key_of(file)

    def start(*words: str) -> Done:
        with entered(hosts.hub):
            return viaduct("hub", file, "--key", key, "--duration", "1s", *words)

    there = link_local(hosts.hub)
    assert "is a link-local address" in start("--address", there).error_line(2)
    assert "is a multicast address" in start("--address", "224.0.0.1").error_line(2)
    assert "--address" in start("--address", "nowhere").error_line(2)
    for remote in ("224.0.0.1", "ff02::1", "0.0.0.0"):
        error = start("--set", f"nodes.a.remote={remote}").error_line(2)
        assert "is not the address of one host" in error
    assert "is a link-local address" in start("--set", "nodes.a.remote=fe80::1").error_line(2)
    with hub(hosts, file):
        for address in (f"{there}%eth0", f"[{there}%eth0]:4789"):
            refused = join(hosts, key, "--node", "a", "--", "true", address=address)
            assert "which VXLAN cannot use" in refused.error_line(2)
        join(hosts, key, "--node", "a", "--", "true").expect()
