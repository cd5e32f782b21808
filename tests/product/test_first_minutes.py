"""What a new user types first: help, a topology without a file, standard input, Ctrl-C."""

from __future__ import annotations

import json as text_of_json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import (
    REPOSITORY,
    VIADUCT,
    Running,
    as_nobody,
    environment,
    execute,
    inside,
    records,
    results,
    running,
    viaduct,
    wait_until,
)

LONG = """
nodes: 2
links: [{line: all, spec: rate=10Mbit}]
duration: 300s
flows:
  - {type: udp, from: n0, to: n1, rate: 100kbit}
  - {type: tcp, from: n0, to: n1, rate: 1Mbit}
  - {type: ping, from: n1, to: n0, interval: 100ms}
  - {type: ping, from: n0, to: n1, start: 250s, name: late}
"""


def test_a_topology_needs_no_file(tmp_path: Path) -> None:
    words = ["run", "--topo", "ring,4", "--protocol", "RIP", "--mode", "simulate"]
    file = tmp_path / "a.json"
    if os.getuid() == 0:
        tmp_path.chmod(0o777)
        for above in tmp_path.parents[:2]:
            above.chmod(0o755)
        as_nobody(VIADUCT, *words, "--json", file, cwd=Path("/")).expect()
    else:
        viaduct(*words, "--json", file).expect()
    run = results(file)
    assert run["convergence"]["reachable"] == run["convergence"]["pairs"] == 12
    assert [flow["loss"] for flow in run["flows"]] == [0, 0]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["rnu"], "run"),
        (["kernel", "lst"], "list"),
        (["path", "sat"], "set"),
        (["run", "--topoo", "line,5"], "--topo"),
        (["run", "--topo", "lien,5"], "line"),
        (["run", "--topo", "line,5", "--mode", "simulate", "--protocol", "OSLR"], "OLSR"),
        (["run", "--topo", "line,5", "--mode", "simulate", "--protocol", "ripmg"], "ripng"),
        (["run", "--topo", "line,5", "--set", "duraton=2s"], "duration"),
        (["shell", "--up", "dealy=5ms", "--", "true"], "delay"),
    ],
    ids=" ".join,
)
def test_a_typo_gets_a_suggestion(words: list[str], meant: str) -> None:
    assert f"did you mean '{meant}'?" in viaduct(*words).error_line(2)


def test_doctor_says_what_the_machine_can_do_for_whom() -> None:
    output = viaduct("doctor").expect().output
    first, second = output.split("\n\n")[:2]
    found = {line.split()[0]: line for line in first.splitlines()[2:]}
    assert list(found) == ["simulate", "path", "lab", "kernels", "eBPF"]
    assert found["simulate"].split()[1] == "yes"
    assert re.search(r"^guests' kernels +(yes|no) ", second, re.MULTILINE)
    assert re.search(r"^netem +\w+ +delay=.* of links with emulator: kernel", second, re.MULTILINE)


def test_doctor_tries_the_simulator() -> None:
    output = execute(["env", "VIADUCT_SIM=/bin/false", str(VIADUCT), "doctor"]).output
    here = {line.split()[0]: line.split()[1] for line in output.split("\n\n")[0].splitlines()[2:]}
    assert here["simulate"] == here["lab"] == here["kernels"] == "no"
    assert "/bin/false exits with status 1" in output


@pytest.mark.parametrize("topology", ["line", "ring", "grid", "star", "tree"])
def test_a_written_file_runs(topology: str, tmp_path: Path) -> None:
    execute([str(VIADUCT), "init", topology], cwd=tmp_path).expect()
    file = tmp_path / f"{topology}.yaml"
    viaduct("run", file, "--mode", "simulate", "--duration", "1s").expect()
    again = execute([str(VIADUCT), "init", topology], cwd=tmp_path)
    assert "already exists" in again.error_line(2)


def test_standard_input_is_a_file(tmp_path: Path) -> None:
    text = viaduct("init", "line,2", "-").expect().output

    def run(given: str, *more: str) -> subprocess.CompletedProcess[str]:
        command = [str(VIADUCT), "run", "-", *more, "--duration", "1s"]
        return subprocess.run(
            command, input=given, capture_output=True, text=True, env=environment(), check=False
        )

    assert run(text, "--compare", "simulate,simulate").returncode == 0
    wrong = run(text + "speed: 3\n", "--mode", "simulate")
    assert wrong.returncode == 2
    assert "standard input:" in wrong.stderr
    assert run("", "--mode", "simulate").returncode == 2


