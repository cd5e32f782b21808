"""Benchmark `path`: the emulator's speed and exactness (NetPath 2005, figures 3-9, tables 1-2)."""

from __future__ import annotations

import statistics

from . import path_memory
from .analysis import Ratio, confirm_loss_free, find_loss_free, ratio_of_rounds
from .forwarder import Middle
from .path_systems import ALL_STAGES, DELAY, Missing, bare, kernel_qdisc, ns3_link, product, taps
from .path_traffic import clock_reader, delays, trial
from .plan import Plan
from .process import BenchError
from .results import Result, measured, read_csv
from .session import Session

SMALL = 70  # bytes of the smallest frame that carries the numbers; NetPath's had 66
LARGE = 1514
_CONFIGURED_NS = 10e6
_SEARCH_LIMIT = 2_000_000.0
_P99_BAR_US = 10

NOTES = [
    "Source, emulator and sink are namespaces of one machine; the source is pinned to CPU 0, the "
    "emulator to CPU 1. Frames are sent past the queueing discipline to a MAC address nobody has; "
    "the kernel's counters say what arrived.",
    "Delays are differences of two kernel receive stamps of the same clock: where the frame "
    "entered the emulator and where it reached the sink. What the emulator's own send call takes "
    "is in them.",
    "machine_p99_us: how late a loop that only reads the clock sees an instant, on the emulator's "
    "processor, between its trials. No program on this machine can be more punctual: of a p99 of "
    "delays, what lies below it is the machine's (other programs, the hypervisor).",
    "Loss-free is the highest offered rate with less than 0.1% loss, searched in short trials and "
    "confirmed in a longer one; systems are measured by turns in each round.",
    "All stages: " + ALL_STAGES,
    "TAP devices: each is on a Linux bridge with the interface of the source or the sink, which is "
    "in its figures; their frames are read and written one by one.",
    "Links are VLANs of the same two interfaces, each with its own pipeline.",
    "NetPath's figures 3 to 9 print no values; what its text says of them stands in "
    "netpath-statements.csv.",
]

_AF_XDP = ("--port", "af_xdp")
_ONCE = ("ns3", "tap")  # measured once in a quick run, as no ratio depends on them
_FIRST_RATES = {"ns3": 100_000.0, "tap": 150_000.0}  # packets a second at which a search starts


def _loss_free(session: Session, plan: Plan, system: Middle, start: float, size: int) -> float:
    offered = 0.0

    def loss_at(pps: float, duration: float) -> float:
        nonlocal offered
        seen = trial(session, system, size, pps, duration)
        if seen.offered_pps <= 0.95 * pps:
            return 1.0
        offered = max(offered, pps)
        return seen.loss

    found = find_loss_free(
        lambda pps: loss_at(pps, plan.choose(2.0, 0.5)),
        start,
        _SEARCH_LIMIT,
        precision=plan.choose(0.02, 0.04),
        max_trials=plan.choose(20, 10),
        growth=plan.choose(2.0, 1.3),
    )
    if offered == 0:
        raise BenchError(
            f"{system.label}: the source could not offer 95% of any rate that was tried: the "
            "machine is busy; measure again when it is idle"
        )
    rate = confirm_loss_free(lambda pps: loss_at(pps, plan.choose(10.0, 2.0)), found.rate)
    plan.say(f"{system.label}: {rate:,.0f} packet/s of {size} bytes without loss")
    return rate


def _limits(session: Session, plan: Plan, result: Result) -> float:
    """Maximum loss-free rates by turns; returns ours with a delay."""
    systems = {
        "bare": bare(session),
        "delay": product(session, "delay", "viaduct path, 10 ms", DELAY),
        "xdp": product(session, "xdp", "viaduct path, 10 ms, AF_XDP", DELAY, options=_AF_XDP),
        "tap": taps(session, "tap", "viaduct path, 10 ms, TAP devices on bridges", DELAY),
        "all": product(session, "all", "viaduct path, all stages", ALL_STAGES),
        "ns3": ns3_link(session),
    }
    rates: dict[str, list[float]] = {name: [] for name in systems}
    start = 400_000.0
    for number, order in plan.turns(systems):
        plan.say(f"loss-free rates, round {number} of {plan.rounds}")
        for name in order:
            if name in _ONCE and number > 1 and plan.quick:
                rates[name].append(rates[name][0])
                continue
            first = _FIRST_RATES.get(name, start)
            rates[name].append(_loss_free(session, plan, systems[name], first, SMALL))
        start = 0.9 * max(rates["bare"][-1], 1000.0)
    for name, system in systems.items():
        result.add("limits", system, size=SMALL, **measured("loss_free_pps", rates[name]))
    result.ratios["mlffr_vs_bare"] = ratio_of_rounds(rates["delay"], rates["bare"], 0.9)
    result.ratios["mlffr_all_stages_vs_bare"] = ratio_of_rounds(rates["all"], rates["bare"], 0.7)
    systems["all"].stop()
    limit = statistics.median(rates["delay"])
    _precision(session, plan, result, systems["delay"], limit)
    slower = [(systems["delay"], limit), (systems["ns3"], statistics.median(rates["ns3"]))]
    _published_rates(session, plan, result, slower)
    for system in systems.values():
        system.stop()
    return limit


