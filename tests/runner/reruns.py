"""Runs failed tests that depend on real time once more, alone, when the machine is quiet.

A test that passes then counts as passed and as re-run, and is named with both outcomes. A fault
that shows now and then would hide behind that, so the failures of each whole run are recorded
beside the cache: more than MAX_RERUNS in one run are a failure, and so is a test that failed at
first in each of the last RUNS_IN_A_ROW runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.tally import FAILED, PASSED, Tally

MAX_RERUNS = 5
RUNS_IN_A_ROW = 3
_KEPT_RUNS = 20
_QUIET_SHARE = 0.8  # of the processors' time that nobody uses
_QUIET_LIMIT = 30.0  # seconds to wait for that
_MOST_OF_EACH = 280  # characters of each outcome's message


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


def both(first: str, second: str) -> str:
    """Two outcomes' messages in one, none of which hides the other."""
    halves = [" ".join(text.split())[:_MOST_OF_EACH] for text in (first, second)]
    return f"first: {halves[0]} -- alone: {halves[1]}"


def run_again(tally: Tally, wait: Callable[[], float] = wait_for_quiet) -> list[str]:
    """Runs what failed and may be run again; what passes now has passed.

    More than MAX_RERUNS fail. Returns the names of those that failed at first and depend on real
    time.
    """
    wanted = [name for name in tally.names(FAILED) if name in tally.again]
    if len(wanted) > MAX_RERUNS:
        why = f"{len(wanted)} failed tests depend on real time, more than {MAX_RERUNS}: not re-run"
        tally.fail("all", why)
        return wanted
    calls: dict[Callable[[], Tally], list[str]] = {}
    for name in wanted:
        calls.setdefault(tally.again[name], []).append(name)
    for call, names in calls.items():
        print(
            f"run again alone, {wait():.0%} of the processors idle: {', '.join(names)}", flush=True
        )
        _take_second(tally, names, call())
    return wanted


def _take_second(tally: Tally, names: list[str], second: Tally) -> None:
    """Counts what the tests of one call did alone."""
    known = set(tally.results)
    crash = "; ".join(second.of(name)[1] for name in second.whole)
    for name in names:
        first = tally.of(name)[1]
        word, why = second.of(name)
        if name in tally.whole and second.results and not second.names(FAILED):
            del tally.results[name]
            tally.rerun[name] = both(first, "its tests passed")
        elif word == PASSED and not crash:
            tally.results[name] = PASSED, ""
            tally.rerun[name] = both(first, "passed")
        else:
            alone = why if word == FAILED else crash or f"{word} {why}".strip()
            tally.results[name] = FAILED, "twice; " + both(first, alone)
    for name, (word, why) in second.results.items():
        if name in second.whole or name in names:
            continue
        if name not in known:
            tally.results[name] = word, why
        elif word == FAILED:
            tally.fail(name, f"passed first, failed when others were run again: {why}")


def _recorded(text: str) -> list[dict[str, Any]]:
    """The runs before, oldest first, as far as they can be read."""
    try:
        runs = json.loads(text)
    except (ValueError, RecursionError):
        return []
    entries = runs if isinstance(runs, list) else []
    return [
        run
        for run in entries
        if isinstance(run, dict) and isinstance(run.get("failed_first"), list)
    ]


def history_file() -> Path:
    """Where the runs of this machine are recorded."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("VIADUCT_CACHE") or Path(user_cache) / "viaduct") / "test-runs.json"


def _commit() -> str:
    """What was tested, if git can tell."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()


def judge_history(tally: Tally, failed_first: list[str], file: Path) -> None:
    """Records this run; what failed at first in each of the last runs becomes a failure."""
    run = {"time": int(time.time()), "commit": _commit(), "failed_first": sorted(failed_first)}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a+", errors="replace") as record:
            fcntl.flock(record, fcntl.LOCK_EX)
            record.seek(0)
            runs = [*_recorded(record.read()), run][-_KEPT_RUNS:]
            record.seek(0)
            record.truncate()
            record.write(json.dumps(runs, indent=1) + "\n")
    except OSError as error:
        tally.fail("all", f"this run could not be recorded for later ones: {error}")
        return
    last = runs[-RUNS_IN_A_ROW:]
    if len(last) < RUNS_IN_A_ROW:
        return
    for name in set.intersection(*(set(map(str, each["failed_first"])) for each in last)):
        why = f"failed at first in each of the last {RUNS_IN_A_ROW} runs"
        tally.fail(name, f"{why}: {tally.rerun.get(name, '')}")
