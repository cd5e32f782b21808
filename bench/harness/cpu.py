"""CPU time of processes and of the machine, from /proc."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")


def process_seconds(pid: int) -> float:
    """User and system time of all threads; 0 if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    fields = text[text.rindex(")") + 2 :].split()
    return (int(fields[11]) + int(fields[12])) * _TICK


@functools.cache
def _softirq_thread(cpu: int) -> Path | None:
    for entry in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if entry.read_text() == f"ksoftirqd/{cpu}\n":
                return entry.parent
    return None


def softirq_seconds(cpu: int) -> float:
    """CPU time of the thread that goes on with what a system call's softirqs left undone."""
    thread = _softirq_thread(cpu)
    if thread is None:
        return 0.0
    return int((thread / "schedstat").read_text().split()[0]) / 1e9


def machine_seconds() -> float:
    """Time all CPUs together were not idle."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) * _TICK


@dataclass
class CpuMeter:
    """Load since its creation, in percent of one core."""

    pids: Sequence[int]

    def __post_init__(self) -> None:
        """Start measuring."""
        self._start = time.monotonic()
        self._process = self._process_seconds()
        self._machine = machine_seconds()

    def _process_seconds(self) -> float:
        return sum(process_seconds(pid) for pid in self.pids)

    def forwarder_percent(self) -> float | None:
        """The forwarder's processes; None if the kernel forwards."""
        if not self.pids:
            return None
        elapsed = time.monotonic() - self._start
        return 100 * (self._process_seconds() - self._process) / elapsed

    def machine_percent(self) -> float:
        """Everything on the machine."""
        return 100 * (machine_seconds() - self._machine) / (time.monotonic() - self._start)
