"""Labs, paths and shells that live as long as a `with` block."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

import yaml

from ._command import (
    Scenario,
    ViaductError,
    call,
    checked,
    command,
    line_of,
    options_of,
    source_of,
    start,
    stop,
)


def _directions(up: str | None, down: str | None) -> list[str]:
    given = (("--up", up), ("--down", down))
    return [word for option, spec in given if spec is not None for word in (option, spec)]


class _Live:
    """Something that runs under a name, with `viaduct path set` and `stats`."""

    name: str

    def path_set(
        self, pair: str | None = None, *, up: str | None = None, down: str | None = None
    ) -> None:
        """Changes the keys of the SPECs that are given; of a lab, `pair` is the link's name."""
        which = [f"--pair={pair}"] if pair is not None else []
        checked(["path", "set", self.name, *which, *_directions(up, down)])

    def stats(self) -> dict[str, Any]:
        """The counters now, as `viaduct path stats --json` has them."""
        return dict(json.loads(checked(["path", "stats", self.name, "--json"])))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Removes it; a second time does nothing."""
        raise NotImplementedError


class Lab(_Live):
    """A lab that is up (`viaduct up`). Made by `viaduct.lab`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._up = True

    def exec(
        self, node: str, words: Sequence[str], *, check: bool = True, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program in a node to its end. Raises ViaductError if it fails and `check`."""
        status, output, errors = call(["exec", f"{self.name}:{node}", "--", *words], text)
        if check and status != 0:
            raise ViaductError(f"{words[0]} in {node}: {line_of(errors or output)}", status)
        return subprocess.CompletedProcess(list(words), status, output, errors)

    def popen(self, node: str, words: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Starts a program in a node; it ends with the lab."""
        return start(["exec", f"{self.name}:{node}", "--", *words], **options)

    def close(self) -> None:
        """Takes the lab down."""
        if self._up:
            self._up = False
            checked(["down", self.name])


def lab(
    scenario: Scenario,
    *,
    mode: str | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 (as the command calls it)
) -> Lab:
    """Builds a scenario's lab and leaves it up until the `with` block ends."""
    source, text = source_of(scenario)
    words = [*options_of(mode, None, None, set), "--", source]
    effective = yaml.safe_load(checked(["run", "--print", *words], text))
    name = str(effective["name"])
    if any(each["lab"] == name for each in json.loads(checked(["ls", "--json"])) if "lab" in each):
        raise ViaductError(f"lab {name} is there already; viaduct down {name}")
    try:
        # Its keeper would wait for the ends of pipes that it inherits.
        process = start(
            ["up", "--quiet", *words],
            stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        errors = _to_its_end(process, text)
    except BaseException:
        call(["down", name])  # it may have been up for an instant
        raise
    if process.returncode != 0:
        raise ViaductError(line_of(errors), process.returncode)
    return Lab(name)


def _to_its_end(process: subprocess.Popen[str], text: str | None) -> str:
    try:
        return process.communicate(text)[1]
    except BaseException:
        stop(process)
        raise


class Path(_Live):
    """An emulated path between two interfaces. Made by `viaduct.path`."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self.name = name
        self._process = process

    def close(self) -> None:
        """Ends the path."""
        if self._process.poll() is None:
            stop(self._process)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def path(a: str, b: str, *, up: str | None = None, down: str | None = None) -> Path:
    """Emulates a path between two interfaces until the `with` block ends."""
    name = f"py{uuid.uuid4().hex[:8]}"
    words = ["path", "--quiet", f"--name={name}", "--between", a, b, *_directions(up, down)]
    process = start(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    made = Path(name, process)
    try:
        while call(["path", "stats", name, "--json"])[0] != 0:
            if process.poll() is not None:
                raise ViaductError(line_of(_rest(process.stderr)), process.returncode or 1)
            time.sleep(0.02)
    except BaseException:
        made.close()
        raise
    return made


def _rest(stream: IO[str] | None) -> str:
    return stream.read() if stream is not None else ""


class Shell:
    """A network namespace of one's own behind an emulated path. Made by `viaduct.shell`.

    Each `exec` is a shell of its own: the path begins and ends with the program.
    """

    def __init__(self, options: Sequence[str]) -> None:
        self._options = list(options)
        self._started: list[subprocess.Popen[str]] = []

    def exec(
        self, words: Sequence[str], *, check: bool = True, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end. Raises ViaductError if it fails and `check`."""
        status, output, errors = call(["shell", *self._options, "--", *words], text)
        if check and status != 0:
            raise ViaductError(f"{words[0]}: {line_of(errors or output)}", status)
        return subprocess.CompletedProcess([command(), *words], status, output, errors)

    def popen(self, words: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Starts a program; it ends with the `with` block."""
        self._started.append(start(["shell", *self._options, "--", *words], **options))
        return self._started[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.ExitStack() as stack:
            for process in self._started:
                if process.poll() is None:
                    stack.callback(stop, process)


def shell(*, up: str | None = None, down: str | None = None, seed: int | None = None) -> Shell:
    """Programs behind an emulated path: `up` from the program to the outside, `down` back."""
    return Shell([*_directions(up, down), *([] if seed is None else [f"--seed={seed}"])])
