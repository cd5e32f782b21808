"""Rows of a result: what was measured at one point, over its rounds."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .analysis import Ratio, spread
from .traffic import TcpTrial, UdpTrial

_PUBLISHED = Path(__file__).resolve().parent.parent / "published"

Row = dict[str, Any]


class Labelled(Protocol):
    """A system: how rows name it, and how people do."""

    name: str
    label: str


@dataclass
class Result:
    """All of one benchmark; `as_json` is the shape of the result file."""

    name: str
    environment: dict[str, object]
    rows: list[Row] = field(default_factory=list)
    ratios: dict[str, Ratio] = field(default_factory=dict)
    published: list[Row] = field(default_factory=list)
    timing: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, experiment: str, of: Labelled, /, **values: object) -> None:
        """Add a row of what was measured of a system; `system="NAME"` calls it otherwise."""
        row: Row = {"experiment": experiment, "system": of.name, "label": of.label}
        self.rows.append(row | values)

    def as_json(self) -> dict[str, object]:
        """The result file."""
        return vars(self) | {"ratios": {key: ratio.as_json() for key, ratio in self.ratios.items()}}


def measured(key: str, values: Sequence[float | None], digits: int | None = None) -> Row:
    """Median, lowest (`key`_low) and highest of the rounds; `digits` None: whole numbers."""
    return {
        key + suffix: None if value is None else round(value, digits)
        for suffix, value in zip(("", "_low", "_high"), spread(values), strict=True)
    }


# The columns of a trial's figures, with their number of digits.
_COLUMNS = {
    "offered_mbit": 3,
    "received_mbit": 3,
    "offered_pps": 0,
    "received_pps": 0,
    "loss_percent": 3,
    "rtt_ms": 3,
    "cpu_percent": 1,
    "machine_percent": 1,
    "sender_ns": 0,
}


def trials_row(trials: Sequence[UdpTrial | TcpTrial], **labels: object) -> Row:
    """One row from the rounds of one point."""
    row: Row = {**labels, "traffic": trials[0].traffic}
    if isinstance(trials[0], UdpTrial):
        row["size"] = trials[0].size
    row["rounds"] = len(trials)
    for key, digits in _COLUMNS.items():
        if hasattr(trials[0], key):
            row |= measured(key, [getattr(trial, key) for trial in trials], digits)
    return row


def read_csv(file: str, **labels: object) -> list[Row]:
    """A published table; numbers as numbers, its first comment line as `title`."""
    lines = (_PUBLISHED / file).read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [
        {"title": lines[0].removeprefix("# "), **labels}
        | {key: _number_if_one(value) for key, value in row.items()}
        for row in rows
    ]


def _number_if_one(text: str) -> float | str | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def read_published(number: int, **labels: object) -> list[Row]:
    """Table A.`number` of the thesis."""
    return read_csv(f"table-a{number:02d}.csv", table=f"A.{number}", **labels)
