"""Frames that leave at their times by a queueing discipline (SO_TXTIME): on a kernel in virtual
time, because not every machine's has fq and etf."""

from __future__ import annotations

import re
from pathlib import Path

import kernels
from labs import BUILD, results, viaduct

SCENARIO = """
name: departures
mode: simulate
stack: kernel
duration: 10min
nodes: 2
links: [{{line: all}}]
routing: {{protocol: static}}
programs:
  - {{node: n0, name: port, command:
      "{build}/port_packet_root_test '--gtest_filter=*TimedSenderTest*'"}}
  - {{node: n0, name: device, command: "{build}/viaduct-ns3-test --verbose
      --suite=viaduct-interface-departures"}}
"""


def test_fq_and_etf_keep_departure_times(tmp_path: Path) -> None:
    kernels.need("tc")
    scenario = tmp_path / "departures.yaml"
    scenario.write_text(SCENARIO.format(build=BUILD))
    file = tmp_path / "departures.json"
    viaduct("run", scenario, "--json", file, timeout=120).expect()
    port, device = (program["output"] for program in results(file)["programs"])
    assert re.search(r"\[  PASSED  \] 10 tests\.", port), port
    assert "SKIPPED" not in port
    assert "PASS viaduct-interface-departures" in device, device
    assert "SKIPPED" not in device
