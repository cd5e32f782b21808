"""With the same seed the modes lose the same packets, also where addresses must be resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from labs import results, viaduct

LINKS = 100  # each has a seed of its own, which follows from the run's
PINGS = 20
NETWORKS = {"IPv4": ("10.1.{}.", 24), "IPv6": ("fd00:{:x}::", 64)}


def star(family: str) -> str:
    """Pings to one node over links that lose a fifth of all frames."""
    links, flows = [], []
    for i in range(LINKS):
        network, length = NETWORKS[family]
        leaf, centre = (network.format(i) + end for end in "12")
        links.append(
            f"  - {{pair: [n{i}, centre], spec: 'delay=5ms loss=20%',"
            f" addresses: ['{leaf}/{length}', '{centre}/{length}']}}"
        )
        flows.append(
            f"  - {{type: ping, from: n{i}, to: centre, address: '{centre}', interval: 100ms,"
            f" duration: {PINGS * 100}ms}}"
        )
    return "\n".join(
        [
            f"nodes: [centre, {', '.join(f'n{i}' for i in range(LINKS))}]",
            "links:",
            *links,
            "routing: {protocol: static}",
            "duration: 3s",
            "seed: 3",
            "flows:",
            *flows,
        ]
    )


def lost(flow: dict[str, Any]) -> tuple[str, int, list[tuple[int, int]]]:
    """How many were answered, and where the gaps are."""
    return flow["name"], flow["received"], [(gap["first"], gap["lost"]) for gap in flow["gaps"]]


@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
def test_pings_of_a_hundred_seeds(tmp_path: Path, family: str) -> None:
    """Requests for addresses, their repetitions and answers are frames that count, too."""
    scenario = tmp_path / "star.yaml"
    scenario.write_text(star(family))
    flows: dict[str, list[Any]] = {}
    for mode in ("simulate", "emulate", "offload"):
        file = tmp_path / f"{mode}.json"
        viaduct("run", scenario, "--mode", mode, "--json", file).expect()
        flows[mode] = [lost(flow) for flow in results(file)["flows"]]
    answered = [received for _, received, _ in flows["simulate"]]
    assert len(answered) == LINKS
    assert len(set(answered)) > 5, "they differ from seed to seed"
    assert flows["emulate"] == flows["simulate"]
    assert flows["offload"] == flows["simulate"]
