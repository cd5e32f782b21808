"""`programs` in mode simulate: on nodes whose stack is a real kernel, in virtual time, and the same
file in mode offload."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import results, viaduct, without_wall_clock

SCENARIO = """
name: {name}
stack: kernel
duration: 30s
nodes: 3
links: [{{line: all, spec: "delay=5ms rate=100Mbit"}}]
routing: {{protocol: static}}
flows: [{{type: udp, from: n0, to: n2, rate: 400kbit, duration: 1s}}]
programs:
  - node: n2
    name: server
    command: [/usr/bin/python3, -u, -m, http.server, "8080", --directory, {folder}]
    background: true
  - {{node: n0, command: "curl -s --retry 5 --retry-connrefused http://{{n2}}:8080/page.txt",
     start: 1s}}
  - {{node: n0, command: "ping -c 3 -i 0.5 {{n2}}"}}
  - {{node: n1, command: "sh -c 'echo $GREETING; pwd; echo bad >&2; exit 7'", expect: 7,
     environment: {{GREETING: hello there}}}}
"""
SMALL = """
mode: simulate
stack: kernel
duration: 2h
nodes: 2
links: [{line: all}]
routing: {protocol: static}
"""


@pytest.fixture(autouse=True)
def needs_kernel() -> None:
    if "release" not in viaduct("kernel", "list").output:
        pytest.skip("no kernel for guests: viaduct kernel build")


def simulate(folder: Path, text: str, status: int = 0, *words: str) -> tuple[Any, str]:
    """Runs it; returns its results and its output."""
    scenario = folder / "programs.yaml"
    scenario.write_text(text)
    file = folder / "programs.json"
    done = viaduct("run", scenario, "--json", file, *words, timeout=120).expect(status)
    return results(file), done.errors


def check_results(run: dict[str, Any], folder: Path, mode: str = "simulate") -> None:
    server, curl, ping, shell = run["programs"]
    assert [program["ok"] for program in run["programs"]] == [True] * 4
    assert "a page from the other end" in curl["output"]
    assert "GET /page.txt" in server["output"]
    assert "stopped at the end of the run" in server["ended"]
    assert "3 received" in ping["output"]
    assert shell["output"] == f"hello there\n{folder}\nbad\n"
    assert shell["ended"] == "ended with status 7"
    assert run["flows"][0]["received"] > 0.95 * run["flows"][0]["sent"]
    # Two round trips of 20 ms and the server's answer; pings half a second apart.
    assert ping["seconds"] > 1.0
    assert mode != "simulate" or ping["seconds"] < 1.5


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_the_same_file_runs_in_both(
    mode: str, lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.txt").write_text("a page from the other end\n")
    text = SCENARIO.format(name=lab, folder=tmp_path)
    report = str(tmp_path / "report")
    run, errors = simulate(tmp_path, text, 0, "--mode", mode, "--report", report)
    check_results(run, tmp_path, mode)
    assert "n1 sh: hello there" in errors
    files = {file.name: file.read_text() for file in (tmp_path / "report/programs").iterdir()}
    assert set(files) == {"server.txt", "n0_curl.txt", "n0_ping.txt", "n1_sh.txt"}
    assert files["n1_sh.txt"] == f"hello there\n{tmp_path}\nbad\n"


def test_runs_repeat_exactly(tmp_path: Path) -> None:
    command = "sh -c 'date +%s.%N; ping -c 3 -i 0.2 {n1} | tail -n 1; head -c 8 /dev/urandom | od'"
    text = f'{SMALL}programs: [{{node: n0, command: "{command}"}}]\n'
    first, again = (simulate(tmp_path, text)[0] for _ in range(2))
    assert "rtt min/avg/max" in first["programs"][0]["output"]
    assert without_wall_clock(first) == without_wall_clock(again)


def test_time_is_virtual(tmp_path: Path) -> None:
    """A run ends with its last program, here one that sleeps for ten minutes."""
    text = SMALL + 'programs: [{node: n0, command: "sleep 600", start: 1min, timeout: 15min}]\n'
    run, _ = simulate(tmp_path, text)
    assert run["programs"][0]["seconds"] == pytest.approx(600, abs=0.1)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("command: sh -c 'exit 3'", "program 'n0 sh' ended with status 3"),
        ("command: sleep 9h", "program 'n0 sleep' was still running at the end of the run"),
        (
            "command: sleep 60, timeout: 10s",
            "program 'n0 sleep' ran longer than its timeout of 10s",
        ),
        ("command: no-such-program", "program 'n0 no-such-program': start no-such-program"),
    ],
    ids=["status", "running", "timeout", "missing"],
)
def test_a_failing_program_fails_the_run(program: str, said: str, tmp_path: Path) -> None:
    text = SMALL.replace("2h", "20s") + f"programs: [{{node: n0, {program}}}]\n"
    run, errors = simulate(tmp_path, text, 1)
    assert any(line.startswith(f"viaduct: {said}") for line in errors.splitlines()), errors
    assert not run["programs"][0]["ok"]


def test_a_node_of_ns3_runs_no_programs(scenario: Callable[[str], Path]) -> None:
    text = SMALL + "programs: [{node: n0, command: ls}]\n"
    file = scenario(text.replace("stack: kernel", "stack: ns3"))
    line = viaduct("run", file).error_line(2)
    assert "programs[0].node: n0 has ns-3's own stack" in line
