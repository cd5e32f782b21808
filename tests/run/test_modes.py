"""The main job: real programs on a line of nodes, in every real mode."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import FAST_OLSR, execute, results, viaduct

LINE = (
    FAST_OLSR
    + """
duration: 4s
nodes: 4
links: [{line: all}]
flows:
  - {type: udp, from: n0, to: n3, rate: 400kbit, duration: 2s}
  - {type: ping, from: n3, to: n0, duration: 2s}
  - {type: tcp, from: n0, to: n3, duration: 2s, start: 1s}
"""
)


@pytest.mark.parametrize("mode", ["traditional", "emulate", "offload"])
def test_flows(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(LINE), "--mode", mode, "--json", file).expect()
    run = results(file)
    assert run["scenario"]["mode"] == mode
    assert run["convergence"]["reachable"] == run["convergence"]["pairs"] == 12
    udp, ping, tcp = run["flows"]
    for flow in run["flows"]:
        assert not flow.get("error"), flow
    # Number and time depend on the machine; all of them get through.
    assert udp["sent"] > 50
    assert udp["loss"] < 0.5
    assert ping["received"] > 3
    assert ping["rtt_ms"]["min"] > 0
    assert tcp["rate_bit_per_s"] > 1e5
    assert "n0->n3" in done.output


@pytest.mark.alone
def test_offload_is_at_kernel_speed(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Not a benchmark: the simulator cannot pass a tenth of what is asked for here."""
    file = tmp_path / "run.json"
    text = LINE.replace("duration: 4s", "duration: 3s", 1)
    viaduct("run", scenario(text), "--mode", "offload", "--json", file).expect()
    run = results(file)
    assert run["flows"][2]["rate_bit_per_s"] > 3e8


def test_programs(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("a page from the other end\n")
    file = scenario(
        FAST_OLSR
        + f"""
duration: 20s
nodes: 3
links: [{{line: all}}]
programs:
  - node: n2
    command: [python3, -m, http.server, "8080", --directory, {tmp_path}]
    background: true
  - {{node: n0, command: "curl -s --retry 5 --retry-connrefused http://{{n2}}:8080/page.txt",
     start: 1s}}
  - {{node: n0, command: "ping -c 2 -i 0.2 {{n2}}"}}
  - {{node: n1, command: "sh -c 'exit 7'", expect: 7}}
"""
    )
    report = tmp_path / "run.json"
    viaduct("run", file, "--json", report).expect()
    programs = results(report)["programs"]
    assert [program["ok"] for program in programs[1:]] == [True, True, True]
    assert "a page from the other end" in programs[1]["output"]
    assert "2 received" in programs[2]["output"]


def test_a_failing_program_fails_the_run(scenario: Callable[[str], Path]) -> None:
    file = scenario(
        "routing: {protocol: static}\nduration: 2s\nnodes: 2\nlinks: [{line: all}]\n"
        "programs: [{node: n0, name: breaks, command: \"sh -c 'exit 3'\"}]\n"
    )
    done = viaduct("run", file).expect(1)
    assert "breaks" in done.output + done.errors


def test_a_hanging_program_is_stopped(scenario: Callable[[str], Path]) -> None:
    file = scenario(
        "routing: {protocol: static}\nduration: 10s\nnodes: 2\nlinks: [{line: all}]\n"
        "programs: [{node: n0, name: hangs, timeout: 1s,\n"
        "            command: \"sh -c 'trap : TERM INT; while :; do sleep 1000; done'\"}]\n"
    )
    done = viaduct("run", file).expect(1)
    assert "hangs" in done.output + done.errors


def test_a_missing_program_is_named(scenario: Callable[[str], Path]) -> None:
    file = scenario(
        "routing: {protocol: static}\nduration: 2s\nnodes: 2\nlinks: [{line: all}]\n"
        "programs: [{node: n0, command: no-such-program}]\n"
    )
    done = viaduct("run", file)
    assert done.status in (1, 3)
    assert "no-such-program" in done.output + done.errors


@pytest.mark.parametrize("mode", ["emulate", "offload"])
def test_captures_are_readable(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(
        FAST_OLSR
        + """
duration: 3s
nodes: 3
links: [{line: all}]
captures: [n0-n1]
flows: [{type: ping, from: n0, to: n2, duration: 2s}]
"""
    )
    report = tmp_path / "run.json"
    viaduct("run", file, "--mode", mode, "--json", report, cwd=tmp_path).expect()
    capture = results(report)["captures"][0]
    path = tmp_path / capture["file"]
    listing = execute(["tcpdump", "-nn", "-r", str(path)]).expect().output
    assert "ICMP echo request" in listing
    assert "ICMP echo reply" in listing
    fields = ["tshark", "-r", str(path), "-T", "fields", "-e", "frame.number", "-Y", "olsr"]
    assert execute(fields).expect().output.strip(), "OLSR's own packets are captured too"
    assert len(listing.strip().splitlines()) == capture["frames"]


def test_links_down_and_up(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """In a ring the other way is used; packets are lost only until the protocol reacts."""
    file = scenario(
        FAST_OLSR
        + """
duration: 15s
nodes: 4
links: [{ring: all}]
events:
  - {at: 1s, link: n0-n1, state: down}
  - {at: 9s, link: n0-n1, state: up}
flows: [{type: ping, from: n0, to: n1, interval: 50ms, duration: 15s}]
"""
    )
    report = tmp_path / "run.json"
    viaduct("run", file, "--json", report).expect()
    run = results(report)
    ping = run["flows"][0]
    assert [event["change"] for event in run["events"]] == ["down", "up"]
    assert ping["loss"] > 0, "the link was really down"
    around = [value for when, value in ping["samples"] if 1.1 < when < 9]
    assert around, "routes followed"
    late = [value for when, value in ping["samples"] if when > 9]
    assert late, "reached at the end"


def test_report_is_one_page(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(
        "routing: {protocol: static}\nduration: 2s\nnodes: 2\nlinks: [{line: all}]\n"
        "flows: [{type: ping, from: n0, to: n1}]\n"
    )
    folder = tmp_path / "report"
    viaduct("run", file, "--report", folder).expect()
    pages = list(folder.glob("*.html"))
    assert len(pages) == 1
    page = pages[0].read_text()
    assert "<svg" in page
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert list(folder.glob("*.json"))
    assert list(folder.glob("*.csv"))


def test_compare_prints_one_table(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(
        FAST_OLSR
        + """
duration: 2s
nodes: 3
links: [{line: all}]
flows: [{type: ping, from: n0, to: n2, duration: 1s}]
"""
    )
    report = tmp_path / "report"
    arguments = ("--compare", "emulate,offload", file, "--report", report)
    done = viaduct("run", *arguments).expect()
    heads = [line for line in done.output.splitlines() if "emulate" in line and "offload" in line]
    assert heads, done.output
    assert done.output.count("n0->n2") == 1
    picture = ElementTree.parse(report / "result.svg").getroot()
    texts = [text.text or "" for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "emulate" in texts
    assert "offload" in texts
    assert any(text.endswith(" ms") for text in texts), texts
