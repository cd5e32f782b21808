"""Plots and tables of `path`: NetPath's figures 3 to 9 and tables 1 and 2, reproduced."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from .page import svg, table
from .results import Result, Row

_COLOURS = {"bare": "#444444", "delay": "#0072b2", "ns3": "#d55e00", "all": "#009e73"}
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
            (float(str(row[x])), float(str(row[y])), str(row["label"]))
            for row in rows
            if row["system"] == system and row.get(y) is not None
        )
        if points:
            axis.plot(
                [point[0] for point in points],
                [point[1] for point in points],
                marker="o",
                markersize=4,
                color=_COLOURS.get(system),
                label=points[0][2],
            )


def _published_lines(axis: Axes, rows: Sequence[Row], column: str) -> None:
    for key, (name, colour) in _PUBLISHED.items():
        points = [
            (row["offered_kpps"], row[f"{key}_{column}"])
            for row in rows
            if isinstance(row.get(f"{key}_{column}"), float)
        ]
        if points:
            axis.plot(*zip(*points, strict=True), "--", color=colour, alpha=0.6, label=name)


def _finish(axis: Axes, x: str, y: str, logarithmic: str = "") -> None:
    if "x" in logarithmic:
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
    if "y" in logarithmic:
        axis.set_yscale("log")
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(True, alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=7, frameon=False)


def _plot(rows: Sequence[Row], x: tuple[str, str], y: tuple[str, str], scale: str = "") -> str:
    def draw(axes: Sequence[Axes]) -> None:
        _lines(axes[0], rows, x[0], y[0])
        _finish(axes[0], x[1], y[1], scale)

    return svg(draw, 1)


def _precision(rows: Sequence[Row], published: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        second = [row for row in published if row["table"] == "2"]
        _published_lines(axes[0], second, "mean_ms")
        _lines(axes[0], rows, "offered_kpps", "mean_ms")
        axes[0].set_ylim(9.9, 13)
        _finish(axes[0], "offered, kpps", "mean delay, ms (10 configured)")
        _lines(axes[1], rows, "offered_kpps", "loss_percent")
        _finish(axes[1], "offered, kpps", "lost, %")

    return svg(draw, 2) + _rows_table(rows)


def _rows_table(rows: Sequence[Row], hidden: Sequence[str] = ()) -> str:
    skip = {"experiment", "system", *hidden}
    keys = dict.fromkeys(key for row in rows for key in row if key not in skip)
    return table(
        {key: key.replace("_", " ") for key in keys if not key.endswith(("_low", "_high"))}, rows
    )


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
            _finish(axis, "delay, ms", "share of packets")

    return svg(draw, 2) + _rows_table(rows, ("quantiles_ms",))


def sections(result: Result) -> list[tuple[str, str]]:
    """Title and body of each part of the page."""
    by: dict[str, list[Row]] = {}
    for row in result.rows:
        by.setdefault(str(row["experiment"]), []).append(row)
    figures = [row for row in result.published if row["table"] == "figures"]
    makers: list[tuple[str, str, Callable[[list[Row]], str]]] = [
        ("limits", "Loss-free rates", _rows_table),
        (
            "sizes",
            "Figure 3: loss-free rate against frame size",
            lambda rows: _plot(
                rows, ("size", "frame, bytes"), ("loss_free_pps", "packets a second"), "x"
            )
            + _rows_table(rows),
        ),
        (
            "longest",
            "Figure 4: longest delay without loss",
            lambda rows: _plot(
                rows, ("offered_kpps", "offered, kpps"), ("longest_ms", "delay, ms"), "xy"
            )
            + _rows_table(rows),
        ),
        (
            "burst",
            "Figure 5: 100 Mbit/s into 10 Mbit/s",
            lambda rows: _plot(rows, ("size", "frame, bytes"), ("loss_percent", "lost, %"))
            + _rows_table(rows),
        ),
        ("distribution", "Figure 6: normally distributed delays", _distributions),
        (
            "links",
            "Figure 7: many links",
            lambda rows: _plot(
                rows, ("links", "links"), ("loss_free_pps", "packets a second, all links"), "x"
            )
            + _rows_table(rows),
        ),
        (
            "precision",
            "Figures 8 and 9, tables 1 and 2: delay and loss at an offered rate",
            lambda rows: _precision(rows, result.published),
        ),
        ("rate", "Rate limits", _rows_table),
    ]
    made = [(title, make(by[name])) for name, title, make in makers if name in by]
    for number, title in {"1": "Published: table 1", "2": "Published: table 2"}.items():
        rows = [row for row in result.published if row["table"] == number]
        made.append((title, _rows_table(rows, ("title", "table"))))
    made.append(
        (
            "Published: what the text says of figures 3 to 9",
            _rows_table(figures, ("title", "table")),
        )
    )
    return made
