"""Links with a SPEC, seen by real programs: the path engine in the real modes and in simulation."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import descendants, inside, measured, namespaces, results, running, viaduct, wait_until

STATIC = "routing: {protocol: static}\n"
IPV6 = "addressing: {ipv4: none, ipv6: fd00::/48}\n"
Write = Callable[[str], Path]


def run(scenario: Path, folder: Path, *arguments: str) -> dict[str, Any]:
    """The results of a run that succeeds."""
    file = folder / "run.json"
    viaduct("run", scenario, "--json", file, *arguments).expect()
    return results(file)


def pipeline(done: dict[str, Any], pair: str, direction: str) -> dict[str, Any]:
    """The engine's statistics of one direction of a link."""
    for entry in done["engine"]["pipelines"]:
        if (entry["pair"], entry["direction"]) == (pair, direction):
            return dict(entry)
    raise AssertionError(f"no {pair} {direction}: {done['engine']}")


@pytest.mark.parametrize("mode", ["simulate", "traditional", "emulate", "offload"])
def test_ping_takes_both_delays(mode: str, scenario: Write, tmp_path: Path) -> None:
    file = scenario(
        STATIC
        + """
nodes: 2
duration: 2s
links: [{pair: [n0, n1], up: "delay=10ms", down: "delay=15ms"}]
flows: [{type: ping, from: n0, to: n1, interval: 50ms}]
"""
    )
    ping = run(file, tmp_path, "--mode", mode)["flows"][0]
    assert ping["received"] == ping["sent"] >= 10
    # Never early; in real time the load of the machine adds lateness.
    assert 25.0 <= ping["rtt_ms"]["min"] < (26.5 if mode == "simulate" else 40)


PINGS = 30


def lost_frames(answered: set[int]) -> set[int]:
    """Which of the first 28 frames that went up were lost; by the pings that were answered.

    The first is an ARP request, then come the pings.
    """
    numbers = {k + 2 for k in set(range(PINGS)) - answered}
    return {number for number in numbers if number <= 28}


def answered_program(done: dict[str, Any]) -> set[int]:
    """By ping's own numbers: it sends whenever the machine lets it."""
    (program,) = done["programs"]
    return {int(number) - 1 for number in re.findall(r"icmp_seq=(\d+) ttl=", program["output"])}


def test_one_seed_loses_the_same_packets_in_every_mode(scenario: Write, tmp_path: Path) -> None:
    """By the number of the frame: a kernel must not ask for an address once more meanwhile.

    After 5 s n1's would, and n0's answer goes up and takes the next frame's draw; or n0's, if the
    machine is slow.
    """
    settings = "delay_first_probe_time: 600", "retrans_time_ms: 60000"
    never = ", ".join(f"net.ipv4.neigh.eth0.{setting}" for setting in settings)
    node = f"{{sysctls: {{{never}}}}}"
    text = (
        STATIC
        + f"nodes: {{count: 2, n0: {node}, n1: {node}}}"
        + """
duration: 60s
seed: 2
links: [{pair: [n0, n1], up: "loss=30% delay=1ms"}]
"""
    )
    flow = f"flows: [{{type: ping, from: n0, to: n1, interval: 200ms, duration: {PINGS * 0.2}s}}]\n"
    ping = run(scenario(text + flow), tmp_path, "--mode", "simulate")["flows"][0]
    assert ping["sent"] == PINGS
    expected = lost_frames({round(when / 0.2) for when, _ in ping["samples"]})
    assert len(expected) >= 5
    text += f'programs: [{{node: n0, command: "ping -n -c {PINGS} -i 0.2 {{n1}}"}}]\n'
    for mode in ("emulate", "offload"):
        done = run(scenario(text), tmp_path, "--mode", mode)
        assert lost_frames(answered_program(done)) == expected, mode
    # Without the delay the loss needs no engine.
    done = run(scenario("data_plane: joined\n" + text.replace(" delay=1ms", "")), tmp_path)
    assert lost_frames(answered_program(done)) == expected
    assert done["engine"]["timing"]["events"] == 0
    sent = pipeline(done, "n0-n1", "up")
    assert sent["fates"]["lost"] >= len(expected)
    assert sent["arrived"] == sent["fates"]["lost"] + sent["fates"]["delivered"]


def test_shared_link_delays_every_sender(scenario: Write, tmp_path: Path) -> None:
    text = (
        STATIC
        + """
nodes: 3
duration: 1s
links: [{shared: [n0, n1, n2], spec: "delay=5ms"}]
flows:
  - {type: ping, from: n0, to: n1, interval: 50ms}
  - {type: ping, from: n2, to: n0, interval: 50ms}
"""
    )
    for mode in ("simulate", "offload"):
        for ping in run(scenario(text), tmp_path, "--mode", mode)["flows"]:
            assert ping["received"] == ping["sent"], mode
            assert 10.0 <= ping["rtt_ms"]["min"] < (11.5 if mode == "simulate" else 20), mode


