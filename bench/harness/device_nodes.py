"""Part of benchmark `device`: two nodes of ns-3 back to back, and where their queue stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .analysis import Ratio, ratio_of_rounds
from .device_systems import TRADITIONAL, Device, Found, Pair, best, frames_in
from .plan import Plan
from .process import BenchError
from .results import Result, Row, measured
from .session import FORWARDER_CPU, SENDER_CPU, Session

_PROGRAM = "device-node"
_BOTTLENECK = "100mbit"  # the rate of the Ethernet link in the netmap device's report
_WARM_UP = 0.5  # seconds


@dataclass(frozen=True)
class Control:
    """What is between traffic control and the device."""

    name: str
    label: str
    words: tuple[str, ...] = ()


NONE = Control("none", "no flow control", ("--disc=PfifoFast",))
FLOW = Control("flow", "flow control", ("--disc=PfifoFast", "--flow-control=true"))
BQL = Control("bql", "flow control and BQL", (*FLOW.words, "--bql=true"))


@dataclass(frozen=True)
class Nodes:
    """One trial."""

    mbit: float  # UDP or TCP payload, after the warm-up
    offered_packets: int
    received_packets: int
    frames: int  # number of frames that the sink's interface received
    rtt_ms: float | None
    rtt_p95_ms: float | None
    source: Row
    sink: Row

    def row(self, udp: bool) -> Row:
        """Its columns."""
        lost = 100 * (1 - self.received_packets / self.offered_packets)
        source = self.source
        return {
            "mbit": round(self.mbit, 1),
            # No loss for TCP: a stream's segments do not correspond to the application's writes.
            "loss_percent": round(lost, 3) if udp and self.offered_packets else None,
            "rtt_ms": self.rtt_ms,
            "rtt_p95_ms": self.rtt_p95_ms,
            "disc_bytes": round(source["disc_bytes"]),
            "below_bytes": round(source["below_bytes"]) if "below_bytes" in source else None,
            "disc_drops": source.get("disc_drops"),
            "source_device_drops": source["device_drops"],
            "sink_drops": self.sink.get("kernel_drops"),
        }


def outcome(source: Row, sink: Row, frames: int) -> Nodes:
    """From both reports, and the frames that the kernel counted at the sink's interface."""
    if sink["received_bytes"] > source["sent_bytes"]:
        raise BenchError("more bytes were received than sent")
    if 1514 * frames < sink["received_bytes"]:
        raise BenchError(f"{sink['received_bytes']} bytes cannot have come in {frames} frames")
    return Nodes(
        8e-6 * sink["window_bytes"] / sink["seconds"] if sink["seconds"] else 0.0,
        source["sent_packets"],
        sink["received_packets"],
        frames,
        source.get("rtt_ms"),
        source.get("rtt_p95_ms"),
        source,
        sink,
    )


class BackToBack:
    """Trials between two nodes."""

    def __init__(self, session: Session, pair: Pair) -> None:
        self.session, self.pair = session, pair
        self.program = session.program(_PROGRAM)

    def run(
        self, device: Device, traffic: str, control: Control, seconds: float, *more: str
    ) -> Nodes:
        """Traffic for some seconds; `more` words for the source."""
        words = ["--interface=eth0", f"--traffic={traffic}", f"--warm-up={_WARM_UP}s"]
        sink = self.session.start(
            self.pair.right.command(
                [self.program, "--role=sink", *words, *device.command()], FORWARDER_CPU
            )
        )
        sink.expect("ready")
        before = frames_in(self.pair.right)
        own = control.words if device is not TRADITIONAL else NONE.words
        source = [self.program, "--role=source", *words, f"--duration={seconds}s"]
        # Source and sink run at the same priority, so that neither blocks the other's interrupts.
        place = ["nice", "-n", "-20", *source, *device.command(), *own, *more]
        sent = self.session.start(self.pair.left.command(place, SENDER_CPU)).report(seconds + 60)
        seen = sink.report(timeout=60)
        return outcome(sent, seen, frames_in(self.pair.right) - before)


def _systems(found: Found) -> list[tuple[Device, Control]]:
    ours = [(device, control) for device in found.ours for control in (NONE, FLOW, BQL)]
    return [(TRADITIONAL, NONE), *ours]


