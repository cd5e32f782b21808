"""Mode simulate: needs no root, and gives the same result every time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from labs import (
    REPOSITORY,
    VIADUCT,
    as_nobody,
    execute,
    results,
    running,
    viaduct,
    without_wall_clock,
)

LINE = """
name: simline
mode: simulate
seed: 3
duration: 3s
nodes: 4
links: [{line: all, spec: "delay=1ms rate=10Mbit"}]
flows:
  - {type: udp, from: n0, to: n3, rate: 100kbit, duration: 2s}
  - {type: ping, from: n3, to: n0}
  - {type: tcp, from: n0, to: n3, rate: 1Mbit}
"""


def simulate(folder: Path, name: str, *arguments: str) -> dict[str, Any]:
    scenario = folder / "simline.yaml"
    scenario.write_text(LINE)
    file = folder / name
    viaduct("run", scenario, "--json", file, *arguments).expect()
    return results(file)


def test_results_are_right(tmp_path: Path) -> None:
    run = simulate(tmp_path, "a.json")
    assert run["convergence"]["pairs"] == 12
    assert run["convergence"]["reachable"] == 12
    udp, ping, tcp = run["flows"]
    assert udp["sent"] > 0
    assert udp["loss"] == 0
    # 100 kbit/s of 160-byte packets for 2 s
    assert udp["sent"] == pytest.approx(100e3 * 2 / 8 / 160, abs=2)
    # three links of 1 ms each way, and 10 Mbit/s for 64 to 110 bytes on each
    assert 6.0 < ping["rtt_ms"]["min"] < 7.0
    assert tcp["rate_bit_per_s"] == pytest.approx(1e6, rel=0.15)


def test_same_seed_same_result(tmp_path: Path) -> None:
    first = simulate(tmp_path, "a.json")
    second = simulate(tmp_path, "b.json")
    assert without_wall_clock(first) == without_wall_clock(second)


# Ports on two links each; what goes out on both is sent with a random delay.
WMRP = """
mode: simulate
routing: {protocol: WMRP}
nodes: {a: {host: true}, b: {host: true}, count: 3}
links: [{ring: [n0, n1, n2], spec: delay=1ms}, {pair: [a, n0]}, {shared: [b, n1, n2]}]
duration: 3s
events: [{at: 1s, link: n0-n1, set: "loss=100%"}]
flows: [{type: ping, from: a, to: b, interval: 20ms}]
"""


@pytest.mark.parametrize("text", [LINE, WMRP], ids=["OLSR", "WMRP"])
def test_nothing_depends_on_where_objects_lie_in_memory(tmp_path: Path, text: str) -> None:
    file = tmp_path / "memory.yaml"
    file.write_text(text)
    runs = []
    for setting in ("A=1", "GLIBC_TUNABLES=glibc.malloc.mxfast=0", "MALLOC_MMAP_THRESHOLD_=512"):
        execute(["env", setting, VIADUCT, "run", file, "--json", tmp_path / "r.json"]).expect()
        runs.append(without_wall_clock(results(tmp_path / "r.json")))
    assert runs[1] == runs[0]
    assert runs[2] == runs[0]


def test_results_describe_themselves(tmp_path: Path) -> None:
    run = simulate(tmp_path, "a.json")
    assert run["scenario"]["seed"] == 3
    assert len(run["scenario"]["hash"]) == 64
    environment = run["environment"]
    for key in ("viaduct", "kernel", "ns3", "command"):
        assert environment[key], key


def test_a_run_that_fails_leaves_no_results_of_an_earlier_one(tmp_path: Path) -> None:
    """ns-3 ends the simulator: a HELLO cannot say that the next one follows at once."""
    scenario = tmp_path / "apart.yaml"
    scenario.write_text(
        "nodes: 2\nlinks: [{line: all}]\nmode: simulate\nduration: 1s\n"
        "routing: {protocol: OLSR, attributes: {HelloInterval: 0s}}\nconvergence: {timeout: 1s}\n"
    )
    earlier = tmp_path / "run.json"
    earlier.write_text("{}")
    report = tmp_path / "report"
    report.mkdir()
    (report / "results.json").write_text("{}")
    assert viaduct("run", scenario, "--json", earlier, "--report", report).status == 1
    assert earlier.read_text() == ""
    assert not (report / "results.json").exists()


def test_needs_no_privilege(tmp_path: Path) -> None:
    scenario = tmp_path / "simline.yaml"
    scenario.write_text(LINE)
    if os.getuid() == 0:
        as_nobody(VIADUCT, "run", scenario, cwd=Path("/")).expect()
    else:
        viaduct("run", scenario).expect()


def test_pings_that_a_socket_refused_do_not_end_the_run(tmp_path: Path) -> None:
    """ns-3's Ping looks answers up by their numbers, in a list of those that were sent only."""
    text = (REPOSITORY / "examples" / "rip-ring.yaml").read_text()
    text = text.replace("addressing: {loopback: 10.255.0.0/24}\n", "")
    file, json = tmp_path / "ring.yaml", tmp_path / "out.json"
    file.write_text(text.replace("to: n2", "to: n3"))
    viaduct("run", file, "--mode", "simulate", "--json", json, cwd=tmp_path).expect()
    (ping,) = results(json)["flows"]
    assert ping["lost_at"]["refused"] >= 1, "else this tests nothing"
    assert ping["received"] + sum(ping["lost_at"].values()) <= ping["sent"] == 800
    assert 0.1 < ping["loss"] < 0.3  # from the link's failure until RIP's timeouts


def test_the_rip_ring_loses_pings_only_until_rip_has_found_the_other_way(tmp_path: Path) -> None:
    """Its receiver has an address that is not on the link which is cut for half of the time."""
    file, json = REPOSITORY / "examples" / "rip-ring.yaml", tmp_path / "out.json"
    viaduct("run", file, "--mode", "simulate", "--json", json, cwd=tmp_path).expect()
    (ping,) = results(json)["flows"]
    assert 0 < ping["loss"] < 0.3


@pytest.mark.parametrize(("sender", "receiver"), [("a", "c"), ("c", "a"), ("b", "a")])
def test_a_host_on_a_plain_link_beside_one_with_a_spec(
    sender: str, receiver: str, tmp_path: Path
) -> None:
    file, json = tmp_path / "host.yaml", tmp_path / "out.json"
    file.write_text(
        "mode: simulate\nnodes: {a: {host: true}, b: , c: }\nrouting: {protocol: static}\n"
        'links: [{line: [a, b]}, {pair: [b, c], spec: "delay=5ms"}]\nduration: 2s\n'
        f"flows: [{{type: ping, from: {sender}, to: {receiver}}}]\n"
    )
    viaduct("run", file, "--json", json).expect()
    run = results(json)
    assert run["convergence"]["reachable"] == 6
    assert run["flows"][0]["loss"] == 0


def test_a_long_simulation_shows_how_far_it_is(tmp_path: Path) -> None:
    """An hour of virtual time shows its progress."""
    scenario = tmp_path / "simline.yaml"
    scenario.write_text(LINE.replace("duration: 3s", "duration: 24h"))
    with running("run", scenario) as run:
        run.wait_for("s simulated")
