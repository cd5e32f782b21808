"""`viaduct hub`: what the scenario itself does in the network, beside its clients."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import kernels
import pytest
import test_hub
from labs import inside, viaduct, wait_until
from test_hub import Hosts, end, hub

hosts = test_hub.hosts

LINE = """
mode: {mode}
duration: 600s
nodes:
  a: {{remote: any, gateway: r0}}
  r0: {{}}
  r1: {{}}
  r2: {{}}
links:
  - {{pair: [a, r0]}}
  - {{pair: [r0, r1], spec: delay=5ms}}
  - {{pair: [r1, r2]}}
routing: {{protocol: static}}
"""
CLIENT, GATEWAY, FAR = "10.0.0.1/30", "10.0.0.2", "10.0.0.10"
MODES = ("simulate", "emulate", "offload")


def answers(namespace: str, address: str) -> bool:
    return inside(namespace, "ping", "-c1", "-W1", address).status == 0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where captures are written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mode", MODES)
def test_flows_run_beside_clients(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path, mode: str
) -> None:
    """Each is in the results, with what it has carried; and so is one that the end cuts short."""
    flows = (
        "flows:\n"
        "  - {type: ping, from: r0, to: r2, interval: 100ms, duration: 1s}\n"
        "  - {type: udp, from: r2, to: r0, rate: 100kbit, size: 100, start: 500ms, duration: 1s}\n"
        "  - {type: udp, from: r0, to: r1, rate: 10kbit, size: 100}\n"
        "  - {type: ping, from: r0, to: r1, start: 599s}\n"
        "captures: [r0-r1]\n"
    )
    file = scenario(LINE.format(mode=mode) + flows)
    a = hosts.client("a", 1, [CLIENT], [GATEWAY])
    written = folder / "hub.json"
    capture = folder / f"{file.stem}-captures" / "r0-r1.pcap"
    with hub(hosts, file, "--json", str(written)) as process:
        wait_until(lambda: answers(a, FAR), "the far end answers")
        # Two flows of both directions are over, when so many frames have been captured.
        wait_until(lambda: len(frames(capture)) > 300, "the flows have run")
        end(process, 1)  # the last flow had not begun
    traffic = json.loads(written.read_text())["traffic"]
    ping, udp, cut, late = traffic["flows"]
    assert (ping["sent"], ping["received"]) == (10, 10)
    # A sender that the machine keeps from sending offers less.
    assert udp["sent"] + udp.get("not_offered", 0) == pytest.approx(125, abs=1)
    assert udp["received"] == udp["sent"]
    assert 0 < cut["received"] <= cut["sent"]
    assert late["error"] == "the flow had not begun when the run was interrupted"
    assert [each["link"] for each in traffic["captures"]] == ["r0-r1"]
    assert traffic["captures"][0]["frames"] == len(frames(capture))


def frames(capture: Path) -> list[bytes]:
    """Those of a pcap file, as far as it is written."""
    data = capture.read_bytes() if capture.exists() else b""
    found, at = [], 24
    while at + 16 <= len(data):
        size = int.from_bytes(data[at + 8 : at + 12], "little")
        found.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return found


@pytest.mark.parametrize("mode", MODES)
def test_events_change_the_clients_way(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path, mode: str
) -> None:
    """The link is down for ever from the first event on, but for five seconds."""
    events = (
        "events:\n"
        "  - {at: 5s, link: r1-r2, state: down}\n"
        "  - {at: 10s, link: r1-r2, state: up}\n"
        "  - {at: 11s, link: r0-r1, set: delay=200ms}\n"
    )
    file = scenario(LINE.format(mode=mode) + events)
    a = hosts.client("a", 1, [CLIENT], [GATEWAY])
    written = folder / "hub.json"

    def is_slow() -> bool:
        done = inside(a, "ping", "-c1", "-W2", "10.0.0.6")
        return done.status == 0 and float(done.output.rsplit("= ", 1)[1].split("/")[0]) >= 400

    with hub(hosts, file, "--json", str(written)) as process:
        wait_until(lambda: answers(a, FAR), "the far end answers")
        wait_until(lambda: not answers(a, FAR), "the link is down")
        wait_until(lambda: answers(a, FAR), "the link is up")
        wait_until(is_slow, "the link is slow")
        end(process)
    traffic = json.loads(written.read_text())["traffic"]
    happened = [(each["link"], each["change"]) for each in traffic["events"]]
    assert happened == [("r1-r2", "down"), ("r1-r2", "up"), ("r0-r1", "delay=200ms")]
    assert [round(each["at"]) for each in traffic["events"]] == [5, 10, 11]
    if mode != "simulate":
        assert traffic["event_timing"]["events"] == 3


def test_routers_with_kernels_have_programs_and_states(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path
) -> None:
    """Real kernels in virtual time that follows real time, between a client and a program."""
    kernels.need()
    more = (
        "stack: kernel\nstate: {interval: 100ms, nodes: [r1]}\n"
        "programs: [{node: r2, command: python3 -m http.server 8000, background: true}]\n"
    )
    file = scenario(LINE.format(mode="simulate") + more)
    a = hosts.client("a", 1, [CLIENT], [GATEWAY])
    written = folder / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        fetch = f"import urllib.request as u; u.urlopen('http://{FAR}:8000/', timeout=2)"
        wait_until(lambda: inside(a, "python3", "-c", fetch).status == 0, "a page is fetched")
        end(process)
    traffic = json.loads(written.read_text())["traffic"]
    assert traffic["programs"][0]["ok"]
    [state] = traffic["state"]
    assert state["node"] == "r1"
    for name in state["files"]:
        assert (folder / name).exists()


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_own_link_is_captured_and_goes_down(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path, mode: str
) -> None:
    events = (
        "captures: all\n"
        "events:\n"
        "  - {at: 5s, link: a-r0, state: down}\n"
        "  - {at: 10s, link: a-r0, state: up}\n"
    )
    file = scenario(LINE.format(mode=mode) + events)
    a = hosts.client("a", 1, [CLIENT], [GATEWAY])
    with hub(hosts, file) as process:
        wait_until(lambda: answers(a, GATEWAY), "the gateway answers")
        wait_until(lambda: not answers(a, GATEWAY), "the link is down")
        wait_until(lambda: answers(a, GATEWAY), "the link is up")
        end(process)
    captured = frames(folder / f"{file.stem}-captures" / "a-r0.pcap")
    echoes = [each for each in captured if each[23:24] == b"\x01"]  # ICMP
    directions = {each[34] for each in echoes}
    assert directions == {0, 8}, "requests and answers"


@pytest.mark.parametrize("mode", ["emulate", "offload"])
def test_a_shared_link_of_a_client_is_not_captured_in_part(
    scenario: Callable[[str], Path], mode: str
) -> None:
    text = LINE.format(mode=mode).replace("{pair: [a, r0]}", "{shared: [a, r0, r2], name: lan}")
    refused = viaduct("hub", scenario(text + "captures: [lan]\n")).expect(2)
    assert "captures: link lan has 1 remote nodes and 2 other nodes" in refused.errors


@pytest.mark.parametrize("mode", ["emulate", "offload"])
def test_programs_run_in_nodes_of_the_lab(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path, mode: str
) -> None:
    programs = (
        "programs:\n"
        "  - {node: r2, command: python3 -m http.server 8000, background: true}\n"
        "  - {node: r0, command: sh -c 'exit 3', expect: 3}\n"
        "  - {node: r1, command: 'false'}\n"
    )
    file = scenario(LINE.format(mode=mode) + programs)
    a = hosts.client("a", 1, [CLIENT], [GATEWAY])
    written = folder / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        fetch = f"import urllib.request as u; u.urlopen('http://{FAR}:8000/', timeout=2)"
        wait_until(lambda: inside(a, "python3", "-c", fetch).status == 0, "a page is fetched")
        end(process, 1)  # false has failed
    results = json.loads(written.read_text())
    assert [each["ok"] for each in results["traffic"]["programs"]] == [True, True, False]
    assert any("false" in failure for failure in results["failures"])


OF_A_CLIENT = [
    ("flows[0].from", "flows: [{type: ping, from: a, to: r0}]\n"),
    ("flows[0].to", "flows: [{type: ping, from: r0, to: a}]\n"),
    ("programs[0].node", "programs: [{node: a, command: 'true'}]\n"),
]


@pytest.mark.parametrize(
    ("mode", "key", "text"),
    [
        (mode, key, text)
        for mode in MODES
        for key, text in OF_A_CLIENT
        if (mode, key) != ("simulate", "programs[0].node")  # programs are for kernels there
    ],
)
def test_what_a_client_would_have_to_do_is_refused(
    scenario: Callable[[str], Path], mode: str, key: str, text: str
) -> None:
    refused = viaduct("hub", scenario(LINE.format(mode=mode) + text)).expect(2)
    assert f"{key}: node a is remote" in refused.errors


def test_a_hub_without_traffic_says_nothing_of_it(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path
) -> None:
    file = scenario(LINE.format(mode="simulate"))
    written = folder / "hub.json"
    with hub(hosts, file, "--json", str(written)) as process:
        end(process)
    assert "traffic" not in json.loads(written.read_text())
    assert not (folder / f"{file.stem}-captures").exists()


def test_a_hub_that_ends_before_its_traffic_begins_has_failed(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path
) -> None:
    """OLSR needs seconds: nothing has begun, which is no success without results."""
    text = LINE.format(mode="simulate").replace("protocol: static", "protocol: OLSR")
    written = folder / "hub.json"
    file = scenario(text + "events: [{at: 1s, link: r1-r2, state: down}]\n")
    with hub(hosts, file, "--json", str(written)) as process:
        end(process, 1)
    assert "before routes converged" in json.loads(written.read_text())["failures"][0]


def test_a_simulated_hub_waits_for_routes_that_events_count_from(
    hosts: Hosts, scenario: Callable[[str], Path], folder: Path
) -> None:
    """With routes that never come it ends, as a run does."""
    text = LINE.format(mode="simulate").replace("protocol: static", "protocol: RIP")
    text += "convergence: {timeout: 2s}\nflows: [{type: ping, from: r0, to: r2}]\n"
    text = text.replace("{pair: [r1, r2]}", "{pair: [r1, r2], spec: loss=100%}")
    with hub(hosts, scenario(text)) as process:
        process.wait_for("not converged within 2s")
        assert process.wait() == 1
