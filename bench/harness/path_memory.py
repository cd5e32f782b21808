"""Frames that wait: the longest delay that memory holds, and NetPath's burst into a slow link."""

from __future__ import annotations

from collections.abc import Sequence

from .analysis import Ratio
from .path_systems import product
from .path_traffic import await_quiet, received_frames, send, trial
from .plan import Plan
from .results import Result, Row
from .session import Session

_SMALL = 70
_IN, _OUT = 100e6, 10e6  # input and output rate, bit/s (NetPath 3.2, figure 5)


def _spill(session: Session, disks: int) -> list[str]:
    words = []
    for number in range(disks):
        folder = session.directory / f"disk{number}"
        folder.mkdir(exist_ok=True)
        words += ["--spill", str(folder)]
    return words


def _holds(session: Session, pps: float, milliseconds: float, options: Sequence[str]) -> bool:
    system = product(
        session, "hold", "viaduct path", f"delay={milliseconds:.3f}ms", options=options
    )
    seconds = milliseconds / 1e3
    seen = trial(session, system, _SMALL, pps, seconds + 0.5, hold=seconds + 0.2)
    system.stop()
    return seen.received >= seen.sent


def _longest_delays(session: Session, plan: Plan, result: Result) -> None:
    """Figure 4: the longest delay without loss at an input rate, 64 MiB of memory."""
    memory = ["--memory", "64M"]
    for kpps in plan.points("rates", plan.choose([10, 25, 50, 100, 200], [50, 200])):
        good, delay = 0.0, 40.0
        while delay < 20_000 and _holds(session, 1e3 * kpps, delay, memory):
            good, delay = delay, delay * plan.choose(1.2, 1.5)
        spilled = _holds(session, 1e3 * kpps, 3 * max(good, 40.0), memory + _spill(session, 2))
        result.rows.append(
            {
                "experiment": "longest",
                "system": "delay",
                "label": "BigQueue: memory only, 64 MiB",
                "offered_kpps": kpps,
                "longest_ms": round(good, 1),
                "three_times_that_with_disks": "no loss" if spilled else "loss",
            }
        )
    plan.say("longest delays are measured")


def _burst(
    session: Session, plan: Plan, name: str, label: str, size: int, options: Sequence[str]
) -> Row:
    """100 Mbit/s into 10 Mbit/s; then the link is made fast so that what waited can be counted."""
    seconds = plan.choose(180.0, 6.0)
    system = product(
        session, name, label, "rate=10Mbit queue=8GB", options=[*options, "--name", name]
    )
    before = received_frames(system)
    sent = send(session, system, size, _IN / (8 * size), seconds)
    system.middle.run([str(session.viaduct), "path", "set", name, "--up", "rate=1Gbit queue=8GB"])
    received = await_quiet(system, 60) - before
    system.stop()
    lost = int(sent["sent"]) - received
    waited = (1 - _OUT / _IN) * sent["sent"] * size
    return {
        "experiment": "burst",
        "system": name,
        "label": label,
        "size": size,
        "seconds": seconds,
        "sent": int(sent["sent"]),
        "lost": lost,
        "loss_percent": round(100 * lost / sent["sent"], 4),
        "waiting_mib": round(waited / 2**20),
    }


def _bursts(session: Session, plan: Plan, result: Result) -> None:
    """Figure 5. The quick variant is shorter, with as much less memory."""
    memory = ["--memory", plan.choose("64M", "4M")]
    said = f"{memory[1]}iB"
    systems = {
        "bigqueue": (f"BigQueue: {said} of memory only", memory),
        "diskqueue": (f"DiskQueue: {said}, one directory", memory + _spill(session, 1)),
        "odqm": (f"ODQM: {said}, two directories", memory + _spill(session, 2)),
    }
    sizes = plan.choose([70, 128, 256, 512, 1024, 1514], [256, 1514])
    lost = 0
    for size in plan.points("frame sizes", sizes):
        for name, (label, options) in systems.items():
            if plan.quick and name == "bigqueue" and size != sizes[-1]:
                continue
            row = _burst(session, plan, name, label, size, options)
            result.rows.append(row)
            if name == "odqm":
                lost += row["lost"]
            plan.say(f"{label}, {size} bytes: {row['lost']} of {row['sent']} lost")
    result.ratios["spill_loss"] = Ratio.of([lost], 0, "exactly")


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the rows of figures 4 and 5 and `spill_loss`."""
    _bursts(session, plan, result)
    _longest_delays(session, plan, result)
