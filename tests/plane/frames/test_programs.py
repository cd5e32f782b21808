"""Nodes that forward Ethernet frames by a program: one that comes along, or a user's."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import (
    BUILD,
    REPOSITORY,
    Done,
    execute,
    forwarder,
    inside,
    results,
    running,
    viaduct,
    wait_until,
)
from programs import FLOODING, FLOWS, LINE, compiled, plane

MODES = ["simulate", "emulate", "traditional", "offload"]
REPEAT = "outbox.Flood(frame.port, frame.bytes); return 0;"
Write = Callable[[str], Path]


def ran(scenario: Write, report: Path, text: str, *options: str) -> dict[str, Any]:
    """The results of a run that must not fail."""
    viaduct("run", scenario(text), "--json", report, *options).expect()
    return results(report)


def refused(scenario: Write, text: str, *options: str) -> str:
    """The one line that refuses a scenario."""
    return viaduct("run", scenario(text), *options).error_line(2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", ["bridge", "hub"])
def test_programs_that_come_along(program: str, mode: str, scenario: Write, tmp_path: Path) -> None:
    run = ran(scenario, tmp_path / "r.json", LINE + FLOWS + plane(program), "--mode", mode)
    assert run["convergence"]["reachable"] == run["convergence"]["pairs"] == 20
    for flow in run["flows"]:
        assert flow["sent"] > 10
        # ns-3's own emulation loses some where other processes take the machine.
        assert flow["loss"] <= (0.5 if mode == "traditional" else 0), flow
    if mode == "offload":
        planes = run["data_planes"]
        assert {planes[node]["name"] for node in ("n0", "n1")} == {"program"}
        packets = planes["n1"]["packets"]
        assert packets["eth0"]["forwarded"] >= run["flows"][0]["sent"]
        assert ("flooded" in packets["eth0"]) == (program == "bridge")


def ring(mode: str) -> str:
    """Two hosts on opposite sides of a ring of four, a link of whose faster side fails."""
    return f"""
        nodes: {{a: {{host: true}}, b: {{host: true}}, count: 4}}
        mode: {mode}
        links:
          - {{line: [n0, n1, n2], spec: "delay=1ms"}}
          - {{line: [n2, n3, n0], spec: "delay=10ms"}}
          - {{pair: [a, n0], addresses: [10.0.0.1/24, none, fd00::1/64, none]}}
          - {{pair: [b, n2], addresses: [10.0.0.2/24, none, fd00::2/64, none]}}
        data_plane: {{program: "{FLOODING}"}}
        routing: {{protocol: "flooding::Protocol"}}
        duration: 4s
        flows:
          - {{type: ping, from: a, to: b, interval: 50ms, duration: 3s}}
          - {{type: ping, from: b, to: a, address: ipv6, interval: 50ms, duration: 3s}}
          - {{type: udp, from: a, to: b, size: 1472, rate: 1Mbit, duration: 3s}}
        events: [{{at: 1s, link: n0-n1, state: down}}, {{at: 2s, link: n0-n1, state: up}}]
    """


@pytest.mark.parametrize("mode", MODES)
def test_a_layer_2_protocol_delivers_alike_in_all_modes(
    mode: str, scenario: Write, tmp_path: Path
) -> None:
    """Every frame comes once, whatever way fails, also if it is overtaken as that is back."""
    run = ran(scenario, tmp_path / "r.json", ring(mode))
    assert [flow["loss"] for flow in run["flows"]] == [0, 0, 0], run["flows"]
    assert [flow["received"] for flow in run["flows"][:2]] == [60, 60]
    udp = run["flows"][2]
    assert udp["received"] == udp["sent"] > 100
    assert not any("duplicates" in flow for flow in run["flows"]), run["flows"]
    if mode == "offload":
        n2 = run["data_planes"]["n2"]["packets"]
        assert n2["eth0"]["duplicate"] + n2["eth1"]["duplicate"] > 100
        assert not run["data_planes"]["n2"].get("drops"), run["data_planes"]["n2"]


def test_the_protocol_finds_the_same_neighbours_without_flows(
    scenario: Write, tmp_path: Path
) -> None:
    """A run without hosts, too."""
    text = f"nodes: 3\nlinks: [{{ring: all}}]\nduration: 1s\n{plane(FLOODING)}"
    text += 'routing: {protocol: "flooding::Protocol", attributes: {HelloInterval: 100ms}}\n'
    for mode in MODES:
        run = ran(scenario, tmp_path / "r.json", text, "--mode", mode)
        assert run["convergence"]["reachable"] == 6
        assert run["convergence"]["seconds"] >= 0.15  # one hello and a half


def test_hops_end_where_the_protocol_says(scenario: Write, tmp_path: Path) -> None:
    """Frames that stop are losses, in the simulator and in the forwarder."""
    line = LINE.replace("count: 2", "count: 4")
    line = line.replace("{pair: [n0, n1]", "{line: [n0, n1, n2, n3]").replace("[c, n1]", "[c, n3]")
    line += FLOWS + plane(FLOODING)
    line += 'routing: {protocol: "flooding::Protocol", attributes: {Hops: %d}}\n'
    for mode in ("simulate", "offload"):
        run = ran(scenario, tmp_path / "r.json", line % 3, "--mode", mode)
        assert [flow["loss"] for flow in run["flows"]] == [0, 0, 0, 0]
        done = viaduct("run", scenario(line % 2), "--mode", mode, "--json", tmp_path / "r.json")
        run = results(tmp_path / "r.json")
        assert [flow["received"] for flow in run["flows"][:3]] == [0, 0, 0]
        assert run["flows"][3]["loss"] == 0
        assert "hop-limit" in done.output, done


def test_a_lab_forwards_until_it_is_taken_down(lab: str, scenario: Write) -> None:
    """Also when its forwarder is killed, whose program then begins anew."""
    viaduct("up", scenario(LINE + plane("bridge"))).expect()
    try:
        inside(f"{lab}.a", "ping", "-c3", "-i0.2", "10.0.0.3").expect()
        inside(f"{lab}.c", "ping", "-6", "-c3", "-i0.2", "fd00::2").expect()
        first = forwarder(lab, 2)
        os.kill(first, signal.SIGKILL)
        wait_until(
            lambda: inside(f"{lab}.a", "ping", "-c1", "-W1", "10.0.0.3").status == 0, "an answer"
        )
        assert forwarder(lab, 2) != first
    finally:
        viaduct("down", lab).expect()


def test_the_protocol_goes_on_with_another_forwarder(lab: str, scenario: Write) -> None:
    """Its numbers go on, so that the others do not take new frames for old ones."""
    text = LINE + plane(FLOODING) + 'routing: {protocol: "flooding::Protocol"}\n'
    viaduct("up", scenario(text)).expect()
    try:
        ping = ("ping", "-c1", "-W1", "10.0.0.3")
        wait_until(lambda: inside(f"{lab}.a", *ping).status == 0, "an answer")
        for _ in range(2):
            os.kill(forwarder(lab, 2), signal.SIGKILL)
            wait_until(lambda: inside(f"{lab}.a", *ping).status == 0, "an answer")
        inside(f"{lab}.a", "ping", "-c10", "-i0.1", "10.0.0.3").expect()
    finally:
        viaduct("down", lab).expect()


def test_a_users_program_has_no_privileges(scenario: Write, tmp_path: Path) -> None:
    """In the forwarder: no capability, not even root's."""
    told = tmp_path / "told"
    told.mkdir(mode=0o777)
    told.chmod(0o777)
    make = f'std::ofstream("{told}/" + node.name) << std::ifstream("/proc/self/status").rdbuf();'
    library = compiled(tmp_path, REPEAT, make=make)
    run = ran(scenario, tmp_path / "r.json", LINE + FLOWS + plane(library), "--mode", "offload")
    assert [flow["loss"] for flow in run["flows"]] == [0, 0, 0, 0]
    for node in ("n0", "n1"):
        lines = (told / node).read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines)
        for kind in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
            assert int(status[kind], 16) == 0, (kind, status[kind])
        assert status["NoNewPrivs"].strip() == "1"
        assert status["Name"].strip() == "viaduct-forward"


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_losses_of_a_users_program_are_named(mode: str, scenario: Write, tmp_path: Path) -> None:
    """The program loses every frame of UDP."""
    take = "if (frame.bytes.size() > 500) return 1; " + REPEAT
    text = LINE + FLOWS + plane(compiled(tmp_path, take))
    done = viaduct("run", scenario(text), "--mode", mode, "--json", tmp_path / "r.json").expect()
    udp = results(tmp_path / "r.json")["flows"][2]
    assert udp["received"] == 0 < udp["sent"]
    where = "n0, data plane program" if mode == "offload" else "n0/program"
    counted = [line for line in done.output.splitlines() if f"lost at {where}: " in line]
    assert len(counted) == 1, done
    assert int(counted[0].split(": ")[1].split()[0]) >= udp["sent"]
    assert "(lost)" in counted[0]


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_a_program_gets_what_its_filter_passes(mode: str, scenario: Write, tmp_path: Path) -> None:
    """Without the frames of UDP, which are nobody's then, and counted nowhere as taken."""
    library = compiled(tmp_path, REPEAT, filter_="not udp")
    run = ran(scenario, tmp_path / "r.json", LINE + FLOWS + plane(library), "--mode", mode)
    assert [flow["loss"] for flow in run["flows"]] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("take", "said"),
    [
        ("return 2;", "the program returned an outcome that is not in kOutcomes"),
        ("outbox.Send(ports, frame.bytes); return 0;", "out of range|_M_range_check"),
        ('throw std::runtime_error("it is tired");', "it is tired"),
        ("__builtin_trap();", ""),
    ],
)
def test_a_broken_program_fails_the_run(
    take: str, said: str, scenario: Write, tmp_path: Path
) -> None:
    """And nothing but the run."""
    text = LINE + FLOWS + plane(compiled(tmp_path, take))
    for mode in ("simulate", "offload"):
        done = viaduct("run", scenario(text), "--mode", mode)
        assert done.status not in (0, None), done
        if said:
            assert any(each in done.errors for each in said.split("|")), done
            assert re.search(r"node n[01], forwarding program .*libtried\.so: ", done.errors), done


