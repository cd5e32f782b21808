"""A wrong file or command line: one line with the error, its place and the remedy; status 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import viaduct

GOOD = """
mode: simulate
nodes: 3
links: [{line: all}]
"""

WRONG = {
    # text: what the message must name
    "nodes: [a, b\n": "yaml:",
    "nodes: 3\nlinks: [{line: all}]\nspeed: 3\n": "speed",
    "nodes: 3\nlinks: [{line: all}]\nduration: 10 parsecs\n": "parsecs",
    "nodes: 3\nlinks: [{line: all, spec: delay=fast}]\n": "fast",
    "nodes: 3\nlinks: [{line: all, spec: speed=1}]\n": "speed",
    "nodes: 3\nlinks: [{pair: [n0, n9]}]\n": "n9",
    "nodes: 3\nlinks: [{line: all, ring: all}]\n": "line",
    "nodes: [a, a]\nlinks: [{line: all}]\n": "a",
    "nodes: 3\nlinks: [{line: all}]\nmode: turbo\n": "turbo",
    "nodes: 3\nlinks: [{line: all}]\nflows: [{type: udp, from: n0, to: n7}]\n": "n7",
    "nodes: 3\nlinks: [{line: all}]\nevents: [{at: 1s, link: n7-n8, state: down}]\n": "n7-n8",
    "nodes: 3\nnodes: 4\nlinks: [{line: all}]\n": "nodes",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_wrong_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    done = viaduct("run", file)
    line = done.error_line(2)
    assert len(done.errors.strip().splitlines()) == 1, done.errors
    assert WRONG[text] in line
    assert f"{file.name}:" in line, "must name the file and the line"


@pytest.mark.parametrize(
    ("routing", "named"),
    [
        ("protocol: ns3::Ospf", "ns3::Ospf"),
        ("protocol: ns3::Rip\n  attributes: {Speed: 3}", "Speed"),
        ("protocol: ns3::Rip\n  attributes: {UnsolicitedRoutingUpdate: soon}", "soon"),
        ("protocol: ns3::UdpEchoServer", "ns3::UdpEchoServer"),
    ],
)
def test_wrong_type_or_attribute(routing: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(GOOD + f"routing:\n  {routing}\n")
    line = viaduct("run", file).error_line(2)
    assert named in line


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["run"], ["run", "--fast", "x.yaml"], ["run", "/nowhere/x.yaml"], ["exec"]],
)
def test_wrong_command_line(arguments: list[str]) -> None:
    done = viaduct(*arguments)
    assert done.error_line(2)
    assert done.output == ""


def test_override_of_unknown_key(scenario: Callable[[str], Path]) -> None:
    file = scenario(GOOD)
    line = viaduct("run", file, "--set", "spede=3").error_line(2)
    assert "spede" in line


@pytest.mark.parametrize("subcommand", ["run", "up", "exec", "ls", "down", "clean", "doctor"])
def test_help_has_an_example(subcommand: str) -> None:
    done = viaduct(subcommand, "--help").expect()
    assert f"viaduct {subcommand}" in done.output
