"""Events of a scenario in every mode: links down and up, changes of a SPEC, captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import execute, results, viaduct

STATIC = "routing: {protocol: static}\n"
IPV4 = ""
IPV6 = "addressing: {ipv4: none, ipv6: fd00::/48}\n"
MODES = ["simulate", "traditional", "emulate", "offload"]
REAL_MODES = MODES[1:]
Write = Callable[[str], Path]


def run(scenario: Path, folder: Path, mode: str) -> dict[str, Any]:
    """The results of a run that succeeds."""
    file = folder / "run.json"
    viaduct("run", scenario, "--mode", mode, "--json", file, cwd=folder).expect()
    return results(file)


def answered(flow: dict[str, Any], since: float, until: float = 1e9) -> list[float]:
    """The round trip times of pings that were sent in this part of the run."""
    return [value for when, value in flow["samples"] if since < when < until]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("addressing", [IPV4, IPV6], ids=["ipv4", "ipv6"])
def test_traffic_flows_again_after_an_outage(
    mode: str, addressing: str, scenario: Write, tmp_path: Path
) -> None:
    """Twice, and in the middle of the path: a socket may survive its first error only."""
    file = scenario(
        STATIC
        + addressing
        + """
nodes: 3
duration: 10s
links: [{line: all}]
flows:
  - {type: ping, from: n0, to: n2, interval: 50ms}
  - {type: ping, from: n1, to: n2, interval: 50ms}
events:
  - {at: 1s, link: n1-n2, state: down}
  - {at: 2s, link: n1-n2, state: up}
  - {at: 5s, link: n1-n2, state: down}
  - {at: 6s, link: n1-n2, state: up}
"""
    )
    done = run(file, tmp_path, mode)
    assert [event["change"] for event in done["events"]] == ["down", "up"] * 2
    for flow in done["flows"]:
        assert flow["loss"] > 0, "the link was really down"
        assert answered(flow, 2, 5), "after the first outage"
        assert answered(flow, 6), "after the second"


@pytest.mark.parametrize("plane", ["simulate", "kernel", "ebpf", "joined", "userspace"])
def test_a_link_that_comes_up_carries_at_once(plane: str, scenario: Write, tmp_path: Path) -> None:
    """Nobody has asked for a MAC address in vain, for which a kernel asks again after a second.

    Packets are sent each millisecond, through the outage, by both ends and on to another node.
    """
    settings = "" if plane == "simulate" else f"data_plane: {plane}\n"
    file = scenario(
        STATIC
        + settings
        + """
nodes: 3
duration: 8s
links: [{line: all}]
flows:
  - {type: udp, from: n0, to: n2, size: 100, rate: 800kbit}
  - {type: udp, from: n1, to: n0, size: 100, rate: 800kbit}
events:
  - {at: 1s, link: n0-n1, state: down}
  - {at: 2s, link: n0-n1, state: up}
  - {at: 3500ms, link: n0-n1, state: down}
  - {at: 4500ms, link: n0-n1, state: up}
"""
    )
    done = run(file, tmp_path, "simulate" if plane == "simulate" else "offload")
    at = [event["at"] for event in done["events"]]
    outage = at[1] - at[0] + at[3] - at[2]
    for flow in done["flows"]:
        lost = (flow["sent"] - flow["received"]) / 1000
        # On a busy machine the kernel tells carriers a second later (net/core/link_watch.c), and a
        # sender that was late sends what was due in the outage after it.
        assert outage - 0.5 < lost < outage + 2.5, (at, flow["lost_at"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("addressing", [IPV4, IPV6], ids=["ipv4", "ipv6"])
def test_a_flow_may_begin_while_its_link_is_down(
    mode: str, addressing: str, scenario: Write, tmp_path: Path
) -> None:
    """It has offered its packets from the start, has lost no more than those, and goes on."""
    file = scenario(
        STATIC
        + addressing
        + """
nodes: 2
duration: 10s
links: [{pair: [n0, n1], spec: delay=1ms}]
flows: [{type: udp, from: n0, to: n1, size: 100, rate: 8kbit, start: 2s, duration: 7s}]
events:
  - {at: 500ms, link: n0-n1, state: down}
  - {at: 4s, link: n0-n1, state: up}
