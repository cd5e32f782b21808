"""Mode simulate does what the real modes do: every example, captures, link events, output."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from labs import BUILD, REPOSITORY, execute, results, viaduct

LINE = """
mode: simulate
duration: 4s
nodes: 3
links: [{line: all, spec: "delay=1ms rate=10Mbit loss=5%"}]
routing: {protocol: "static"}
flows: [{type: udp, from: n0, to: n2, rate: 100kbit}, {type: ping, from: n2, to: n0}]
"""


def run(folder: Path, scenario: Path | str, *arguments: str) -> dict[str, Any]:
    """The results of a run whose captures are written to the folder."""
    if isinstance(scenario, str):
        (folder / "line.yaml").write_text(scenario)
        scenario = folder / "line.yaml"
    file = folder / "run.json"
    viaduct("run", scenario, "--mode", "simulate", "--json", file, *arguments, cwd=folder).expect()
    return results(file)


@pytest.mark.parametrize("name", ["olsr-line", "ripng-line", "star-hosts", "grid", "rip-ring"])
def test_example_runs(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, REPOSITORY / "examples" / f"{name}.yaml")
    assert len(done["assumptions"]) == 1
    assert "no rate: simulated at 100Mbit" in done["assumptions"][0]
    for flow in done["flows"]:
        assert flow.get("error", "") == ""
        if flow["kind"] == "tcp":
            assert flow["rate_bit_per_s"] > 1e6
        elif name != "rip-ring":
            assert flow["sent"] > 0
            assert flow["received"] >= 0.9 * flow["sent"]


def test_links_with_rates_are_not_assumed(tmp_path: Path) -> None:
    assert run(tmp_path, LINE)["assumptions"] == []


def test_last_ping_is_answered_when_the_round_trip_is_below_a_millisecond(tmp_path: Path) -> None:
    text = LINE.replace("delay=1ms rate=10Mbit loss=5%", "rate=100Mbit")
    ping = run(tmp_path, text)["flows"][1]
    assert ping["rtt_ms"]["max"] < 1
    assert ping["sent"] == ping["received"] == 40


def test_udp_delay_is_measured(tmp_path: Path) -> None:
    udp = run(tmp_path, LINE.replace(" loss=5%", ""))["flows"][0]
    assert 2 < udp["delay_ms"]["p50"] < 3  # two links of 1 ms and the time to send


def test_seed_decides_what_is_lost(tmp_path: Path) -> None:
    one, again, other = (run(tmp_path, LINE, "--set", f"seed={n}")["flows"] for n in (1, 1, 2))
    assert one == again
    assert one != other


def test_link_event_stops_traffic(tmp_path: Path) -> None:
    events = "events: [{at: 1s, link: n0-n1, state: down}, {at: 3s, link: n0-n1, state: up}]\n"
    ping = run(tmp_path, LINE.replace(" loss=5%", "") + events)["flows"][1]
    answered = [round(time, 1) for time, _ in ping["samples"]]
    assert not [time for time in answered if 1.1 < time < 3.0]
    assert len([time for time in answered if time < 1]) >= 9
    assert len([time for time in answered if time > 3]) >= 8


def test_capture_has_the_frames(tmp_path: Path) -> None:
    done = run(tmp_path, LINE + "captures: [n0-n1]\n")
    capture = done["captures"][0]
    data = (tmp_path / capture["file"]).read_bytes()
    position, frames = 24, 0
    while position < len(data):
        position += 16 + struct.unpack_from("<I", data, position + 8)[0]
        frames += 1
    assert frames == capture["frames"] > 300


def test_documentation_addresses_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "six.yaml"
    file.write_text(LINE + 'addressing: {ipv4: none, ipv6: "2001:db8::/48"}\n')
    assert "documentation prefix" in viaduct("run", file).error_line(2)


def test_simulator_may_print_more_than_a_pipe_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NS_LOG", "Ipv4L3Protocol=level_all|prefix_all")
    file = tmp_path / "line.yaml"
    file.write_text(LINE)
    done = viaduct("run", file).expect()
    assert len(done.errors) > 200_000
    assert "Ipv4L3Protocol:Send" in done.errors


def test_path_channel_example() -> None:
    program = BUILD / "examples" / "viaduct-path-channel"
    done = execute(
        [str(program), "--duration=5s", "--up=delay=5ms rate=10Mbit loss=0.05%"]
    ).expect()
    rate = float(done.output.split()[1])
    assert 8 < rate < 10 * 1448 / 1514
    assert " packets delivered" in done.output
    assert " packets lost" in done.output
