"""A routing protocol in a user's own library that reports its routes by trace sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labs import BUILD, own_routes, viaduct, wait_until

LIBRARY = BUILD / "ns3" / "libflood-routing.so"
LINE = """
nodes: 4
links: [{line: all}]
routing: {protocol: "ns3::FloodRouting", attributes: {Interval: 100ms}}
duration: 1s
flows: [{type: ping, from: n0, to: n3, interval: 100ms, duration: 500ms}]
"""


def test_library_in_mode_simulate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(LIBRARY))
    file = tmp_path / "own.yaml"
    file.write_text(LINE)
    assert "5         5    0%" in viaduct("run", file, "--mode", "simulate").expect().output


def test_without_the_library_the_type_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(LINE)
    assert "FloodRouting" in viaduct("run", file, "--mode", "simulate").error_line(2)


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", "/nowhere/own.so")
    file = tmp_path / "own.yaml"
    file.write_text(LINE)
    message = viaduct("run", file, "--mode", "simulate").error_line(2)
    assert "VIADUCT_SIM_LIBRARIES" in message
    assert "/nowhere/own.so" in message


def test_pushed_routes_are_in_the_kernel(
    lab: str, scenario: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIADUCT_SIM_LIBRARIES", str(LIBRARY))
    viaduct("up", scenario(LINE)).expect()
    try:
        wanted = {"10.0.0.4/30": "10.0.0.2", "10.0.0.8/30": "10.0.0.2"}
        wait_until(lambda: own_routes(f"{lab}.n0") == wanted, "both routes")
        viaduct("exec", f"{lab}:n0", "--", "ping", "-c", "2", "-i", "0.1", "10.0.0.10").expect()
    finally:
        viaduct("down", lab).expect()
