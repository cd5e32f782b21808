"""Part of benchmark `device`: frames a second, sent and received, of the device alone."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from .analysis import LOSS_FREE, Ratio, confirm_loss_free, find_loss_free, ratio_of_rounds
from .device_systems import RATE, TRADITIONAL, Device, Found, Pair, best, frames_in
from .plan import Plan
from .process import BenchError
from .quota import Quota, quota
from .results import Result, Row, measured
from .session import FORWARDER_CPU, SENDER_CPU, Session

SMALL = 64  # bytes of a frame, without FCS, as in ns-3's fd-emu-send
SIZES = (SMALL, 512, 1514)
PORT, DEVICE = "port", "device"  # names of the layers
_WAITED_PERCENT = 0.5  # maximum share of time waited; more may be the cause of lateness above p99
_OWN_LATENESS = ("ReceivedLateness", "SentLateness")  # attributes of RingNetDevice: its p99
_FIRST_RATE = 60e3  # frames a second, where a search starts after a collapse
_SOME = 0.1  # maximum loss that is no collapse
_BUSY = 0.9  # minimum processor share of a sender that never waits, if it shares with no process


@dataclass(frozen=True)
class Sending:
    """One trial of a sender that does not wait."""

    pps: float  # frames a second counted by the other end's kernel
    loss: float  # share of the frames to send that were refused or lost
    cpu_ns: float  # time of the sender's processor for each frame that arrived
    cpu_share: float  # share of its processor that the sender received


@dataclass(frozen=True)
class Receiving:
    """One trial of a receiver."""

    pps: float  # packets a second that reached the node
    offered_pps: float  # frames a second that reached the interface
    loss: float
    dropped_by_kernel: int
    dropped_by_device: int
    unaccounted: int  # frames that reached the interface and appear in no other counter
    report: Row


def sending(sent: Row, arrived: int) -> Sending:
    """From a sender's report, and the frames counted by the kernel at the other end."""
    if arrived > sent["sent"]:
        raise BenchError(f"{arrived} frames arrived, and only {sent['sent']} were sent")
    offered = sent["sent"] + sent["refused"]
    return Sending(
        arrived / sent["seconds"],
        1 - arrived / offered if offered else 1.0,
        1e9 * sent["cpu_seconds"] / max(arrived, 1),
        sent["cpu_seconds"] / sent["seconds"],
    )


def receiving(seen: Row, sent: Row, arrived: int) -> Receiving:
    """From the reports of both ends, and the frames counted by the kernel in between."""
    known = seen["frames"] + seen["dropped_by_kernel"] + seen["dropped_by_device"]
    if seen["frames"] > arrived:
        raise BenchError(f"{seen['frames']} frames came up, and only {arrived} had arrived")
    return Receiving(
        seen["window_frames"] / seen["seconds"] if seen["seconds"] else 0.0,
        arrived / sent["seconds"],
        1 - seen["frames"] / arrived if arrived else 1.0,
        seen["dropped_by_kernel"],
        seen["dropped_by_device"],
        arrived - known,
        seen,
    )


class Bench:
    """Trials between the two hosts."""

    def __init__(self, session: Session, pair: Pair) -> None:
        self.session, self.pair = session, pair
        self.program = session.program(RATE)
        self.shares: list[float] = []  # processor share of each saturating sender

    def _command(self, mode: str, layer: str, device: Device, *more: str) -> list[str]:
        words = [f"--mode={mode}", f"--layer={layer}", "--interface=eth0"]
        return [self.program, *words, *device.command(), *more]

    def send(
        self,
        device: Device,
        layer: str,
        size: int,
        seconds: float,
        share: Quota | None = None,
    ) -> Sending:
        """As fast as the device takes frames."""
        more = [f"--size={size}", f"--duration={seconds}"]
        command = self._command("send", layer, device, *more)
        before = frames_in(self.pair.right)
        place = self.pair.left.command(
            share.command(command) if share else command, cpu=FORWARDER_CPU
        )
        sent = self.session.start(place).report(timeout=seconds + 30)
        trial = sending(sent, frames_in(self.pair.right) - before)
        if share is None:
            self.shares.append(trial.cpu_share)
        return trial

    def receive(
        self,
        device: Device,
        layer: str,
        size: int,
        seconds: float,
        rate: float | None = None,
        share: Quota | None = None,
        more: Sequence[str] = (),
    ) -> Receiving:
        """Frames of a source at a rate; None: as many as it can send."""
        # The device polls always, as RealtimeSimulatorImpl, with which the traditional device runs,
        # does.
        spins = () if device is TRADITIONAL else ("--poll",)
        command = self._command("receive", layer, device, *spins, *more)
        place = self.pair.right.command(
            share.command(command) if share else command, cpu=FORWARDER_CPU
        )
        receiver = self.session.start(place)
        receiver.expect("ready")
        before = frames_in(self.pair.right)
        generator = Device("source", "source", ("--device=ring",))
        words = [f"--size={size}", f"--duration={seconds}", f"--rate={rate or 0}"]
        sender = self._command("send", PORT, generator, *words)
        sent = self.session.start(self.pair.left.command(sender, SENDER_CPU)).report(seconds + 30)
        seen = receiver.report(timeout=60)
        if rate is None and share is None:
            self.shares.append(sent["cpu_seconds"] / sent["seconds"])
        return receiving(seen, sent, frames_in(self.pair.right) - before)


