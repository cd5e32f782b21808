"""How many lines a protocol and a scenario must change, counted from what is there."""

from __future__ import annotations

import difflib
import re
import subprocess
from pathlib import Path

from .analysis import Ratio
from .environment import REPOSITORY, linked_ns3
from .process import BenchError
from .results import Row

THESIS_PERCENT = 1.4  # thesis, 5.2.3 and figure 5.6: new lines per line of ns-3's OLSR
_SCENARIOS = ("olsr-line-simulation.cc", "olsr-line-testbed.cc")
# Definitions that a copy of ns-3's OLSR would contain; code that only uses or declares its class is
# no copy.
_PROTOCOL = re.compile(
    r"^\s*(RoutingProtocol::RoutingProtocol\(|RoutingProtocol::RecvOlsr\(|OlsrState::\w+\("
    r"|class\s+OlsrState\b[^;]*$|class\s+RoutingProtocol\s*:)"
)


def code_lines(text: str) -> list[str]:
    """Lines that are neither blank nor comment, as the thesis counts."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    stripped = (re.sub(r"//.*", "", line).strip() for line in text.splitlines())
    return [line for line in stripped if line]


def changed_lines(before: str, after: str) -> int:
    """Code lines added, removed or replaced (a replaced line counts once)."""
    matcher = difflib.SequenceMatcher(a=code_lines(before), b=code_lines(after), autojunk=False)
    return sum(
        max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    )


def _tracked_sources() -> list[Path]:
    """C++ sources of the repository; every file where git does not answer."""
    listed = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "*.cc", "*.h"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        return [REPOSITORY / line for line in listed.stdout.split()]
    return [
        file
        for folder in ("src", "ns3", "bench")
        for file in (REPOSITORY / folder).rglob("*.[ch]*")
    ]


def protocol_sources(files: list[Path]) -> list[Path]:
    """Files that hold an implementation of OLSR."""
    return [
        file
        for file in files
        if file.exists() and any(_PROTOCOL.search(line) for line in file.read_text().splitlines())
    ]


def _linked_olsr(simulator: Path) -> Path:
    for name, path in linked_ns3(simulator).items():
        if "-olsr" in name:
            return Path(path)
    raise BenchError(f"{simulator} links no ns-3 OLSR library: the lines cannot be counted")


def count(build: Path) -> tuple[Ratio, list[Row]]:
    """The ratio extra_lines_percent and the rows that say how it came about."""
    library = _linked_olsr(build / "viaduct-sim").resolve()
    if REPOSITORY in library.parents and build.resolve() not in library.parents:
        raise BenchError(f"OLSR comes from {library} inside the repository, not from ns-3")
    headers = sorted((_include_of(library)).glob("ns3/olsr-*.h"))
    existing = sum(len(code_lines(header.read_text())) for header in headers)
    copies = protocol_sources(_tracked_sources())
    changed = sum(len(code_lines(file.read_text())) for file in copies)
    percent = 100 * changed / max(existing, 1)
    simulation, testbed = (
        (REPOSITORY / "ns3" / "examples" / name).read_text() for name in _SCENARIOS
    )
    rows: list[Row] = [
        {
            "experiment": "lines",
            "what": "protocol (ns-3's OLSR)",
            "changed_lines": changed,
            "percent": percent,
            "thesis_percent": THESIS_PERCENT,
            "evidence": f"links {library.name} of ns-3; copies of OLSR in the repository: "
            + (", ".join(str(file.relative_to(REPOSITORY)) for file in copies) or "none"),
        },
        {
            "experiment": "lines",
            "what": "scenario (simulation to testbed)",
            "changed_lines": changed_lines(simulation, testbed),
            "of_lines": len(code_lines(simulation)),
            "evidence": " against ".join(_SCENARIOS),
        },
    ]
    return Ratio.of([percent], 0, "exactly"), rows


# The files that an RBridge's data plane in userspace needs besides the protocol; WMRP's other files
# are the protocol itself, and the function that decides about a frame.
_USERSPACE_PLANE = (
    "src/plane/forward/rbridge.*",
    "src/plane/forward/rbridge_tables.*",
    "src/plane/forward/event_ring.*",
    "src/plane/fib/userspace_rbridge.*",
    "src/plane/fib/rbridge_events.*",
    "ns3/wmrp/rbridge-learning.cc",
    "ns3/wmrp/rbridge-plane.h",
    "ns3/wmrp/rbridge-shared-plane.*",
)
_WMRP = ("src/plane/rbridge/*.cc", "src/plane/rbridge/*.h", "ns3/wmrp/*.cc", "ns3/wmrp/*.h")
USERSPACE_THESIS_PERCENT = 11  # thesis, 5.1.2 and figure 5.3


def _files(patterns: tuple[str, ...]) -> set[Path]:
    found = {file for pattern in patterns for file in REPOSITORY.glob(pattern)}
    return {file for file in found if not re.search(r"_(test|fuzz)\.|/test_", str(file))}


def count_wmrp() -> Row:
    """The lines that the data plane of WMRP in userspace needed, of those of the protocol."""
    plane = _files(_USERSPACE_PLANE)
    protocol = _files(_WMRP) - plane
    if not plane or not protocol:
        raise BenchError(f"{REPOSITORY} has no sources of WMRP: the lines cannot be counted")
    new, existing = (
        sum(len(code_lines(file.read_text())) for file in files) for files in (plane, protocol)
    )
    return {
        "experiment": "lines",
        "what": "data plane of WMRP in userspace",
        "changed_lines": new,
        "of_lines": existing,
        "percent": 100 * new / existing,
        "thesis_percent": USERSPACE_THESIS_PERCENT,
        "evidence": ", ".join(sorted(str(file.relative_to(REPOSITORY)) for file in plane)),
    }


def _include_of(library: Path) -> Path:
    """The folder with ns3/ headers that belongs to a library."""
    for folder in library.parents:
        if (folder / "include" / "ns3").is_dir():
            return folder / "include"
    return Path("/usr/include")