# Of different rates: simulated senders of one rate stay in phase, and one finds the queue full.
CONTENTION = (
    STATIC
    + """
nodes: 4
duration: 3s
links: [LINKS]
flows:
  - {type: udp, from: n0, to: n1, rate: 10Mbit, size: 1000}
  - {type: udp, from: n2, to: n3, rate: 9.9Mbit, size: 1000}
"""
)
SHARED_MEDIUM = CONTENTION.replace(
    "LINKS", '{shared: [n0, n1, n2, n3], spec: "rate=10Mbit queue=20p link=air"}'
)
SHARED_BY_PAIRS = CONTENTION.replace(
    "LINKS",
    '{pair: [n0, n1], up: "rate=10Mbit queue=20p link=air"}, {pair: [n1, n2]}, '
    '{pair: [n2, n3], up: "link=air"}',
)


@pytest.mark.parametrize("mode", ["simulate", "offload"])
@pytest.mark.parametrize("text", [SHARED_MEDIUM, SHARED_BY_PAIRS], ids=["medium", "pairs"])
@pytest.mark.parametrize("addressing", ["", IPV6], ids=["ipv4", "ipv6"])
def test_senders_contend_for_a_link_that_they_share(
    addressing: str, text: str, mode: str, scenario: Write, tmp_path: Path
) -> None:
    """Half of what both send fits into the link; of real senders one may have bad luck."""
    low, high = (0.4, 0.6) if mode == "simulate" else (0.25, 0.75)
    for flow in run(scenario(addressing + text), tmp_path, "--mode", mode)["flows"]:
        assert low < flow["received"] / flow["sent"], flow
        assert flow["received"] / (flow["sent"] + flow.get("not_offered", 0)) < high, flow


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_a_link_that_has_no_rate_is_refused(mode: str, scenario: Write) -> None:
    text = SHARED_MEDIUM.replace("rate=10Mbit queue=20p ", "")
    error = viaduct("run", scenario(text), "--mode", mode).error_line(2)
    assert "link=air: the link has no rate" in error


BOTTLENECK = (
    STATIC
    + """
nodes: 3
duration: 7s
links:
  - {pair: [n0, n1]}
  - {pair: [n1, n2], up: "rate=20Mbit delay=10ms queue=100p", down: "delay=10ms"}
programs:
  - {node: n2, command: "iperf3 -s", background: true}
  - {node: n0, name: client, start: 500ms, command: "iperf3 -c {n2} -C CONTROL -t 4 -O 2 -J"}
"""
)
PAYLOAD = 1448 / 1514  # TCP with time stamps in an Ethernet frame, as the link counts it


@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_tcp_fills_the_bottleneck(control: str, scenario: Write, tmp_path: Path) -> None:
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if control not in known:
        pytest.skip(f"this kernel lacks TCP {control}")
    done = run(scenario(BOTTLENECK.replace("CONTROL", control)), tmp_path, "--mode", "offload")
    client = next(program for program in done["programs"] if program["name"] == "client")
    # The results hold the end of a long output.
    total = client["output"].rpartition('"sum_received"')[2]
    received = json.loads("{" + total.partition("{")[2].partition("}")[0] + "}")["bits_per_second"]
    # Never more than the link carries, and what its queue held at the beginning of the measurement;
    # less where the machine keeps the sender from sending.
    assert 0.5 * 20e6 * PAYLOAD < received < 1.03 * 20e6 * PAYLOAD
    assert pipeline(done, "n1-n2", "up")["delivered_bytes"] > 4e6


def test_corrupted_stream_arrives_whole(scenario: Write, tmp_path: Path) -> None:
    """Bit errors reach the receiver, whose checksums detect them: TCP retransmits."""
    data = os.urandom(3_000_000)
    (tmp_path / "data").write_bytes(data)
    file = scenario(
        STATIC
        + f"""
nodes: 2
duration: 60s
links: [{{pair: [n0, n1], spec: "ber=2e-6 delay=1ms"}}]
programs:
  - node: n1
    command: [python3, -m, http.server, "8080", --directory, {tmp_path}]
    background: true
  - {{node: n0, name: fetch, start: 500ms, command: "sh {tmp_path}/fetch {{n1}}"}}
"""
    )
    (tmp_path / "fetch").write_text(
        f"curl -s --retry 5 --retry-connrefused -o {tmp_path}/copy http://$1:8080/data\n"
        "grep ^Tcp: /proc/net/snmp\n"
    )
    done = run(file, tmp_path, "--mode", "offload")
    copy = (tmp_path / "copy").read_bytes()
    assert hashlib.sha256(copy).digest() == hashlib.sha256(data).digest()
    assert pipeline(done, "n0-n1", "down")["corrupted"] > 5
    assert pipeline(done, "n0-n1", "down")["flipped_bits"] > 5
    output = next(p for p in done["programs"] if p["name"] == "fetch")["output"]
    names, values = (line.split() for line in output.strip().splitlines())
    found = int(dict(zip(names, values, strict=True))["InCsumErrors"])
    assert found > 0, "the receiver's kernel saw them"


