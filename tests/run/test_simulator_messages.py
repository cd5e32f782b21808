"""The command and the simulator: messages that one of them does not know are errors of both."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import BUILD, environment, viaduct

LINE = "routing: {protocol: static}\nnodes: 2\nlinks: [{line: all}]\nduration: 1s\nmode: simulate\n"
Write = Callable[[str], Path]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('{"event":"dance"}', "the simulator sent an unexpected message (event 'dance')"),
        ('{"event":"note","message":"a","by":"b"}', "unexpected message (event 'note' with 'by')"),
        ('{"event":"note"}', "an unexpected message (event 'note' without 'message')"),
        ('{"event":"note","message":7}', "an unexpected message (event 'note' ("),
        ('{"event":"hub"}', "an unexpected message (event 'hub' without"),
        ('{"event":7}', "malformed message"),
        ('{"time":1}', "malformed message"),
        ("dance", "malformed message"),
    ],
)
def test_an_unknown_message_of_the_simulator(
    message: str,
    words: str,
    scenario: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulator = tmp_path / "viaduct-sim"
    simulator.write_text(
        "#!/bin/bash\n"
        "while [ $1 != --control ]; do shift; done\n"
        f"echo '{message}' >&$2\n"
        "read -u $2 || true\n"
    )
    simulator.chmod(0o755)
    monkeypatch.setenv("VIADUCT_SIM", str(simulator))
    assert words in viaduct("run", scenario(LINE)).error_line(1)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('{"command":"dance"}', "the command sent an unexpected message (command 'dance')"),
        ('{"command":"stop","now":true}', "an unexpected message (command 'stop' with 'now')"),
        ('{"command":"release"}', "an unexpected message (command 'release' without 'node')"),
        ('{"command":7}', 'malformed message: {"command":7}'),
        ("{}", "malformed message: {}"),
        ("[]", "malformed message: []"),
        ("stop", "malformed message: stop"),
    ],
)
def test_an_unknown_command_to_the_simulator(command: str, words: str, scenario: Write) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(command.encode() + b"\n")
        arguments = [BUILD / "viaduct-sim", "--scenario", scenario(LINE), "--control"]
        done = subprocess.run(
            [*map(str, arguments), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment(),
            timeout=100,
            check=False,
        )
        theirs.close()
        events = [json.loads(line) for line in ours.makefile()]
    assert done.returncode == 1
    assert events[-1]["event"] == "error"
    assert words in events[-1]["message"]
