"""Kernels of different versions in one simulation. Needs images of 6.1 and 6.12 (viaduct kernel
build --source debian:6.1): as a machine builds only one by itself, these tests may be skipped."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from labs import BUILD, Done, environment, results, viaduct, without_wall_clock

SCENARIO = """
name: versions
mode: simulate
stack: kernel:6.1
duration: 4s
nodes: {count: 3, n1: {stack: kernel:6.12}}
links: [{line: all, spec: "delay=5ms rate=10Mbit"}]
addressing: {ipv4: 10.0.0.0/8, ipv6: fd00::/48}
routing: {protocol: static}
flows:
  - {type: udp, from: n0, to: n1, size: 1000, rate: 1Mbit, duration: 2s}
  - {type: tcp, from: n0, to: n1, duration: 3s}
  - {type: tcp, from: n1, to: n2, duration: 3s}
  - {type: ping, from: n2, to: n0, duration: 1s}
programs:
  - {node: n0, command: uname -r}
  - {node: n1, command: uname -r}
"""


def images() -> dict[str, Path]:
    """The newest image of each series, as 6.12."""
    found: dict[str, Path] = {}
    for image in json.loads(viaduct("kernel", "list", "--json").output):
        series = ".".join(image["release"].split(".")[:2])
        found.setdefault(series, Path(image["file"]))
    return found


def image(series: str) -> Path:
    found = images()
    if series not in found:
        pytest.skip(f"no kernel {series}: viaduct kernel build --source debian:{series}")
    return found[series]


def simulate(folder: Path, text: str, *words: str) -> dict[str, Any]:
    scenario = folder / "versions.yaml"
    scenario.write_text(text)
    file = folder / "versions.json"
    viaduct("run", scenario, "--json", file, *words, timeout=120).expect()
    return results(file)


def check(run: dict[str, Any], releases: list[str]) -> None:
    udp, tcp, onward, ping = run["flows"]
    assert udp["received"] > 0.9 * udp["sent"]
    assert tcp["rate_bit_per_s"] > 4e6
    assert onward["rate_bit_per_s"] > 4e6
    assert ping["received"] == ping["sent"] == 10
    assert ping["rtt_ms"]["min"] > 20.0
    for program, release in zip(run["programs"], releases, strict=True):
        assert program["output"].startswith(release + "."), program


def test_two_versions_talk_and_repeat_exactly(tmp_path: Path) -> None:
    image("6.1")
    image("6.12")
    run = simulate(tmp_path, SCENARIO)
    check(run, ["6.1", "6.12"])
    assert without_wall_clock(run) == without_wall_clock(simulate(tmp_path, SCENARIO))


def test_an_old_kernel_alone(tmp_path: Path) -> None:
    image("6.1")
    check(simulate(tmp_path, SCENARIO.replace("kernel:6.12", "kernel:6.1")), ["6.1", "6.1"])


def suite(name: str, kernel: str) -> Done:
    """A suite of the ns-3 module whose nodes have this kernel unless it says otherwise."""
    ended = subprocess.run(
        [BUILD / "viaduct-ns3-test", f"--suite={name}", "--verbose"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**environment(), "NS_ATTRIBUTE_DEFAULT": f"ns3::KernelGuest::Kernel={kernel}"},
        check=False,
    )
    return Done(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.parametrize("name", ["device", "state", "wifi", "ns3-applications"])
def test_suites_pass_on_an_old_kernel(name: str) -> None:
    image("6.1")
    output = suite(f"viaduct-kernel-{name}", "6.1").expect().output
    assert f"PASS viaduct-kernel-{name}" in output and "SKIPPED" not in output


def test_suites_use_the_kernel_they_are_given() -> None:
    image("6.1")
    done = suite("viaduct-kernel-state", "6.0.999")
    assert done.status != 0
    assert "no kernel 6.0.999 was built" in done.output
