"""`viaduct run --pause-at`, `viaduct kernel shell` and `viaduct kernel resume`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import TIMEOUT, VIADUCT, Running, environment, results, viaduct, wait_until
from terminals import Terminal

SCENARIO = """
name: NAME
mode: simulate
stack: kernel
duration: 20s
nodes: 2
links: [{line: all, spec: "delay=10ms rate=10Mbit"}]
routing: {protocol: static}
flows: [{type: ping, from: n0, to: n1, duration: 2s}]
"""
PAUSED = "is paused at 1.200000 s"
PROMPT = r"@n0:\S*[#$] $"


@pytest.fixture(autouse=True)
def needs_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "release" not in viaduct("kernel", "list").output:
        pytest.skip("no kernel for guests: viaduct kernel build")
    cache = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    monkeypatch.setenv("VIADUCT_CACHE", os.environ.get("VIADUCT_CACHE", f"{cache}/viaduct"))
    monkeypatch.setenv("HOME", str(tmp_path))  # a shell without the user's own prompt


class Simulation:
    """A paused run and its shells."""

    def __init__(self, folder: Path, duration: str = "20s") -> None:
        self.name = f"paused{os.getpid()}"
        scenario = folder / "paused.yaml"
        text = SCENARIO.replace("NAME", self.name).replace("20s", duration)
        scenario.write_text(text)
        self.json = folder / "paused.json"
        self.run = Running("run", scenario, "--pause-at", "1s", "--json", self.json)
        self.shells: list[Terminal] = []

    def shell(self, *words: str) -> Terminal:
        self.shells.append(Terminal("kernel", "shell", f"{self.name}:n0", *words))
        return self.shells[-1]

    def program(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Without a terminal."""
        return subprocess.run(
            [str(VIADUCT), "kernel", "shell", f"{self.name}:n0", "--", *words],
            input=text,
            capture_output=True,
            text=True,
            env=environment(),
            timeout=TIMEOUT,
            check=False,
        )

    def resume(self) -> None:
        viaduct("kernel", "resume", self.name).expect()

    def records(self) -> list[Path]:
        """The record by which it is found."""
        folder = Path("/run/viaduct/.paused")
        if os.geteuid() != 0:
            folder = Path(os.environ.get("XDG_RUNTIME_DIR", f"/tmp/viaduct-{os.geteuid()}"))
            folder /= "viaduct/paused" if "XDG_RUNTIME_DIR" in os.environ else "paused"
        return [
            file for file in folder.glob("*/record.json") if f'"{self.name}"' in file.read_text()
        ]

    def close(self) -> None:
        for shell in self.shells:
            shell.close()
        if self.run.process.poll() is None:
            os.kill(self.run.pid, signal.SIGTERM)
            self.run.wait()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Simulation]]:
    """Starts a run and waits until it is paused."""
    made: list[Simulation] = []

    def begin(duration: str = "20s") -> Simulation:
        made.append(Simulation(tmp_path, duration))
        made[-1].run.wait_for(PAUSED)
        return made[-1]

    yield begin
    for simulation in made:
        simulation.close()


@pytest.fixture
def paused(start: Callable[..., Simulation]) -> Simulation:
    return start()


def uptime(terminal: Terminal) -> float:
    """The node's clock, read from its shell."""
    terminal.type("cat /proc/uptime\r")
    seconds = float(terminal.expect(r"(\d+\.\d+) \d+\.\d+\r\n")[1])
    terminal.expect(PROMPT)
    return seconds


def test_time_stands_still_at_the_prompt(paused: Simulation) -> None:
    shell = paused.shell()
    shell.expect("Virtual time stands still")
    shell.expect(PROMPT)
    before = uptime(shell)
    # Booted 2 s before the start; converged after 0.2 s; paused 1 s later.
    assert before == pytest.approx(3.2, abs=0.1)
    # While commands run, here two, time advances no faster than the wall clock.
    begin = time.monotonic()
    time.sleep(3)
    assert uptime(shell) - before < time.monotonic() - begin - 2.5
    begin = time.monotonic()
    shell.type("sleep 1\r")
    shell.expect(PROMPT)
    slept = time.monotonic() - begin
    assert slept > 0.9
    assert uptime(shell) - before >= 1.0
    shell.type("exit 3\r")
    shell.expect("is still paused")
    assert shell.wait() == 3
    assert paused.run.process.poll() is None
    paused.resume()
    assert paused.run.wait() == 0
    assert "resumed at " in paused.run.text
    assert not paused.records()
    (ping,) = results(paused.json)["flows"]
    assert ping["received"] == ping["sent"] == 20
    assert ping["rtt_ms"]["min"] > 20


