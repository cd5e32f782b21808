"""A simulator that dies while a lab is up: forwarding goes on, and another one takes over."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from labs import (
    BUILD,
    FAST_OLSR,
    TIMEOUT,
    Done,
    addresses,
    environment,
    execute,
    inside,
    namespaces,
    own_routes,
    records,
    viaduct,
    wait_until,
)
from simulators import await_restart, history, kill_simulator, parent_of, simulators

Write = Callable[[str], Path]
PLANES = ["kernel", "ebpf", "joined", "userspace"]
RING = "duration: 1h\nnodes: 5\nlinks: [{ring: all}]\n"
OLSR_RING = FAST_OLSR + RING
# Their routes last for 180 s: a machine that stands still makes a protocol lose none.
FAST_RIP = """
routing: {protocol: RIP, attributes: {UnsolicitedRoutingUpdate: 1s, StartupDelay: 100ms}}
"""
FAST_RIPNG = "addressing: {ipv4: none, ipv6: fd00::/48}" + FAST_RIP.replace("RIP,", "RIPng,")
WMRP = """
routing: {protocol: WMRP}
duration: 1h
nodes: {a: {host: true}, b: {host: true}, count: 3}
links:
  - line: all
  - {pair: [a, n0], addresses: [10.0.0.1/24, none]}
  - {pair: [n2, b], addresses: [none, 10.0.0.2/24]}
"""


@contextmanager
def up(file: Path, lab: str) -> Iterator[None]:
    """The lab, as long as the block runs."""
    viaduct("up", file).expect()
    try:
        yield
    finally:
        if lab in records():
            viaduct("down", lab).expect()


class Pings:
    """Echo requests that go on, 200 in a second."""

    def __init__(self, namespace: str, target: str, output: Path) -> None:
        inside(namespace, "ping", "-c3", "-i0.1", "-W5", target).expect()
        command = ["ip", "netns", "exec", namespace, "ping", "-i0.005", "-W5", target]
        self.output = output
        with output.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, env=environment())
        self.await_answers()

    def answered(self) -> list[int]:
        """The numbers of those whose answers have come."""
        return [int(n) for n in re.findall(r"icmp_seq=(\d+) ttl=", self.output.read_text())]

    def await_answers(self) -> None:
        """A hundred more."""
        wanted = len(self.answered()) + 100
        wait_until(lambda: len(self.answered()) >= wanted, "answers go on")

    def end(self) -> tuple[list[int], set[str]]:
        """Whose answers came, and their TTLs; the last ones may be under way."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(TIMEOUT)
        return self.answered(), set(re.findall(r"ttl=(\d+)", self.output.read_text()))


def check_unbroken(lab: str, namespace: str, target: str, output: Path) -> None:
    """Kills the simulator under a flow, which notices nothing."""
    pings = Pings(namespace, target, output)
    before = kill_simulator()
    await_restart(lab)
    pings.await_answers()
    answered, ttls = pings.end()
    assert answered == list(range(1, len(answered) + 1))
    assert len(ttls) == 1, ttls
    assert simulators() != [before]
    told = history(lab)
    assert "signal 9" in told["cause"] or "killed" in told["cause"].lower(), told
    assert told["without_seconds"] > 0
    assert not told["given_up"]
    assert "simulator restarted 1 times" in viaduct("ls").expect().output


@pytest.mark.parametrize("plane", PLANES)
def test_a_flow_goes_on(plane: str, lab: str, scenario: Write, tmp_path: Path) -> None:
    with up(scenario(FAST_RIP + RING + f"data_plane: {plane}\n"), lab):
        target = addresses(f"{lab}.n2")["eth0"]
        check_unbroken(lab, f"{lab}.n0", target, tmp_path / "pings")


@pytest.mark.parametrize("plane", PLANES)
def test_a_flow_of_ipv6_goes_on(plane: str, lab: str, scenario: Write, tmp_path: Path) -> None:
    text = FAST_RIPNG + f"data_plane: {plane}\nduration: 1h\nnodes: 4\nlinks: [{{line: all}}]\n"
    with up(scenario(text), lab):
        shown = inside(f"{lab}.n3", "ip", "-j", "-6", "addr", "show", "scope", "global").output
        target = next(
            info["local"] for link in json.loads(shown) for info in link.get("addr_info", [])
        )
        check_unbroken(lab, f"{lab}.n0", target, tmp_path / "pings")


