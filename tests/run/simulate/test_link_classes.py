"""Classes of packets on the links of a scenario: a class counts its own packets, in every mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from labs import results, viaduct

PINGS = 12
CLASSES = "[{name: ping, filter: icmp, up: 'loss=list:3,5-6 delay=2ms', down: delay=2ms}]"


def scenario(folder: Path, link: str, more: str = "") -> Path:
    """Pings of a node to another, over a link that itself delays by more."""
    file = folder / "classes.yaml"
    file.write_text(
        "nodes: 2\nrouting: {protocol: static}\nduration: 5s\n"
        f"links: [{{{link}, classes: {CLASSES}}}]\n"
        "flows: [{type: ping, from: n0, to: n1, interval: 100ms, "
        f"duration: {PINGS * 100}ms}}]\n" + more
    )
    return file


def run(file: Path, *arguments: str) -> dict[str, Any]:
    """Its results."""
    out = file.with_suffix(".json")
    viaduct("run", file, "--json", out, *arguments).expect()
    return results(out)


@pytest.mark.parametrize("mode", ["simulate", "traditional", "emulate", "offload"])
@pytest.mark.parametrize("link", ["pair: [n0, n1], spec: delay=200ms", "pair: [n0, n1]"])
def test_a_list_counts_only_pings(tmp_path: Path, mode: str, link: str) -> None:
    """Requests for addresses are frames, too: without a class they would shift the numbers."""
    done = run(scenario(tmp_path, link), "--mode", mode)
    (flow,) = done["flows"]
    assert (flow["sent"], flow["received"]) == (PINGS, PINGS - 3)
    assert [(gap["first"], gap["lost"]) for gap in flow["gaps"]] == [(2, 1), (4, 2)]
    assert 4 <= flow["rtt_ms"]["min"] < 200, "the class has its own delay"
    counted = {(each["class"], each["direction"]): each for each in done["engine"]["pipelines"]}
    assert counted["ping", "up"]["arrived"] == PINGS
    assert counted["ping", "up"]["fates"]["lost"] == 3
    assert counted["ping", "down"]["arrived"] == PINGS - 3
    assert counted["", "up"]["fates"]["lost"] == 0


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_each_end_of_a_shared_link_has_the_classes(tmp_path: Path, mode: str) -> None:
    text = scenario(tmp_path, "shared: [n0, n1, n2]").read_text()
    own = "[{name: ping, filter: 'icmp[icmptype] == icmp-echo', spec: 'loss=list:3,5-6 delay=2ms'}]"
    file = tmp_path / "shared.yaml"
    file.write_text(text.replace("nodes: 2", "nodes: 3").replace(CLASSES, own))
    done = run(file, "--mode", mode)
    (flow,) = done["flows"]
    assert (flow["sent"], flow["received"]) == (PINGS, PINGS - 3)
    lost = {
        each["pair"]: each["fates"]["lost"]
        for each in done["engine"]["pipelines"]
        if (each["class"], each["direction"]) == ("ping", "up")
    }
    assert lost == {"lan0.n0": 3, "lan0.n1": 0, "lan0.n2": 0}


def test_a_class_changes_while_the_lab_is_up(lab: str, tmp_path: Path) -> None:
    file = scenario(tmp_path, "pair: [n0, n1]")
    viaduct("up", file, "--set", f"name={lab}", "--set", "flows=[]").expect()
    ping = ["exec", f"{lab}:n0", "--", "ping", "-c3", "-i0.2", "-W1", "n1"]
    assert " 2 received" in viaduct(*ping).output
    assert "ping up" in viaduct("ls", lab).expect().output
    viaduct("path", "set", lab, "--class", "ping", "--up", "loss=100%").expect()
    assert " 0 received" in viaduct(*ping).output
    viaduct("down", lab).expect()


def test_the_kernels_qdiscs_have_no_classes(tmp_path: Path) -> None:
    file = scenario(tmp_path, "pair: [n0, n1], emulator: kernel")
    line = viaduct("run", file, "--mode", "offload").error_line(2)
    assert "link n0-n1: the kernel's qdiscs do not support classes of packets" in line
    assert "use emulator: engine" in line
