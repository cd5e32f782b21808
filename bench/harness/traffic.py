"""One trial: traffic from the source to the sink of a system, and its measurements."""

from __future__ import annotations

import contextlib
import itertools
import re
import resource
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cpu import CpuMeter, softirq_seconds
from .forwarder import Forwarder
from .process import BenchError, Child, wait_until
from .session import FORWARDER_CPU, SENDER_CPU, Session

# Each trial has a different port, so that late packets of an overloaded system are ignored.
_ports = itertools.cycle(range(20000, 30000))
_SAMPLE = 64  # the receiver reads one packet in this many; the kernel counts the others


@dataclass(frozen=True)
class UdpTrial:
    """The result of one UDP flow."""

    offered_pps: float
    received_pps: float
    loss: float
    rtt_ms: float | None
    cpu_percent: float | None  # CPU time of the forwarder
    machine_percent: float
    size: int
    # The CPU time per packet of a sender that does not pace itself; it includes a kernel data
    # plane's work, which is done in the sender's system calls.
    sender_ns: float | None
    traffic = "udp"

    @property
    def received_per_cpu_second(self) -> float:
        """Packets that arrive for a second of the sender's CPU time."""
        assert self.sender_ns, "only of a trial that saturates"
        return (1 - self.loss) * 1e9 / self.sender_ns

    @property
    def offered_mbit(self) -> float:
        """Payload offered."""
        return self.offered_pps * self.size * 8 / 1e6

    @property
    def received_mbit(self) -> float:
        """Payload received."""
        return self.received_pps * self.size * 8 / 1e6

    @property
    def loss_percent(self) -> float:
        """The share that did not arrive."""
        return 100 * self.loss


@dataclass(frozen=True)
class TcpTrial:
    """The result of one TCP connection."""

    received_mbit: float
    rtt_ms: float | None
    cpu_percent: float | None
    machine_percent: float
    traffic = "tcp"


def _start_receiver(
    session: Session, system: Forwarder, port: int, duration: float, sample: int = _SAMPLE
) -> Child:
    command = [session.program("viaduct-load"), "receive", "--port", str(port), "--json"]
    command += ["--sample", str(sample), "--duration", f"{duration + 30:.3f}s"]
    receiver = session.start(system.sink.command(command, SENDER_CPU))
    receiver.expect("listening")
    return receiver


def _start_ping(session: Session, system: Forwarder) -> Child:
    command = ["ping", "-n", "-q", "-i", "0.02", system.sink_address]
    return session.start(system.source.command(command, SENDER_CPU))


def _end_ping(ping: Child) -> float | None:
    ping.signal(signal.SIGINT)
    out, _ = ping.process.communicate(timeout=5)
    found = re.search(r"= [\d.]+/([\d.]+)/", out)
    return float(found.group(1)) if found else None


def _collect(receiver: Child) -> dict[str, Any]:
    wait_until(lambda: not receiver.running(), timeout=1.5)
    receiver.signal(signal.SIGTERM)
    return receiver.report(timeout=5)


def _start_sender(
    session: Session, system: Forwarder, size: int, pps: float | None, duration: float, port: int
) -> Child:
    rate = "max" if pps is None else f"{pps:.3f}pps"
    command = [session.program("viaduct-load"), "send", "--to", f"{system.sink_address}:{port}"]
    command += ["--size", str(size), "--rate", rate, "--duration", f"{duration:.3f}s", "--json"]
    command += ["--frames"] if system.frames else []
    return session.start(system.source.command(command, SENDER_CPU))


