"""`routing: none`: ns-3 makes no routes, and leaves alone what programs make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import results, viaduct

LINE = """
nodes: 3
links: [{line: all}]
routing: none
duration: 1s
"""


@pytest.mark.parametrize("mode", ["simulate", "traditional", "emulate", "offload"])
def test_only_neighbours_reach(
    mode: str, lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    flows = "flows: [{type: ping, from: n0, to: n1}, {type: ping, from: n0, to: n2}]\n"
    file = tmp_path / "results.json"
    viaduct("run", scenario(LINE + flows), "--mode", mode, "--json", file)
    found = results(file)
    assert found["convergence"]["by_programs"] is True
    near, far = found["flows"]
    assert near["received"] == near["sent"] == 10
    assert not far.get("received")


ROUTES = """
programs:
  - {node: n0, command: ip route add 10.0.0.4/30 via 10.0.0.2}
  - {node: n2, command: ip route add 10.0.0.0/30 via 10.0.0.5}
  - {node: n0, command: "sh -c 'until ping -c1 -W1 {n2}; do sleep 0.1; done'", timeout: 50s}
"""


@pytest.mark.parametrize(
    ("mode", "plane"),
    [("emulate", ""), *(("offload", one) for one in ("kernel", "ebpf", "joined", "userspace"))],
)
def test_routes_of_programs_forward_and_are_no_difference(
    mode: str, plane: str, lab: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    text = LINE.replace("1s", "1min") + f"mode: {mode}\n" + ROUTES
    text += f"data_plane: {plane}\n" if plane else ""
    file = tmp_path / "results.json"
    viaduct("run", scenario(text), "--json", file).expect()
    found = results(file)
    assert [program["ok"] for program in found["programs"]] == [True] * 3
    assert not found.get("failures")
