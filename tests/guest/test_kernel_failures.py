"""Real kernels in virtual time: wrong input, missing permissions, guests that die.
Each results in one clear line and an exit status, and nothing is left."""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kernels import PROGRAMS, assert_nothing_left, need, one_error
from labs import (
    BUILD,
    TIMEOUT,
    VIADUCT,
    Done,
    Running,
    descendants,
    environment,
    execute,
    wait_until,
)

SCENARIO = """
name: kernelfailure
mode: simulate
stack: kernel
duration: 1000s
nodes: 2
links: [{line: all}]
flows: [{type: ping, from: n0, to: n1, interval: 10ms, duration: 999s}]
"""


@pytest.fixture(autouse=True)
def leaves_nothing_of_guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test that leaves a process or a guest's files in the temporary folder."""
    need()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    assert_nothing_left(tmp_path)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A file of two nodes that ping each other for long."""
    file = tmp_path / "kernelfailure.yaml"
    file.write_text(SCENARIO)
    return file


def run_with(prepare: Callable[[], None], *command: str | Path) -> Done:
    """Runs a program after this preparation of its process."""
    process = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=TIMEOUT,
        env=environment(),
        check=False,
        preexec_fn=prepare,
    )
    return Done(process.returncode, process.stdout, process.stderr)


def forbid_ptrace() -> None:
    """A seccomp filter as containers have one: ptrace(2) fails with EPERM (linux/filter.h)."""
    load_number, jump_if_equal, answer = 0x20, 0x15, 0x06
    ptrace, allow, refuse = 101, 0x7FFF0000, 0x00050000 | 1
    program = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (load_number, 0, 0, 0),
            (jump_if_equal, 0, 1, ptrace),
            (answer, 0, 0, refuse),
            (answer, 0, 0, allow),
        )
    )
    code = ctypes.create_string_buffer(program)
    library = ctypes.CDLL(None, use_errno=True)
    pointer = struct.pack("HxxxxxxQ", 4, ctypes.addressof(code))
    no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    if library.prctl(no_new_privileges, 1, 0, 0, 0) or library.prctl(
        set_seccomp, filter_mode, ctypes.create_string_buffer(pointer), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "seccomp")


def test_wrong_kernels_are_named(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a kernel\n")
    arm = tmp_path / "arm"
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    header[18] = 183  # EM_AARCH64
    arm.write_bytes(header)
    for kernel, said in (
        ("/no/such/linux", "does not exist"),
        (str(tmp_path), "not an executable"),
        (str(text), "not an executable"),
        (str(arm), "not built for x86-64"),
        ("/bin/true", "not a User Mode Linux kernel"),
    ):
        line = one_error(execute([str(PROGRAMS), f"--kernel={kernel}"]), 2)
        assert kernel in line and said in line


def test_kernel_without_time_travel_is_named(tmp_path: Path) -> None:
    kernel = tmp_path / "linux"
    # User Mode Linux answers these without booting.
    source = '#include <stdio.h>\nint main(int n, char** a) { puts(a[1][2] == 118 ? "6.12.0" : '
    source += '"CONFIG_UML=y\\nCONFIG_VIRTIO_UML=y"); return n < 2; }'
    (tmp_path / "linux.c").write_text(source)
    execute(["cc", "-o", str(kernel), str(tmp_path / "linux.c")]).expect()
    line = one_error(execute([str(PROGRAMS), f"--kernel={kernel}"]), 2)
    assert "built without CONFIG_UML_TIME_TRAVEL_SUPPORT" in line
    assert "viaduct kernel build" in line


def test_forbidden_ptrace_is_named(scenario: Path) -> None:
    line = one_error(run_with(forbid_ptrace, VIADUCT, "run", scenario), 3)
    assert "kernel guest 0 (n0, n1)" in line
    assert "ptrace: Operation not permitted" in line and "yama" in line


def test_memory_that_is_not_there_is_named(scenario: Path) -> None:
    line = one_error(execute([str(PROGRAMS), "--memory=65536"]), 3)
    assert "guest 0 (n0, n1)" in line and "65536 MiB" in line and "/dev/shm" in line
    small = "mount -t tmpfs -o size=16m none /dev/shm && exec "
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    line = one_error(execute([*unshare, f"{small}{VIADUCT} run {scenario}"]), 3)
    assert "only 16 MiB are free in /dev/shm" in line


def test_temporary_folder_that_is_not_there_is_named(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    line = one_error(execute([str(VIADUCT), "run", str(scenario)]), 3)
    assert "/no/such/folder" in line and "set TMPDIR to another directory" in line


def test_more_devices_than_a_kernel_takes_are_named() -> None:
    transfer = BUILD / "examples" / "viaduct-kernel-transfer"
    line = one_error(execute([str(transfer), "--pairs=1500"]), 2)
    assert "can have 2036 network devices" in line and "not 3001" in line
    assert "spread the nodes over more guests" in line


def test_more_devices_than_open_files_are_named(scenario: Path) -> None:
    few = (256, 256)
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, few)
    line = one_error(run_with(limit, VIADUCT, "run", scenario), 3)
    assert "536 open files, but the limit is 256" in line and "ulimit -Hn 536" in line


@pytest.mark.parametrize(
    ("program", "problem", "may_be_absent"),
    [
        ("no-such-program", "No such file or directory", True),
        ("/etc/passwd", "Permission denied", False),
    ],
)
def test_program_that_does_not_start_is_named(
    program: str, problem: str, may_be_absent: bool, scenario: Path
) -> None:
    text = scenario.read_text().replace("duration: 1000s", "duration: 1s")
    text = text[: text.index("flows")]
    scenario.write_text(text + f"programs: [{{node: n1, command: {program} -x}}]\n")
    line = execute([str(VIADUCT), "run", str(scenario)]).error_line(1)
    assert f"'n1 {Path(program).name}" in line or f"'n1 {program}'" in line
    assert problem in line
    assert ("is the program installed on this machine" in line) == may_be_absent


def guest_of(pid: int) -> int:
    """The process that is a guest's kernel, below the command."""

    def find() -> int | None:
        for child in descendants(pid):
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes()
            except OSError:
                continue
            if b"time-travel=ext" in words:
                return child
        return None

    return int(wait_until(find, "a guest is started"))


