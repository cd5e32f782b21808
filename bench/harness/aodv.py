"""Benchmark `aodv`: a protocol that finds routes on demand, in the simulator and offloaded."""

from __future__ import annotations

import re
import statistics
from dataclasses import asdict

from . import product, systems, traffic
from .analysis import Ratio
from .forwarder import Forwarder
from .measure import SMALL, paired_cost, sweep
from .plan import Plan
from .process import BenchError, wait_until
from .product import IN_SIMULATOR, KERNEL_ROUTES, Setting
from .results import Result, Row, measured, trials_row
from .session import SENDER_CPU, Namespace, Session
from .traffic import Order

NOTES = [
    "First packet: the RTT of the first ping of each pair of leaves of a star of 17. ns-3's AODV "
    "waits 0 to 10 ms (at random) before each broadcast of a request, which is most of it: a "
    "round's figure is the mean of the middle half of its pairs.",
    "In steady state the offloaded line and the kernel's static routes are compared by packets a "
    "second of the sender's CPU time, in whose system calls both forward, ksoftirqd included.",
    "Hand-over: a flow starts before its route is known; every packet is numbered. AODV's own "
    "queue is long enough to hold what comes before the route does, so it loses none itself.",
]
_LEAVES = 17
_ROUTERS = 2  # number of routers between the ends of the line
_WAIT = 2  # seconds to wait for the answer of a ping
# Unused routes expire soon, so that the next flow has to find its route again.
_LINE = (
    "routing: {protocol: AODV, attributes: {MaxQueueLen: 1000000, ActiveRouteTimeout: 1s, "
    "MyRouteTimeout: 2s}}",
    f"nodes: {_ROUTERS + 2}",
    "links: [{line: all}]",
)
_HANDOVER_RATES = (1_000.0, 10_000.0)  # packets a second
_HANDOVER_SECONDS = 0.5
_TIMEOUT = 30.0  # seconds to wait until a route has expired


def _line(session: Session, setting: Setting) -> Forwarder:
    lines = [*setting.lines(), *_LINE]
    ends = ("n0", f"n{_ROUTERS + 1}")
    system = product.bring_up(session, setting, f"aodv-{setting.name}", lines, ends)
    system.frames = False  # the source sends from sockets, because it looks for routes itself
    return system


def _star(session: Session, setting: Setting, number: int) -> list[Namespace]:
    """A star's leaves, which its centre knows."""
    names = [f"n{i}" for i in range(_LEAVES)]
    lines = [*setting.lines(), "routing: {protocol: AODV}", f"nodes: {{c: , count: {_LEAVES}}}"]
    lines.append(f"links: [{{star: {{center: c, leaves: [{', '.join(names)}]}}}}]")
    place = f"star-{setting.name}{number}"
    system = product.bring_up(session, setting, place, lines, ("c", "n0"))
    leaves = [Namespace(f"{system.lab}.{name}") for name in names]
    for leaf in leaves:
        to_leaf = Forwarder("", "the star's centre", system.source, leaf, leaf.addresses()[0])
        systems.await_path(to_leaf)
    return leaves


def _first_rtt(source: Namespace, address: str) -> float | None:
    """Milliseconds until the first packet is answered; None if it never is."""
    ping = ["ping", "-n", "-c", "1", "-W", str(_WAIT), address]
    try:
        found = re.search(r"time=([\d.]+) ms", source.run(ping, SENDER_CPU))
    except BenchError:
        return None
    return float(found.group(1)) if found else None


