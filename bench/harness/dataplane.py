"""Benchmark `dataplane`: the product's data planes beside plain kernel forwarding."""

from __future__ import annotations

import json
from collections.abc import Sequence

from . import convergence, product, systems, traffic
from .analysis import Ratio, ratio_of_rounds
from .forwarder import Forwarder, Line
from .measure import SMALL, loss_free
from .plan import Plan
from .process import run
from .product import on_plane
from .results import Result, Row, measured, trials_row
from .session import Session
from .traffic import UdpTrial

NOTES = [
    "Source, routers and sink are namespaces of one machine. A kernel data plane, eBPF included, "
    "runs inside the sender's system calls: the sender is braked instead of losing packets.",
    "Lines are compared by packets a second of the sender's CPU time, ksoftirqd's included, which "
    "does not depend on what else the machine does; a ratio is formed in each round.",
    "kernel: plain namespaces with static routes, the limit. The other systems are labs as "
    "`viaduct up` builds them, with `routing: {protocol: static}`; offload is data_plane: kernel.",
    "routes_per_second: 100,000 routes added by the product's sink, for the CPU time that takes.",
    "Routes: additional ones in the router's table, to single addresses; one flow.",
    "planes_disagree: random packets over random networks, both families, broken ones too; each "
    "packet that arrives elsewhere, or otherwise, than with the kernel's forwarding counts.",
]
_LAST = 32  # number of routers of the longest line
_ROUTES = 100_000
_PACKETS, _NETWORKS = 100_000, 20  # numbers of the differential test
_BARE = ("userspace-bridge", "ring", "b0", "b1")

# For each ratio: its key, (plane, routers) of the measured system and of the system that it is
# compared with, and the bar.
_KERNEL = "kernel"
_RATIOS = {
    "ebpf_vs_kernel": (("ebpf", 1), (_KERNEL, 1), 1.3),
    "redirect_line32_vs_kernel_line32": (("ebpf", _LAST), (_KERNEL, _LAST), 1.5),
    "joined_line32_vs_kernel_line32": (("joined", _LAST), (_KERNEL, _LAST), 4.5),
    "joined_line32_vs_line1": (("joined", _LAST), ("joined", 1), 0.9),
}
_OF_USERSPACE = "userspace_vs_bare_forwarder"

Trials = dict[tuple[str, int], list[UdpTrial]]


def _planes(session: Session, plan: Plan) -> list[str]:
    """Those that forward outside the simulator; says which figures are missing for want of one."""
    names = [name for name in product.plane_names(session) if name != "simulator"]
    wanted = {key: ours[0] for key, (ours, _, _) in _RATIOS.items()} | {_OF_USERSPACE: "userspace"}
    for key, plane in wanted.items():
        if plane not in names:
            plan.shortened.append(f"no {key}: there is no data plane {plane}")
    return names


def _lines(session: Session, planes: Sequence[str], nodes: int) -> list[Forwarder]:
    """The plain kernel's line, and one of each plane."""
    made = [systems.kernel_line(session, nodes)]
    made += [product.line(session, on_plane(plane), nodes, "static") for plane in planes]
    for system in made:
        systems.await_path(system)
    return made


def _labels(system: Forwarder, **point: object) -> Row:
    return {"system": system.name, "label": system.label, **point}


def _saturated_rounds(session: Session, plan: Plan, lines: dict[int, list[Forwarder]]) -> Trials:
    """Every line in turn, in rounds."""
    every = [(nodes, system) for nodes, some in lines.items() for system in some]
    trials: Trials = {(system.name, nodes): [] for nodes, system in every}
    for number, order in plan.turns(every, max(plan.rounds, 5)):
        for nodes, system in order:
            trial = traffic.udp(session, system, SMALL, None, plan.search_trial, ping=True)
            trials[system.name, nodes].append(trial)
            traffic.settle(system)
        plan.say(f"saturated lines: round {number}")
    return trials


def _lines_rows(result: Result, lines: dict[int, list[Forwarder]], trials: Trials) -> None:
    for nodes, some in lines.items():
        for system in some:
            seen = trials[system.name, nodes]
            result.rows.append(
                trials_row(seen, experiment="lines", **_labels(system, nodes=nodes, routes=1))
            )


def _ratios(result: Result, planes: Sequence[str], trials: Trials) -> None:
    for key, (ours, theirs, bar) in _RATIOS.items():
        if ours[0] in planes:
            figures = [[t.received_per_cpu_second for t in trials[one]] for one in (ours, theirs)]
            result.ratios[key] = ratio_of_rounds(figures[0], figures[1], bar)


def _line_lengths(session: Session, plan: Plan, result: Result, planes: Sequence[str]) -> None:
    with session.scope(), plan.part("lines", 0.45):
        ends = {nodes: _lines(session, planes, nodes) for nodes in (1, _LAST)}
        plan.say(f"lines of 1 and {_LAST} routers are up")
        trials = _saturated_rounds(session, plan, ends)
        _ratios(result, planes, trials)
        _lines_rows(result, ends, trials)
    for nodes in plan.choose([2, 8], []):
        with session.scope():
            between = {nodes: _lines(session, planes, nodes)}
            _lines_rows(result, between, _saturated_rounds(session, plan, between))


