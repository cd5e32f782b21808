"""The results of a run as pandas frames."""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._command import Scenario, ViaductError, call, line_of, options_of, source_of

if TYPE_CHECKING:
    import pandas


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise ViaductError(
            "frames need pandas: apt-get install python3-pandas, or pip install pandas", 3
        ) from error
    every = columns + [key for row in rows for key in row if key not in columns]
    return pandas.DataFrame(rows, columns=list(dict.fromkeys(every)))


class Result:
    """What `viaduct run --json` wrote, whole in `data`; the frames are made of it.

    Keys and units are those of docs/results.md.
    """

    def __init__(self, data: dict[str, Any], report: Path | None = None) -> None:
        self.data = data
        self.report = report

    @classmethod
    def load(cls, file: str | Path) -> Result:
        """Reads a file that `viaduct run --json` wrote."""
        return cls(load(Path(file)))

    @property
    def mode(self) -> str:
        """simulate, traditional, emulate or offload."""
        return str(self.data["scenario"]["mode"])

    @property
    def status(self) -> int:
        """The exit status of the run: 0 unless something failed."""
        return int(self.data.get("status", 0))

    @property
    def verdict(self) -> str:
        """VALID, VOID or not judged."""
        return str(self.data["verdict"])

    @property
    def flows(self) -> pandas.DataFrame:
        """A row for each flow; maps are flat: `rtt_ms.p50`."""
        rows = [flat_flow(flow) for flow in self.data["flows"]]
        return _frame(rows, ["name", "kind", "from", "to", "sent", "received", "loss", "error"])

    @property
    def samples(self) -> pandas.DataFrame:
        """A row for each sample: `seconds` of the flow, `value` in `unit` (bit/s or ms)."""
        rows = [
            {
                "flow": flow["name"],
                "seconds": seconds,
                "value": value,
                "unit": "ms" if flow["kind"] == "ping" else "bit/s",
            }
            for flow in self.data["flows"]
            for seconds, value in flow.get("samples", [])
        ]
        return _frame(rows, ["flow", "seconds", "value", "unit"])

    @property
    def routes(self) -> pandas.DataFrame:
        """How often each node's kernel table changed (`changes`); mode offload, else empty.

        Whole tables: `route_tables`.
        """
        rows = [{"node": n, "changes": c} for n, c in (self.data.get("routes") or {}).items()]
        return _frame(rows, ["node", "changes"])

    @property
    def route_tables(self) -> pandas.DataFrame:
        """To which neighbour (`next`) each `node` sends what is for `to`, `at` s since convergence.

        `next` is empty where it has no route. No rows unless the scenario has `routing.sample`.
        """
        rows = [
            {"at": sample["at"], "node": node, "to": to, "next": hop}
            for sample in self.data.get("route_samples", [])
            for node, table in sample["next"].items()
            for to, hop in table.items()
        ]
        return _frame(rows, ["at", "node", "to", "next"])

    @property
    def events(self) -> pandas.DataFrame:
        """Changes of links that were made, `at` s since convergence; real modes, else empty."""
        return _frame(list(self.data.get("events", [])), ["at", "link", "change"])

    def __repr__(self) -> str:
        name = self.data["scenario"]["name"]
        return (
            f"<viaduct.Result {name}: {self.mode}, {len(self.data['flows'])} flows, {self.verdict}>"
        )

    def _repr_html_(self) -> str:
        """A table of the flows, and the report, for Jupyter."""
        flows = [flat_flow(flow) for flow in self.data["flows"]]
        columns = list(dict.fromkeys(key for flow in flows for key in flow))
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(flow.get(c))}</td>" for c in columns) + "</tr>"
            for flow in flows
        )
        failures = "".join(f"<li>{html.escape(str(f))}</li>" for f in self.data.get("failures", []))
        return (
            f"<p>{html.escape(repr(self)[1:-1])}</p><table><tr>{head}</tr>{body}</table>"
            f"{'<ul>' + failures + '</ul>' if failures else ''}{self._report_html()}"
        )

    def _report_html(self) -> str:
        """The report as it is: one document that loads nothing, in a frame of its own."""
        if self.report is None:
            return ""
        try:
            page = html.escape((self.report / "index.html").read_text(encoding="utf-8"))
        except OSError as error:
            said = f"{self.report}: no report: {error.strerror}"
            return f"<p>{html.escape(said)}</p>"
        return (
            '<iframe sandbox="allow-scripts" title="report" width="100%" height="600" '
            f'style="border:0" srcdoc="{page}"></iframe>'
        )


# Of a file of results: with the samples of thousands of flows it is some megabytes.
_MOST = 1 << 30


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else html.escape(str(value))


def flat_flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    """A flow without its samples, and with `rtt_ms.p50` in place of a map in a map."""
    row: dict[str, Any] = {}
    for key, value in flow.items():
        if isinstance(value, dict):
            row.update({f"{key}.{inner}": each for inner, each in value.items()})
        elif not isinstance(value, list):
            row[key] = value
    return row


def load(file: Path) -> dict[str, Any]:
    """Reads a JSON file that holds a map, or that of a report's or sweep's folder.

    The error says what is wrong.
    """
    file = file / "results.json" if file.is_dir() else file
    try:
        if file.stat().st_size > _MOST:
            raise ViaductError(f"{file}: is longer than 1 GiB; is it the right file?", 2)
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ViaductError(f"{file}: {error.strerror}", 2) from error
    except ValueError as error:
        raise ViaductError(f"{file}: no JSON: {error}", 2) from error
    if not isinstance(data, dict):
        raise ViaductError(f"{file}: holds no results of viaduct run --json", 2)
    return data


def run(
    scenario: Scenario,
    *,
    mode: str | None = None,
    duration: str | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 (as the command calls it)
    report: str | Path | None = None,
    check: bool = True,
) -> Result:
    """Runs a scenario (a file, a dictionary or a Topology) and returns its results.

    Raises ViaductError if it fails, or is VOID; `check=False`: only if there are no results.
    """
    name, text = source_of(scenario)
    with tempfile.TemporaryDirectory(prefix="viaduct-") as folder:
        file = Path(folder) / "results.json"
        words = ["run", "--quiet", f"--json={file}", *options_of(mode, duration, seed, set)]
        words += [f"--report={report}"] if report is not None else []
        status, _, errors = call([*words, "--", name], text)
        if not file.exists():
            raise ViaductError(line_of(errors), status)
        result = Result(load(file), Path(report) if report is not None else None)
    if check and status != 0:
        raise ViaductError(line_of(errors), status, result)
    return result
