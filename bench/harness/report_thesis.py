"""Plots and tables of `bridge`, `olsr` and `multinode`, beside the thesis's."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from .page import by_experiment, columns, finish, svg, table
from .results import Result, Row

# One colour for each system in every plot, distinguishable also for people who confuse red and
# green.
_COLOURS = {
    "kernel": "#444444",
    "userspace": "#e69f00",
    "ring": "#a6761d",
    "traditional": "#d55e00",
    "traditional_p2p": "#cc79a7",
    "insim": "#0072b2",
    "offload": "#009e73",
    "ebpf": "#56b4e9",
    "joined": "#000000",
    "daemon": "#999999",
    "olsrd": "#999999",
}


def _number(row: Row, key: str) -> float | None:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else None


def _draw_lines(axes: Axes, rows: Sequence[Row], x: str, y: str, published: bool) -> None:
    for system in dict.fromkeys(row["system"] for row in rows):
        mine = [row for row in rows if row["system"] == system]
        points = sorted(
            (row for row in mine if _number(row, x) and _number(row, y) is not None),
            key=lambda row: row[x],
        )
        if not points:
            continue
        xs, ys = ([row[key] for row in points] for key in (x, y))
        colour = _COLOURS.get(system, "#000000")
        if published:
            axes.plot(
                xs, ys, "--", color=colour, markersize=4, alpha=0.6, label=f"thesis: {system}"
            )
            continue
        axes.plot(xs, ys, "o-", color=colour, markersize=4, label=points[0].get("label", system))
        if f"{y}_low" in points[0]:
            low, high = (
                [_number(row, f"{y}_{end}") or 0 for row in points] for end in ("low", "high")
            )
            axes.fill_between(xs, low, high, color=colour, alpha=0.12)


_AXES = {
    "received_mbit": "received, Mbit/s",
    "loss_percent": "lost, %",
    "rtt_ms": "RTT, ms",
    "cpu_percent": "CPU of the forwarder, % of a core",
    "offered_mbit": "offered, Mbit/s",
    "nodes": "emulated routers",
}


def _plot(rows: Sequence[Row], published: Sequence[Row], x: str, ys: Sequence[str]) -> str:
    # Tables A.1 and A.4 print the CPU column in place of the RTT column.
    sound_rtt = [row for row in published if row["table"] not in ("A.1", "A.4")]

    def draw(axes: Sequence[Axes]) -> None:
        for axis, y in zip(axes, ys, strict=True):
            _draw_lines(axis, sound_rtt if y == "rtt_ms" else published, x, y, published=True)
            _draw_lines(axis, rows, x, y, published=False)
            axis.set_xscale("log", base=2 if x == "nodes" else 10)
            axis.xaxis.set_major_formatter("{x:g}")
            scale = "y" if y in ("received_mbit", "rtt_ms") else ""
            finish(axis, _AXES[x], _AXES[y], scale, legend=axis is axes[0])

    return svg(draw, len(ys))


def _beside(rows: Sequence[Row], published: Sequence[Row], x: str) -> list[Row]:
    """Each row of ours with the published row of the same table and point, if there is one."""
    thesis = {(row["table"], row[x]): row for row in published if x in row}
    joined = []
    for row in rows:
        point = row.get("target_mbit") if x == "offered_mbit" else row.get("nodes")
        if point == 70.8:
            point = 71.0  # the thesis's tables print 70.8 as 71
        found = thesis.get((row.get("table"), point), {})
        joined.append(row | {f"thesis_{key}": value for key, value in found.items()})
    return joined


_COMPARED = {
    "label": "system",
    "target_mbit": "target, Mbit/s",
    "nodes": "routers",
    "offered_mbit": "offered, Mbit/s",
    "received_mbit": "received, Mbit/s",
    "thesis_received_mbit": "thesis",
    "loss_percent": "lost, %",
    "thesis_loss_percent": "thesis",
    "rtt_ms": "RTT, ms",
    "thesis_rtt_ms": "thesis",
    "cpu_percent": "CPU, %",
    "thesis_cpu_percent": "thesis",
    "machine_percent": "machine, %",
    "table": "table",
}


def _comparison(result: Result, rows: Sequence[Row], x: str) -> str:
    tables = {row["table"] for row in rows if row.get("table")}
    published = [row for row in result.published if row["table"] in tables | {"A.11"}]
    ys = ["received_mbit", "rtt_ms", "cpu_percent"]
    joined = _beside(rows, published, x)
    used = {
        key: title
        for key, title in _COMPARED.items()
        if any(row.get(key) is not None for row in joined)
    }
    return _plot(rows, published, x, ys) + table(used, joined)


def _table_of_first(rows: list[Row]) -> str:
    """The columns of the first row."""
    return table(columns(rows[:1]), rows)


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    made = []
    measured = [row for row in result.rows if row["experiment"] == result.name]
    if result.name == "multinode":
        for title, keep in {
            "UDP at 16 Mbit/s, 160 bytes": ("udp", 16.0),
            "UDP, saturated, 160 bytes": ("udp", "max"),
            "TCP": ("tcp", None),
        }.items():
            rows = [row for row in measured if (row["traffic"], row["target_mbit"]) == keep]
            made.append((title, _comparison(result, rows, "nodes")))
    else:
        for size in dict.fromkeys(row["size"] for row in measured):
            rows = [row for row in measured if row["size"] == size]
            title = f"UDP, {size} bytes of payload"
            made.append((title, _comparison(result, rows, "offered_mbit")))
    contexts = [
        (name.lower(), name, _table_of_first)
        for name in ("Limits", "Lines", "Convergence", "Context")
    ]
    return made + by_experiment(result.rows, contexts)
