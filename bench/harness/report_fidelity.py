"""Tables of `fidelity`."""

from __future__ import annotations

from .page import by_experiment, rows_table
from .results import Result

_TITLES = {
    "routes": "Routes, second by second, beside those in offload",
    "distributions": "Round trip times",
    "goodput": "TCP's goodput",
    "loss": "Losses of the same 2%",
    "figures": "All figures (viaduct compare)",
}


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    makers = [(name, title, rows_table) for name, title in _TITLES.items()]
    return by_experiment(result.rows, makers)
