"""One run of the harness: its objects, its processes, and its clean-up."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .process import BenchError, Child, Kind, Record, remove_leftovers, remove_namespace, run

SENDER_CPU = 0
FORWARDER_CPU = 1


def remove_lab(viaduct: Path, name: str) -> None:
    """`viaduct down`; not an error if it is gone."""
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        subprocess.run([str(viaduct), "down", name], capture_output=True, check=False, timeout=60)


@dataclass(frozen=True)
class Namespace:
    """A named network namespace."""

    name: str

    def command(self, command: Sequence[str], cpu: int | None = None) -> list[str]:
        """The command, to be run in this namespace and pinned to a CPU.

        Forwarders run at nice -20, as the product's simulator makes itself: same chances for all.
        """
        pin = ["taskset", "-c", str(cpu)] if cpu is not None else []
        if cpu == FORWARDER_CPU:
            pin += ["nice", "-n", "-20"]
        return ["nsenter", f"--net=/run/netns/{self.name}", *pin, *command]

    def run(self, command: Sequence[str], cpu: int | None = None) -> str:
        """Run a command here to its end."""
        return run(self.command(command, cpu))

    def ip(self, lines: Sequence[str]) -> None:
        """Several `ip` commands in one process."""
        done = subprocess.run(
            ["ip", "-n", self.name, "-batch", "-"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise BenchError(f"ip in {self.name}: {done.stderr.strip()}")

    def sysctl(self, settings: Sequence[str]) -> None:
        """Each "net.ipv4.ip_forward=1"."""
        self.run(["sysctl", "-qw", *settings])

    def addresses(self) -> list[str]:
        """IPv4 addresses other than loopback."""
        links = json.loads(run(["ip", "-n", self.name, "-4", "-j", "addr", "show"]))
        return [
            entry["local"]
            for link in links
            if link.get("ifname") != "lo"
            for entry in link.get("addr_info", [])
        ]


class Session:
    """Makes namespaces, labs and processes, and removes them when it is closed."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self._prefix = f"vdbench-{os.getpid()}"
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Session:
        """Remove what earlier runs left, then record this one."""
        remove_leftovers(lambda lab: remove_lab(self.viaduct, lab))
        self._record = Record()
        self._stack.callback(self._record.close)
        self.directory = self._record.directory
        return self

    def __exit__(self, *_: object) -> None:
        """Remove everything, last made first."""
        self._stack.close()

    @property
    def viaduct(self) -> Path:
        """The product's command."""
        return self.build / "viaduct"

    def program(self, name: str) -> str:
        """Path of a benchmark program; BenchError if it is not built."""
        for folder in ("bench", "", "examples"):
            path = self.build / folder / name
            if path.exists():
                return str(path)
        raise BenchError(f"{name} is not built; run `make benchmarks`")

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Objects created inside are removed at its end."""
        outer = self._stack
        with contextlib.ExitStack() as self._stack:
            try:
                yield
            finally:
                inner, self._stack = self._stack, outer
                inner.close()

    def _recorded(self, kind: Kind, name: str, remove: Callable[[str], None]) -> str:
        full = f"{self._prefix}-{name}"
        self._record.add(kind, full)
        self._stack.callback(remove, full)
        return full

    def namespace(self, name: str) -> Namespace:
        """Make a namespace with loopback up and IPv6 off (its neighbour discovery is noise)."""
        full = self._recorded("namespaces", name, self._remove_namespace)
        run(["ip", "netns", "add", full])
        made = Namespace(full)
        made.ip(["link set lo up"])
        made.sysctl(["net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"])
        return made

    def _remove_namespace(self, full: str) -> None:
        remove_namespace(full)
        self._record.discard("namespaces", full)

    def lab_name(self, name: str) -> str:
        """A lab of the product's, to be removed at the end."""
        return self._recorded("labs", name, self._remove_lab)

    def _remove_lab(self, full: str) -> None:
        remove_lab(self.viaduct, full)
        self._record.discard("labs", full)

    def start(self, command: Sequence[str], stdin: int = subprocess.DEVNULL) -> Child:
        """Start a process that ends with the session at the latest."""
        child = Child(command, stdin)
        self._stack.callback(child.end)
        return child


def join(a: Namespace, if_a: str, b: Namespace, if_b: str) -> None:
    """A veth pair between two namespaces, up at both ends."""
    a.ip([f"link add {if_a} type veth peer name {if_b} netns {b.name}", f"link set {if_a} up"])
    b.ip([f"link set {if_b} up"])


def frames_only(namespace: Namespace, interface: str) -> None:
    """Offloads off: every frame complete and no longer than the MTU, as userspace needs it."""
    namespace.run(
        ["ethtool", "-K", interface]
        + [word for name in ("tx", "rx", "tso", "gso", "gro", "sg") for word in (name, "off")]
    )
