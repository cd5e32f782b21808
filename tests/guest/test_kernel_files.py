"""Scenarios that name a kernel that was not built, or a file that is not a kernel."""

from __future__ import annotations

import shutil
from pathlib import Path

from labs import Done, execute, viaduct

SCENARIO = """
mode: simulate
stack: kernel:6.1
nodes: 2
links: [{line: all}]
routing: {protocol: static}
"""


def error(tmp_path: Path, stack: str) -> Done:
    scenario = tmp_path / "stack.yaml"
    scenario.write_text(SCENARIO.replace("kernel:6.1\n", f"kernel:{stack}\n"))
    return viaduct("run", scenario)


def test_wrong_kernels_are_one_line(tmp_path: Path) -> None:
    line = error(tmp_path, "5.4").error_line(3)
    assert "kernel" in line and "viaduct kernel build" in line
    assert "does not exist" in error(tmp_path, "/nonexistent/linux").error_line(2)
    script = tmp_path / "linux"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "not an executable" in error(tmp_path, str(script)).error_line(2)
    other = tmp_path / "arm64"
    elf = bytearray(Path("/bin/true").read_bytes())
    elf[18:20] = (183).to_bytes(2, "little")  # e_machine: EM_AARCH64
    other.write_bytes(elf)
    other.chmod(0o755)
    assert "not built for x86-64" in error(tmp_path, str(other)).error_line(2)
    assert "not a User Mode Linux" in error(tmp_path, shutil.which("true") or "").error_line(2)


def test_a_kernel_without_time_travel_is_refused(tmp_path: Path) -> None:
    """A program that answers like such a kernel."""
    config = tmp_path / "config.c"
    config.write_text(
        """#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  puts(argc > 1 && !strcmp(argv[1], "--version") ? "6.5.0"
       : "CONFIG_UML=y\\nCONFIG_VIRTIO_UML=y\\nCONFIG_HZ=100");
}
"""
    )
    kernel = tmp_path / "no-time-travel"
    execute(["cc", "-o", str(kernel), str(config)]).expect()
    line = error(tmp_path, str(kernel)).error_line(2)
    assert "built without CONFIG_UML_TIME_TRAVEL_SUPPORT" in line
    assert kernel.name in line
