"""Kernels inside the simulator's process, where one is unless it has to be elsewhere, and kernels
in processes: all that guests do must be the same there. Needs no root,
but a kernel that was built (viaduct kernel build)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from kernels import assert_nothing_left, need
from labs import BUILD, Done, Running, descendants, environment, wait_until

TRANSFER = BUILD / "examples" / "viaduct-kernel-transfer"


@pytest.fixture(autouse=True)
def leaves_nothing_of_guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Fails a test that leaves a process or a guest's files in the temporary folder."""
    need()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    assert_nothing_left(tmp_path)


def run(place: str, *words: str | Path, log: str = "") -> Done:
    """A program of ns-3 whose guests want to be in this place."""
    attribute = {"NS_ATTRIBUTE_DEFAULT": f"ns3::KernelGuest::Place={place}", "NS_LOG": log}
    ended = subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        timeout=120,
        env={**environment(), **attribute},
        check=False,
    )
    return Done(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.parametrize(
    "name",
    "application device limits link lte mptcp ns3-applications qdisc socket stack start state "
    "transfer wifi".split(),
)
def test_suites_pass_in_processes(name: str) -> None:
    suite = f"viaduct-kernel-{name}"
    output = run("Process", BUILD / "viaduct-ns3-test", f"--suite={suite}", "--verbose").expect()
    assert f"PASS {suite}" in output.output


@pytest.mark.parametrize("place", ["Process", "Embedded"])
@pytest.mark.parametrize("name", ["ns3-applications", "socket", "transfer"])
def test_suites_pass_with_sockets_of_the_agent(name: str, place: str) -> None:
    suite = f"viaduct-kernel-{name}"
    attributes = f"{place};ns3::KernelGuest::ServeSockets=false"
    output = run(attributes, BUILD / "viaduct-ns3-test", f"--suite={suite}", "--verbose").expect()
    assert f"PASS {suite}" in output.output


def newest_kernel() -> Path:
    images = sorted(Path.home().glob(".cache/viaduct/kernels/*/linux"))
    if not images:
        pytest.skip("the kernels are elsewhere")
    return images[-1]


def guests_logged(done: Done) -> list[str]:
    return [line for line in done.errors.splitlines() if line.startswith("guest ")]


def trace_of(place: str, folder: Path, *words: str) -> bytes:
    """The frames of a transfer whose guests are in this place."""
    folder.mkdir()
    prefix = folder / "frames"
    run(place, TRANSFER, *words, f"--pcap={prefix}").expect()
    files = sorted(folder.iterdir())
    assert files
    return b"".join(file.name.encode() + file.read_bytes() for file in files)


def test_several_guests_are_embedded() -> None:
    words = [TRANSFER, "--pairs=2", "--guests=3", "--time=300ms"]
    done = run("Embedded", *words, log="KernelGuest=info")
    done.expect()
    lines = guests_logged(done)
    assert len(lines) == 3
    assert all(line.endswith(" runs in this process") for line in lines)


@pytest.mark.parametrize("guests", [2, 5])
@pytest.mark.parametrize("protocol", ["Tcp", "Sctp"])
def test_several_guests_send_the_same_frames_as_processes(
    protocol: str, guests: int, tmp_path: Path
) -> None:
    words = [
        "--pairs=4",
        f"--guests={guests}",
        f"--factory=ns3::Kernel{protocol}SocketFactory",
        "--time=2s",
    ]
    embedded = trace_of("Embedded", tmp_path / "embedded", *words)
    assert embedded == trace_of("Process", tmp_path / "process", *words)


def without_table(folder: Path) -> Path:
    """The newest kernel as older versions built it."""
    image = newest_kernel()
    for name in "linux", "image.json":
        (folder / name).write_bytes((image.parent / name).read_bytes())
    (folder / "linux").chmod(0o755)
    return folder / "linux"


def test_without_a_table_of_addresses_one_guest_is_embedded(tmp_path: Path) -> None:
    kernel = without_table(tmp_path)
    words = [TRANSFER, "--pairs=2", "--guests=3", "--time=300ms", f"--kernel={kernel}"]
    done = run("Embedded", *words, log="KernelGuest=info")
    done.expect()
    first, *others = guests_logged(done)
    assert first.endswith(" runs in this process")
    assert len(others) == 2
    reason = "runs in a separate process: "
    reason += f"kernel {kernel} cannot use its addresses, which are in use"
    assert all(reason in line for line in others)


def test_guest_of_a_damaged_table_has_a_process(tmp_path: Path) -> None:
    kernel = without_table(tmp_path)
    table = newest_kernel().with_suffix(".addresses").read_bytes()
    (tmp_path / "linux.addresses").write_bytes(table[:-2])
    words = [TRANSFER, "--pairs=2", "--guests=2", "--time=300ms", f"--kernel={kernel}"]
    done = run("Embedded", *words, log="KernelGuest=info")
    done.expect()
    first, second = guests_logged(done)
    assert first.endswith(" runs in this process")
    assert "linux.addresses, that is damaged or belongs to another kernel" in second


def test_guests_that_find_no_place_have_processes(tmp_path: Path) -> None:
    """Twelve are too many for 2 GiB; their frames are the same."""
    words = ["--pairs=12", "--guests=12", "--time=300ms"]
    done = run("Embedded", TRANSFER, *words, log="KernelGuest=info")
    done.expect()
    lines = guests_logged(done)
    embedded = [line for line in lines if line.endswith(" runs in this process")]
    elsewhere = [line for line in lines if "finds no free addresses in this process" in line]
    assert len(embedded) >= 8
    assert elsewhere
    assert len(lines) == 12 == len(embedded) + len(elsewhere)
    frames = trace_of("Embedded", tmp_path / "embedded", *words)
    assert frames == trace_of("Process", tmp_path / "process", *words)


def test_kernel_that_cannot_be_embedded_has_a_process(tmp_path: Path) -> None:
    """A kernel with a damaged table of sections, which only a loader of libraries reads."""
    image = newest_kernel()
    kernel = bytearray(image.read_bytes())
    kernel[0x28:0x30] = (1 << 62).to_bytes(8, "little")  # e_shoff
    (tmp_path / "linux").write_bytes(kernel)
    (tmp_path / "linux").chmod(0o755)
    (tmp_path / "image.json").write_text((image.parent / "image.json").read_text())
    words = [TRANSFER, "--time=300ms", f"--kernel={tmp_path / 'linux'}"]
    done = run("Embedded", *words, log="KernelGuest=info")
    done.expect()
    (line,) = guests_logged(done)
    assert f"runs in a separate process: kernel {tmp_path / 'linux'} is damaged" in line


def test_too_few_descriptors_for_both_sides_are_enough_for_a_process() -> None:
    def limited(files: int) -> Done:
        words = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", TRANSFER, "--pairs=10"]
        return run("Embedded", *words, "--time=300ms", log="KernelGuest=info")

    refused = limited(100).error_line(3)
    needed = int(re.search(r"need (\d+) open files", refused)[1])
    done = limited(needed)
    done.expect()
    (line,) = guests_logged(done)
    assert "runs in a separate process: " in line
    assert f"open files, but the limit is {needed}" in line


def test_killed_simulator_leaves_no_process(tmp_path: Path) -> None:
    scenario = tmp_path / "killed.yaml"
    scenario.write_text(
        "mode: simulate\nstack: kernel\nguests: embedded\nduration: 1000s\nnodes: 2\n"
        "links: [{line: all}]\n"
        "flows: [{type: ping, from: n0, to: n1, interval: 10ms, duration: 999s}]\n"
    )
    command = Running("run", scenario)
    try:
        simulator, program = wait_until(lambda: traced_below(command.pid), "the agent runs")
        os.kill(simulator, signal.SIGKILL)
        assert command.wait() == 1, command.text
        wait_until(lambda: not Path(f"/proc/{program}").exists(), "it ends with the simulator")
    finally:
        command.stop()


def traced_below(pid: int) -> tuple[int, int] | None:
    """A simulator below this process and a process of a guest's programs, which it traces."""
    for child in descendants(pid):
        try:
            status = Path(f"/proc/{child}/status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        tracer = int(fields["TracerPid"])
        if tracer in descendants(pid):
            return tracer, child
    return None
