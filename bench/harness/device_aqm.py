"""Part of benchmark `device`: ns-3's queue discs on the traffic of real hosts."""

from __future__ import annotations

import contextlib
import json
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .analysis import ratio_of_rounds
from .device_systems import frames_in
from .plan import Plan
from .process import BenchError, Child, wait_until
from .results import Result, Row, measured
from .session import FORWARDER_CPU, SENDER_CPU, Namespace, Session, join
from .traffic import listens

_PROGRAM = "viaduct-queue-discs"
_RATE = 50  # Mbit/s
_FLOWS = 8
_PORT = 5201


@dataclass(frozen=True)
class Disc:
    """A queue disc, with or without byte queue limits."""

    name: str
    label: str
    words: tuple[str, ...]


_FIFO = Disc("pfifo_fast", "pfifo_fast, BQL", ("--disc=PfifoFast",))
_FAIR = Disc("fq_codel", "FQ-CoDel, BQL", ("--disc=FqCoDel",))
_WITHOUT = (
    Disc("pfifo_fast", "pfifo_fast, no BQL", ("--disc=PfifoFast", "--bql=false")),
    Disc("fq_codel", "FQ-CoDel, no BQL", ("--disc=FqCoDel", "--bql=false")),
)


@dataclass(frozen=True)
class Hosts:
    """left:eth0 --- r0:router:r1 --- right:eth0; r1 sends 50 Mbit/s."""

    left: Namespace
    router: Namespace
    right: Namespace


def _make_hosts(session: Session) -> Hosts:
    hosts = Hosts(*(session.namespace(f"aqm-{place}") for place in ("l", "m", "r")))
    for number, (host, port) in enumerate(((hosts.left, "r0"), (hosts.right, "r1")), 1):
        join(host, "eth0", hosts.router, port)
        via = f"route add 10.1.{3 - number}.0/24 via 10.1.{number}.1"
        host.ip([f"addr add 10.1.{number}.2/24 dev eth0", via])
    # Reno is used, because CUBIC ends its slow start early: with Reno the queue fills at once.
    hosts.left.sysctl(["net.ipv4.tcp_congestion_control=reno"])
    shape = ["tbf", "rate", f"{_RATE}mbit", "burst", "5kb", "limit", "10mb"]
    hosts.router.run(["tc", "qdisc", "add", "dev", "r1", "root", *shape])
    return hosts


def percentile(times: Sequence[float], share: float) -> float:
    """Of at least one."""
    return sorted(times)[int(share * (len(times) - 1))]


def ping_times(text: str, sent: int) -> list[float]:
    """Round trips, ms, that `ping` printed; BenchError if more than one in ten has no answer."""
    times = [float(value) for value in re.findall(r"time=([\d.]+)", text)]
    if len(times) < 0.9 * sent:
        raise BenchError(f"ping: {len(times)} of {sent} were answered: no quantile can be told")
    return times


def _routed(hosts: Hosts) -> bool:
    with contextlib.suppress(BenchError):
        hosts.left.run(["ping", "-n", "-c", "1", "-W", "1", "10.1.2.2"])
        return True
    return False


@contextlib.contextmanager
def _router(session: Session, hosts: Hosts, disc: Disc, seconds: float) -> Iterator[Child]:
    words = ["--left=r0", "--right=r1", f"--duration={seconds}s", f"--warm-up={seconds / 2}s"]
    child = session.start(
        hosts.router.command([session.program(_PROGRAM), *words, *disc.words], FORWARDER_CPU)
    )
    try:
        yield child
    finally:
        child.end()


def _loaded(session: Session, hosts: Hosts, disc: Disc, seconds: float) -> Row:
    """Eight flows for some seconds, and a ping in their second half."""
    with _router(session, hosts, disc, seconds + 3) as router:
        if not wait_until(lambda: _routed(hosts), timeout=10):
            router.require_running(disc.label)
            raise BenchError(f"{disc.label}: no ping came through in 10 s")
        server = session.start(hosts.right.command(["iperf3", "-s", "-1", "-p", str(_PORT)]))
        if not wait_until(lambda: listens(server.pid, _PORT), timeout=5):
            raise BenchError("iperf3 -s did not listen within 5 s")
        before = frames_in(hosts.right)
        words = ["-c", "10.1.2.2", "-p", str(_PORT), "-t", f"{seconds:.0f}"]
        flows = ["iperf3", "-J", "-P", str(_FLOWS), *words]
        client = session.start(hosts.left.command(flows, SENDER_CPU))
        time.sleep(seconds / 2)  # until the queue has grown
        count = int((seconds / 2 - 0.5) / 0.02)
        ping = ["ping", "-n", "-i", "0.02", "-c", str(count), "10.1.2.2"]
        times = ping_times(hosts.left.run(ping, SENDER_CPU), count)
        ended = client.report(timeout=seconds + 30)["end"]
        server.end()
        arrived = frames_in(hosts.right) - before
        told = json.loads(router.finish(timeout=seconds + 30).splitlines()[-1])
    received = ended["sum_received"]["bytes"]
    if arrived * 1500 < received:
        raise BenchError(f"{received} bytes cannot have come in {arrived} frames")
    return {
        "mbit": ended["sum_received"]["bits_per_second"] / 1e6,
        "ping_p50_ms": statistics.median(times),
        "ping_p95_ms": percentile(times, 0.95),
        "visible": told["visible"],
        "below_bytes": told["below_bytes"],
        "disc_drops": told["disc_drops"],
        "device_drops": told["device_drops"],
    }


_DIGITS = {"mbit": 1, "ping_p50_ms": 2, "ping_p95_ms": 2, "visible": 3, "below_bytes": None}


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Latency under load, of pfifo_fast and FQ-CoDel."""
    try:
        hosts = _make_hosts(session)
    except BenchError as error:
        result.notes.append(f"latency_under_load_pfifo_vs_fqcodel is left out: {error}.")
        return
    seconds = plan.choose(10.0, 5.0)
    seen: dict[Disc, list[Row]] = {}
    for number, order in plan.turns([_FIFO, _FAIR, *_WITHOUT], plan.choose(plan.rounds, 2)):
        for disc in order:
            if disc in (_FIFO, _FAIR) or number == 1:
                seen.setdefault(disc, []).append(_loaded(session, hosts, disc, seconds))
                plan.say(f"{disc.label}: ping {seen[disc][-1]['ping_p95_ms']:.1f} ms (95%)")
    for disc, rows in seen.items():
        result.add(
            "queue discs",
            disc,
            flows=_FLOWS,
            rounds=len(rows),
            **{
                key: value
                for name, digits in _DIGITS.items()
                for key, value in measured(name, [row[name] for row in rows], digits).items()
            },
            disc_drops=sum(row["disc_drops"] for row in rows),
            device_drops=sum(row["device_drops"] for row in rows),
        )
    late = {disc: [row["ping_p95_ms"] for row in seen[disc]] for disc in (_FIFO, _FAIR)}
    result.ratios["latency_under_load_pfifo_vs_fqcodel"] = ratio_of_rounds(
        late[_FIFO], late[_FAIR], 5
    )
