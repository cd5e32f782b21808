"""Nodes have names, and `viaduct ls LAB` shows what they are."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from labs import RUN, execute, namespaces, records, viaduct, wait_until

LINE = """
nodes: 3
links: [{pair: [n0, n1], spec: delay=1ms}, {pair: [n1, n2]}]
routing: {protocol: static}
addressing: {ipv6: "fd00::/48"}
duration: 1h
"""


@pytest.fixture(params=["offload", "emulate"])
def up(
    request: pytest.FixtureRequest, lab: str, scenario: Callable[[str], Path]
) -> Iterator[tuple[str, str]]:
    """A lab of three nodes that is up: its name and mode."""
    viaduct("up", scenario(LINE), "--mode", request.param).expect()
    yield lab, request.param
    if lab in records():
        viaduct("down", lab).expect()


def inside(lab: str, node: str, *command: str) -> str:
    """What a program in a node prints."""
    return viaduct("exec", f"{lab}:{node}", "--", *command).expect().output.strip()


def test_names_are_known_in_nodes_and_nowhere_else(up: tuple[str, str]) -> None:
    lab, _ = up
    before = socket.gethostname(), Path("/etc/hosts").read_text()
    assert inside(lab, "n1", "hostname") == "n1"
    for family in ("-4", "-6"):
        assert " 0% packet loss" in inside(lab, "n0", "ping", family, "-c", "2", "n2")
    assert inside(lab, "n0", "getent", "hosts", "n1.eth1").split()[0] == "fd00:0:0:1::1"
    assert inside(lab, "n2", "sh", "-c", "ping -c 1 n0 | head -1").startswith("PING n0")
    assert (socket.gethostname(), Path("/etc/hosts").read_text()) == before
    assert "n1" not in execute(["getent", "hosts", "n1"]).output


def test_a_prompt_shows_the_node(up: tuple[str, str]) -> None:
    text = inside(up[0], "n1", "bash", "--norc", "-c", "p='\\h'; echo ${p@P}")
    assert text == "n1"


def test_nothing_of_them_is_left(up: tuple[str, str]) -> None:
    lab, mode = up
    assert (RUN / lab / "hosts").exists()
    if mode == "offload":
        viaduct("down", lab).expect()
    else:
        listed = json.loads(viaduct("ls", "--json").expect().output)
        broker = next(each for each in listed if each["lab"] == lab)["broker_pid"]
        os.kill(broker, signal.SIGKILL)
        wait_until(lambda: "dead" in viaduct("ls").output, "the lab is dead")
        viaduct("clean").expect()
    assert not (RUN / lab).exists()
    assert not [name for name in namespaces() if name.startswith(lab)]


def of(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The item of that name."""
    return next(item for item in items if item["name"] == name)


def test_ls_looks_into_a_lab(up: tuple[str, str]) -> None:
    lab, mode = up
    inside(lab, "n0", "ping", "-c", "3", "-i", "0.2", "n2")
    seen = json.loads(viaduct("ls", lab, "--json").expect().output)
    assert [node["name"] for node in seen["nodes"]] == ["n0", "n1", "n2"]
    first = of(of(seen["nodes"], "n1")["interfaces"], "eth0")
    assert first["link"] == "n0-n1"
    assert first["up"]
    assert first["carrier"]
    assert first["rx_packets"] >= 3
    link = of(seen["links"], "n0-n1")
    assert link["ends"] == ["n0:eth0", "n1:eth0"]
    assert [each["direction"] for each in link["statistics"]] == ["up", "down"]
    assert all(each["arrived"] >= 3 for each in link["statistics"])
    assert all("delay=1ms" in each["spec"] for each in link["statistics"])
    plain = of(seen["links"], "n1-n2")
    assert plain["specs"] == plain["statistics"] == []
    n0 = of(seen["nodes"], "n0")
    if mode == "offload":
        assert "10.0.0.1/30" in of(n0["interfaces"], "eth0")["addresses"]
        route = next(route for route in n0["routes"] if route["to"] == "10.0.0.4/30")
        assert route["hops"] == [{"via": "10.0.0.2", "interface": "eth0"}]
        assert route["from"] == "protocol"
    else:
        assert "10.0.0.1/30" in of(n0["interfaces"], "tun0")["addresses"]
        assert "simulator" in n0["routes_elsewhere"]
    table = viaduct("ls", lab).expect().output
    assert "delay=1ms" in table
    assert "n1" in table


def test_ls_of_no_lab() -> None:
    assert "nolab" in viaduct("ls", "nolab").error_line(2)


def test_exec_completes_nodes(up: tuple[str, str], tmp_path: Path) -> None:
    lab, _ = up
    assert viaduct("ls", "--names", "nodes").expect().output.split() == ["n0", "n1", "n2"]
    assert viaduct("ls", "--names", "labs").expect().output.split() == [lab]
    script = tmp_path / "viaduct.bash"
    script.write_text(viaduct("docs", "completion", "bash").expect().output)
    text = f"""source {script}
viaduct() {{ printf '%s\n' $NAMES; }}
completed() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$LINE"; COMP_POINT=${{#LINE}}
_viaduct; echo "${{COMPREPLY[@]}}"; }}
NAMES='n0 n1' completed viaduct exec n
NAMES='x:n0 x:n1 y:n0' LINE='viaduct exec x:n' completed viaduct exec x : n"""
    lines = execute(["bash", "-c", text]).expect().output.splitlines()
    assert [line.split() for line in lines] == [["n0", "n1"], ["n0", "n1"]]
    for shell in ("zsh", "fish"):
        text = viaduct("docs", "completion", shell).expect().output
        assert "ls --names nodes" in text
        if shutil.which(shell):
            (tmp_path / shell).write_text(text)
            execute([shell, "-n", str(tmp_path / shell)]).expect()
