"""A share of a processor for one process: a quota of the kernel's CPU controller (cgroup)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .process import BenchError

ROOT = Path("/sys/fs/cgroup")
_NAME = "viaduct-bench-"
_PERIOD_US = 5000  # short: a ring must not overflow while its reader waits for its next share


@dataclass(frozen=True)
class Quota:
    """A group of processes that has a share of one processor."""

    folder: Path

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, in the group."""
        join = f'echo $$ > {self.folder}/cgroup.procs && exec "$@"'
        return ["sh", "-c", join, "sh", *command]


def limits(share: float) -> tuple[dict[str, str], dict[str, str]]:
    """What is written to the files of a group for a share: cgroup v1, cgroup v2."""
    quota = str(round(share * _PERIOD_US))
    first = {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": quota}
    return first, {"cpu.max": f"{quota} {_PERIOD_US}"}


def _parents(root: Path) -> Iterator[tuple[Path, int]]:
    """Where groups with a quota may be made, and which version of cgroup that is."""
    for name in ("cpu", "cpu,cpuacct"):
        if (root / name / "cgroup.procs").exists():
            yield root / name, 1
    controllers = root / "cgroup.subtree_control"
    if controllers.exists() and "cpu" in controllers.read_text().split():
        yield root, 2


@contextlib.contextmanager
def quota(share: float, root: Path = ROOT) -> Iterator[Quota]:
    """A group with this share of one processor, removed at the end.

    BenchError if this machine's CPU controller cannot be had.
    """
    parent, version = next(_parents(root), (None, 0))
    if parent is None:
        raise BenchError("no CPU controller of cgroup v1 or v2")
    folder = parent / f"{_NAME}{os.getpid()}"
    try:
        folder.mkdir(exist_ok=True)
        for file, text in limits(share)[version - 1].items():
            (folder / file).write_text(text)
    except OSError as error:
        _remove(folder)
        raise BenchError(f"{folder}: {error.strerror}") from error
    try:
        yield Quota(folder)
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def remove_leftovers(root: Path = ROOT) -> None:
    """Groups of earlier runs that were killed."""
    for parent, _ in _parents(root):
        for folder in parent.glob(f"{_NAME}*"):
            if not Path(f"/proc/{folder.name.removeprefix(_NAME)}").exists():
                _remove(folder)
