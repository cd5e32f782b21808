"""The runs of `kernelstack`: ns3-dumbbell in virtual time, host-dumbbells in real time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from signal import SIGINT

from .process import BenchError, Child, run, wait_until
from .results import Row
from .session import Session

# Linux's defaults on a machine with much memory; guests, which have little, would choose smaller
# buffers.
BUFFERS = {
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": "4096 16384 4194304",
}
# The path of DCE Cradle, section 4, which is also ns3-dumbbell's default.
CRADLE_SPEC = "delay=100ms rate=2Mbit loss=5% queue=100p"
_LONGEST = 600.0  # maximum wall time of one run in virtual time, seconds
# The maximum lateness of writes in real time: a later round would measure the machine's other work
# more than its kernel.
_LATEST_WRITE_MS = 200.0  # equal to the path's round-trip time
_ATTEMPTS = 3


@dataclass(frozen=True)
class System:
    """A stack that ns3-dumbbell can be run with."""

    name: str
    label: str
    words: tuple[str, ...]


NS3 = System("ns3", "ns-3 native TCP", ("--stack=ns3",))
NS3_DEFAULT = System("ns3_default", "ns-3 native TCP, MSS 536", ("--stack=ns3", "--segment=0"))


def kernel_systems(session: Session) -> list[System]:
    """A system for each series (6.12, 6.1) of kernels that were built, newest first."""
    images = json.loads(run([str(session.viaduct), "kernel", "list", "--json"]))
    series = dict.fromkeys(".".join(image["release"].split(".")[:2]) for image in images)
    if not series:
        raise BenchError("no kernel for guests: run `viaduct kernel build`")
    sysctls = ";".join(f"{name}={value}" for name, value in BUFFERS.items())
    return [
        System(
            f"kernel_{version.replace('.', '_')}",
            f"Linux {version}, virtual time",
            (f"--stack=kernel:{version}", f"--sysctl={sysctls}"),
        )
        for version in series
    ]


def in_process(system: System) -> System:
    """The same with the kernel in a process of its own."""
    return System(
        f"{system.name}_process",
        f"{system.label}, a process",
        (*system.words, "--ns3::KernelGuest::Place=Process"),
    )


def _command(session: Session, system: System, words: Sequence[str]) -> list[str]:
    return [session.program("ns3-dumbbell"), *system.words, *words]


def dumbbell(session: Session, system: System, *words: str, cpu: int | None = None) -> Row:
    """One run, alone on the machine: what ns3-dumbbell prints."""
    command = _command(session, system, words)
    if cpu is not None:
        command = ["taskset", "-c", str(cpu), *command]
    with session.scope():
        return session.start(command).report(_LONGEST)


def dumbbells(
    session: Session, asked: Sequence[tuple[System, Sequence[str]]], at_once: int = 2
) -> Iterator[Row]:
    """Runs whose wall time does not matter, some beside each other; results in their order."""
    waiting = [_command(session, system, words) for system, words in reversed(asked)]
    running: list[Child] = []
    with session.scope():
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(session.start(waiting.pop()))
            yield running.pop(0).report(_LONGEST)


@dataclass(frozen=True)
class HostRun:
    """Dumbbells of this machine's kernel behind one path engine, in real time."""

    goodputs: list[float]  # bit/s: one element per dumbbell, the mean over its flows
    worst_lateness_ms: float  # maximum lateness of the applications' writes
    path_p99_us: float  # 99th percentile of the path engine's lateness
    loss: float  # share of the arrived frames that the engine's loss model dropped


def _await_path(session: Session, path: Child, name: str) -> None:
    def answers() -> bool:
        path.require_running("viaduct path")
        asked = [str(session.viaduct), "path", "stats", name, "--json"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0

    if not wait_until(answers, timeout=30, interval=0.1):
        raise BenchError("viaduct path: no answer in 30 s")


def host_dumbbells(
    session: Session, count: int, seconds: float, spec: str, seed: int, *words: str
) -> HostRun:
    """`count` dumbbells of two flows for so long; again if the machine was busy meanwhile."""
    for _ in range(_ATTEMPTS):
        seen = _host_round(session, count, seconds, spec, seed, *words)
        if seen.worst_lateness_ms <= _LATEST_WRITE_MS:
            return seen
    raise BenchError(
        f"real time: an application was {seen.worst_lateness_ms:.0f} ms late in the last of "
        f"{_ATTEMPTS} rounds; measure while nothing else runs on this machine"
    )


def _host_round(
    session: Session, count: int, seconds: float, spec: str, seed: int, *words: str
) -> HostRun:
    with session.scope():
        hub = session.namespace("hub")
        command = [session.program("host-dumbbells"), f"--dumbbells={count}"]
        command += [f"--duration={seconds}", *words]
        command += [f"--sysctl={name}={value}" for name, value in BUFFERS.items()]
        hosts = session.start(hub.command(command), stdin=subprocess.PIPE)
        hosts.expect("ready", "stdout")
        report = session.directory / "path.json"
        name = f"kernelstack-{seed}"
        engine = [str(session.viaduct), "path", "--name", name, "--seed", str(seed), "--quiet"]
        engine += ["--json", str(report), "--up", spec, "--down", spec]
        for number in range(count):
            engine += ["--pair", f"d{number}=l{number},r{number}"]
        path = session.start(hub.command(engine))
        _await_path(session, path, name)
        hosts.say("go")
        said = hosts.report(seconds + 60)
        path.signal(SIGINT)
        path.finish(timeout=30)
        return _host_run(said, json.loads(report.read_text()))


def _host_run(said: Row, engine: Row) -> HostRun:
    goodputs = said["goodput_bit_per_s"]
    pairs = [(a + b) / 2 for a, b in zip(goodputs[::2], goodputs[1::2], strict=True)]
    arrived = sum(pipeline["arrived"] for pipeline in engine["pipelines"])
    lost = sum(pipeline["fates"].get("lost", 0) for pipeline in engine["pipelines"])
    late = engine["timing"]["p99_ns"] / 1e3
    return HostRun(pairs, said["worst_lateness_ms"], late, lost / max(arrived, 1))
