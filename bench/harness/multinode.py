"""Benchmark `multinode`: up to 32 OLSR routers in a line on one machine (thesis 5.3, A.12-A.15)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from . import product, systems, traffic
from .analysis import Ratio, ratio_of_rounds
from .cpu import CpuMeter
from .forwarder import Forwarder
from .measure import SMALL, paired_saturation
from .plan import Plan
from .results import Result, Row, read_published, trials_row
from .session import Session
from .traffic import TcpTrial, UdpTrial

THESIS_MBIT = 16.0  # Mbit/s that the thesis offers at every number of nodes
LINE = 32
_TABLES = {12: ("traditional", "udp"), 13: ("offload", "udp")}
_TCP_TABLES = {14: ("traditional", "tcp"), 15: ("offload", "tcp")}
_TABLE_OF = {names: f"A.{number}" for number, names in (_TABLES | _TCP_TABLES).items()}
SETUP_TARGET, TEARDOWN_TARGET, IDLE_TARGET = 3.0, 2.0, 10.0  # seconds, seconds, percent of a core


def _labels(system: Forwarder, nodes: int, traffic_kind: str, target: object) -> Row:
    return {
        "experiment": "multinode",
        "system": system.name,
        "label": system.label,
        "nodes": nodes,
        "target_mbit": target,
        "table": _TABLE_OF.get((system.name, traffic_kind)) if target != "max" else None,
    }


@dataclass
class _Trials:
    """What was measured of a system of a line, round by round."""

    thesis: list[UdpTrial] = field(default_factory=list)
    saturated: list[UdpTrial] = field(default_factory=list)
    tcp: list[TcpTrial] = field(default_factory=list)


def _round(session: Session, plan: Plan, system: Forwarder, trials: _Trials) -> None:
    pps = THESIS_MBIT * 1e6 / (8 * SMALL)
    at_thesis = traffic.udp(session, system, SMALL, pps, plan.trial, ping=True)
    traffic.settle(system)
    saturated = traffic.udp(session, system, SMALL, None, plan.trial, ping=True)
    traffic.settle(system)
    connection = traffic.tcp(session, system, plan.tcp_trial, ping=True)
    traffic.settle(system)
    trials.thesis.append(at_thesis)
    trials.saturated.append(saturated)
    trials.tcp.append(connection)
    plan.say(
        f"{system.label}: {at_thesis.received_mbit:.2f} of {THESIS_MBIT:g} Mbit/s, "
        f"saturated {saturated.received_mbit:.2f}, TCP {connection.received_mbit:.1f} Mbit/s"
    )


def _rows(system: Forwarder, trials: _Trials, nodes: int) -> list[Row]:
    return [
        trials_row(trials.thesis, **_labels(system, nodes, "udp", THESIS_MBIT)),
        trials_row(trials.saturated, **_labels(system, nodes, "udp", "max")),
        trials_row(trials.tcp, **_labels(system, nodes, "tcp", None)),
    ]


def _ratios(trials: dict[str, _Trials]) -> dict[str, Ratio]:
    udp = {name: [x.received_pps for x in seen.saturated] for name, seen in trials.items()}
    tcp = {name: [x.received_mbit for x in seen.tcp] for name, seen in trials.items()}
    ratios = {
        "multinode32_udp_vs_traditional": ratio_of_rounds(udp["offload"], udp["traditional"], 18),
        "multinode32_tcp_vs_traditional": ratio_of_rounds(tcp["offload"], tcp["traditional"], 100),
    }
    if "joined" in trials:
        ratios["joined_line32_vs_traditional"] = ratio_of_rounds(
            udp["joined"], udp["traditional"], 45
        )
    return ratios


def _context(what: str, value: float, unit: str, target: float) -> Row:
    return {
        "experiment": "context",
        "system": "offload",
        "nodes": LINE,
        "what": what,
        "value": round(value, 3),
        "unit": unit,
        "target": target,
        "within_target": value < target,
    }


def _idle_load(plan: Plan, offload: Forwarder) -> float:
    meter = CpuMeter(offload.pids())
    time.sleep(plan.choose(20, 5))
    return meter.forwarder_percent() or 0.0


def _line(session: Session, plan: Plan, result: Result, nodes: int) -> None:
    kernel = systems.kernel_line(session, nodes)
    traditional = systems.traditional_line(session, nodes)
    offload = product.line(session, product.KERNEL_ROUTES, nodes)
    everything = [kernel, traditional, offload]
    everything += [product.line(session, plane, nodes) for plane in product.faster_planes(session)]
    if nodes > 1:  # a single router has no channel to a neighbour
        everything.append(systems.traditional_line(session, nodes, "p2p"))
    for system in everything:
        systems.await_path(system)
    plan.say(f"{nodes} routers are up, each way")
    last = nodes == LINE
    if last:
        result.rows.append(
            _context("idle load of the converged lab", _idle_load(plan, offload), "%", IDLE_TARGET)
        )
    trials = {system.name: _Trials() for system in everything}
    for _, order in plan.turns(everything, plan.rounds if last else plan.row_rounds):
        for system in order:
            _round(session, plan, system, trials[system.name])
    for system in everything:
        result.rows += _rows(system, trials[system.name], nodes)
    if last:
        result.ratios |= _ratios(trials)
        result.ratios["multinode32_vs_kernel_line"] = paired_saturation(
            session, plan, offload, kernel, 0.95
        )
        seconds = product.teardown_seconds(session, offload)
        result.rows.append(_context("tear-down of the lab", seconds, "s", TEARDOWN_TARGET))


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    for table, (name, kind) in (_TABLES | _TCP_TABLES).items():
        result.published += read_published(table, system=name, traffic=kind)
    setup = product.setup_seconds(session, LINE)
    result.rows.append(_context("set-up of the lab", setup, "s", SETUP_TARGET))
    plan.say(f"{LINE} routers: set-up {setup:.2f} s")
    if "joined" not in product.plane_names(session):
        plan.shortened.append("no joined_line32_vs_traditional: there is no data plane joined")
    for nodes in plan.choose([1, 2, 4, 8, 16, 24, LINE], [1, 8, LINE]):
        with session.scope():
            _line(session, plan, result, nodes)
