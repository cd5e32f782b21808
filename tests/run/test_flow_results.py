"""What a flow's figures say: every offered packet counts, none that arrives is lost."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import FAST_OLSR, VIADUCT, execute, network_outside, results, viaduct

STATIC = "routing: {protocol: static}\n"
MODES = ["simulate", "traditional", "emulate", "offload"]
Write = Callable[[str], Path]


def run(scenario: Path, folder: Path, *arguments: str) -> dict[str, Any]:
    """The results of a run that succeeds."""
    file = folder / "run.json"
    viaduct("run", scenario, "--json", file, *arguments, timeout=90).expect()
    return results(file)


@pytest.mark.parametrize("mode", MODES)
def test_an_outage_is_lost(mode: str, scenario: Write, tmp_path: Path) -> None:
    """Whoever refuses the packets meanwhile: the sender's kernel, ns-3, or the link."""
    file = scenario(
        STATIC
        + """
nodes: 2
duration: 5s
links: [{line: all}]
flows: [{type: udp, from: n0, to: n1, rate: 256kbit}]
events:
  - {at: 1s, link: n0-n1, state: down}
  - {at: 3s, link: n0-n1, state: up}
"""
    )
    flow = run(file, tmp_path, "--mode", mode)["flows"][0]
    # 200 packets a second; a sender that is kept from sending has fewer, in or out of the outage.
    assert 500 <= flow["sent"] <= 1001
    assert 0.3 < flow["loss"] < 0.55, flow
    refused = sum(count for place, count in flow.get("lost_at", {}).items() if "refused" in place)
    assert refused <= flow["sent"] - flow["received"]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_under_way_at_the_end_arrives(mode: str, scenario: Write, tmp_path: Path) -> None:
    """Seconds of delay, and a queue that takes seconds to empty, and has room for all.

    The ping comes first: while addresses are resolved, a few packets wait and the others are lost.
    """
    file = scenario(
        STATIC
        + """
nodes: 2
duration: 9s
links: [{pair: [n0, n1], up: "delay=1500ms rate=1Mbit queue=400p", down: "delay=10ms"}]
flows:
  - {type: udp, from: n0, to: n1, size: 1000, rate: 1500kbit, start: 7s, duration: 2s}
  - {type: ping, from: n0, to: n1, interval: 2s, duration: 2s}
"""
    )
    udp, ping = run(file, tmp_path, "--mode", mode)["flows"]
    assert udp["loss"] == 0, udp
    assert "cut" not in udp
    assert ping["loss"] == 0, ping


def test_a_duplicate_hides_no_loss(tmp_path: Path) -> None:
    file = tmp_path / "dup.yaml"
    file.write_text(
        "mode: simulate\nnodes: 2\nduration: 4s\n"
        + STATIC
        + 'links: [{line: all, spec: "rate=10Mbit loss=20% dup=50%"}]\n'
        + "flows: [{type: udp, from: n0, to: n1, rate: 1Mbit}]\n"
    )
    flow = run(file, tmp_path)["flows"][0]
    # A packet arrives unless it and its duplicate, if it has one, are lost.
    assert 0.05 < flow["loss"] < 0.25, flow


def test_a_simulated_rate_is_of_the_whole_payload(tmp_path: Path) -> None:
    """Of small packets too, whose first bytes are a header of the simulator's own."""
    file = tmp_path / "rate.yaml"
    file.write_text(
        "mode: simulate\nnodes: 2\nduration: 4s\n"
        + STATIC
        + 'links: [{line: all, spec: "delay=1ms rate=10Mbit"}]\n'
        + "flows:\n  - {type: udp, from: n0, to: n1, size: 28, rate: 100kbit}\n"
        + "  - {type: udp, from: n1, to: n0, size: 1000, rate: 1Mbit, duration: 1s}\n"
        + "  - {type: udp, from: n1, to: n0, size: 1000, rate: 1Mbit, duration: 1ms}\n"
    )
    small, large, one = run(file, tmp_path)["flows"]
    assert small["rate_bit_per_s"] == pytest.approx(100e3, rel=0.01)
    assert large["rate_bit_per_s"] == pytest.approx(1e6, rel=0.01)
    assert large["sent"] == 125  # the first at once
    assert one["received"] == 1
    assert "rate_bit_per_s" not in one