def _precision(session: Session, plan: Plan, result: Result, ours: Middle, limit: float) -> None:
    """Delay at fractions of the loss-free rate."""
    p50, p99, means, machine = [], [], [], []
    for _ in plan.points("rounds of delays", range(plan.rounds)):
        half = delays(session, ours, SMALL, 0.5 * limit, plan.trial)
        p50.append(abs(half.p50_ns - _CONFIGURED_NS) / 1e3)
        p99.append((half.p99_ns - _CONFIGURED_NS) / 1e3)
        worst = 0.0
        for fraction in plan.choose([0.1, 0.3, 0.5, 0.7, 0.9], [0.1, 0.5, 0.9]):
            seen = delays(session, ours, SMALL, fraction * limit, plan.trial)
            worst = max(worst, 100 * abs(seen.mean_ns / _CONFIGURED_NS - 1))
        means.append(worst)
        machine.append(clock_reader(session, plan.trial))
        plan.say(
            f"delay at half of the loss-free rate: p50 {p50[-1]:.2f} us, p99 {p99[-1]:.2f} us "
            f"late; mean within {worst:.3f}% up to 90%; "
            f"machine_p99_us {machine[-1]['machine_p99_us']:.2f}"
        )
    for row in machine:
        result.add("machine", ours, system="clock", label="a loop that reads the clock", **row)
    allowed = statistics.median(row["machine_p99_us"] for row in machine)
    if allowed > _P99_BAR_US:
        result.notes.append(
            f"machine_p99_us is {allowed:.1f} here: no program can keep p99 of the delay error "
            f"below that, so its bar of {_P99_BAR_US} us says nothing about the emulator."
        )
    result.ratios["delay_error_p50_us"] = Ratio.of(p50, 1, "at most")
    result.ratios["delay_error_p99_us"] = Ratio.of(p99, _P99_BAR_US, "at most")
    result.ratios["mean_delay_error_percent"] = Ratio.of(means, 0.3, "at most")


def _published_rates(
    session: Session, plan: Plan, result: Result, systems: list[tuple[Middle, float]]
) -> None:
    """Delay and loss at NetPath's rates (tables 1-2, figures 8-9), of systems with their limits."""
    rates = plan.choose([40, 50, 80, 100, 120, 150, 160, 200, 250, 300], [40, 80, 160, 300])
    for kpps in plan.points("rates of NetPath's", rates):
        for system, most in systems:
            lost = trial(session, system, SMALL, 1e3 * kpps, plan.trial).loss
            row = {"offered_kpps": kpps, "loss_percent": round(100 * lost, 4)}
            if 1e3 * kpps <= most:
                seen = delays(session, system, SMALL, 1e3 * kpps, plan.trial)
                row |= {
                    "mean_ms": round(seen.mean_ns / 1e6, 5),
                    "stddev_ms": round(seen.stddev_ns / 1e6, 5),
                    "p50_us_late": round((seen.p50_ns - _CONFIGURED_NS) / 1e3, 2),
                    "p99_us_late": round((seen.p99_ns - _CONFIGURED_NS) / 1e3, 2),
                }
            result.add("precision", system, **row)
    plan.say("delays at NetPath's rates are measured")


def _sizes(session: Session, plan: Plan, result: Result, limit: float) -> None:
    """Figure 3: loss-free rate against frame size."""
    systems = [bare(session), product(session, "delay", "viaduct path, 10 ms", DELAY)]
    sizes = plan.choose([SMALL, 128, 256, 512, 1024, LARGE], [512, LARGE])
    for size in plan.points("frame sizes", sizes):
        for system in systems:
            rate = _loss_free(session, plan, system, 0.8 * limit, size)
            mbit = round(rate * size * 8 / 1e6)
            result.add("sizes", system, size=size, loss_free_pps=round(rate), loss_free_mbit=mbit)
    for system in systems:
        system.stop()


