"""Routing protocols with strangers' habits, in all modes and planes (strange-routing.cc)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernels import need
from labs import BUILD, results, viaduct

PRINTED, DECIDED = "printed table", "decisions about packets"
USERSPACE = "data_plane: userspace\n"
REAL = (("emulate", ""), ("offload", ""), ("offload", USERSPACE))


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocols are in a library that knows nothing of Viaduct."""
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(BUILD / "ns3" / "libstrange-routing.so"))


@pytest.fixture
def ran(lab: str, scenario: Callable[[str], Path], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Pings over four nodes in a row; returns the results."""

    def run(mode: str, attributes: str, *, ipv6: bool = False, more: str = "") -> dict[str, Any]:
        addressing = "addressing: {ipv4: none, ipv6: 'fd00::/48'}\n" if ipv6 else ""
        file = scenario(
            "nodes: 4\nlinks: [{line: all}]\n"
            f"routing: {{protocol: 'strange::Routing{6 if ipv6 else ''}',"
            f" attributes: {{{attributes}}}}}\n"
            "duration: 1200ms\n"
            "flows: [{type: ping, from: n0, to: n3, interval: 100ms, duration: 1s}]\n"
            + addressing
            + ("" if "convergence:" in more else "convergence: {timeout: 10s}\n")
            + more
        )
        report = tmp_path / f"{mode}.json"
        viaduct("run", file, "--mode", mode, "--json", report)
        return results(report)

    return run


def received(result: dict[str, Any]) -> int:
    (flow,) = result["flows"]
    assert flow["sent"] == 10
    assert result["failures"] == []
    assert result["status"] == 0
    number = flow["received"]
    assert isinstance(number, int)
    return number


def reading(result: dict[str, Any]) -> tuple[set[str], str]:
    """How the routes of the user's protocol became known, and why not otherwise."""
    its = [r for r in result["route_readings"] if r["protocol"].startswith("strange::")]
    assert sorted(node for r in its for node in r["nodes"]) == ["n0", "n1", "n2", "n3"]
    return {r["method"] for r in its}, "; ".join(r.get("reason", "") for r in its)


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("table", ["Plain", "Extra", "Fewer", "Renamed", "Reordered", "Masked"])
def test_columns_are_found_by_their_names(
    ran: Callable[..., dict[str, Any]], table: str, ipv6: bool
) -> None:
    result = ran("offload", f"Table: {table}", ipv6=ipv6)
    assert received(result) == 10
    assert reading(result) == ({PRINTED}, "")
    assert result["convergence"]["pairs"] == 12


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ("Table: None", "prints no table"),
        ("Table: None, NeedsPacket: true", "prints no table"),
        ("Table: Title", "no table with a known header"),
        ("Table: Broken", "a row of the protocol's table cannot be parsed"),
        ("Table: Wrong", "RouteOutput()"),
        ("Table: Default", "RouteOutput()"),
        ("ChangeTo: None, ChangeAt: 700ms", "prints no table"),
        ("ChangeTo: Broken, ChangeAt: 700ms", "cannot be parsed"),
    ],
)
def test_without_a_table_decisions_about_packets_are_routes(
    ran: Callable[..., dict[str, Any]], attributes: str, reason: str, ipv6: bool
) -> None:
    assert received(ran("simulate", attributes, ipv6=ipv6)) == 10
    result = ran("offload", attributes, ipv6=ipv6)
    assert received(result) == 10
    methods, why = reading(result)
    assert methods == {DECIDED}
    assert reason in why
    # Some packets of each direction go up at each node, as many as come before its first route is
    # the kernel's; the kernels forward the others of 80.
    missed = [v["rx_frames"] for k, v in result["counters"].items() if k.endswith("/upcalls")]
    assert sum(missed) <= 48
    if "ChangeTo" not in attributes:  # where the flow may be over when that is seen
        assert sum(missed) > 0


@pytest.mark.parametrize(
    ("asks", "ipv6", "expected"),
    [
        ("Nothing", False, 9),
        ("Nothing", True, 9),
        ("Loopback", False, 10),
        ("Loopback", True, 10),
        ("Unready", False, 9),
    ],
)
@pytest.mark.parametrize("table", ["Plain", "None"])
def test_what_is_looked_for_is_found_by_the_flow_itself(
    ran: Callable[..., dict[str, Any]], asks: str, ipv6: bool, expected: int, table: str
) -> None:
    """No question of the product's own finds it before: the first packet is lost, or is kept."""
    for mode, plane in (("simulate", ""), *REAL):
        result = ran(mode, f"Asks: {asks}, Table: {table}", ipv6=ipv6, more=plane)
        assert result["convergence"]["on_demand"], (mode, plane)
        # In real time the second one may come before the answer.
        fewest = expected if expected == 10 or mode == "simulate" else expected - 3
        assert fewest <= received(result) <= expected, (mode, plane)


