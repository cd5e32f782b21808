"""The benchmark `fidelity`: its analysis, and its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import fidelity, report
from harness.analysis import Ratio
from harness.results import Result


def _tables(*hops: str) -> fidelity.Tables:
    samples = [{"at": second, "next": {"n0": {"n1": hop}}} for second, hop in enumerate(hops)]
    return fidelity.tables_of({"route_samples": samples})


def test_seconds_after_a_cut_are_counted_apart() -> None:
    ours = _tables("n1", "n1", "n2", "n2", "n2", "n2", "n2", "n2")
    theirs = _tables("n1", "n1", "n1", "n1", "n2", "n2", "n2", "n3")
    assert fidelity.agreement(ours, theirs, [2]) == {
        "settled": 4,
        "settled_same": 3,
        "changing": 4,
        "changing_same": 2,
    }


def test_only_seconds_that_both_have_are_compared() -> None:
    assert fidelity.agreement(_tables("n1"), _tables("n1", "n1"), [])["settled"] == 1
    assert fidelity.agreement({}, _tables("n1"), [])["settled"] == 0


def test_the_distance_of_distributions() -> None:
    assert fidelity.ks_distance([1, 2, 3], [3, 2, 1]) == 0
    assert fidelity.ks_distance([1, 2], [3, 4]) == 1
    assert fidelity.ks_distance([1, 1, 1, 2], [1, 2, 2, 2]) == pytest.approx(0.5)
    assert fidelity.ks_distance([], [1]) == 1


def test_without_samples_nothing_agrees() -> None:
    assert fidelity.tables_of({}) == {}


def _results(kind: str, rtt: float, hop: str) -> dict[str, object]:
    flow = {"name": "f", "kind": kind, "sent": 100, "received": 98, "rate_bit_per_s": 1e6 * rtt}
    flow["samples"] = [[0, 99.0], *([i / 10, rtt] for i in range(1, 9))]
    return {
        "flows": [flow],
        "convergence": {"seconds": 1, "reachable": 2, "pairs": 2},
        "route_samples": [{"at": i, "next": {"n0": {"n1": hop}}} for i in range(18)],
        "status": 0,
    }


def test_modes_that_differ_miss_their_bars(tmp_path: Path) -> None:
    modes = fidelity._MODES
    runs = fidelity._Runs.__new__(fidelity._Runs)
    runs.data = {}
    for experiment in fidelity.EXPERIMENTS:
        kind = experiment.flows[0].split(",")[0].removeprefix("{type: ")
        for mode in modes:
            is_off = mode.name == "simulate"
            data = _results(kind, 10.3 if is_off else 10.0, "n2" if is_off else "n1")
            runs.data[experiment.name, mode.name] = [data]
    result = Result("fidelity", {"ns3": {}})
    fidelity.evaluate(runs, modes, result)
    assert result.ratios["routes_same_ring_simulate"].value == 0
    assert not result.ratios["routes_same_ring_simulate"].holds()
    assert result.ratios["routes_same_ring_kernels"].holds()
    assert result.ratios["rtt_median_delay_simulate"].value == pytest.approx(1.5)
    assert not result.ratios["rtt_median_delay_simulate"].holds()
    assert result.ratios["rtt_median_delay_emulate"].holds()
    assert isinstance(result.ratios["goodput_kernels_vs_offload"], Ratio)
    assert result.ratios["goodput_kernels_vs_offload"].holds()
    assert "All figures" in report.write(result, tmp_path).read_text()
