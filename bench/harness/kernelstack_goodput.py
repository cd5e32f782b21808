"""Goodput of real kernels in virtual and real time; other transports; shared queues."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from .analysis import mean_of_runs, ratio_of_means
from .kernelstack_runs import (
    CRADLE_SPEC,
    NS3,
    NS3_DEFAULT,
    System,
    dumbbells,
    host_dumbbells,
    kernel_systems,
)
from .plan import Plan
from .process import BenchError
from .results import Result, Row
from .session import Session

HOST = "host"
_SECONDS = 60  # seconds of traffic (DCE Cradle, section 4)
_QUICK_SECONDS = 20
_FEWEST_RUNS = 4  # minimum number of runs for a mean


def _goodput(values: Sequence[float], host: float | None = None) -> Row:
    mean = mean_of_runs(values)
    row: Row = {
        "runs": mean.count,
        "goodput_kbit": round(mean.value / 1e3, 2),
        "goodput_kbit_low": round(mean.low / 1e3, 2),
        "goodput_kbit_high": round(mean.high / 1e3, 2),
        "stddev_kbit": round(mean.stddev / 1e3, 2),
    }
    if host is not None:
        row["times_host"] = round(mean.value / host, 3)
    return row


def _mean_goodputs(
    session: Session, plan: Plan, system: System, seeds: Sequence[int], *words: str
) -> list[float]:
    """Of as many runs as there is time for."""
    seconds = plan.choose(_SECONDS, _QUICK_SECONDS)
    runs = [(system, [*words, f"--run={seed}", f"--duration={seconds}s"]) for seed in seeds]
    goodputs: list[float] = []
    with contextlib.closing(dumbbells(session, runs)) as rows:
        for row in rows:
            goodputs.append(row["mean_goodput_bit_per_s"])
            if len(goodputs) >= _FEWEST_RUNS and not plan.fits():
                break
    if len(goodputs) < len(runs):
        plan.shortened.append(f"{system.label}: {len(goodputs)} of {len(runs)} runs")
    return goodputs


def _tcp(session: Session, plan: Plan, result: Result, systems: Sequence[System]) -> None:
    """Section 4: the same dumbbell in real and in virtual time, round by round."""
    dumbbells_at_once = plan.choose(100, 75)
    count = plan.choose(100, 20)
    seconds = plan.choose(_SECONDS, _QUICK_SECONDS)
    if plan.quick:
        plan.shortened.append(f"goodput: {seconds} s of traffic a run, not {_SECONDS}")
    host: list[list[float]] = []
    virtual: dict[str, list[list[float]]] = {system.name: [] for system in systems}
    for number, order in plan.turns(systems):
        first = 1 + (number - 1) * count
        seen = host_dumbbells(session, dumbbells_at_once, seconds, CRADLE_SPEC, seed=number)
        host.append(seen.goodputs)
        plan.say(
            f"round {number} of {plan.rounds}, real time: {dumbbells_at_once} dumbbells, "
            f"seed {number}, {100 * seen.loss:.2f}% lost, path p99 "
            f"{seen.path_p99_us:.0f} us late, writes at most {seen.worst_lateness_ms:.1f} ms late"
        )
        for system in order:
            seeds = range(first, first + count)
            virtual[system.name].append(_mean_goodputs(session, plan, system, seeds))
            plan.say(f"{system.label}: runs {first} to {first + count - 1}")
    of_host = mean_of_runs(sum(host, [])).value
    result.add("tcp", System(HOST, _host_label(result), ()), **_goodput(sum(host, []), of_host))
    for system in systems:
        result.add("tcp", system, **_goodput(sum(virtual[system.name], []), of_host))
    newest = next(system for system in systems if system.name.startswith("kernel"))
    result.ratios["goodput_virtual_vs_real"] = ratio_of_means(
        virtual[newest.name], host, 0.95, 1.05
    )


def _host_label(result: Result) -> str:
    release = str(result.environment["kernel"])
    return f"Linux {'.'.join(release.split('.')[:2])} of this machine, real time"


def _transports(session: Session, plan: Plan, result: Result, kernels: Sequence[System]) -> None:
    """Section 6 and beyond it: transports ns-3 does not have."""
    count = plan.choose(50, 6)
    newest = kernels[0]
    cases = [
        ("DCCP (CCID 2)", ["--transport=dccp"]),
        ("SCTP", ["--transport=sctp"]),
        ("TCP, all it can, one path", ["--rate-app=0"]),
        ("MPTCP, all it can, one path", ["--rate-app=0", "--transport=mptcp"]),
        ("MPTCP, all it can, two paths", ["--rate-app=0", "--transport=mptcp", "--paths=2"]),
    ]
    for label, words in plan.points("transports", cases):
        try:
            values = _mean_goodputs(session, plan, newest, range(1, count + 1), *words)
        except BenchError as error:
            result.notes.append(f"{label} is not measured: {error}")
            continue
        row = _goodput(values)
        result.add("transports", newest, label=f"{label}: {newest.label}", **row, transport=label)
        plan.say(f"{label}: {row['goodput_kbit']} kbit/s")


def _sharing(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """BBR and CUBIC through one bottleneck of 10 Mbit/s, 40 ms there and back."""
    base = ["--rate-app=0", "--congestion=bbr,cubic", "--bottleneck=10Mbps", "--delay=20ms"]
    base += ["--loss=0", "--interval=1s", f"--duration={plan.choose(60, 30)}s"]
    kernel_queue = "the kernel's "
    cases = [
        (newest, "kernel_fifo", kernel_queue + "pfifo, 100 packets", ["--queue=pfifo limit 100"]),
        (newest, "kernel_codel", kernel_queue + "CoDel", ["--queue=codel"]),
        (newest, "kernel_fq_codel", kernel_queue + "FQ-CoDel", ["--queue=fq_codel"]),
        (NS3, "ns3_codel", "ns-3's CoDel", ["--queue=codel"]),
    ]
    runs = [(system, [*base, "--link=p2p", *words]) for system, _, _, words in cases]
    done = dumbbells(session, runs)
    for (system, name, queue, _), seen in zip(cases, done, strict=True):
        bbr, cubic = seen["goodput_bit_per_s"]
        bbr_series, cubic_series = (
            " ".join(f"{value / 1e6:.2f}" for value in series)
            for series in seen["series_bit_per_s"]
        )
        result.add(
            "sharing",
            System(name, f"{system.label}; {queue}", ()),
            bbr_mbit=round(bbr / 1e6, 3),
            cubic_mbit=round(cubic / 1e6, 3),
            queue_dropped=_dropped(seen),
            bbr_series_mbit=bbr_series,
            cubic_series_mbit=cubic_series,
        )
    plan.say("BBR beside CUBIC is measured")


def _dropped(seen: Row) -> int | None:
    qdisc = seen.get("kernel", {}).get("qdisc")
    return qdisc[0]["drops"] if qdisc else None


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in `goodput_virtual_vs_real` and the rows of tcp, transports and sharing."""
    kernels = kernel_systems(session)
    with plan.part("TCP", 0.6):
        _tcp(session, plan, result, [*kernels, NS3, NS3_DEFAULT])
    with plan.part("transports", 0.6):
        _transports(session, plan, result, kernels)
    with plan.part("shared queues", 1.0):
        if plan.fits(10):
            _sharing(session, plan, result, kernels[0])
        else:
            plan.shortened.append("shared queues are missing")
