"""Runs failed tests that depend on real time once more, alone, when the machine is quiet.

A test that passes then counts as passed and as re-run, and is named with both outcomes. A fault
that shows now and then would hide behind that, so the re-runs of each whole run are recorded
beside the cache: more than MOST_RERUNS in one run are a failure, and so is a test that had to be
run again in each of the last RUNS_IN_A_ROW runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.tally import Tally

MOST_RERUNS = 5
RUNS_IN_A_ROW = 3
_KEPT_RUNS = 20
_QUIET_SHARE = 0.8  # of the processors' time that nobody uses
_QUIET_LIMIT = 30.0  # seconds to wait for that


def _idle_and_all() -> tuple[int, int]:
    """Times of all processors since boot, in ticks (proc_stat(5))."""
    with Path("/proc/stat").open() as stat:
        times = [int(word) for word in stat.readline().split()[1:9]]
    return times[3] + times[4], sum(times)


def wait_for_quiet(limit: float = _QUIET_LIMIT) -> float:
    """Waits until the processors are idle for a second, `limit` seconds at most.

    Returns the idle share of the last second.
    """
    end = time.monotonic() + limit
    while True:
        idle, total = _idle_and_all()
        time.sleep(1)
        idle_after, total_after = _idle_and_all()
        share = (idle_after - idle) / max(total_after - total, 1)
        if share >= _QUIET_SHARE or time.monotonic() >= end:
            return share


def run_again(tally: Tally, wait: Callable[[], float] = wait_for_quiet) -> None:
    """Runs what failed and may be run again; moves what passes now. More than MOST_RERUNS fail."""
    calls: dict[Callable[[], Tally], dict[str, str]] = {}
    for name, message in tally.failed:
        if name in tally.again:
            calls.setdefault(tally.again[name], {})[name] = message
    wanted = sum(map(len, calls.values()))
    if wanted > MOST_RERUNS:
        message = f"{wanted} failed tests depend on real time, more than {MOST_RERUNS}: not re-run"
        tally.failed.append(("all", message))
        return
    for call, first in calls.items():
        print(
            f"run again alone, {wait():.0%} of the processors idle: {', '.join(first)}", flush=True
        )
        second = call()
        failures = dict(second.failed)
        tally.failed = [entry for entry in tally.failed if entry[0] not in first]
        for name, message in first.items():
            if name in failures:
                twice = f"twice; first: {message} -- alone: {failures.pop(name)}"
                tally.failed.append((name, twice))
            elif not second.passed:
                tally.failed.append((name, f"{message} -- alone: it did not run"))
            else:
                tally.passed += 1
                tally.rerun.append((name, f"passed alone; first: {message}"))
        tally.failed += failures.items()


def _recorded(file: Path) -> list[dict[str, Any]]:
    """The runs before, oldest first; none if the file cannot be read."""
    try:
        runs = json.loads(file.read_text())
        return [run for run in runs if isinstance(run["rerun"], list)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def history_file() -> Path:
    """Where the runs of this machine are recorded."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("VIADUCT_CACHE") or Path(user_cache) / "viaduct") / "test-runs.json"


def judge_history(tally: Tally, file: Path) -> None:
    """Records this run; a test that was run again in each of the last runs becomes a failure."""
    runs = _recorded(file)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    names = sorted(name for name, _ in tally.rerun)
    runs.append({"time": int(time.time()), "commit": commit, "rerun": names})
    last = runs[-RUNS_IN_A_ROW:]
    if len(last) == RUNS_IN_A_ROW:
        for name, message in tally.rerun:
            if all(name in run["rerun"] for run in last):
                tally.passed -= 1
                why = f"had to be run again in each of the last {RUNS_IN_A_ROW} runs: {message}"
                tally.failed.append((name, why))
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(runs[-_KEPT_RUNS:], indent=1) + "\n")
    written.rename(file)
