"""eBPF objects of this machine's kernel, by bpf(2) itself: bpftool may be missing."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from dataclasses import dataclass
from pathlib import Path

SYSCALL = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine, 321)
INFO_BY_FD = 15  # of linux/bpf.h, as all here


@dataclass(frozen=True)
class Kind:
    """The commands for a kind of objects, and where its struct bpf_..._info has the name."""

    next_id: int
    fd_by_id: int
    name_offset: int


PROGRAM = Kind(11, 13, 64)
MAP = Kind(12, 14, 24)


def _bpf(command: int, *words: int) -> tuple[int, list[int]]:
    """The system call with these 32-bit words; its result and the words afterwards."""
    attributes = (ctypes.c_uint32 * 32)(*words)
    result = ctypes.CDLL(None, use_errno=True).syscall(SYSCALL, command, attributes, 128)
    return result, list(attributes)


def _name(kind: Kind, number: int) -> str:
    fd, _ = _bpf(kind.fd_by_id, number)
    if fd < 0:
        return ""
    info = ctypes.create_string_buffer(256)
    address = ctypes.addressof(info)
    _bpf(INFO_BY_FD, fd, len(info), address & 0xFFFFFFFF, address >> 32)
    os.close(fd)
    return info.raw[kind.name_offset : kind.name_offset + 16].split(b"\0")[0].decode()


def objects(kind: Kind) -> dict[int, str]:
    """All of a kind: number to name."""
    found, number = {}, 0
    while True:
        result, words = _bpf(kind.next_id, number)
        if result != 0:
            return found
        number = words[1]
        found[number] = _name(kind, number)


def everything() -> list[str]:
    """Each program and map, by number and name."""
    kinds = {"program": PROGRAM, "map": MAP}
    return [
        f"{what} {number} {name}"
        for what, kind in kinds.items()
        for number, name in objects(kind).items()
    ]


def programs() -> set[int]:
    """The product's programs."""
    return {number for number, name in objects(PROGRAM).items() if name.startswith("viaduct_")}


def programs_of(pid: int) -> set[int]:
    """Those that a process has open."""
    found = set()
    for file in Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            numbers = re.findall(r"^prog_id:\s+(\d+)$", file.read_text(), re.MULTILINE)
            found |= set(map(int, numbers))
    return found
