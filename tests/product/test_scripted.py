"""Sweeps that are killed, readers that leave, folders as results, what notebooks show."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from browser import browser
from labs import VIADUCT, descendants, environment, execute, running, viaduct, wait_until
from test_python import PING, python  # noqa: F401 (a fixture)


@pytest.fixture
def scenario(tmp_path: Path, lab: str) -> Path:
    """A scenario file."""
    file = tmp_path / "ping.yaml"
    file.write_text(PING.replace("python-sweep", lab))
    return file


def states_of(out: Path) -> list[tuple[str, str]]:
    """Of each run of a sweep."""
    runs = json.loads((out / "results.json").read_text())["runs"]
    return [(run["values"]["seed"], run["state"]) for run in runs]


def command_of(pid: int) -> list[bytes]:
    """Its words; none of one that has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def parent_of(pid: int) -> int:
    """0 of one that has ended."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_a_killed_sweep_is_resumed(mode: str, scenario: Path, tmp_path: Path) -> None:
    """No point is lost, and none counts twice, whatever the killed process had half done."""
    out = tmp_path / "out"
    words = ["sweep", scenario, "--mode", mode, "--over", "seed=1..4", "--jobs", "2", "--no-plots"]
    with running(*words, "--out", out) as sweep:
        sweep.wait_for("done")
        children = descendants(sweep.pid)
        sweep.process.kill()
        sweep.wait()
        wait_until(
            lambda: not [pid for pid in children if Path(f"/proc/{pid}/cmdline").exists()],
            "its runs end",
        )
    done = {each: each.stat().st_mtime_ns for each in (out / "runs").glob("*.json")}
    assert done
    assert not (out / "results.json").exists()
    again = viaduct(*words, "--out", out).expect()
    assert "4 runs: 4 done" in again.output
    assert states_of(out) == [(str(seed), "done") for seed in (1, 2, 3, 4)]
    assert all(each.stat().st_mtime_ns == when for each, when in done.items()), "run twice"
    (point,) = json.loads((out / "results.json").read_text())["points"]
    assert (point["runs"], point["done"]) == (4, 4)
    assert {len(samples) for samples in point["samples"].values()} == {4}
    assert len(list((out / "runs").glob("*.json"))) == 4
    assert not list((out / "runs").glob("*.part"))


@pytest.mark.parametrize("text", ["", '{"flows": [', "[]", "{}"])
def test_a_damaged_file_of_a_sweep_is_run_again(text: str, scenario: Path, tmp_path: Path) -> None:
    """As a full disk or a power cut leaves it."""
    out = tmp_path / "out"
    words = ["sweep", scenario, "--mode", "simulate", "--over", "seed=1..2", "--no-plots"]
    viaduct(*words, "--out", out).expect()
    first, other = sorted((out / "runs").glob("*.json"))
    kept = other.stat().st_mtime_ns
    first.write_text(text)
    done = viaduct(*words, "--out", out).expect()
    assert "2 runs: 2 done" in done.output
    assert f"{first.name}: is damaged, and is run again" in done.errors
    assert json.loads(first.read_text())["flows"]
    assert other.stat().st_mtime_ns == kept


def test_real_runs_of_a_sweep_are_one_by_one(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["sweep", scenario, "--mode", "offload", "--over", "seed=1..3", "--jobs", "3"]
    most = 0
    with running(*words, "--out", out, "--no-plots") as sweep:
        while sweep.process.poll() is None:
            direct = [pid for pid in descendants(sweep.pid) if parent_of(pid) == sweep.pid]
            most = max(most, sum(b"--quiet" in command_of(pid) for pid in direct))
        assert sweep.wait() == 0, sweep.text
    assert most == 1
    assert [state for _, state in states_of(out)] == ["done"] * 3


def test_intervals_are_students(python: Any) -> None:  # noqa: F811
    """Table values (Abramowitz and Stegun, 26.10), with and without scipy."""
    from viaduct import _statistics

    table = {(0.95, 1): 12.706, (0.95, 2): 4.303, (0.95, 9): 2.262, (0.95, 30): 2.042}
    table |= {(0.99, 1): 63.657, (0.99, 5): 4.032, (0.99, 120): 2.617, (0.9, 4): 2.132}
    for (confidence, freedom), value in table.items():
        assert _statistics.exact_t(confidence, freedom) == pytest.approx(value, abs=6e-4)
        assert _statistics.t_quantile(confidence, freedom) == pytest.approx(value, abs=6e-4)
    low, high = _statistics.interval([1.0, 2.0, 3.0], 0.95) or (0, 0)
    assert (low, high) == pytest.approx((2 - 2.4843, 2 + 2.4843), abs=1e-3)
    # Welch's example: 8 degrees of freedom where the variances are one and so are the sizes.
    low, high = _statistics.difference([1, 2, 3, 4, 5], [2, 3, 4, 5, 6], 0.95) or (0, 0)
    assert (low, high) == pytest.approx((1 - 2.306, 1 + 2.306), abs=1e-3)


def test_a_reports_folder_is_its_results(scenario: Path, tmp_path: Path) -> None:
    for name, spec in (("a", "delay=5ms"), ("b", "delay=9ms")):
        words = ["--mode", "simulate", "--set", f"links.0.spec={spec}", "--quiet"]
        viaduct("run", scenario, *words, "--report", tmp_path / name).expect()
    same = viaduct("compare", tmp_path / "a", tmp_path / "a" / "results.json").expect()
    assert "same" in same.output
    assert viaduct("compare", tmp_path / "a", tmp_path / "b").status == 1
    figure = tmp_path / "f.svg"
    viaduct("plot", tmp_path / "a", "--figure", figure).expect()
    assert figure.exists()
    (tmp_path / "empty").mkdir()
    line = viaduct("compare", tmp_path / "a", tmp_path / "empty").error_line(2)
    assert "empty/results.json: No such file" in line


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        "ls --json",
        "docs scenario",
        "compare a a",
        "compare a a --json -",
        "run ping.yaml --mode simulate",
        "run ping.yaml --print",
        "kernel list",
        "path ls --json",
        "init line -",
        "bench --help",
        "--help",
        "top --once",
        "sweep ping.yaml --mode simulate --over seed=1..2 --out out",
    ],
)
def test_a_reader_that_leaves_is_no_error(
    words: str, ignored: bool, scenario: Path, tmp_path: Path
) -> None:
    """`viaduct ... | head`, also where SIGPIPE is ignored, as services and some shells have it."""
    if "compare" in words:
        viaduct("run", scenario, "--mode", "simulate", "--report", tmp_path / "a").expect()

    def ignore() -> None:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)

    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        [str(VIADUCT), *words.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        restore_signals=False,
        preexec_fn=ignore,
        cwd=tmp_path,
        env=environment(),
        text=True,
    )
    os.close(writer)
    _, errors = process.communicate()
    assert process.returncode in (-signal.SIGPIPE, 128 + signal.SIGPIPE)
    bad = [each for each in errors.splitlines() if "viaduct:" in each or "rror" in each]
    assert not bad, errors


def test_a_notebook_shows_report_and_topology(python: Any, tmp_path: Path) -> None:  # noqa: F811
    """What Jupyter shows, in a browser without a network."""
    line = python.Topology.line(3, delay="5ms", routing="static")
    line.add_flow("ping", "n0", "n2", duration="1s")
    result = python.run(line, mode="simulate", duration="2s", report=tmp_path / "report")
    shown = tmp_path / "notebook.html"
    body = line._repr_html_() + result._repr_html_()
    shown.write_text(f"<!doctype html><meta charset=utf-8><body>{body}")
    with browser("--host-resolver-rules=MAP * ~NOTFOUND") as page:
        page.open(shown.as_uri())
        assert page.ask("return document.querySelectorAll('body > svg circle').length") == 3
        assert "rtt_ms.p50" in page.text("table")
        page.driver.switch_to.frame(0)
        page.wait("return document.querySelectorAll('.chart canvas').length > 0", "no chart")
        assert page.ask("return document.querySelectorAll('#topology .node').length") == 3
        assert not page.errors()
    assert "no report" in python.Result(result.data, tmp_path / "gone")._repr_html_()


def test_a_wifi_topology_of_python(python: Any, tmp_path: Path) -> None:  # noqa: F811
    made = python.Topology("radio", routing="OLSR", duration="5s")
    for i, x in enumerate((0, 40, 80)):
        made.add_node(f"n{i}", position=[x, 10 * i])
    made.add_wifi(["n0", "n1", "n2"], standard="80211g", range=60, name="air")
    made.add_flow("ping", "n0", "n2", duration="1s")
    assert made._repr_svg_().count("stroke-dasharray") == 3
    assert "<line" not in made._repr_svg_()
    result = python.run(made, report=tmp_path / "out")
    assert result.mode == "simulate"
    assert result.flows["received"][0] > 0
    assert result.data["positions"]["n2"] == [80, 20, 0]
    assert result.data["scenario"]["links"][0]["wifi"] == "80211g"
    with pytest.raises(TypeError, match="a list of nodes"):
        made.add_wifi("n0")
    with browser() as page:
        page.open((tmp_path / "out/index.html").as_uri())
        page.wait("return document.querySelectorAll('#topology .radio').length === 3", "no radio")
        assert page.ask("return document.querySelectorAll('#topology .link line').length") == 0
        where = page.ask(
            "return [...document.querySelectorAll('#topology .node circle')].map("
            "c => [c.cx.baseVal.value, c.cy.baseVal.value])"
        )
        (x0, y0), (x1, y1), (x2, y2) = where
        assert x1 - x0 == pytest.approx(x2 - x1, abs=0.1) and x1 > x0
        assert y1 - y0 == pytest.approx(-(x1 - x0) / 4, abs=0.1)  # y grows upwards
        assert y2 - y1 == pytest.approx(y1 - y0, abs=0.1)
        assert not page.errors()


def test_a_wifi_file_to_begin_with(tmp_path: Path) -> None:
    execute([VIADUCT, "init", "wifi,3"], cwd=tmp_path).expect()
    words = ["--duration", "2s", "--json", tmp_path / "r.json"]
    viaduct("run", tmp_path / "wifi.yaml", *words).expect()
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["scenario"]["mode"] == "simulate"
    assert data["flows"][0]["received"] > 0
    assert [place[0] for place in data["positions"].values()] == [0, 40, 80]
