"""Benchmark `fidelity`: the same scenarios in every mode, and how far the modes agree."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .analysis import Ratio, ratio_of_rounds
from .environment import REPOSITORY
from .fidelity_scenarios import EXPERIMENTS, Experiment
from .plan import Plan
from .process import BenchError, run
from .results import Result
from .session import Session

sys.path.insert(0, str(REPOSITORY / "python"))

from viaduct._compare import compared  # noqa: E402
from viaduct._figures import figures_of, troubles_of  # noqa: E402

NOTES = [
    "Each scenario runs in mode simulate (ns-3's stacks), in simulate with a real kernel in "
    "virtual time as every node's stack, in emulate and in offload. The reference is offload: the "
    "kernel's own stack and forwarding, in real time.",
    "routes_same_*: of the seconds at which routing.sample wrote every node's next hops, outside "
    "of the 4 s after each change of a link, the share at which all are the same as in offload. "
    "Rows `routes` also count the seconds within those 4 s, in which the protocols' own random "
    "timers decide. Routes are the protocols': what the data planes made of them is in the pings.",
    "rtt_median_*: the difference of the medians from offload's / (0.1 ms + 1% of offload's).",
    "goodput_kernels_vs_offload: TCP between kernels in virtual time / between this machine's. "
    "ns-3's own TCP is in the rows, without a bar; in emulate the ends' TCP is this machine's.",
    "Rows `distributions`: ks is the greatest distance between the distributions of round trip "
    "times of a mode and of offload (0 to 1; Kolmogorov and Smirnov), spread_ms the middle 80%.",
    "Rows `figures`: every figure of the results, as `viaduct compare` has it, with 0.1 ms + 1% "
    "for times and 5% for the others.",
    "Seeds are the same in all modes: the n-th frame of a direction meets the same loss.",
]
_TIMEOUT = 90.0  # seconds in addition to a run's duration, for kernels' boot and convergence
_SETTLING = 4  # seconds after a change of a link, in which routes settle


@dataclass(frozen=True)
class Mode:
    """How a scenario is run."""

    name: str
    label: str
    words: tuple[str, ...]


_REFERENCE = Mode("offload", "offload", ("--mode=offload",))
_MODES = (
    Mode("simulate", "simulate, ns-3's stacks", ("--mode=simulate",)),
    Mode("kernels", "simulate, kernels in virtual time", ("--mode=simulate", "--set=stack=kernel")),
    Mode("emulate", "emulate", ("--mode=emulate",)),
    _REFERENCE,
)
Tables = dict[int, Any]  # next hops of all nodes, keyed by second


def tables_of(data: dict[str, Any]) -> Tables:
    """Every node's next hops, by the second since convergence."""
    return {round(sample["at"]): sample["next"] for sample in data.get("route_samples", [])}


def agreement(a: Tables, b: Tables, cuts: Sequence[int]) -> dict[str, int]:
    """Seconds at which two runs have the same tables, and how many both have; settled or not."""
    counts = dict.fromkeys(("settled", "settled_same", "changing", "changing_same"), 0)
    for second in sorted(set(a) & set(b)):
        changing = any(cut <= second < cut + _SETTLING for cut in cuts)
        kind = "changing" if changing else "settled"
        counts[kind] += 1
        counts[f"{kind}_same"] += a[second] == b[second]
    return counts


def ks_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """The greatest distance between two empirical distributions."""
    if not a or not b:
        return 1.0
    first, second = sorted(a), sorted(b)
    i = j = 0
    most = 0.0
    while i < len(first) and j < len(second):
        value = min(first[i], second[j])
        while i < len(first) and first[i] == value:
            i += 1
        while j < len(second) and second[j] == value:
            j += 1
        most = max(most, abs(i / len(first) - j / len(second)))
    return most


def _values(data: dict[str, Any]) -> list[float]:
    """Of the pings, without the first, which resolves addresses."""
    pings = [flow for flow in data["flows"] if flow["kind"] == "ping"]
    return [value for flow in pings for _, value in flow.get("samples", [])[1:]]


def middle(values: Sequence[float]) -> float:
    """How wide the middle 80% are."""
    if len(values) < 2:
        return 0.0
    tenths = statistics.quantiles(values, n=10)
    return tenths[-1] - tenths[0]


