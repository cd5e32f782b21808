"""Part of benchmark `device`: what else the device can be set to, and a sender without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .device_rates import DEVICE, PORT, SMALL, Bench, Receiving, Sending, sending
from .device_systems import Device, Found, frames_in
from .plan import Plan
from .results import Result, measured
from .session import FORWARDER_CPU

NUMBERED = 70  # bytes of the shortest frame that carries the numbers of `frame-source`
# Name of the setting, and the attribute that the device on AF_PACKET has in addition to the
# attributes of its port.
_SETTINGS = (("queues", "Queues=2"), ("blocks", "RingBlocks=true"))


@dataclass(frozen=True)
class Setting:
    """A device, set so."""

    device: Device
    name: str


def settings_of(found: Found, quick: bool) -> list[Setting]:
    """Those that this build has; each port's own one first. Quick: the kernel's ports only."""
    settings = []
    for device in found.ours:
        if quick and device.name not in ("af_packet", "af_xdp"):
            continue
        settings.append(Setting(device, "default"))
        for name, word in _SETTINGS if device.name == "af_packet" else ():
            if word.split("=")[0] in found.attributes:
                more = replace(device, attributes=(*device.attributes, word))
                settings.append(Setting(more, name))
    return settings


def bare_sender(bench: Bench, seconds: float) -> Sending:
    """A loop of `sendmmsg` of 64 frames each, without a port."""
    session, pair = bench.session, bench.pair
    words = ["--interface=eth0", f"--size={NUMBERED}", f"--duration={seconds}", "--burst=64"]
    before = frames_in(pair.right)
    command = pair.left.command([session.program("frame-source"), *words], FORWARDER_CPU)
    sent = session.start(command).report(timeout=seconds + 30)
    return sending(sent | {"cpu_seconds": 0.0}, frames_in(pair.right) - before)


def measure(bench: Bench, plan: Plan, result: Result, found: Found) -> None:
    """Frames a second, sent at the lowest layer and received in a node, saturated."""
    settings = settings_of(found, plan.quick)
    sent: dict[Setting | None, list[Sending]] = {}
    got: dict[Setting, list[Receiving]] = {}
    for _, order in plan.turns([None, *settings], plan.choose(plan.rounds, 1)):
        for each in order:
            if each is None:
                sent.setdefault(None, []).append(bare_sender(bench, plan.trial))
                continue
            trial = bench.send(each.device, PORT, SMALL, plan.trial)
            sent.setdefault(each, []).append(trial)
            seen = bench.receive(each.device, DEVICE, SMALL, plan.trial)
            got.setdefault(each, []).append(seen)
            plan.say(
                f"{each.device.label}, {each.name}: sends {trial.pps:,.0f} frames/s, receives "
                f"{seen.pps:,.0f} of {seen.offered_pps:,.0f}"
            )
    bare = Device("bare", "a loop of sendmmsg", ())
    result.add(
        "settings",
        bare,
        setting="none",
        sent_size=NUMBERED,
        rounds=len(sent[None]),
        **measured("sent_pps", [trial.pps for trial in sent[None]]),
    )
    for each in settings:
        result.add(
            "settings",
            each.device,
            setting=each.name,
            sent_size=SMALL,
            rounds=len(got[each]),
            **measured("sent_pps", [trial.pps for trial in sent[each]]),
            **measured("received_pps", [seen.pps for seen in got[each]]),
            **measured("offered_pps", [seen.offered_pps for seen in got[each]]),
            **measured("loss_percent", [100 * seen.loss for seen in got[each]], 3),
            unaccounted=sum(seen.unaccounted for seen in got[each]),
        )
