"""One trial of the benchmark `path`: numbered frames in at one end, counted at the other."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .cpu import CpuMeter
from .process import BenchError, Child, run, wait_until
from .session import SENDER_CPU, Namespace, Session
from .traffic import settle


@dataclass
class Emulator:
    """Something that joins b0 and b1 of its middle namespace, between a source and a sink."""

    name: str
    label: str
    source: Namespace
    middle: Namespace
    sink: Namespace
    child: Child | None = None
    vlans: int = 0  # links, each a VLAN of the two interfaces; 0: untagged frames

    def pids(self) -> list[int]:
        """The forwarder's processes."""
        return [self.child.pid] if self.child else []


@dataclass(frozen=True)
class FrameTrial:
    """What became of the frames."""

    sent: int
    received: int
    offered_pps: float
    loss: float
    forwarder_percent: float | None


@dataclass(frozen=True)
class Delays:
    """Delays of the sampled frames, from kernel stamp to kernel stamp."""

    count: int
    reordered: int
    mean_ns: float
    stddev_ns: float
    p50_ns: float
    p99_ns: float
    p999_ns: float
    max_ns: float
    span_s: float
    bytes: int


def received_frames(system: Emulator) -> int:
    """Frames the sink's interface has received, by the kernel's count."""
    links = json.loads(run(["ip", "-n", system.sink.name, "-s", "-j", "link", "show", "eth0"]))
    return int(links[0]["stats64"]["rx"]["packets"])


def await_quiet(system: Emulator, patience: float) -> int:
    """Wait until nothing has arrived for a while, at most `patience` seconds; returns the count."""
    last = received_frames(system)
    deadline = time.monotonic() + patience
    quiet_since = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - quiet_since < 0.15:
        time.sleep(0.05)
        now = received_frames(system)
        if now != last:
            last, quiet_since = now, time.monotonic()
    return last


def send(
    session: Session,
    system: Emulator,
    size: int,
    pps: float | None,
    duration: float,
    count: int = 0,
) -> dict[str, float]:
    """Frames of `size` bytes from the source (pps None: as fast as it can); its account."""
    command = [session.program("frame-source"), "--interface", "eth0", "--size", str(size)]
    command += ["--rate", f"{pps or 0:.3f}", "--duration", f"{duration:.3f}"]
    command += ["--count", str(count), "--vlans", str(system.vlans)]
    child = session.start(system.source.command(command, SENDER_CPU))
    return json.loads(child.finish(timeout=duration + 20))


def trial(
    session: Session,
    system: Emulator,
    size: int,
    pps: float | None,
    duration: float,
    hold: float = 0.01,
) -> FrameTrial:
    """Send and count what arrives; `hold`: seconds the emulator keeps a frame."""
    before = received_frames(system)
    meter = CpuMeter(system.pids())
    sent = send(session, system, size, pps, duration)
    percent = meter.forwarder_percent()
    time.sleep(hold)
    received = await_quiet(system, 3 + hold) - before
    settle(system)
    return FrameTrial(
        sent=int(sent["sent"]),
        received=received,
        offered_pps=sent["offered_pps"],
        loss=max(0.0, 1 - received / sent["sent"]) if sent["sent"] else 1.0,
        forwarder_percent=percent,
    )


@contextlib.contextmanager
def watching(
    session: Session, system: Emulator, sample: int, duration: float, csv: Path | None = None
) -> Iterator[Child]:
    """The kernel's stamps on both sides of the emulator while the body runs."""
    command = [session.program("frame-stamps"), "--sample", str(sample)]
    command += ["--from", f"{system.middle.name}:b0", "--to", f"{system.sink.name}:eth0"]
    command += ["--duration", f"{duration:.3f}"] + (["--csv", str(csv)] if csv else [])
    child = session.start(["taskset", "-c", str(SENDER_CPU), *command])
    assert child.process.stderr is not None
    if "watching" not in child.process.stderr.readline():
        child.finish(timeout=5)
        raise BenchError("frame-stamps ended before it watched")
    yield child


def _sample_for(pps: float) -> int:
    sample = 1
    while pps / sample > 8000:
        sample *= 2
    return sample


def delays(
    session: Session,
    system: Emulator,
    size: int,
    pps: float,
    duration: float,
    hold: float = 0.01,
    csv: Path | None = None,
    sample: int | None = None,
) -> Delays:
    """Send at a rate and measure each sampled frame's delay."""
    watched = duration + hold + 0.3
    with watching(session, system, sample or _sample_for(pps), watched, csv) as watcher:
        send(session, system, size, pps, duration)
        found = json.loads(watcher.finish(timeout=watched + 20))
    settle(system)
    if not found["matched"]:
        raise BenchError(f"{system.label}: no frame came through at {pps:,.0f} packet/s")
    values = found["delay_ns"]
    return Delays(
        count=found["matched"],
        reordered=found["reordered"],
        mean_ns=values["mean"],
        stddev_ns=values["stddev"],
        p50_ns=values["p50"],
        p99_ns=values["p99"],
        p999_ns=values["p999"],
        max_ns=values["max"],
        span_s=found["span_s"],
        bytes=found["bytes"],
    )


def await_path(session: Session, system: Emulator) -> None:
    """Wait until a frame that enters comes out."""

    def comes_through() -> bool:
        if system.child and not system.child.running():
            system.child.finish(timeout=1)
            raise BenchError(f"{system.label}: the forwarder ended")
        before = received_frames(system)
        send(session, system, 70, 1000, 1, count=10)
        return wait_until(lambda: received_frames(system) > before, timeout=1)

    if not wait_until(comes_through, timeout=20):
        raise BenchError(f"{system.label}: no frame came through in 20 s")
