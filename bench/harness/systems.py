"""The systems under test, each between a source and a sink host on this machine."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from .process import BenchError, Child, run, wait_until
from .session import FORWARDER_CPU, Namespace, Session, frames_only, join
from .traffic import reaches

_CONVERGENCE_TIMEOUT = 90.0


@dataclass
class Running:
    """A system that is up."""

    name: str
    label: str
    source: Namespace
    sink: Namespace
    sink_address: str
    child: Child | None = None
    processes: list[int] = field(default_factory=list)
    lab: str = ""

    def pids(self) -> list[int]:
        """The forwarder's processes."""
        return self.processes

    def await_path(self) -> None:
        """Wait until packets reach the sink."""
        if not wait_until(lambda: self._alive() and reaches(self), _CONVERGENCE_TIMEOUT):
            raise BenchError(
                f"{self.label}: no packet came through in {_CONVERGENCE_TIMEOUT:.0f} s"
            )

    def _alive(self) -> bool:
        if self.child and not self.child.running():
            self.child.finish(timeout=1)
            raise BenchError(f"{self.label}: the forwarder ended")
        return True


def _bridged_hosts(session: Session, name: str) -> tuple[Namespace, Namespace, Namespace]:
    """Source and sink in one subnet, joined to the interfaces b0 and b1 of a third namespace."""
    source, middle, sink = (session.namespace(f"{name}-{role}") for role in "sbd")
    join(source, "eth0", middle, "b0")
    join(sink, "eth0", middle, "b1")
    source.ip(["addr add 10.0.0.1/24 dev eth0"])
    sink.ip(["addr add 10.0.0.2/24 dev eth0"])
    return source, middle, sink


def kernel_bridge(session: Session) -> Running:
    """A Linux bridge."""
    source, middle, sink = _bridged_hosts(session, "kbr")
    middle.ip(
        ["link add br0 type bridge", "link set b0 master br0", "link set b1 master br0"]
        + ["link set br0 up"]
    )
    return Running("kernel", "kernel bridge", source, sink, "10.0.0.2")


def _process_bridge(session: Session, name: str, label: str, command: list[str]) -> Running:
    source, middle, sink = _bridged_hosts(session, name)
    for namespace, interface in ((source, "eth0"), (sink, "eth0"), (middle, "b0"), (middle, "b1")):
        frames_only(namespace, interface)
    middle.ip(["link set b0 promisc on", "link set b1 promisc on"])
    child = session.start(middle.command(command, FORWARDER_CPU))
    return Running(name, label, source, sink, "10.0.0.2", child, [child.pid])


def userspace_bridge(session: Session) -> Running:
    """A process that reads and writes packet sockets, one frame a call (the thesis's)."""
    command = [session.program("userspace-bridge"), "socket", "b0", "b1"]
    return _process_bridge(session, "userspace", "userspace process", command)


def ring_bridge(session: Session) -> Running:
    """A process that moves bursts through the product's ports."""
    command = [session.program("userspace-bridge"), "ring", "b0", "b1"]
    return _process_bridge(session, "ring", "userspace process, our ports", command)


def ns3_bridge(session: Session, device: str) -> Running:
    """An ns-3 BridgeNetDevice on ns-3's own (fd) or our (ring) devices."""
    label = {"fd": "ns-3 traditional", "ring": "ns-3 with Viaduct"}[device]
    name = {"fd": "traditional", "ring": "insim"}[device]
    command = [session.program("ns3-bridge"), f"--device={device}", "--left=b0", "--right=b1"]
    return _process_bridge(session, name, label, command)


_TRADITIONAL = {
    "csma": ("traditional", "ns-3 traditional"),
    "p2p": ("traditional_p2p", "ns-3 traditional, point-to-point"),
}


def traditional_line(session: Session, nodes: int, channel: str = "csma") -> Running:
    """ns-3's own emulation of OLSR routers in a line, with `csma` or `p2p` between them."""
    name = f"trad-{channel}{nodes}"
    source, middle, sink = (session.namespace(f"{name}-{role}") for role in "srd")
    for host, interface, network in ((source, "r0", "10.1.0"), (sink, "r1", "10.2.0")):
        join(host, "eth0", middle, interface)
        host.ip([f"addr add {network}.1/24 dev eth0", f"route add default via {network}.254"])
        frames_only(host, "eth0")
        frames_only(middle, interface)
    command = [session.program("ns3-line"), f"--nodes={nodes}", f"--channel={channel}"]
    command += ["--left=r0", "--right=r1"]
    child = session.start(middle.command(command, FORWARDER_CPU))
    kind, label = _TRADITIONAL[channel]
    return Running(kind, label, source, sink, "10.2.0.1", child, [child.pid])


