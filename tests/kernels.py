"""Helpers of the tests of real kernels in virtual time: programs, errors, leftovers."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import BUILD, Done, execute, marked_processes, viaduct, wait_until

PROGRAMS = BUILD / "examples" / "viaduct-kernel-programs"


def need(*programs: str) -> None:
    """Skips the test where a kernel for guests, or a program that nodes run, is missing."""
    if viaduct("kernel", "list").status != 0 or not viaduct("kernel", "list").output.strip():
        pytest.skip("no kernel for guests: viaduct kernel build")
    for program in programs:
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/frr") is None:
            pytest.skip(f"no {program}: setup/packages test")


@dataclass
class Program:
    """The result of a command on a node."""

    output: str
    errors: str
    status: str

    def expect(self, status: str = "exit status 0") -> str:
        """Fails the test unless it has this exit status; returns its output."""
        assert self.status == status, f"{self.status}, not {status}\n{self.output}\n{self.errors}"
        return self.output


def run_programs(
    folder: Path, *commands: str, time: str = "10s", **options: object
) -> dict[str, Program]:
    """Commands ("NODE@TIME COMMAND") on a line or ring of kernel nodes, by NODE-NUMBER."""
    prefix = folder / "program"
    words = [f"--{name}={value}" for name, value in options.items()]
    done = execute([str(PROGRAMS), f"--time={time}", f"--output={prefix}", *words, *commands])
    done.expect()
    return {
        file.stem.removeprefix("program-"): Program(
            file.with_suffix(".out").read_text(errors="replace"),
            file.with_suffix(".err").read_text(errors="replace"),
            file.read_text().strip(),
        )
        for file in folder.glob("program-*.status")
    }


def assert_nothing_left(folder: Path) -> None:
    """Asserts that no process of this session and no file of a guest in this folder is left."""
    wait_until(lambda: not marked_processes(), f"processes end: {marked_processes()}")
    assert not list(folder.glob("viaduct-kernel-*"))


def one_error(done: Done, status: int) -> str:
    """Checks the exit status of a failed command and returns its only error line."""
    line = done.error_line(status)
    told = Counter(text for text in done.errors.strip().splitlines() if "kernel" in text)
    assert len(told) == 1, done.errors
    return line
