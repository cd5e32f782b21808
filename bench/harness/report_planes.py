"""Plots and tables of `aodv` and `dataplane`."""

from __future__ import annotations

from collections.abc import Sequence

from .page import by_experiment, rows_table
from .results import Result, Row


def _every_column(rows: Sequence[Row]) -> str:
    return rows_table(rows, hidden=("title",))


_TITLES = {
    "first packet": "First packet",
    "hand-over": "Hand-over of a route",
    "throughput": "Throughput",
    "lines": "Routers in a line, saturated, 160 bytes",
    "routes": "One router with many routes",
    "loss-free": "Loss-free beside a loop without a table",
    "changes of routes": "Changes of routes",
    "differences": "Differences from the kernel's forwarding",
    "convergence": "From a link's cut until traffic flows again",
}


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    makers = [(name, title, _every_column) for name, title in _TITLES.items()]
    return by_experiment(result.rows, makers)
