"""Benchmark `device`: ns-3's devices on real interfaces (netmap device, SOCIS 2017)."""

from __future__ import annotations

from . import (
    device_aqm,
    device_headers,
    device_nodes,
    device_rates,
    device_settings,
    device_systems,
    quota,
)
from .plan import Plan
from .results import Result, read_csv
from .session import Session

NOTES = [
    "FdNetDevice on a packet socket, as EmuFdNetDeviceHelper makes it, runs under "
    "RealtimeSimulatorImpl; RingNetDevice under ReactorSimulatorImpl. Both are as they are by "
    "default, with the same build of ns-3.",
    "The cable is a veth: what one end sends, the kernel takes in for the other end within the "
    "sender's system call. So a sender pays for its receiver's kernel, and no line rate limits it.",
    "send: frames a second that the other end's interface counted. Layer port is the lowest one, "
    "the report's: frames that are ready, by FdNetDevice::Write() (level 0 of ns-3's example "
    "fd-emu-send) or by the port's Transmit(), 64 at a time; layer device: ns3::Packets by Send().",
    "receive: layer device: frames that became ns3::Packets and reached a node, which dropped "
    "them; layer port: a bare loop on the port, or the thread that reads for FdNetDevice, which "
    "drops them. loss_free_pps: the highest offered rate with less than 0.1% loss (RFC 2544's "
    "throughput), searched and confirmed. FdNetDevice receives more at some loss, and next to "
    "nothing of more than it can, as it sleeps for 100 ms when its queue (1,000 frames) is full: "
    "rows `receive sweep`.",
    "tx_pps_vs_fdnetdevice: layer port; rx_pps_vs_fdnetdevice: layer device, loss-free; 64 bytes, "
    "the best port. Receivers never sleep: AlwaysPoll of the reactor, as RealtimeSimulatorImpl "
    "always does; neither does the bare loop. The source, which sends by AF_PACKET and does the "
    "kernel's work of receiving, is the limit where nothing is lost: rx_pps_vs_fdnetdevice is then "
    "at least what is given, and rx_to_ns3_vs_bare (saturated) says that ns-3 keeps up with it. "
    "That work is least for a ring of blocks (RingBlocks, TPACKET_V3), whose frames come later, "
    "by 1 to 2 ms.",
    "Each count is held against the kernel's: unaccounted is what reached the interface and was "
    "neither received nor counted as dropped.",
    "share of a processor: a quota of the kernel's CPU controller in place of the report's lower "
    "frequencies. The network is as fast as the processor here, so rates fall in proportion; on "
    "the report's 1 Gbit/s link a fast device still reached the line's rate.",
    "settings: attributes of the device (Queues, RingBlocks) at the lowest layer "
    "(sent) and in a node (received), saturated; a device with threads of its own may use both "
    "processors, also the one that the source or the sink's kernel has. A loop of sendmmsg is a "
    "sender without a device, on a packet socket; its frames have 70 bytes.",
    "nodes: two processes, on a processor each; a ping every 20 ms beside the flow. UDP is offered "
    "at 2 Gbit/s; queue disc pfifo_fast. TCP has ns-3's buffers (128 KiB): with 4 MiB ns-3's own "
    "TCP, whose lists grow with the window, is the limit of every device.",
    "backlog: 100 Mbit/s (tbf) below the device, UDP of 120 Mbit/s or TCP. visible: share of the "
    "queue's bytes, over time, that is in ns-3's queue disc; the rest is in the device or the "
    "kernel below it. backlog_visible: with flow control and BQL, the worse one of UDP and TCP. "
    "FdNetDevice cannot tell what is below it; while the kernel's queue is full its write waits, "
    "and the simulation with it, so that the source sends less instead of losing packets.",
    "queue discs: a router of ns-3 between two hosts, 50 Mbit/s (tbf) below its device, 8 flows of "
    "TCP (Reno) from one host to the other for some seconds, in whose second half a ping runs.",
    "lateness_p99_us: the greatest one of several 99th percentiles. frames: from the kernel's "
    "stamp of a received frame to its handling in ns-3, and from the start of the turn of the loop "
    "in which a frame was sent to the return of the system call; the device's own (attributes "
    "ReceivedLateness, SentLateness) where it has them; events: from an event's time to its start, "
    "of events every 100 us that send a frame. 64 bytes, half of the rate without loss.",
    "insim_loss_free_vs_traditional, of whole nodes that forward, is in `bridge` and `olsr`.",
]


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in the result."""
    result.published += read_csv("socis2017-device.csv", table="report")
    quota.remove_leftovers()
    pair = device_systems.make_pair(session, "pair")
    found = device_systems.find(session, pair)
    result.notes += found.missing
    plan.say(f"devices: {', '.join(device.label for device in found.devices)}")
    bench = device_rates.Bench(session, pair)
    nodes = device_nodes.BackToBack(session, pair)
    with plan.part("sending", 0.16):
        device_rates.send_rates(bench, plan, result, found)
    with plan.part("receiving", 0.35):
        device_rates.receive_rates(bench, plan, result, found)
        device_rates.lateness(bench, plan, result, found)
    with plan.part("headers", 0.1):
        device_headers.measure(session, plan, result, found)
    with plan.part("settings", 0.2):
        device_settings.measure(bench, plan, result, found)
    with plan.part("queue discs", 0.5):
        device_aqm.measure(session, plan, result)
    with plan.part("backlog", 0.45):
        device_nodes.backlog(nodes, plan, result, found)
    with plan.part("nodes", 0.8):
        device_nodes.throughput(nodes, plan, result, found)
    with plan.part("shares of a processor", 1.0):
        device_rates.processor_shares(bench, plan, result, found)
    device_rates.say_whether_busy(bench, result)