def _pairs() -> list[tuple[int, int]]:
    """Each once; a source's turns are apart, as it may ask ten times a second (RREQ_RATELIMIT)."""
    return [
        (i, (i + step) % _LEAVES) for step in range(1, _LEAVES // 2 + 1) for i in range(_LEAVES)
    ]


def _first_packets(session: Session, setting: Setting, number: int) -> list[float | None]:
    with session.scope():
        leaves = _star(session, setting, number)
        addresses = [leaf.addresses()[0] for leaf in leaves]
        return [_first_rtt(leaves[i], addresses[j]) for i, j in _pairs()]


def middle_mean(values: list[float]) -> float:
    """The mean of the middle half."""
    quarter = len(values) // 4
    return statistics.mean(sorted(values)[quarter : len(values) - quarter])


def _first_packet(session: Session, plan: Plan, result: Result) -> None:
    settings = (IN_SIMULATOR, KERNEL_ROUTES)
    delays: dict[str, list[float]] = {setting.name: [] for setting in settings}
    unanswered = dict.fromkeys(delays, 0)
    for number, order in plan.turns(settings):
        for setting in order:
            seen = _first_packets(session, setting, number)
            answered = [rtt for rtt in seen if rtt is not None]
            unanswered[setting.name] += len(seen) - len(answered)
            if len(answered) < 0.9 * len(seen):
                raise BenchError(f"{setting.label}: {len(answered)} of {len(seen)} pings answered")
            delays[setting.name].append(middle_mean(answered))
        figures = ", ".join(f"{name} {values[-1]:.2f} ms" for name, values in delays.items())
        plan.say(f"first packet, round {number} of {plan.rounds}: {figures}")
    insim, offloaded = (delays[setting.name] for setting in settings)
    later = [b - a for a, b in zip(insim, offloaded, strict=True)]
    result.ratios["aodv_first_packet_ms"] = Ratio.of(later, 2, "at most")
    for setting in settings:
        figures = measured("first_packet_ms", delays[setting.name], 3)
        counts = {"pairs": len(_pairs()), "unanswered": unanswered[setting.name]}
        result.add("first packet", setting, rounds=len(insim), **figures, **counts)


def _knows(source: Namespace, address: str) -> bool:
    return address in source.run(["ip", "-4", "route", "show", "proto", "155"])


def _handover(session: Session, system: Forwarder, pps: float) -> Order:
    def is_over() -> bool:
        return not _knows(system.source, system.sink_address)

    if not wait_until(is_over, _TIMEOUT, 0.1):
        raise BenchError(f"{system.label}: a route that nobody uses does not end")
    seen = traffic.every_packet(session, system, pps, _HANDOVER_SECONDS)
    if not _knows(system.source, system.sink_address):
        raise BenchError(f"{system.label}: no route was handed over to the kernel")
    return seen


def _handovers(session: Session, plan: Plan, result: Result, system: Forwarder) -> None:
    seen: dict[float, list[Order]] = {pps: [] for pps in _HANDOVER_RATES}
    for _ in plan.points("hand-overs", range(plan.choose(10, 4) * plan.rounds)):
        for pps in _HANDOVER_RATES:
            seen[pps].append(_handover(session, system, pps))
    every = [order for orders in seen.values() for order in orders]
    lost = [float(order.lost) for order in every]
    # The mean is used, because a median would hide a rare loss.
    result.ratios["losses_at_handover"] = Ratio(
        statistics.mean(lost), min(lost), max(lost), 0, "exactly", tuple(lost)
    )
    for pps, orders in seen.items():
        totals = {key: sum(asdict(order)[key] for order in orders) for key in asdict(orders[0])}
        result.add("hand-over", system, offered_pps=pps, handovers=len(orders), **totals)
        counted = ", ".join(f"{value} {key}" for key, value in totals.items())
        plan.say(f"{len(orders)} hand-overs at {pps:,.0f} packet/s: {counted}")


def _labels(system: Forwarder) -> Row:
    return {"experiment": "throughput", "system": system.name, "label": system.label}


def _throughput(session: Session, plan: Plan, result: Result, lines: list[Forwarder]) -> None:
    rates = plan.choose([1, 8, 16, 32, 64, 128, 256, None], [16, None])
    result.rows += sweep(session, plan, lines, rates, SMALL, _labels)
    for system in lines:
        trials = [traffic.tcp(session, system, plan.tcp_trial) for _ in range(plan.row_rounds)]
        result.rows.append(trials_row(trials, **_labels(system), target_mbit="TCP"))
        traffic.settle(system)


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    with plan.part("first packet", 0.35):
        _first_packet(session, plan, result)
    offloaded = _line(session, KERNEL_ROUTES)
    with plan.part("hand-over", 0.5):
        _handovers(session, plan, result, offloaded)
    kernel = systems.kernel_line(session, _ROUTERS)
    kernel.frames = False  # the source sends from sockets, as in the two AODV lines
    lines = [kernel, _line(session, IN_SIMULATOR), offloaded]
    for system in lines:
        systems.await_path(system)
    result.ratios["aodv_offloaded_vs_kernel"] = paired_cost(session, plan, offloaded, kernel, 0.95)
    _throughput(session, plan, result, lines)