def test_what_is_no_program_is_said_in_one_line(scenario: Write, tmp_path: Path) -> None:
    def error(program: str | Path, *options: str) -> str:
        return refused(scenario, LINE + plane(program), *options)

    assert "'brige' is neither one of bridge, hub" in error("brige")
    assert "'router' is neither one of bridge, hub" in error("router")
    for mode in ("simulate", "offload"):
        missing = error(tmp_path / "libnone.so", "--mode", mode)
        assert f"{tmp_path}/libnone.so: cannot open shared object file" in missing
        assert "n0" in missing
        (tmp_path / "libtext.so").write_text("not a library")
        assert "libtext.so: " in error(tmp_path / "libtext.so", "--mode", mode)
        shutil.copy(BUILD / "ns3" / "libflood-routing.so", tmp_path / "libother.so")
        assert "VIADUCT_FORWARDING_PROGRAM" in error(tmp_path / "libother.so", "--mode", mode)
    other = tmp_path / "libversion.so"
    text = compiled(tmp_path, REPEAT, name="version").with_suffix(".cc").read_text()
    begin, end = text.split("VIADUCT_FORWARDING_PROGRAM(Tried);")
    exported = "const ExportedProgram viaduct_forwarding_program"
    other.with_suffix(".cc").write_text(
        f'{begin}extern "C" {exported};\n{exported}{{.interface = 0, .kind = '
        f'KindOf<Tried>("Tried")}};\n{end}'
    )
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-I", str(REPOSITORY / "src")]
    execute([*command, str(other.with_suffix(".cc")), "-o", str(other)]).expect()
    assert "headers of another version" in error(other)
    wrong = compiled(tmp_path, REPEAT, name="wrong", make="", filter_="no such filter")
    message = error(wrong, "--mode", "offload")
    assert "no such filter" in message