def _sending_row(trials: Sequence[Sending], **labels: object) -> Row:
    return {
        "rounds": len(trials),
        **labels,
        **measured("pps", [trial.pps for trial in trials]),
        **measured("loss_percent", [100 * trial.loss for trial in trials], 3),
        **measured("cpu_ns_per_frame", [trial.cpu_ns for trial in trials]),
    }


def _receiving_row(trials: Sequence[Receiving], **labels: object) -> Row:
    return {
        "rounds": len(trials),
        **labels,
        **measured("offered_pps", [trial.offered_pps for trial in trials]),
        **measured("pps", [trial.pps for trial in trials]),
        **measured("loss_percent", [100 * trial.loss for trial in trials], 3),
        "dropped_by_kernel": sum(trial.dropped_by_kernel for trial in trials),
        "dropped_by_device": sum(trial.dropped_by_device for trial in trials),
        "unaccounted": sum(trial.unaccounted for trial in trials),
    }


def send_rates(bench: Bench, plan: Plan, result: Result, found: Found) -> None:
    """The report's test: what the device sends at its lowest layer; and through ns-3's Send()."""
    rates: dict[str, list[float]] = {}
    seen: dict[tuple[str, str], list[Sending]] = {}
    for _, order in plan.turns(itertools.product(found.devices, (PORT, DEVICE))):
        for device, layer in order:
            trial = bench.send(device, layer, SMALL, plan.trial)
            seen.setdefault((device.name, layer), []).append(trial)
            if layer == PORT:
                rates.setdefault(device.name, []).append(trial.pps)
    for device in found.devices:
        for layer in (PORT, DEVICE):
            row = _sending_row(seen[device.name, layer], layer=layer, size=SMALL)
            result.add("send", device, **row)
            plan.say(f"{device.label} sends {row['pps']:,} frames/s ({layer})")
    fastest = best(rates, found.ours)
    result.ratios["tx_pps_vs_fdnetdevice"] = ratio_of_rounds(
        rates[fastest.name], rates[TRADITIONAL.name], 3
    )
    for size in plan.points("sizes sent", SIZES[1:]):
        for device in found.devices:
            trial = bench.send(device, PORT, size, plan.trial)
            result.add("send", device, **_sending_row([trial], layer=PORT, size=size))


@dataclass
class Reception:
    """What a device received, over the rounds."""

    loss_free: list[float] = field(default_factory=list)
    saturated: list[Receiving] = field(default_factory=list)
    bare: list[Receiving] = field(default_factory=list)  # results of a bare loop on the port


def _loss_free(bench: Bench, plan: Plan, device: Device, saturated: Receiving) -> float:
    """The highest rate without loss; that of the source, if the device keeps up with it."""
    if saturated.loss < LOSS_FREE:
        return saturated.pps

    def loss_at(rate: float, seconds: float) -> float:
        trial = bench.receive(device, DEVICE, SMALL, seconds, rate)
        return trial.loss if trial.offered_pps > 0.95 * rate else 1.0

    found = find_loss_free(
        lambda rate: loss_at(rate, plan.choose(2.0, 0.5)),
        0.8 * saturated.pps if saturated.loss < _SOME else _FIRST_RATE,
        saturated.offered_pps,
        precision=plan.choose(0.05, 0.15),
        max_trials=plan.choose(16, 7),
        growth=1.5,
    )
    return confirm_loss_free(lambda rate: loss_at(rate, plan.trial), found.rate)


