from pathlib import Path
from random import Random

import pytest
from harness.analysis import (
    Ratio,
    confirm_loss_free,
    find_loss_free,
    mean_of_runs,
    ratio_of_means,
    ratio_of_rounds,
    spread,
)
from harness.lines import changed_lines, code_lines, protocol_sources
from harness.plan import make_plan
from harness.process import BenchError
from harness.results import measured, read_csv, read_published


def test_ratio_is_the_median_of_the_rounds_ratios() -> None:
    ratio = ratio_of_rounds([10, 40, 30], [1, 2, 1], bar=20)
    assert ratio.rounds == (10, 20, 30)
    assert (ratio.value, ratio.low, ratio.high) == (20, 10, 30)
    assert ratio.holds()
    assert not ratio_of_rounds([10, 39, 30], [1, 2, 1], bar=20).holds()


def test_ratio_needs_paired_rounds_and_a_living_baseline() -> None:
    with pytest.raises(ValueError, match="same rounds"):
        ratio_of_rounds([1, 2], [1], bar=1)
    with pytest.raises(BenchError, match="carried nothing"):
        ratio_of_rounds([1.0], [0.0], bar=1)


def test_an_exact_bar_is_neither_exceeded_nor_missed() -> None:
    assert Ratio(0, 0, 0, bar=0, kind="exactly").holds()
    assert not Ratio(0.1, 0.1, 0.1, bar=0, kind="exactly").holds()


def test_a_range_holds_between_its_ends() -> None:
    for value, holds in ((0.94, False), (0.95, True), (1.05, True), (1.06, False)):
        ratio = Ratio(value, value, value, bar=0.95, kind="within", bar_high=1.05)
        assert ratio.holds() == holds
    assert ratio.as_json()["bar"] == [0.95, 1.05]
    assert ratio.bar_text() == "0.95 to 1.05"
    assert Ratio(1, 1, 1, bar=2, kind="at most").as_json()["bar"] == 2


def test_mean_has_the_normal_interval_of_its_runs() -> None:
    mean = mean_of_runs([1.0, 3.0] * 50)
    assert mean.value == 2
    assert mean.high - mean.value == pytest.approx(1.96 * (100 / 99) ** 0.5 / 10, rel=1e-3)
    with pytest.raises(ValueError, match="two runs"):
        mean_of_runs([1.0])


def test_ratio_of_means_covers_the_true_ratio_as_often_as_it_says() -> None:
    random = Random(7)

    def runs(mean: float) -> list[float]:
        return [random.gauss(mean, 0.2 * mean) for _ in range(40)]

    covered = 0
    for _ in range(1000):
        ratio = ratio_of_means([runs(0.9), runs(0.9)], [runs(1.0), runs(1.0)], 0.95, 1.05)
        covered += ratio.low <= 0.9 <= ratio.high
    assert 930 <= covered <= 970


def test_ratio_of_means_is_of_all_runs_and_tells_each_round() -> None:
    ratio = ratio_of_means([[1, 1], [3, 3]], [[1, 1], [1, 1]], 0.95, 1.05)
    assert ratio.value == 2
    assert ratio.rounds == (1, 3)
    with pytest.raises(ValueError, match="same rounds"):
        ratio_of_means([[1, 1]], [], 0.95, 1.05)
    with pytest.raises(BenchError, match="nothing was carried"):
        ratio_of_means([[0, 0]], [[1, 1]], 0.95, 1.05)


def test_spread_leaves_out_what_was_not_measured() -> None:
    assert spread([3, None, 1, 2]) == (2, 1, 3)
    assert spread([None]) == (None, None, None)


def test_a_row_tells_the_median_and_the_ends_of_its_rounds() -> None:
    assert measured("pps", [3.4, 1.2, 2.6]) == {"pps": 3, "pps_low": 1, "pps_high": 3}
    assert measured("rtt_ms", [None], 3) == {
        "rtt_ms": None,
        "rtt_ms_low": None,
        "rtt_ms_high": None,
    }


