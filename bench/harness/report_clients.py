"""Plots and tables of `clients`."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from .clients import WORK
from .page import by_experiment, finish, rows_table, svg
from .results import Result, Row


def _table(rows: Sequence[Row]) -> str:
    return rows_table(rows, hidden=("shares",))


def _lines(axis: Axes, rows: Sequence[Row], x: str, y: str, group: str) -> None:
    for name in dict.fromkeys(row[group] for row in rows):
        points = [(row[x], row[y]) for row in rows if row[group] == name and row[y] is not None]
        axis.plot(*zip(*sorted(points), strict=True), marker="o", markersize=3, label=str(name))


def _loop(axis: Axes, rows: Sequence[Row], size: object) -> None:
    """What the simulator's time went to, by the load (figure 5); the rest it waited."""
    measured = sorted((row for row in rows if row["size"] == size), key=_offered)
    if any(row.get(f"loop_{name}") is None for row in measured for name in WORK):
        return
    shares = [[100 * row[f"loop_{name}"] for row in measured] for name in WORK]
    axis.stackplot([_offered(row) for row in measured], shares, labels=WORK)
    axis.set_ylim(0, 100)
    finish(axis, f"offered, packets/s of {size} bytes", "simulator's time, %")


def _offered(row: Row) -> float:
    return float(row["offered_pps"])


def _one_client(rows: Sequence[Row]) -> str:
    """The paper's figures 3 to 5."""
    sizes = list(dict.fromkeys(row["size"] for row in rows))

    def draw(axes: Sequence[Axes]) -> None:
        _lines(axes[0], rows, "offered_pps", "received_pps", "size")
        finish(axes[0], "offered, packets/s", "received, packets/s")
        _lines(axes[1], rows, "offered_pps", "added_rtt_ms_first", "size")
        finish(axes[1], "offered, packets/s", "added round trip, ms", "y")
        for axis, size in zip(axes[2:], sizes, strict=True):
            _loop(axis, rows, size)

    return svg(draw, 2 + len(sizes)) + _table(rows)


def _shares(axis: Axes, rows: Sequence[Row]) -> None:
    """Grey: the part of its load that each client received; black is all of it (figure 6)."""
    for row in rows:
        due = row["offered_pps"] / row["clients"]
        for i, rate in enumerate(row["shares"]):
            grey = 1 - min(1.0, rate / due)
            axis.plot(row["clients"], i + 1, "s", color=str(grey), markersize=2)


def _many_clients(rows: Sequence[Row]) -> str:
    """The paper's figures 6, 7 and 9."""

    def draw(axes: Sequence[Axes]) -> None:
        _lines(axes[0], rows, "clients", "received_pps", "label")
        finish(axes[0], "clients", "received, packets/s")
        for place in ("first", "middle", "last"):
            own = [row | {"path": f"{row['label']}, {place}"} for row in rows]
            _lines(axes[1], own, "clients", f"added_rtt_ms_{place}", "path")
        finish(axes[1], "clients", "added round trip, ms", "y")
        for axis, name in zip(axes[2:], dict.fromkeys(row["label"] for row in rows), strict=False):
            _shares(axis, [row for row in rows if row["label"] == name])
            finish(axis, f"clients ({name})", "client")

    return svg(draw, 2 + len({row["label"] for row in rows})) + _table(rows)


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    makers = [
        ("twice saturation", "At twice saturation", _many_clients),
        ("below saturation", "Below saturation", _table),
        ("two hosts", "A lab of 16 nodes on one host and on two", _table),
        ("loss-free", "Loss-free rates beside the same simulation without a tunnel", _table),
        ("a thousand clients", "A thousand clients at twice the saturation of ten", _table),
        ("experiment 1", "Experiment 1: one client, several sizes", _one_client),
        ("experiment 2", "Experiment 2: 10 to 250 clients", _many_clients),
    ]
    published = [("Published", rows_table(result.published, hidden=("title",)))]
    return by_experiment(result.rows, makers) + published