def failure_of_guest(scenario: Path, what: int) -> str:
    """The error line of a run whose guest gets a signal after it has booted."""
    command = Running("run", scenario, "--set", "guests=process")
    try:
        guest = guest_of(command.pid)
        # Its folder is removed when all guests have booted.
        wait_until(lambda: not list_of_folders(guest), "the guest has booted")
        os.kill(guest, what)
        assert command.wait() == 1, command.text
    finally:
        command.stop()
    lines = [line for line in command.text.splitlines() if "kernel guest" in line]
    assert len(lines) == 1, command.text
    return lines[0]


def list_of_folders(guest: int) -> list[str]:
    """The folder in which the guest was started, while it exists."""
    folder = str(Path(f"/proc/{guest}/cwd").readlink())
    return [] if folder.endswith(" (deleted)") else [folder]


def test_killed_guest_ends_the_run(scenario: Path) -> None:
    line = failure_of_guest(scenario, signal.SIGKILL)
    assert "kernel guest 0 (n0, n1) was killed by signal 9 (Killed), at " in line


def test_stopped_guest_ends_the_run(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NS_ATTRIBUTE_DEFAULT", "ns3::KernelCalendar::Timeout=10s")
    line = failure_of_guest(scenario, signal.SIGSTOP)
    assert "kernel guest 0 (n0, n1) " in line and ", at " in line


PLACES = pytest.mark.parametrize("place", ["Process", "Embedded"])


def fails_in(place: str, *words: str, timeout: str = "30s", **variables: str) -> str:
    """The error of a simulation whose guest is in this place, with these environment variables."""
    environment_of = {
        **environment(),
        **variables,
        "NS_ATTRIBUTE_DEFAULT": f"ns3::KernelGuest::Place={place};"
        f"ns3::KernelCalendar::Timeout={timeout}",
    }
    ended = subprocess.run(
        [PROGRAMS, *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment_of,
        check=False,
    )
    return one_error(Done(ended.returncode, ended.stdout, ended.stderr), 1)


@PLACES
def test_guest_that_spins_ends_the_run(place: str) -> None:
    line = fails_in(place, "1@1s while :; do :; done", timeout="10s")
    assert "kernel guest 0 (n0, n1) " in line
    assert "a program in the guest polls without sleeping" in line
    assert "at 1.0" in line


@PLACES
def test_program_that_computes_for_ever_ends_the_run(place: str) -> None:
    line = fails_in(place, "1@1s /usr/bin/python3 -c 'while True: pass'", timeout="5s")
    assert "kernel guest 0 (n0, n1) has run for 5 s without advancing its time" in line


@PLACES
def test_guest_that_panics_ends_the_run_with_its_last_words(place: str) -> None:
    line = fails_in(place, "1@1s echo 2 >/proc/sys/vm/panic_on_oom; tail /dev/zero")
    assert "kernel guest 0 (n0, n1) " in line and ", at 1.0" in line
    assert "the last lines of the guest's console: " in line and "out of memory" in line.lower()


@PLACES
def test_guest_that_goes_off_ends_the_run(place: str) -> None:
    off = "/usr/bin/python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)'"
    line = fails_in(place, f"1@1s {off}")
    assert "kernel guest 0 (n0, n1) was killed by signal 6 (Aborted), at 1.0" in line


@PLACES
def test_guest_whose_init_ends_does_not_start(place: str, tmp_path: Path) -> None:
    (tmp_path / "viaduct-guest").symlink_to("/bin/false")
    (tmp_path / "libviaduct-random.so").symlink_to(BUILD / "libviaduct-random.so")
    line = fails_in(place, "0@1s true", VIADUCT_LIBEXEC=str(tmp_path))
    assert "Attempted to kill init" in line


def test_boot_parameter_that_the_simulator_sets_is_refused() -> None:
    done = execute([PROGRAMS, "--boot=init=/bin/false", "0@1s true"])
    assert "init is set by the simulator" in one_error(done, 2)
