"""Part of benchmark `clients`: a lab of 16 nodes on one host, and on two."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from . import traffic
from .analysis import ratio_of_rounds
from .forwarder import Forwarder
from .measure import loss_free
from .plan import Plan
from .process import BenchError, run
from .product import KERNEL_ROUTES, bring_up
from .results import Result, measured
from .session import FORWARDER_CPU, Namespace, Session, join

_NODES = 16  # number of nodes: two hosts at the ends, 14 routers
_HALF = _NODES // 2
_TIMEOUT = 60  # seconds until the routes of both hosts exist


@dataclass(frozen=True)
class Host(Namespace):
    """A namespace that stands for a host: names and records of labs are its own."""

    pid: int = 0

    def enter(self) -> list[str]:
        """What runs a command there."""
        return ["nsenter", "-t", str(self.pid), "--net", "--mount", "--uts", "--"]


@dataclass(frozen=True)
class PlaceOnHost(Namespace):
    """A node's namespace, which only its host knows by name."""

    host: Host | None = None

    def command(self, command: Sequence[str], cpu: int | None = None) -> list[str]:
        """The command, to be run in the node."""
        assert self.host
        return [*self.host.enter(), *super().command(command, cpu)]


def _line(extra: Sequence[str], places: Sequence[str]) -> list[str]:
    """The scenario's file: s, r1 ... r14, d in a line; `places`: settings of the nodes."""
    names = ["s", *(f"r{i}" for i in range(1, _NODES - 1)), "d"]
    ends = {"s": "host: true, gateway: r1", "d": f"host: true, gateway: r{_NODES - 2}"}
    nodes = [
        f"  {name}: {{{', '.join(word for word in (ends.get(name), place) if word)}}}"
        for name, place in zip(names, places, strict=True)
    ]
    protocol = "routing: {protocol: static}"
    return [*extra, protocol, "nodes:", *nodes, "links:", f"  - line: [{', '.join(names)}]"]


def _on_one(session: Session) -> Forwarder:
    lines = _line(KERNEL_ROUTES.lines(), [""] * _NODES)
    return bring_up(session, KERNEL_ROUTES, "onehost", lines, ("s", "d"))


def _host(session: Session, number: int) -> Host:
    place = session.namespace(f"h{number}")
    script = (
        "for f in /run/netns /run/viaduct; do "
        "mkdir -p $f; mount -t tmpfs -o mode=755 none $f; done; "
        f"hostname h{number}; echo ready; exec sleep 1000000"
    )
    child = session.start(place.command(["unshare", "--mount", "--uts", "sh", "-c", script]))
    child.expect("ready", "stdout")
    return Host(place.name, child.pid)


def _agent(session: Session, hosts: dict[str, Host]) -> Path:
    """What mpirun starts in the place of ssh."""
    cases = "".join(
        f"{a}) shift; exec {' '.join(h.enter())} sh -c \"$*\";;\n" for a, h in hosts.items()
    )
    agent = session.directory / "agent"
    agent.write_text(f'#!/bin/sh\n[ "$1" = -x ] && shift\ncase "$1" in\n{cases}esac\n')
    agent.chmod(0o755)
    return agent


@contextlib.contextmanager
def _on_two(session: Session) -> Iterator[tuple[Forwarder, Host]]:
    with session.scope():
        first, second = _host(session, 1), _host(session, 2)
        join(first, "uplink", second, "uplink")
        addresses = {"192.0.2.1": first, "192.0.2.2": second}
        for address, host in addresses.items():
            # The MTU is as between machines: VXLAN frames are longer than the nodes' frames.
            host.ip([f"addr add {address}/24 dev uplink", "link set uplink mtu 1600"])
        hosts = ", ".join(f"h{i}: {{address: {a}}}" for i, a in enumerate(addresses, 1))
        lab = session.lab_name("twohosts")
        lines = _line(
            [f"name: {lab}", *KERNEL_ROUTES.lines(), "duration: 10h", f"hosts: {{{hosts}}}"],
            ["on_machine: h1"] * _HALF + ["on_machine: h2"] * _HALF,
        )
        file = session.directory / f"{lab}.yaml"
        file.write_text("\n".join(lines) + "\n")
        words = [f"OMPI_MCA_plm_rsh_agent={_agent(session, addresses)}"]
        words += [f"OMPI_MCA_orte_tmpdir_base={session.directory}"]
        command = session.start(
            [*first.enter(), "env", *words, str(session.viaduct), "run", str(file)]
        )
        try:
            said = []
            assert command.process.stderr
            while "converged" not in "".join(said[-1:]):
                said.append(command.process.stderr.readline())
                if not said[-1]:
                    raise BenchError(f"a lab on two hosts: {''.join(said).strip()}")
            source = PlaceOnHost(f"{lab}.s", first)
            sink = PlaceOnHost(f"{lab}.d", second)
            address = sink.run(["ip", "-4", "-o", "addr", "show", "eth0"]).split()[3].split("/")[0]
            yield Forwarder("two hosts", "on two hosts", source, sink, address), second
        finally:
            command.end(timeout=30)


def _steer(host: Host, cpu: int | None) -> None:
    """Which processor takes in what comes from the other host; None: the one that sends it."""
    mask = 0 if cpu is None else 1 << cpu
    place = "/sys/class/net/uplink/queues/rx-0/rps_cpus"
    run(["ip", "netns", "exec", host.name, "sh", "-c", f"echo {mask:x} > {place}"])


def measure(session: Session, plan: Plan, result: Result) -> None:
    """Fill in hosts2_vs_1: the loss-free rate of the whole line, whose middle link crosses."""
    rates: dict[str, list[float]] = {"one": [], "two": [], "shared": []}
    with session.scope(), _on_two(session) as (two, second):
        one = _on_one(session)
        shared = replace(two, name="two hosts, shared", label="the same, on one processor")
        systems = {"one": one, "two": two, "shared": shared}
        for system in (one, two):
            system.await_path(partial(traffic.reaches, system), _TIMEOUT)
        for _, order in plan.turns(list(systems)):
            for name in order:
                _steer(second, FORWARDER_CPU if name == "two" else None)
                rates[name].append(loss_free(session, plan, systems[name]))
                plan.say(f"{systems[name].label}: {rates[name][-1]:,.0f} packet/s without loss")
        result.ratios["hosts2_vs_1"] = ratio_of_rounds(rates["two"], rates["one"], 0.8)
        for name, system in systems.items():
            result.add(
                "two hosts",
                system,
                size=160,
                rounds=len(rates[name]),
                **measured("loss_free_pps", rates[name]),
                ratio_to_one=round(ratio_of_rounds(rates[name], rates["one"], 0).value, 3),
            )
