"""`state` in mode simulate: the state of nodes' kernels over time, as CSV files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from kernels import need
from labs import results, viaduct

SCENARIO = """
name: told
mode: simulate
seed: 5
stack: kernel
state: {nodes: [n0, n2], interval: 20ms}
duration: 2s
nodes: {count: 3, n1: {stack: ns3}}
links: [{line: all, spec: "delay=5ms rate=10Mbit"}]
routing: {protocol: static}
flows:
  - {type: tcp, from: n0, to: n2}
  - {type: ping, from: n2, to: n0}
"""
FILES = [f"{node}-{kind}.csv" for node in ("n0", "n2") for kind in ("nstat", "qdisc", "tcp")]
Rows = list[dict[str, str]]


def simulate(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Runs the scenario in a folder of its own; returns its results and the files it wrote."""
    folder.mkdir()
    (folder / "told.yaml").write_text(SCENARIO)
    viaduct("run", "told.yaml", "--json", "told.json", cwd=folder).expect()
    files = {file.name: file.read_text() for file in (folder / "told-captures").iterdir()}
    return results(folder / "told.json"), files


def check_tcp(sender: Rows, receiver: Rows, rate: float) -> None:
    times = [float(row["time_s"]) for row in sender]
    assert len(sender) > 90 and times == sorted(times)
    # The first sample of a socket is at its connect, the others every 20 ms.
    assert all(round(time * 1e9) % 20_000_000 == 0 for time in times[1:])
    assert {(row["peer"], row["peer_port"]) for row in sender} == {("10.0.0.6", "5201")}
    acked = [int(row["acked_bytes"]) for row in sender]
    assert acked == sorted(acked)
    assert acked[-1] * 8 / (times[-1] - times[0]) == pytest.approx(rate, rel=0.1)
    assert max(int(row["cwnd_segments"]) for row in sender) > 20  # slow start
    # Two links of 5 ms there and back, and what waits before them.
    assert min(int(row["min_rtt_us"]) for row in sender if row["min_rtt_us"]) > 20_000
    assert int(receiver[-1]["received_bytes"]) >= acked[-1] - 1  # the SYN counts


def check_qdisc(rows: Rows) -> None:
    assert len(rows) > 100
    assert {(row["device"], row["kind"]) for row in rows} == {("eth0", "pfifo_fast")}
    sent = [int(row["sent_bytes"]) for row in rows]
    assert sent == sorted(sent) and sent[-1] > 1_000_000


def check_counters(rows: Rows, segments: int) -> None:
    last = {row["counter"]: int(row["value"]) for row in rows}
    assert last["TcpActiveOpens"] == 1
    assert last["IcmpInEchos"] > 10
    assert last["TcpOutSegs"] > segments


def test_state_over_time_and_again(tmp_path: Path) -> None:
    need()
    run, files = simulate(tmp_path / "first")
    assert sorted(files) == FILES
    rows = {name: list(csv.DictReader(text.splitlines())) for name, text in files.items()}
    rate = run["flows"][0]["rate_bit_per_s"]
    check_tcp(rows["n0-tcp.csv"], rows["n2-tcp.csv"], rate)
    check_qdisc(rows["n0-qdisc.csv"])
    check_counters(rows["n0-nstat.csv"], segments=1000)
    assert simulate(tmp_path / "second")[1] == files, "the same run, to the byte"


def test_state_of_a_node_without_a_kernel_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "told.yaml"
    file.write_text(SCENARIO.replace("[n0, n2]", "[n1]"))
    line = viaduct("run", file).error_line(2)
    assert "n1" in line and "kernel" in line