"""
    )
    flow = run(file, tmp_path, mode)["flows"][0]
    # It offers less if the machine keeps it from sending.
    assert 60 <= flow["sent"] + flow.get("not_offered", 0) <= 71
    # ns-3 may keep what waits for address resolution until the link is up; a kernel refuses it.
    assert 0 < flow["received"] <= flow["sent"] - (mode == "offload")
    at_nodes = [count for place, count in flow.get("lost_at", {}).items() if place.startswith("n")]
    assert sum(at_nodes) <= flow["sent"] - flow["received"], "the end markers are none of it"


@pytest.mark.parametrize("family", [IPV4, IPV6], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("link", ["pair: [n0, n1]", "shared: [n0, n1, n2]"], ids=["pair", "shared"])
def test_what_is_in_flight_when_a_link_goes_down_is_refused_at_the_far_end(
    link: str, family: str, scenario: Write, tmp_path: Path
) -> None:
    file = scenario(
        STATIC
        + family
        + f"""
nodes: 3
duration: 6s
links: [{{{link}, name: x, spec: delay=500ms}}, {{pair: [n1, n2]}}]
flows:
  - {{type: ping, from: n0, to: n1, duration: 1s}}
  - {{type: udp, from: n0, to: n1, size: 100, rate: 320kbit, start: 4s, duration: 250ms}}
events: [{{at: 4400ms, link: x, state: down}}]
"""
    )
    done = run(file, tmp_path, "simulate")
    flow = done["flows"][1]
    assert flow["sent"] > 90
    assert flow["received"] == 0
    assert flow["lost_at"] == {"n1: link_down": flow["sent"]}
    refused = sum(each["fates"]["refused"] for each in done["engine"]["pipelines"])
    assert refused >= flow["sent"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "link", ["{pair: [n0, n1], name: x}", "{shared: [n0, n1, n2], name: x}"], ids=["pair", "shared"]
)
def test_a_plain_link_gets_a_spec_and_loses_it(
    mode: str, link: str, scenario: Write, tmp_path: Path
) -> None:
    file = scenario(
        STATIC
        + f"""
nodes: 3
duration: 9s
links: [{link}, {{pair: [n1, n2]}}]
flows: [{{type: ping, from: n0, to: n1, interval: 50ms}}]
events:
  - {{at: 6s, link: x, set: delay=none rate=none}}
  - {{at: 3s, link: x, set: delay=400ms}}
"""
    )
    done = run(file, tmp_path, mode)
    assert [event["change"] for event in done["events"]] == ["delay=400ms", "delay=none rate=none"]
    flow = done["flows"][0]
    assert min(answered(flow, 0, 2)) < 400
    late = answered(flow, 3.5, 5)
    assert late, flow
    assert min(late) >= 800, "both directions"
    assert min(answered(flow, 6.5)) < 400


@pytest.mark.parametrize("mode", MODES)
def test_one_direction_changes_alone(mode: str, scenario: Write, tmp_path: Path) -> None:
    file = scenario(
        STATIC
        + """
nodes: 2
duration: 5s
links: [{pair: [n0, n1], spec: delay=100ms}]
flows:
  - {type: udp, from: n0, to: n1, rate: 200kbit}
  - {type: udp, from: n1, to: n0, rate: 200kbit}
events: [{at: 2s, link: n0-n1, up: loss=100%}]
"""
    )
    up, down = run(file, tmp_path, mode)["flows"]
    assert up["received"] > 0
    assert up["loss"] > 0.5, "3 of 5 s"
    assert down["loss"] < 0.5


@pytest.mark.parametrize("mode", MODES)
def test_directions_are_those_of_the_link(mode: str, scenario: Write, tmp_path: Path) -> None:
    """What the pair's first node sends goes up, wherever it stands in the list of nodes."""
    file = scenario(
        STATIC
        + """
nodes: [second, first]
duration: 3s
links: [{pair: [first, second], spec: delay=5ms}]
flows:
  - {type: udp, from: first, to: second, rate: 100kbit, start: 1s}
  - {type: udp, from: second, to: first, rate: 100kbit, start: 1s}
events: [{at: 100ms, link: first-second, up: delay=200ms, down: delay=100ms}]
"""
    )
    up, down = run(file, tmp_path, mode)["flows"]
    assert up["delay_ms"]["min"] > 199
    assert 99 < down["delay_ms"]["min"] < 199


def lengths(file: Path) -> set[int]:
    """Of the echo requests in a capture, without IP's and ICMP's headers."""
    command = ["tshark", "-r", str(file), "-Y", "icmp.type == 8", "-T", "fields", "-e", "ip.len"]
    return {int(line) - 28 for line in execute(command).expect().output.split()}


