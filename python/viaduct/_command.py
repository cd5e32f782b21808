"""Calling the command: where it is, its errors, and that it leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from . import _program
from ._topology import Topology

Scenario = str | os.PathLike[str] | Mapping[str, Any] | Topology


class ViaductError(Exception):
    """What the command said in its one line, and its exit status.

    `result` is that of a run that ended with results all the same (status 1: something failed; 4:
    VOID), else None.
    """

    def __init__(self, message: str, status: int = 1, result: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.result = result


def command() -> str:
    """The file of the command: $VIADUCT, else that of the binary wheel, else the one in PATH."""
    found = os.environ.get("VIADUCT")
    if not found:
        found = str(_program.OWN) if _program.OWN.exists() else shutil.which("viaduct")
    if not found:
        raise ViaductError("no viaduct in PATH: install it, or set VIADUCT to its file", 3)
    return found


def line_of(errors: str) -> str:
    """The one line of an error, of all that was written to standard error."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("viaduct: ")]
    return (own or lines or ["viaduct ended without a word"])[-1].removeprefix("viaduct: ")


def start(words: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Starts the command; it gets SIGTERM when this process dies, however it dies."""
    tied = shutil.which("setpriv")
    prefix = [tied, "--pdeathsig", "TERM"] if tied else []
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([*prefix, command(), *words], text=True, **options)


def stop(process: subprocess.Popen[str], with_signal: signal.Signals = signal.SIGTERM) -> None:
    """Ends a command and waits until it has removed what it made."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(with_signal)
    process.wait()


def call(words: Sequence[str], text: str | None = None) -> tuple[int, str, str]:
    """Runs the command to its end: status, output, errors. An exception ends it first."""
    process = start(
        words,
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        output, errors = process.communicate(text)
    except BaseException:
        stop(process)
        raise
    return process.returncode, output, errors


def checked(words: Sequence[str], text: str | None = None) -> str:
    """The output of a command that must succeed."""
    status, output, errors = call(words, text)
    if status != 0:
        raise ViaductError(line_of(errors), status)
    return output


def source_of(scenario: Scenario) -> tuple[str, str | None]:
    """The command's argument FILE, and its standard input if that is the scenario."""
    if isinstance(scenario, Topology):
        return "-", str(scenario)
    if isinstance(scenario, Mapping):
        return "-", yaml.safe_dump(dict(scenario), sort_keys=False)
    return os.fspath(scenario), None


def options_of(
    mode: str | None, duration: str | None, seed: int | None, changes: Mapping[str, Any] | None
) -> list[str]:
    """The options that `run` and `up` share."""
    words = [f"--mode={mode}"] if mode is not None else []
    words += [f"--duration={duration}"] if duration is not None else []
    every = dict(changes or {}) | ({} if seed is None else {"seed": seed})
    return words + [f"--set={key}={text_of(value)}" for key, value in every.items()]


def text_of(value: Any) -> str:
    """A value as --set takes it."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def say(text: object, *, to_errors: bool = False) -> None:
    """Prints a line; what is of unknown origin in it commands no terminal.

    Control characters become "\\x1b", as the command's own do (src/base/text/terminal_text.h), and
    bytes of a file's name that are no text likewise.
    """
    plain = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", str(text))
    plain = plain.encode("utf-8", "backslashreplace").decode()
    with written():
        print(plain, file=sys.stderr if to_errors else sys.stdout, flush=True)


@contextlib.contextmanager
def written() -> Iterator[None]:
    """What standard output does not take, as on a full disk, is an error that says so."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ViaductError(f"standard output: cannot be written: {error.strerror}") from error


def how_to_install(package: str) -> str:
    """What gives this Python the package: in a virtual environment pip alone does."""
    if sys.prefix != sys.base_prefix:
        return f"{sys.executable} -m pip install {package}"
    return f"apt-get install python3-{package}"


def _discard_output() -> None:
    """What is still in the buffers goes nowhere, else the interpreter complains at its end."""
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


@contextlib.contextmanager
def main_errors(name: str) -> Iterator[None]:
    """Of a subcommand: errors become their one line and the exit status.

    Where nobody reads on (`| head`), it ends without a word, as programs that SIGPIPE ends do.
    """
    if sys.stdout is None:
        sys.exit("viaduct: standard output is closed; give it a file, or /dev/null")
    try:
        try:
            yield
        finally:
            with written():
                sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        sys.exit(128 + signal.SIGPIPE)
    except KeyboardInterrupt:
        say("viaduct: interrupted", to_errors=True)
        sys.exit(128 + signal.SIGINT)
    except ViaductError as error:
        say(f"viaduct: {error}", to_errors=True)
        _discard_output()
        sys.exit(error.status)
    except (OSError, UnicodeDecodeError) as error:
        say(f"viaduct: {name}: {error}", to_errors=True)
        sys.exit(1)


def write_whole(file: Path, text: str) -> None:
    """Writes a file that is there whole or not at all."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        part.write_text(text)
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ViaductError(f"{file}: cannot be written: {error.strerror}") from error
