"""The benchmark of devices: its accounts, its quotas, and its page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import device_aqm, device_nodes, device_rates, device_settings, quota, report
from harness.device_systems import TRADITIONAL, Device, Found, best
from harness.plan import make_plan
from harness.process import BenchError
from harness.results import Result, read_csv

RING = Device("af_packet", "RingNetDevice", ("--device=ring",), ("Port=AfPacket",))


def test_settings_are_those_that_the_build_has() -> None:
    names = ("Port", "Queues")
    dpdk = Device("dpdk", "DPDK", ("--device=ring",), ("Port=Dpdk",))
    found = Found((TRADITIONAL, RING, dpdk), (), names)
    every = device_settings.settings_of(found, quick=False)
    assert [(setting.device.name, setting.name) for setting in every] == [
        ("af_packet", "default"),
        ("af_packet", "queues"),
        ("dpdk", "default"),
    ]
    assert every[1].device.command() == ["--device=ring", "--set=Port=AfPacket,Queues=2"]
    quick = device_settings.settings_of(found, quick=True)
    assert quick == every[:2]


def test_blocks_are_a_port_for_receiving() -> None:
    found = Found((TRADITIONAL, RING), (), ("Port", "RingBlocks"))
    assert [device.name for device in found.receivers] == [
        "fdnetdevice",
        "af_packet",
        "af_packet_blocks",
    ]
    assert found.receivers[-1].command() == ["--device=ring", "--set=Port=AfPacket,RingBlocks=true"]
    assert Found((TRADITIONAL, RING), (), ("Port",)).receivers == (TRADITIONAL, RING)


def test_only_what_arrived_was_sent() -> None:
    sent = {"sent": 900, "refused": 100, "seconds": 2.0, "cpu_seconds": 1.0}
    trial = device_rates.sending(sent, 800)
    assert trial.pps == 400
    assert trial.loss == pytest.approx(0.2)
    assert trial.cpu_ns == pytest.approx(1e9 / 800)
    assert trial.cpu_share == 0.5
    assert device_rates.sending(sent | {"sent": 0, "refused": 0}, 0).loss == 1
    with pytest.raises(BenchError, match="901 frames arrived"):
        device_rates.sending(sent, 901)


def test_every_frame_that_reached_the_interface_is_accounted_for() -> None:
    seen = {"frames": 700, "dropped_by_kernel": 200, "dropped_by_device": 50}
    seen |= {"window_frames": 690, "seconds": 0.5}
    sent = {"seconds": 1.0}
    trial = device_rates.receiving(seen, sent, 1000)
    assert (trial.pps, trial.offered_pps, trial.unaccounted) == (1380, 1000, 50)
    assert trial.loss == pytest.approx(0.3)
    nothing = seen | {"frames": 0, "window_frames": 0, "seconds": 0.0}
    assert device_rates.receiving(nothing, sent, 1000).pps == 0
    with pytest.raises(BenchError, match="700 frames came up"):
        device_rates.receiving(seen, sent, 699)


def test_a_device_that_keeps_up_with_the_source_is_not_searched() -> None:
    seen = {"frames": 1000, "dropped_by_kernel": 0, "dropped_by_device": 0}
    seen |= {"window_frames": 1000, "seconds": 2.0}
    saturated = device_rates.receiving(seen, {"seconds": 2.0}, 1000)
    bench = device_rates.Bench.__new__(device_rates.Bench)
    plan = make_plan("device", True, None)
    assert device_rates._loss_free(bench, plan, RING, saturated) == 500


def test_one_that_does_not_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def receive(
        _self: object, _device: Device, _layer: str, _size: int, _seconds: float, rate: float
    ) -> device_rates.Receiving:
        lost = 0.0 if rate <= 100e3 else 0.5
        return device_rates.Receiving(rate * (1 - lost), rate, lost, 0, 0, 0, {})

    monkeypatch.setattr(device_rates.Bench, "receive", receive)
    bench = device_rates.Bench.__new__(device_rates.Bench)
    collapsed = device_rates.Receiving(15e3, 600e3, 0.97, 0, 0, 0, {})
    rate = device_rates._loss_free(bench, make_plan("device", True, None), RING, collapsed)
    assert 85e3 < rate <= 100e3


def test_rounds_in_which_the_baseline_lost_at_every_rate_do_not_count() -> None:
    result = Result("device", {})
    device_rates._add_loss_free_ratio(result, [500.0, 600.0], [0.0, 100.0])
    assert result.ratios["rx_pps_vs_fdnetdevice"].rounds == (6,)
    assert "1 of 2 rounds" in result.notes[0]
    device_rates._add_loss_free_ratio(never := Result("device", {}), [500.0], [0.0])
    assert not never.ratios
    assert never.notes


def test_a_saturated_sender_without_its_processor_is_noted() -> None:
    result = Result("device", {})
    bench = device_rates.Bench.__new__(device_rates.Bench)
    bench.shares = [0.99, 0.98]
    device_rates.say_whether_busy(bench, result)
    assert not result.notes
    bench.shares += [0.5, 0.4, 0.3]
    device_rates.say_whether_busy(bench, result)
    assert "50%" in result.notes[0]


def test_attributes_are_one_word() -> None:
    assert TRADITIONAL.command() == ["--device=fd"]
    words = ["--device=ring", "--set=Port=AfPacket,QdiscBypass=false"]
    assert RING.command("QdiscBypass=false") == words


def test_the_best_is_that_of_the_highest_median() -> None:
    rates = {"af_packet": [1.0, 9.0, 2.0], "fdnetdevice": [3.0, 4.0, 1.0]}
    assert best(rates, [RING, TRADITIONAL]) is TRADITIONAL


def test_quotas_of_both_versions_of_cgroup(tmp_path: Path) -> None:
    with (
        pytest.raises(BenchError, match="no CPU controller"),
        quota.quota(0.5, tmp_path),
    ):
        pass
    (tmp_path / "cgroup.subtree_control").write_text("memory cpu\n")
    with quota.quota(0.25, tmp_path) as group:
        assert (group.folder / "cpu.max").read_text() == "1250 5000"
        assert group.command(["x", "y"])[-2:] == ["x", "y"]
    first = tmp_path / "cpu,cpuacct"
    first.mkdir()
    (first / "cgroup.procs").touch()
    with quota.quota(0.5, tmp_path) as group:
        assert group.folder.parent == first
        assert (group.folder / "cpu.cfs_quota_us").read_text() == "2500"


def test_groups_of_killed_runs_are_removed(tmp_path: Path) -> None:
    parent = tmp_path / "cpu"
    parent.mkdir()
    (parent / "cgroup.procs").touch()
    dead, alive = parent / "viaduct-bench-999999999", parent / f"viaduct-bench-{os.getpid()}"
    dead.mkdir()
    alive.mkdir()
    quota.remove_leftovers(tmp_path)
    assert not dead.exists()
    assert alive.exists()


SOURCE = {
    "sent_packets": 10,
    "sent_bytes": 14720,
    "disc_bytes": 900.0,
    "below_bytes": 100.0,
    "visible": 0.9,
    "device_drops": 0,
}
SINK = {"received_packets": 8, "received_bytes": 11776, "window_bytes": 8000, "seconds": 0.5}


def test_throughput_is_of_the_window_and_losses_of_all() -> None:
    trial = device_nodes.outcome(SOURCE, SINK, 12)
    assert trial.mbit == pytest.approx(0.128)
    assert trial.row(udp=True)["loss_percent"] == 20
    assert trial.row(udp=False)["loss_percent"] is None
    assert trial.row(udp=True)["rtt_ms"] is None
    with pytest.raises(BenchError, match="cannot have come in 7 frames"):
        device_nodes.outcome(SOURCE, SINK, 7)
    with pytest.raises(BenchError, match="more bytes"):
        device_nodes.outcome(SOURCE | {"sent_bytes": 1}, SINK, 12)


def write_trace(folder: Path, below: str) -> Path:
    file = folder / "trace.csv"
    lines = (f"{i / 1000},{i * 10},{below}" for i in range(1, 101))
    file.write_text("seconds,disc_bytes,below_bytes\n" + "\n".join(lines) + "\n")
    return file


def test_traces_are_thinned(tmp_path: Path) -> None:
    row = device_nodes.samples(write_trace(tmp_path, "5"), step=0.02)
    assert row["trace_seconds"] == "0.001 0.021 0.041 0.061 0.081"
    assert row["trace_below_bytes"] == "5 5 5 5 5"


def test_a_ping_without_answers_has_no_quantiles() -> None:
    text = "\n".join(f"64 bytes from x: icmp_seq={i} time={i}.5 ms" for i in range(10))
    times = device_aqm.ping_times(text, 10)
    assert device_aqm.percentile(times, 0.95) == 8.5
    with pytest.raises(BenchError, match="10 of 12"):
        device_aqm.ping_times(text, 12)


def test_the_page_shows_all_parts(tmp_path: Path) -> None:
    result = Result("device", {})
    sent = device_rates.sending({"sent": 9, "refused": 0, "seconds": 1.0, "cpu_seconds": 1.0}, 9)
    seen = {"frames": 9, "dropped_by_kernel": 0, "dropped_by_device": 0}
    seen |= {"window_frames": 9, "seconds": 1.0}
    got = device_rates.receiving(seen, {"seconds": 1.0}, 9)
    for device, below in ((TRADITIONAL, ""), (RING, "7")):
        for layer in ("port", "device"):
            row = device_rates._sending_row([sent], layer=layer, size=64)
            result.add("send", device, **row)
            row = device_rates._receiving_row([got], layer=layer, size=64)
            result.add("receive", device, **row)
        result.add("receive sweep", device, **device_rates._receiving_row([got], size=64))
        trial = device_nodes.outcome(SOURCE, SINK, 12).row(udp=True)
        labels = {"traffic": "udp", "control": "no flow control"}
        result.add("nodes", device, **labels, **trial)
        trace = device_nodes.samples(write_trace(tmp_path, below))
        result.add("backlog", device, **labels, **trial, **trace)
    result.published += read_csv("socis2017-device.csv", table="report")
    page = report.write(result, tmp_path / "page").read_text()
    for title in ("Frames sent", "Backlog and bytes in flight", "fd-netmap-emu-onoff"):
        assert title in page
    assert "trace seconds" not in page