def test_each_other_round_goes_backwards() -> None:
    plan = make_plan("path", True, 3)
    assert list(plan.turns("ab")) == [(1, ["a", "b"]), (2, ["b", "a"]), (3, ["a", "b"])]


@pytest.mark.parametrize("capacity", [900, 5_000, 31_234, 140_000])
def test_search_finds_the_capacity_from_any_start(capacity: float) -> None:
    def loss_at(rate: float) -> float:
        return max(0.0, 1 - capacity / rate)

    for start in (1_000, 20_000, 200_000):
        found = find_loss_free(loss_at, start, limit=1e6, precision=0.05, max_trials=60)
        assert capacity / 1.06 <= found.rate <= capacity * 1.002


def test_search_forgives_one_loss_at_a_rate() -> None:
    seen: set[float] = set()

    def loss_at(rate: float) -> float:
        first = rate not in seen
        seen.add(rate)
        return 0.5 if first or rate > 10_000 else 0.0

    assert find_loss_free(loss_at, 8_000, limit=1e6, max_trials=60).rate > 9_000


def test_search_stops_at_the_limit_and_at_its_budget() -> None:
    assert find_loss_free(lambda _rate: 0.0, 1_000, limit=50_000).rate == 50_000
    lost = find_loss_free(lambda _rate: 1.0, 1_000, limit=50_000, max_trials=7)
    assert lost.rate == 0
    assert len(lost.trials) == 7


def test_a_rate_that_only_queues_carried_is_not_confirmed() -> None:
    def sustained(rate: float) -> float:
        return max(0.0, 1 - 40_000 / rate)

    assert confirm_loss_free(sustained, 39_000) == 39_000
    assert confirm_loss_free(sustained, 60_000) == pytest.approx(60_000 * 0.9**4)
    assert confirm_loss_free(lambda rate: 1.0, 60_000) == 0
    assert confirm_loss_free(sustained, 0) == 0


def test_lines_are_counted_without_comments_and_blanks() -> None:
    assert code_lines("/* a\n b */\nint x; // y\n\n  // z\nint w;\n") == ["int x;", "int w;"]


def test_a_replaced_line_counts_once() -> None:
    before = "a;\nb;\nc;\n"
    assert changed_lines(before, "a;\n// why\nB;\nc;\n") == 1
    assert changed_lines(before, "a;\nb;\nb2;\nc;\n") == 1
    assert changed_lines(before, "a;\n") == 2
    assert changed_lines(before, before) == 0


def test_a_copy_of_the_protocol_is_noticed(tmp_path: Path) -> None:
    ours = tmp_path / "user.cc"
    ours.write_text(
        "namespace olsr\n{\nclass RoutingProtocol;\n}\n"
        "auto olsr = GetRouting<olsr::RoutingProtocol>(node);\n"
    )
    copy = tmp_path / "olsr-routing-protocol.cc"
    copy.write_text("namespace olsr\n{\nRoutingProtocol::RoutingProtocol()\n")
    header = tmp_path / "olsr-routing-protocol.h"
    header.write_text("class RoutingProtocol : public Ipv4RoutingProtocol\n")
    assert protocol_sources([ours, copy, header]) == [copy, header]


def test_published_tables_are_complete() -> None:
    for number in (1, 2, 3, 4, 5, 6, 9, 10, 11):
        rows = read_published(number)
        assert len(rows) == 8
        assert {"offered_mbit", "received_mbit", "loss_percent", "cpu_percent"} <= rows[0].keys()
    for number in (12, 13, 14, 15):
        rows = read_published(number)
        assert [row["nodes"] for row in rows] == [1, 2, 4, 8, 16, 24, 32]
    assert read_published(9)[-1]["received_mbit"] == 3.55


def test_published_ratios_of_cradle_are_there() -> None:
    goodput = {row["system"]: row for row in read_csv("cradle-goodput.csv")}
    assert goodput["ns-3 native TCP"]["ratio_low"] == 0.17
    assert goodput["DCE Cradle and NSC"]["ratio_high"] == 0.75
    wall = {row["system"]: row["times_ns3_native"] for row in read_csv("cradle-wall.csv")}
    assert wall["DCE Cradle"] == 2.2
