"""Wi-Fi and mobility in scenarios: mode simulate, ns-3's radios."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import browser
from kernels import need
from labs import FAST_OLSR, REPOSITORY, execute, results, viaduct

Scenarios = Callable[[str], Path]

# n0 and n2 hear n1 only.
LINE = (
    """
mode: simulate
nodes: {count: 3}
links: [{wifi: {nodes: all, standard: 80211g, range: 70}}]
mobility: {layout: line, spacing: 50}
duration: 5s
flows:
  - {type: ping, from: n0, to: n2, interval: 100ms}
  - {type: udp, from: n0, to: n2, size: 500, rate: 400kbit}
"""
    + FAST_OLSR
)

# More than the air carries, from senders that do not hear each other.
CROWD = (
    """
mode: simulate
seed: 3
nodes: {count: 9}
links: [{wifi: {nodes: all, standard: 80211a, range: 60}}]
mobility: {layout: grid, spacing: 50}
duration: 4s
flows:
  - {type: udp, from: n0, to: n8, size: 1000, rate: 8Mbit}
  - {type: udp, from: n2, to: n6, size: 1000, rate: 8Mbit}
  - {type: ping, from: n0, to: n8, interval: 100ms}
"""
    + FAST_OLSR
)


def run(file: Path, *words: str, status: int = 0) -> dict[str, Any]:
    """The results of a run."""
    json = file.with_suffix(".json")
    viaduct("run", file, "--json", json, *words, cwd=file.parent).expect(status)
    return results(json)


def flow(result: dict[str, Any], kind: str) -> dict[str, Any]:
    found = [each for each in result["flows"] if each["kind"] == kind]
    assert len(found) == 1
    return found[0]


def fields(capture: Path, condition: str, *names: str) -> list[list[str]]:
    """Of each frame for which the condition is true, as tshark reads it."""
    words = [word for name in names for word in ("-e", name)]
    command = ["tshark", "-n", "-r", str(capture), "-Y", condition, "-T", "fields", *words]
    lines = execute(command).expect().output.splitlines()
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize("standard", ["80211b", "80211g", "80211n", "80211ax"])
def test_counts_are_those_of_the_capture(
    standard: str, scenario: Scenarios, tmp_path: Path
) -> None:
    """The capture is n0's: what it sent, and what it heard n1 pass on."""
    words = ["--set", f"links.0.wifi.standard={standard}", "--set", "captures=all"]
    file = scenario(LINE)
    result = run(file, *words)
    (captured,) = result["captures"]
    capture = tmp_path / captured["file"]
    everything = execute(["tshark", "-n", "-r", str(capture)]).expect().output.splitlines()
    assert len(everything) == captured["frames"] > 0
    assert captured["dropped"] == 0
    assert not [line for line in everything if "alformed" in line]
    requests = fields(capture, "icmp.type == 8", "icmp.seq")
    replies = fields(capture, "icmp.type == 0 && wlan.da == 00:00:00:00:00:01", "icmp.seq")
    ping, udp = flow(result, "ping"), flow(result, "udp")
    assert {seq for (seq,) in requests} == {str(i) for i in range(ping["sent"])}
    assert len({seq for (seq,) in replies}) == ping["received"] == ping["sent"] == 50
    # Each datagram is heard twice, over the first hop and over the second; repetitions keep the
    # frame's number.
    sent = fields(capture, "udp.length == 508 && wlan.ta == 00:00:00:00:00:01", "ip.id", "wlan.seq")
    passed = fields(capture, "udp.length == 508 && wlan.ta == 00:00:00:00:00:02", "ip.id")
    assert len({name for name, _ in sent}) == udp["sent"]
    assert len({name for (name,) in passed}) == udp["received"] == udp["sent"]


def test_radio_losses_are_counted_where_they_happen(scenario: Scenarios) -> None:
    """To the packet: what was sent has arrived or was lost at a named place."""
    result = run(scenario(CROWD))
    for each in result["flows"]:
        assert each["sent"] == each["received"] + sum(each["lost_at"].values()), each
    places = " ".join(place for each in result["flows"] for place in each["lost_at"])
    assert "wifi_not_acknowledged" in places
    assert "wifi_too_old" in places


def test_same_seed_same_results_other_seed_others(scenario: Scenarios) -> None:
    file = scenario(CROWD)
    first = run(file)["flows"]
    assert run(file)["flows"] == first
    assert run(file, "--set", "seed=4")["flows"] != first


