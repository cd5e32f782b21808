"""The benchmarks of data planes: their analysis, and their page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from harness import aodv, daemon, olsr, report
from harness.analysis import Ratio
from harness.convergence import interruption
from harness.forwarder import Forwarder
from harness.process import BenchError
from harness.product import IN_SIMULATOR, KERNEL_ROUTES, on_plane, planes_in
from harness.results import Result, read_published
from harness.session import Namespace
from harness.traffic import UdpTrial


def test_the_middle_mean_has_no_outliers() -> None:
    assert aodv.middle_mean([1.0, 2.0, 3.0, 1000.0]) == 2.5
    assert aodv.middle_mean([7.0]) == 7.0


def test_every_pair_of_leaves_is_new_and_no_source_asks_too_often() -> None:
    pairs = aodv._pairs()
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == 17 * 16 / 2
    assert max(Counter(source for source, _ in pairs).values()) < 10  # RREQ_RATELIMIT of AODV


def test_planes_are_called_as_before_where_they_were_known() -> None:
    assert on_plane("kernel") is KERNEL_ROUTES
    assert on_plane("simulator") is IN_SIMULATOR
    assert on_plane("new").lines() == ["mode: offload", "data_plane: new"]


def test_packets_for_cpu_time_do_not_count_what_was_lost() -> None:
    trial = UdpTrial(1000, 500, 0.5, None, None, 100, 160, sender_ns=2000)
    assert trial.received_per_cpu_second == pytest.approx(250_000)


def test_a_page_without_published_figures_says_so(tmp_path: Path) -> None:
    result = Result("aodv", {})
    result.add("hand-over", KERNEL_ROUTES, handovers=3, lost=0)
    result.ratios["losses_at_handover"] = Ratio.of([0.0], 0, "exactly")
    page = report.write(result, tmp_path).read_text()
    assert "All figures are measured here" in page
    assert "thesis" not in page
    assert "<h2>Hand-over of a route</h2>" in page


def test_an_interruption_ends_after_the_longest_silence() -> None:
    # The packet sent at 2.02 s was under way when the link was cut.
    assert interruption([1.98, 2.0, 2.02, 3.5, 3.52, 3.6], cut=2.0) == pytest.approx(1.5)
    assert interruption([1.9, 2.3], cut=2.0) == pytest.approx(0.3)
    with pytest.raises(BenchError, match="after the cut"):
        interruption([1.0], cut=2.0)
    with pytest.raises(BenchError, match="before the cut"):
        interruption([3.0], cut=2.0)


def test_a_routing_program_is_named_with_its_version() -> None:
    assert daemon.version("BIRD version 2.0.12\n") == "BIRD 2.0.12"
    assert daemon.version("") == "BIRD"


def test_a_routing_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon.shutil, "which", lambda _: None)
    assert daemon.reason() == "bird (package bird2) is not installed"
    monkeypatch.setattr(daemon.shutil, "which", lambda name: f"/usr/sbin/{name}")
    assert not daemon.reason()


def test_the_thesis_third_system_is_beside_the_routing_program() -> None:
    assert olsr._labels(Forwarder("daemon", "", Namespace("a"), Namespace("b")))["table"] == "A.11"
    assert read_published(11, system="olsrd", size=160)


def test_the_data_planes_are_those_of_the_documents() -> None:
    page = Path(__file__).parent.parent / "docs" / "scenario.md"
    names = ["kernel", "ebpf", "joined", "userspace", "auto", "simulator"]
    assert planes_in(page.read_text()) == names
    with pytest.raises(BenchError, match="does not list"):
        planes_in("| `data_plane` | text |")
