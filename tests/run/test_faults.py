"""Faults around a run: privileges, interfaces, crashes, kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import (
    FAST_OLSR,
    VIADUCT,
    as_nobody,
    execute,
    links,
    namespaces,
    records,
    running,
    simulator_of,
    viaduct,
    wait_until,
)

LINE = FAST_OLSR + "duration: 30s\nnodes: 3\nlinks: [{line: all}]\n"
FLOW = "flows: [{type: ping, from: n0, to: n2}]\n"


def test_not_root_and_no_sudo(scenario: Callable[[str], Path]) -> None:
    file = scenario(LINE)
    done = as_nobody(VIADUCT, "run", file, cwd=Path("/"))
    line = done.error_line(3)
    assert "root" in line or "sudo" in line


@pytest.fixture
def interface(lab: str) -> Iterator[str]:
    """An interface of the machine itself, a stand-in for a physical one."""
    name = f"{lab}v"
    execute(["ip", "link", "add", name, "type", "veth", "peer", "name", name + "p"]).expect()
    yield name
    execute(["ip", "link", "delete", name])


def physical(name: str) -> str:
    """A scenario that takes the interface into a node."""
    return (
        "routing: {protocol: static}\nduration: 1h\n"
        f"nodes: {{a: {{interfaces: [{name}]}}, b: {{}}}}\nlinks: [{{line: all}}]\n"
    )


def test_interface_missing(scenario: Callable[[str], Path]) -> None:
    line = viaduct("run", scenario(physical("nosuch0"))).error_line(2)
    assert "nosuch0" in line


def test_interface_is_given_back(lab: str, scenario: Callable[[str], Path], interface: str) -> None:
    viaduct("up", scenario(physical(interface))).expect()
    assert interface not in links()
    viaduct("down", lab).expect()
    assert interface in links()


def test_interface_of_another_run(
    lab: str, scenario: Callable[[str], Path], interface: str, tmp_path: Path
) -> None:
    viaduct("up", scenario(physical(interface))).expect()
    try:
        other = tmp_path / "other.yaml"
        other.write_text(f"name: {lab}b\n" + physical(interface))
        line = viaduct("up", other).error_line(2)
        assert interface in line
        assert lab in line, "says who has it"
    finally:
        viaduct("down", lab).expect()


def test_interface_is_busy(lab: str, scenario: Callable[[str], Path], interface: str) -> None:
    """One that carries addresses is in use; taking it may cut off the machine."""
    execute(["ip", "address", "add", "192.0.2.1/24", "dev", interface]).expect()
    done = viaduct("up", scenario(physical(interface)))
    assert interface in done.error_line(2)
    assert lab not in records()
    assert interface in links()


def test_namespace_name_taken(lab: str, scenario: Callable[[str], Path]) -> None:
    execute(["ip", "netns", "add", f"{lab}.n1"]).expect()
    try:
        line = viaduct("up", scenario(LINE)).error_line(2)
        assert f"{lab}.n1" in line
        assert f"{lab}.n1" in namespaces(), "somebody else's is left alone"
        assert f"{lab}.n0" not in namespaces()
        assert lab not in records()
    finally:
        execute(["ip", "netns", "delete", f"{lab}.n1"]).expect()


def test_simulator_crashes(lab: str, scenario: Callable[[str], Path]) -> None:
    with running("run", scenario(LINE)) as run:
        run.wait_for("converged")
        os.kill(simulator_of(run.pid), signal.SIGSEGV)
        assert run.wait() == 1
        last = run.text.strip().splitlines()[-1]
        assert "simulator" in last or "viaduct-sim" in last
    assert lab not in records()


def test_simulator_hangs(lab: str, scenario: Callable[[str], Path]) -> None:
    """A stopped simulator does not hang the run: it ends and reports that."""
    text = LINE.replace("duration: 30s", "duration: 2s")
    with running("run", scenario(text)) as run:
        run.wait_for("converged")
        os.kill(simulator_of(run.pid), signal.SIGSTOP)
        assert run.wait(150) == 1
        assert "hang" in run.text
    assert lab not in records()


def test_command_is_killed(lab: str, scenario: Callable[[str], Path]) -> None:
    """The broker ends with its last client and removes everything."""
    with running("run", scenario(LINE + FLOW)) as run:
        run.wait_for("converged")
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    # the leftovers fixture checks the rest; `clean` reports no error
    viaduct("clean").expect()


def test_command_and_broker_are_killed(lab: str, scenario: Callable[[str], Path]) -> None:
    with running("run", scenario(LINE + FLOW)) as run:
        run.wait_for("converged")
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()

    def cleaned() -> bool:  # the broker may still be dying: until it has, its lab is not stale
        viaduct("clean").expect()
        return lab not in records()

    wait_until(cleaned, "the lab is removed")
    assert not [name for name in namespaces() if name.startswith(lab)]


def test_clean_says_what_it_cannot_reach(lab: str, scenario: Callable[[str], Path]) -> None:
    """A killed lab whose namespaces have their names in a mount namespace of its own."""
    apart = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        'echo $$; "$@"; read x',
        "sh",
    ]
    command = [*apart, str(VIADUCT), "up", "--quiet", str(scenario(LINE))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            record = Path(f"/run/viaduct/{lab}/record.jsonl")
            wait_until(
                lambda: execute([str(VIADUCT), "exec", f"{lab}:n0", "--", "true"]).status == 0,
                "it is up",
            )
            broker = json.loads(record.read_text().splitlines()[0])["pid"]
            os.kill(broker, signal.SIGKILL)
            there = ["nsenter", "--mount", "--target", str(process.pid)]
            wait_until(lambda: "n0" in viaduct("clean").errors, "it says which are elsewhere")
            assert "nsenter" in viaduct("clean").error_line(1)
            assert record.exists()
            execute([*there, str(VIADUCT), "clean"]).expect()
            assert not record.exists()
        finally:
            process.communicate(b"\n")


def test_void_run(scenario: Callable[[str], Path]) -> None:
    file = scenario(
        LINE.replace("duration: 30s", "duration: 1s") + "timing: {lateness_limit: 1ns}\n"
    )
    done = viaduct("run", file).expect(4)
    assert "VOID" in done.output + done.errors


@pytest.mark.parametrize("mode", ["simulate", "emulate"])
def test_not_converging(mode: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Two islands: pairs that cannot reach each other are named, in the results too."""
    file, results = (
        scenario(
            FAST_OLSR + "duration: 1s\nnodes: [a, b, c, d]\n"
            "links: [{pair: [a, b]}, {pair: [c, d]}]\nconvergence: {timeout: 4s}\n"
            "flows: [{type: ping, from: a, to: b}]\n"
        ),
        tmp_path / "run.json",
    )
    done = viaduct("run", file, "--mode", mode, "--json", results).expect(1)
    assert "a->c" in done.errors.partition("; unreachable: ")[2]
    run = json.loads(results.read_text())
    assert "not converged within 4s" in run["failures"][0]
    assert ["a", "c"] in run["convergence"]["unreachable"]
    assert run["convergence"]["reachable"] == 4
    assert run["flows"] == []
    assert run["verdict"] == "not judged"


