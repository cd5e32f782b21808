"""Benchmark `olsr`: one router running OLSR between two hosts (thesis 5.2, A.9-A.11)."""

from __future__ import annotations

from . import daemon, lines, product, systems
from .analysis import ratio_of_rounds
from .forwarder import Forwarder
from .measure import SMALL, limits, paired_saturation, saturate, sweep
from .plan import Plan
from .results import Result, Row, read_published
from .session import Session

# The numbers of the thesis's tables. Its third system, olsrd, is compared with `daemon`.
_TABLES = {"traditional": 9, "offload": 10, "daemon": 11}
_THESIS_NAMES = {"daemon": "olsrd"}


def _labels(system: Forwarder) -> Row:
    table = _TABLES.get(system.name)
    return {
        "experiment": "olsr",
        "system": system.name,
        "label": system.label,
        "table": f"A.{table}" if table else None,
    }


def _against_traditional(
    session: Session, plan: Plan, result: Result, traditional: Forwarder, ours: list[Forwarder]
) -> None:
    received: dict[str, list[float]] = {system.name: [] for system in (traditional, *ours)}
    for _ in range(plan.rounds):
        for system in (traditional, *ours):
            received[system.name].append(saturate(session, plan, system))
    for system in ours:
        result.ratios[f"{system.name}_vs_traditional_overload"] = ratio_of_rounds(
            received[system.name], received[traditional.name], 20
        )


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    for name, table in _TABLES.items():
        system = _THESIS_NAMES.get(name, name)
        result.published += read_published(table, system=system, size=SMALL)
    ratio, rows = lines.count(session.build)
    result.ratios["extra_lines_percent"] = ratio
    result.rows += rows
    for row in rows:
        plan.say(f"{row['what']}: {row['changed_lines']} lines changed ({row['evidence']})")

    kernel = systems.kernel_line(session, 1)
    traditional = systems.traditional_line(session, 1)
    ours = product.line(session, product.IN_SIMULATOR, 1)
    offload = product.line(session, product.KERNEL_ROUTES, 1)
    planes = [product.line(session, plane, 1) for plane in product.faster_planes(session)]
    everything = [kernel, traditional, ours, offload, *planes]
    without = daemon.reason()
    if without:
        plan.shortened.append(f"no offload_vs_daemon: {without}")
        plan.say(f"no system `daemon`: {without}")
    else:
        everything.insert(1, daemon.line(session, 1))
    for system in everything:
        systems.await_path(system)
    plan.say(f"{len(everything)} routers are up")
    limits(session, plan, result, traditional, ours)
    _against_traditional(session, plan, result, traditional, [offload, *planes])
    result.ratios["offload_vs_kernel"] = paired_saturation(session, plan, offload, kernel, 0.95)
    if not without:
        result.ratios["offload_vs_daemon"] = paired_saturation(
            session, plan, offload, everything[1], 0.95
        )
    rates = plan.choose(
        [1, 2, 4, 8, 16, 32, 64, 70.8, 128, 256, 512, None], [1, 8, 16, 70.8, 256, None]
    )
    result.rows += sweep(session, plan, everything, rates, SMALL, _labels)