def _links(session: Session, plan: Plan, result: Result, limit: float) -> None:
    """Figure 7: one engine, many links."""
    counts = plan.choose([1, 2, 5, 10, 50, 250], [1, 10, 250])
    systems = {
        count: product(
            session, f"links{count}-", f"viaduct path, {count} links of 10 ms", DELAY, links=count
        )
        for count in counts
    }
    rates: dict[int, list[float]] = {count: [] for count in counts}
    start = 0.8 * limit
    for _, order in plan.turns(counts):
        for count in order:
            rates[count].append(_loss_free(session, plan, systems[count], start, SMALL))
        start = 0.9 * max(rates[1][-1], 1000.0)
    for count, system in systems.items():
        rows = measured("loss_free_pps", rates[count])
        result.add("links", system, system="delay", links=count, **rows)
        system.stop()
    result.ratios["links10_vs_1"] = ratio_of_rounds(rates[10], rates[1], 0.97)
    result.ratios["links250_vs_1"] = ratio_of_rounds(rates[250], rates[1], 0.9)


def _distributions(session: Session, plan: Plan, result: Result) -> None:
    """Figure 6: delays drawn from a normal distribution."""
    for deviation in plan.points("distributions", ("3ms", "30us")):
        spec = f"delay=30ms jitter={deviation} dist=normal order=free"
        system = product(session, "normal", f"viaduct path, N(30 ms; {deviation})", spec)
        for kpps in (1, 10):
            csv = session.directory / f"normal-{deviation}-{kpps}.csv"
            seconds = plan.choose(20.0, 3.0)
            seen = delays(session, system, SMALL, 1e3 * kpps, seconds, hold=0.06, csv=csv, sample=1)
            values = sorted(int(line) for line in csv.read_text().split())
            points = (values[round(i * (len(values) - 1) / 100)] for i in range(101))
            result.add(
                "distribution",
                system,
                system="delay",
                deviation=deviation,
                offered_kpps=kpps,
                packets=seen.count,
                mean_ms=round(seen.mean_ns / 1e6, 5),
                stddev_ms=round(seen.stddev_ns / 1e6, 5),
                quantiles_ms=" ".join(f"{point / 1e6:.4f}" for point in points),  # for a plot
            )
        system.stop()
    plan.say("delay distributions are measured")


def _rates(session: Session, plan: Plan, result: Result) -> None:
    """The long-run rate of our rate limit and the kernel's."""
    worst = []
    rates = {"1Mbit": 1e6, "10Mbit": 1e7, "100Mbit": 1e8, "1Gbit": 1e9}
    for text, rate in plan.points("rates", list(rates.items())):
        seconds = 6.0 if rate < 5e6 else plan.trial * 2
        tbf = ["rate", text, "burst", "3000" if rate < 5e8 else "125000", "limit"]
        tbf.append("150000" if rate < 5e7 else "3000000")
        # The queue is so long that a pause of the source does not empty it.
        queue = "100p" if rate < 5e7 else "2000p"
        system = product(session, "rate", "viaduct path", f"rate={text} queue={queue}")
        for emulator in (system, kernel_qdisc(session, "tbf", tbf)):
            if isinstance(emulator, Missing):
                result.notes.append(f"{emulator.label}: cannot run, {emulator.why}.")
                continue
            pps = 1.3 * rate / (8 * LARGE)
            seen = delays(session, emulator, LARGE, pps, seconds, hold=1.4, sample=1)
            error = 100 * abs(8 * seen.bytes / seen.span_s / rate - 1)
            achieved = round(8 * seen.bytes / seen.span_s / 1e6, 6)
            result.add(
                "rate", emulator, rate=text, achieved_mbit=achieved, error_percent=round(error, 5)
            )
            if emulator is system:
                worst.append(error)
        system.stop()
    result.ratios["rate_error_percent"] = Ratio.of([max(worst)], 0.1, "at most")
    plan.say(f"rate limits: within {max(worst):.4f}%")


def _absent_peers(session: Session, result: Result) -> None:
    netem = kernel_qdisc(session, "netem", ["delay", "10ms", "limit", "100000"])
    if isinstance(netem, Missing):
        result.notes.append(f"{netem.label}: cannot run, {netem.why}.")
        return
    seen = trial(session, netem, SMALL, 100_000, 1)
    result.notes.append(f"{netem.label} is here: {100 * seen.loss:.3f}% lost at 100 kpps.")


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    result.published = [
        *read_csv("netpath-table1.csv", table="1"),
        *read_csv("netpath-table2.csv", table="2"),
        *read_csv("netpath-statements.csv", table="figures"),
    ]
    _absent_peers(session, result)
    with plan.part("loss-free rates and delays", 0.4):
        limit = _limits(session, plan, result)
    with plan.part("links", 0.4):
        _links(session, plan, result, limit)
    with plan.part("rate limits", 0.4):
        _rates(session, plan, result)
    with plan.part("frames that wait", 0.6):
        path_memory.measure(session, plan, result)
    with plan.part("distributions", 0.5):
        _distributions(session, plan, result)
    with plan.part("frame sizes", 1.0):
        _sizes(session, plan, result, limit)
