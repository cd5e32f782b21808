"""Benchmark `bridge`: a Linux bridge, a process, and ns-3 forward frames (thesis 3.2, A.1-A.6)."""

from __future__ import annotations

from . import systems
from .forwarder import Forwarder
from .measure import LARGE, SMALL, limits, sweep
from .plan import Plan
from .results import Result, Row, read_published
from .session import Session

_TABLES = {
    SMALL: {"traditional": 4, "userspace": 5, "kernel": 6},
    LARGE: {"traditional": 1, "userspace": 2, "kernel": 3},
}


def _labels(system: Forwarder, size: int) -> Row:
    table = _TABLES[size].get(system.name)
    return {
        "experiment": "bridge",
        "system": system.name,
        "label": system.label,
        "table": f"A.{table}" if table else None,
    }


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    for size, tables in _TABLES.items():
        for name, table in tables.items():
            result.published += read_published(table, system=name, size=size)
    all_systems = [systems.kernel_bridge(session), *systems.userspace_bridges(session)]
    for system in all_systems:
        systems.await_path(system)
    plan.say("five bridges are up")
    traditional, ours = all_systems[-2:]
    rates = {
        SMALL: plan.choose(
            [1, 2, 4, 8, 16, 32, 64, 70.8, 128, 256, 512, None], [1, 16, 70.8, 256, None]
        ),
        LARGE: plan.choose([1, 2, 4, 8, 16, 32, 64, 90, 256, 1024, None], [16, 90, None]),
    }
    limits(session, plan, result, traditional, ours)
    for size, offered in rates.items():
        result.rows += sweep(
            session,
            plan,
            all_systems,
            offered,
            size,
            lambda system, size=size: _labels(system, size),
        )
