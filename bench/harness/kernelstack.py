"""Benchmark `kernelstack`: real kernels in virtual time (DCE Cradle 2013, sections 4 to 6)."""

from __future__ import annotations

from . import kernelstack_cost, kernelstack_goodput
from .kernelstack_runs import BUFFERS, CRADLE_SPEC
from .plan import Plan
from .results import Result, read_csv
from .session import Session

NOTES = [
    "Dumbbell: two senders, a router, the bottleneck, a router, two receivers; each application "
    "writes 512 bytes at 1 Mbit/s over TCP (OnOffApplication); what the socket does not take is "
    "tried again at the next turn and not made up for. Goodput: bytes at the receivers in 60 s.",
    f"The bottleneck is {CRADLE_SPEC} in both directions, the same emulator in virtual time "
    "(ns3::PathChannel) and in real time (viaduct path); frames count with their Ethernet header.",
    "In real time the dumbbells of a round run beside each other, in network namespaces of this "
    "machine, behind one path engine; segmentation offloads are off, as a guest's device has none.",
    "In both: CUBIC, no Nagle algorithm, "
    + ", ".join(f"{k}={v}" for k, v in BUFFERS.items())
    + ".",
    "ns-3 native: its defaults (CUBIC, SACK, 128 KiB buffers), MSS 1448; MSS 536, ns-3's default, "
    "beside it. Checksums are computed, as in the paper.",
    "goodput_virtual_vs_real is the ratio of the means of all runs, its low and high are the 95% "
    "confidence interval. A run is one dumbbell: the mean of its two flows.",
    "wall_vs_ns3_native: wall time a data segment through the bottleneck, boot and run, without "
    "loss, where both stacks carry everything; systems by turns, pinned to one processor. "
    "wall_vs_ns3_native_hosts: kernels at the hosts alone and ns-3's routers, as with NSC, which "
    "replaced the hosts' TCP only.",
    "wall_bulk_..., wall_100flows_..., wall_short_vs_ns3_native: the same of one flow that fills "
    "100 Mbit/s, of 100 flows, and of a short run with loss, in which booting counts. "
    "The kernel is inside the simulator's process; ..._process: in one of its own; "
    "process_traces_as_embedded: such runs with the same trace.",
    "Frames: every frame a device of the simulation receives; a segment crosses three links.",
    "memory_per_node_MiB: proportional set size of simulator and guests, over all nodes. "
    "boot_seconds: from the start of the program to the first frame, 100 nodes.",
    "Runs are numbered: ns3-dumbbell --run=N repeats one exactly.",
]


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in all rows, ratios and published values."""
    with plan.part("goodput", 0.6):
        kernelstack_goodput.measure(session, plan, result)
    with plan.part("cost", 1.0):
        kernelstack_cost.measure(session, plan, result)
    for file in ("cradle-goodput.csv", "cradle-wall.csv"):
        result.published += read_csv(file, table=file.removesuffix(".csv"))
