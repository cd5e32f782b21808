"""Hosts of a lab, stood for by namespaces of this machine: network, names, records of their own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labs import MARK, RUN, Running, enter_machine, environment, execute, wait_until

NEW_NAMES, NEW_TIME = 0x04000000, 0x80  # CLONE_NEWUTS, CLONE_NEWTIME of sched.h
MONOTONIC = 1  # CLOCK_MONOTONIC of time.h


def become_host(name: str, clock: str) -> None:
    """Makes this process a host, for others to enter, and waits to be killed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_TIME):
        raise OSError(ctypes.get_errno(), "unshare")
    Path("/proc/self/timens_offsets").write_text(f"{MONOTONIC} {clock} 0")  # before any child
    enter_machine(NEW_NAMES)
    libc.sethostname(name.encode(), len(name))
    # The clock is that of its children.
    subprocess.run(["sh", "-c", "echo ready; exec sleep 1000000"], check=False)


@dataclass
class Machine:
    """A host."""

    name: str
    address: str
    holder: subprocess.Popen[str]
    pid: int  # of a process in all of its namespaces

    def words(self, *command: str | Path) -> list[str]:
        """What runs the program there."""
        enter = ["nsenter", "-t", str(self.pid), "--net", "--mount", "--uts", "--time"]
        return [*enter, "--", *map(str, command)]

    def run(self, *command: str | Path) -> str:
        """The output of a program there."""
        return execute(self.words(*command)).expect().output

    def left(self) -> list[str]:
        """What labs have left there."""
        found = self.run("ip", "netns", "list").split()
        found += [n for n in self.run("ls", str(RUN)).split() if n[0] != "."]
        found += self.run("ip", "-o", "link", "show", "type", "vxlan").splitlines()
        own = Path(f"/proc/{self.pid}/ns/mnt").readlink()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if int(folder.name) != self.pid and (folder / "ns/mnt").readlink() == own:
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if words and "become_host" not in words:
                        found.append(f"process {folder.name} {words}")
        return found


@dataclass
class Machines:
    """Several machines on one network."""

    all: list[Machine]
    folder: Path
    bridge: str  # the namespace of their network
    extra: dict[str, str] = field(default_factory=dict)

    def start(self, *arguments: str | Path) -> Running:
        """`viaduct` on the first host."""
        enter = self.all[0].words("env", *(f"{k}={v}" for k, v in self.variables().items()))
        return Running(*arguments, before=enter)

    def variables(self) -> dict[str, str]:
        """What mpirun reaches the other hosts by."""
        own = {"OMPI_MCA_plm_rsh_agent": str(self.folder / "agent")}
        # Nobody finds another's temporary files on a host of their own.
        own |= {"OMPI_MCA_orte_tmpdir_base": str(self.folder), "TMPDIR": str(self.folder)}
        return {**own, **self.extra}

    def hosts(self, family: str = "ipv4") -> str:
        """The section of a scenario."""
        settings = (
            f"{m.name}: {{address: {m.address}}}"
            if family == "ipv4"
            else f"{m.name}: {{address: 'fd00:aa::{m.address.split('.')[-1]}', login: {m.address}}}"
            for m in self.all
        )
        return "machines: {" + ", ".join(settings) + "}"

    def demote(self, machine: Machine) -> None:
        """Who logs in there has no rights, and cannot get any."""
        (self.folder / f"nobody-{machine.address}").touch()
        self.folder.chmod(0o777)
        if sudo := shutil.which("sudo"):
            machine.run("mount", "--bind", "/dev/null", sudo)

    def plug(self, number: int, state: str) -> None:
        """Sets the other end of a host's cable up or down."""
        execute(["ip", "-n", self.bridge, "link", "set", "dev", f"p{number}", state]).expect()

    def left(self) -> list[str]:
        """What labs have left on any of them."""
        return [f"{m.name}: {what}" for m in self.all for what in m.left()]

    def await_nothing_left(self) -> None:
        """Fails if something stays."""
        wait_until(lambda: not self.left(), lambda: f"nothing left: {self.left()}")


# Who may read the build, which may lie in root's home, and nothing else.
NOBODY = (
    "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search "
    "--ambient-caps=+dac_read_search"
)


def _agent(machines: list[Machine], folder: str) -> str:
    cases = "".join(f'{m.address}|{m.name}) set -- {m.pid} "$@";;\n' for m in machines)
    return (
        f'#!/bin/sh\n[ "$1" = -x ] && shift\ncase "$1" in\n{cases}'
        '*) echo "ssh: no host $1" >&2; exit 255;;\nesac\n'
        f'pid=$1; [ -e "{folder}/nobody-$2" ] && drop="{NOBODY}"; shift 2\n'
        'exec nsenter -t "$pid" --net --mount --uts --time -- $drop sh -c "$*"\n'
    )


@contextlib.contextmanager
def machines(count: int, clocks: tuple[int, ...] = (), mtu: int = 1500) -> Iterator[Machines]:
    """So many hosts h1, h2, ... on one network, whose monotonic clocks are ahead by `clocks` s."""
    bridge = f"hb{os.getpid()}"
    execute(["ip", "netns", "add", bridge]).expect()
    found: list[Machine] = []
    try:
        for words in ("link add name lan type bridge", "link set dev lan up"):
            execute(["ip", "-n", bridge, *words.split()]).expect()
        with tempfile.TemporaryDirectory(prefix="hosts") as folder:
            for i in range(count):
                found.append(_machine(i, clocks[i] if i < len(clocks) else 0))
                _plug(found[-1], bridge, i, mtu)
            agent = Path(folder) / "agent"
            agent.write_text(_agent(found, folder))
            agent.chmod(0o755)
            yield Machines(found, Path(folder), bridge)
    finally:
        for machine in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(machine.pid, 9)
            machine.holder.kill()
            machine.holder.wait()
        execute(["ip", "netns", "delete", bridge])


def _machine(number: int, clock: int) -> Machine:
    name = f"h{number + 1}"
    code = f"import machines; machines.become_host('{name}', '{clock}')"
    places = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    holder = subprocess.Popen(
        [sys.executable, "-B", "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        # Not one of the processes that tests must not leave.
        env={**environment(), "PYTHONPATH": ":".join(places), MARK.split("=")[0]: ""},
    )
    assert holder.stdout
    assert holder.stdout.readline() == "ready\n"
    children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()
    return Machine(name, f"192.0.2.{number + 1}", holder, int(children[0]))


def _plug(machine: Machine, bridge: str, number: int, mtu: int) -> None:
    peer = f"peer name uplink mtu {mtu} netns {machine.pid}"
    words = f"link add name p{number} mtu {mtu} type veth {peer}"
    execute(["ip", "-n", bridge, *words.split()]).expect()
    for line in (f"link set dev p{number} master lan", f"link set dev p{number} up"):
        execute(["ip", "-n", bridge, *line.split()]).expect()
    machine.run("ip", "address", "add", f"{machine.address}/24", "dev", "uplink")
    machine.run("ip", "address", "add", f"fd00:aa::{number + 1}/64", "dev", "uplink", "nodad")
    machine.run("ip", "link", "set", "uplink", "up")
