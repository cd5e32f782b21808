"""Processes and namespaces of the harness, recorded when created and removed at the end."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Literal

RECORDS = Path("/run/viaduct-bench")
Kind = Literal["namespaces", "labs"]
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class BenchError(Exception):
    """The benchmark could not run; the message says what failed and what to do."""


class Interrupted(BaseException):
    """SIGINT or SIGTERM arrived."""


class OutOfTime(BaseException):
    """The time budget is spent."""


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run(command: Sequence[str], timeout: float = 30) -> str:
    """Run a command to its end and return its standard output; BenchError if it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, preexec_fn=_die_with_parent
        )
    except FileNotFoundError as error:
        raise BenchError(f"{command[0]}: not found; install it") from error
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{' '.join(command)}: did not end within {timeout:.0f} s") from error
    return _output(command, done.returncode, done.stdout, done.stderr)


def _output(command: Sequence[str], status: int, out: str, err: str) -> str:
    if status != 0:
        last = (err or out).strip().splitlines()[-1:] or ["no message"]
        raise BenchError(f"{' '.join(command)}: exit status {status}: {last[0]}")
    return out


def wait_until(condition: Callable[[], bool], timeout: float, interval: float = 0.02) -> bool:
    """Poll a condition until it holds or the time has passed; returns whether it held."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(interval)
    return True


class Child:
    """A process in the background, in its own process group; the harness ends it."""

    def __init__(self, command: Sequence[str], stdin: int = subprocess.DEVNULL) -> None:
        self.command = list(command)
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        except FileNotFoundError as error:
            raise BenchError(f"{command[0]}: not found") from error

    @property
    def pid(self) -> int:
        """Process id."""
        return self.process.pid

    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal if it still runs."""
        if self.running():
            self.process.send_signal(number)

    def say(self, line: str) -> None:
        """Write a line to its standard input (a pipe)."""
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):  # finish() reports the reason
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def expect(self, text: str, stream: Literal["stdout", "stderr"] = "stderr") -> None:
        """Wait for a next line of output with this in it; BenchError if another comes, or none.

        Its end is not waited for: only for programs that print something or end.
        """
        if text not in getattr(self.process, stream).readline():
            self.finish(timeout=10)
            raise BenchError(f"{' '.join(self.command)}: did not say {text}")

    def require_running(self, label: str) -> None:
        """BenchError if it has ended unexpectedly."""
        if not self.running():
            self.finish(timeout=1)
            raise BenchError(f"{label}: it ended at once")

    def finish(self, timeout: float) -> str:
        """Wait for the end and return standard output; BenchError on failure or timeout."""
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            self.end()
            raise BenchError(
                f"{' '.join(self.command)}: did not end within {timeout:.0f} s"
            ) from error
        return _output(self.command, self.process.returncode, out, err)

    def report(self, timeout: float) -> Any:
        """Wait for the end; the JSON it has printed."""
        return json.loads(self.finish(timeout))

    def end(self, timeout: float = 2) -> None:
        """SIGTERM, then SIGKILL."""
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.communicate(timeout=timeout)
            return
        self.signal(signal.SIGKILL)
        self.process.communicate()


class Record:
    """A folder with this run's files and a list of what it made, for a later run after SIGKILL."""

    def __init__(self) -> None:
        self.directory = RECORDS / str(os.getpid())
        self.directory.mkdir(parents=True, exist_ok=True)
        self._made: dict[str, list[str]] = {"namespaces": [], "labs": []}
        self._store()

    def _store(self) -> None:
        (self.directory / "made.json").write_text(json.dumps(self._made))

    def add(self, kind: Kind, name: str) -> None:
        """Record before creation."""
        self._made[kind].append(name)
        self._store()

    def discard(self, kind: Kind, name: str) -> None:
        """Forget what has been removed."""
        if name in self._made[kind]:
            self._made[kind].remove(name)
        self._store()

    def close(self) -> None:
        """Everything is removed: remove the record, and the files of this run."""
        shutil.rmtree(self.directory, ignore_errors=True)


def remove_namespace(name: str) -> None:
    """Delete a named namespace; not an error if it is gone."""
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def remove_leftovers(remove_lab: Callable[[str], None]) -> None:
    """Remove what earlier runs recorded and could not remove."""
    if not RECORDS.is_dir():
        return
    for directory in RECORDS.iterdir():
        if Path(f"/proc/{directory.name}").exists():
            continue
        with contextlib.suppress(OSError, json.JSONDecodeError, KeyError):
            left = json.loads((directory / "made.json").read_text())
            for lab in left["labs"]:
                remove_lab(lab)
            for namespace in left["namespaces"]:
                remove_namespace(namespace)
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into Interrupted; clean-up is not interrupted by more."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        raise Interrupted

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)
    yield


@contextlib.contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in what runs inside when the time is over; None: never."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
