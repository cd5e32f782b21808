"""ns-3's queue discs on the traffic of real hosts, above an interface with a slow link below it."""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import inside
from routed import PROGRAM, Hosts, Program

RATE = 50e6
SECONDS = 10


@dataclass
class Seen:
    """What a run showed."""

    visible: float  # share of the standing queue in the queue disc
    below: float  # bytes below the device, the mean
    drops: int  # in the queue disc
    lost: int  # in the device
    ping_ms: float  # the 95th percentile
    rate: float  # bit/s of all flows


@pytest.fixture
def slow(hosts: Hosts) -> Hosts:
    """The right one gets 50 Mbit/s."""
    # Without the early end of its slow start that CUBIC has: the queue fills at once.
    inside(hosts.left, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno").expect()
    shape = ["tbf", "rate", "50mbit", "burst", "5kb", "limit", "10mb"]
    inside(hosts.router, "tc", "qdisc", "add", "dev", "r1", "root", *shape).expect()
    return hosts


def loaded(hosts: Hosts, *options: str) -> Seen:
    """Four TCP flows over IPv4 and four over IPv6, and a ping beside them."""
    with contextlib.ExitStack() as stack:
        times = [f"--duration={SECONDS + 5}s", "--warm-up=7s"]
        command = ["nice", "-n", "-20", str(PROGRAM), "--left=r0", "--right=r1", *times]
        router = Program(stack, hosts.router, *command, *options)
        ends = {"10.1.2.2": "5201", "fd00:2::2": "5202"}
        for port in ends.values():
            Program(stack, hosts.right, "iperf3", "-s", "-1", "-p", port)
        time.sleep(1.5)  # the router's IPv6 addresses are new (duplicate address detection)
        inside(hosts.left, "ping", "-c", "1", "-W", "5", "fd00:2::2")
        client = ["iperf3", "-P", "4", "-J", "-t", str(SECONDS)]
        flows = [
            Program(stack, hosts.left, *client, "-c", address, "-p", port)
            for address, port in ends.items()
        ]
        time.sleep(SECONDS / 2)  # until the queue has grown
        often = ["ping", "-i", "0.02", "-w", str(SECONDS // 2 - 1)]
        ping = inside(hosts.left, *often, "10.1.2.2").expect()
        ended = [json.loads(flow.output())["end"] for flow in flows]
        told = json.loads(router.output().splitlines()[-1])
    times = sorted(float(value) for value in re.findall(r"time=([\d.]+)", ping.output))
    return Seen(
        told["visible"],
        told["below_bytes"],
        told["disc_drops"],
        told["device_drops"],
        times[int(0.95 * len(times))],
        sum(end["sum_received"]["bits_per_second"] for end in ended),
    )


@pytest.mark.alone
def test_with_queue_limits_the_queue_stands_where_the_queue_disc_sees_it(slow: Hosts) -> None:
    fifo = loaded(slow, "--disc=PfifoFast")
    fair = loaded(slow, "--disc=FqCoDel")
    for seen in (fifo, fair):
        assert seen.lost == 0
        assert seen.rate > 0.85 * RATE
        assert seen.below < 60_000, "the socket's send buffer takes 140,000"
    assert fifo.visible > 0.8
    assert fair.drops > 10, "CoDel acts"
    assert fifo.ping_ms > 5 * fair.ping_ms


@pytest.mark.alone
def test_without_queue_limits_the_queue_hides_below(slow: Hosts, tmp_path: Path) -> None:
    limited = loaded(slow, "--disc=FqCoDel")
    hidden = loaded(slow, "--disc=FqCoDel", "--bql=false", f"--trace={tmp_path}/queue.csv")
    assert hidden.visible < 0.3
    assert hidden.below > 2 * limited.below
    assert hidden.ping_ms > 2 * limited.ping_ms
    lines = (tmp_path / "queue.csv").read_text().splitlines()
    assert lines[0] == "seconds,disc_packets,disc_bytes,below_bytes"
    assert len(lines) > 1000 * SECONDS


@pytest.mark.alone
@pytest.mark.parametrize("disc", ["CoDel", "Pie", "Cobalt"])
def test_active_queue_management_acts_on_real_traffic(slow: Hosts, disc: str) -> None:
    seen = loaded(slow, f"--disc={disc}")
    assert seen.drops > 10
    assert seen.rate > 0.85 * RATE
    assert seen.lost == 0