def kernel_line(session: Session, nodes: int) -> Running:
    """Plain namespaces with static routes, laid out as the product lays its labs out."""
    roles = ["s", *(f"r{i}" for i in range(1, nodes + 1)), "d"]
    line = [session.namespace(f"k{nodes}-{role}") for role in roles]
    for i, (left, right) in enumerate(zip(line, line[1:], strict=False)):
        left_if = "eth0" if i == 0 else "eth1"
        join(left, left_if, right, "eth0")
        left.ip([f"addr add 10.4.{i}.1/30 dev {left_if}"])
        right.ip([f"addr add 10.4.{i}.2/30 dev eth0"])
    last = nodes  # number of the last link
    line[0].ip(["route add default via 10.4.0.2"])
    line[-1].ip([f"route add default via 10.4.{last}.1"])
    for i, router in enumerate(line[1:-1]):
        router.sysctl(["net.ipv4.ip_forward=1"])
        routes = []
        if i > 0:
            routes.append(f"route add 10.4.0.0/30 via 10.4.{i}.1")
        if i + 1 < last:
            routes.append(f"route add 10.4.{last}.0/30 via 10.4.{i + 1}.2")
        if routes:
            router.ip(routes)
    return Running("kernel", "kernel, static routes", line[0], line[-1], f"10.4.{last}.2")


_PRODUCT_LABELS = {
    "emulate": ("insim", "ns-3 with Viaduct"),
    "offload": ("offload", "Viaduct, data plane in the kernel"),
}


def _line_scenario(name: str, mode: str, nodes: int) -> str:
    routers = [f"r{i}" for i in range(1, nodes + 1)]
    hosts = {"s": routers[0], "d": routers[-1]}
    lines = [f"name: {name}", f"mode: {mode}", "nodes:"]
    lines += [f"  {host}: {{host: true, gateway: {gateway}}}" for host, gateway in hosts.items()]
    lines += [f"  {router}: {{}}" for router in routers]
    lines += ["links:", f"  - line: [s, {', '.join(routers)}, d]"]
    return "\n".join(lines) + "\n"


def lab_namespaces(lab: str) -> list[str]:
    """Namespaces of a lab that exist."""
    return sorted(file.name for file in Path("/run/netns").glob(f"{lab}.*"))


def _scenario(session: Session, name: str, mode: str, nodes: int) -> tuple[str, Path]:
    lab = session.lab_name(name)
    file = session.directory / f"{lab}.yaml"
    file.write_text(_line_scenario(lab, mode, nodes))
    return lab, file


def setup_seconds(session: Session, nodes: int) -> float:
    """Seconds until a lab is built, as `viaduct run` reports them."""
    lab, scenario = _scenario(session, f"setup{nodes}", "offload", nodes)
    report = session.directory / f"{lab}.json"
    settings = ("duration=1s", "convergence.timeout=1s", "convergence.required=false")
    command = [str(session.viaduct), "run", str(scenario), "--json", str(report)]
    run(command + [word for setting in settings for word in ("--set", setting)], timeout=120)
    return json.loads(report.read_text())["setup_seconds"]


def teardown_seconds(session: Session, running: Running) -> float:
    """Seconds until `viaduct down` has ended; none of the lab's namespaces may have a name then."""
    started = time.monotonic()
    run([str(session.viaduct), "down", running.lab])
    seconds = time.monotonic() - started
    left = lab_namespaces(running.lab)
    if left:
        raise BenchError(f"viaduct down left namespaces behind: {', '.join(left)}")
    return seconds


def _processes_of(program: Path) -> set[int]:
    """Processes that execute a program."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "exe").readlink() == program.resolve():
                found.add(int(entry.name))
    return found


def _broker_of(session: Session, lab: str) -> int:
    listed = json.loads(run([str(session.viaduct), "ls", "--json"]))
    return next(entry["broker_pid"] for entry in listed if entry["lab"] == lab)


def product_line(session: Session, mode: str, nodes: int) -> Running:
    """The product, as a user runs it: `viaduct up` of OLSR routers in a line between two hosts."""
    name, label = _PRODUCT_LABELS[mode]
    lab, scenario = _scenario(session, f"{name}{nodes}", mode, nodes)
    simulator = session.build / "viaduct-sim"
    others = _processes_of(simulator)
    run([str(session.viaduct), "up", "--quiet", str(scenario)], timeout=_CONVERGENCE_TIMEOUT + 30)
    mine = sorted(_processes_of(simulator) - others)
    for pid in mine:
        run(["taskset", "-a", "-p", "-c", str(FORWARDER_CPU), str(pid)])
    sink = Namespace(f"{lab}.d")
    return Running(
        name,
        label,
        Namespace(f"{lab}.s"),
        sink,
        sink.addresses()[0],
        processes=[*mine, _broker_of(session, lab)],
        lab=lab,
    )
