"""Measurements that several benchmarks share."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from . import traffic
from .analysis import Ratio, confirm_loss_free, find_loss_free, ratio_of_rounds
from .forwarder import Forwarder
from .plan import Plan
from .results import Result, Row, measured, trials_row
from .session import Session
from .traffic import UdpTrial

SMALL = 160  # bytes of payload, as in VoIP (thesis, 3.2)
LARGE = 1470
_SEARCH_LIMIT = 1_000_000.0  # packets a second; no generator of the benchmarks sends more
# The rates at which a search starts, packets a second: about the rate that each system has carried,
# so that the search is short.
_SEARCH_START = {"traditional": 15_000.0, "insim": 60_000.0}
_SEARCH_START_OF_OTHERS = 200_000.0


@dataclass
class InSimulation:
    """The limits of a forwarder in a process, packets per second, round by round."""

    loss_free: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)  # maximum rate received at any offered rate
    at_four_times: list[float] = field(default_factory=list)
    saturated: list[float] = field(default_factory=list)


def sweep(
    session: Session,
    plan: Plan,
    systems: Sequence[Forwarder],
    rates: Sequence[float | None],
    size: int,
    label: Callable[[Forwarder], Row],
) -> list[Row]:
    """Every system at every offered rate (Mbit/s of payload; None: saturating), interleaved."""
    trials: dict[tuple[float | None, str], list[UdpTrial]] = {}
    for number in range(plan.row_rounds):
        for rate in rates:
            for system in systems:
                pps = None if rate is None else rate * 1e6 / (8 * size)
                trial = traffic.udp(session, system, size, pps, plan.trial, ping=True)
                trials.setdefault((rate, system.name), []).append(trial)
                traffic.settle(system)
            offered = "saturating" if rate is None else f"{rate:g} Mbit/s"
            plan.say(f"round {number + 1} of {plan.row_rounds}: {size} bytes, {offered}")
    return [
        trials_row(
            trials[rate, system.name],
            target_mbit="max" if rate is None else rate,
            **label(system),
        )
        for rate in rates
        for system in systems
    ]


def _offer(session: Session, system: Forwarder, pps: float | None, duration: float) -> UdpTrial:
    """Small packets; the forwarder has rested when it returns."""
    trial = traffic.udp(session, system, SMALL, pps, duration)
    traffic.settle(system)
    return trial


def saturate(session: Session, plan: Plan, system: Forwarder) -> float:
    """Packets a second that arrive of as many as the kernel takes."""
    return _offer(session, system, None, plan.trial).received_pps


def _search(session: Session, plan: Plan, system: Forwarder) -> tuple[float, float]:
    best = 0.0

    def loss_at(pps: float, duration: float = plan.search_trial) -> float:
        nonlocal best
        trial = _offer(session, system, pps, duration)
        best = max(best, trial.received_pps)
        # If the offered rate was not reached, the trial does not show what the forwarder can carry.
        return trial.loss if trial.offered_pps > 0.9 * pps else 1.0

    found = find_loss_free(
        loss_at,
        _SEARCH_START.get(system.name, _SEARCH_START_OF_OTHERS),
        _SEARCH_LIMIT,
        precision=plan.choose(0.05, 0.1),
        max_trials=plan.choose(20, 12),
    )
    return confirm_loss_free(lambda pps: loss_at(pps, plan.confirm_trial), found.rate), best


def loss_free(session: Session, plan: Plan, system: Forwarder) -> float:
    """The highest rate at which nothing is lost, packets a second."""
    return _search(session, plan, system)[0]


def at_the_limit(session: Session, plan: Plan, system: Forwarder, seen: InSimulation) -> None:
    """One round: loss-free rate, four times that, saturation."""
    found, best = _search(session, plan, system)
    four = _offer(session, system, 4 * max(found, 1000.0), plan.trial).received_pps
    full = saturate(session, plan, system)
    seen.loss_free.append(found)
    seen.at_four_times.append(four)
    seen.saturated.append(full)
    seen.peak.append(max(best, four, full))
    plan.say(
        f"{system.label}: {found:,.0f} packet/s without loss, "
        f"{four:,.0f} offered four times that, {full:,.0f} saturated"
    )


def limits(
    session: Session, plan: Plan, result: Result, traditional: Forwarder, ours: Forwarder
) -> None:
    """The data plane in ns-3, its own and ours, at their limits; fills in the three ratios."""
    theirs, own = InSimulation(), InSimulation()
    pairs = [(traditional, theirs), (ours, own)]
    for number, order in plan.turns(pairs):
        plan.say(f"limits, round {number} of {plan.rounds}")
        for system, seen in order:
            at_the_limit(session, plan, system, seen)
    result.ratios |= {
        "insim_loss_free_vs_traditional": ratio_of_rounds(own.loss_free, theirs.loss_free, 4),
        "insim_overload_vs_peak": ratio_of_rounds(own.at_four_times, own.peak, 0.9),
        "insim_vs_traditional_overload": ratio_of_rounds(own.saturated, theirs.saturated, 8),
    }
    for system, seen in pairs:
        result.add(
            "limits",
            system,
            size=SMALL,
            rounds=plan.rounds,
            **measured("loss_free_pps", seen.loss_free),
            four_times_pps=round(statistics.median(seen.at_four_times)),
            saturated_pps=round(statistics.median(seen.saturated)),
            peak_pps=round(statistics.median(seen.peak)),
        )


def paired_saturation(
    session: Session,
    plan: Plan,
    ours: Forwarder,
    limit: Forwarder,
    bar: float,
    figure: Callable[[UdpTrial], float] = lambda trial: trial.received_pps,
) -> Ratio:
    """Two kernel data planes, saturated in turns (ours, limit, limit, ours) in each round.

    They differ by less than the machine's noise from second to second, hence the short turns.
    """
    rates: dict[str, list[float]] = {ours.name: [], limit.name: []}
    for _ in range(max(plan.rounds, 5)):
        turn: dict[str, list[float]] = {ours.name: [], limit.name: []}
        for system in (ours, limit, limit, ours):
            trial = traffic.udp(session, system, SMALL, None, plan.search_trial)
            turn[system.name].append(figure(trial))
        for name, values in turn.items():
            rates[name].append(statistics.mean(values))
    plan.say(
        f"saturated by turns: {ours.label} {statistics.median(rates[ours.name]):,.0f}, "
        f"{limit.label} {statistics.median(rates[limit.name]):,.0f} packet/s"
    )
    return ratio_of_rounds(rates[ours.name], rates[limit.name], bar)


def paired_cost(
    session: Session, plan: Plan, ours: Forwarder, limit: Forwarder, bar: float
) -> Ratio:
    """As paired_saturation(), of packets for the sender's CPU time.

    The CPU time is the same whether or not others take the processor away meanwhile.
    """
    return paired_saturation(
        session, plan, ours, limit, bar, lambda trial: trial.received_per_cpu_second
    )
