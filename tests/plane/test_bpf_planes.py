"""Labs whose data plane is an eBPF program (`data_plane: ebpf`, `data_plane: joined`)."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ebpf import programs, programs_of
from labs import (
    FAST_OLSR,
    VIADUCT,
    addresses,
    execute,
    inside,
    ping_all,
    results,
    viaduct,
    wait_until,
)
from scapy.layers.inet import ICMP
from scapy.utils import rdpcap

Write = Callable[[str], Path]
STATIC = "routing: {protocol: static}\n"


@pytest.fixture(autouse=True)
def has_ebpf() -> None:
    """Nothing to test in a build without."""
    if b"viaduct_forward" not in VIADUCT.read_bytes():
        pytest.skip("this build has no eBPF")


@pytest.fixture(params=["ebpf", "joined"])
def plane(request: pytest.FixtureRequest) -> str:
    """The line of a scenario file that asks for it."""
    return f"data_plane: {request.param}\n"


def listed(lab: str) -> dict[str, Any]:
    """What `ls --json` says about the lab."""
    found = json.loads(viaduct("ls", "--json").expect().output)
    labs = found if isinstance(found, list) else found["labs"]
    return next(each for each in labs if each["lab"] == lab)


def forwarded_by_kernel(namespace: str) -> int:
    """IPv4 packets (ipForwDatagrams)."""
    lines = inside(namespace, "cat", "/proc/net/snmp").expect().output.splitlines()
    names, values = (line.split() for line in lines[:2])
    return int(values[names.index("ForwDatagrams")])


def test_a_line_of_olsr_routers(plane: str, lab: str, scenario: Write) -> None:
    """Every hop counts, and the kernels between do not forward."""
    file = scenario(FAST_OLSR + plane + "duration: 1h\nnodes: 5\nlinks: [{line: all}]\n")
    viaduct("up", file).expect()
    try:
        last = addresses(f"{lab}.n4")["eth0"]
        # The first ones resolve addresses, and ask for the path.
        assert inside(f"{lab}.n0", "ping", "-c5", "-i0.2", "-W5", last).status == 0
        kernels = [forwarded_by_kernel(f"{lab}.n{i}") for i in (1, 2, 3)]
        answered = ping_all(f"{lab}.n0", last, 50, "-i0.01")
        assert answered.count("ttl=61") == answered.count("ttl=") > 0, answered
        by_kernels = [forwarded_by_kernel(f"{lab}.n{i}") for i in (1, 2, 3)]
        if "ebpf" in plane:
            assert by_kernels == kernels
        else:  # what changes meanwhile makes a path be looked for again
            assert sum(by_kernels) - sum(kernels) < 50
        # What expires is answered by the kernel of the hop.
        expired = inside(f"{lab}.n0", "ping", "-c1", "-W5", "-t2", last).output
        assert f"From {addresses(f'{lab}.n2')['eth0']}" in expired
    finally:
        viaduct("down", lab).expect()


def test_a_ring_that_is_cut(plane: str, lab: str, scenario: Write) -> None:
    """OLSR finds the other way around, and the program follows."""
    file = scenario(FAST_OLSR + plane + "duration: 1h\nnodes: 5\nlinks: [{ring: all}]\n")
    viaduct("up", file).expect()
    try:
        target = addresses(f"{lab}.n2")["eth0"]

        def ttl() -> str:
            output = inside(f"{lab}.n0", "ping", "-c1", "-W1", target).output
            return output.partition("ttl=")[2].split(" ")[0]

        wait_until(lambda: ttl() == "63", "the short way")
        execute(["ip", "-n", f"{lab}.n1", "link", "set", "eth1", "down"]).expect()
        # n2's address on the cut link is still its own: by way of n4 and n3
        wait_until(lambda: ttl() == "62", "the long way")
        execute(["ip", "-n", f"{lab}.n1", "link", "set", "eth1", "up"]).expect()
        wait_until(lambda: ttl() == "63", "the short way again")
    finally:
        viaduct("down", lab).expect()


FLOWS = """
nodes: 5
duration: 3s
links:
  - {line: [n0, n1, n2]}
  - {pair: [n2, n3], spec: delay=1ms}
  - {shared: [n3, n4]}
