"""The systems under test, each between a source and a sink host on this machine."""

from __future__ import annotations

from .forwarder import Forwarder, Line, Middle, between
from .session import Session, frames_only, join
from .traffic import reaches

CONVERGENCE_TIMEOUT = 90.0  # seconds to wait for the routes


def await_path(system: Forwarder) -> None:
    """Wait until packets reach the sink."""
    system.await_path(lambda: reaches(system), CONVERGENCE_TIMEOUT)


def _bridged_hosts(session: Session, place: str, name: str, label: str) -> Middle:
    """Source and sink in one subnet."""
    system = between(session, place, name, label)
    system.source.ip(["addr add 10.0.0.1/24 dev eth0"])
    system.sink.ip(["addr add 10.0.0.2/24 dev eth0"])
    system.sink_address = "10.0.0.2"
    return system


def kernel_bridge(session: Session) -> Forwarder:
    """A Linux bridge."""
    system = _bridged_hosts(session, "kbr", "kernel", "kernel bridge")
    system.bridge()
    return system


# The systems: name, label, program and its arguments; the traditional system and Viaduct's are
# last.
_BRIDGES = (
    # The program forwards one frame per call, as in the thesis, or bursts through Viaduct's ports.
    ("userspace", "userspace process", "userspace-bridge", "socket", "b0", "b1"),
    ("ring", "userspace process, our ports", "userspace-bridge", "ring", "b0", "b1"),
    # An ns-3 BridgeNetDevice on ns-3's own devices (fd) and on Viaduct's (ring).
    ("traditional", "ns-3 traditional", "ns3-bridge", "--device=fd", "--left=b0", "--right=b1"),
    ("insim", "ns-3 with Viaduct", "ns3-bridge", "--device=ring", "--left=b0", "--right=b1"),
)


def userspace_bridge(session: Session, name: str, label: str, *command: str) -> Forwarder:
    """A process that forwards frames."""
    system = _bridged_hosts(session, name, name, label)
    for host in (system.source, system.sink):
        frames_only(host, "eth0")
    for interface in ("b0", "b1"):
        frames_only(system.middle, interface)
    system.take_all_frames()
    system.start(session, *command)
    return system


def userspace_bridges(session: Session) -> list[Forwarder]:
    """Those that the thesis and we have."""
    return [userspace_bridge(session, *bridge) for bridge in _BRIDGES]


_TRADITIONAL = {
    "csma": ("traditional", "ns-3 traditional"),
    "p2p": ("traditional_p2p", "ns-3 traditional, point-to-point"),
}


def traditional_line(session: Session, nodes: int, channel: str = "csma") -> Forwarder:
    """ns-3's own emulation of OLSR routers in a line, with `csma` or `p2p` between them."""
    system = between(session, f"trad-{channel}{nodes}", *_TRADITIONAL[channel])
    hosts = ((system.source, "10.1.0"), (system.sink, "10.2.0"))
    for interface, (host, network) in zip(("b0", "b1"), hosts, strict=True):
        host.ip([f"addr add {network}.1/24 dev eth0", f"route add default via {network}.254"])
        frames_only(host, "eth0")
        frames_only(system.middle, interface)
    system.sink_address = "10.2.0.1"
    options = [f"--nodes={nodes}", f"--channel={channel}", "--left=b0", "--right=b1"]
    system.start(session, "ns3-line", *options)
    return system


def plain_line(session: Session, place: str, name: str, label: str, nodes: int) -> Line:
    """Namespaces laid out as the product lays its labs out, whose routers have no routes yet."""
    roles = ["s", *(f"r{i}" for i in range(1, nodes + 1)), "d"]
    line = [session.namespace(f"{place}{nodes}-{role}") for role in roles]
    for i, (left, right) in enumerate(zip(line, line[1:], strict=False)):
        left_if = "eth0" if i == 0 else "eth1"
        join(left, left_if, right, "eth0")
        left.ip([f"addr add 10.4.{i}.1/30 dev {left_if}"])
        right.ip([f"addr add 10.4.{i}.2/30 dev eth0"])
    for router in line[1:-1]:
        router.sysctl(["net.ipv4.ip_forward=1"])
    return Line(
        name=name,
        label=label,
        source=line[0],
        sink=line[-1],
        sink_address=f"10.4.{nodes}.2",
        routers=line[1:-1],
    )


def kernel_line(session: Session, nodes: int) -> Line:
    """Plain namespaces with static routes."""
    line = plain_line(session, "k", "kernel", "kernel, static routes", nodes)
    last = nodes  # the number of the last link
    line.source.ip(["route add default via 10.4.0.2"])
    line.sink.ip([f"route add default via 10.4.{last}.1"])
    for i, router in enumerate(line.routers):
        routes = []
        if i > 0:
            routes.append(f"route add 10.4.0.0/30 via 10.4.{i}.1")
        if i + 1 < last:
            routes.append(f"route add 10.4.{last}.0/30 via 10.4.{i + 1}.2")
        if routes:
            router.ip(routes)
    return line