def test_a_library_that_is_cut_off_is_said_in_one_line(scenario: Write, tmp_path: Path) -> None:
    """Wherever it ends; it would end the process that loads it."""
    whole = compiled(tmp_path, REPEAT).read_bytes()
    cut = tmp_path / "libcut.so"
    for size in (60, 100, 4096, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:size])
        message = refused(scenario, LINE + plane(cut), "--mode", "simulate")
        assert "libcut.so" in message, size
        assert size < 64 or f"is incomplete (cut off after {size} bytes)" in message, message
    assert "is incomplete" in refused(scenario, LINE + plane(cut), "--mode", "offload")


def test_what_does_not_go_together_is_refused(scenario: Write) -> None:
    bridged = LINE + plane("bridge")
    refusals = {
        bridged + "routing: OLSR\n": "OLSR is not supported for nodes that forward",
        bridged + "routing: static\n": "static is not supported for nodes that forward",
        bridged + "routing: WMRP\n": "WMRP is not supported for nodes that forward",
        LINE.replace("count: 2", "n0: {data_plane: {program: hub}}, n1: {}"): "nodes.n1: other",
        LINE.replace("a: {host: true}", "a: {host: true, data_plane: {program: hub}}"): "no IP",
        bridged + "flows: [{type: ping, from: a, to: n1}]\n": "'n1' is a node that forwards",
        bridged.replace("none, fd00::1/64", "10.0.0.9/24, fd00::1/64"): "'n0' is a node that",
        bridged + "routing: {sample: 1s}\n": "routing.sample",
        LINE + "data_plane: {}\n": "needs program",
        LINE + "data_plane: {programme: hub}\n": "unknown key 'programme'",
        LINE + "data_plane: [hub]\n": "data_plane",
    }
    for text, message in refusals.items():
        assert message in refused(scenario, text), text
    of_ip = bridged + 'routing: {protocol: "ns3::Ipv4StaticRouting"}\n'
    assert "routes IP packets" in refused(scenario, of_ip)
    no_protocol = bridged + 'routing: {protocol: "ns3::Node"}\n'
    assert "is not a routing protocol" in refused(scenario, no_protocol, "--mode", "simulate")
    unknown = bridged + 'routing: {protocol: "flooding::Protocol"}\n'
    assert "flooding::Protocol" in refused(scenario, unknown, "--mode", "simulate")
    hosts = "hosts: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}\n"
    assert "on several machines" in refused(scenario, bridged + hosts)