@pytest.mark.parametrize("queue", ["100p", "10000p"])
def test_a_simulated_rate_is_not_above_the_links(queue: str, tmp_path: Path) -> None:
    """What the link still carries after a sender's end takes its time too."""
    file = tmp_path / "queue.yaml"
    file.write_text(
        "mode: simulate\nnodes: 3\nduration: 3s\n"
        + STATIC
        + f'links: [{{line: all, spec: "delay=20ms rate=1Mbit queue={queue}"}}]\n'
        + "flows:\n  - {type: udp, from: n0, to: n1, size: 1000, rate: 5Mbit, duration: 1s}\n"
        + "  - {type: tcp, from: n1, to: n2, start: 1s, duration: 1s}\n"
    )
    udp, tcp = run(file, tmp_path)["flows"]
    assert 0.9e6 < udp["rate_bit_per_s"] < 1e6
    assert tcp["rate_bit_per_s"] < 1e6
    assert sum(rate for _, rate in udp["samples"]) == udp["received"] * 8000


def test_a_duplicate_raises_no_rate(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + 'nodes: 2\nduration: 2s\nlinks: [{line: all, spec: "dup=50%"}]\n'
    text += "flows: [{type: udp, from: n0, to: n1, rate: 1Mbit}]\n"
    flow = run(scenario(text), tmp_path, "--mode", "offload")["flows"][0]
    # A sender that is kept from its rate catches up two milliseconds of it.
    assert flow["rate_bit_per_s"] < 1.05e6


def test_a_slow_sender_is_told(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\n"
    text += "flows: [{type: udp, from: n0, to: n1, rate: 900Gbit}]\n"
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(text), "--mode", "offload", "--json", file).expect()
    flow = results(file)["flows"][0]
    assert flow["sent"] + flow["not_offered"] == pytest.approx(900e9 / 8 / 160, rel=0.05)
    assert f"the sender sent {flow['not_offered']} packets too few" in done.output


def test_a_killed_receiver_is_named(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 2s\nlinks: [{line: all}]\n"
    text += "flows: [{type: udp, from: n0, to: n1, rate: 100kbit}]\n"
    find = "ss -Hlunp | grep -o 'pid=[0-9]*' | cut -d= -f2"
    text += f'programs: [{{node: n1, command: [sh, -c, "kill -9 $({find})"], start: 500ms}}]\n'
    file = tmp_path / "run.json"
    viaduct("run", scenario(text), "--mode", "offload", "--json", file).expect(1)
    assert results(file)["flows"][0]["error"].startswith("the receiver was killed")


def test_a_run_without_results_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "unknown.yaml"
    file.write_text(
        "mode: simulate\nnodes: 2\nduration: 1s\nlinks: [{pair: [n0, n1]}]\n"
        "routing: {protocol: 'ns3::NoSuchRouting'}\n"
    )
    written = tmp_path / "run.json"
    assert "NoSuchRouting" in viaduct("run", file, "--json", written).error_line(2)
    assert not written.exists()


def test_more_pings_than_sequence_numbers(tmp_path: Path) -> None:
    """Sixteen bits of them; two minutes and a half of virtual time."""
    file = tmp_path / "pings.yaml"
    file.write_text(
        "mode: simulate\nnodes: 2\nduration: 150s\n"
        + STATIC
        + 'links: [{line: all, spec: "delay=1ms rate=10Mbit"}]\n'
        + "flows: [{type: ping, from: n0, to: n1, interval: 2ms}]\n"
    )
    flow = run(file, tmp_path)["flows"][0]
    assert flow["sent"] == flow["received"] == 75000
    assert flow["rtt_ms"]["max"] < 7  # of the first: both ends resolve an address before
    assert len(flow["samples"]) <= 36000
    assert flow["samples"][-1][0] == pytest.approx(150, abs=0.1)


def test_a_ping_that_is_too_slow_is_no_loss(scenario: Write, tmp_path: Path) -> None:
    """It stands still from its first moments until its time is over, and is made to end then."""
    find = "pgrep --ns $$ --nslist net -x viaduct-load"
    hold = f"until kill -STOP $({find}); do sleep 0.1; done; sleep 7; kill -CONT $({find})"
    text = STATIC + "nodes: 2\nduration: 2s\nlinks: [{line: all}]\n"
    text += "flows: [{type: ping, from: n0, to: n1, interval: 10ms}]\n"
    text += f'programs: [{{node: n0, background: true, command: [sh, -c, "{hold}"]}}]\n'
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(text), "--mode", "offload", "--json", file).expect()
    flow = results(file)["flows"][0]
    assert flow["sent"] + flow["not_offered"] == 200
    assert 0 < flow["received"] == flow["sent"] < 200
    assert "packets too few" in done.output


def test_many_flows_with_few_descriptors(scenario: Write, tmp_path: Path) -> None:
    """Each needs some in every process; the usual limit is a soft one."""
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\nflows:\n"
    text += "  - {type: ping, from: n0, to: n1, duration: 200ms}\n" * 60
    file = tmp_path / "run.json"
    words = [VIADUCT, "run", scenario(text), "--mode", "offload", "--json", file]
    command = f"ulimit -Sn 128; exec {shlex.join(map(str, words))}"
    execute(["sh", "-c", command]).expect()
    flows = results(file)["flows"]
    assert len(flows) == 60
    assert all(flow["received"] > 0 for flow in flows)


def test_much_output_keeps_its_beginning_and_its_end(scenario: Write, tmp_path: Path) -> None:
    """Thirty MiB, and the memory and the files stay bounded."""
    text = STATIC + "nodes: 2\nduration: 60s\nlinks: [{line: all}]\n"
    write = "echo first; yes 0123456789012345678901234567890 | head -c 30M; echo last"
    text += f'programs: [{{node: n0, name: much, command: [sh, -c, "{write}"]}}]\n'
    viaduct("run", scenario(text), "--mode", "offload", "--report", tmp_path, "--quiet").expect()
    written = (tmp_path / "programs" / "much.txt").read_bytes()
    assert written.startswith(b"first\n")
    assert written.endswith(b"\nlast\n")
    assert b"bytes omitted here" in written
    assert len(written) < 17 << 20
    output = json.loads((tmp_path / "results.json").read_text())["programs"][0]["output"]
    assert output.endswith("\nlast\n")
    assert len(output) == 4096


@pytest.mark.parametrize("mode", ["traditional", "emulate", "offload"])
def test_no_verdict_without_a_limit(mode: str, scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\n"
    text += "flows: [{type: ping, from: n0, to: n1}]\n"
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(text), "--mode", mode, "--json", file).expect()
    assert results(file)["verdict"] == "not judged"
    assert "VALID" not in done.output
    assert "verdict: not judged" in done.output


def test_nothing_measured_is_not_valid(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\n"
    text += "timing: {lateness_limit: 1h}\nflows: [{type: ping, from: n0, to: n1}]\n"
    assert run(scenario(text), tmp_path, "--mode", "traditional")["verdict"] == "not judged"
    done = run(scenario(text), tmp_path, "--mode", "emulate")
    assert done["verdict"] == "VALID"
    assert "frames at the simulator's ports" in done["judged"]
    assert done["port_timing"]["events"] > 0


def test_frames_that_wait_at_a_port_are_late(scenario: Write, tmp_path: Path) -> None:
    """The simulator's events may be on time while packets wait for it."""
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\n"
    text += "timing: {lateness_limit: 1ns}\nflows: [{type: ping, from: n0, to: n1}]\n"
    file = tmp_path / "run.json"
    done = viaduct("run", scenario(text), "--mode", "emulate", "--json", file).expect(4)
    assert results(file)["port_timing"]["p99_ns"] > 1
    assert "timing: ports" in done.output


def test_output_that_is_not_utf8_costs_nothing(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\n"
    text += "programs: [{node: n0, name: odd, command: \"printf 'a\\\\377\\\\200z'\"}]\n"
    report = tmp_path / "report"
    viaduct("run", scenario(text), "--compare", "emulate,offload", "--report", report).expect()
    both = json.loads((report / "results.json").read_text())["runs"]
    assert [one["programs"][0]["output"] for one in both] == ["a\ufffd\ufffdz"] * 2
    assert (report / "offload" / "programs" / "odd.txt").read_bytes() == b"a\xff\x80z"


def test_a_full_disk_costs_the_capture_only(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\ncaptures: [n0-n1]\n"
    text += "flows: [{type: ping, from: n0, to: n1}]\n"
    for mode in ("offload", "simulate"):
        report = tmp_path / mode
        report.mkdir()
        (report / "n0-n1.pcap").symlink_to("/dev/full")
        done = viaduct("run", scenario(text), "--mode", mode, "--report", report)
        assert "n0-n1" in done.error_line(1)
        written = json.loads((report / "results.json").read_text())
        assert written["flows"][0]["received"] > 0, mode
        assert written["captures"][0]["error"], mode


def test_results_that_cannot_be_written_in_one_place(scenario: Write, tmp_path: Path) -> None:
    text = STATIC + "nodes: 2\nduration: 1s\nlinks: [{line: all}]\n"
    text += "flows: [{type: ping, from: n0, to: n1}]\n"
    report = tmp_path / "report"
    words = ["--mode", "simulate", "--json", "/dev/full", "--report", str(report)]
    done = viaduct("run", scenario(text), *words)
    assert "/dev/full" in done.error_line(1)
    assert json.loads((report / "results.json").read_text())["flows"][0]["received"] > 0


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_a_flow_goes_to_the_chosen_address(mode: str, scenario: Write, tmp_path: Path) -> None:
    """Only the receiver's second link has IPv6."""
    file = scenario(
        STATIC
        + """
nodes: 2
duration: 3s
links:
  - {pair: [n0, n1]}
  - pair: [n0, n1]
    name: second
    addresses: [10.9.0.1/24, 10.9.0.2/24, "fd00::1/64", "fd00::2/64"]
flows:
  - {type: ping, name: six, from: n0, to: n1, address: ipv6}
  - {type: ping, name: link, from: n0, to: n1, address: second}
  - {type: udp, name: both, from: n0, to: n1, address: second/ipv6, rate: 64kbit}
"""
    )
    flows = run(file, tmp_path, "--mode", mode)["flows"]
    assert [flow["received"] > 0 for flow in flows] == [True] * 3


def elsewhere(done: dict[str, Any]) -> int:
    """What was lost of packets that are counted for no flow."""
    drops = [device.get("drops", {}) for device in done["counters"].values()]
    fates = [pipeline["fates"] for pipeline in done.get("engine", {}).get("pipelines", [])]
    lost = sum(sum(reasons.values()) for reasons in drops)
    lost += sum(count for each in fates for fate, count in each.items() if fate != "delivered")
    return lost + sum(device["tx_dropped_error"] for device in done["counters"].values())


@pytest.mark.parametrize("mode", ["simulate", "emulate"])
def test_each_loss_where_ns3_forwards_has_a_place(
    mode: str, scenario: Write, tmp_path: Path
) -> None:
    """A link goes down, and then the route that used it."""
    file = scenario(
        FAST_OLSR
        + """
nodes: 3
duration: 10s
links: [{line: all, spec: "delay=1ms"}]
flows: [{type: udp, from: n0, to: n2, size: 1000, rate: 400kbit, duration: 6s}]
events: [{at: 1s, link: n1-n2, state: down}]
"""
    )
    done = run(file, tmp_path, "--mode", mode)
    flow = done["flows"][0]
    lost = flow["sent"] - flow["received"]
    placed = sum(flow.get("lost_at", {}).values())
    assert 0.5 * flow["sent"] < lost
    assert placed <= lost <= placed + elsewhere(done), done
    if mode == "simulate":
        assert placed == lost
        assert {"n1: address_unresolved", "refused"} <= set(flow["lost_at"])
        assert done["counters"]["n1/stack"]["drops"]["link_down"] > 0, "packets of OLSR"


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_full_queues_of_a_simulation_have_places(
    family: str, scenario: Write, tmp_path: Path
) -> None:
    """On a link of ns-3's own the queue is the sender's, on one with a SPEC the link's."""
    file = scenario(
        STATIC
        + f"""
nodes: 3
duration: 3s
addressing: {{ipv6: fd00::/48}}
links:
  - {{pair: [n0, n1], spec: "rate=1Mbit queue=10p"}}
  - {{pair: [n0, n2]}}
flows:
  - {{type: udp, from: n0, to: n1, address: {family}, size: 1000, rate: 10Mbit, duration: 1s}}
  - {{type: udp, from: n0, to: n2, address: {family}, size: 1000, rate: 200Mbit, duration: 1s}}
"""
    )
    done = run(file, tmp_path, "--mode", "simulate")
    queue, disc = done["flows"]
    full = sum(each["fates"]["queue_full"] for each in done["engine"]["pipelines"])
    assert queue["sent"] - queue["received"] == full > 1000
    assert disc["sent"] - disc["received"] == sum(disc["lost_at"].values()) > 1000
    assert set(disc["lost_at"]) == {"n0: queue_full"}


def test_packets_that_wait_for_an_address_in_vain_have_a_place(
    scenario: Write, tmp_path: Path
) -> None:
    """The kernel keeps about 280 of them; the answer takes 200 ms."""
    file = scenario(
        STATIC
        + """
nodes: 2
duration: 2s
links: [{pair: [n0, n1], spec: "delay=100ms"}]
flows: [{type: udp, from: n0, to: n1, size: 100, rate: 40Mbit, duration: 500ms}]
"""
    )
    with network_outside():
        done = run(file, tmp_path, "--mode", "offload")
    if "neighbour_discards" not in done:
        pytest.skip("the kernel counts only in the initial network namespace")
    flow = done["flows"][0]
    lost = flow["sent"] - flow["received"]
    known = done["neighbour_discards"] + sum(flow.get("lost_at", {}).values()) + elsewhere(done)
    assert done["neighbour_discards"] > 100
    assert lost <= known, done


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_a_flow_without_a_route_fails(mode: str, scenario: Write, tmp_path: Path) -> None:
    file = scenario(
        STATIC
        + """
nodes: 4
duration: 1s
convergence: {required: false, timeout: 200ms}
links: [{pair: [n0, n1]}, {pair: [n2, n3]}]
flows:
  - {type: tcp, from: n0, to: n3}
  - {type: ping, from: n0, to: n3}
  - {type: ping, from: n0, to: n1}
"""
    )
    report = tmp_path / "run.json"
    assert viaduct("run", file, "--mode", mode, "--json", report).status == 1
    done = results(report)
    assert [bool(flow.get("error")) for flow in done["flows"]] == [True, True, False]
    assert len(done["failures"]) == 2
    if mode == "simulate":
        assert "n0 has no route to n3 (10.0.0.6)" in done["flows"][0]["error"]