class _Runs:
    """The results of each experiment and mode, by round."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self._session = session
        self._plan = plan
        self.data: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def modes(self) -> list[Mode]:
        """Those that this machine has."""
        kernels = run([str(self._session.viaduct), "kernel", "list"]).strip()
        if not kernels:
            self._plan.shortened.append("kernels in virtual time: none is built")
        return [mode for mode in _MODES if mode.name != "kernels" or kernels]

    def run(self, experiment: Experiment, mode: Mode, number: int) -> None:
        """One run; a failure is an error, but what is measured of others stays."""
        name = self._session.lab_name(f"{experiment.name}-{mode.name}"[:12])
        seconds = self._plan.choose(experiment.full, experiment.quick)
        lines = [f"name: {name}", f"seed: {number}", f"duration: {seconds}s", *experiment.lines]
        file = self._session.directory / f"{experiment.name}.yaml"
        file.write_text("\n".join([*lines, "flows:", *(f"  - {f}" for f in experiment.flows)]))
        results = self._session.directory / f"{experiment.name}-{mode.name}.json"
        command = [str(self._session.viaduct), "run", str(file), *mode.words, f"--json={results}"]
        run(command, timeout=seconds + _TIMEOUT)
        data = json.loads(results.read_text())
        if trouble := troubles_of(data):
            raise BenchError(f"{experiment.name}, {mode.label}: {trouble[0]}")
        self.data.setdefault((experiment.name, mode.name), []).append(data)

    def of(self, experiment: Experiment, mode: Mode) -> list[dict[str, Any]]:
        """All rounds."""
        return self.data.get((experiment.name, mode.name), [])


def _routes(runs: _Runs, experiment: Experiment, mode: Mode, result: Result) -> None:
    pairs = zip(runs.of(experiment, mode), runs.of(experiment, _REFERENCE), strict=True)
    counts = [agreement(tables_of(a), tables_of(b), experiment.cuts or ()) for a, b in pairs]
    if any(count["settled"] == 0 for count in counts):
        raise BenchError(f"{experiment.name}, {mode.label}: the results hold no routes")
    shares = [count["settled_same"] / count["settled"] for count in counts]
    result.ratios[f"routes_same_{experiment.name}_{mode.name}"] = Ratio.of(shares, 1, "exactly")
    totals = {key: sum(count[key] for count in counts) for key in counts[0]}
    result.add("routes", mode, scenario=experiment.label, **totals)


def _times(runs: _Runs, experiment: Experiment, mode: Mode, result: Result) -> None:
    ours = [_values(data) for data in runs.of(experiment, mode)]
    theirs = [_values(data) for data in runs.of(experiment, _REFERENCE)]
    if not all(ours) or not all(theirs):
        raise BenchError(f"{experiment.name}, {mode.label}: no round trip was measured")
    if mode is not _REFERENCE:
        parts = []
        for a, b in zip(ours, theirs, strict=True):
            median = statistics.median(b)
            parts.append(abs(statistics.median(a) - median) / (0.1 + 0.01 * median))
        key = f"rtt_median_{experiment.name}_{mode.name}"
        result.ratios[key] = Ratio.of(parts, 1, "at most")
    values = [value for one in ours for value in one]
    reference = [value for one in theirs for value in one]
    result.add(
        "distributions",
        mode,
        scenario=experiment.label,
        pings=len(values),
        median_ms=statistics.median(values),
        spread_ms=middle(values),
        ks=ks_distance(values, reference),
    )


def _is_time(figure: str) -> bool:
    return "_ms" in figure


def _figures(runs: _Runs, experiment: Experiment, mode: Mode, result: Result) -> None:
    def samples(which: Mode, times: bool) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for data in runs.of(experiment, which):
            for name, value in figures_of(data).items():
                if _is_time(name) == times and not name.startswith("convergence"):
                    found.setdefault(name, []).append(value)
        return found

    for times in (True, False):
        options = argparse.Namespace(
            absolute=0.1 if times else 0.0, relative=0.01 if times else 0.05, confidence=0.95
        )
        for row in compared(samples(_REFERENCE, times), samples(mode, times), options):
            shown = {"offload": row.get("a"), "here": row.get("b"), "verdict": row["verdict"]}
            result.add("figures", mode, scenario=experiment.name, figure=row["figure"], **shown)


def _goodput(runs: _Runs, experiment: Experiment, modes: Sequence[Mode], result: Result) -> None:
    def of(mode: Mode) -> list[float]:
        return [data["flows"][0]["rate_bit_per_s"] for data in runs.of(experiment, mode)]

    for mode in modes:
        share = statistics.median(of(mode)) / statistics.median(of(_REFERENCE))
        result.add("goodput", mode, mbit=statistics.median(of(mode)) / 1e6, of_offload=share)
        if mode.name == "kernels":
            rounds = ratio_of_rounds(of(mode), of(_REFERENCE), 0.95)
            result.ratios["goodput_kernels_vs_offload"] = Ratio(
                rounds.value, rounds.low, rounds.high, 0.95, "within", rounds.rounds, 1.05
            )


def _losses(runs: _Runs, experiment: Experiment, modes: Sequence[Mode], result: Result) -> None:
    for mode in modes:
        flows = [data["flows"][0] for data in runs.of(experiment, mode)]
        sent, received = (sum(flow[key] for flow in flows) for key in ("sent", "received"))
        result.add("loss", mode, sent=sent, received=received, loss=1 - received / sent)


def evaluate(runs: _Runs, modes: Sequence[Mode], result: Result) -> None:
    """Rows and ratios of all that was run in every mode."""
    for experiment in EXPERIMENTS:
        if not all(runs.of(experiment, mode) for mode in modes):
            continue
        kinds = {flow.split(",")[0].removeprefix("{type: ") for flow in experiment.flows}
        for mode in modes:
            if experiment.cuts is not None and mode is not _REFERENCE:
                _routes(runs, experiment, mode, result)
            if "ping" in kinds:
                _times(runs, experiment, mode, result)
            if mode is not _REFERENCE:
                _figures(runs, experiment, mode, result)
        if "tcp" in kinds:
            _goodput(runs, experiment, modes, result)
        if "udp" in kinds:
            _losses(runs, experiment, modes, result)


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    runs = _Runs(session, plan)
    modes = runs.modes()
    try:
        for number in plan.points("rounds", range(plan.rounds)):
            for experiment in EXPERIMENTS:
                for mode in modes:
                    runs.run(experiment, mode, number + 1)
                    plan.say(f"round {number + 1}: {experiment.label}: {mode.label}")
    finally:
        whole = min((len(runs.of(e, m)) for e in EXPERIMENTS for m in modes), default=0)
        for key, data in runs.data.items():
            runs.data[key] = data[: max(whole, 1)]
        evaluate(runs, modes, result)
