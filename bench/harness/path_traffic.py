"""One trial of the benchmark `path`: numbered frames in at one end, counted at the other."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from .forwarder import Middle
from .process import BenchError, Child, run, wait_until
from .session import FORWARDER_CPU, SENDER_CPU, Session
from .traffic import settle


@dataclass(frozen=True)
class FrameTrial:
    """The fates of the frames."""

    sent: int
    received: int
    offered_pps: float

    @property
    def loss(self) -> float:
        """The share that did not arrive; 1 if nothing could be sent."""
        return max(0.0, 1 - self.received / self.sent) if self.sent else 1.0


@dataclass(frozen=True)
class Delays:
    """Delays of the sampled frames, from kernel stamp to kernel stamp."""

    count: int
    mean_ns: float
    stddev_ns: float
    p50_ns: float
    p99_ns: float
    span_s: float
    bytes: int


def clock_reader(session: Session, duration: float) -> dict[str, float]:
    """How late a loop that only reads the clock sees an instant.

    It runs on the emulator's processor, while the emulator has nothing to do.
    """
    command = [session.program("clock-reader"), "--duration", f"{duration:.3f}"]
    child = session.start(["taskset", "-c", str(FORWARDER_CPU), *command])
    found = child.report(timeout=duration + 20)
    return {
        f"machine_{key}_us": round(found[f"{key}_ns"] / 1e3, 3) for key in ("p50", "p99", "max")
    }


def received_frames(system: Middle) -> int:
    """Frames the sink's interface has received, by the kernel's count."""
    links = json.loads(run(["ip", "-n", system.sink.name, "-s", "-j", "link", "show", "eth0"]))
    return int(links[0]["stats64"]["rx"]["packets"])


def await_quiet(system: Middle, timeout: float) -> int:
    """Wait until nothing has arrived for a while, at most `timeout` seconds; returns the count."""
    last = received_frames(system)
    deadline = time.monotonic() + timeout
    quiet_since = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - quiet_since < 0.15:
        time.sleep(0.05)
        now = received_frames(system)
        if now != last:
            last, quiet_since = now, time.monotonic()
    return last


def send(
    session: Session, system: Middle, size: int, pps: float, duration: float, count: int = 0
) -> dict[str, float]:
    """Frames of `size` bytes from the source; its account."""
    command = [session.program("frame-source"), "--interface", "eth0", "--size", str(size)]
    command += ["--rate", f"{pps:.3f}", "--duration", f"{duration:.3f}"]
    command += ["--count", str(count), "--vlans", str(system.vlans)]
    child = session.start(system.source.command(command, SENDER_CPU))
    return child.report(timeout=duration + 20)


def trial(
    session: Session, system: Middle, size: int, pps: float, duration: float, hold: float = 0.01
) -> FrameTrial:
    """Send and count what arrives; `hold`: seconds the emulator keeps a frame."""
    before = received_frames(system)
    sent = send(session, system, size, pps, duration)
    time.sleep(hold)
    received = await_quiet(system, 3 + hold) - before
    settle(system)
    return FrameTrial(int(sent["sent"]), received, sent["offered_pps"])


def _watch(
    session: Session, system: Middle, sample: int, duration: float, csv: Path | None
) -> Child:
    """Take the kernel's stamps on both sides of the emulator from now on."""
    command = [session.program("frame-stamps"), "--sample", str(sample)]
    command += ["--from", f"{system.middle.name}:b0", "--to", f"{system.sink.name}:eth0"]
    command += ["--duration", f"{duration:.3f}"] + (["--csv", str(csv)] if csv else [])
    child = session.start(["taskset", "-c", str(SENDER_CPU), *command])
    child.expect("watching")
    return child


def _sample_for(pps: float) -> int:
    sample = 1
    while pps / sample > 8000:
        sample *= 2
    return sample


def delays(
    session: Session,
    system: Middle,
    size: int,
    pps: float,
    duration: float,
    hold: float = 0.01,
    csv: Path | None = None,
    sample: int | None = None,
) -> Delays:
    """Send at a rate and measure each sampled frame's delay."""
    watched = duration + hold + 0.3
    watcher = _watch(session, system, sample or _sample_for(pps), watched, csv)
    send(session, system, size, pps, duration)
    found = watcher.report(timeout=watched + 20)
    settle(system)
    if not found["matched"]:
        raise BenchError(f"{system.label}: no frame came through at {pps:,.0f} packet/s")
    kept = {f"{name}_ns": found["delay_ns"][name] for name in ("mean", "stddev", "p50", "p99")}
    return Delays(count=found["matched"], span_s=found["span_s"], bytes=found["bytes"], **kept)


def await_path(session: Session, system: Middle) -> None:
    """Wait until a frame that enters comes out."""

    def comes_through() -> bool:
        before = received_frames(system)
        send(session, system, 70, 1000, 1, count=10)
        return wait_until(lambda: received_frames(system) > before, timeout=1)

    system.await_path(comes_through, timeout=20)
