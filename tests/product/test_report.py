"""The report of a run in a browser, and viaduct plot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import browser
from labs import FAST_OLSR, viaduct

SCENARIO = (
    """
nodes: 4
links: [{ring: all, spec: "delay=2ms"}]
duration: 9s
flows:
  - {type: ping, from: n0, to: n1, interval: 50ms, start: 1s, duration: 7s}
  - {type: udp, from: n0, to: n1, rate: 1Mbit, duration: 8s}
  - {type: tcp, from: n2, to: n0, duration: 8s, rate: 2Mbit}
events: [{link: n0-n1, at: 3s, state: down}]
"""
    + FAST_OLSR
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a simulated run in which a link fails."""
    folder = tmp_path_factory.mktemp("report")
    file = folder / "cut.yaml"
    file.write_text("name: cut\n" + SCENARIO)
    viaduct("run", file, "--mode", "simulate", "--report", folder / "out").expect()
    return folder / "out"


def test_the_page_draws_the_outage(report: Path) -> None:
    """Offline, as one file: gaps where nothing arrived, marks, one zoom, alt texts."""
    with browser() as page:
        page.open(f"file://{report}/index.html")
        page.wait("return document.querySelectorAll('.chart .uplot').length === 3", "no charts")
        assert not page.errors()
        assert page.ask("return performance.getEntriesByType('resource').length") == 0
        assert page.ask("return document.querySelectorAll('#topology circle').length") == 4
        assert page.ask("return document.querySelectorAll('#topology .link').length") == 4
        ping = page.ask(
            """const x = charts[0].data[0], y = charts[0].data[1];
            return x.map((time, i) => [time, y[i]]).filter(([time]) => time > 3)"""
        )
        assert ping[0][1] is None, "the outage is drawn as a line"
        assert any(value is not None for _, value in ping[1:])
        label = page.ask("return document.querySelector('.chart').getAttribute('aria-label')")
        assert "round trip over run time" in label
        assert "packets lost in 1 gaps" in label
        page.ask("charts[1].setScale('x', {min: 2, max: 4})")
        page.wait("return charts.every((c) => c.scales.x.min === 2)", "charts do not zoom together")
        page.ask("document.querySelector('.tools button:nth-of-type(3)').click()")
        page.wait("return charts.every((c) => c.scales.x.max > 8)", "the zoom is not undone")
        assert "Events and recovery" in page.text("body")


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_phones_in_the_light_and_in_the_dark(report: Path, dark: bool) -> None:
    with browser(*(["--force-dark-mode"] if dark else [])) as page:
        page.resize(390, 844)
        page.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]},
        )
        page.open(f"file://{report}/index.html")
        page.wait("return charts.length === 3", "no three charts")
        assert page.ask("return document.documentElement.scrollWidth") <= 390
        assert page.ask("return charts[0].width") <= 390
        paper = page.ask("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") != dark


