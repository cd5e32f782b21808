"""`viaduct hub`: what it says of what its end has cut off, and of what nothing can carry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_hub
import test_hub_traffic
from labs import Done, inside, viaduct, wait_until
from test_hub import Hosts, client_of, hub
from test_hub_traffic import CLIENT, GATEWAY, LINE, MODES, answers

hosts = test_hub.hosts
folder = test_hub_traffic.folder


def serve(file: Path, duration: str, *options: str) -> tuple[Done, dict[str, Any]]:
    """Runs a hub without clients, and returns what it has written."""
    written = file.with_suffix(".json")
    key = file.with_suffix(".key")
    done = viaduct(
        *("hub", file, "--port", "0", "--key", key, "--duration", duration, "--json", written),
        *options,
    )
    return done, json.loads(written.read_text())


def test_it_ends_while_flows_are_waited_for(scenario: Callable[[str], Path], folder: Path) -> None:
    """A lab's: the time until which each flow is waited for comes while the lab is taken down."""
    flows = "".join(
        f"  - {{type: udp, from: r0, to: r2, rate: 10kbit, start: {i * 20}ms, duration: 100ms}}\n"
        for i in range(60)
    )
    file = scenario(LINE.format(mode="offload") + "flows:\n" + flows)
    done, results = serve(file, "5.6s")
    assert done.status == 0, done.errors
    assert all(flow["received"] == flow["sent"] for flow in results["traffic"]["flows"])


@pytest.mark.parametrize("mode", MODES)
def test_events_that_it_does_not_live_to_see_have_failed(
    scenario: Callable[[str], Path], folder: Path, mode: str
) -> None:
    events = (
        "events:\n"
        "  - {at: 100ms, link: r1-r2, state: down}\n"
        "  - {at: 300s, link: r1-r2, state: up}\n"
        "  - {at: 301s, link: r0-r1, set: loss=1%}\n"
    )
    done, results = serve(scenario(LINE.format(mode=mode) + events), "2s")
    assert done.status == 1
    assert [each["change"] for each in results["traffic"]["events"]] == ["down"]
    [failure] = results["failures"]
    assert failure.startswith("2 of 3 events had not occurred when the hub ended; the first is ")
    assert "events[1]: link r1-r2 up at" in failure


def test_a_flow_that_has_not_begun_has_no_result(
    scenario: Callable[[str], Path], folder: Path
) -> None:
    flows = (
        "flows:\n"
        "  - {type: ping, from: r0, to: r2, start: 300s}\n"
        "  - {type: udp, from: r0, to: r2, rate: 10kbit, start: 300s}\n"
        "  - {type: tcp, from: r0, to: r2, start: 300s}\n"
    )
    file = scenario(LINE.format(mode="simulate") + flows)
    for _ in range(5):  # the command does not always see how the simulator ends
        done, results = serve(file, "500ms")
        assert "crashed" not in done.errors
    assert done.status == 1
    errors = {flow["error"] for flow in results["traffic"]["flows"]}
    assert errors == {"the flow had not begun when the run was interrupted"}


def test_where_the_radio_loses_packets_is_said(
    scenario: Callable[[str], Path], folder: Path
) -> None:
    text = (
        "mode: simulate\nduration: 60s\n"
        "nodes:\n"
        "  ap: {position: [0, 0]}\n"
        "  phone: {remote: any, position: [20, 0], gateway: ap}\n"
        "  car: {waypoints: [0s 10 0, 500ms 10 0, 600ms 500 0]}\n"
        "links: [{wifi: {nodes: all, access_point: ap, range: 70}}]\n"
        "routing: {protocol: static}\n"
        "flows: [{type: ping, from: ap, to: car, interval: 50ms, duration: 2s}]\n"
    )
    done, results = serve(scenario(text), "8s")
    [flow] = results["traffic"]["flows"]
    lost = flow["sent"] - flow["received"]
    assert lost > 20
    assert sum(flow["lost_at"].values()) == lost
    assert "lost at flow 'ping ap->car'" in done.output


@pytest.mark.parametrize("mode", ["emulate", "offload"])
def test_frames_for_a_link_that_is_down_are_lost_at_the_client(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path, mode: str
) -> None:
    events = "events: [{at: 4s, link: a-r0, state: down}]\n"
    a = hosts.client("a", 1, [CLIENT], [GATEWAY])
    written = folder / "hub.json"
    file = scenario(LINE.format(mode=mode) + events)
    with hub(hosts, file, "--json", str(written)) as process:
        wait_until(lambda: answers(a, GATEWAY), "the gateway answers")
        wait_until(lambda: not answers(a, GATEWAY), "the link is down")
        pings = inside(a, "ping", "-c20", "-i0.01", "-W1", GATEWAY)
        assert ", 0 received" in pings.output
        test_hub.end(process)
    client = client_of(json.loads(written.read_text()), "a")
    assert client["drops"]["refused"] >= 20


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ("{type: tcp, from: r1, to: r2}", "links from r1 to r2 have neither a rate nor a delay"),
        ("{type: udp, from: r2, to: r0}", "no link of r2 has a rate"),
    ],
)
def test_what_nothing_limits_is_refused(
    scenario: Callable[[str], Path], folder: Path, flow: str, said: str
) -> None:
    refused = viaduct("hub", scenario(LINE.format(mode="simulate") + f"flows: [{flow}]\n"))
    assert refused.expect(2).errors.count("\n") == 1
    assert "flows[0]: the flow has no rate" in refused.errors
    assert said in refused.errors
