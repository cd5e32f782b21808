"""What real kernels in virtual time cost: wall time, memory, boot; and that runs repeat exactly."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from .analysis import Ratio, at_most, ratio_of_rounds
from .kernelstack_runs import NS3, System, dumbbell, dumbbells, kernel_systems
from .plan import Plan
from .results import Result, Row
from .session import FORWARDER_CPU, Session

_WALL_BAR, _FRAMES_BAR, _MEMORY_BAR, _BOOT_BAR = 2.2, 15_000.0, 2.0, 2.0
_IDENTICAL = 20


def _number(row: Row, key: str) -> float:
    value = row[key]
    assert isinstance(value, int | float)
    return float(value)


def _wall(row: Row) -> float:
    return _number(row, "boot_seconds") + _number(row, "run_seconds")


def _wall_row(experiment: str, system: System, trials: Sequence[Row], **labels: object) -> Row:
    walls = [_wall(trial) for trial in trials]
    cpu = [_number(t, "run_user_seconds") + _number(t, "run_system_seconds") for t in trials]
    last = trials[-1]
    return {
        "experiment": experiment,
        "system": system.name,
        "label": system.label,
        **labels,
        "rounds": len(trials),
        "wall_seconds": round(statistics.median(walls), 4),
        "wall_seconds_low": round(min(walls), 4),
        "wall_seconds_high": round(max(walls), 4),
        "cpu_seconds": round(statistics.median(cpu), 3),
        "segments": last["segments"],
        "frames": last["frames"],
        "us_per_frame": round(1e6 * statistics.median(walls) / _number(last, "frames"), 2),
    }


def _by_turns(
    session: Session, rounds: int, systems: Sequence[System], words: Callable[[int], list[str]]
) -> dict[str, list[Row]]:
    """The same run of each system, in rounds; the pinned processor is left to it."""
    seen: dict[str, list[Row]] = {system.name: [] for system in systems}
    for number in range(rounds):
        for system in systems if number % 2 == 0 else reversed(systems):
            asked = words(number + 1)
            seen[system.name].append(dumbbell(session, system, *asked, cpu=FORWARDER_CPU))
    return seen


def _against_clients(
    session: Session, plan: Plan, result: Result, systems: Sequence[System]
) -> None:
    """Figure 6: 60 s of traffic, 1 to 100 clients."""
    for clients in plan.choose([1, 2, 5, 10, 20, 50, 75, 100], [1, 10, 100]):
        seen = _by_turns(
            session,
            plan.row_rounds,
            systems,
            lambda run, clients=clients: [f"--clients={clients}", f"--run={run}"],
        )
        for system in systems:
            result.rows.append(_wall_row("clients", system, seen[system.name], clients=clients))
        plan.say(f"{clients} clients")


def _against_duration(
    session: Session, plan: Plan, result: Result, systems: Sequence[System]
) -> None:
    """Figure 7: two clients, 1 to 400 s."""
    for seconds in plan.choose([1, 10, 50, 100, 200, 300, 400], [1, 100, 400]):
        seen = _by_turns(
            session,
            plan.row_rounds,
            systems,
            lambda run, seconds=seconds: [f"--duration={seconds}s", f"--run={run}"],
        )
        for system in systems:
            result.rows.append(
                _wall_row("duration", system, seen[system.name], simulated_seconds=seconds)
            )
        plan.say(f"{seconds} simulated seconds")


def _same_work(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """Without loss both stacks carry all that is sent, in the same segments."""
    hosts_only = System(
        f"{newest.name}_hosts", f"{newest.label}, ns-3 routers", (*newest.words, "--routers=ns3")
    )
    systems = [NS3, newest, hosts_only]
    words = ["--loss=0", "--bottleneck=4Mbps", f"--duration={plan.choose([100], [20])[0]}s"]
    seen = _by_turns(
        session,
        max(plan.rounds, 3),
        systems,
        lambda run: [*words, f"--run={run}"],
    )
    for system in systems:
        result.rows.append(_wall_row("same_work", system, seen[system.name]))
    # A few segments more or less remain (delayed acknowledgements, ARP).
    cost = {
        name: [_wall(trial) / _number(trial, "segments") for trial in trials]
        for name, trials in seen.items()
    }
    for key, system in (("wall_vs_ns3_native", newest), ("wall_vs_ns3_native_hosts", hosts_only)):
        ratio = ratio_of_rounds(cost[system.name], cost[NS3.name], _WALL_BAR)
        result.ratios[key] = Ratio(
            ratio.value, ratio.low, ratio.high, _WALL_BAR, "at most", ratio.rounds
        )
        plan.say(f"{system.label}: wall time {ratio.value:.2f} times ns-3's for the same segments")


def _throughput(session: Session, plan: Plan, result: Result, newest: System) -> None:
    words = ["--rate-app=0", "--loss=0", "--bottleneck=100Mbps", "--delay=10ms", "--queue=1000p"]
    words += [f"--duration={plan.choose([20], [3])[0]}s"]
    seen = _by_turns(
        session, max(plan.rounds, 3), [NS3, newest], lambda run: [*words, f"--run={run}"]
    )
    for system in (NS3, newest):
        trials = seen[system.name]
        row = _wall_row("bulk", system, trials)
        row["frames_per_second"] = round(
            statistics.median(_number(trial, "frames_per_second") for trial in trials)
        )
        result.rows.append(row)
    rates = tuple(_number(trial, "frames_per_second") for trial in seen[newest.name])
    result.ratios["frames_per_second"] = Ratio(
        statistics.median(rates), min(rates), max(rates), _FRAMES_BAR, rounds=rates
    )
    plan.say(f"bulk: {statistics.median(rates):,.0f} frames/s")


def _scale(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """Memory of 500 nodes, boot of 100."""
    rounds = max(plan.row_rounds, 3)
    boots = []
    for run in range(1, rounds + 1):
        words = ["--flows=49", "--duration=1s", f"--run={run}"]
        boots.append(dumbbell(session, newest, *words))
    large = []
    for run in range(1, plan.row_rounds + 1):
        words = ["--flows=249", "--duration=5s", "--rate-app=100kbps", "--bottleneck=100Mbps"]
        large.append(dumbbell(session, newest, *words, f"--run={run}"))
    for nodes, trials in ((100, boots), (500, large)):
        first = trials[-1]
        result.rows.append(
            {"experiment": "scale", "system": newest.name, "label": newest.label, "nodes": nodes}
            | {key: round(_number(first, key), 3) for key in ("setup_seconds", "boot_seconds")}
            | {
                "first_frame_seconds": round(_number(first, "first_frame_seconds"), 3),
                "pss_mib": round(_number(first, "pss_mib"), 1),
                "pss_mib_per_node": round(_number(first, "pss_mib_per_node"), 3),
                "processes": first["processes"],
            }
        )
    result.ratios["memory_per_node_MiB"] = at_most(
        [_number(row, "pss_mib_per_node") for row in large], _MEMORY_BAR
    )
    result.ratios["boot_seconds"] = at_most(
        [_number(row, "first_frame_seconds") for row in boots], _BOOT_BAR
    )
    plan.say("memory and boot are measured")


def _repeats(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """Runs of one seed leave the same trace; of another seed another one."""
    words = ["--hash", f"--duration={plan.choose([60], [10])[0]}s"]
    asked = [(newest, [*words, "--run=1"])] * _IDENTICAL + [(newest, [*words, "--run=2"])]
    hashes = [row["hash"] for row in dumbbells(session, asked)]
    same = hashes[:-1].count(hashes[0])
    if hashes[-1] == hashes[0]:
        result.notes.append("Runs 1 and 2 left the same trace: the seed does nothing.")
        same = 0
    result.ratios["deterministic_runs"] = Ratio(
        same, same, same, _IDENTICAL, kind="exactly", rounds=(same,)
    )
    plan.say(f"{same} of {_IDENTICAL} traces are identical")


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the other ratios and the rows of section 5."""
    newest = kernel_systems(session)[0]
    _same_work(session, plan, result, newest)
    _throughput(session, plan, result, newest)
    _against_clients(session, plan, result, [NS3, newest])
    _against_duration(session, plan, result, [NS3, newest])
    _scale(session, plan, result, newest)
    _repeats(session, plan, result, newest)