@pytest.mark.parametrize(
    ("transport", "ipv6"),
    [("Raw", False), ("Raw", True), ("Broadcast", False), ("Packet", False), ("Packet", True)],
)
def test_floods_by_raw_and_packet_sockets(
    ran: Callable[..., dict[str, Any]], transport: str, ipv6: bool
) -> None:
    for mode, plane in (("simulate", ""), *REAL):
        result = ran(mode, f"Transport: {transport}", ipv6=ipv6, more=plane)
        assert received(result) == 10, (mode, plane)


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("plane", ["kernel", "ebpf", "joined", "userspace"])
def test_planes(ran: Callable[..., dict[str, Any]], plane: str, ipv6: bool) -> None:
    for table in ("Extra", "None"):
        more = f"data_plane: {plane}\n"
        result = ran("offload", f"Table: {table}", ipv6=ipv6, more=more)
        assert received(result) == 10
        assert {p["name"] for p in result["data_planes"].values()} == {plane}
        methods, _ = reading(result)
        assert methods == {PRINTED if table == "Extra" else DECIDED}


def test_a_protocol_that_changes_packets_fails_the_run(
    ran: Callable[..., dict[str, Any]],
) -> None:
    result = ran("offload", "Table: None, AddsHeader: true")
    assert any("changed" in line and "use mode emulate" in line for line in result["failures"])
    assert result["status"] == 1


def test_a_wrong_table_that_is_told_later_is_no_route(
    ran: Callable[..., dict[str, Any]],
) -> None:
    """Its rows are compared with RouteOutput() before they are routes."""
    result = ran("offload", "ChangeTo: Wrong, ChangeAt: 700ms")
    assert received(result) == 10
    methods, why = reading(result)
    assert methods == {DECIDED}
    assert "RouteOutput() sends" in why


@pytest.mark.parametrize("plane", ["kernel", "userspace"])
def test_a_table_of_neighbours_only_is_not_the_whole(
    ran: Callable[..., dict[str, Any]], plane: str
) -> None:
    """Where it forwards otherwise than it prints, what it prints counts for nothing."""
    result = ran("offload", "Table: Neighbours", more=f"data_plane: {plane}\n")
    assert received(result) == 10
    methods, _ = reading(result)
    assert DECIDED in methods


@pytest.mark.parametrize("plane", ["kernel", "ebpf", "userspace"])
def test_a_kernel_that_lost_a_route_fails_the_run(
    lab: str, scenario: Callable[[str], Path], tmp_path: Path, plane: str
) -> None:
    """A program of the node removes a route that the protocol still has."""
    file = scenario(
        "nodes: 3\nlinks: [{line: all}]\nrouting: {protocol: static}\nduration: 1s\n"
        f"data_plane: {plane}\n"
        "programs: [{node: n0, command: [ip, route, del, 10.0.0.4/30]}]\n"
    )
    report = tmp_path / "lost.json"
    assert viaduct("run", file, "--mode", "offload", "--json", report).status == 1
    result = results(report)
    (line,) = result["failures"]
    # the forwarder has a table of its own
    own = " that the node itself sends" if plane == "userspace" else ""
    assert line.startswith(f"n0: packets to n2 (10.0.0.6){own} go nowhere, but")
    assert line.endswith("through eth0")
    assert result["status"] == 1


@pytest.mark.parametrize(
    ("mode", "plane"),
    [("simulate", ""), ("emulate", ""), ("offload", "kernel"), ("offload", "userspace")],
)
def test_places_are_known_in_every_mode(
    ran: Callable[..., dict[str, Any]], mode: str, plane: str
) -> None:
    """A protocol may ask its node where it is, without a Wi-Fi link."""
    more = f"data_plane: {plane}\n" if plane else ""
    result = ran(mode, "Range: 60", more=more + "mobility: {layout: line, spacing: 50}\n")
    assert received(result) == 10
    assert result["positions"] == {f"n{i}": [50.0 * i, 0, 0] for i in range(4)}


