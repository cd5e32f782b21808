"""Scenarios and forwarding programs for tests of nodes that forward frames by a program."""

from __future__ import annotations

from pathlib import Path

from labs import BUILD, REPOSITORY, execute

FLOODING = BUILD / "ns3" / "libflooding.so"

# Two hosts behind a line of two nodes, with an access node that has a third host.
LINE = """
nodes: {a: {host: true}, b: {host: true}, c: {host: true}, count: 2}
links:
  - {pair: [n0, n1], spec: "delay=1ms"}
  - {pair: [a, n0], addresses: [10.0.0.1/24, none, fd00::1/64, none]}
  - {pair: [b, n0], addresses: [10.0.0.2/24, none, fd00::2/64, none]}
  - {pair: [c, n1], addresses: [10.0.0.3/24, none, fd00::3/64, none]}
"""
FLOWS = """
duration: 3s
flows:
  - {type: ping, from: a, to: c, interval: 100ms, duration: 2s}
  - {type: ping, from: c, to: b, address: ipv6, interval: 100ms, duration: 2s}
  - {type: udp, from: a, to: c, size: 1400, rate: 500kbit, duration: 2s}
  - {type: ping, from: a, to: b, interval: 100ms, duration: 2s}
"""
# A program that counts what it does by how frames begin, where `TAKE` is the body of Take().
_SOURCE = """
#include <unistd.h>
#include <fstream>
#include "plane/forward/program.h"
using namespace viaduct::forward;
struct Tried {
  static constexpr std::array<std::string_view, 2> kOutcomes = {"forwarded", "lost"};
  static constexpr std::array<std::string_view, 1> kLosses = {"lost"};
  static constexpr std::string_view kFilter = FILTER;
  static constexpr bool kPromiscuous = PROMISCUOUS;
  static constexpr uint16_t kControlType = CONTROL;
  explicit Tried(const Node& node) : ports(node.ports.size()) { MAKE }
  size_t Take(const Frame& frame, Outbox& outbox) { TAKE }
  size_t ports;
};
VIADUCT_FORWARDING_PROGRAM(Tried);
"""


def compiled(
    folder: Path,
    take: str,
    *,
    make: str = "",
    filter_: str = "",
    promiscuous: bool = True,
    control: int = 0,
    name: str = "",
) -> Path:
    """A library with such a program; it is linked with nothing."""
    library = folder / f"lib{name or 'tried'}.so"
    source = library.with_suffix(".cc")
    text = _SOURCE.replace("FILTER", f'"{filter_}"').replace("MAKE", make).replace("TAKE", take)
    text = text.replace("PROMISCUOUS", str(promiscuous).lower()).replace("CONTROL", str(control))
    source.write_text(text)
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-I", str(REPOSITORY / "src")]
    execute([*command, str(source), "-o", str(library)]).expect()
    return library


def plane(program: str | Path) -> str:
    """The scenario's keys."""
    return f'data_plane: {{program: "{program}"}}\n'
