"""Real routing daemons on the nodes of a lab: their configurations and how they are started."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labs import execute, viaduct

FRR = Path("/usr/lib/frr")
_PROGRAMS = {
    "frr": [FRR / "zebra", FRR / "ospfd", FRR / "ripd", FRR / "ripngd"],
    "bird2": ["bird", "birdc"],
    "babeld": ["babeld"],
}

# As fast as each program allows, so that a test sees a network converge twice within seconds.
_FRR = {
    "ospfd": """
router ospf
 ospf router-id 10.255.255.{number}
 timers throttle spf 0 50 500
 timers throttle lsa all 0
 timers lsa min-arrival 0
interface lo
 ip ospf area 0
interface eth0
 ip ospf area 0
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 3
interface eth1
 ip ospf area 0
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 3
""",
    "ripd": """
router rip
 timers basic 5 15 10
 network eth0
 network eth1
 redistribute connected
""",
    "ripngd": """
router ripng
 timers basic 5 15 10
 network eth0
 network eth1
 redistribute connected
""",
}

_BIRD = """
log "{folder}/bird.log" all;
router id 10.255.255.{number};
protocol device {{ scan time 1; }}
"""
_BIRD_PROTOCOLS = {
    "ospf": """
protocol kernel { ipv4 { export where source != RTS_DEVICE; }; }
protocol ospf v2 {
  ipv4 { import all; export none; };
  area 0 {
    interface "eth*" { type ptp; hello 1; dead count 3; };
    interface "lo" { stub; };
  };
}
""",
    "rip": """
protocol kernel { ipv4 { export where source != RTS_DEVICE; }; }
protocol direct { ipv4; }
protocol rip {
  ipv4 { import all; export all; };
  interface "eth*" { update time 2; timeout time 12; garbage time 10; };
}
""",
    "ripng": """
protocol kernel { ipv6 { export where source != RTS_DEVICE; }; }
protocol direct { ipv6; }
protocol rip ng {
  ipv6 { import all; export all; };
  interface "eth*" { update time 2; timeout time 12; garbage time 10; };
}
""",
    "babel": """
protocol kernel { ipv4 { export where source != RTS_DEVICE; }; }
protocol direct { ipv4; interface "lo", "eth*"; }
protocol babel {
  ipv4 { import all; export where source = RTS_DEVICE || source = RTS_BABEL; };
  interface "eth*" { type wired; hello interval 1 s; update interval 2 s; };
}
""",
}


@dataclass(frozen=True)
class Router:
    """A program that routes."""

    name: str
    # What a shell on the node executes; the program goes to the background by itself.
    script: Callable[[Path, int], str]

    def start(self, lab: str, node: str, folder: Path, number: int = 1) -> None:
        """Starts it on a node; all its files are in the folder."""
        folder.mkdir()
        script = self.script(folder, number)
        viaduct("exec", f"{lab}:{node}", "--", "sh", "-ec", script).expect()

    def __str__(self) -> str:
        """As a test's id."""
        return self.name


def frr(daemon: str) -> Router:
    """FRR's zebra and one of its daemons, which run as the user frr."""

    def script(folder: Path, number: int) -> str:
        (folder / "zebra.conf").touch()
        (folder / f"{daemon}.conf").write_text(_FRR[daemon].format(number=number))
        shutil.chown(folder, "frr", "frr")
        sockets = f"--vty_socket {folder} -z {folder}/zserv"
        return "\n".join(
            f"{FRR}/{one} -d {sockets} -i {folder}/{one}.pid -f {folder}/{one}.conf"
            f" --log file:{folder}/{one}.log"
            for one in ("zebra", daemon)
        )

    return Router(f"frr-{daemon}", script)


def bird(protocol: str) -> Router:
    """BIRD 2."""

    def script(folder: Path, number: int) -> str:
        head = _BIRD.format(folder=folder, number=number)
        (folder / "bird.conf").write_text(head + _BIRD_PROTOCOLS[protocol])
        return f"bird -c {folder}/bird.conf -s {folder}/ctl -P {folder}/pid"

    return Router(f"bird-{protocol}", script)


def babeld() -> Router:
    """The reference implementation of Babel."""

    def script(folder: Path, _number: int) -> str:
        (folder / "babeld.conf").write_text(
            f"state-file {folder}/state\ndefault type wired hello-interval 1 update-interval 2\n"
        )
        words = f"-D -c {folder}/babeld.conf -I {folder}/pid -L {folder}/log"
        return f"babeld {words} eth0 eth1"

    return Router("babeld", script)


def missing() -> Iterator[str]:
    """The packages (setup/packages) whose programs are not here."""
    for package, programs in _PROGRAMS.items():
        if not all(shutil.which(program) for program in programs):
            yield package


def say(folder: Path) -> str:
    """What the daemons of a folder have logged, for messages of assertions."""
    return execute(["tail", "-n", "20", *map(str, sorted(folder.rglob("*log")))]).output
