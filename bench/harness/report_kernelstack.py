"""Plots and tables of `kernelstack`: DCE Cradle's figures 5 to 8, and what lies beyond."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from .page import by_experiment, finish, rows_table, svg
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


def _bars(axis: Axes, rows: Sequence[Row], labels: Sequence[str], known: list[str]) -> None:
    """Goodputs with their confidence intervals, from above down."""
    places = range(len(rows), 0, -1)
    values = [row["goodput_kbit"] for row in rows]
    below = [row["goodput_kbit"] - row["goodput_kbit_low"] for row in rows]
    above = [row["goodput_kbit_high"] - row["goodput_kbit"] for row in rows]
    colours = [_colour(str(row["system"]), known) for row in rows]
    axis.set_axisbelow(True)
    axis.barh(list(places), values, 0.6, xerr=[below, above], color=colours, capsize=3)
    axis.set_yticks(list(places), labels)
    axis.tick_params(axis="y", labelsize=8)


def _tcp(rows: Sequence[Row], published: Sequence[Row]) -> str:
    known: list[str] = []

    def draw(axes: Sequence[Axes]) -> None:
        _bars(axes[0], rows, [str(row["label"]).replace(", ", ",\n") for row in rows], known)
        finish(axes[0], "goodput of a flow, kbit/s (95% interval)", "")
        ours = [row for row in rows if row["system"] != "host"]
        theirs = [row for row in published if isinstance(row.get("ratio_low"), float)]
        count = len(ours) + len(theirs)
        for place, row in enumerate(ours):
            axes[1].plot(
                row["times_host"],
                count - place,
                "o",
                color=_colour(str(row["system"]), known),
            )
        for place, row in enumerate(theirs, len(ours)):
            low, high = row["ratio_low"], row["ratio_high"]
            axes[1].plot([low, high], [count - place] * 2, "--D", color=_PUBLISHED, markersize=5)
        labels = [str(row["label"]).replace(", ", ",\n") for row in ours]
        labels += [f"published:\n{row['system']}" for row in theirs]
        axes[1].set_yticks(range(count, 0, -1), labels)
        axes[1].tick_params(axis="y", labelsize=8)
        axes[1].set_ylim(0.4, count + 0.6)
        axes[1].set_xlim(0, 1.2)
        axes[1].axvspan(0.95, 1.05, color="#009e73", alpha=0.15)
        finish(axes[1], "goodput / that of a real kernel in real time", "")

    return svg(draw, 2) + rows_table(rows)


def _transports(rows: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        _bars(axes[0], rows, [str(row["transport"]).replace(", ", ",\n", 1) for row in rows], [])
        finish(axes[0], "goodput of a flow, kbit/s (95% interval)", "")

    return svg(draw, 1) + rows_table(rows, ("transport",))


def _sharing(rows: Sequence[Row]) -> str:
    halves = [rows[i : i + 2] for i in range(0, len(rows), 2)]
    plots = [svg(lambda axes, rows=half: _draw_sharing(axes, rows), len(half)) for half in halves]
    return "".join(plots) + rows_table(rows)


def _draw_sharing(axes: Sequence[Axes], rows: Sequence[Row]) -> None:
    for axis, row in zip(axes, rows, strict=True):
        for name, colour in (("bbr", "#0072b2"), ("cubic", "#d55e00")):
            values = [float(value) for value in str(row[f"{name}_series_mbit"]).split()]
            axis.plot(range(1, len(values) + 1), values, color=colour, label=name.upper())
        axis.set_ylim(0, 12)
        axis.set_title(str(row["label"]).replace("; ", ";\n"), fontsize=9)
        finish(axis, "time, s", "goodput, Mbit/s")


def _wall(rows: Sequence[Row], x: str, title: str, published: Sequence[Row]) -> str:
    def draw(axes: Sequence[Axes]) -> None:
        known: list[str] = []
        for system in dict.fromkeys(str(row["system"]) for row in rows):
            points = [row for row in rows if row["system"] == system]
            xs = [row[x] for row in points]
            colour = _colour(system, known)
            for axis, y in ((axes[0], "wall_seconds"), (axes[1], "us_per_frame")):
                ys = [row[y] for row in points]
                axis.plot(xs, ys, "o-", markersize=4, color=colour, label=str(points[0]["label"]))
            if system == "ns3":
                for row in published:
                    times = row.get("times_ns3_native")
                    if not isinstance(times, float) or times == 1:
                        continue
                    ys = [times * point["wall_seconds"] for point in points]
                    label = f"published: {row['system']}, times ns-3's"
                    style = "--" if times < 2.5 else ":"
                    axes[0].plot(xs, ys, style, color=_PUBLISHED, label=label)
        finish(axes[0], title, "wall time, s")
        finish(axes[1], title, "wall time a frame, us")
        axes[1].set_ylim(bottom=0)

    return svg(draw, 2) + rows_table(rows, ("rounds",))


def sections(result: Result) -> list[tuple[str, str]]:
    """Titles and bodies, in the page's order."""
    goodputs = [row for row in result.published if row["table"] == "cradle-goodput"]
    walls = [row for row in result.published if row["table"] == "cradle-wall"]
    makers = [
        ("tcp", "Figure 5: TCP goodput, 5% loss", lambda rows: _tcp(rows, goodputs)),
        ("transports", "Figure 8 and beyond: other transports, 5% loss", _transports),
        ("sharing", "Beyond: BBR and CUBIC through one bottleneck", _sharing),
        ("same_work", "The same segments over both stacks", rows_table),
        ("bulk", "A bulk transfer", rows_table),
        ("work_bulk", "One flow that fills 100 Mbit/s", rows_table),
        ("work_100flows", "100 flows", rows_table),
        ("work_short", "A short run with loss", rows_table),
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
        (
            "guests",
            "Beyond: 34 nodes distributed over several kernels, in the process and outside",
            lambda rows: _wall(rows, "guests", "kernels", []),
        ),
        ("scale", "Memory and boot", rows_table),
    ]
    return [
        *by_experiment(result.rows, makers),
        ("Published: figures 5 and 8", rows_table(goodputs)),
        ("Published: figure 7", rows_table(walls)),
    ]
