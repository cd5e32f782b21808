"""The product under test, as a user runs it: labs by `viaduct up`."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .forwarder import Forwarder
from .process import BenchError, run
from .session import FORWARDER_CPU, Namespace, Session
from .systems import CONVERGENCE_TIMEOUT

_SIMULATOR = "viaduct-sim"
_FORWARDER = "viaduct-forward"  # process name of the lab's forwarder (data plane userspace)


@dataclass(frozen=True)
class Setting:
    """Where a lab's packets are forwarded."""

    name: str  # the system's name in the rows of results
    label: str
    mode: str
    plane: str = ""  # data plane of Viaduct; empty: the mode's default

    def lines(self) -> list[str]:
        """Of the scenario file."""
        plane = [f"data_plane: {self.plane}"] if self.plane else []
        return [f"mode: {self.mode}", *plane]


IN_SIMULATOR = Setting("insim", "ns-3 with Viaduct", "emulate")
KERNEL_ROUTES = Setting("offload", "Viaduct, data plane in the kernel", "offload")


def on_plane(name: str) -> Setting:
    """The data plane of this name in the product's table."""
    known = {"kernel": KERNEL_ROUTES, "simulator": IN_SIMULATOR}
    return known.get(name) or Setting(name, f"Viaduct, data plane {name}", "offload", name)


def planes_in(page: str) -> list[str]:
    """The values of `data_plane` in docs/scenario.md."""
    found = re.search(r"^\| `data_plane` \| [^|]*one of ([\w, ]+) \|", page, re.MULTILINE)
    if found is None:
        raise BenchError("viaduct docs scenario: it does not list the data planes")
    return found.group(1).split(", ")


def plane_names(session: Session) -> list[str]:
    """The product's data planes, but for `auto`, which is one of the others."""
    names = planes_in(run([str(session.viaduct), "docs", "scenario"]))
    return [name for name in names if name != "auto"]


def faster_planes(session: Session) -> list[Setting]:
    """Those of eBPF, as far as this build has them."""
    return [on_plane(name) for name in plane_names(session) if name in ("ebpf", "joined")]


def _write(session: Session, place: str, lines: Sequence[str]) -> tuple[str, Path]:
    """The name of a lab, and the file that describes it."""
    lab = session.lab_name(place)
    file = session.directory / f"{lab}.yaml"
    file.write_text("\n".join([f"name: {lab}", *lines]) + "\n")
    return lab, file


def _line(setting: Setting, nodes: int, protocol: str) -> list[str]:
    """Routers in a line between two hosts."""
    routers = [f"r{i}" for i in range(1, nodes + 1)]
    lines = [*setting.lines(), f"routing: {{protocol: {protocol}}}", "nodes:"]
    for host, gateway in (("s", routers[0]), ("d", routers[-1])):
        lines.append(f"  {host}: {{host: true, gateway: {gateway}}}")
    lines += [f"  {router}: {{}}" for router in routers]
    return [*lines, "links:", f"  - line: [s, {', '.join(routers)}, d]"]


def setup_seconds(session: Session, nodes: int) -> float:
    """Seconds until a lab of OLSR routers is built, as `viaduct run` reports them."""
    lab, scenario = _write(session, f"setup{nodes}", _line(KERNEL_ROUTES, nodes, "OLSR"))
    report = session.directory / f"{lab}.json"
    settings = ("duration=1s", "convergence.timeout=1s", "convergence.required=false")
    command = [str(session.viaduct), "run", str(scenario), "--json", str(report)]
    run(command + [word for setting in settings for word in ("--set", setting)], timeout=120)
    return json.loads(report.read_text())["setup_seconds"]


def teardown_seconds(session: Session, system: Forwarder) -> float:
    """Seconds until `viaduct down` has ended; none of the lab's namespaces may have a name then."""
    started = time.monotonic()
    run([str(session.viaduct), "down", system.lab])
    seconds = time.monotonic() - started
    left = sorted(file.name for file in Path("/run/netns").glob(f"{system.lab}.*"))
    if left:
        raise BenchError(f"viaduct down left namespaces behind: {', '.join(left)}")
    return seconds


def _forwarding_processes(session: Session) -> set[int]:
    """Processes that forward, where one does."""
    simulator = (session.build / _SIMULATOR).resolve()
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (
                (entry / "exe").readlink() == simulator
                or (entry / "comm").read_text().strip() == _FORWARDER
            ):
                found.add(int(entry.name))
    return found


def _broker_of(session: Session, lab: str) -> int:
    listed = json.loads(run([str(session.viaduct), "ls", "--json"]))
    return next(entry["broker_pid"] for entry in listed if entry["lab"] == lab)


def bring_up(
    session: Session, setting: Setting, place: str, lines: Sequence[str], ends: tuple[str, str]
) -> Forwarder:
    """A lab between two of its nodes; `lines` of its scenario file, without the name."""
    lab, scenario = _write(session, place, lines)
    others = _forwarding_processes(session)
    run([str(session.viaduct), "up", "--quiet", str(scenario)], timeout=CONVERGENCE_TIMEOUT + 30)
    mine = sorted(_forwarding_processes(session) - others)
    for pid in mine:
        run(["taskset", "-a", "-p", "-c", str(FORWARDER_CPU), str(pid)])
    source, sink = (Namespace(f"{lab}.{end}") for end in ends)
    return Forwarder(
        setting.name,
        setting.label,
        source,
        sink,
        sink.addresses()[0],
        processes=[*mine, _broker_of(session, lab)],
        lab=lab,
    )


def line(session: Session, setting: Setting, nodes: int, protocol: str = "OLSR") -> Forwarder:
    """Routers in a line between two hosts."""
    place = f"{setting.name}{nodes}"
    return bring_up(session, setting, place, _line(setting, nodes, protocol), ("s", "d"))
