"""The blocks of README and docs that test_documents.py does not run: scenarios, paths, shells."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from labs import REPOSITORY, VIADUCT, Running, environment, execute, inside
from test_documents import BLOCK, COMMANDS, DOCUMENTS

BASE: dict[str, Any] = {"nodes": 5, "links": [{"line": "all"}]}


def scenarios() -> list[tuple[str, dict[str, Any]]]:
    """(document, keys) of each YAML block that is a scenario, or a part of one."""
    found = []
    for document in DOCUMENTS:
        name = document.relative_to(REPOSITORY).as_posix()
        for language, text in BLOCK.findall(document.read_text()):
            if language == "yaml" and "jobs:" not in text:
                found.append((name, yaml.safe_load(text)))
    return found


SCENARIOS = scenarios()


@pytest.mark.parametrize(
    ("document", "keys"), SCENARIOS, ids=[f"{i}-{name}" for i, (name, _) in enumerate(SCENARIOS)]
)
def test_a_scenario_is_one(document: str, keys: dict[str, Any], tmp_path: Path) -> None:
    """With what a part of one leaves out."""
    file = tmp_path / "block.yaml"
    file.write_text(json.dumps(BASE | keys))
    done = execute([str(VIADUCT), "run", str(file), "--print"])
    assert done.status == 0, f"{document}: {done}"
    assert yaml.safe_load(done.output)["nodes"]


def test_the_readmes_table_is_what_its_scenario_prints(tmp_path: Path) -> None:
    """In virtual time, each figure of it."""
    blocks = BLOCK.findall((REPOSITORY / "README.md").read_text())
    (scenario,) = (text for language, text in blocks if language == "yaml")
    (table,) = (text for language, text in blocks if language == "text")
    (tmp_path / "ring.yaml").write_text(scenario)
    done = execute([str(VIADUCT), "run", "ring.yaml", "--mode", "simulate"], cwd=tmp_path).expect()
    assert done.output == table


def paths() -> list[list[str]]:
    """The commands that emulate a path, each once."""
    found: list[list[str]] = []
    for _, words in COMMANDS:
        is_one = words[0] == "path" and len(words) > 1 and words[1] in ("--between", "--pair")
        if is_one and words not in found:
            found.append(words)
    return found


@pytest.fixture
def four(lab: str) -> Iterator[str]:
    """A namespace with eth1 to eth4, whose other ends are in it, too."""
    execute(["ip", "netns", "add", lab]).expect()
    try:
        for number in range(1, 5):
            pair = f"ip link add eth{number} type veth peer name end{number}"
            inside(lab, *pair.split()).expect()
            for name in (f"eth{number}", f"end{number}"):
                inside(lab, "ip", "link", "set", name, "up").expect()
        yield lab
    finally:
        execute(["ip", "netns", "del", lab])


def emulate(four: str, words: list[str]) -> None:
    """Runs a path until Ctrl-C, and meanwhile what docs/path.md says about one that runs."""
    path = Running(*words, before=["ip", "netns", "exec", four])
    try:
        path.wait_for(" is running ")
        if "--between" in words and "--class" not in words:
            at = words.index("--between") + 1
            first, second = words[at : at + 2]
            for _, other in COMMANDS:
                if other[:5] == ["path", "set", "--between", first, second]:
                    inside(four, str(VIADUCT), *other).expect()
            stats = inside(four, str(VIADUCT), "path", "stats").expect().output
            assert f"{first}-{second}" in stats
            assert first in inside(four, str(VIADUCT), "path", "ls").expect().output
        os.kill(path.pid, signal.SIGINT)
        assert path.wait() == 0, path.text
        assert re.search(r"^pair +.*arrived", path.text, re.MULTILINE), path.text
    finally:
        if path.process.poll() is None:
            os.kill(path.pid, signal.SIGTERM)
            path.wait()


def test_there_are_paths() -> None:
    assert len(paths()) >= 4
    assert len(SCENARIOS) >= 12


@pytest.mark.parametrize("words", paths(), ids=" ".join)
def test_a_path_runs(words: list[str], four: str) -> None:
    emulate(four, words)


def test_the_schedule_is_one(four: str, tmp_path: Path) -> None:
    blocks = BLOCK.findall((REPOSITORY / "docs/path.md").read_text())
    (schedule,) = (text for _, text in blocks if text.startswith("# time"))
    file = tmp_path / "schedule"
    file.write_text(schedule)
    pairs = ["--pair", "eth1,eth2", "--pair", "far=eth3,eth4", "--class", "dns=udp port 53"]
    emulate(four, ["path", *pairs, "--schedule", str(file)])


def test_a_shell_runs(tmp_path: Path) -> None:
    """The line of docs/path.md whose program changes its own path."""
    text = (REPOSITORY / "docs/path.md").read_text()
    (line,) = re.findall(r"^viaduct shell .*VIADUCT_HOST.*$", text, re.MULTILINE)
    (tmp_path / "viaduct").symlink_to(VIADUCT)
    done = subprocess.run(
        ["bash", "-c", line],
        env=environment() | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    before, after = re.findall(r"rtt min/avg/max/mdev = ([\d.]+)/", done.stdout)
    assert 20 <= float(before) < 80 <= float(after)
