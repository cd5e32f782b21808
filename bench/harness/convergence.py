"""How long traffic is interrupted when a link of a ring is cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .plan import Plan
from .process import BenchError, run
from .product import IN_SIMULATOR, Setting, on_plane
from .results import Result, measured
from .session import Session

_SIMULATION = Setting("simulation", "simulation", "simulate")
_CUT, _INTERVAL = 2.0, 0.02  # seconds: when the link is cut, and the interval of the packets


@dataclass(frozen=True)
class Ring:
    """A scenario in which packets pass a link that is cut."""

    nodes: tuple[str, ...]  # lines of the scenario file: protocol, nodes, links
    cut: str  # the link that is cut
    ends: tuple[str, str]  # the nodes between which packets are sent
    duration: float  # seconds of the flow

    def lines(self) -> list[str]:
        """Of the scenario file, without name and mode."""
        source, sink = self.ends
        return [
            *self.nodes,
            f"duration: {self.duration + 1:g}s",
            f"events: [{{at: {_CUT:g}s, link: {self.cut}, state: down}}]",
            f"flows: [{{type: ping, from: {source}, to: {sink}, "
            f"interval: {_INTERVAL * 1000:g}ms, duration: {self.duration:g}s}}]",
        ]


# The path from n4 to n1 leads through n0 and, after the cut, through n3 and n2.
_OLSR = Ring(
    (
        "routing: {protocol: OLSR, attributes: {HelloInterval: 500ms, TcInterval: 1s}}",
        "nodes: 5",
        "links: [{ring: all}]",
    ),
    cut="n4-n0",
    ends=("n4", "n1"),
    duration=9.0,
)


def interruption(times: Sequence[float], cut: float) -> float:
    """Seconds from the cut until packets pass again; `times` of those that were answered.

    What was sent before the cut and a little after it may still be answered: the first packet after
    the longest silence counts.
    """
    after = [time for time in times if time >= cut]
    before = [time for time in times if time < cut]
    if not before or not after:
        raise BenchError("no packet passed " + ("after" if before else "before") + " the cut")
    silences = [(b - a, b) for a, b in zip([before[-1], *after], after, strict=False)]
    return max(silences)[1] - cut


def _run(session: Session, setting: Setting, ring: Ring, number: int) -> float:
    with session.scope():
        lab = session.lab_name(f"cut-{setting.name}{number}")
        file, report = (session.directory / f"{lab}.{kind}" for kind in ("yaml", "json"))
        lines = [f"name: {lab}", f"seed: {number}", *setting.lines(), *ring.lines()]
        file.write_text("\n".join(lines) + "\n")
        run([str(session.viaduct), "run", str(file), "--json", str(report)], timeout=120)
        flow = json.loads(report.read_text())["flows"][0]
        return interruption([time for time, _ in flow["samples"]], _CUT)


def measure_ring(
    session: Session, plan: Plan, result: Result, ring: Ring, settings: Sequence[Setting]
) -> None:
    """Add the rows `convergence` of a ring: of a simulation and of these settings."""
    settings = [_SIMULATION, *settings]
    seconds: dict[str, list[float]] = {setting.name: [] for setting in settings}
    for number, order in plan.turns(settings, plan.row_rounds):
        for setting in order:
            seconds[setting.name].append(_run(session, setting, ring, number))
        cut = ", ".join(f"{name} {values[-1]:.2f} s" for name, values in seconds.items())
        plan.say(f"traffic flows again after a link's cut: {cut}")
    for setting in settings:
        values = seconds[setting.name]
        result.add("convergence", setting, rounds=len(values), **measured("seconds", values, 3))


def measure(session: Session, plan: Plan, result: Result, planes: Sequence[str]) -> None:
    """Add the rows `convergence` of OLSR."""
    settings = [IN_SIMULATOR, *(on_plane(plane) for plane in planes)]
    measure_ring(session, plan, result, _OLSR, settings)