PICTURE = """
nodes: [home, office, a-long-name]
links:
  - {pair: [home, office], spec: "rate=1Mbit queue=10p"}
  - {pair: [office, a-long-name], up: "delay=2ms", down: "delay=3ms"}
routing: {protocol: static}
duration: 9s
flows:
  - {type: udp, from: home, to: office, size: 500, rate: 4Mbit, duration: 7s}
  - {type: udp, from: office, to: a-long-name, size: 500, rate: 100kbit, duration: 6s}
events: [{link: office-a-long-name, at: 5s, state: down}]
"""


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a flow that offers more than its link carries, and of one that a gap ends."""
    folder = tmp_path_factory.mktemp("picture")
    file = folder / "home.yaml"
    file.write_text("name: home\n" + PICTURE)
    viaduct("run", file, "--mode", "simulate", "--report", folder / "out").expect()
    return folder / "out"


SPECS = "const {runs} = JSON.parse(document.getElementById('data').textContent); "


def test_losses_end_with_their_flow_and_many_are_rates(picture: Path) -> None:
    much, little = json.loads((picture / "results.json").read_text())["flows"]
    assert (much["end"], little["end"]) == (7, 6)
    assert "to" not in little["gaps"][-1]
    with browser() as page:
        page.open(f"file://{picture}/index.html")
        page.wait("return charts.length === 2", "no two charts")
        assert not page.errors()
        drawn = page.ask(SPECS + "return flowChart(runs, 0).series[0]")
        assert drawn["lost"] == []
        times, rates = zip(*drawn["rates"], strict=True)
        assert (times[0], times[-1]) == (0, 7)
        packets = sum(rates[1:]) * 7 / (len(rates) - 1)
        assert packets == pytest.approx(much["sent"] - much["received"], rel=0.02)
        assert page.ask("return charts[0].axes.length") == 3
        spans = page.ask(SPECS + "return flowChart(runs, 1).series[0].lost")
        assert 4.9 < spans[-1][0] < 5.2
        assert 5.8 < spans[-1][1] <= 6
        assert page.ask("return charts[1].axes.length") == 2


def test_rates_count_gaps_that_are_not_listed(picture: Path) -> None:
    """Of a flow of which only some gaps are listed, and the same in a figure."""
    flow = json.loads((picture / "results.json").read_text())["flows"][0]
    few = {**flow, "gaps": flow["gaps"][::4], "gaps_omitted": 1}
    with browser() as page:
        page.open(f"file://{picture}/index.html")
        page.wait("return charts.length === 2", "no two charts")
        rates = page.ask("return lossRates(arguments[0], [], 0, 7)", few)
    packets = sum(rate for _, rate in rates[1:]) * 7 / (len(rates) - 1)
    assert packets == pytest.approx(flow["sent"] - flow["received"], rel=0.05)


def test_the_picture_says_what_its_links_are(picture: Path) -> None:
    """The SPEC, the changes and the losses of each; and all names in one way."""
    with browser() as page:
        page.open(f"file://{picture}/index.html")
        page.wait("return charts.length === 2", "no two charts")
        notes = page.ask(
            "return [...document.querySelectorAll('.note-of-link')].map((e) => e.textContent)"
        )
        assert "rate=1Mbit queue=10p" in notes
        assert any(note.endswith(" lost") for note in notes)
        assert "down 5 s" in " ".join(notes)
        places = page.ask(
            """return [...document.querySelectorAll('.topology .node')].map((node) => {
            const circle = node.querySelector('circle'), text = node.querySelector('text');
            return text.getAttribute('y') - circle.getAttribute('cy'); })"""
        )
        assert len({round(place, 3) for place in places}) == 1, "names here and there"
        assert places[0] > 0, "'a-long-name' is in a circle"
        table = page.text("#topology + .wide")
        assert "queue_full" in table
        assert "delay=2ms | delay=3ms" in table


def test_gaps_and_recovery_are_in_the_results(report: Path) -> None:
    data = json.loads((report / "results.json").read_text())
    ping, udp, tcp = data["flows"]
    for flow in (ping, udp):
        lost = sum(gap["lost"] for gap in flow["gaps"])
        assert lost == flow["sent"] - flow["received"] > 0
    assert "gaps" not in tcp
    assert [flow["start"] for flow in data["flows"]] == [1, 0, 0]
    (event,) = data["reconvergence"]
    assert (event["link"], event["change"], event["at"]) == ("n0-n1", "down", 3)
    recovery = {each["flow"]: each for each in event["flows"]}
    for flow in (ping, udp):
        (gap,) = flow["gaps"]
        assert recovery[flow["name"]]["steady"] == pytest.approx(flow["start"] + gap["to"] - 3)
        assert recovery[flow["name"]]["last_lost"] < recovery[flow["name"]]["steady"]
    lines = (report / "gaps.csv").read_text().splitlines()
    assert len(lines) == 3


def test_tables_and_pings_recover_together(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """In mode offload the tables' times and the flows' are of two clocks that are one."""
    file = scenario(SCENARIO.replace("spec: ", "spec: "))
    out = tmp_path / "out"
    viaduct("run", file, "--mode", "offload", "--report", out, "--quiet").expect()
    data = json.loads((out / "results.json").read_text())
    (event,) = data["reconvergence"]
    ping = next(each for each in event["flows"] if each["flow"].startswith("ping"))
    # No packet arrives before its route is there.
    changes = [c["at"] - event["at"] for c in data["route_changes"] if c["at"] > event["at"]]
    assert ping["steady"] > min(changes) - 0.05
    assert event["routes"] == pytest.approx(max(changes))
    tables = [c for c in data["route_changes"] if c["node"] == "n0" and c["at"] < 0]
    assert sum(len(c.get("added", [])) for c in tables) >= 3
    with browser() as page:
        page.open(f"file://{out}/index.html")
        page.wait("return document.querySelectorAll('#routes td').length >= 3", "no route table")
        assert not page.errors()


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_plot_writes_a_figure(report: Path, tmp_path: Path, kind: str) -> None:
    figure = tmp_path / f"rtt.{kind}"
    viaduct("plot", report / "results.json", "--flow", "ping*", "--figure", figure).expect()
    head = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[kind]
    assert figure.read_bytes().startswith(head)
    assert [each.name for each in tmp_path.iterdir()] == [figure.name]


def test_plot_leaves_the_line_out_where_packets_are_missing(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "python"))
    from viaduct import _plot

    ping = json.loads((report / "results.json").read_text())["flows"][0]
    times, values = _plot.points_of(ping)
    missing = [time for time, value in zip(times, values, strict=True) if value != value]
    assert len(missing) == 1
    assert 3 < missing[0] < 9


def test_plots_errors_are_one_line(report: Path, tmp_path: Path) -> None:
    results = report / "results.json"
    for words, said in (
        ([results, "--figure", tmp_path / "a.gif"], ".pdf"),
        ([results, "--figure", tmp_path / "a.pdf", "--flow", "x*"], "ping n0->n1"),
        ([results, "--figure", tmp_path / "a.pdf", "--size", "big"], "6x2.2"),
        ([tmp_path / "none.json", "--figure", tmp_path / "a.pdf"], "none.json"),
    ):
        assert said in viaduct("plot", *words).error_line(2)
    bad = tmp_path / "bad.json"
    for text in ("[]", "{}", '{"flows": [3]}', "no"):
        bad.write_text(text)
        assert "bad.json" in viaduct("plot", bad, "--figure", tmp_path / "a.pdf").error_line(2)
    assert not list(tmp_path.glob("*.pdf"))
    gone = viaduct("plot", results, "--figure", tmp_path / "no/where.pdf")
    assert gone.status == 1
    assert "where.pdf" in gone.error_line(1)


def test_plot_ends_losses_with_their_flow_and_draws_many_as_rates(
    picture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "python"))
    from viaduct import _plot

    much, little = json.loads((picture / "results.json").read_text())["flows"]
    assert _plot.losses_of(little, little["end"])[-1][1] <= 6
    for flow in (much, {**much, "gaps": much["gaps"][::4], "gaps_omitted": 1}):
        times, rates = _plot.loss_rates_of(flow, much["end"])
        assert (times[0], times[-1]) == (0, 7)
        packets = sum(rates[1:]) * 7 / (len(rates) - 1)
        assert packets == pytest.approx(much["sent"] - much["received"], rel=0.05)
    figure = tmp_path / "losses.svg"
    viaduct("plot", picture / "results.json", "--figure", figure).expect()


def test_plot_draws_the_first_interval_of_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "python"))
    from viaduct import _plot

    flow = {"kind": "tcp", "start": 2, "samples": [[1, 5e6], [2, 6e6]]}
    assert _plot.points_of(flow) == ([2, 3, 4], [5e6, 5e6, 6e6])
