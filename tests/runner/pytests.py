"""Runs pytest, and reads what runner/listing.py has written of it."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
from functools import partial
from pathlib import Path

from runner import listing
from runner.programs import REPOSITORY, kill_group
from runner.tally import FAILED, Tally

PROCESSORS = len(os.sched_getaffinity(0))
TIMEOUT = 2400  # seconds for one call of pytest
# End-to-end tests wait most of the time, for protocols and for seconds of traffic: three on each
# processor left 78% of their time idle.
PER_PROCESSOR = 5


def run_pytest(options: argparse.Namespace, scratch: Path) -> Tally:
    """Runs the end-to-end tests and the harness's own tests.

    Several run at once (pytest-xdist); then those marked `alone`, one after the other.
    """
    folders = [name for name in ("tests", "bench") if list((REPOSITORY / name).rglob("test_*.py"))]
    if not folders:
        return Tally()
    os.environ["VIADUCT_BUILD"] = str(options.build)
    workers = options.jobs or PER_PROCESSOR * PROCESSORS
    if workers == 1 or importlib.util.find_spec("xdist") is None:
        return run_pytest_once([*options.pytest, *folders], scratch)
    several = ["-m", "not alone", "-n", str(workers), "--dist", "loadgroup"]
    tally = run_pytest_once([*options.pytest, *several, *folders], scratch)
    tally.add(run_pytest_once([*options.pytest, "-m", "alone", *folders], scratch))
    return tally


def run_pytest_once(arguments: list[str], scratch: Path) -> Tally:
    """Runs pytest and counts its tests."""
    written = scratch / "pytest.jsonl"
    written.unlink(missing_ok=True)
    command = ["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--durations=10", "--durations-min=10", "-p", listing.__name__, *arguments]
    paths = [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        listing.PLACE: str(written),
        "PYTHONPATH": ":".join(filter(None, paths)),
    }
    status: int | None = None
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, start_new_session=True
    ) as process:
        try:
            status = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            kill_group(process)
    text = written.read_text() if written.exists() else ""
    tally, again = listing.read(text)
    tally.again = {
        name: partial(run_pytest_once, [words], scratch) for name, words in again.items()
    }
    failed = bool(tally.names(FAILED))
    if status is None:
        tally.fail("e2e", f"pytest: still running after {TIMEOUT} s, killed")
    elif not text and status != 5:
        tally.fail("e2e", f"pytest: exit status {status} before it collected a test")
    elif status not in ((1,) if failed else (0, 5)):  # 5: none of the tests was asked for
        tally.fail("e2e", f"pytest: exit status {status}")
    return tally