def _sending_seconds() -> float:
    """CPU time of ended children, and of the sender's processor where it forwards for them."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + softirq_seconds(SENDER_CPU)


def udp(
    session: Session,
    system: Forwarder,
    size: int,
    pps: float | None,
    duration: float,
    ping: bool = False,
) -> UdpTrial:
    """Send UDP at a rate (None: as fast as the kernel takes it) and see what arrives."""
    port = next(_ports)
    receiver = _start_receiver(session, system, port, duration)
    pinger = _start_ping(session, system) if ping else None
    meter = CpuMeter(system.pids())
    before = _sending_seconds()
    sent = _start_sender(session, system, size, pps, duration, port).report(timeout=duration + 20)
    sending = _sending_seconds() - before
    forwarder, machine = meter.forwarder_percent(), meter.machine_percent()
    rtt = _end_ping(pinger) if pinger else None
    received = _collect(receiver)
    return UdpTrial(
        offered_pps=sent["offered_pps"],
        # The rate from the first to the last packet; with too few packets, the rate over the time
        # of sending.
        received_pps=received["pps"] or received["received"] / sent["seconds"],
        loss=max(0.0, 1 - received["received"] / sent["offered"]) if sent["offered"] else 1.0,
        rtt_ms=rtt,
        cpu_percent=forwarder,
        machine_percent=machine,
        size=size,
        sender_ns=1e9 * sending / max(sent["offered"], 1) if pps is None else None,
    )


@dataclass(frozen=True)
class Order:
    """What became of every packet of a flow."""

    sent: int
    lost: int
    duplicates: int
    reordered: int


def every_packet(session: Session, system: Forwarder, pps: float, duration: float) -> Order:
    """Send UDP at a rate that the receiver can read whole."""
    port = next(_ports)
    receiver = _start_receiver(session, system, port, duration, sample=1)
    sender = _start_sender(session, system, 160, pps, duration, port)
    offered = sender.report(timeout=duration + 20)["offered"]
    seen = _collect(receiver)
    # Packets that the receiver was too slow to read are not lost: they have arrived.
    lost = offered - seen["received"] - seen["dropped_here"]
    return Order(offered, lost, seen["duplicates"], seen["reordered"])


def listens(pid: int, port: int) -> bool:
    """Whether there is a listening TCP socket with this port in a process's namespace."""
    entry = f":{port:04X} "
    tables = (Path(f"/proc/{pid}/net/tcp"), Path(f"/proc/{pid}/net/tcp6"))
    with contextlib.suppress(OSError):
        return any(entry in line and " 0A " in line for file in tables for line in file.open())
    return False


def tcp(session: Session, system: Forwarder, duration: float, ping: bool = False) -> TcpTrial:
    """One iperf3 connection from the source to the sink; one that fails is tried once more."""
    try:
        return _tcp(session, system, duration, ping)
    except BenchError:
        settle(system)
        return _tcp(session, system, duration, ping)


def _tcp(session: Session, system: Forwarder, duration: float, ping: bool) -> TcpTrial:
    port = str(next(_ports))
    server = session.start(
        system.sink.command(["iperf3", "-s", "-1", "-J", "-p", port], FORWARDER_CPU)
    )
    if not wait_until(lambda: listens(server.pid, int(port)), timeout=5):
        raise BenchError("iperf3 -s did not listen within 5 s")
    pinger = _start_ping(session, system) if ping else None
    meter = CpuMeter(system.pids())
    command = ["iperf3", "-c", system.sink_address, "-p", port, "-t", f"{duration:.0f}"]
    client = session.start(system.source.command([*command, "-J"], SENDER_CPU))
    report = client.report(timeout=duration + 30)
    forwarder, machine = meter.forwarder_percent(), meter.machine_percent()
    rtt = _end_ping(pinger) if pinger else None
    server.end()
    received = report["end"]["sum_received"]["bits_per_second"] / 1e6
    return TcpTrial(received, rtt, forwarder, machine)


def settle(system: Forwarder, timeout: float = 10) -> None:
    """Wait until the forwarder has drained the queues of an overload."""
    if not system.pids():
        return

    def calm() -> bool:
        meter = CpuMeter(system.pids())
        time.sleep(0.1)
        return (meter.forwarder_percent() or 0) < 25

    wait_until(calm, timeout)


def reaches(system: Forwarder) -> bool:
    """Whether one ping from the source to the sink is answered within a second."""
    ping = ["ping", "-n", "-q", "-c", "1", "-W", "1", system.sink_address]
    with contextlib.suppress(BenchError):
        system.source.run(ping)
        return True
    return False
