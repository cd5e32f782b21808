"""The environment of a measurement."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except OSError:
        return "not found"
    return (done.stdout or done.stderr).strip().split("\n")[0]


def _cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else platform.machine()


def linked_ns3(program: Path) -> dict[str, str]:
    """Name and path of each ns-3 library a program links, as the dynamic linker finds them."""
    out = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    return dict(re.findall(r"^\s*(libns3\S*\.so)\s*=>\s*(/\S+)", out, re.MULTILINE))


def ns3_build(program: Path) -> dict[str, str]:
    """Version and assertions of the ns-3 a program links."""
    libraries = linked_ns3(program)
    core = next((name for name in libraries if "-core" in name), None)
    if core is None:
        return {"version": "none", "asserts": "unknown"}
    version = re.match(r"libns(3[\d.]*(?:-dev)?)-", core)
    on = b"NS_ASSERT failed" in Path(libraries[core]).read_bytes()
    return {
        "version": version.group(1) if version else core,
        "asserts": "asserts on" if on else "asserts off",
    }


def describe(build: Path) -> dict[str, object]:
    """Kernel, CPU, versions and command line."""
    line = build / "bench" / "ns3-line"
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "load_average_at_start": os.getloadavg()[0],
        "viaduct": _first_line([str(build / "viaduct"), "--version"]),
        "commit": _first_line(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]),
        "ns3": ns3_build(line) if line.exists() else {"version": "none", "asserts": "unknown"},
        "python": platform.python_version(),
        "iperf3": _first_line(["iperf3", "--version"]),
        "command": shlex.join(sys.argv),
    }