def _fill(session: Session, system: Forwarder, first: int, count: int) -> None:
    """Routes to `count` further addresses by way of the sink, in the line's one router."""
    if isinstance(system, Line):
        lines = [
            f"route add 172.{16 + i // 65536}.{i // 256 % 256}.{i % 256} via {system.sink_address}"
            for i in range(first, first + count)
        ]
        system.routers[0].ip(lines)
        return
    words = [f"--lab={system.lab}", "--node=r1", "--interface=eth1"]
    words += [f"--gateway={system.sink_address}", f"--first={first}", f"--routes={count}"]
    run([session.program("plane-routes"), *words], timeout=120)


def _numbers_of_routes(session: Session, plan: Plan, result: Result, planes: Sequence[str]) -> None:
    with session.scope(), plan.part("routes", 0.9):
        lines = _lines(session, planes, 1)
        have = 1
        for count in plan.points(
            "numbers of routes",
            plan.choose([1, 10, 100, 1000, 10_000, _ROUTES], [1, 1000, _ROUTES]),
        ):
            for system in lines:
                if count > have:
                    _fill(session, system, have, count - have)
                trials = [
                    traffic.udp(session, system, SMALL, None, plan.search_trial, ping=True)
                    for _ in range(plan.row_rounds)
                ]
                traffic.settle(system)
                row = _labels(system, nodes=1, routes=count)
                result.rows.append(trials_row(trials, experiment="routes", **row))
            have = count
            plan.say(f"a router with {count:,} routes")


def _routes_per_second(session: Session, plan: Plan, result: Result) -> None:
    """Into the kernel's table, through the product's own sink."""
    changes: dict[str, list[Row]] = {"add": [], "replace": [], "remove": []}
    for _ in range(max(plan.rounds, 5)):
        report = json.loads(run([session.program("plane-routes"), f"--routes={_ROUTES}"]))
        for what, costs in changes.items():
            costs.append(report[what])
    for what, costs in changes.items():
        rates = [_ROUTES / cost["cpu_seconds"] for cost in costs]
        elapsed = measured("seconds", [cost["seconds"] for cost in costs], 3)
        row = measured("routes_per_second", rates) | elapsed
        result.add("changes of routes", product.KERNEL_ROUTES, what=what, routes=_ROUTES, **row)
        if what == "add":
            result.ratios["routes_per_second"] = Ratio.of(rates, 400_000)
    plan.say(f"{result.ratios['routes_per_second'].value:,.0f} routes/s into the kernel's table")


def _userspace(session: Session, plan: Plan, result: Result) -> None:
    """A router with a thousand routes beside a loop that only copies frames, both loss-free."""
    bare = systems.userspace_bridge(session, "bare", "a loop without a table", *_BARE)
    with_table = product.line(session, on_plane("userspace"), 1, "static")
    rates: dict[str, list[float]] = {bare.name: [], with_table.name: []}
    for system in (bare, with_table):
        systems.await_path(system)
    _fill(session, with_table, 1, 999)
    for _, order in plan.turns((bare, with_table)):
        for system in order:
            rates[system.name].append(loss_free(session, plan, system))
    result.ratios[_OF_USERSPACE] = ratio_of_rounds(rates[with_table.name], rates[bare.name], 0.9)
    for system in (bare, with_table):
        result.add("loss-free", system, size=SMALL, **measured("pps", rates[system.name]))


def _differences(session: Session, plan: Plan, result: Result, planes: Sequence[str]) -> None:
    """Every plane against the kernel's own forwarding, network by network."""
    compared = [plane for plane in planes if plane != _KERNEL]
    totals = {plane: dict.fromkeys(("sent", "forwarded", "disagree"), 0) for plane in compared}
    words = [f"--packets={_PACKETS // _NETWORKS}", "--networks=1"]
    words += [f"--plane={plane}" for plane in compared]
    with plan.part("differences", 0.75):
        for seed in plan.points("networks", range(1, _NETWORKS + 1)):
            report = json.loads(
                run([session.program("plane-packets"), *words, f"--seed={seed}"], timeout=300)
            )
            for one in report["planes"]:
                for key in totals[one["plane"]]:
                    totals[one["plane"]][key] += one[key]
                result.notes += [f"{one['plane']}, {text}" for text in one["first"]]
    disagreeing = [float(total["disagree"]) for total in totals.values()]
    result.ratios["planes_disagree"] = Ratio(
        sum(disagreeing), min(disagreeing), max(disagreeing), 0, "exactly", tuple(disagreeing)
    )
    for plane, total in totals.items():
        result.add("differences", on_plane(plane), seed=1, networks=seed, **total)
        plan.say(f"{plane}: {total['disagree']} of {total['sent']} packets differ")


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    planes = _planes(session, plan)
    _routes_per_second(session, plan, result)
    _line_lengths(session, plan, result, planes)
    if "userspace" in planes:
        with session.scope(), plan.part("userspace", 0.45):
            _userspace(session, plan, result)
    _differences(session, plan, result, planes)
    _numbers_of_routes(session, plan, result, planes)
    convergence.measure(session, plan, result, planes)
