"""The cost of real kernels in virtual time: wall time, memory, boot; and repeatability."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from .analysis import Ratio, ratio_of_rounds
from .kernelstack_runs import NS3, System, dumbbell, dumbbells, in_process, kernel_systems
from .plan import Plan
from .results import Result, Row, measured
from .session import FORWARDER_CPU, Session

# The bars of wall time divided by ns-3's own wall time: the maximum for each experiment.
_WALL_BAR, _HOSTS_BAR, _BULK_BAR, _FLOWS_BAR, _SHORT_BAR = 2.0, 1.5, 1.2, 1.0, 3.0
_PROCESS_BAR = 2.2  # DCE Cradle's ratio; for a guest that is a process
_FRAMES_BAR, _MEMORY_BAR, _BOOT_BAR = 120_000.0, 1.0, 0.3
_IDENTICAL = 20
_PROCESSES = 5  # runs of a guest as a process, whose trace is compared with embedded guests'


def _wall(row: Row) -> float:
    return row["boot_seconds"] + row["run_seconds"]


def _wall_row(trials: Sequence[Row], **labels: object) -> Row:
    walls = [_wall(trial) for trial in trials]
    cpu = [trial["run_user_seconds"] + trial["run_system_seconds"] for trial in trials]
    last = trials[-1]
    return {
        **labels,
        "rounds": len(trials),
        **measured("wall_seconds", walls, 4),
        "cpu_seconds": round(statistics.median(cpu), 3),
        "segments": last["segments"],
        "frames": last["frames"],
        "us_per_frame": round(1e6 * statistics.median(walls) / last["frames"], 2),
    }


Seen = dict[str, list[Row]]  # reports of each system, one per round


def _by_turns(
    session: Session, plan: Plan, rounds: int, systems: Sequence[System], *words: str
) -> Seen:
    """The same run of each system, in rounds; the pinned processor is left to it."""
    seen: Seen = {system.name: [] for system in systems}
    for number, order in plan.turns(systems, rounds):
        for system in order:
            row = dumbbell(session, system, *words, f"--run={number}", cpu=FORWARDER_CPU)
            seen[system.name].append(row)
    return seen


def _against(
    session: Session,
    plan: Plan,
    result: Result,
    systems: Sequence[System],
    axis: tuple[str, str, str],
    points: Sequence[int],
) -> None:
    """Wall time against an option; `axis`: the experiment, the option, the rows' column."""
    experiment, option, column = axis
    for point in plan.points(f"points of {column.replace('_', ' ')}", points):
        words = option.format(point).split()
        seen = _by_turns(session, plan, plan.row_rounds, systems, *words)
        for system in systems:
            result.add(experiment, system, **_wall_row(seen[system.name], **{column: point}))
        plan.say(f"{point} {column.replace('_', ' ')}")