flows:
  - {type: ping, from: n0, to: n4, interval: 50ms, duration: 2s}
  - {type: udp, from: n0, to: n2, rate: 1Mbit, duration: 2s}
"""


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_flows_are_complete(
    plane: str, family: str, lab: str, scenario: Write, tmp_path: Path
) -> None:
    """Of a run, in both families, next to links that are left to the kernel; TCP too."""
    addressing = "addressing: {ipv4: none, ipv6: fd00::/48}\n" if family == "ipv6" else ""
    tcp_flow = "  - {type: tcp, from: n4, to: n0, duration: 2s}\n"
    file = scenario(STATIC + plane + addressing + FLOWS + tcp_flow)
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    ping, udp, tcp = done["flows"]
    name, passed = ("ebpf", "forwarded") if "ebpf" in plane else ("joined", "joined")
    assert {each["name"] for each in done["data_planes"].values()} == {name}
    assert done["data_planes"]["n1"]["packets"]["eth0"][passed] > 0
    assert ping["loss"] == udp["loss"] == 0
    assert tcp["rate_bit_per_s"] > 1e6, tcp


def test_captures_are_complete(plane: str, lab: str, scenario: Write, tmp_path: Path) -> None:
    """Captures have what the program redirects; at rates that a capture bears on any machine."""
    file = scenario(STATIC + plane + FLOWS + "captures: [n0-n1, n1-n2]\n")
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    assert [capture["dropped"] for capture in done["captures"]] == [0, 0]
    for link in ("n0-n1", "n1-n2"):
        frames = rdpcap(str(tmp_path / f"{lab}-captures" / f"{link}.pcap"))
        echoes = [frame[ICMP].type for frame in frames if ICMP in frame]
        assert echoes.count(8) == echoes.count(0) == done["flows"][0]["sent"], link


def test_nothing_is_left_of_what_is_killed(plane: str, lab: str, scenario: Write) -> None:
    """The program goes with the broker; the namespaces with `clean`."""
    file = scenario(STATIC + plane + "duration: 1h\nnodes: 3\nlinks: [{ring: all}]\n")
    viaduct("up", file).expect()
    broker = listed(lab)["broker_pid"]
    assert (loaded := programs_of(broker) & programs())
    os.kill(broker, signal.SIGKILL)
    wait_until(lambda: listed(lab)["state"] == "dead", "the broker is dead")
    viaduct("clean").expect()
    wait_until(lambda: not programs() & loaded, "no program is left")


def chosen(done: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The plane of each node, and why."""
    return {node: (each["name"], each["reason"]) for node, each in done["data_planes"].items()}


AUTO = STATIC + "data_plane: auto\nduration: 1s\n"
PING = "flows: [{type: ping, from: n0, to: nLAST, interval: 50ms, duration: 500ms}]\n"


def test_auto_says_what_it_chose(scenario: Write, tmp_path: Path) -> None:
    """A router alone gets eBPF, a node at the end of the line the kernel."""
    file = scenario(AUTO + "nodes: 3\nlinks: [{line: all}]\n" + PING.replace("LAST", "2"))
    done = viaduct("run", file, cwd=tmp_path).expect()
    unjoined = (
        "data plane joined is not used: no link without a SPEC, or with only random loss, "
        "connects this node to another router"
    )
    why = f"the fastest data plane that forwards hop by hop; {unjoined}"
    assert f"data plane of 1 nodes: ebpf ({why})" in done.errors
    assert "data plane of 2 nodes: kernel (the node has fewer than two interfaces" in done.errors


