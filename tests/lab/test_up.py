"""A lab that stays: up, ls, exec, down, clean."""

from __future__ import annotations

import json
import os
import pwd
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import VIADUCT, descendants, execute, namespaces, records, viaduct, wait_until

STATIC = "routing: {protocol: static}\nduration: 1h\nnodes: 3\nlinks: [{line: all}]\n"


@pytest.fixture
def up(lab: str, scenario: Callable[[str], Path]) -> Iterator[str]:
    """A lab of three nodes that is up; its name."""
    viaduct("up", scenario(STATIC)).expect()
    yield lab
    if lab in records():
        viaduct("down", lab).expect()


def test_exec_runs_in_the_node(up: str) -> None:
    done = viaduct("exec", f"{up}:n1", "--", "ip", "-br", "link").expect()
    assert "eth0" in done.output
    assert "eth1" in done.output
    assert "eth2" not in done.output


def test_exec_gives_the_programs_status(up: str) -> None:
    viaduct("exec", f"{up}:n0", "--", "sh", "-c", "exit 42").expect(42)


def test_exec_of_an_unknown_node(up: str) -> None:
    assert "n9" in viaduct("exec", f"{up}:n9", "--", "true").error_line(2)


def test_it_keeps_no_descriptor_of_its_caller(
    lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    lock = tmp_path / "lock"
    try:
        execute(["flock", str(lock), str(VIADUCT), "up", str(scenario(STATIC))]).expect()
        execute(["flock", "--nonblock", str(lock), "true"]).expect()
    finally:
        viaduct("down", lab).expect()


def test_ls_shows_it(up: str) -> None:
    shown = viaduct("ls").expect().output
    user = pwd.getpwuid(os.getuid()).pw_name
    assert re.search(rf"^{up} +up +\d+ +{user} ", shown, re.MULTILINE), shown
    listed = json.loads(viaduct("ls", "--json").expect().output)
    assert up in json.dumps(listed)


def test_down_takes_it_all(up: str) -> None:
    viaduct("down", up).expect()
    assert not [name for name in namespaces() if name.startswith(up + ".")]
    assert up not in records()
    assert up in viaduct("down", up).error_line(2)


def test_name_taken(up: str, scenario: Callable[[str], Path]) -> None:
    line = viaduct("up", scenario(STATIC)).error_line(2)
    assert up in line
    viaduct("exec", f"{up}:n0", "--", "true").expect()


def test_the_machine_is_the_tests_own(up: str) -> None:
    """Or `clean` would remove what a test in another process has left dead on purpose."""
    record = f"/run/viaduct/{up}/record.jsonl"
    assert Path(record).exists()
    execute(["nsenter", "--mount", "--target", "1", "test", "-e", record]).expect(1)


def test_clean_leaves_the_living_alone(up: str) -> None:
    viaduct("clean").expect()
    viaduct("exec", f"{up}:n0", "--", "true").expect()


def test_clean_after_the_broker_was_killed(up: str) -> None:
    brokers = [run["broker_pid"] for run in runs() if run["lab"] == up]
    assert len(brokers) == 1
    below = descendants(brokers[0])
    os.kill(brokers[0], signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{brokers[0]}/exe").exists(), "the broker is dead")
    assert [name for name in namespaces() if name.startswith(up + ".")], "the lab is still there"
    done = viaduct("clean").expect()
    assert up in done.output
    assert not [name for name in namespaces() if name.startswith(up + ".")]
    assert up not in records()
    for pid in below:
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}/exe").exists(), f"{pid} is gone")


def runs() -> list[dict[str, object]]:
    """What `ls --json` lists."""
    listed = json.loads(viaduct("ls", "--json").expect().output)
    return listed if isinstance(listed, list) else listed["labs"]