def test_a_node_that_walks_away_is_lost_until_it_is_back(
    scenario: Scenarios, tmp_path: Path
) -> None:
    """Pings are lost, each counted; the routes go and come; the report draws it."""
    file = tmp_path / "walk.yaml"
    file.write_text((REPOSITORY / "examples/wifi-mobility.yaml").read_text())
    viaduct("run", file, "--report", tmp_path / "out").expect()
    result = results(tmp_path / "out/results.json")
    for each in result["flows"]:
        assert each["received"] < each["sent"]
        assert each["sent"] == each["received"] + sum(each["lost_at"].values()), each
    # Out of range at (70 - 50) m more than 50 m from n1: 120 m, at 4.2 s; in again at 11.8 s.
    gaps = flow(result, "ping")["gaps"]
    assert 4 < gaps[0]["from"] < 4.3, gaps
    assert 11.8 <= gaps[-1]["to"] < 16, gaps
    hops = {sample["at"]: sample["next"]["n0"]["n2"] for sample in result["route_samples"]}
    assert hops[0] == hops[4] == "n1"
    assert hops[9] == hops[10] == ""
    assert hops[19] == "n1"
    with browser() as page:
        page.open(f"file://{tmp_path}/out/index.html")
        page.wait("return document.querySelectorAll('.chart .uplot').length === 2", "no charts")
        assert not page.errors()
        assert page.ask("return document.querySelectorAll('#topology circle').length") >= 3


def test_an_access_point_passes_frames_on(scenario: Scenarios) -> None:
    """Its stations are one hop from each other for the protocol, though they do not hear each
    other."""
    words = ["--set", "links.0.wifi.access_point=n1"]
    result = run(scenario(LINE), *words, "--set", "routing.sample=1s")
    assert {s["next"]["n0"]["n2"] for s in result["route_samples"]} == {"n2"}
    assert flow(result, "udp")["loss"] == 0


def test_a_station_without_access_point_reaches_nobody(scenario: Scenarios) -> None:
    words = ["--set", "links.0.wifi.access_point=n1", "--set", "mobility.spacing=80"]
    words += ["--set", "routing={protocol: static}"]
    file = scenario(LINE)
    line = viaduct("run", file, *words).error_line(1)
    assert "0 of 6 pairs are reachable" in line
    result = run(file, *words, "--set", "convergence={required: false, timeout: 2s}")
    udp = flow(result, "udp")
    assert udp["received"] == 0
    assert result["convergence"]["reachable"] == 0


def test_a_channel_can_go_down_and_up(scenario: Scenarios) -> None:
    events = "events=[{at: 2s, link: wlan0, state: down}, {at: 3s, link: wlan0, state: up}]"
    words = ["--set", events, "--set", "routing={protocol: OLSR}"]
    words += ["--set", "flows=[{type: ping, from: n0, to: n2, interval: 100ms}]"]
    result = run(scenario(LINE), *words)
    ping = flow(result, "ping")
    assert ping["lost_at"] == {"n0: wifi_not_acknowledged": 10}
    assert ping["received"] == ping["sent"] - 10
    (gap,) = ping["gaps"]
    assert 1.8 < gap["from"] < 2.1
    assert gap["to"] == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize("protocol", ["static", "RIPng"])
def test_ipv6(protocol: str, scenario: Scenarios) -> None:
    words = ["mobility.spacing=30", "addressing.ipv6=fd00::/48", "flows.0.address=ipv6"]
    words += ["flows.1.address=ipv6", f"routing={{protocol: {protocol}}}"]
    result = run(scenario(LINE), *(w for word in words for w in ("--set", word)))
    for each in result["flows"]:
        assert each["loss"] == 0
        assert each["sent"] > 0


def test_two_nodes(scenario: Scenarios) -> None:
    words = ["--set", "nodes.count=2", "--set", "flows.0.to=n1", "--set", "flows.1.to=n1"]
    for each in run(scenario(LINE), *words)["flows"]:
        assert each["received"] == each["sent"] > 0


MODELS = ["RandomWaypoint", "SteadyStateRandomWaypoint", "RandomWalk2d", "RandomDirection2d"]


@pytest.mark.parametrize("model", [*MODELS, "GaussMarkov"])
def test_thirty_nodes_move_in_their_area(model: str, scenario: Scenarios) -> None:
    """Inside an area that the signal crosses all reach all, whichever way they go."""
    text = f"""
mode: simulate
nodes: {{count: 30}}
links: [{{wifi: {{nodes: all, standard: 80211a, range: 71}}}}]
mobility: {{layout: random, area: [50, 50], model: "ns3::{model}MobilityModel"}}
routing: {{protocol: static}}
duration: 20s
flows:
  - {{type: ping, from: n0, to: n29, interval: 500ms}}
  - {{type: udp, from: n3, to: n17, size: 500, rate: 50kbit}}
"""
    for each in run(scenario(text))["flows"]:
        assert each["received"] == each["sent"] > 0


