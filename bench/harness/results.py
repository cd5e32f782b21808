"""Rows of a result: what was measured at one point, over its rounds."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .analysis import Ratio, spread
from .traffic import TcpTrial, UdpTrial

_PUBLISHED = Path(__file__).resolve().parent.parent / "published"

Row = dict[str, object]


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

    def as_json(self) -> dict[str, object]:
        """The result file."""
        return {
            "name": self.name,
            "environment": self.environment,
            "rows": self.rows,
            "ratios": {key: ratio.as_json() for key, ratio in self.ratios.items()},
            "published": self.published,
            "timing": self.timing,
            "notes": self.notes,
        }


def _put(row: Row, key: str, values: Sequence[float | None], digits: int = 3) -> None:
    for name, value in spread(values).items():
        suffix = "" if name == "median" else f"_{name}"
        row[key + suffix] = None if value is None else round(value, digits)


def udp_row(trials: Sequence[UdpTrial], **labels: object) -> Row:
    """One row from the rounds of one point."""
    row: Row = {**labels, "traffic": "udp", "size": trials[0].size, "rounds": len(trials)}
    _put(row, "offered_mbit", [trial.offered_mbit for trial in trials])
    _put(row, "received_mbit", [trial.received_mbit for trial in trials])
    _put(row, "offered_pps", [trial.offered_pps for trial in trials], 0)
    _put(row, "received_pps", [trial.received_pps for trial in trials], 0)
    _put(row, "loss_percent", [100 * trial.loss for trial in trials])
    _put(row, "rtt_ms", [trial.rtt_ms for trial in trials])
    _put(row, "cpu_percent", [trial.forwarder_percent for trial in trials], 1)
    _put(row, "machine_percent", [trial.machine_percent for trial in trials], 1)
    return row


def tcp_row(trials: Sequence[TcpTrial], **labels: object) -> Row:
    """One row from the rounds of one point."""
    row: Row = {**labels, "traffic": "tcp", "rounds": len(trials)}
    _put(row, "received_mbit", [trial.received_mbit for trial in trials])
    _put(row, "rtt_ms", [trial.rtt_ms for trial in trials])
    _put(row, "cpu_percent", [trial.forwarder_percent for trial in trials], 1)
    _put(row, "machine_percent", [trial.machine_percent for trial in trials], 1)
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


def to_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV, with every column that some row has."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
