"""Plots and tables of `device`."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from .device_nodes import columns_of_traces
from .page import by_experiment, finish, rows_table, svg
from .results import Result, Row

_COLOURS = {
    "fdnetdevice": "#d55e00",
    "af_packet": "#0072b2",
    "af_xdp": "#009e73",
    "dpdk": "#cc79a7",
}


def _systems(rows: Sequence[Row]) -> dict[str, str]:
    return {str(row["system"]): str(row["label"]) for row in rows}


def _bars(rows: Sequence[Row], group: str, titles: str, value: str, title: str) -> str:
    """A group of bars for each value of `group`, a bar for each system."""
    groups = list(dict.fromkeys(row[group] for row in rows))
    systems = _systems(rows)

    def draw(axes: Sequence[Axes]) -> None:
        width = 0.8 / len(systems)
        for number, (system, label) in enumerate(systems.items()):
            some = [row for row in rows if row["system"] == system]
            axes[0].bar(
                [groups.index(row[group]) + number * width for row in some],
                [row[value] for row in some],
                width,
                color=_COLOURS.get(system),
                label=label,
            )
        axes[0].set_xticks(range(len(groups)), [str(name) for name in groups])
        finish(axes[0], titles, title)

    return svg(draw, 1)


def _sent(rows: list[Row]) -> str:
    lowest = [row for row in rows if row["layer"] == "port"]
    return _bars(lowest, "size", "frame, bytes", "pps", "frames a second") + rows_table(rows)


def _sweep(rows: list[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        for system, label in _systems(rows).items():
            points = sorted(
                (row["offered_pps"], row["pps"])
                for row in rows
                if row["system"] == system and row["size"] == min(every["size"] for every in rows)
            )
            axes[0].plot(
                *zip(*points, strict=True), marker="o", color=_COLOURS.get(system), label=label
            )
        finish(axes[0], "frames offered a second", "frames received a second")

    return svg(draw, 1) + rows_table(rows)


def _shares(rows: list[Row]) -> str:
    title = "frames a second"
    return _bars(rows, "processor_share", "share of a processor", "pps", title) + rows_table(rows)


def _nodes(rows: list[Row]) -> str:
    plain = [row for row in rows if row["control"] == rows[0]["control"]]
    return _bars(plain, "traffic", "traffic", "mbit", "Mbit/s") + rows_table(rows)


def _trace(row: Row, column: str) -> tuple[list[float], list[float]]:
    pairs = zip(
        str(row["trace_seconds"]).split(" "), str(row[f"trace_{column}"]).split(" "), strict=True
    )
    known = [(float(second), float(value) / 1e3) for second, value in pairs if value]
    return [second for second, _ in known], [value for _, value in known]


def _backlog(rows: list[Row]) -> str:
    figures = []
    for traffic in dict.fromkeys(row["traffic"] for row in rows):
        some = [row for row in rows if row["traffic"] == traffic]
        # If a system has several rounds, the first one is shown.
        first = {(row["system"], row["control"]): row for row in reversed(some)}
        shown = [row for row in some if row is first[row["system"], row["control"]]]

        def draw(axes: Sequence[Axes], shown: list[Row] = shown) -> None:
            for row in shown:
                label = f"{row['label']}, {row['control']}"
                for axis, column in zip(axes, ("disc_bytes", "below_bytes"), strict=True):
                    seconds, values = _trace(row, column)
                    if seconds:
                        axis.plot(seconds, values, linewidth=0.9, label=label)
            finish(axes[0], "seconds", f"{shown[0]['traffic']}: backlog in the queue disc, kB")
            finish(axes[1], "seconds", "in flight below the queue disc, kB")

        figures.append(svg(draw, 2))
    return "".join(figures) + rows_table(rows, columns_of_traces())


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    made = by_experiment(
        result.rows,
        [
            ("send", "Frames sent", _sent),
            ("receive", "Frames received", rows_table),
            ("receive sweep", "Frames received at an offered rate", _sweep),
            ("send, share of a processor", "Sent with a share of a processor", _shares),
            ("receive, share of a processor", "Received with a share of a processor", _shares),
            ("lateness", "Lateness at half of the load", rows_table),
            ("settings", "Attributes of the device", rows_table),
            ("headers", "Headers only, and whole packets", rows_table),
            ("nodes", "Two nodes back to back", _nodes),
            ("backlog", "Backlog and bytes in flight before 100 Mbit/s", _backlog),
            ("queue discs", "Latency under load, 50 Mbit/s", rows_table),
        ],
    )
    made.append(("Published: the report of 2017", rows_table(result.published)))
    return made
