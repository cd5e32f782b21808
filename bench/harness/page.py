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