@pytest.mark.parametrize("spec", ["delay=1ms", "rate=10Mbit"])
def test_link_spec_is_never_ignored(spec: str, scenario: Callable[[str], Path]) -> None:
    """Applied, or refused with what is missing; never a different experiment."""
    file = scenario(
        "routing: {protocol: static}\nduration: 2s\nnodes: 2\nmode: offload\n"
        f'links: [{{line: all, spec: "{spec}"}}]\nflows: [{{type: ping, from: n0, to: n1}}]\n'
    )
    done = viaduct("run", file)
    if done.status != 0:
        line = done.error_line(3)
        assert "netem" in line or "tbf" in line.lower()


@pytest.mark.parametrize("mode", ["offload", "simulate"])
@pytest.mark.parametrize("kind", ["FIFO", "device", "folder"])
def test_what_is_no_regular_file_is_no_trace(
    mode: str, kind: str, tmp_path: Path, scenario: Callable[[str], Path]
) -> None:
    """Which would be waited for without end; nothing is left of the lab."""
    fifo = tmp_path / "trace"
    os.mkfifo(fifo)
    file = {"FIFO": fifo, "device": Path("/dev/zero"), "folder": tmp_path}[kind]
    text = (
        f"routing: {{protocol: static}}\nduration: 1s\nnodes: 2\nmode: {mode}\n"
        f'links: [{{line: all, spec: "rate=trace:{file}"}}]\n'
    )
    assert f"{file} is a {kind}; use a regular file" in viaduct("run", scenario(text)).error_line(2)


def test_clean_spares_labs_of_other_time_namespaces(
    lab: str, scenario: Callable[[str], Path]
) -> None:
    """For whose processes the machine, and everything on it, started at another time."""
    if not Path("/proc/self/ns/time").exists():
        pytest.skip("this kernel has no time namespaces")
    later = ["unshare", "--time", "--boottime", "100000"]
    viaduct("up", scenario(LINE), "--quiet").expect()
    try:
        assert execute([*later, str(VIADUCT), "clean"]).expect().output == ""
        viaduct("exec", f"{lab}:n0", "--", "true").expect()
        viaduct("down", lab).expect()
        execute([*later, str(VIADUCT), "up", "--quiet", str(scenario(LINE))]).expect()
        assert viaduct("clean").expect().output == ""
        viaduct("exec", f"{lab}:n0", "--", "true").expect()
    finally:
        viaduct("down", lab)


def signals_blocked(pid: int) -> int:
    """As a bit mask."""
    words = Path(f"/proc/{pid}/status").read_text().split()
    return int(words[words.index("SigBlk:") + 1], 16)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("begun", [False, True])
def test_exec_ends_though_the_broker_stands_still(
    number: signal.Signals, begun: bool, lab: str, scenario: Callable[[str], Path]
) -> None:
    viaduct("up", scenario(LINE), "--quiet").expect()
    record = Path(f"/run/viaduct/{lab}/record.jsonl").read_text().splitlines()[0]
    broker = json.loads(record)["pid"]
    words = ["exec", f"{lab}:n0", "--", "sh", "-c", "echo begun; sleep 1000"]
    try:
        if not begun:
            os.kill(broker, signal.SIGSTOP)
        with running(*words) as command:
            if begun:
                command.wait_for("begun")
                os.kill(broker, signal.SIGSTOP)
            else:
                bit = 1 << (number - 1)
                wait_until(lambda: signals_blocked(command.pid) & bit, "it waits for the broker")

            def ended() -> bool:
                """The first one is to be passed on, if the program runs, and the next ends it."""
                os.kill(command.pid, number)
                return command.process.poll() is not None

            wait_until(ended, "the command ends")
            assert command.wait() == 128 + number
    finally:
        os.kill(broker, signal.SIGCONT)
        viaduct("down", lab).expect()
