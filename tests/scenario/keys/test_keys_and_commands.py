"""What each command does with each key of the scenario file is what docs/scenario.md says."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path

import kernels
import pytest
from labs import Done, viaduct
from probes import BASE, MACHINES, PROBES

COMMANDS = ("simulate", "traditional", "emulate", "offload", "up", "hub", "several machines")
REAL = ("traditional", "emulate", "offload")

INVISIBLE = {
    "mode": "the command line says it",
    "name": "of the files alone",
    "kernel_memory": "the results are the same with more of it",
    "guests": "the results are the same in both places",
    "nodes.NAME": "a map of keys that have probes of their own",
}
"""Keys that mode simulate honours, without a difference in what is measured."""

UNTRIED = {
    "nodes.NAME.on_machine": "machines are refused before their nodes",
    "nodes.NAME.on_host": "the same",
    "machines.NAME": "",
    "machines.NAME.address": "",
    "machines.NAME.login": "",
}
"""Keys inside of one that is refused by itself."""

FORMER = {"hosts": "machines"}
"""Keys by another name, in which messages have the present one."""


@cache
def documented() -> dict[str, str]:
    """By key, what each command does with it: as a letter each."""
    text = viaduct("docs", "scenario").expect().output
    keys, uses = text.split("## What each command does with the keys")
    letters = {"yes": "y", "refused": "r", "not run": "n", "-": "-"}
    table = dict.fromkeys(re.findall(r"^\| `([^`]+)` \|", keys, re.MULTILINE), "y" * len(COMMANDS))
    for line in uses.splitlines():
        if row := re.match(r"\| `([^`]+)` \| (.*) \|$", line):
            table[row[1]] = "".join(letters[cell] for cell in row[2].split(" | "))
    return table


def cases(letter: str, *commands: str) -> list[tuple[str, str]]:
    return [
        (key, command)
        for command in commands
        for key, uses in documented().items()
        if uses[COMMANDS.index(command)] == letter
    ]


def overrides(*assignments: str) -> list[str]:
    return [word for each in assignments for word in ("--set", each)]


def run(folder: Path, command: str, *assignments: str) -> Done:
    """With the scenario in `folder`, where results and captures are written."""
    file = folder / "probe.yaml"
    file.write_text(BASE)
    words = [str(file), *overrides(*assignments)]
    if command == "up":
        return viaduct("up", *words, "--set", "mode=offload", cwd=folder)
    if command == "hub":
        return viaduct("hub", *words, "--port", "0", "--duration", "10ms", cwd=folder)
    if command == "several machines":
        return viaduct("run", *words, "--mode", "offload", "--print", cwd=folder)
    return viaduct("run", *words, "--mode", command, "--json", "probe.json", cwd=folder)


def test_each_key_has_a_probe() -> None:
    assert set(PROBES) == set(documented())


def test_more_than_one_command_refuses_something() -> None:
    """The table has been read."""
    for command in COMMANDS:
        assert cases("y", command)
    assert len(cases("r", *COMMANDS)) > 50
    assert len(cases("-", *COMMANDS)) > 20


def is_refused_by_itself(key: str, command: str) -> bool:
    """Rather than with what it is inside of."""
    return key not in UNTRIED and not (
        command == "several machines" and key.startswith("links[].wifi.")
    )


REFUSED = [case for case in cases("r", *COMMANDS) if is_refused_by_itself(*case)]
VISIBLE = [key for key, _ in cases("y", "simulate") if key not in INVISIBLE]


@pytest.mark.parametrize(("key", "command"), REFUSED)
def test_what_is_refused_is_named(tmp_path: Path, key: str, command: str) -> None:
    probe = PROBES[key]
    others = ("captures", "stack=kernel", "multicast")  # refused by themselves
    beside = [each for each in probe.beside if not each.startswith(others)]
    if command == "several machines":
        beside = [MACHINES, *beside]
    refused = run(tmp_path, command, *beside, probe.change).expect(2)
    names = re.sub(r"\[\]|NAME\.", "", FORMER.get(key, key)).split(".")
    assert any(name in refused.errors for name in names), refused.errors
    assert not (tmp_path / "probe.json").exists()


def measured(folder: Path, *assignments: str) -> dict:
    """All that a run in mode simulate has found out, and what it has written."""
    done = run(folder, "simulate", *assignments)
    assert done.status in (0, 1), done
    found: dict = {"status": done.status}
    if (folder / "probe.json").exists():
        found |= json.loads((folder / "probe.json").read_text())
        (folder / "probe.json").unlink()
    for of_this_machine in ("environment", "scenario", "setup_seconds", "teardown_seconds"):
        found.pop(of_this_machine, None)
    for file in sorted(folder.glob("*-captures/*")):
        found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        file.unlink()
    return found


@pytest.mark.parametrize("key", VISIBLE)
def test_what_mode_simulate_honours_makes_a_difference(tmp_path: Path, key: str) -> None:
    """A key that nobody reads makes none."""
    probe = PROBES[key]
    if any("stack=kernel" in each for each in (*probe.beside, probe.change)):
        kernels.need()
    assert measured(tmp_path, *probe.beside) != measured(tmp_path, *probe.beside, probe.change)


@pytest.mark.parametrize("key", [key for key, _ in cases("-", "simulate")])
def test_what_has_no_meaning_in_mode_simulate_changes_nothing(tmp_path: Path, key: str) -> None:
    probe = PROBES[key]
    assert measured(tmp_path, *probe.beside) == measured(tmp_path, *probe.beside, probe.change)


def is_known_before(change: str, command: str) -> bool:
    """Whether this machine has what the key names."""
    return "vdnone" not in change and not (command == "up" and change.startswith("machines"))


@pytest.mark.parametrize(("key", "mode"), cases("y", *REAL))
def test_what_real_modes_honour_is_accepted(tmp_path: Path, key: str, mode: str) -> None:
    """As far as it is known before a lab is built; the rest of the tests builds labs."""
    probe = PROBES[key]
    beside = [each for each in probe.beside if not each.startswith("captures")]
    needs_simulate = any("wifi" in each or each == "stack=kernel" for each in beside)
    if needs_simulate:
        beside = [each for each in beside if "wifi" not in each and each != "stack=kernel"]
    file = tmp_path / "probe.yaml"
    file.write_text(BASE)
    words = overrides(*beside, probe.change)
    viaduct("run", str(file), *words, "--mode", mode, "--print").expect()


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("flows", "flows=[{type: ping, from: n0, to: n1}]"),
        ("programs", "programs=[{node: n1, command: 'true'}]"),
        ("events", "events=[{at: 50ms, link: core, state: down}]"),
        ("captures", "captures=[core]"),
        ("routing.sample", "routing.sample=100ms"),
    ],
)
def test_up_says_what_it_does_not_run(lab: str, tmp_path: Path, key: str, change: str) -> None:
    file = tmp_path / f"{lab}.yaml"
    file.write_text(BASE)
    try:
        done = viaduct("up", file, "--quiet", *overrides("mode=offload", change)).expect()
        assert f"does not run these parts of the scenario: {key} (1)" in done.errors
    finally:
        viaduct("down", lab)


def test_a_hub_says_what_it_does_not_run(tmp_path: Path) -> None:
    done = run(tmp_path, "hub", "routing.sample=100ms").expect()
    assert "a hub ignores routing.sample" in done.errors


def test_kernel_settings_that_ns3_does_not_have_are_said(tmp_path: Path) -> None:
    setting = "nodes.n1.sysctls={net.ipv4.tcp_congestion_control: reno}"
    found = measured(tmp_path, setting)
    assert any("tcp_congestion_control" in line for line in found["assumptions"])
    of_neighbours = "nodes.n1.sysctls={net.ipv4.neigh.eth0.mcast_solicit: '5'}"
    found = measured(tmp_path, of_neighbours)
    assert not any("sysctls" in line for line in found["assumptions"])
