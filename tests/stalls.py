"""Detects stalls of the machine during a test: a virtual machine whose host was busy."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

_PERIOD_SECONDS = 0.005


def _stolen_seconds() -> float:
    """The time stolen by the host from all processors since boot (proc_stat(5), `steal`)."""
    with Path("/proc/stat").open() as stat:
        fields = stat.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Records stalls of the machine between begin() and end()."""

    def __init__(self) -> None:
        self.longest = 0.0  # seconds that a wake-up was late
        self.stolen = 0.0  # share of the processors' time
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._end.is_set():
            due = time.monotonic() + _PERIOD_SECONDS
            time.sleep(_PERIOD_SECONDS)
            self.longest = max(self.longest, time.monotonic() - due)

    def begin(self) -> None:
        """Begins to look."""
        self._began, self._stolen_before = time.monotonic(), _stolen_seconds()
        self._thread.start()

    def end(self) -> None:
        """Ends looking; the attributes say what was seen."""
        self._end.set()
        self._thread.join()
        spent = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        self.stolen = (_stolen_seconds() - self._stolen_before) / spent

    def __str__(self) -> str:
        """A description for people."""
        stood = f"{self.longest * 1e3:.0f} ms"
        return f"the machine stood still for up to {stood}, {self.stolen:.1%} stolen"
