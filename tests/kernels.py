"""What tests of real kernels in virtual time share: programs on nodes, errors, what is left."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import BUILD, Done, execute, marked_processes, viaduct, wait_until

PROGRAMS = BUILD / "examples" / "viaduct-kernel-programs"


def need(*programs: str) -> None:
    """Skips the test where a kernel for guests, or a program that nodes run, is not there."""
    if viaduct("kernel", "list").status != 0 or not viaduct("kernel", "list").output.strip():
        pytest.skip("no kernel for guests: viaduct kernel build")
    for program in programs:
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/frr") is None:
            pytest.skip(f"no {program}: setup/packages test")


@dataclass
class Program:
    """What became of a command on a node."""

    output: str
    errors: str
    status: str

    def expect(self, status: str = "exit status 0") -> str:
        """Fails the test unless it ended so; its output."""
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
    """No process of this session, nothing of guests in this folder for temporary files."""
    wait_until(lambda: not marked_processes(), f"processes end: {marked_processes()}")
    assert not list(folder.glob("viaduct-kernel-*"))


def one_error(done: Done, status: int) -> str:
    """The one line of a failed command; that it ended so, and said nothing twice."""
    line = done.error_line(status)
    told = Counter(text for text in done.errors.strip().splitlines() if "kernel" in text)
    assert len(told) == 1, done.errors
    return line