def _same_work(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """Without loss both stacks carry all that is sent, in the same segments."""
    hosts_only = System(
        f"{newest.name}_hosts", f"{newest.label}, ns-3 routers", (*newest.words, "--routers=ns3")
    )
    systems = [NS3, newest, hosts_only, in_process(newest), in_process(hosts_only)]
    # The duration is 100 s: with 20 s, booting would be a fifth of the wall time. Booting counts,
    # and has separate figures.
    words = ["--loss=0", "--bottleneck=4Mbps", "--duration=100s"]
    seen = _by_turns(session, plan, max(plan.rounds, 3), systems, *words)
    for system in systems:
        result.add("same_work", system, **_wall_row(seen[system.name]))
    # The cost is per segment, as the numbers of segments differ slightly (delayed acknowledgements,
    # ARP).
    cost = {
        name: [_wall(trial) / trial["segments"] for trial in trials]
        for name, trials in seen.items()
    }
    for key, system, bar in (
        ("wall_vs_ns3_native", newest, _WALL_BAR),
        ("wall_vs_ns3_native_hosts", hosts_only, _HOSTS_BAR),
    ):
        for suffix, placed, most in (
            ("", system, bar),
            ("_process", in_process(system), _PROCESS_BAR),
        ):
            ratio = ratio_of_rounds(cost[placed.name], cost[NS3.name], most, "at most")
            result.ratios[key + suffix] = ratio
            plan.say(f"{placed.label}: wall time {ratio.value:.2f} times ns-3's, same segments")


def _more_work(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """One flow that fills a fast link, a hundred flows, and a short run in which booting counts."""
    bulk = ["--flows=1", "--rate-app=0", "--loss=0", "--bottleneck=100Mbps", "--delay=10ms"]
    bulk += ["--queue=1000p", f"--duration={plan.choose(20, 3)}s"]
    flows = ["--flows=100", "--loss=0", "--bottleneck=200Mbps", "--duration=10s"]
    systems = [NS3, newest, in_process(newest)]
    for name, bar, words in (
        ("bulk", _BULK_BAR, bulk),
        ("100flows", _FLOWS_BAR, flows),
        ("short", _SHORT_BAR, ["--duration=60s"]),
    ):
        seen = _by_turns(session, plan, max(plan.rounds, 3), systems, *words)
        cost = {
            system: [_wall(trial) / trial["segments"] for trial in trials]
            for system, trials in seen.items()
        }
        for suffix, system, most in (
            ("", newest, bar),
            ("_process", in_process(newest), _PROCESS_BAR),
        ):
            ratio = ratio_of_rounds(cost[system.name], cost[NS3.name], most, "at most")
            result.ratios[f"wall_{name}_vs_ns3_native{suffix}"] = ratio
        for system in systems:
            result.add(f"work_{name}", system, **_wall_row(seen[system.name]))
        plan.say(f"{name}: measured")


def _throughput(session: Session, plan: Plan, result: Result, newest: System) -> None:
    words = ["--rate-app=0", "--loss=0", "--bottleneck=100Mbps", "--delay=10ms", "--queue=1000p"]
    words += [f"--duration={plan.choose(20, 3)}s"]
    systems = [NS3, newest, in_process(newest)]
    seen = _by_turns(session, plan, max(plan.rounds, 3), systems, *words)
    rates = {name: [row["frames_per_second"] for row in rows] for name, rows in seen.items()}
    for system in systems:
        median = round(statistics.median(rates[system.name]))
        row = _wall_row(seen[system.name])
        result.add("bulk", system, **row, frames_per_second=median)
    for suffix, system in (("", newest), ("_process", in_process(newest))):
        result.ratios[f"frames_per_second{suffix}"] = Ratio.of(rates[system.name], _FRAMES_BAR)
    plan.say(f"bulk: {result.ratios['frames_per_second'].value:,.0f} frames/s")


def _scale(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """Memory of 500 nodes, boot of 100."""
    small = ["--flows=49", "--duration=1s"]
    big = ["--flows=249", "--duration=5s", "--rate-app=100kbps", "--bottleneck=100Mbps"]
    boots, large = (
        [dumbbell(session, newest, *words, f"--run={run}") for run in range(1, rounds + 1)]
        for words, rounds in ((small, max(plan.row_rounds, 3)), (big, plan.row_rounds))
    )
    digits = {
        "setup_seconds": 3,
        "boot_seconds": 3,
        "first_frame_seconds": 3,
        "pss_mib": 1,
        "pss_mib_per_node": 3,
    }
    for nodes, trials in ((100, boots), (500, large)):
        last = trials[-1]
        figures = {key: round(last[key], places) for key, places in digits.items()}
        result.add("scale", newest, nodes=nodes, **figures, processes=last["processes"])
    result.ratios["memory_per_node_MiB"] = Ratio.of(
        [row["pss_mib_per_node"] for row in large], _MEMORY_BAR, "at most"
    )
    result.ratios["boot_seconds"] = Ratio.of(
        [row["first_frame_seconds"] for row in boots], _BOOT_BAR, "at most"
    )
    plan.say("memory and boot are measured")


def _repeats(session: Session, plan: Plan, result: Result, newest: System) -> None:
    """Runs of one seed leave the same trace; of another seed another one."""
    words = ["--hash", f"--duration={plan.choose(60, 10)}s"]
    asked = [(newest, [*words, "--run=1"])] * _IDENTICAL + [(newest, [*words, "--run=2"])]
    asked += [(in_process(newest), [*words, "--run=1"])] * _PROCESSES
    hashes = [row["hash"] for row in dumbbells(session, asked)]
    same = hashes[:_IDENTICAL].count(hashes[0])
    equal = hashes[-_PROCESSES:].count(hashes[0])
    result.ratios["process_traces_as_embedded"] = Ratio.of([equal], _PROCESSES, "exactly")
    if hashes[_IDENTICAL] == hashes[0]:
        result.notes.append("Runs 1 and 2 left the same trace: the seed does nothing.")
        same = 0
    result.ratios["deterministic_runs"] = Ratio.of([same], _IDENTICAL, "exactly")
    plan.say(f"{same} of {_IDENTICAL} traces are identical")


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the other ratios and the rows of section 5."""
    newest = kernel_systems(session)[0]
    # The parts with ratios are first.
    with plan.part("the same work", 0.35):
        _same_work(session, plan, result, newest)
    with plan.part("bulk", 0.3):
        _throughput(session, plan, result, newest)
    with plan.part("more of the same work", 0.6):
        _more_work(session, plan, result, newest)
    with plan.part("memory and boot", 0.4):
        _scale(session, plan, result, newest)
    with plan.part("repeated runs", 0.5):
        _repeats(session, plan, result, newest)
    systems = [NS3, newest]
    # DCE Cradle's figure 6 has 60 s of traffic, figure 7 two clients.
    clients = plan.choose([1, 2, 5, 10, 20, 50, 75, 100], [1, 10, 100])
    with plan.part("clients", 0.5):
        _against(session, plan, result, systems, ("clients", "--clients={}", "clients"), clients)
    seconds = plan.choose([1, 10, 50, 100, 200, 300, 400], [1, 100, 400])
    duration = ("duration", "--duration={}s", "simulated_seconds")
    with plan.part("durations", 1.0):
        _against(session, plan, result, systems, duration, seconds)
    # The 34 nodes are distributed over the given number of kernels.
    guests = ("guests", "--flows=16 --guests={}", "guests")
    places = [newest, in_process(newest)]
    with plan.part("several kernels", 0.5):
        _against(session, plan, result, places, guests, plan.choose([1, 2, 4, 8], [1, 4]))