def test_the_effective_scenario_reads_itself_back(scenario: Write, tmp_path: Path) -> None:
    def printed(file: Path) -> Done:
        return viaduct("run", file, "--print").expect()

    once = printed(scenario(LINE + plane("hub"))).output
    assert once.count("{program: hub}") == 2
    again = tmp_path / "again.yaml"
    again.write_text(once)
    assert printed(again).output == once


HANGS = "for (;;) pause();"


@pytest.mark.parametrize(
    ("take", "make", "said"),
    [
        (HANGS, "", "node n0, forwarding program .*libtried.so: did not return for 5 s"),
        ("__builtin_trap();", "", "node n0, forwarding program .*libtried.so: signal 4"),
        (REPEAT, HANGS, "the forwarder did not start within 10s"),
        (REPEAT, 'for (int fd = 3; fd < 99; ++fd) (void)!write(fd, "x", 1);', "viaduct: "),
        (REPEAT, 'throw std::runtime_error("no\\nwords");', "libtried.so: no"),
    ],
)
def test_a_program_that_hangs_or_dies_fails_the_run(
    take: str, make: str, said: str, scenario: Write, tmp_path: Path
) -> None:
    """And nothing is left of it, nor is the broker's time."""
    library = compiled(tmp_path, take, make=make)
    text = LINE + plane(library) + "duration: 8s\nflows: [{type: ping, from: a, to: c}]\n"
    done = viaduct("run", scenario(text), "--mode", "offload")
    assert done.status == 1, done
    assert re.search(said, done.errors), done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_simulation_that_hangs_in_a_program_can_be_ended(
    number: signal.Signals, scenario: Write, tmp_path: Path
) -> None:
    """By Ctrl-C twice, the first of which asks for results; otherwise by one signal."""
    hangs = tmp_path / "hangs"
    take = f'if (frame.bytes.size() > 900) {{ std::ofstream("{hangs}"); for (;;) pause(); }} '
    text = LINE + plane(compiled(tmp_path, take + REPEAT))
    text += "flows: [{type: udp, from: a, to: c, size: 1000, rate: 1Mbit}]\n"
    with running("run", scenario(text), "--mode", "simulate") as command:
        wait_until(hangs.exists, "it hangs")
        if number == signal.SIGINT:
            os.kill(command.pid, number)
            command.wait_for("interrupt again to stop immediately")
        began = time.monotonic()
        os.kill(command.pid, number)
        assert command.wait() == 128 + number
        # It would wait for 20 seconds; what it does needs no time.
        assert time.monotonic() - began < 15


def test_a_lab_whose_program_hangs_as_it_is_made_can_be_interrupted(
    scenario: Write, tmp_path: Path
) -> None:
    """The broker does not wait for it any more (10 s) when nobody does."""
    hangs = tmp_path / "hangs"
    tmp_path.chmod(0o777)
    library = compiled(tmp_path, REPEAT, make=f'std::ofstream("{hangs}"); {HANGS}')
    with running("run", scenario(LINE + plane(library)), "--mode", "offload") as command:
        wait_until(hangs.exists, "it hangs")
        began = time.monotonic()
        os.kill(command.pid, signal.SIGINT)
        assert command.wait() == 128 + signal.SIGINT
        assert time.monotonic() - began < 8


