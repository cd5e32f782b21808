"""The figures of a run's results, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._result import flat_flow

_NAMES = ("name", "kind", "from", "to", "group")


def figures_of(data: Mapping[str, Any]) -> dict[str, float]:
    """`FLOW: KEY` of each flow's numbers, and those of the convergence."""
    found: dict[str, float] = {}
    for flow in data["flows"]:
        for key, value in flat_flow(flow).items():
            if key not in _NAMES and isinstance(value, int | float):
                found[f"{flow['name']}: {key}"] = float(value)
    convergence = data.get("convergence") or {}
    for key in ("seconds", "reachable", "pairs"):
        if isinstance(convergence.get(key), int | float):
            found[f"convergence: {key}"] = float(convergence[key])
    return found


def troubles_of(data: Mapping[str, Any]) -> list[str]:
    """Why a run's figures are not to be relied on, a line each."""
    lines = [f"{flow['name']}: {flow['error']}" for flow in data["flows"] if flow.get("error")]
    lines += [str(failure) for failure in data.get("failures") or []]
    if data.get("verdict") == "VOID":
        lines.append("VOID: later than its limit")
    if data.get("status", 0) != 0 and not lines:
        lines.append(f"exit status {data['status']}")
    return lines
