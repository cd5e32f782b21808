"""A forwarder under test, between a source and a sink on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .process import BenchError, Child, wait_until
from .session import FORWARDER_CPU, Namespace, Session, join


@dataclass
class Forwarder:
    """A running system."""

    name: str
    label: str
    source: Namespace
    sink: Namespace
    sink_address: str = ""
    child: Child | None = None
    processes: Sequence[int] = ()  # PIDs of the forwarder's processes, if it is not a single child
    lab: str = ""
    # Whether UDP is sent as complete frames through the source's interface, as by a packet
    # generator, past the source's IP stack, which costs more time than many a system. False where
    # the source's stack must look for the route.
    frames: bool = True

    def pids(self) -> Sequence[int]:
        """Its processes; none if the kernel forwards."""
        return [self.child.pid] if self.child else self.processes

    def await_path(self, passes: Callable[[], bool], timeout: float) -> None:
        """Wait until `passes` says that something has come through."""

        def alive_and_passes() -> bool:
            if self.child:
                self.child.require_running(self.label)
            return passes()

        if not wait_until(alive_and_passes, timeout):
            raise BenchError(f"{self.label}: nothing came through in {timeout:.0f} s")

    def stop(self) -> None:
        """End one that is no longer needed."""
        if self.child:
            self.child.end(timeout=10)


@dataclass(kw_only=True)
class Line(Forwarder):
    """Plain namespaces that forward."""

    routers: Sequence[Namespace]


@dataclass(kw_only=True)
class Middle(Forwarder):
    """One that joins the interfaces b0 and b1 of a namespace of its own."""

    middle: Namespace
    vlans: int = 0  # number of links, each a VLAN of the two interfaces; 0: untagged frames

    def bridge(self) -> None:
        """Join them by a Linux bridge."""
        self.middle.ip(
            ["link add br0 type bridge", "link set b0 master br0", "link set b1 master br0"]
            + ["link set br0 up"]
        )

    def take_all_frames(self) -> None:
        """Let both interfaces take in frames for other stations."""
        self.middle.ip(["link set b0 promisc on", "link set b1 promisc on"])

    def start(self, session: Session, program: str, *words: str) -> None:
        """Start the forwarder's process."""
        command = [session.program(program), *words]
        self.child = session.start(self.middle.command(command, FORWARDER_CPU))


def between(session: Session, place: str, name: str, label: str) -> Middle:
    """A source and a sink with nothing yet between them, in namespaces called after `place`."""
    source, middle, sink = (session.namespace(f"{place}-{role}") for role in "smd")
    join(source, "eth0", middle, "b0")
    join(sink, "eth0", middle, "b1")
    return Middle(name=name, label=label, source=source, sink=sink, middle=middle)