@pytest.fixture
def up(lab: str, scenario: Write) -> str:
    """A lab with one emulated link; its name."""
    viaduct(
        "up", scenario(STATIC + 'nodes: 2\nlinks: [{line: all, spec: "delay=10ms"}]\n')
    ).expect()
    return lab


def round_trip(lab: str) -> float:
    """The least of some pings, ms."""
    done = inside(f"{lab}.n0", "ping", "-q", "-c", "5", "-i", "0.1", "10.0.0.2").expect()
    return float(done.output.split("=")[-1].split("/")[0])


def engine_of(lab: str) -> int:
    """The pid of the lab's path engine."""
    for entry in json.loads(viaduct("ls", "--json").expect().output):
        if entry["lab"] == lab:
            for pid, name in descendants(entry["broker_pid"]).items():
                if name.startswith("viaduct-engine"):
                    return pid
    raise AssertionError(f"lab {lab} has no engine")


def test_a_lab_that_stays_can_be_changed(up: str) -> None:
    measured(lambda: round_trip(up), 20, 22)
    viaduct("path", "set", up, "--pair", "n0-n1", "--up", "delay=40ms").expect()
    measured(lambda: round_trip(up), 50, 52)
    shown = json.loads(viaduct("path", "stats", up, "--json").expect().output)
    assert [entry["spec"] for entry in shown["pipelines"]] == ["delay=40ms", "delay=10ms"]
    assert "n7-n8" in viaduct("path", "set", up, "--pair", "n7-n8", "--up", "loss=1%").error_line(2)
    engine = engine_of(up)
    viaduct("down", up).expect()
    wait_until(lambda: not Path(f"/proc/{engine}").exists(), "the engine is gone")


def test_an_engine_that_died_is_seen(up: str) -> None:
    os.kill(engine_of(up), signal.SIGKILL)
    wait_until(lambda: "engine exited unexpectedly" in viaduct("ls").output, "ls says so")
    viaduct("down", up).expect()


def test_the_engine_dies_with_its_broker(up: str) -> None:
    engine = engine_of(up)
    entry = next(e for e in json.loads(viaduct("ls", "--json").output) if e["lab"] == up)
    os.kill(entry["broker_pid"], signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{engine}").exists(), "the engine is gone")
    viaduct("clean").expect()
    assert not [name for name in namespaces() if name.startswith(up + ".")]


def test_a_run_whose_engine_is_killed_fails(lab: str, scenario: Write) -> None:
    file = scenario(
        STATIC
        + 'nodes: 2\nduration: 30s\nlinks: [{line: all, spec: "delay=1ms"}]\n'
        + "flows: [{type: ping, from: n0, to: n1}]\n"
    )
    with running("run", file) as command:
        command.wait_for("converged")
        time.sleep(0.3)
        engines = [p for p, n in descendants(command.pid).items() if n.startswith("viaduct-engine")]
        assert len(engines) == 1
        os.kill(engines[0], signal.SIGKILL)
        assert command.wait() == 1
        assert "path engine exited (killed)" in command.text.strip().splitlines()[-1]


def test_unreadable_file_of_a_spec_is_named(scenario: Write) -> None:
    text = 'nodes: 2\nlinks: [{line: all, spec: "loss=trace:/nowhere/loss.txt"}]\n'
    for mode in ("simulate", "offload"):
        line = viaduct("run", scenario(STATIC + text), "--mode", mode).error_line(2)
        assert "/nowhere/loss.txt" in line


def test_kernel_qdiscs_on_request(scenario: Write) -> None:
    """Applied if the kernel has the qdiscs, else refused by name."""
    text = 'nodes: 2\nduration: 1s\nlinks: [{line: all, spec: "delay=1ms", emulator: kernel}]\n'
    text += "flows: [{type: ping, from: n0, to: n1}]\n"
    done = viaduct("run", scenario(STATIC + text), "--mode", "offload")
    if done.status != 0:
        assert "netem" in done.error_line(3)


def test_plain_links_keep_their_offloads(lab: str, scenario: Write) -> None:
    text = 'nodes: 3\nlinks: [{pair: [n0, n1]}, {pair: [n1, n2], spec: "delay=1ms"}]\n'
    viaduct("up", scenario(STATIC + text)).expect()
    try:
        features = inside(f"{lab}.n1", "ethtool", "-k", "eth0").expect().output
        assert "tcp-segmentation-offload: on" in features
        features = inside(f"{lab}.n1", "ethtool", "-k", "eth1").expect().output
        assert "tcp-segmentation-offload: off" in features
    finally:
        viaduct("down", lab).expect()