@pytest.mark.parametrize("plane", ["userspace", "ebpf"])
def test_frames_of_wmrp_go_on(plane: str, lab: str, scenario: Write, tmp_path: Path) -> None:
    with up(scenario(WMRP + f"data_plane: {plane}\n"), lab):
        check_unbroken(lab, f"{lab}.a", "10.0.0.2", tmp_path / "pings")


@pytest.mark.parametrize("plane", PLANES)
def test_what_changed_meanwhile_is_followed(plane: str, lab: str, scenario: Write) -> None:
    """Routes that the new protocol does not compute any more go away, twice."""
    with up(scenario(OLSR_RING + f"data_plane: {plane}\n"), lab):
        target = addresses(f"{lab}.n2")["eth0"]

        def ttl() -> str:
            output = inside(f"{lab}.n0", "ping", "-c1", "-W1", target).output
            return output.partition("ttl=")[2].split(" ")[0]

        wait_until(lambda: ttl() == "63", "the short way")
        routes = own_routes(f"{lab}.n0")
        kill_simulator()
        execute(["ip", "-n", f"{lab}.n1", "link", "set", "eth1", "down"]).expect()
        await_restart(lab)
        wait_until(lambda: ttl() == "62", "the long way")
        assert own_routes(f"{lab}.n0") != routes
        kill_simulator()
        execute(["ip", "-n", f"{lab}.n1", "link", "set", "eth1", "up"]).expect()
        await_restart(lab, 2)
        wait_until(lambda: own_routes(f"{lab}.n0") == routes, "the routes of before")
        assert ttl() == "63"


