"""The emulators of the benchmark `path`, each between b0 and b1 of a namespace of its own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from .path_traffic import Emulator, await_path
from .process import BenchError, run
from .session import FORWARDER_CPU, Namespace, Session, join

DELAY = "delay=10ms"
# Every stage on, none of them limiting: what it loses stays below what counts as loss-free.
ALL_STAGES = (
    "delay=10ms jitter=100us dist=normal order=free loss=0.01% dup=0.01% reorder=0.01% "
    "ber=1e-9 rate=20Gbit queue=10000p aqm=codel"
)

_numbers = itertools.count()


def _between(session: Session, name: str) -> tuple[Namespace, Namespace, Namespace]:
    number = next(_numbers)
    source, middle, sink = (session.namespace(f"{name}{number}-{role}") for role in "smd")
    join(source, "eth0", middle, "b0")
    join(sink, "eth0", middle, "b1")
    return source, middle, sink


def bare(session: Session) -> Emulator:
    """The limit: bursts from one of our ports to the other, nothing in between."""
    source, middle, sink = _between(session, "bare")
    middle.ip(["link set b0 promisc on", "link set b1 promisc on"])
    command = [session.program("userspace-bridge"), "ring", "b0", "b1"]
    child = session.start(middle.command(command, FORWARDER_CPU))
    system = Emulator("bare", "bare forwarder on the same ports", source, middle, sink, child)
    await_path(session, system)
    return system


def ns3_link(session: Session) -> Emulator:
    """ns-3: a point-to-point link of 10 ms between two RingNetDevices."""
    source, middle, sink = _between(session, "ns3")
    middle.ip(["link set b0 promisc on", "link set b1 promisc on"])
    command = [session.program("ns3-path"), "--left=b0", "--right=b1", "--delay=10ms"]
    child = session.start(middle.command(command, FORWARDER_CPU))
    label = "ns-3, point-to-point link between two RingNetDevices"
    system = Emulator("ns3", label, source, middle, sink, child)
    await_path(session, system)
    return system


def product(
    session: Session,
    name: str,
    label: str,
    up: str,
    down: str = "",
    links: int = 0,
    options: Sequence[str] = (),
) -> Emulator:
    """`viaduct path`, as a user runs it; with `links`, that many VLANs each with the SPEC."""
    source, middle, sink = _between(session, name)
    command = [str(session.viaduct), "path"]
    if links:
        for vlan in range(1, links + 1):
            command += ["--pair", f"b0:vlan={vlan},b1:vlan={vlan}"]
    else:
        command += ["--between", "b0", "b1"]
    command += ["--up", up, "--down", down or up, "--cpus", str(FORWARDER_CPU), *options]
    child = session.start(middle.command(command, FORWARDER_CPU))
    system = Emulator(name, label, source, middle, sink, child, vlans=links)
    await_path(session, system)
    return system


def stop(system: Emulator) -> None:
    """End an emulator that is no longer needed."""
    if system.child:
        system.child.end(patience=10)


@dataclass(frozen=True)
class Missing:
    """A peer that cannot run here."""

    label: str
    why: str


def kernel_qdisc(session: Session, kind: str, arguments: Sequence[str]) -> Emulator | Missing:
    """A Linux bridge whose way out has a queueing discipline of the kernel."""
    label = f"Linux {kind} on a bridge port"
    source, middle, sink = _between(session, kind)
    middle.ip(["link add br0 type bridge", "link set b0 master br0", "link set b1 master br0"])
    middle.ip(["link set br0 up"])
    try:
        middle.run(["tc", "qdisc", "add", "dev", "b1", "root", kind, *arguments])
    except BenchError:
        return Missing(label, f"this kernel ({run(['uname', '-r']).strip()}) has no sch_{kind}")
    system = Emulator(kind, label, source, middle, sink)
    await_path(session, system)
    return system
