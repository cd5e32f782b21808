"""What a node's data plane drops has a place in the results, whichever plane it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import results, viaduct

Write = Callable[[str], Path]
LINE = """
mode: offload
duration: 20s
nodes: 4
links: [{line: all}]
routing: {protocol: static}
"""


@pytest.mark.parametrize("family", ["4", "6"])
@pytest.mark.parametrize("plane", ["kernel", "ebpf", "joined", "userspace"])
def test_packets_whose_ttl_is_used_up(
    scenario: Write, tmp_path: Path, plane: str, family: str
) -> None:
    """As in a loop of routes. The programs count their own packets."""
    addressing = "" if family == "4" else "addressing: {ipv4: none, ipv6: fd00::/48}\n"
    file = scenario(
        LINE
        + addressing
        + f"data_plane: {plane}\n"
        + "programs:\n"
        + f'  - {{node: n0, command: "ping -{family} -t 2 -c 7 -i 0.1 -W 2 {{n3}}", expect: 1}}\n'
        + f'  - {{node: n3, command: "ping -{family} -t 1 -c 5 -i 0.1 -W 2 {{n0}}", expect: 1}}\n'
    )
    done = viaduct("run", file, "--json", tmp_path / "r.json")
    run = results(tmp_path / "r.json")
    sent = [program["output"].split(" packets transmitted")[0] for program in run["programs"]]
    assert [text.split()[-1] for text in sent] == ["7", "5"], done  # answers are limited in rate
    cause = "ttl" if plane == "userspace" else "ttl_or_header"
    drops = {node: part.get("drops", {}) for node, part in run["data_planes"].items()}
    assert drops == {"n0": {}, "n1": {}, "n2": {cause: 12}, "n3": {}}, done
    assert f"lost at n2, data plane {plane}: 12 packets ({cause})" in done.output