@pytest.mark.parametrize("plane", ["kernel", "joined"])
@pytest.mark.parametrize("group", ["239.1.1.1", "ff15::1"])
def test_multicast_goes_on(plane: str, group: str, lab: str, scenario: Write) -> None:
    entry = f'{{node: n1, source: n0, group: "{group}", from: n0-n1, to: all}}'
    text = f"""
routing: {{protocol: static}}
addressing: {{ipv6: fd00::/48}}
data_plane: {plane}
duration: 1h
nodes: 3
links: [{{line: all}}]
multicast: [{entry}]
"""
    with up(scenario(text), lab):
        receiver = subprocess.Popen(
            ["ip", "netns", "exec", f"{lab}.n2", str(BUILD / "viaduct-load"), "receive"]
            + ["--json", "--port", "5001", "--group", group],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert receiver.stderr
        assert "listening" in receiver.stderr.readline()
        to = f"[{group}]:5001" if ":" in group else f"{group}:5001"
        sender = subprocess.Popen(
            ["ip", "netns", "exec", f"{lab}.n0", str(BUILD / "viaduct-load"), "send", "--json"]
            # A kernel keeps four while a simulator is asked, which may take a while to answer.
            + ["--to", to, "--interface", "eth0", "--rate", "10pps", "--duration", "1h"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        time.sleep(1)
        kill_simulator()
        await_restart(lab)
        time.sleep(1)
        sender.send_signal(signal.SIGINT)
        sent = json.loads(sender.communicate(timeout=TIMEOUT)[0])
        received = json.loads(receiver.communicate(timeout=TIMEOUT)[0])
        assert sent["offered"] > 10
        assert received["received"] == sent["offered"]


def test_routes_on_demand_are_found_again(lab: str, scenario: Write) -> None:
    """AODV: the new simulator gets what has no route."""
    text = "routing: {protocol: AODV}\nduration: 1h\nnodes: 3\nlinks: [{line: all}]\n"
    with up(scenario(text), lab):
        target = addresses(f"{lab}.n2")["eth0"]
        inside(f"{lab}.n0", "ping", "-c3", "-i0.2", "-W5", target).expect()
        filters = filters_of(f"{lab}.n1").count("handle")
        assert filters in (0, 2)  # from Linux 6.6 on both are links (tcx)
        kill_simulator()
        await_restart(lab)
        inside(f"{lab}.n0", "ping", "-c3", "-i0.2", "-W5", target).expect()
        assert filters_of(f"{lab}.n1").count("handle") == filters


def filters_of(namespace: str) -> str:
    """The classifiers of its first interface."""
    sides = ("ingress", "egress")
    show = ["tc", "-n", namespace, "filter", "show", "dev", "eth0"]
    return "".join(execute([*show, side]).expect().output for side in sides)


def impostor(tmp_path: Path, later: str) -> Path:
    """A simulator that is one for the first time only; afterwards it does something else."""
    program = tmp_path / "viaduct-sim-twice"
    program.write_text(
        f"#!/bin/sh\nif [ -e {tmp_path}/been ]; then {later}; fi\n"
        f'touch {tmp_path}/been\nexec {BUILD}/viaduct-sim "$@"\n'
    )
    program.chmod(0o755)
    return program


def test_it_gives_up_in_the_end(
    lab: str, scenario: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lab stays as it is, and says what is wrong."""
    monkeypatch.setenv("VIADUCT_SIM", str(impostor(tmp_path, "echo it is no more; exit 3")))
    with up(scenario(OLSR_RING), lab):
        watcher = parent_of(simulators()[0])
        target = addresses(f"{lab}.n2")["eth0"]
        kill_simulator()
        wait_until(lambda: history(lab)["given_up"], "it gives up")
        told = history(lab)
        assert told["restarts"] == 0
        assert "it is no more" in told["cause"]
        assert "no simulator running (no further restart)" in viaduct("ls").expect().output
        inside(f"{lab}.n0", "ping", "-c3", "-i0.2", "-W5", target).expect()
        wait_until(lambda: not Path(f"/proc/{watcher}/exe").exists(), "nobody watches")


@pytest.mark.parametrize("plane", ["kernel", "simulator"])
def test_a_watcher_that_is_killed_is_missed(plane: str, lab: str, scenario: Write) -> None:
    """Its simulator dies with it, and nobody computes routes any more."""
    with up(scenario(OLSR_RING + f"data_plane: {plane}\n"), lab):
        (simulator,) = simulators()
        os.kill(parent_of(simulator), signal.SIGKILL)
        wait_until(lambda: history(lab)["given_up"], "it is noticed")
        told = history(lab)
        assert told["absent"]
        assert "supervisor exited" in told["cause"]
        listed = viaduct("ls").expect().output
        assert f"{lab}  up, no simulator running (no further restart)" in listed
        wait_until(lambda: not Path(f"/proc/{simulator}/exe").exists(), "it has died")


def down(lab: str, watcher: int) -> Done:
    """By the command."""
    assert watcher
    return viaduct("down", lab)


def terminate(lab: str, watcher: int) -> Done:
    """By a signal to who watches."""
    os.kill(watcher, signal.SIGTERM)
    wait_until(lambda: lab not in records(), "the lab has ended")
    return Done(0, "", "")


@pytest.mark.parametrize("end", [down, terminate])
@pytest.mark.parametrize("later", ["exit 3", "exec sleep 1h"])
def test_it_ends_while_no_simulator_runs(
    end: Callable[[str, int], Done],
    later: str,
    lab: str,
    scenario: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VIADUCT_SIM", str(impostor(tmp_path, later)))
    with up(scenario(OLSR_RING), lab):
        watcher = parent_of(simulators()[0])
        kill_simulator()
        wait_until(lambda: "last_death" in history(lab), "its death is noticed")
        assert history(lab)["absent"]
        assert f"{lab}  up, no simulator running since" in viaduct("ls").expect().output
        time.sleep(1.5)  # while it waits before it tries again, or for the impostor
        end(lab, watcher).expect()
        assert not [name for name in namespaces() if name.startswith(lab + ".")]
        wait_until(lambda: not Path(f"/proc/{watcher}/exe").exists(), "its watcher has ended")


@pytest.mark.parametrize("delay", [0.0, 0.2, 1.0, 3.0])
def test_nothing_is_left_when_all_are_killed(delay: float, lab: str, scenario: Write) -> None:
    """At any instant of a restart."""
    with up(scenario(OLSR_RING), lab):
        (broker,) = (
            each["broker_pid"]
            for each in json.loads(viaduct("ls", "--json").expect().output)
            if each["lab"] == lab
        )
        watcher = parent_of(simulators()[0])
        kill_simulator()
        time.sleep(delay)
        for pid in (watcher, broker):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{broker}/exe").exists(), "the broker is dead")
        wait_until(lambda: not simulators(), "no simulator is left")
        assert "viaduct clean" in viaduct("down", lab).error_line(2)
        viaduct("clean").expect()
        assert lab not in records()
        assert not [name for name in namespaces() if name.startswith(lab + ".")]
