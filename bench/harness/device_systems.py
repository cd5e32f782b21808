"""The devices of ns-3 that the benchmark `device` compares, and the two hosts they are between."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .process import BenchError, run
from .session import Namespace, Session, join

RATE = "device-rate"
_PORT = "Port"  # the attribute of RingNetDevice that selects its kind of port
_BLOCKS = "RingBlocks"  # the attribute that gives AF_PACKET a receive ring of blocks (TPACKET_V3)


@dataclass(frozen=True)
class Device:
    """A device, and the words that choose it in the programs."""

    name: str
    label: str
    words: tuple[str, ...]
    attributes: tuple[str, ...] = ()  # attributes of RingNetDevice, "Name=Value"

    def command(self, *more: str) -> list[str]:
        """Words for a program; `more` attributes besides."""
        every = (*self.attributes, *more)
        return [*self.words, *([f"--set={','.join(every)}"] if every else [])]


TRADITIONAL = Device("fdnetdevice", "ns-3's FdNetDevice", ("--device=fd",))
_PACKET = Device("af_packet", "RingNetDevice on AF_PACKET", ("--device=ring",))
# The kinds of ports besides AF_PACKET: name, label, value of the attribute.
_OTHERS = (
    ("af_xdp", "RingNetDevice on AF_XDP", "AfXdp"),
    ("dpdk", "RingNetDevice on DPDK (net_af_packet)", "Dpdk"),
)


@dataclass(frozen=True)
class Pair:
    """Two namespaces that a cable joins; eth0 at both ends."""

    left: Namespace
    right: Namespace


def make_pair(session: Session, name: str) -> Pair:
    """Interfaces without addresses: the nodes of ns-3 have them."""
    pair = Pair(session.namespace(f"{name}-l"), session.namespace(f"{name}-r"))
    join(pair.left, "eth0", pair.right, "eth0")
    return pair


def frames_in(place: Namespace, interface: str = "eth0") -> int:
    """Frames that an interface has received, by its kernel's count."""
    links = json.loads(run(["ip", "-n", place.name, "-s", "-j", "link", "show", interface]))
    return int(links[0]["stats64"]["rx"]["packets"])


def attributes(session: Session) -> list[str]:
    """Those that RingNetDevice has in this build."""
    return json.loads(run([session.program(RATE), "--mode=attributes"]))


@dataclass(frozen=True)
class Found:
    """The devices that work here; why others do not."""

    devices: tuple[Device, ...]  # devices to measure, the traditional one first
    missing: tuple[str, ...]
    attributes: tuple[str, ...]

    @property
    def ours(self) -> tuple[Device, ...]:
        """All but the traditional one."""
        return self.devices[1:]

    @property
    def receivers(self) -> tuple[Device, ...]:
        """All, and what has another port for receiving only."""
        if _BLOCKS not in self.attributes:
            return self.devices
        packet = next(device for device in self.ours if device.name == _PACKET.name)
        blocks = replace(
            packet,
            name=f"{packet.name}_blocks",
            label=f"{packet.label}, blocks",
            attributes=(*packet.attributes, f"{_BLOCKS}=true"),
        )
        return (*self.devices, blocks)


def _works(session: Session, pair: Pair, device: Device) -> None:
    """BenchError if it does not carry frames between the pair."""
    before = frames_in(pair.right)
    words = ["--mode=send", "--layer=port", "--interface=eth0", "--duration=0.02"]
    done = json.loads(pair.left.run([session.program(RATE), *words, *device.command()]))
    if not done["sent"] or frames_in(pair.right) == before:
        raise BenchError("no frame arrived")


def find(session: Session, pair: Pair) -> Found:
    """Try what the build and the kernel have."""
    names = attributes(session)
    packet = replace(_PACKET, attributes=(f"{_PORT}=AfPacket",)) if _PORT in names else _PACKET
    devices: list[Device] = [TRADITIONAL, packet]
    missing = []
    for name, label, value in _OTHERS:
        device = Device(name, label, _PACKET.words, (f"{_PORT}={value}",))
        if _PORT not in names:
            missing.append(f"{label}: left out, RingNetDevice has no attribute {_PORT} here.")
            continue
        try:
            _works(session, pair, device)
        except BenchError as error:
            missing.append(f"{label}: left out, it does not work here ({error}).")
            continue
        devices.append(device)
    return Found(tuple(devices), tuple(missing), tuple(names))


def best(rates: dict[str, Sequence[float]], systems: Sequence[Device]) -> Device:
    """The one with the highest median."""

    def median(device: Device) -> Any:
        values = sorted(rates[device.name])
        return values[len(values) // 2]

    return max(systems, key=median)
