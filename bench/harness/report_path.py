"""Plots and tables of `path`: NetPath's figures 3 to 9 and tables 1 and 2, reproduced."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from .page import by_experiment, finish, rows_table, svg
from .results import Result, Row

Maker = Callable[[list[Row]], str]

_COLOURS = {
    "bare": "#444444",
    "delay": "#0072b2",
    "ns3": "#d55e00",
    "xdp": "#cc79a7",
    "all": "#009e73",
}
_PUBLISHED = {
    "netpath": ("NetPath", "#0072b2"),
    "sx14": ("Adtech SX-14", "#444444"),
    "nistnet": ("NIST Net", "#e69f00"),
    "dummynet": ("DummyNet", "#cc79a7"),
    "modelnet": ("ModelNet", "#a6761d"),
}


def _lines(axis: Axes, rows: Sequence[Row], x: str, y: str) -> None:
    for system in dict.fromkeys(str(row["system"]) for row in rows):
        points = sorted(
            (row[x], row[y], row["label"])
            for row in rows
            if row["system"] == system and row.get(y) is not None
        )
        if points:
            xs, ys, labels = zip(*points, strict=True)
            axis.plot(xs, ys, marker="o", markersize=4, color=_COLOURS.get(system), label=labels[0])


def _published_lines(axis: Axes, rows: Sequence[Row], column: str) -> None:
    for key, (name, colour) in _PUBLISHED.items():
        points = [
            (row["offered_kpps"], row[f"{key}_{column}"])
            for row in rows
            if isinstance(row.get(f"{key}_{column}"), float)
        ]
        if points:
            axis.plot(*zip(*points, strict=True), "--", color=colour, alpha=0.6, label=name)


def _figure(x: str, x_title: str, y: str, y_title: str, scale: str = "") -> Maker:
    """What makes a plot of a column against another, and a table of its rows."""

    def make(rows: list[Row]) -> str:
        def draw(axes: Sequence[Axes]) -> None:
            _lines(axes[0], rows, x, y)
            finish(axes[0], x_title, y_title, scale)

        return svg(draw, 1) + rows_table(rows)

    return make


def _precision(rows: Sequence[Row], published: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        second = [row for row in published if row["table"] == "2"]
        _published_lines(axes[0], second, "mean_ms")
        _lines(axes[0], rows, "offered_kpps", "mean_ms")
        axes[0].set_ylim(9.9, 13)
        finish(axes[0], "offered, kpps", "mean delay, ms (10 configured)")
        _lines(axes[1], rows, "offered_kpps", "loss_percent")
        finish(axes[1], "offered, kpps", "lost, %")

    return svg(draw, 2) + rows_table(rows)


def _distributions(rows: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        for axis, deviation in zip(axes, ("3ms", "30us"), strict=True):
            sigma = 3.0 if deviation == "3ms" else 0.03
            normal = statistics.NormalDist(30, sigma)
            levels = [i / 100 for i in range(1, 100)]
            axis.plot(
                [normal.inv_cdf(level) for level in levels],
                levels,
                "--",
                color="#444444",
                label=f"N(30 ms; {deviation})",
            )
            for row in rows:
                if row["deviation"] == deviation:
                    values = [float(value) for value in str(row["quantiles_ms"]).split()]
                    axis.plot(
                        values[1:-1],
                        levels,
                        alpha=0.7,
                        label=f"measured at {row['offered_kpps']} kpps",
                    )
            finish(axis, "delay, ms", "share of packets")

    return svg(draw, 2) + rows_table(rows, ("quantiles_ms",))


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    packets = "packets a second"
    makers = [
        ("limits", "Loss-free rates", rows_table),
        (
            "sizes",
            "Figure 3: loss-free rate against frame size",
            _figure("size", "frame, bytes", "loss_free_pps", packets, "x"),
        ),
        (
            "longest",
            "Figure 4: longest delay without loss",
            _figure("offered_kpps", "offered, kpps", "longest_ms", "delay, ms", "xy"),
        ),
        (
            "burst",
            "Figure 5: 100 Mbit/s into 10 Mbit/s",
            _figure("size", "frame, bytes", "loss_percent", "lost, %"),
        ),
        ("distribution", "Figure 6: normally distributed delays", _distributions),
        (
            "links",
            "Figure 7: many links",
            _figure("links", "links", "loss_free_pps", f"{packets}, all links", "x"),
        ),
        (
            "precision",
            "Figures 8 and 9, tables 1 and 2: delay and loss at an offered rate",
            lambda rows: _precision(rows, result.published),
        ),
        ("machine", "What the machine allows: a loop that only reads the clock", rows_table),
        ("rate", "Rate limits", rows_table),
    ]
    made = by_experiment(result.rows, makers)
    for table, title in (
        ("1", "table 1"),
        ("2", "table 2"),
        ("figures", "what the text says of figures 3 to 9"),
    ):
        rows = [row for row in result.published if row["table"] == table]
        made.append((f"Published: {title}", rows_table(rows)))
    return made