def test_a_shell_has_its_terminal_and_the_nodes_network(paused: Simulation) -> None:
    shell = paused.shell()
    shell.expect(PROMPT)
    shell.type("stty size; hostname; ip -br link | wc -l\r")
    shell.expect("31 97\r\nn0\r\n2\r\n")
    shell.resize(50, 132)
    shell.type("stty size\r")
    shell.expect("50 132\r\n")
    shell.expect(PROMPT)
    shell.type("ping -c 3 -i 0.2 10.0.0.2\r")
    rtt = float(shell.expect(r"time=(\S+) ms")[1])
    assert rtt == pytest.approx(20.2, abs=1)
    shell.expect("3 received")
    shell.expect(PROMPT)
    # A Ctrl-Z that comes before the shell has read its line would take the line away.
    shell.type("echo read $((6 * 7)); sleep 1000\r")
    shell.expect("read 42\r\n")
    shell.insist("\x1a", r"Stopped +sleep 1000")  # Ctrl-Z
    shell.expect(PROMPT)
    # By number: bash 5.2 under load may have no current job when a program is stopped at its start.
    shell.type("fg %1\r")
    shell.expect(r"fg %1\r\n[^s]*sleep 1000\r\n")
    shell.insist("\x03", PROMPT)  # Ctrl-C reaches sleep, not the shell
    shell.type("echo status=$?\r")
    shell.expect("status=130")
    line = viaduct("kernel", "resume", paused.name).error_line(2)
    assert "a shell is open on n0" in line
    os.kill(shell.pid, signal.SIGHUP)
    assert shell.wait() == 128 + signal.SIGHUP
    wait_until(lambda: viaduct("kernel", "resume", paused.name).status == 0, "resumed")
    assert paused.run.wait() == 0


def test_programs_without_a_terminal(paused: Simulation) -> None:
    done = paused.program("sh", "-c", "cat; echo err >&2; pwd; exit 4", text="typed\n")
    assert (done.returncode, done.stderr) == (4, "err\n")
    assert done.stdout == f"typed\n{Path.cwd()}\n"
    assert len(paused.program("seq", "100000").stdout) == 588895
    # Computing takes no time, and none passes between two programs.
    begin = time.monotonic()
    times = [float(paused.program("cat", "/proc/uptime").stdout.split()[0]) for _ in range(2)]
    assert 0 <= times[1] - times[0] <= time.monotonic() - begin
    missing = paused.program("no-such-program")
    assert missing.returncode == 3
    assert "no-such-program" in missing.stderr
    line = viaduct("kernel", "shell", f"{paused.name}:n7").error_line(2)
    assert "no node n7 has a kernel" in line and "n0, n1" in line


def test_the_end_of_the_simulation_ends_shells(start: Callable[..., Simulation]) -> None:
    paused = start("2s")
    shell = paused.shell()
    shell.expect(PROMPT)
    shell.type("sleep 100\r")
    shell.expect("has ended, which also ended the program")
    assert shell.wait() == 1
    assert paused.run.wait() == 0
    assert not paused.records()


def test_an_interrupted_run_leaves_nothing(paused: Simulation) -> None:
    shell = paused.shell()
    shell.expect(PROMPT)
    assert len(paused.records()) == 1
    os.kill(paused.run.pid, signal.SIGINT)
    assert paused.run.wait() == 128 + signal.SIGINT
    shell.expect("has ended")
    assert not paused.records()


def pid_of(record: Path) -> int:
    """The pid of the simulator that made it."""
    return int(re.search(r'"pid":(\d+)', record.read_text())[1])  # type: ignore[index]


def kill_run(simulation: Simulation) -> None:
    """With its simulator, which leaves its record."""
    (record,) = simulation.records()
    pid = pid_of(record)
    os.kill(simulation.run.pid, signal.SIGKILL)
    simulation.run.wait()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the simulator has ended, too")
    assert simulation.records() == [record]


def test_clean_removes_what_a_killed_run_left(paused: Simulation) -> None:
    kill_run(paused)
    line = viaduct("kernel", "shell", f"{paused.name}:n0").error_line(2)
    assert "no simulation" in line
    assert paused.name in viaduct("clean").expect().output
    assert not paused.records()


def test_a_run_leaves_nothing_of_a_killed_simulator(start: Callable[..., Simulation]) -> None:
    former = start()
    kill_run(former)
    left = former.records()
    paused = start()
    (record,) = set(paused.records()) - set(left)
    os.kill(pid_of(record), signal.SIGKILL)
    assert paused.run.wait() == 1
    assert paused.records() == left, "its own record alone goes"
    viaduct("clean").expect()


def test_a_run_leaves_nothing_of_a_simulator_that_does_not_end(paused: Simulation) -> None:
    (record,) = paused.records()
    os.kill(pid_of(record), signal.SIGSTOP)
    os.kill(paused.run.pid, signal.SIGTERM)
    assert paused.run.wait() == 128 + signal.SIGTERM
    assert not paused.records()


@pytest.mark.parametrize(
    ("change", "pause", "said"),
    [
        ("", "1", "--pause-at: "),
        ("", "20s", "not before the run's end"),
        ("mode=offload", "1s", "only mode simulate can be paused"),
    ],
)
def test_what_cannot_be_paused(change: str, pause: str, said: str, tmp_path: Path) -> None:
    scenario = tmp_path / "no.yaml"
    scenario.write_text(SCENARIO.replace("NAME", "no"))
    words = ["--set", change] if change else []
    line = viaduct("run", scenario, "--pause-at", pause, *words).error_line(2)
    assert said in line
