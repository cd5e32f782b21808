"""`viaduct-load ping` and flows of type ping, each number held against the kernels' counters."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from labs import BUILD, counted, environment, execute, inside, results, viaduct, wait_until

LOAD = str(BUILD / "viaduct-load")

PAIR = """
nodes: [a, b]
links: [{pair: [a, b], name: wire, spec: "SPEC"}]
addressing: {ipv6: "fd00::/48"}
routing: {protocol: static}
"""


@contextlib.contextmanager
def pair(scenario: Callable[[str], Path], spec: str) -> Iterator[str]:
    """A lab of two nodes; its name."""
    file = scenario(PAIR.replace("SPEC", spec))
    viaduct("up", file).expect()
    try:
        yield file.stem
    finally:
        viaduct("down", file.stem).expect()


def address(lab: str, node: str, family: int) -> str:
    """Of the node's link."""
    done = execute(["ip", "-n", f"{lab}.{node}", f"-{family}", "-j", "address", "show", "eth0"])
    (interface,) = json.loads(done.expect().output)
    return next(i["local"] for i in interface["addr_info"] if i["scope"] == "global")


def pinged(lab: str, target: str, *options: str) -> dict[str, Any]:
    """What a ping from node a measured."""
    done = inside(f"{lab}.a", LOAD, "ping", "--to", target, "--json", *options).expect()
    measured = json.loads(done.output)
    assert isinstance(measured, dict)
    return measured


@pytest.mark.parametrize("family", [4, 6])
def test_the_kernels_count_the_same(scenario: Callable[[str], Path], family: int) -> None:
    requests, replies = (
        ("IcmpInEchos", "IcmpInEchoReps") if family == 4 else ("Icmp6InEchos", "Icmp6InEchoReplies")
    )
    with pair(scenario, "delay=20ms jitter=5ms loss=10% dup=10%") as lab:
        target = address(lab, "b", family)
        pinged(lab, target, "--count", "5")  # resolves addresses
        before = counted(f"{lab}.a", replies), counted(f"{lab}.b", requests)
        ping = pinged(lab, target, "--interval", "4ms", "--count", "500")
        came = counted(f"{lab}.a", replies) - before[0]
        reached = counted(f"{lab}.b", requests) - before[1]
        assert ping["offered"] == ping["sent"] == 500
        assert ping["received"] + ping["lost"] == 500
        assert ping["received"] + ping["duplicates"] <= came, "some came when it had ended"
        assert ping["received"] <= min(500, reached)
        assert 0 < ping["lost"] < 250 and ping["duplicates"] > 10
        assert ping["foreign"] == ping["dropped_here"] == 0
        assert sum(gap["lost"] for gap in ping["gaps"]) == ping["lost"]
        rtt = ping["rtt_us"]
        assert rtt["min"] >= 2 * 15e3 - 1
        assert rtt["min"] <= rtt["p50"] <= rtt["p99"] <= rtt["max"]
        assert len(ping["samples"]) == ping["received"]
        assert all(0 <= sent < ping["seconds"] for sent, _ in ping["samples"])


def test_requests_that_the_kernel_refuses_are_lost(scenario: Callable[[str], Path]) -> None:
    with pair(scenario, "delay=1ms") as lab:
        target = address(lab, "b", 4)
        command = [*("ip", "netns", "exec", f"{lab}.a", LOAD, "ping", "--to", target, "--json")]
        command += ["--interval", "2ms", "--linger", "500ms"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
            reached = counted(f"{lab}.b", "IcmpInEchos")
            wait_until(lambda: counted(f"{lab}.b", "IcmpInEchos") > reached + 50, "pings")
            execute(["ip", "-n", f"{lab}.a", "link", "set", "eth0", "down"]).expect()
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        ping = json.loads(output)
        assert sum(ping["refused"].values()) == ping["errors"] > 10
        assert set(ping["refused"]) <= {"ENETUNREACH", "ENETDOWN", "EHOSTUNREACH"}
        assert ping["offered"] == ping["received"] + ping["lost"]
        assert ping["lost"] >= ping["errors"]
        assert 50 < ping["received"] <= ping["sent"]


def test_any_user_may_ping_in_a_lab(scenario: Callable[[str], Path]) -> None:
    with pair(scenario, "delay=1ms") as lab:
        for family in (4, 6):
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            words += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
            words += [LOAD, "ping", "--to", address(lab, "b", family), "--count", "3", "--json"]
            done = inside(f"{lab}.a", *words, "--interval", "10ms").expect()
            assert json.loads(done.output)["received"] == 3


def test_a_source_address_and_a_payload_of_none(scenario: Callable[[str], Path]) -> None:
    with pair(scenario, "delay=1ms") as lab:
        own, other = address(lab, "a", 4), address(lab, "b", 4)
        options = ["--count", "3", "--interval", "5ms", "--size", "0", "--bind"]
        assert pinged(lab, other, *options, own)["received"] == 3
        words = ["ping", "--to", other, "--count", "1", "--bind"]
        assert "bind 192.0.2.77" in inside(f"{lab}.a", LOAD, *words, "192.0.2.77").error_line(1)
        long = ["ping", "--to", other, "--interval", "1ms", "--size"]
        assert "accepted" not in inside(f"{lab}.a", LOAD, *long, "9000", "--count", "9").output


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
@pytest.mark.parametrize("mode", ["offload", "emulate"])
def test_a_flow_of_pings_of_half_a_millisecond(
    scenario: Callable[[str], Path], tmp_path: Path, mode: str
) -> None:
    flow = "flows: [{type: ping, from: a, to: b, interval: 500us, duration: 1s, size: 40}]\n"
    file = scenario(PAIR.replace("SPEC", "delay=10ms loss=5%") + flow)
    viaduct("run", file, "--mode", mode, "--json", tmp_path / "r.json").expect()
    run = results(tmp_path / "r.json")
    (ping,) = run["flows"]
    assert ping["sent"] + ping.get("not_offered", 0) == 2000
    assert 0.03 < ping["loss"] < 0.2
    assert ping["rtt_ms"]["min"] >= 20
