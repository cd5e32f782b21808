"""What the command inherits from its caller: resource limits, signals, a full standard output.

Root's half works whatever they are; the user's programs keep them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import (
    BUILD,
    VIADUCT,
    Done,
    environment,
    execute,
    is_alive,
    records,
    viaduct,
    wait_until,
)

STATIC = "routing: {protocol: static}\nduration: 1h\nnodes: 2\nlinks: [{line: all}]\n"

# Soft limits, which any process may raise: without that they end the work of root's half.
OF_ROOTS_HALF = ["--fsize=0:", "--fsize=100:", "--cpu=1:", "--sigpending=0", "--memlock=0"]
OF_ROOTS_HALF += ["--rttime=1", "--nproc=1"]
# Only CAP_SYS_RESOURCE raises the first two, which root may lack; the others are the user's half's.
OF_BOTH = ["--fsize=100", "--cpu=1", "--nofile=8", "--nofile=24", "--stack=262144"]
OF_BOTH += ["--data=8388608", "--as=134217728"]


def limited(limit: str, *words: str | Path) -> Done:
    """The command with a limit, soft and hard."""
    return execute(["prlimit", limit, str(VIADUCT), *map(str, words)])


def works_or_says(done: Done) -> None:
    """Success, or a status and one line."""
    assert 0 <= done.status <= 4, f"{done.status}\n{done}"
    if done.status != 0:
        assert len(done.errors.splitlines()) == 1, done
        assert done.errors.startswith("viaduct: "), done


def unfinished() -> list[str]:
    """What a command that has ended half-way leaves."""
    run = Path("/run/viaduct")
    return [str(path) for path in [*run.glob(".*/.new-*"), *run.glob(".new-*")]]


@pytest.fixture
def home(lab: str) -> Iterator[list[str]]:
    """What to put before a command, for a namespace that plays a machine of two interfaces."""
    execute(["ip", "netns", "add", lab]).expect()
    inside = ["ip", "netns", "exec", lab]
    execute([*inside, "ip", "link", "set", "dev", "lo", "up"]).expect()
    execute([*inside, *"ip link add left type veth peer name right".split()]).expect()
    for name in ("left", "right"):
        execute([*inside, "ip", "link", "set", "dev", name, "up"]).expect()
    yield inside
    wait_until(lambda: "vsh" not in execute([*inside, "ip", "-o", "link"]).output, "no link left")
    execute(["ip", "netns", "delete", lab])


@pytest.mark.parametrize("limit", [*OF_ROOTS_HALF, *OF_BOTH])
def test_a_shell_and_a_path_under_a_limit(limit: str, home: list[str]) -> None:
    for words in (
        ["shell", "--", "true"],
        "path --between left right --duration 200ms --quiet".split(),
    ):
        done = execute([*home, "prlimit", limit, str(VIADUCT), *words])
        done.expect() if limit in OF_ROOTS_HALF else works_or_says(done)
        assert unfinished() == []
        assert limited(limit, "ls").status in (0, 1, 127)


@pytest.mark.parametrize("limit", [*OF_ROOTS_HALF, *OF_BOTH])
def test_a_lab_under_a_limit(limit: str, lab: str, scenario: Callable[[str], Path]) -> None:
    works_or_says(limited(limit, "up", "--quiet", scenario(STATIC)))
    if lab in records():
        works_or_says(limited(limit, "down", lab))
    wait_until(lambda: unfinished() == [], "no record is left half-made")
    if lab in records():
        viaduct("down", lab).expect()


@pytest.mark.parametrize("limit", [*OF_ROOTS_HALF, *OF_BOTH])
def test_clean_under_a_limit(limit: str, lab: str, scenario: Callable[[str], Path]) -> None:
    viaduct("up", scenario(STATIC)).expect()
    record = Path(f"/run/viaduct/{lab}/record.jsonl").read_text().splitlines()[0]
    broker = json.loads(record)["pid"]
    os.kill(broker, signal.SIGKILL)
    wait_until(lambda: not is_alive(broker), "the broker is dead")
    done = limited(limit, "clean")
    works_or_says(done)
    assert done.status == 0 or limit in OF_BOTH, done
    assert unfinished() == []
    viaduct("clean").expect()
    assert lab not in records()


def test_programs_keep_the_callers_limits(
    home: list[str], lab: str, scenario: Callable[[str], Path]
) -> None:
    limits = ["prlimit", "--fsize=20480:", "--cpu=77:", "--nofile=333"]
    command = [*limits, str(VIADUCT)]
    show = ["cat", "/proc/self/limits"]
    execute([*command, "up", str(scenario(STATIC))]).expect()
    try:
        shown = [execute([str(VIADUCT), "exec", f"{lab}:n0", "--", *show]).expect().output]
    finally:
        viaduct("down", lab).expect()
    shown.append(execute([*home, *command, "shell", "--", *show]).expect().output)
    for text in shown:
        assert re.search(r"^Max file size +20480 ", text, re.MULTILINE), text
        assert re.search(r"^Max cpu time +77 ", text, re.MULTILINE), text
        assert re.search(r"^Max open files +333 ", text, re.MULTILINE), text


def test_without_the_right_to_raise_a_limit(home: list[str]) -> None:
    """A container's root may lack CAP_SYS_RESOURCE: root's half says which limit is too low."""
    without = ["setpriv", "--bounding-set=-sys_resource", str(VIADUCT), "shell", "--", "true"]
    done = execute([*home, "prlimit", "--fsize=100", *without])
    assert "the size of files (ulimit -f), which is 100" in done.error_line(3)
    assert unfinished() == []
    execute([*home, "prlimit", "--memlock=0", *without]).expect()


@pytest.mark.parametrize("signals", [["--ignore-signal=CHLD"], ["--block-signal"]])
def test_signals_of_the_caller(
    signals: list[str], home: list[str], lab: str, scenario: Callable[[str], Path]
) -> None:
    command = ["env", *signals, str(VIADUCT)]
    execute([*home, *command, "shell", "--", "sh", "-c", "exit 7"]).expect(7)
    execute([*home, *command, *"path --between left right --duration 200ms".split()]).expect()
    execute([*command, "up", str(scenario(STATIC))]).expect()
    execute([*command, "down", lab]).expect()
    text = STATIC.replace("1h", "1s").replace("routing", "mode: simulate\nrouting")
    execute([*command, "run", str(scenario(text)), "--compare", "simulate"]).expect()


@pytest.mark.parametrize(
    "words",
    [
        ["shell", "--", "sh", "-c", "echo ready; sleep 0.5; exit 7"],
        "path --between left right --duration 500ms".split(),
    ],
)
def test_a_hang_up_that_the_caller_ignores(
    words: list[str], home: list[str], tmp_path: Path
) -> None:
    """As under nohup(1). A path that is hung up succeeds, but before its time."""
    file = tmp_path / "results.json"
    command = [*home, "env", "--ignore-signal=HUP", str(VIADUCT), words[0], "--json", str(file)]
    with subprocess.Popen(
        [*command, *words[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout
        first = process.stdout.readline()
        assert "ready" in first or " is running" in first, first
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == (7 if words[0] == "shell" else 0)
    assert json.loads(file.read_text())["seconds"] >= 0.5


@pytest.mark.parametrize(
    "words",
    [
        "version",
        "doctor",
        "docs results",
        "kernel list",
        "run {file} --print",
        "ls",
        "path ls --json",
        "path --between left right --duration 200ms",
        "path switch-config --vendor ios --link Gi0/1,Gi0/2 --trunk Gi0/24",
        "--help",
    ],
)
def test_a_full_standard_output(
    words: str, home: list[str], lab: str, scenario: Callable[[str], Path]
) -> None:
    file = scenario(STATIC)
    if words == "ls":
        viaduct("up", file).expect()
    try:
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*home, str(VIADUCT), *words.format(file=file).split()],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                env=environment(),
                check=False,
            )
        assert done.returncode == 1, done.stderr
        problem = "standard output: cannot be written: No space left on device"
        assert done.stderr.endswith(f"viaduct: {problem}\n")
    finally:
        if words == "ls":
            viaduct("down", lab).expect()


def test_results_that_a_full_disk_does_not_take(scenario: Callable[[str], Path]) -> None:
    words = ["run", scenario(STATIC), "--mode", "simulate", "--quiet", "--json", "/dev/full"]
    line = viaduct(*words).error_line(1)
    assert "--json /dev/full: cannot be written: No space left on device" in line


def test_a_full_standard_output_of_the_load_generator() -> None:
    words = f"{BUILD}/viaduct-load send --to 127.0.0.1:9 --rate 10kbit --duration 0.1s"
    done = execute(["sh", "-c", f"{words} >/dev/full"])
    assert "standard output: cannot be written" in done.error_line(1)


def test_a_name_has_one_rule(lab: str, scenario: Callable[[str], Path]) -> None:
    for length in (33, 48, 100):
        name = "a" * length
        line = viaduct("run", scenario(STATIC), "--set", f"name={name}").error_line(2)
        assert "at most 32" in line
    assert "1 to 32 letters" in viaduct("down", "a" * 300).error_line(2)
