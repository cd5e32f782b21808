"""Pieces of a report's page: plots as SVG, tables as HTML."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

from .results import Row  # noqa: E402


def svg(draw: Callable[[Sequence[Axes]], None], axes_count: int) -> str:
    """A figure with some axes side by side, drawn by `draw`."""
    figure, axes = plt.subplots(1, axes_count, figsize=(5.2 * axes_count, 3.8), squeeze=False)
    draw(axes[0])
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]


def number_text(value: object) -> str:
    """As a table has it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        return f"{value:.4g}"
    return str(value)


def table(columns: dict[str, str], rows: Sequence[Row]) -> str:
    """Rows under their columns' titles; `x_low` and `x_high` are the range of column `x`."""
    head = "".join(f"<th>{html.escape(title)}</th>" for title in columns.values())
    body = []
    for row in rows:
        cells = []
        for key in columns:
            published = key.startswith("thesis_")
            kind = "text" if isinstance(row.get(key), str) else "published" if published else ""
            text = html.escape(number_text(row.get(key)))
            low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
            if isinstance(low, int | float) and low != high:
                text += f" <small>{number_text(low)}–{number_text(high)}</small>"
            cells.append(f'<td class="{kind}">{text}</td>')
        body.append("<tr>" + "".join(cells) + "</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>' + "\n".join(body) + "</table></div>"


def columns(rows: Sequence[Row], hidden: Sequence[str] = ()) -> dict[str, str]:
    """Titles of the columns that some row has, less ranges, series and what every row repeats."""
    skip = {"experiment", "system", "title", "table", *hidden}
    keys = dict.fromkeys(key for row in rows for key in row if key not in skip)
    shown = (key for key in keys if not key.endswith(("_low", "_high", "_series_mbit")))
    return {key: key.replace("_", " ") for key in shown}


def rows_table(rows: Sequence[Row], hidden: Sequence[str] = ()) -> str:
    """Rows with all of their columns."""
    return table(columns(rows, hidden), rows)


def finish(axis: Axes, x: str, y: str, logarithmic: str = "", legend: bool = True) -> None:
    """Labels, grid and legend of a plot; `logarithmic`: x, y or both."""
    if "x" in logarithmic:
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
    if "y" in logarithmic:
        axis.set_yscale("log")
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(True, alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    if legend and axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=7, frameon=False)


def by_experiment(
    rows: Sequence[Row], makers: Sequence[tuple[str, str, Callable[[list[Row]], str]]]
) -> list[tuple[str, str]]:
    """Title and body of each experiment that has rows; a maker: experiment, title, body."""
    made = []
    for name, title, make in makers:
        if some := [row for row in rows if row["experiment"] == name]:
            made.append((title, make(some)))
    return made
