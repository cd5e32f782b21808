"""viaduct compare: what differs between the results of two runs, or of two sweeps."""

from __future__ import annotations

import argparse
import fnmatch
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._command import ViaductError, say, write_whole, written
from ._figures import figures_of, troubles_of
from ._result import load
from ._statistics import difference

Samples = dict[str, list[float]]


def read(file: Path) -> tuple[Samples, list[str]]:
    """The values of each figure, and what is wrong with the runs that they are of."""
    data = load(file)
    try:
        if "points" in data:
            return _of_sweep(data)
        if "runs" in data:
            raise ViaductError(f"{file}: results of several modes; compare one of each", 2)
        return {name: [value] for name, value in figures_of(data).items()}, troubles_of(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ViaductError(
            f"{file}: holds no results of viaduct run --json or viaduct sweep ({error})", 2
        ) from error


def _of_sweep(data: dict[str, Any]) -> tuple[Samples, list[str]]:
    samples: Samples = {}
    for point in data["points"]:
        values = " ".join(f"{key}={value}" for key, value in point["values"].items())
        for name, each in point["samples"].items():
            samples[f"{values} {name}".strip()] = list(each)
    wrong = [
        f"{r['values']}: {r.get('error', r['state'])}" for r in data["runs"] if "figures" not in r
    ]
    return samples, wrong


def compared(a: Samples, b: Samples, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each figure: values, difference, its interval, and a verdict.

    `uncertain`: the means are within the tolerance, but the interval is not.
    """
    rows = []
    for name in list(dict.fromkeys([*a, *b])):
        row: dict[str, Any] = {"figure": name}
        row |= {k: statistics.fmean(s[name]) for k, s in (("a", a), ("b", b)) if name in s}
        if name not in a or name not in b:
            rows.append(row | {"verdict": "only in A" if name in a else "only in B"})
            continue
        change = row["b"] - row["a"]
        tolerance = options.absolute + options.relative * abs(row["a"])
        bounds = difference(a[name], b[name], options.confidence)
        same = abs(change) <= tolerance
        sure = bounds is None or max(map(abs, bounds)) <= tolerance
        row |= {"difference": change, "tolerance": tolerance, "interval": bounds}
        rows.append(row | {"verdict": ("same" if sure else "uncertain") if same else "differs"})
    return rows


def main(words: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser("viaduct compare")
    parser.add_argument("a", type=Path)
    parser.add_argument("b", type=Path)
    parser.add_argument("--relative", type=float, default=0.05)
    parser.add_argument("--absolute", type=float, default=0.0)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--figure", action="append", default=[])
    parser.add_argument("--json")
    options = parser.parse_args(words)
    if not (options.relative >= 0 and options.absolute >= 0 and 0 < options.confidence < 1):
        raise ViaductError("tolerances must not be negative, --confidence between 0 and 1", 2)
    (a, wrong_a), (b, wrong_b) = read(options.a), read(options.b)
    if options.figure:
        a, b = (
            {n: v for n, v in each.items() if any(fnmatch.fnmatch(n, p) for p in options.figure)}
            for each in (a, b)
        )
    rows = compared(a, b, options)
    if not rows:
        raise ViaductError("there is no figure to compare", 2)
    troubles = [f"A: {line}" for line in wrong_a] + [f"B: {line}" for line in wrong_b]
    same = not troubles and all(row["verdict"] in ("same", "uncertain") for row in rows)
    whole = {"same": same, "troubles": troubles, "figures": rows}
    if options.json and options.json != "-":
        write_whole(Path(options.json), json.dumps(whole, indent=1) + "\n")
    if options.json == "-":
        with written():
            print(json.dumps(whole, indent=1), flush=True)
        return int(not same)
    width = max(len(row["figure"]) for row in rows)
    for row in rows:
        shown = "  ".join(f"{row[k]:>12.6g}" if k in row else " " * 11 + "-" for k in ("a", "b"))
        bounds = row.get("interval")
        by = f" [{bounds[0]:.4g}, {bounds[1]:.4g}]" if bounds else ""
        say(f"{row['figure']:{width}}  {shown}  {row['verdict']}{by}")
    for line in troubles:
        say(f"not to be relied on: {line}")
    uncertain = sum(row["verdict"] == "uncertain" for row in rows)
    doubt = f"; the intervals of {uncertain} figures are wider" if uncertain else ""
    say(f"the means are the same within the tolerance{doubt}" if same else "different")
    return int(not same)
