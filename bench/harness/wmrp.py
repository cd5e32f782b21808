"""Benchmark `wmrp`: two RBridges running WMRP between two hosts (thesis 5.1, A.7-A.8)."""

from __future__ import annotations

from . import convergence, lines, product, systems
from .analysis import ratio_of_rounds
from .forwarder import Forwarder
from .measure import SMALL, loss_free, saturate, sweep
from .plan import Plan
from .product import Setting
from .results import Result, Row, measured, read_published
from .session import Session

NOTES = [
    "all systems run the same implementation of WMRP (the thesis's formats were never published): "
    "traditional is that one on ns-3's own FdNetDevice and RealtimeSimulatorImpl",
    "two RBridges share one processor; the thesis's had a machine each, with 100 Mbit/s links",
]

_TABLES = {"traditional": 7, "userspace": 8}
_TRADITIONAL = Setting("traditional", "ns-3 emulation", "traditional")
_BARS = {"userspace": 10, "ebpf": 20}
# The path from a to b leads through n0 and n1 and, after the cut, around the ring in the other
# direction.
_RING = convergence.Ring(
    (
        "routing: {protocol: WMRP}",
        "nodes: {a: {host: true}, b: {host: true}, count: 4}",
        "links: [{ring: all}, {pair: [a, n0]}, {pair: [b, n1]}]",
    ),
    cut="n0-n1",
    ends=("a", "b"),
    duration=6.0,
)


def _labels(system: Forwarder) -> Row:
    table = _TABLES.get(system.name)
    return {
        "experiment": "wmrp",
        "system": system.name,
        "label": system.label,
        "table": f"A.{table}" if table else None,
    }


def _two_rbridges(session: Session, setting: Setting) -> Forwarder:
    lines_of = [
        *setting.lines(),
        "routing: {protocol: WMRP}",
        "nodes: {s: {host: true}, d: {host: true}, r1: {}, r2: {}}",
        "links: [{line: [s, r1, r2, d]}]",
    ]
    return product.bring_up(session, setting, f"w{setting.name}", lines_of, ("s", "d"))


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    for name, table in _TABLES.items():
        result.published += read_published(table, system=name, size=SMALL)
    counted = lines.count_wmrp()
    result.rows.append(counted)
    plan.say(
        f"{counted['what']}: {counted['changed_lines']} lines, {counted['percent']:.0f}% of the "
        f"protocol's (thesis: {counted['thesis_percent']}%)"
    )
    settings = [product.on_plane(name) for name in product.plane_names(session) if name in _BARS]
    with plan.part("convergence", 0.4):
        others = [_TRADITIONAL, product.IN_SIMULATOR, *settings]
        convergence.measure_ring(session, plan, result, _RING, others)
    traditional = _two_rbridges(session, _TRADITIONAL)
    ours = [_two_rbridges(session, setting) for setting in settings]
    everything = [traditional, _two_rbridges(session, product.IN_SIMULATOR), *ours]
    for system in everything:
        systems.await_path(system)
    plan.say(f"{len(everything)} pairs of RBridges are up")
    received: dict[str, list[float]] = {system.name: [] for system in (traditional, *ours)}
    for _, order in plan.turns([traditional, *ours], plan.rounds):
        for system in order:
            received[system.name].append(saturate(session, plan, system))
            plan.say(f"{system.label}: {received[system.name][-1]:,.0f} packet/s saturated")
    for system in ours:
        result.ratios[f"wmrp_{system.name}_vs_traditional"] = ratio_of_rounds(
            received[system.name], received[traditional.name], _BARS[system.name]
        )
    found: dict[str, list[float]] = {system.name: [] for system in (traditional, *ours)}
    with plan.part("loss-free rates", 0.5):
        for _, order in plan.turns([traditional, *ours], plan.row_rounds):
            for system in order:
                found[system.name].append(loss_free(session, plan, system))
                plan.say(f"{system.label}: {found[system.name][-1]:,.0f} packet/s without loss")
    for system in (traditional, *ours):
        result.add(
            "limits",
            system,
            size=SMALL,
            rounds=plan.rounds,
            **measured("loss_free_pps", found[system.name]),
            **measured("saturated_pps", received[system.name]),
        )
    rates = plan.choose([1, 2, 4, 8, 16, 32, 64, 70.8, 128, 256, None], [1, 8, 16, 70.8, 256, None])
    result.rows += sweep(session, plan, everything, rates, SMALL, _labels)