def test_auto_joins_several_hops(scenario: Write, tmp_path: Path) -> None:
    """Where several routers are in a row; not where their packets must be seen."""
    text = AUTO + "nodes: 5\nlinks: [{line: all}]\n" + PING.replace("LAST", "4")
    viaduct("run", scenario(text), "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    why = "forwards over several links in one step"
    assert [chosen(done)[f"n{i}"] for i in (1, 2, 3)] == [("joined", why)] * 3
    assert done["data_planes"]["n2"]["packets"]["eth0"]["joined"] > 0
    file = scenario(text + "captures: [n1-n2]\n")
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    why = (
        "the fastest data plane that forwards hop by hop; data plane joined is not used: link "
        "n1-n2 is captured"
    )
    assert chosen(done)["n1"] == ("ebpf", why)
    assert chosen(done)["n3"][0] == "ebpf"
    assert done["flows"][0]["loss"] == 0


def test_auto_loses_at_random_without_the_engine(scenario: Write, tmp_path: Path) -> None:
    """Where nothing changes the SPEC."""
    text = (
        STATIC
        + "data_plane: auto\nduration: 3s\nnodes: 3\n"
        + "links: [{line: [n0, n1], spec: loss=10%}, {line: [n1, n2]}]\n"
        + "flows: [{type: ping, from: n0, to: n2, interval: 10ms, duration: 2s}]\n"
    )
    viaduct("run", scenario(text), "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    why = "applies the random loss of links without the path engine"
    assert chosen(done)["n0"] == chosen(done)["n1"] == ("joined", why)
    assert chosen(done)["n2"][0] == "kernel"
    assert done["engine"]["timing"]["events"] == 0
    assert sum(each["fates"]["lost"] for each in done["engine"]["pipelines"]) > 0
    file = scenario(text + "events: [{at: 100ms, link: n0-n1, up: delay=1ms}]\n")
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    assert chosen(done)["n1"][0] == "ebpf"
    assert done["engine"]["timing"]["events"] > 0


def test_specs_of_a_lab_that_stays_up_can_change(lab: str, scenario: Write) -> None:
    """A link that only loses is the engine's then; in a run it is not, and says so."""
    text = (
        "data_plane: joined\nnodes: 2\nduration: 1h\nlinks: [{pair: [n0, n1], spec: loss=0.1%}]\n"
    )
    viaduct("up", scenario(STATIC + text)).expect()
    try:
        viaduct("path", "set", lab, "--up", "loss=100%").expect()
        stats = json.loads(viaduct("path", "stats", lab, "--json").expect().output)
        specs = {each["direction"]: each["spec"] for each in stats["pipelines"]}
        assert specs == {"up": "loss=100%", "down": "loss=0.1%"}
    finally:
        viaduct("down", lab).expect()


LACKS = "VIADUCT_EBPF_LACKS"  # in the environment: the kernel is treated as an older one


def test_older_kernels_say_what_they_use_instead(
    scenario: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a helper `auto` takes the next plane, and a plane that was asked for is refused."""
    text = STATIC + "duration: 1s\nnodes: 4\nlinks: [{line: all}]\n" + PING.replace("LAST", "3")
    cases = {
        # Of joined paths only, and of both programs.
        "bpf_ringbuf_output()": ("ebpf", "too old and lacks bpf_ringbuf_output()"),
        "bpf_redirect_peer()": ("kernel", "too old and lacks bpf_redirect_peer()"),
    }
    for missing, (plane, why) in cases.items():
        monkeypatch.setenv(LACKS, missing)
        file = scenario("data_plane: auto\n" + text)
        viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
        done = results(tmp_path / "run.json")
        assert chosen(done)["n1"][0] == plane
        assert why in chosen(done)["n1"][1]
        file = scenario("data_plane: joined\n" + text)
        refused = viaduct("run", file, cwd=tmp_path).expect(3)
        assert why in refused.errors
        assert "use another data_plane" in refused.errors


def test_kernels_without_tcx_use_clsact(
    plane: str, scenario: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Linux 6.6: the packets go the same way."""
    text = plane + "duration: 1s\nnodes: 4\nlinks: [{line: all}]\n" + PING.replace("LAST", "3")
    monkeypatch.setenv(LACKS, "tcx")
    file = scenario(STATIC + text)
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    done = results(tmp_path / "run.json")
    passed = "forwarded" if "ebpf" in plane else "joined"
    assert done["data_planes"]["n2"]["packets"]["eth0"][passed] > 0
    assert done["flows"][0]["loss"] == 0