@pytest.mark.parametrize("mode", MODES)
def test_captures_start_and_stop(mode: str, scenario: Write, tmp_path: Path) -> None:
    """Two captures of one link are in one file; a link that is not captured has none."""
    file = scenario(
        STATIC
        + """
nodes: 3
duration: 6s
links: [{line: all, spec: delay=1ms}]
flows:
  - {type: ping, from: n0, to: n2, size: 100, interval: 100ms, duration: 1s}
  - {type: ping, from: n0, to: n2, size: 200, interval: 100ms, start: 2500ms, duration: 1s}
  - {type: ping, from: n0, to: n2, size: 300, interval: 100ms, start: 5s}
captures: [n0-n1]
events:
  - {at: 2s, link: n0-n1, capture: stop}
  - {at: 4500ms, link: n0-n1, capture: start}
  - {at: 4500ms, link: n1-n2, capture: start}
"""
    )
    done = run(file, tmp_path, mode)
    first, second = done["captures"]
    assert [first["link"], second["link"]] == ["n0-n1", "n1-n2"]
    assert lengths(tmp_path / first["file"]) == {100, 300}
    assert lengths(tmp_path / second["file"]) == {300}


@pytest.mark.parametrize("mode", REAL_MODES)
def test_what_the_kernel_emulates_cannot_change(mode: str, scenario: Write) -> None:
    file = scenario(
        STATIC
        + "nodes: 2\nlinks: [{line: all, emulator: kernel, spec: delay=1ms}]\n"
        + "events: [{at: 1s, link: n0-n1, set: delay=2ms}]\n"
    )
    line = viaduct("run", file, "--mode", mode).error_line(2)
    assert "events[0].link" in line
    assert "emulator: engine" in line


def test_a_missing_file_is_named_before_anything_starts(scenario: Write, tmp_path: Path) -> None:
    file = scenario(
        STATIC
        + "nodes: 2\nlinks: [{line: all}]\nduration: 1h\n"
        + f"events: [{{at: 50min, link: n0-n1, set: 'rate=trace:{tmp_path}/none.trace'}}]\n"
    )
    assert "none.trace" in viaduct("run", file).error_line(2)


@pytest.mark.parametrize("mode", MODES)
def test_no_event_vanishes(mode: str, scenario: Write, tmp_path: Path) -> None:
    """More of them than can be applied to real links in their time: each is applied or missed."""
    times = [f"{100 + number // 20}ms" for number in range(4000)]
    changes = "\n".join(
        f"  - {{at: {time}, link: n0-n1, state: {'up' if number % 2 else 'down'}}}"
        for number, time in enumerate(times)
    )
    text = f"{STATIC}nodes: 2\nduration: 310ms\nlinks: [{{line: all}}]\nevents:\n{changes}\n"
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(text), "--mode", mode, "--json", file, cwd=tmp_path)
    run_results = results(file)
    applied = len(run_results["events"])
    if mode == "simulate":
        done.expect()
        assert applied == 4000
        return
    assert (done.status, run_results["status"]) == (1, 1)
    assert 0 < applied < 4000, "else this tests nothing"
    (failure,) = run_results["failures"]
    assert failure.startswith(f"{4000 - applied} of 4000 events were due but not applied")
    assert f"events[{applied}]: link n0-n1 {'up' if applied % 2 else 'down'} at" in failure
    assert failure in done.output + done.errors
    timing = run_results["event_timing"]
    assert timing["events"] == applied
    lateness = [event["late_ms"] for event in run_results["events"]]
    assert min(lateness) > 0
    assert timing["max_ns"] == pytest.approx(max(lateness) * 1e6)


def test_late_events_void_a_run(scenario: Write, tmp_path: Path) -> None:
    text = (
        f"{STATIC}nodes: 2\nduration: 1s\nlinks: [{{line: all}}]\ntiming: {{lateness_limit: 1ns}}\n"
    )
    file = tmp_path / "run.json"
    events = "events: [{at: 100ms, link: n0-n1, state: down}]\n"
    viaduct("run", scenario(text + events), "--mode", "offload", "--json", file).expect(4)
    run_results = results(file)
    assert "changes of links" in run_results["judged"]
    assert run_results["event_timing"]["limit_ns"] == 1
