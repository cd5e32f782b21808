"""viaduct plot: the flows of a run's results over time, as a figure for a paper."""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._command import ViaductError, how_to_install
from ._result import load

_FORMATS = ("pdf", "svg", "png", "eps", "pgf")
# Okabe and Ito (2008), whom colour-blind people can distinguish; dashes for print.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_MOST_SPANS, _PARTS = 50, 60  # as the report's page
_DASHES = ("-", (0, (6, 2)), (0, (1.5, 2)), (0, (6, 2, 1.5, 2)))


def points_of(flow: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Run time and value of each sample; a value that is no number where packets are missing.

    Of rates there is one more, at the start of the first interval.
    """
    start = float(flow.get("start", 0))
    points = [(start + seconds, float(value)) for seconds, value in flow.get("samples", [])]
    if flow["kind"] == "ping":
        gaps = [gap for gap in flow.get("gaps", []) if "to" in gap]
        points += [(start + (gap["from"] + gap["to"]) / 2, float("nan")) for gap in gaps]
        points.sort(key=lambda point: point[0])
    elif points:  # a sample is of the interval that ends with it
        points.insert(0, (start, points[0][1]))
    return [time for time, _ in points], [value for _, value in points]


def losses_of(flow: Mapping[str, Any], end: float) -> list[tuple[float, float]]:
    """When the packets were sent that were lost, as intervals of run time."""
    start = float(flow.get("start", 0))
    spans = []
    for gap in flow.get("gaps", []):
        first, last = start + gap["from"], start + gap["to"] if "to" in gap else end
        step = (last - first) / (gap["lost"] + 1)
        spans.append((first + step, max(last - step, first + step)))
    return spans


def loss_rates_of(flow: Mapping[str, Any], end: float) -> tuple[list[float], list[float]]:
    """Lost packets a second in equal parts of a flow, and when these end, s of run time.

    Of the gaps that are listed; if there were more, by the packets that did not arrive.
    """
    start = float(flow.get("start", 0))
    width = (end - start) / _PARTS
    missing, arrived = [0.0] * _PARTS, [0.0] * _PARTS

    def share(into: list[float], first: float, last: float, amount: float) -> None:
        begin = min(max(int((first - start) / width), 0), _PARTS - 1)
        for part in range(begin, min(max(int((last - start) / width), begin), _PARTS - 1) + 1):
            low, high = start + part * width, start + (part + 1) * width
            inside = max(0.0, min(last, high) - max(first, low))
            into[part] += amount * inside / (last - first) if last > first else amount

    if "gaps_omitted" not in flow:
        for gap, (first, last) in zip(flow["gaps"], losses_of(flow, end), strict=True):
            share(missing, first, min(last, end), gap["lost"])
    else:
        ping = flow["kind"] == "ping"
        before = [0.0, *(seconds for seconds, _ in flow["samples"])]
        weights = [
            1.0 if ping else value * (seconds - previous)
            for (seconds, value), previous in zip(flow["samples"], before, strict=False)
        ]
        total = sum(weights) or 1.0
        for (seconds, _), previous, weight in zip(flow["samples"], before, weights, strict=False):
            first = start + (seconds if ping else previous)
            share(arrived, first, start + seconds, flow["received"] * weight / total)
        missing = [max(0.0, flow["sent"] / _PARTS - each) for each in arrived]
    times = [start + number * width for number in range(_PARTS + 1)]
    rates = [packets / width for packets in missing]
    return times, [rates[0], *rates]


def _chosen(runs: Sequence[Mapping[str, Any]], patterns: Sequence[str]) -> list[str]:
    names = dict.fromkeys(flow["name"] for run in runs for flow in run["flows"])
    found = [
        name
        for name in names
        if not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]
    if not found:
        there = ", ".join(names) or "none"
        raise ViaductError(f"--flow {' '.join(patterns)}: no such flow; there are: {there}", 2)
    return found


def _draw(axes: Any, runs: Sequence[Mapping[str, Any]], name: str) -> None:
    ping, losing = False, None
    for number, run in enumerate(runs):
        for flow in (flow for flow in run["flows"] if flow["name"] == name):
            ping = flow["kind"] == "ping"
            times, values = points_of(flow)
            colour = _COLOURS[number % len(_COLOURS)]
            style = {"color": colour, "linestyle": _DASHES[number % len(_DASHES)], "linewidth": 1}
            label = run["scenario"]["mode"]
            if ping:
                axes.plot(times, values, label=label, **style)
            else:
                shown = [value / 1e6 for value in values]
                axes.step(times, shown, where="pre", label=label, **style)
            duration = float(run["scenario"].get("duration", 0))  # of versions that say no end
            end = float(flow.get("end", max([*times, duration], default=0)))
            if len(flow.get("gaps", [])) > _MOST_SPANS:
                # Where losses are everywhere, when they were says nothing.
                losing = losing or axes.twinx()
                losing.step(*loss_rates_of(flow, end), where="pre", **{**style, "alpha": 0.5})
                continue
            for first, last in losses_of(flow, end):
                axes.axvspan(first, last, color=colour, alpha=0.15, linewidth=0.6)
    if losing:
        losing.set_ylabel("lost packets/s (pale)", fontsize=8)
        losing.set_ylim(bottom=0)
        losing.tick_params(labelsize=8)
    for event in (event for run in runs for event in run.get("events", [])):
        if not event["change"].startswith("capture"):
            axes.axvline(event["at"], color="black", linestyle=":", linewidth=0.8)
            axes.annotate(
                f"{event['link']} {event['change']}",
                (event["at"], 1),
                xycoords=("data", "axes fraction"),
                xytext=(-2, -2),
                textcoords="offset points",
                rotation=90,
                ha="right",
                va="top",
                fontsize=6,
            )
    axes.set_title(name, fontsize=9, loc="left")
    axes.set_ylabel("round trip (ms)" if ping else "received (Mbit/s)", fontsize=8)
    axes.set_ylim(bottom=0)
    axes.tick_params(labelsize=8)
    if len(runs) > 1:
        axes.legend(fontsize=7, loc="upper right")


def draw(data: Mapping[str, Any], figure: Path, patterns: Sequence[str], size: str) -> None:
    """Writes the figure: a panel for each flow. The file is there whole, or as it was."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", size)
    if not match or not all(0.5 <= float(side) <= 200 for side in match.groups()):
        raise ViaductError(f"--size {size}: not WIDTHxHEIGHT in inches, as in 6x2.2", 2)
    form = figure.suffix.removeprefix(".").lower()
    if form not in _FORMATS:
        raise ViaductError(f"--figure {figure}: must end in one of .{', .'.join(_FORMATS)}", 2)
    try:
        import matplotlib
    except ImportError as error:
        said = f"a figure needs matplotlib: {how_to_install('matplotlib')}"
        raise ViaductError(said, 3) from error
    matplotlib.use("agg")
    from matplotlib import pyplot

    runs = data.get("runs", [data])
    names = _chosen(runs, patterns)
    width, height = (float(side) for side in match.groups())
    drawn, panels = pyplot.subplots(
        len(names), 1, squeeze=False, sharex=True, figsize=(width, height * len(names))
    )
    for panel, name in zip(panels[:, 0], names, strict=True):
        _draw(panel, runs, name)
    panels[-1, 0].set_xlabel("run time (s)", fontsize=8)
    drawn.tight_layout()
    part = figure.with_name(f".{figure.stem}.{os.getpid()}{figure.suffix}")
    try:
        drawn.savefig(part, format=form, dpi=200)
        part.replace(figure)
    except OSError as error:
        raise ViaductError(f"--figure {figure}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
        pyplot.close(drawn)


def main(words: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser("viaduct plot")
    parser.add_argument("file", type=Path)
    parser.add_argument("--figure", type=Path, required=True)
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--size", default="6x2.2")
    options = parser.parse_args(words)
    data = load(options.file)
    try:
        draw(data, options.figure, options.flow, options.size)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = f"{options.file}: holds no results of viaduct run --json ({error})"
        raise ViaductError(said, 2) from error
    return 0