def test_the_protocol_makes_routes_of_a_crowd_that_moves(scenario: Scenarios) -> None:
    text = """
mode: simulate
seed: 5
nodes: {count: 30}
links: [{wifi: {nodes: all, standard: 80211g}}]
mobility:
  layout: random
  area: [120, 120]
  model: ns3::RandomWaypointMobilityModel
  attributes: {Speed: "ns3::ConstantRandomVariable[Constant=2]"}
routing: {protocol: OLSR, sample: 1s}
duration: 20s
flows: [{type: ping, from: n0, to: n29, interval: 200ms}]
"""
    result = run(scenario(text))
    assert result["convergence"]["reachable"] == 30 * 29
    tables = [sample["next"] for sample in result["route_samples"]]
    assert tables[0] != tables[-1]
    ping = flow(result, "ping")
    assert ping["received"] > 0
    assert ping["sent"] == ping["received"] + sum(ping.get("lost_at", {}).values())


def test_real_kernels_speak_over_it(scenario: Scenarios) -> None:
    need()
    for each in run(scenario(LINE), "--set", "stack=kernel")["flows"]:
        assert each["received"] == each["sent"] > 0


def test_a_sweep_over_the_distance(scenario: Scenarios, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    words = ["--over", "mobility.spacing=30,60,90", "--no-plots", "--out", out]
    done = viaduct("sweep", scenario(LINE), *words)
    done.expect(1)  # at 90 m no node hears another
    assert re.search(r"3 runs: 2 done, 1 failed", done.output + done.errors)
    assert "mobility.spacing=90: not converged" in done.output + done.errors


def both(one: str, other: str) -> str:
    return f"{one}\n{other}"


WIFI = "links.0.wifi."
BAD = [
    (WIFI + "standard=80211z", "'80211z' is not one of 80211a, 80211b"),
    (WIFI + "rate=HtMcs7", '"HtMcs7" is not a WifiMode of 80211g; valid modes: '),
    (WIFI + "rate=OfdmRate6Mbps", "not a WifiMode of 80211g; valid modes: DsssRate1Mbps, "),
    (WIFI + "nodes=[n0, n7]", "there is no node 'n7'"),
    (WIFI + "nodes=[n0]", "at least two nodes are needed"),
    (WIFI + "access_point=n7", "'n7' is not one of the channel's nodes"),
    (WIFI + "range=-1", "whole number from 1"),
    (WIFI + "attributes.TxPower=3", "ns3::YansWifiPhy has no attribute"),
    (WIFI + "attributes.TxPowerStart=loud", 'wifi.attributes: TxPowerStart: "loud" is not a'),
    (WIFI + "attributes.TxPowerStart=30", "TxPowerStart is 30 dBm and TxPowerEnd is 16.0206 dBm"),
    (WIFI + "attributes.TxPowerLevels=0", "TxPowerLevels is 0"),
    (WIFI + 'attributes.ChannelSettings="{37, 20, BAND_5GHZ, 0}"', "ns-3 cannot create a radio of"),
    ("nodes.n1.position=[nan, 0]", "'nan' is not a number of metres"),
    ("nodes.n1.waypoints=[0s 0 0, 2s 9 9, 1s 0 0]", "1s is not after the time of the previous"),
    ("mobility.model=ns3::Walk", 'mobility.model: this ns-3 has no type "ns3::Walk"; similar'),
    ("mobility.model=ns3::WaypointMobilityModel", "use nodes.NAME.waypoints"),
    ("mobility.model=ns3::olsr::RoutingProtocol", "is not a mobility model"),
    ("mobility.model=ns3::RandomWalk2dMobilityModel", "mobility.area: missing"),
    (
        both("mobility.model=ns3::RandomWalk2dMobilityModel", "mobility.area=[60, 60]"),
        "node n2 starts at 100, 0, outside the area",
    ),
    (
        both("mobility.model=ns3::RandomWalk2dMobilityModel", "mobility.attributes={Sped: 2}"),
        "mobility.area: missing",
    ),
    (
        both("mobility.model=ns3::ConstantPositionMobilityModel", "mobility.attributes={Sped: 2}"),
        'mobility.attributes: ns3::ConstantPositionMobilityModel has no attribute "Sped"',
    ),
    ("mode=traditional", "not supported in mode traditional"),
    ("mode=emulate", "not supported in mode emulate"),
    ("mode=offload", "not supported in mode offload"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_what_is_wrong_is_said_in_one_line(words: str, message: str, scenario: Scenarios) -> None:
    overrides = [word for line in words.splitlines() for word in ("--set", line)]
    done = viaduct("run", scenario(LINE), *overrides)
    assert message in done.error_line(2)
    assert len(done.errors.strip().splitlines()) == 1, done.errors


def test_labs_have_no_radio(scenario: Scenarios) -> None:
    text = LINE.replace("mode: simulate\n", "")
    assert "not supported in mode offload" in viaduct("up", scenario(text)).error_line(2)


def test_places_need_no_radio(scenario: Scenarios) -> None:
    text = "mode: simulate\nnodes: {count: 2, n1: {position: [1, 1]}}\nlinks: [{line: all}]\n"
    assert run(scenario(text))["positions"] == {"n1": [1, 1, 0]}


def test_a_station_that_comes_back_has_its_losses_counted(scenario: Scenarios) -> None:
    """What it acknowledges before it is associated again is lost there."""
    walk = "n2: {waypoints: [0s 50 0, 1s 50 0, 2s 250 0, 4s 30 30]}"
    text = (
        LINE.replace("count: 3", f"count: 3, {walk}")
        .replace("nodes: all,", "nodes: all, access_point: n0,")
        .replace("to: n2, size: 500, rate: 400kbit", "to: n2, size: 1400, rate: 2Mbit")
    )
    udp = flow(run(scenario(text), "--set", "convergence.required=false"), "udp")
    assert udp["lost_at"]["n2: wifi_not_associated"] > 0
    assert udp["sent"] == udp["received"] + sum(udp["lost_at"].values()), udp


def test_a_connection_that_cannot_be_made_leaves_the_other_results(scenario: Scenarios) -> None:
    """ns-3 gives up after 189 s: its application then ended the simulator."""
    text = """
mode: simulate
nodes: {count: 2, far: {position: [5000, 0]}}
links: [{wifi: {nodes: all, range: 70}}]
routing: {protocol: static}
convergence: {timeout: 1s, required: false}
duration: 200s
flows:
  - {type: tcp, from: n0, to: far, rate: 100kbit}
  - {type: ping, from: n0, to: n1, interval: 1s}
"""
    result = run(scenario(text), status=1)
    assert any("nothing reached far" in failure for failure in result["failures"])
    ping = flow(result, "ping")
    assert ping["received"] == ping["sent"] == 200


SENDERS = "[{type: ping, from: n0, to: n2}, {type: udp, from: n2, to: n0, rate: 100kbit}]"


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_kernels_that_begin_at_one_instant_find_their_neighbours(
    family: str, scenario: Scenarios
) -> None:
    """Requests of senders that do not hear each other, or send at once, collide at first."""
    need()
    words = ["--set", "stack=kernel", "--set", f"flows={SENDERS}"]
    if family == "ipv6":
        words += ["--set", "addressing={ipv4: none, ipv6: fd00::/48}"]
        words += ["--set", "links.0.wifi.range=200", "--set", "routing={protocol: static}"]
    for each in run(scenario(LINE), *words)["flows"]:
        assert each["received"] > 0.8 * each["sent"] > 0, each


def test_a_channel_that_is_up_again_has_its_error_model(scenario: Scenarios) -> None:
    model = "ns3::RateErrorModel[ErrorRate=1|ErrorUnit=ERROR_UNIT_PACKET]"
    words = ["--set", f"{WIFI}attributes.PostReceptionErrorModel={model}"]
    words += ["--set", "convergence={timeout: 1s, required: false}"]
    words += ["--set", "events=[{at: 0s, link: wlan0, state: up}]"]
    for each in run(scenario(LINE), *words)["flows"]:
        assert each["received"] == 0


def test_what_a_full_access_point_discards_is_counted(scenario: Scenarios) -> None:
    """Its queue is full of packets for a station that has gone."""
    text = """
mode: simulate
nodes: {count: 4, n3: {waypoints: [0s 50 0, 1s 50 0, 2s 250 0, 4s 30 30]}}
links: [{wifi: {nodes: all, standard: 80211ax, access_point: n0}}]
mobility: {spacing: 40}
routing: {protocol: static}
duration: 6s
flows:
  - {type: udp, from: n1, to: n2, rate: 20Mbit, size: 1472}
  - {type: ping, from: n1, to: n3, interval: 200ms}
"""
    result = run(scenario(text))
    assert flow(result, "udp")["lost_at"]["n0: wifi_queue_full"] > 0
    for each in result["flows"]:
        assert each["sent"] == each["received"] + sum(each["lost_at"].values()), each
