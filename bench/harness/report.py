"""A result as files: JSON, CSV, and one self-contained page with tables and plots."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pandas

from . import (
    report_clients,
    report_device,
    report_fidelity,
    report_kernelstack,
    report_path,
    report_planes,
    report_thesis,
)
from .analysis import Ratio
from .page import number_text
from .results import Result

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


_SIGNS = {"at least": "≥", "at most": "≤", "exactly": "="}
# The sections of benchmarks that are not from the thesis; all others have the thesis's sections.
_SECTIONS = {
    "aodv": report_planes.sections,
    "dataplane": report_planes.sections,
    "clients": report_clients.sections,
    "device": report_device.sections,
    "path": report_path.sections,
    "kernelstack": report_kernelstack.sections,
    "fidelity": report_fidelity.sections,
}
_SOURCES = {
    "clients": "by S. Kristiansen and T. Plagemann (2009)",
    "device": "in the report of the netmap device of ns-3 (SOCIS 2017)",
    "path": "by S. Agarwal, J. Sommers and P. Barford (NetPath, MASCOTS 2005)",
    "kernelstack": "by H. Tazaki, F. Urbani and T. Turletti (DCE Cradle, WNS3 2013)",
}
_THESIS = "in T. B. Cardoso's thesis (2015)"


def _bar(ratio: Ratio) -> str:
    if ratio.kind == "within":
        return f"{number_text(ratio.bar)} … {number_text(ratio.bar_high)}"
    return f"{_SIGNS[ratio.kind]} {number_text(ratio.bar)}"


def _introduction(result: Result) -> str:
    here = "measured here, in network namespaces of one machine"
    if not result.published:
        return f"All figures are {here}."
    source = _SOURCES.get(result.name, _THESIS)
    return (
        f"Solid lines and black figures are {here}; dashed lines and grey figures are printed "
        f"{source}, measured on other hardware: compare the shapes and the ratios."
    )


def _ratio_table(result: Result) -> str:
    head = ("ratio", "median", "low", "high", "bar", "")
    lines = ["<tr>" + "".join(f"<th>{title}</th>" for title in head) + "</tr>"]
    for key, ratio in result.ratios.items():
        verdict = "holds" if ratio.holds() else "misses"
        values = (number_text(value) for value in (ratio.value, ratio.low, ratio.high))
        cells = "".join(f"<td>{text}</td>" for text in (key, *values, _bar(ratio)))
        lines.append(f'<tr>{cells}<td class="{verdict}">{verdict}</td></tr>')
    return "<table>" + lines[0] + "\n".join(lines[1:]) + "</table>"


def to_html(result: Result) -> str:
    """The page."""
    environment = "".join(
        f"<tr><td>{html.escape(key)}</td><td class=text>{html.escape(str(value))}</td></tr>"
        for key, value in result.environment.items()
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in result.notes)
    make = _SECTIONS.get(result.name, report_thesis.sections)
    sections = "".join(f"<h2>{html.escape(t)}</h2>{body}" for t, body in make(result))
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<title>Viaduct benchmark: {result.name}</title><style>{_STYLE}</style>"
        f"<h1>Benchmark {result.name}</h1>"
        f"<p class=note>{_introduction(result)}</p>"
        f"<h2>Ratios</h2>{_ratio_table(result)}{sections}"
        f"<h2>How it was measured</h2><ul>{notes}</ul><table>{environment}</table>"
    )


def write(result: Result, folder: Path) -> Path:
    """Write index.html, result.json, rows.csv and published.csv; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result.as_json(), indent=1) + "\n")
    for name, rows in (("rows", result.rows), ("published", result.published)):
        pandas.DataFrame(rows, dtype=object).to_csv(folder / f"{name}.csv", index=False)
    page = folder / "index.html"
    page.write_text(to_html(result))
    return page