def throughput(nodes: BackToBack, plan: Plan, result: Result, found: Found) -> None:
    """As fast as the nodes can."""
    seconds = plan.choose(5.0, 2.0)
    seen: dict[tuple[str, str], list[Nodes]] = {}
    plain = [(device, NONE) for device in found.devices]
    for _, order in plan.turns(plain):
        for device, control in order:
            for traffic in ("tcp", "udp"):
                trial = nodes.run(device, traffic, control, seconds)
                seen.setdefault((device.name, traffic), []).append(trial)
    for traffic in ("tcp", "udp"):
        rates = {
            device.name: [trial.mbit for trial in seen[device.name, traffic]]
            for device in found.devices
        }
        for device in found.devices:
            trials = seen[device.name, traffic]
            row = trials[-1].row(traffic == "udp") | measured("mbit", rates[device.name], 1)
            result.add("nodes", device, traffic=traffic, control=NONE.label, **row)
            plan.say(f"{device.label}: {row['mbit']} Mbit/s of {traffic}")
        if traffic == "tcp":
            fastest = best(rates, found.ours)
            result.ratios["tcp_throughput_vs_fdnetdevice"] = ratio_of_rounds(
                rates[fastest.name], rates[TRADITIONAL.name], 2
            )
    others = [(device, control) for device, control in _systems(found) if control is not NONE]
    for device, control in plan.points("flow controls", others):
        for traffic in ("tcp", "udp"):
            trial = nodes.run(device, traffic, control, seconds)
            row = trial.row(traffic == "udp")
            result.add("nodes", device, traffic=traffic, control=control.label, **row)


def samples(trace: Path, step: float = 0.02) -> Row:
    """A trace as columns to be plotted, a sample every `step` seconds."""
    columns: dict[str, list[str]] = {"seconds": [], "disc_bytes": [], "below_bytes": []}
    due = 0.0
    for line in trace.read_text().splitlines()[1:]:
        values = line.split(",")
        if float(values[0]) >= due:
            due = float(values[0]) + step
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    return {f"trace_{name}": " ".join(values) for name, values in columns.items()}


def _behind_bottleneck(nodes: BackToBack) -> None:
    shape = ["tbf", "rate", _BOTTLENECK, "burst", "5kb", "limit", "10mb"]
    nodes.pair.left.run(["tc", "qdisc", "add", "dev", "eth0", "root", *shape])


def backlog(nodes: BackToBack, plan: Plan, result: Result, found: Found) -> None:
    """Where the queue before a bottleneck below the device stands."""
    try:
        _behind_bottleneck(nodes)
    except BenchError as error:
        result.notes.append(f"Backlog and backlog_visible are left out: {error}.")
        return
    seconds = plan.choose(8.0, 2.0)
    visible: dict[str, list[float]] = {}
    # Devices on AF_XDP are left out: they bypass the interface's queueing discipline, which shapes
    # the slow link here.
    shaped = [(device, control) for device, control in _systems(found) if _is_shaped(device)]
    for number, order in plan.turns(shaped):
        for device, control in order:
            if number > 1 and control is not BQL:
                continue
            for traffic in ("udp", "tcp"):
                _one_backlog(nodes, result, (device, control), traffic, seconds, visible)
    nodes.pair.left.run(["tc", "qdisc", "del", "dev", "eth0", "root"])
    if visible.get("udp"):
        # The ratio of each round is the lower of the values with UDP and TCP.
        both = [min(values) for values in zip(visible["udp"], visible["tcp"], strict=True)]
        result.ratios["backlog_visible"] = Ratio.of(both, 0.8)
        plan.say(f"{100 * result.ratios['backlog_visible'].value:.0f}% of the queue is visible")


def _is_shaped(device: Device) -> bool:
    return "AfXdp" not in " ".join(device.attributes)


def _one_backlog(
    nodes: BackToBack,
    result: Result,
    system: tuple[Device, Control],
    traffic: str,
    seconds: float,
    visible: dict[str, list[float]],
) -> None:
    device, control = system
    trace = nodes.session.directory / "backlog.csv"
    more = [f"--trace={trace}", "--rate=120Mbps"]
    shaped = device
    if device is not TRADITIONAL:
        shaped = Device(
            device.name, device.label, device.words, (*device.attributes, "QdiscBypass=false")
        )
    trial = nodes.run(shaped, traffic, control, seconds, *more)
    result.add(
        "backlog",
        device,
        traffic=traffic,
        control=control.label,
        visible=trial.source.get("visible"),
        **trial.row(traffic == "udp"),
        **samples(trace),
    )
    if control is BQL:
        visible.setdefault(traffic, []).append(trial.source["visible"])


def columns_of_traces() -> Sequence[str]:
    """What tables do not show."""
    return ("trace_seconds", "trace_disc_bytes", "trace_below_bytes")