def interrupted(
    file: Path, json: Path, mode: str, wait: Callable[[Running], None]
) -> dict[str, dict[str, Any]]:
    """The flows of a run that Ctrl-C has ended, at the end of `wait`."""
    words = ("run", file, "--mode", mode, "--json", json)
    with running(*words) as run:
        wait(run)
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait() == 130, run.text
        assert "interrupted" in run.text
        assert "ping n1->n0" in run.text, "the table is printed"
    flows = {flow["name"]: flow for flow in results(json)["flows"]}
    late = flows.pop("late")
    assert "loss" not in late
    assert late["error"], "a flow that had not begun has no result"
    return flows


def test_ctrl_c_reports_what_was_simulated(tmp_path: Path) -> None:
    file, json = tmp_path / "long.yaml", tmp_path / "out.json"
    file.write_text(LONG.replace("300s", "20h").replace("250s", "19h"))
    flows = interrupted(file, json, "simulate", lambda run: run.wait_for("s simulated"))
    for flow in flows.values():
        assert "error" not in flow or not flow["error"], flow
    udp, tcp, ping = flows.values()
    # A packet may have been under way at that moment: then the result says so.
    for flow in (udp, ping):
        assert flow["sent"] - flow["received"] <= bool(flow.get("cut")), flow
    # The time that was not simulated is no time without packets.
    assert udp["rate_bit_per_s"] == pytest.approx(100e3, rel=0.02)
    assert tcp["rate_bit_per_s"] == pytest.approx(1e6, rel=0.1)


def test_ctrl_c_reports_what_was_measured(
    lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    file = scenario(LONG)

    def counted(protocol: str, counter: str) -> int:
        lines = inside(f"{lab}.n1", "cat", "/proc/net/snmp").expect().output.splitlines()
        names, values = (line.split() for line in lines if line.startswith(f"{protocol}:"))
        return int(values[names.index(counter)])

    def all_flow(run: Running) -> None:
        run.wait_for("converged")
        for counter in (("Udp", "InDatagrams"), ("Tcp", "InSegs"), ("Icmp", "InEchoReps")):
            least = 10 if counter[0] == "Icmp" else 150
            wait_until(lambda counter=counter, least=least: counted(*counter) > least, str(counter))

    flows = interrupted(file, tmp_path / "out.json", "offload", all_flow)
    for name, flow in flows.items():
        assert not flow.get("error"), (name, flow)
    udp, tcp, ping = flows.values()
    # A packet may have been under way at that moment: then the result says so.
    for flow in (udp, ping):
        assert flow["sent"] - flow["received"] <= bool(flow.get("cut")), flow
    assert isinstance(tcp["rate_bit_per_s"], float)
    assert 0 < tcp["rate_bit_per_s"] < 10e6
    assert lab not in records()


def test_the_schema_line_names_a_schema() -> None:
    first = viaduct("init", "line", "-").expect().output.splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=file:///"), "make build prints it"
    schema = Path(first.split("file://")[1])
    assert schema.read_text() == viaduct("docs", "schema").expect().output


def test_examples_are_what_the_schema_allows() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    schema = text_of_json.loads(viaduct("docs", "schema").expect().output)
    validator = jsonschema.Draft7Validator(schema)
    for file in sorted((REPOSITORY / "examples").glob("*.yaml")):
        assert not list(validator.iter_errors(yaml.safe_load(file.read_text()))), file
    for wrong in ({"speed": 3}, {"links": [{"lin": "all"}]}, {"mode": "fly"}, {"nodes": True}):
        assert list(validator.iter_errors(wrong)), wrong


def test_bash_completes_commands_options_and_values(tmp_path: Path) -> None:
    script = tmp_path / "viaduct.bash"
    script.write_text(viaduct("docs", "completion", "bash").expect().output)

    def completed(*words: str) -> set[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        text = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _viaduct; "
        text += 'printf "%s\\n" "${COMPREPLY[@]}"'
        return set(execute(["bash", "-c", text]).expect().output.split())

    assert completed("viaduct", "ru") == {"run"}
    assert {"run", "path", "help", "--version"} <= completed("viaduct", "")
    assert completed("viaduct", "path", "se") == {"set"}
    assert completed("viaduct", "path", "set", "--do") == {"--down"}
    assert completed("viaduct", "run", "--mode", "") == {
        "simulate",
        "traditional",
        "emulate",
        "offload",
    }
    assert completed("viaduct", "init", "tr") == {"tree"}
    assert completed("viaduct", "exec", "n0", "--", "ru") == set()


def test_the_manual_page_is_well_formed() -> None:
    page = viaduct("docs", "man").expect().output
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-z"],
        input=page,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""
