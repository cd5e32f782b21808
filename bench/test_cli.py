"""The command line of the benchmarks, without what they measure."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest
from harness import cli
from harness.plan import Plan
from harness.results import Result


class _System:
    name, label = "ours", "ours"


def test_what_was_measured_before_an_interruption_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends: list[str] = []

    def measure(_session: object, _plan: Plan, result: Result) -> None:
        result.add("rate", _System(), pps=5)
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()

    @contextlib.contextmanager
    def session(_build: Path):  # noqa: ANN202
        yield
        ends.append("cleaned")

    monkeypatch.setattr(cli, "Session", session)
    monkeypatch.setattr(cli, "describe", lambda _build: {"ns3": {"version": "3", "asserts": "no"}})
    monkeypatch.setitem(cli._BENCHMARKS, "olsr", measure)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    out = tmp_path / "result.json"
    monkeypatch.setattr("sys.argv", ["bench", "olsr", "--quick", "--json", str(out)])
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        status = cli.main()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert status == 128 + signal.SIGINT
    assert ends == ["cleaned"]
    written = json.loads(out.read_text())
    assert [row["pps"] for row in written["rows"]] == [5]
    assert written["timing"]["complete"] is False
    printed = capsys.readouterr()
    assert "the rest is missing: interrupted" in printed.out
    assert "interrupted" in printed.err
