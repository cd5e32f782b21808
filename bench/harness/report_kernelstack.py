"""Plots and tables of `kernelstack`: DCE Cradle's figures 5 to 8, and what lies beyond."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from .page import svg, table
from .results import Result, Row

_COLOURS = {"host": "#444444", "ns3": "#d55e00", "ns3_default": "#e69f00"}
_KERNEL_COLOURS = ("#0072b2", "#56b4e9", "#009e73")
_PUBLISHED = "#888888"


def _colour(system: str, known: list[str]) -> str:
    if system in _COLOURS:
        return _COLOURS[system]
    if system not in known:
        known.append(system)
    return _KERNEL_COLOURS[known.index(system) % len(_KERNEL_COLOURS)]


def _number(row: Row, key: str) -> float:
    return float(str(row[key]))


def _finish(axis: Axes, x: str, y: str, legend: bool = True) -> None:
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(True, alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    if legend:
        axis.legend(fontsize=7, frameon=False)


def _rows_table(rows: Sequence[Row], hidden: Sequence[str] = ()) -> str:
    skip = {"experiment", "system", "title", "table", *hidden}
    keys = dict.fromkeys(key for row in rows for key in row if key not in skip)
    shown = [key for key in keys if not key.endswith(("_low", "_high", "_series_mbit"))]
    return table({key: key.replace("_", " ") for key in shown}, rows)


def _bars(axis: Axes, rows: Sequence[Row], labels: Sequence[str], known: list[str]) -> None:
    """Goodputs with their confidence intervals, from above down."""
    places = range(len(rows), 0, -1)
    values = [_number(row, "goodput_kbit") for row in rows]
    below = [_number(row, "goodput_kbit") - _number(row, "goodput_kbit_low") for row in rows]
    above = [_number(row, "goodput_kbit_high") - _number(row, "goodput_kbit") for row in rows]
    colours = [_colour(str(row["system"]), known) for row in rows]
    axis.set_axisbelow(True)
    axis.barh(list(places), values, 0.6, xerr=[below, above], color=colours, capsize=3)
    axis.set_yticks(list(places), labels)
    axis.tick_params(axis="y", labelsize=8)


def _tcp(rows: Sequence[Row], published: Sequence[Row]) -> str:
    known: list[str] = []

    def draw(axes: Sequence[Axes]) -> None:
        _bars(axes[0], rows, [str(row["label"]).replace(", ", ",\n") for row in rows], known)
        _finish(axes[0], "goodput of a flow, kbit/s (95% interval)", "", legend=False)
        ours = [row for row in rows if row["system"] != "host"]
        theirs = [row for row in published if isinstance(row.get("ratio_low"), float)]
        count = len(ours) + len(theirs)
        for place, row in enumerate(ours):
            axes[1].plot(
                _number(row, "times_host"),
                count - place,
                "o",
                color=_colour(str(row["system"]), known),
            )
        for place, row in enumerate(theirs, len(ours)):
            low, high = _number(row, "ratio_low"), _number(row, "ratio_high")
            axes[1].plot([low, high], [count - place] * 2, "--D", color=_PUBLISHED, markersize=5)
        labels = [str(row["label"]).replace(", ", ",\n") for row in ours]
        labels += [f"published:\n{row['system']}" for row in theirs]
        axes[1].set_yticks(range(count, 0, -1), labels)
        axes[1].tick_params(axis="y", labelsize=8)
        axes[1].set_ylim(0.4, count + 0.6)
        axes[1].set_xlim(0, 1.2)
        axes[1].axvspan(0.95, 1.05, color="#009e73", alpha=0.15)
        _finish(axes[1], "goodput / that of a real kernel in real time", "", legend=False)

    return svg(draw, 2) + _rows_table(rows)


def _transports(rows: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        _bars(axes[0], rows, [str(row["transport"]).replace(", ", ",\n", 1) for row in rows], [])
        _finish(axes[0], "goodput of a flow, kbit/s (95% interval)", "", legend=False)

    return svg(draw, 1) + _rows_table(rows, ("transport",))


def _sharing(rows: Sequence[Row]) -> str:
    halves = [rows[i : i + 2] for i in range(0, len(rows), 2)]
    plots = [svg(lambda axes, rows=half: _draw_sharing(axes, rows), len(half)) for half in halves]
    return "".join(plots) + _rows_table(rows)


def _draw_sharing(axes: Sequence[Axes], rows: Sequence[Row]) -> None:
    for axis, row in zip(axes, rows, strict=True):
        for name, colour in (("bbr", "#0072b2"), ("cubic", "#d55e00")):
            values = [float(value) for value in str(row[f"{name}_series_mbit"]).split()]
            axis.plot(range(1, len(values) + 1), values, color=colour, label=name.upper())
        axis.set_ylim(0, 12)
        axis.set_title(str(row["label"]).replace("; ", ";\n"), fontsize=9)
        _finish(axis, "time, s", "goodput, Mbit/s")


def _wall(rows: Sequence[Row], x: str, title: str, published: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        known: list[str] = []
        for system in dict.fromkeys(str(row["system"]) for row in rows):
            points = [row for row in rows if row["system"] == system]
            xs = [_number(row, x) for row in points]
            colour = _colour(system, known)
            for axis, y in ((axes[0], "wall_seconds"), (axes[1], "us_per_frame")):
                ys = [_number(row, y) for row in points]
                axis.plot(xs, ys, "o-", markersize=4, color=colour, label=str(points[0]["label"]))
            if system == "ns3":
                for row in published:
                    times = row.get("times_ns3_native")
                    if not isinstance(times, float) or times == 1:
                        continue
                    ys = [times * _number(point, "wall_seconds") for point in points]
                    label = f"published: {row['system']}, times ns-3's"
                    style = "--" if times < 2.5 else ":"
                    axes[0].plot(xs, ys, style, color=_PUBLISHED, label=label)
        _finish(axes[0], title, "wall time, s")
        _finish(axes[1], title, "wall time a frame, us")
        axes[1].set_ylim(bottom=0)

    return svg(draw, 2) + _rows_table(rows, ("rounds",))


def sections(result: Result) -> list[tuple[str, str]]:
    """Titles and bodies, in the page's order."""
    by: dict[str, list[Row]] = {}
    for row in result.rows:
        by.setdefault(str(row["experiment"]), []).append(row)
    goodputs = [row for row in result.published if row["table"] == "cradle-goodput"]
    walls = [row for row in result.published if row["table"] == "cradle-wall"]
    makers: list[tuple[str, str, Callable[[Sequence[Row]], str]]] = [
        ("tcp", "Figure 5: TCP goodput, 5% loss", lambda rows: _tcp(rows, goodputs)),
        ("transports", "Figure 8 and beyond: other transports, 5% loss", _transports),
        ("sharing", "Beyond: BBR and CUBIC through one bottleneck", _sharing),
        ("same_work", "The same segments over both stacks", _rows_table),
        ("bulk", "A bulk transfer", _rows_table),
        (
            "clients",
            "Figure 6: wall time against clients, 60 s of traffic",
            lambda rows: _wall(rows, "clients", "clients", []),
        ),
        (
            "duration",
            "Figure 7: wall time against simulated time, two clients",
            lambda rows: _wall(rows, "simulated_seconds", "simulated time, s", walls),
        ),
        ("scale", "Memory and boot", _rows_table),
    ]
    made = [(title, make(by[name])) for name, title, make in makers if name in by]
    made.append(("Published: figures 5 and 8", _rows_table(goodputs)))
    made.append(("Published: figure 7", _rows_table(walls)))
    return made
