"""Frames that a forwarding program cannot send: counted once, by the same name in all modes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import results, viaduct
from programs import compiled, plane

Write = Callable[[str], Path]
MODES = ["simulate", "emulate", "traditional", "offload"]

# Two hosts at a line of two nodes; between these a frame of 1450 bytes fits, and 100 more do not.
LINE = """
nodes: {a: {host: true}, b: {host: true}, count: 2}
links: [{pair: [n0, n1], spec: "delay=1ms"}, {pair: [a, n0]}, {pair: [b, n1]}]
duration: 2s
flows: [{type: udp, from: a, to: b, size: 1450, rate: 500kbit, duration: 1s}]
"""
MAKE = "const auto made = outbox.Make(frame.bytes.size() + 100); "
FILL = "std::ranges::fill(std::ranges::copy(frame.bytes, made.begin()).out, made.end(), {}); "
# An EtherType of experiments, of which no flow can be told.
FOREIGN = "made[12] = std::byte{0x88}; made[13] = std::byte{0xb5}; "


def lost(run: dict[str, Any]) -> dict[str, int]:
    """What was lost at each place, by the place's node, in the simulator or the forwarder."""
    found: dict[str, int] = {}
    for place, counters in run["counters"].items():
        assert not counters.get("tx_dropped_error"), (place, counters)
        for cause, frames in counters.get("drops", {}).items():
            found[f"{place}: {cause}"] = frames
    for node, forwards in run["data_planes"].items() if "data_planes" in run else []:
        for cause, frames in forwards.get("drops", {}).items():
            found[f"{node}/program: {cause}"] = frames
    for flow in run["flows"]:
        for place, packets in flow.get("lost_at", {}).items():
            found[f"flow, {place}"] = packets
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("foreign", [False, True])
def test_frames_too_long_for_a_link(
    foreign: bool, mode: str, scenario: Write, tmp_path: Path
) -> None:
    """Those of a flow, and those of nobody, which are made besides."""
    make = MAKE + FILL.replace("made.end(), {})", "made.end(), std::byte{})")
    take = make + "outbox.Flood(frame.port, made); return 0;"
    if foreign:
        take = make + FOREIGN + "outbox.Flood(frame.port, made); "
        take += "outbox.Flood(frame.port, frame.bytes); return 0;"
    text = LINE + plane(compiled(tmp_path, take))
    viaduct("run", scenario(text), "--mode", mode, "--json", tmp_path / "r.json").expect()
    run = results(tmp_path / "r.json")
    flow = run["flows"][0]
    assert flow["loss"] == (0 if foreign else 1)
    found = lost(run)
    assert set(found) == {f"{n}/program: not_sent" for n in (["n0", "n1"] if foreign else ["n0"])}
    # Real senders end a flow with packets of their own.
    more = 0 if mode == "simulate" else 20
    for frames in found.values():
        assert flow["sent"] <= frames <= flow["sent"] + more


@pytest.mark.parametrize("mode", MODES)
def test_frames_for_a_link_that_is_down(mode: str, scenario: Write, tmp_path: Path) -> None:
    # A busy machine may apply the event late; the flow is still there then.
    text = LINE.replace("duration: 1s", "duration: 5s").replace("duration: 2s", "duration: 6s")
    text += plane("bridge") + "events: [{at: 500ms, link: n0-n1, state: down}]\n"
    viaduct("run", scenario(text), "--mode", mode, "--json", tmp_path / "r.json").expect()
    run = results(tmp_path / "r.json")
    flow = run["flows"][0]
    missing = flow["sent"] - flow["received"]
    assert missing > 0
    found = lost(run)
    if mode == "simulate":
        # Also those that were under way: nothing is missing from the results.
        assert sum(found.values()) == missing, found
    assert found["n0/program: not_sent"] > 0, found
    assert not [place for place in found if place.startswith("n0/eth")], found


@pytest.mark.parametrize("mode", MODES)
def test_what_comes_by_two_ways_is_a_duplicate(mode: str, scenario: Write, tmp_path: Path) -> None:
    """Frames of hosts go to all neighbours, and those of neighbours to the host."""
    text = """
        nodes: {a: {host: true}, b: {host: true}, count: 2}
        links: [{pair: [a, n0]}, {pair: [b, n1]}, {pair: [n0, n1]}, {pair: [n0, n1]}]
        duration: 2s
        flows:
          - {type: udp, from: a, to: b, size: 1000, rate: 500kbit, duration: 1s}
          - {type: ping, from: a, to: b, interval: 100ms, duration: 1s}
    """
    take = "if (frame.port == 0) outbox.Flood(0, frame.bytes); "
    take += "else outbox.Send(0, frame.bytes); return 0;"
    text = textwrap.dedent(text) + plane(compiled(tmp_path, take))
    done = viaduct("run", scenario(text), "--mode", mode, "--json", tmp_path / "r.json").expect()
    udp, ping = results(tmp_path / "r.json")["flows"]
    assert (udp["loss"], ping["loss"]) == (0, 0)
    # The wait for them ends with the last that comes for the first time.
    assert udp["received"] // 2 < udp["duplicates"] <= udp["received"]
    assert ping["received"] // 2 < ping["duplicates"] <= 3 * ping["received"]
    assert f"{udp['duplicates']} duplicate packets arrived" in done.output


def test_a_tag_is_not_part_of_a_frames_length(scenario: Write, tmp_path: Path) -> None:
    """A program that puts a VLAN's tag into frames of full length, which another takes out."""
    tag = "const auto made = outbox.Make(frame.bytes.size() + 4); "
    tag += "auto at = std::ranges::copy(frame.bytes.first(12), made.begin()).out; "
    tag += "for (int byte : {0x81, 0, 0, 5}) *at++ = std::byte(byte); "
    tag += "std::ranges::copy(frame.bytes.subspan(12), at); outbox.Flood(frame.port, made); "
    untag = "const auto made = outbox.Make(frame.bytes.size() - 4); "
    untag += "auto at = std::ranges::copy(frame.bytes.first(12), made.begin()).out; "
    untag += "std::ranges::copy(frame.bytes.subspan(16), at); outbox.Flood(frame.port, made); "
    take = f"if (frame.bytes[12] == std::byte{{0x81}}) {{ {untag} }} else {{ {tag} }} return 0;"
    text = LINE.replace("1450", "1472") + plane(compiled(tmp_path, take))
    for mode in MODES:
        viaduct("run", scenario(text), "--mode", mode, "--json", tmp_path / "r.json").expect()
        run = results(tmp_path / "r.json")
        assert run["flows"][0]["loss"] == 0, (mode, run["flows"])
        assert not lost(run), mode
