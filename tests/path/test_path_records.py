"""`viaduct path --trace` and `--log`: what became of every packet."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from test_path import BETWEEN, MARK, finish, frame, numbers, up_of
from wires import Tap, Wires, traces_of


def trace_a_loss_and_a_delivery(wires: Wires, taps: tuple[Tap, Tap], trace: Path) -> None:
    with wires.path(*BETWEEN, "--up", "loss=100%", "--trace", trace, "--json", "-") as path:
        taps[0].send(frame(1))
        taps[1].send(frame(2))
        assert taps[0].receive(marker=MARK)
        wires.arrived(1)
        finish(path)


def test_fates_are_traced(wires: Wires, taps: tuple[Tap, Tap], tmp_path: Path) -> None:
    trace = tmp_path / "fates.jsonl"
    trace_a_loss_and_a_delivery(wires, taps, trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    text = json.dumps(lines)
    assert "lost" in text
    assert "delivered" in text


def test_a_log_and_its_graph(wires: Wires, taps: tuple[Tap, Tap], tmp_path: Path) -> None:
    log, graph = tmp_path / "link.log", tmp_path / "link.svg"
    options = ["--log", log, "--graph", graph, "--json", "-"]
    with wires.path(*BETWEEN, "--up", "delay=5ms loss=list:2", *options) as path:
        for number in range(3):
            taps[0].send(frame(number, 400))
        assert numbers(taps[1].receive_all(2, MARK)) == [0, 2]
        finish(path)
    lines = [line.split() for line in log.read_text().splitlines() if " 400 " in line]
    events = [(line[1], line[-1]) for line in lines]
    assert sorted(events) == sorted(
        [("+", "a-b/up")] * 3 + [("-", "a-b/up")] * 2 + [("d", "a-b/up")]
    )
    assert [line[3] for line in lines if line[1] == "-"] == ["5.000000"] * 2
    assert [line[4] for line in lines if line[1] == "d"] == ["lost"]
    svg = graph.read_text()
    assert svg.startswith("<svg xmlns=") and "a-b/up: throughput" in svg


@pytest.mark.parametrize("option", ["--log", "--trace"])
def test_records_that_a_full_disk_lacks_are_told(
    wires: Wires, taps: tuple[Tap, Tap], tmp_path: Path, option: str
) -> None:
    """What the file lacks is a failure of the run: its results are whole."""
    file = tmp_path / "records.jsonl"
    file.symlink_to("/dev/full")
    with wires.path(*BETWEEN, option, file, "--json", "-") as path:
        taps[0].send(frame(0))
        assert numbers(taps[1].receive_all(1, MARK)) == [0]
        results = finish(path, status=1)
    assert up_of(results)["fates"]["delivered"] >= 1
    assert any("records are missing" in line for line in results["failures"])
    assert "viaduct: " + results["failures"][0] in path.text
    assert "No space left on device" in path.text


def test_a_log_that_nobody_reads_is_refused(wires: Wires, tmp_path: Path) -> None:
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    error = wires.viaduct("path", *BETWEEN, "--log", fifo).error_line(2)
    assert "no program has opened this FIFO for reading" in error
    assert not traces_of(wires)


def test_fates_are_traced_as_a_capture(wires: Wires, taps: tuple[Tap, Tap], tmp_path: Path) -> None:
    trace = tmp_path / "fates.pcapng"
    trace_a_loss_and_a_delivery(wires, taps, trace)
    fields = ["-T", "fields", "-e", "frame.comment"]
    shown = subprocess.run(
        ["tshark", "-n", "-r", str(trace), *fields], capture_output=True, text=True, check=True
    )
    assert "lost" in shown.stdout
    assert "delivered" in shown.stdout
