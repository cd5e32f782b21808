"""A line whose nodes run a routing program of today, without ns-3 (thesis 5.2: olsrd, A.11)."""

from __future__ import annotations

import re
import shutil
import subprocess

from .forwarder import Line
from .session import FORWARDER_CPU, Session
from .systems import plain_line

_CONFIGURATION = """
log stderr { error, fatal };
protocol device { scan time 1; }
protocol kernel { ipv4 { export where source != RTS_DEVICE; }; }
protocol ospf v2 {
  ipv4 { import all; export none; };
  area 0 { interface "eth*" { type ptp; hello 1; dead count 4; }; };
}
"""


def reason() -> str:
    """Why there is no such system on this machine; empty: there is."""
    return "" if shutil.which("bird") else "bird (package bird2) is not installed"


def version(said: str) -> str:
    """`BIRD 2.0.12` of what `bird --version` says."""
    found = re.search(r"version ([\w.]+)", said)
    return f"BIRD {found.group(1)}" if found else "BIRD"


def line(session: Session, nodes: int) -> Line:
    """Routers and hosts in a line, all of which run BIRD's OSPF: nothing else gives them routes."""
    asked = subprocess.run(["bird", "--version"], capture_output=True, text=True, check=False)
    label = f"kernel, OSPF of {version(asked.stdout + asked.stderr)}"
    made = plain_line(session, "b", "daemon", label, nodes)
    file = session.directory / "bird.conf"
    file.write_text(_CONFIGURATION)
    programs = []
    for namespace in (made.source, *made.routers, made.sink):
        own = session.directory / namespace.name
        command = ["bird", "-f", "-c", str(file), "-s", f"{own}.socket", "-P", f"{own}.pid"]
        programs.append(session.start(namespace.command(command, FORWARDER_CPU)))
    made.processes = [program.pid for program in programs[1:-1]]
    return made
