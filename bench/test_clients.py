"""The benchmark of remote clients: its figures, its scenario, and its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness import clients, hosts, report
from harness.results import Result


def trial(received: list[float], added: list[float | None]) -> clients.Trial:
    spent = {"reading": 0.5, "events": 0.25, "writing": 0.5, "sleeping": 4.0, "spinning": 1.0}
    return clients.Trial(100.0, received, added, 10, 0, 0.0, 2.5, {"loop": spent})


def test_jains_index() -> None:
    assert trial([5.0] * 4, []).jain == pytest.approx(1)
    assert trial([1.0, 0, 0, 0], []).jain == pytest.approx(0.25)
    assert trial([0.0, 0], []).jain == 0


def test_the_spread_is_that_of_clients_and_unknown_if_one_is_silent() -> None:
    assert trial([], [1.0] * 99 + [3.0]).rtt_spread == pytest.approx(1)
    assert trial([], [1.0] * 98 + [3.0] * 2).rtt_spread == pytest.approx(3)
    assert trial([], [1.0, None]).rtt_spread is None


def test_the_loop_works_while_there_is_traffic() -> None:
    assert trial([], []).loop == {"reading": 0.2, "events": 0.1, "writing": 0.2}
    lab = clients.Trial(100.0, [], [], 10, 0, 0.0, 2.5, {})
    assert lab.loop == {}


def test_every_link_has_addresses_of_its_own() -> None:
    every = [address for i in range(250) for address in clients.addresses(i)]
    assert len(set(every)) == 500
    assert clients.addresses(0) == ["10.0.0.1", "10.0.0.2"]
    assert clients.addresses(249) == ["10.0.3.229", "10.0.3.230"]
    described = json.loads(clients.scenario("x", 3))
    assert len(described["nodes"]) == 6
    assert described["links"][2]["pair"] == ["a2", "b2"]


def test_the_page_shows_shares_and_statements(tmp_path: Path) -> None:
    result = Result("clients", {})
    result.add("loss-free", clients.BARE, clients=10, loss_free_pps=1e5)
    for tunnel in (clients.VXLAN, clients.TAPUDP):
        measured = trial([10.0, 20.0], [0.5, 1.0])
        for experiment in ("twice saturation", "experiment 1", "experiment 2"):
            clients._row(result, experiment, tunnel, [measured], size=500)
    result.published += clients.read_csv("kristiansen-statements.csv")
    page = report.write(result, tmp_path).read_text()
    assert "Experiment 2: 10 to 250 clients" in page
    assert "7700 pps" in page
    assert "simulator's time" in page
    assert "without a tunnel" in page


def test_a_line_on_two_hosts_crosses_once() -> None:
    lines = hosts._line(["mode: offload"], ["on_machine: h1"] * 8 + ["on_machine: h2"] * 8)
    nodes = [line for line in lines if line.startswith("  ") and "on_machine" in line]
    assert [line.split("on_machine: ")[1][:2] for line in nodes] == ["h1"] * 8 + ["h2"] * 8
    assert nodes[0] == "  s: {host: true, gateway: r1, on_machine: h1}"
    assert nodes[-1] == "  d: {host: true, gateway: r14, on_machine: h2}"
    assert lines[-1].startswith("  - line: [s, r1, ")