def _add_loss_free_ratio(result: Result, ours: Sequence[float], theirs: Sequence[float]) -> None:
    """rx_pps_vs_fdnetdevice, of the rounds in which FdNetDevice kept any rate without loss."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if b > 0]
    if len(pairs) < len(theirs):
        result.notes.append(
            f"rx_pps_vs_fdnetdevice: in {len(theirs) - len(pairs)} of {len(theirs)} rounds "
            "FdNetDevice lost frames at every rate that was tried; they do not count."
        )
    if pairs:
        result.ratios["rx_pps_vs_fdnetdevice"] = ratio_of_rounds(
            [a for a, _ in pairs], [b for _, b in pairs], 5
        )


def receive_rates(bench: Bench, plan: Plan, result: Result, found: Found) -> None:
    """What reaches a node of ns-3, and a bare loop on the same port."""
    seen = {device.name: Reception() for device in found.receivers}
    for _, order in plan.turns(found.receivers):
        for device in order:
            of = seen[device.name]
            of.bare.append(bench.receive(device, PORT, SMALL, plan.trial))
            of.saturated.append(bench.receive(device, DEVICE, SMALL, plan.trial))
            of.loss_free.append(_loss_free(bench, plan, device, of.saturated[-1]))
            plan.say(f"{device.label} receives {of.loss_free[-1]:,.0f} frames/s without loss")
    rates = {name: of.loss_free for name, of in seen.items()}
    for device in found.receivers:
        of = seen[device.name]
        row = measured("loss_free_pps", of.loss_free)
        result.add("receive", device, layer=DEVICE, size=SMALL, **row)
        for layer, trials in ((DEVICE, of.saturated), (PORT, of.bare)):
            result.add("receive", device, **_receiving_row(trials, layer=layer, size=SMALL))
    fastest = best(rates, [device for device in found.receivers if device is not TRADITIONAL])
    _add_loss_free_ratio(result, rates[fastest.name], rates[TRADITIONAL.name])
    result.ratios["rx_to_ns3_vs_bare"] = ratio_of_rounds(
        [trial.pps for trial in seen[fastest.name].saturated],
        [trial.pps for trial in seen[fastest.name].bare],
        0.5,
    )
    _receive_sweep(bench, plan, result, found)


def _receive_sweep(bench: Bench, plan: Plan, result: Result, found: Found) -> None:
    """What comes up of what is offered, with every loss; by size."""
    small = plan.choose([30e3, 60e3, 90e3, 120e3, 180e3, 240e3, 360e3], [60e3, 120e3, 240e3])
    points: list[tuple[int, float | None]] = [(SMALL, rate) for rate in (*small, None)]
    points += [(size, rate) for size in SIZES[1:] for rate in plan.choose((*small, None), (60e3,))]
    for size, rate in plan.points("rates received", points):
        for device in found.devices:
            trial = bench.receive(device, DEVICE, size, plan.trial, rate)
            result.add("receive sweep", device, **_receiving_row([trial], size=size))


def processor_shares(bench: Bench, plan: Plan, result: Result, found: Found) -> None:
    """The device with less of a processor, in the place of the report's lower frequencies."""
    for share in plan.points("shares of a processor", (0.66, 0.5, 0.25)):
        try:
            with quota(share) as group:
                for device in found.devices:
                    sent = bench.send(device, PORT, SMALL, plan.trial, group)
                    result.add(
                        "send, share of a processor",
                        device,
                        **_sending_row([sent], processor_share=share, size=SMALL),
                    )
                    got = bench.receive(device, DEVICE, SMALL, plan.trial, 60e3, group)
                    result.add(
                        "receive, share of a processor",
                        device,
                        **_receiving_row([got], processor_share=share, size=SMALL),
                    )
        except BenchError as error:
            result.notes.append(f"Shares of a processor are left out: {error}.")
            return
    plan.say("shares of a processor are measured")


def lateness(bench: Bench, plan: Plan, result: Result, found: Found) -> None:
    """How late frames and events are at half of what the device can receive, spinning."""
    most = {row["system"]: row["loss_free_pps"] for row in result.rows if row.get("loss_free_pps")}
    late: dict[str, list[float]] = {}
    for _, order in plan.turns([device for device in found.ours if device.name in most]):
        for device in order:
            more = ("--tick=100us",)
            trial = bench.receive(
                device, DEVICE, SMALL, 2 * plan.trial, most[device.name] / 2, more=more
            )
            report = trial.report
            frames, events = report["frames_late"], report["events_late"]
            own = {key: report[key] for key in _OWN_LATENESS if key in report}
            worst = max(frames["p99_us"], events["p99_us"], *own.values())
            late.setdefault(device.name, []).append(worst)
            result.add(
                "lateness",
                device,
                offered_pps=round(trial.offered_pps),
                loss_percent=round(100 * trial.loss, 3),
                waited_percent=round(100 * report["waited_seconds"] / report["seconds"], 2),
                frames=frames["count"],
                events=events["count"],
                **{f"{key}_p99_us": round(value, 2) for key, value in own.items()},
                **{
                    f"{what}_{key}": round(values[key], 2)
                    for what, values in (("frames", frames), ("events", events))
                    for key in ("p50_us", "p99_us", "max_us")
                },
            )
    if not late:
        result.notes.append("lateness_p99_us is left out: no device received without loss.")
        return
    quickest = min(late, key=lambda name: statistics.median(late[name]))
    result.ratios["lateness_p99_us"] = Ratio.of(late[quickest], 20, "at most")
    plan.say(f"p99 of the lateness {statistics.median(late[quickest]):.1f} us")
    waited = statistics.median(
        row["waited_percent"] for row in result.rows if row["experiment"] == "lateness"
    )
    if waited > _WAITED_PERCENT:
        result.notes.append(
            f"Other programs had the receiver's processor for {waited:.1f}% of the time (median): "
            "lateness_p99_us is theirs, and says nothing about the device."
        )


def say_whether_busy(bench: Bench, result: Result) -> None:
    """A note if the machine was not left to the benchmark."""
    if bench.shares and statistics.median(bench.shares) < _BUSY:
        result.notes.append(
            "The machine was busy: senders that never wait had "
            f"{100 * statistics.median(bench.shares):.0f}% of their processor (median)."
        )
