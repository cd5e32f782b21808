"""The emulators of the benchmark `path`, each between b0 and b1 of a namespace of its own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from .forwarder import Middle, between
from .path_traffic import await_path
from .process import BenchError, run
from .session import FORWARDER_CPU, Session

DELAY = "delay=10ms"
# A path with every stage on, none of them limiting: its losses are below the loss that counts as
# loss-free.
ALL_STAGES = (
    "delay=10ms jitter=100us dist=normal order=free loss=0.01% dup=0.01% reorder=0.01% "
    "ber=1e-9 rate=20Gbit queue=10000p aqm=codel"
)

_numbers = itertools.count()


def _between(session: Session, name: str, label: str) -> Middle:
    return between(session, f"{name}{next(_numbers)}", name, label)


def _process(session: Session, name: str, label: str, *command: str) -> Middle:
    system = _between(session, name, label)
    system.take_all_frames()
    system.start(session, *command)
    await_path(session, system)
    return system


def bare(session: Session) -> Middle:
    """The limit: bursts from one of our ports to the other, nothing in between."""
    label = "bare forwarder on the same ports"
    return _process(session, "bare", label, "userspace-bridge", "ring", "b0", "b1")


def ns3_link(session: Session) -> Middle:
    """ns-3: a point-to-point link of 10 ms between two RingNetDevices."""
    label = "ns-3, point-to-point link between two RingNetDevices"
    options = ("--left=b0", "--right=b1", "--delay=10ms")
    return _process(session, "ns3", label, "ns3-path", *options)


def product(
    session: Session, name: str, label: str, spec: str, links: int = 0, options: Sequence[str] = ()
) -> Middle:
    """`viaduct path`, as a user runs it; with `links`, that many VLANs each with the SPEC."""
    system = _between(session, name, label)
    system.vlans = links
    pairs = [f"b0:vlan={vlan},b1:vlan={vlan}" for vlan in range(1, links + 1)]
    ends = [word for pair in pairs for word in ("--pair", pair)] or ["--between", "b0", "b1"]
    words = [*ends, "--up", spec, "--down", spec, "--cpus", str(FORWARDER_CPU), *options]
    system.start(session, "viaduct", "path", *words)
    await_path(session, system)
    return system


def taps(session: Session, name: str, label: str, spec: str) -> Middle:
    """The same between two TAP devices, each on a bridge with one of the interfaces."""
    system = _between(session, name, label)
    for number in (0, 1):
        system.middle.ip(
            [
                f"tuntap add dev t{number} mode tap",
                f"link set t{number} up",
                f"link add br{number} type bridge mcast_snooping 0",
                f"link set b{number} master br{number}",
                f"link set t{number} master br{number}",
                f"link set br{number} up",
            ]
        )
    words = ["--between", "t0", "t1", "--port", "tap", "--up", spec, "--down", spec]
    system.start(session, "viaduct", "path", *words, "--cpus", str(FORWARDER_CPU))
    await_path(session, system)
    return system


@dataclass(frozen=True)
class Missing:
    """A peer that cannot run here."""

    label: str
    why: str


def kernel_qdisc(session: Session, kind: str, arguments: Sequence[str]) -> Middle | Missing:
    """A Linux bridge whose way out has a queueing discipline of the kernel."""
    system = _between(session, kind, f"Linux {kind} on a bridge port")
    system.bridge()
    try:
        system.middle.run(["tc", "qdisc", "add", "dev", "b1", "root", kind, *arguments])
    except BenchError:
        release = run(["uname", "-r"]).strip()
        return Missing(system.label, f"this kernel ({release}) has no sch_{kind}")
    await_path(session, system)
    return system
