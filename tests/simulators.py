"""The simulators of labs that are up."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from labs import marked_processes, viaduct, wait_until


def simulators() -> list[int]:
    """Those of this session."""
    return [pid for pid, line in marked_processes().items() if "viaduct-sim" in line]


def parent_of(pid: int) -> int:
    """The process that started it."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def history(lab: str) -> dict[str, Any]:
    """What is known of the lab's simulators."""
    listed = json.loads(viaduct("ls", "--json").expect().output)
    (found,) = (each["simulator"] for each in listed if each["lab"] == lab)
    return dict(found)


def kill_simulator() -> int:
    """The pid that it had."""
    (simulator,) = simulators()
    os.kill(simulator, signal.SIGKILL)
    return simulator


def await_restart(lab: str, times: int = 1) -> None:
    """Until the new one has converged."""
    wait_until(lambda: history(lab)["restarts"] == times, "another simulator took over")