def test_places_have_an_effect(ran: Callable[..., dict[str, Any]]) -> None:
    far = "mobility: {layout: line, spacing: 70}\nconvergence: {timeout: 2s, required: false}\n"
    result = ran("offload", "Range: 60", more=far)
    assert result["flows"][0]["received"] == 0


def of_flows(
    scenario: Callable[[str], Path], folder: Path, mode: str, text: str, ipv6: bool
) -> dict[str, Any]:
    report = folder / f"{mode}.json"
    addressing = "addressing: {ipv4: none, ipv6: 'fd00::/48'}\n" if ipv6 else ""
    name = f"strange::Routing{6 if ipv6 else ''}"
    file = scenario(addressing + text.replace("PROTOCOL", f"'{name}'"))
    viaduct("run", file, "--mode", mode, "--json", report)
    return results(report)


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("plane", ["kernel", "ebpf", "joined", "userspace", "guest"])
def test_a_packet_may_be_kept_until_long_after_it_was_asked_about(
    scenario: Callable[[str], Path], tmp_path: Path, plane: str, ipv6: bool
) -> None:
    """Routes of 300 ms, so that the flow's packets, and copies of them, are kept all the time."""
    if plane == "guest":
        need()
    text = (
        "nodes: 4\nlinks: [{line: all}]\nduration: 3s\n"
        "routing: {protocol: PROTOCOL,"
        " attributes: {Asks: Loopback, Table: None, Lifetime: 300ms}}\n"
        "flows: [{type: udp, from: n0, to: n3, size: 200, rate: 160kbit, duration: 2500ms}]\n"
        + ("stack: kernel\n" if plane == "guest" else f"data_plane: {plane}\n")
    )
    mode = "simulate" if plane == "guest" else "offload"
    result = of_flows(scenario, tmp_path, mode, text, ipv6)
    assert result["failures"] == []
    (flow,) = result["flows"]
    assert flow["sent"] > 100
    # A route that has ended is that of the kernels until it is asked for again, as late as the
    # machine is in real time.
    assert flow["received"] > (0.9 if plane == "guest" else 0.5) * flow["sent"]


DIAMOND = """
nodes: [s1, s2, r0, r1, r2, r3]
links:
  - {pair: [s1, r0]}
  - {pair: [s2, r0]}
  - {pair: [r0, r1]}
  - {pair: [r0, r2]}
  - {pair: [r1, r3]}
  - {pair: [r2, r3]}
duration: 4s
flows:
  - {type: udp, from: s1, to: r3, size: 200, rate: 160kbit, duration: 3s}
  - {type: udp, from: s2, to: r3, size: 200, rate: 160kbit, duration: 3s}
"""


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("plane", ["kernel", "ebpf", "joined", "userspace", "guest"])
def test_a_next_hop_that_depends_on_the_source_is_a_failure(
    scenario: Callable[[str], Path], tmp_path: Path, plane: str, ipv6: bool
) -> None:
    """Outside the simulator a destination has one; until then the first of the two had all."""
    if plane == "guest":
        need()
    where = "stack: kernel\n" if plane == "guest" else f"data_plane: {plane}\n"
    mode = "simulate" if plane == "guest" else "offload"
    for splits in ("true", "false"):
        routing = (
            "routing: {protocol: PROTOCOL,"
            f" attributes: {{Asks: Loopback, Table: None, Splits: {splits}}}}}\n"
        )
        result = of_flows(scenario, tmp_path, mode, DIAMOND + routing + where, ipv6)
        said = [line for line in result["failures"] if "depends on more than a packet" in line]
        if splits == "false":
            assert result["failures"] == []
            continue
        assert result["status"] == 1
        start = "refused: r0: the routing protocol's next hop"
        (fork,) = (line for line in said if line.startswith(start))
        assert "for two packets at the same time" in fork


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("mode", ["simulate", "emulate"])
def test_in_the_simulator_a_next_hop_may_depend_on_the_source(
    scenario: Callable[[str], Path], tmp_path: Path, mode: str, ipv6: bool
) -> None:
    routing = "routing: {protocol: PROTOCOL, attributes: {Asks: Loopback, Splits: true}}\n"
    result = of_flows(scenario, tmp_path, mode, DIAMOND + routing, ipv6)
    assert result["failures"] == []
    assert all(flow["received"] > 0 for flow in result["flows"])
