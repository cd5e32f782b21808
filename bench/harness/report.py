"""A result as files: JSON, CSV, and one self-contained page with tables and plots."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

from .results import Result, Row, to_csv  # noqa: E402

# One colour a system in every plot, told apart also by people who confuse red and green.
_COLOURS = {
    "kernel": "#444444",
    "userspace": "#e69f00",
    "ring": "#a6761d",
    "traditional": "#d55e00",
    "traditional_p2p": "#cc79a7",
    "insim": "#0072b2",
    "offload": "#009e73",
    "olsrd": "#999999",
}
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #eee; }
th:first-child, td:first-child, td.text { text-align: left; }
th { border-bottom: 2px solid #888; font-weight: 600; } td.published { color: #777; }
.holds { color: #00704f; } .misses { color: #b03a00; font-weight: 600; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; }
small, .note { color: #666; }
"""


def _svg(draw: object, axes_count: int) -> str:
    figure, axes = plt.subplots(1, axes_count, figsize=(5.2 * axes_count, 3.8), squeeze=False)
    draw(axes[0])
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]


def _number(row: Row, key: str) -> float | None:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else None


def _draw_lines(axes: Axes, rows: Sequence[Row], x: str, y: str, published: bool) -> None:
    systems = dict.fromkeys(row["system"] for row in rows)
    for system in systems:
        points = [
            (_number(row, x), _number(row, y), row)
            for row in rows
            if row["system"] == system and _number(row, x) and _number(row, y) is not None
        ]
        points.sort(key=lambda point: point[0])
        if not points:
            continue
        label = "thesis: " + str(system) if published else str(points[0][2].get("label", system))
        axes.plot(
            [point[0] for point in points],
            [point[1] for point in points],
            color=_COLOURS.get(str(system), "#000000"),
            linestyle="--" if published else "-",
            marker="o" if not published else "",
            markersize=4,
            alpha=0.6 if published else 1,
            label=label,
        )
        if not published and f"{y}_low" in points[0][2]:
            axes.fill_between(
                [point[0] for point in points],
                [_number(point[2], f"{y}_low") or 0 for point in points],
                [_number(point[2], f"{y}_high") or 0 for point in points],
                color=_COLOURS.get(str(system), "#000000"),
                alpha=0.12,
            )


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
            if y in ("received_mbit", "rtt_ms"):
                axis.set_yscale("log")
            axis.set_xlabel(_AXES[x])
            axis.set_ylabel(_AXES[y])
            axis.grid(True, which="major", alpha=0.25)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0].legend(fontsize=7, frameon=False)

    return _svg(draw, len(ys))


def _format(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        return f"{value:.4g}"
    return str(value)


def _table(columns: dict[str, str], rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{html.escape(title)}</th>" for title in columns.values())
    body = []
    for row in rows:
        cells = []
        for key in columns:
            published = key.startswith("thesis_")
            kind = "text" if isinstance(row.get(key), str) else "published" if published else ""
            text = html.escape(_format(row.get(key)))
            low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
            if isinstance(low, int | float) and low != high:
                text += f" <small>{_format(low)}–{_format(high)}</small>"
            cells.append(f'<td class="{kind}">{text}</td>')
        body.append("<tr>" + "".join(cells) + "</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>' + "\n".join(body) + "</table></div>"


def _beside(rows: Sequence[Row], published: Sequence[Row], x: str) -> list[Row]:
    """Each row of ours with the published row of the same table and point, if there is one."""
    thesis = {(row["table"], row[x]): row for row in published if x in row}
    joined = []
    for row in rows:
        point = row.get("target_mbit") if x == "offered_mbit" else row.get("nodes")
        if point == 70.8:
            point = 71.0  # as the tables print it
        found = thesis.get((row.get("table"), point), {})
        joined.append(row | {f"thesis_{key}": value for key, value in found.items()})
    return joined


def _ratio_table(result: Result) -> str:
    rows = []
    for key, ratio in result.ratios.items():
        verdict = "holds" if ratio.holds() else "misses"
        rows.append(
            f'<tr><td>{key}</td><td>{_format(ratio.value)}</td><td>{_format(ratio.low)}</td>'
            f"<td>{_format(ratio.high)}</td><td>{'=' if ratio.exactly else '≥'} "
            f'{_format(ratio.bar)}</td><td class="{verdict}">{verdict}</td></tr>'
        )
    return (
        "<table><tr><th>ratio</th><th>median</th><th>low</th><th>high</th><th>bar</th><th></th></tr>"
        + "\n".join(rows)
        + "</table>"
    )


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
    return _plot(rows, published, x, ys) + _table(used, joined)


def _sections(result: Result) -> list[tuple[str, str]]:
    sections = []
    measured = [row for row in result.rows if row["experiment"] == result.name]
    if result.name == "multinode":
        for title, keep in {
            "UDP at 16 Mbit/s, 160 bytes": ("udp", 16.0),
            "UDP, saturated, 160 bytes": ("udp", "max"),
            "TCP": ("tcp", None),
        }.items():
            rows = [row for row in measured if (row["traffic"], row["target_mbit"]) == keep]
            sections.append((title, _comparison(result, rows, "nodes")))
    else:
        for size in dict.fromkeys(row["size"] for row in measured):
            rows = [row for row in measured if row["size"] == size]
            title = f"UDP, {size} bytes of payload"
            sections.append((title, _comparison(result, rows, "offered_mbit")))
    for experiment, title in {"limits": "Limits", "lines": "Lines", "context": "Context"}.items():
        rows = [row for row in result.rows if row["experiment"] == experiment]
        if rows:
            hidden = ("experiment", "system")
            columns = {key: key.replace("_", " ") for key in rows[0] if key not in hidden}
            columns = {k: v for k, v in columns.items() if not k.endswith(("_low", "_high"))}
            sections.append((title, _table(columns, rows)))
    return sections


def to_html(result: Result) -> str:
    """The page."""
    environment = "".join(
        f"<tr><td>{html.escape(key)}</td><td class=text>{html.escape(str(value))}</td></tr>"
        for key, value in result.environment.items()
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in result.notes)
    sections = "".join(f"<h2>{html.escape(t)}</h2>{body}" for t, body in _sections(result))
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<title>Viaduct benchmark: {result.name}</title><style>{_STYLE}</style>"
        f"<h1>Benchmark {result.name}</h1>"
        "<p class=note>Solid lines and black figures are measured here, in network namespaces of "
        "one machine; dashed lines and grey figures are printed in T. B. Cardoso's thesis (2015), "
        "measured on other hardware: compare the shapes and the ratios.</p>"
        f"<h2>Ratios</h2>{_ratio_table(result)}{sections}"
        f"<h2>How it was measured</h2><ul>{notes}</ul><table>{environment}</table>"
    )


def write(result: Result, folder: Path) -> Path:
    """Write index.html, result.json, rows.csv and published.csv; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result.as_json(), indent=1) + "\n")
    (folder / "rows.csv").write_text(to_csv(result.rows))
    (folder / "published.csv").write_text(to_csv(result.published))
    page = folder / "index.html"
    page.write_text(to_html(result))
    return page