def test_counters_that_a_program_has_spoilt_are_no_figures(scenario: Write, tmp_path: Path) -> None:
    """It shares its process with them: such a run fails, and says nothing of these frames."""
    spoil = """
        if (frame.bytes.size() > 900) {
          std::ifstream maps("/proc/self/maps");
          for (std::string line; std::getline(maps, line);) {
            if (line.find("viaduct-counters") == std::string::npos) continue;
            auto* words = reinterpret_cast<uint64_t*>(std::stoul(line, nullptr, 16));
            words[1] = 1ull << 60;
          }
        }
    """
    text = LINE + plane(compiled(tmp_path, spoil + REPEAT)) + "duration: 2s\n"
    text += "flows: [{type: udp, from: a, to: c, size: 1000, rate: 100kbit, duration: 1s}]\n"
    file = tmp_path / "r.json"
    done = viaduct("run", scenario(text), "--mode", "offload", "--json", file)
    assert done.status == 1, done
    run = results(file)
    said = [failure for failure in run["failures"] if "implausible counters" in failure]
    assert [failure.split(":")[0] for failure in said] == ["node n0", "node n1"]
    assert "packets" not in run["data_planes"]["n0"]
    assert run["flows"][0]["received"] > 0


def test_a_run_whose_forwarder_was_killed_is_not_valid(
    lab: str, scenario: Write, tmp_path: Path
) -> None:
    """However early its packets were: those that it lost are in no figure of time."""
    text = LINE + plane("bridge") + "timing: {lateness_limit: 1h}\nduration: 4s\n"
    text += "flows: [{type: ping, from: a, to: c, interval: 100ms}]\n"
    file = tmp_path / "r.json"
    with running("run", scenario(text), "--mode", "offload", "--json", file) as command:
        command.wait_for("converged")
        os.kill(forwarder(lab, 2), signal.SIGKILL)
        assert command.wait() == 1
    run = results(file)
    assert any("forwarder exited unexpectedly 1 times" in failure for failure in run["failures"])
    assert run["verdict"] == "not judged"
    assert "the time that packets spent in the forwarder" in run["not_judged"]
    assert "VALID" not in command.text


@pytest.mark.parametrize("mode", ["emulate", "traditional", "offload"])
def test_tagged_frames_of_the_protocols_type_are_the_programs(
    mode: str, scenario: Write, tmp_path: Path
) -> None:
    """They pass with their tags, as in mode simulate; those without a tag are the protocol's."""
    sender = tmp_path / "sender.py"
    sender.write_text(
        "import socket, time\n"
        "sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
        "sender.bind(('eth0', 0))\n"
        "for kind in ('88b5', '8100600788b5', '8100000888b5', '88b6'):\n"
        "    sender.send(bytes.fromhex('ffffffffffff020000000077' + kind) + bytes(60))\n"
        "time.sleep(0.5)\n"
    )
    library = compiled(tmp_path, "outbox.Flood(frame.port, frame.bytes); return 0;", control=0x88B5)
    file = scenario(
        "nodes: {a: {host: true}, b: {host: true}, count: 1}\n"
        "links: [{pair: [a, n0]}, {pair: [b, n0]}]\n"
        "duration: 1min\ncaptures: [b-n0]\n"
        f"programs: [{{node: a, command: python3 {sender}}}]\n" + plane(library)
    )
    report = tmp_path / "r.json"
    viaduct("run", file, "--mode", mode, "--json", report, cwd=tmp_path).expect()
    capture = tmp_path / results(report)["captures"][0]["file"]
    command = ["tshark", "-r", capture, "-Y", "eth.src == 02:00:00:00:00:77", "-T", "fields"]
    fields = ["-e", "vlan.id", "-e", "vlan.etype", "-e", "eth.type"]
    told = execute([*map(str, command), *fields]).expect().output.splitlines()
    assert [line.split("\t") for line in told] == [
        ["7", "0x88b5", "0x8100"],
        ["8", "0x88b5", "0x8100"],
        ["", "", "0x88b6"],
    ]


def test_frames_for_other_stations_are_not_for_a_program_that_wants_its_own(
    scenario: Write, tmp_path: Path
) -> None:
    """In no mode; so it carries nothing but what is for all."""
    library = compiled(tmp_path, REPEAT, promiscuous=False)
    text = LINE + plane(library) + "duration: 1s\nflows: [{type: ping, from: a, to: c}]\n"
    for mode in MODES:
        run = ran(scenario, tmp_path / "r.json", text, "--mode", mode)
        assert run["flows"][0]["received"] == 0, mode
