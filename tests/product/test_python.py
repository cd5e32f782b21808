"""The Python package, viaduct sweep and viaduct compare."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from labs import BUILD, VIADUCT, descendants, execute, namespaces, running, viaduct, wait_until

ROOT = Path(__file__).parents[2]
PING = """\
name: python-sweep
nodes: 2
links: [{line: all, spec: "delay=5ms"}]
routing: {protocol: static}
duration: 2s
flows: [{type: ping, from: n0, to: n1, duration: 1s}]
"""


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The package of this tree."""
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    monkeypatch.setenv("VIADUCT", str(VIADUCT))
    import viaduct as package

    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "viaduct"]:
        del sys.modules[name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A scenario."""
    made = tmp_path / "ping.yaml"
    made.write_text(PING)
    return made


def blocks(language: str) -> list[str]:
    """Those of the document."""
    text = (ROOT / "docs/python.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run_python(program: str, site: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program with the package in this folder."""
    return subprocess.run(
        ["/usr/bin/python3", "-c", program],
        env=os.environ | {"PYTHONPATH": str(site), "VIADUCT": str(VIADUCT)},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_pip_installs_a_wheel(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `pip install .` does it in a source tree; it has the command, which it finds by itself."""
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    monkeypatch.setenv("VIADUCT_BUILD", str(BUILD))
    pip = ["/usr/bin/python3", "-m", "pip", "--disable-pip-version-check"]
    ours = ["--no-deps", "--no-index"]
    execute([*pip, "wheel", *ours, "--no-build-isolation", "-w", wheels, ROOT]).expect()
    (wheel,) = wheels.glob("viaduct-*-py3-none-linux_*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"viaduct/{each.name}" for each in (ROOT / "python/viaduct").glob("*.py")} <= {*names}
    assert "viaduct/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]
    execute([*pip, "install", *ours, "--target", site, wheel]).expect()
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("VIADUCT", raising=False)
    run = f"viaduct.run({str(file)!r}, mode='simulate')"
    program = f"import viaduct; print(viaduct.__file__, {run})"
    done = execute(["/usr/bin/python3", "-c", program], cwd=tmp_path).expect()
    assert done.output.startswith(str(site)), done
    assert "python-sweep: simulate, 1 flows" in done.output
    script = site / "bin/viaduct"
    assert execute([script, "version"]).expect().output.startswith("viaduct ")
    words = [script, "sweep", file, "--over", "seed=1..2", "--no-plots", "--out", "swept"]
    assert "2 runs: 2 done" in execute(words, cwd=tmp_path).expect().output


def test_the_variable_names_the_python_of_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIADUCT_PYTHON", "/no/such/python")
    done = execute([VIADUCT, "sweep", "--over", "seed=1", "x.yaml"])
    assert "/no/such/python: No such file or directory" in done.error_line(3)
    monkeypatch.setenv("VIADUCT_PYTHON", "python3")  # by PATH
    done = execute([VIADUCT, "sweep", "--over", "seed=1", "x.yaml"])
    assert "x.yaml" in done.error_line(2)


def test_a_python_without_yaml_says_so() -> None:
    """As after pip install --no-deps: -S leaves out where packages are."""
    words = ["/usr/bin/python3", "-S", str(ROOT / "python" / "viaduct"), "sweep"]
    assert "has no module yaml; pip install PyYAML" in execute(words).error_line(1)


@pytest.mark.parametrize("number", range(3))
def test_the_document_runs(number: int, lab: str, tmp_path: Path) -> None:
    block = blocks("python")[number].replace("python-demo", lab)
    done = run_python(block, ROOT / "python", tmp_path)
    assert done.returncode == 0, done.stderr
    expected = ["rtt_ms.p50", "2 links.0.spec", "delay=20ms"][number]
    assert expected.split(" ")[0] in done.stdout, done.stdout
    assert not [name for name in namespaces() if name.startswith(lab)]


def test_the_documents_sweep(tmp_path: Path) -> None:
    (block,) = blocks("sh")
    words = block.replace("viaduct ", f"{VIADUCT} ")
    done = execute(["sh", "-ec", words], cwd=tmp_path).expect()
    assert "6 runs: 6 done" in done.output
    data = json.loads((tmp_path / "sweep/results.json").read_text())
    assert [point["done"] for point in data["points"]] == [3, 3]
    assert list((tmp_path / "sweep/plots").glob("*.svg"))


def test_results_are_frames(python: Any, file: Path) -> None:
    result = python.run(file, mode="simulate", set={"links.0.spec": "delay=9ms"})
    (flow,) = result.flows.to_dict("records")
    assert flow["sent"] == flow["received"] > 0
    assert 18 <= flow["rtt_ms.p50"] < 18.1
    assert len(result.samples) == flow["received"]
    assert set(result.samples["unit"]) == {"ms"}
    assert result.events.empty
    assert "<table>" in result._repr_html_()


def test_a_run_that_fails_is_an_error(python: Any, tmp_path: Path) -> None:
    with pytest.raises(python.ViaductError, match="no-such") as caught:
        python.run(tmp_path / "no-such.yaml", mode="simulate")
    assert caught.value.status == 2
    with pytest.raises(TypeError, match="no 'speed'"):
        python.Topology().add_link("a", "b", speed="1M")


def test_a_link_has_a_direction(python: Any, tmp_path: Path) -> None:
    """Each in its own way, and the command reads what is written."""
    made = python.Topology("two", routing="static", mode="simulate", duration="2s")
    made.add_link("a", "b", up="delay=5ms", down={"delay": "40ms", "rate": "16Mbit/s"})
    dns = {"name": "dns", "filter": "udp port 53", "spec": "loss=5%"}
    made.add_link("b", "c", delay="1ms", down="", classes=[dns])
    made.add_flow("ping", "a", "b", duration="1s")
    made.add_flow("ping", "b", "c", duration="1s")
    title = made._repr_svg_()
    assert "up: delay=5ms; down: delay=40ms rate=16Mbit" in title
    assert "delay=1ms; down: a plain wire" in title
    file = tmp_path / "made.yaml"
    file.write_text(str(made))
    printed = viaduct("run", "--print", file).expect().output
    assert "delay=40ms rate=16Mbit" in printed
    assert "filter: udp port 53" in printed
    times = [row["rtt_ms.p50"] for row in python.run(made).flows.to_dict("records")]
    assert 45 <= times[0] < 46
    assert 1 <= times[1] < 2


def test_every_shape_has_directions(python: Any) -> None:
    made = python.Topology.line(3, delay="5ms", up="loss=1%", seed=7)
    assert [link["up"] for link in made.links] == ["loss=1%"] * 2
    assert made.scenario()["seed"] == 7
    with pytest.raises(TypeError, match="no 'speed'"):
        made.add_link("a", "b", up={"speed": "1M"})
    assert "a" not in made.nodes


def test_a_direction_that_is_no_spec_is_named(python: Any) -> None:
    with pytest.raises(TypeError, match="down of a link is a SPEC or its keys by name, not 3"):
        python.Topology().add_link("a", "b", up="loss=1%", down=3)


def test_links_have_every_key_of_a_spec(python: Any) -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/path-spec.md").read_text(), re.MULTILINE)
    made = python.Topology()
    for key in rows:
        made.add_link("a", "b", **{key: "1"})
    assert [link["spec"] for link in made.links] == [f"{key}=1" for key in rows]


@pytest.mark.parametrize(
    ("shape", "arguments", "nodes", "links"),
    [
        ("line", (2,), 2, 1),
        ("ring", (3,), 3, 3),
        ("grid", (3, 2), 6, 7),
        ("star", (5,), 5, 4),
        ("tree", (7,), 7, 6),
    ],
)
def test_topologies_print_as_scenarios(
    python: Any, shape: str, arguments: tuple[int, ...], nodes: int, links: int, tmp_path: Path
) -> None:
    made = getattr(python.Topology, shape)(*arguments, delay="5ms", rate="1Mbit/s")
    assert (len(made.nodes), len(made.links)) == (nodes, links)
    assert made._repr_svg_().count("<circle") == nodes
    file = tmp_path / "made.yaml"
    file.write_text(str(made))
    printed = viaduct("run", "--print", file).expect().output
    assert printed.count("delay=5ms") >= links


def test_an_exception_takes_the_lab_down(python: Any, file: Path, lab: str) -> None:
    with pytest.raises(KeyError), python.lab(file, set={"name": lab}) as made:
        assert made.name == lab
        assert made.exec("n1", ["ip", "link"]).stdout
        raise KeyError
    assert not [name for name in namespaces() if name.startswith(f"{lab}.")]


def test_a_sweep_is_resumed(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["sweep", file, "--mode", "simulate", "--over", "seed=1..3", "--out", out, "--no-plots"]
    assert "3 runs: 3 done" in viaduct(*words).expect().output
    runs = {each: each.stat().st_mtime_ns for each in (out / "runs").glob("*.json")}
    assert len(runs) == 3
    lost = next(iter(runs))
    lost.unlink()
    assert "3 runs: 3 done" in viaduct(*words).expect().output
    again = {each: each.stat().st_mtime_ns for each in (out / "runs").glob("*.json")}
    assert {each for each in again if again[each] != runs[each]} == {lost}
    table = (out / "results.csv").read_text().splitlines()
    assert table[0] == "seed,state,error,figure,value"


def test_failed_runs_of_a_sweep_are_told(tmp_path: Path) -> None:
    """A program that fails is a run that failed."""
    file = tmp_path / "failing.yaml"
    programs = "programs: [{node: n0, command: [sh, -c, exit 3]}]\n"
    file.write_text(PING.replace("python-sweep", "failing") + "stack: kernel\n" + programs)
    out = tmp_path / "out"
    words = ["sweep", file, "--mode", "simulate", "--out", out, "--no-plots"]
    done = viaduct(*words, "--over", "seed=1,2")
    assert done.status == 1
    assert "2 runs: 2 failed" in done.output
    assert done.output.count("failed: seed=") == 2
    assert "status 3" in done.output
    assert "delay=fast" in viaduct(*words, "--over", "links.0.spec=delay=fast").error_line(2)
    assert "KEY=VALUES" in viaduct(*words, "--over", "speed").error_line(2)


def test_ctrl_c_keeps_what_is_done(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["sweep", file, "--mode", "simulate", "--over", "seed=1..300", "--jobs", "1"]
    with running(*words, "--out", out, "--no-plots") as sweep:
        sweep.wait_for("done")
        os.killpg(sweep.pid, signal.SIGINT)
        assert sweep.wait() == 130, sweep.text
    data = json.loads((out / "results.json").read_text())
    states = [run["state"] for run in data["runs"]]
    assert states.count("done") >= 1
    assert states.count("not run") >= 1
    assert not list((out / "runs").glob("*.part"))


def test_a_signal_that_another_thread_gets_ends_a_sweep(file: Path, tmp_path: Path) -> None:
    """The kernel may give a process's signal to any thread of it."""
    words = ["sweep", file, "--mode", "simulate", "--set", "duration=1000h", "--no-plots"]
    words += ["--set", "flows.0.duration=1000h", "--out", tmp_path / "out"]
    with running(*words) as sweep:
        wait_until(lambda: "viaduct-sim" in descendants(sweep.pid).values(), "its run has begun")
        threads = [int(each.name) for each in Path(f"/proc/{sweep.pid}/task").iterdir()]
        other = next(each for each in threads if each != sweep.pid)
        assert ctypes.CDLL(None).tgkill(sweep.pid, other, int(signal.SIGTERM)) == 0
        assert sweep.wait() == 130, sweep.text


def test_ranks_share_a_sweep(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3"]
    words = ["sweep", str(file), "--mode", "simulate", "--over", "seed=1..6", "--out", str(out)]
    done = execute([*mpirun, str(VIADUCT), *words, "--no-plots"]).expect()
    assert "6 runs: 6 done" in done.output
    assert f"{done}".count(": done") == 6


def test_compare(file: Path, tmp_path: Path) -> None:
    made = {}
    for name, spec in (("a", "delay=5ms"), ("b", "delay=5ms"), ("c", "delay=9ms")):
        made[name] = tmp_path / f"{name}.json"
        words = ["--mode", "simulate", "--set", f"links.0.spec={spec}", "--json", made[name]]
        viaduct("run", file, *words).expect()
    assert "same" in viaduct("compare", made["a"], made["b"]).expect().output
    other = viaduct("compare", made["a"], made["c"], "--json", "-")
    assert other.status == 1
    verdicts = {each["figure"]: each["verdict"] for each in json.loads(other.output)["figures"]}
    assert {v for k, v in verdicts.items() if "rtt_ms" in k} == {"differs"}
    viaduct("compare", made["a"], made["c"], "--relative", "1").expect()
    more = json.loads(made["b"].read_text())
    more["flows"].append({**more["flows"][0], "name": "another"})
    made["b"].write_text(json.dumps(more))
    missing = viaduct("compare", made["a"], made["b"])
    assert missing.status == 1
    assert "only in B" in missing.output
    for bad in ("[]", "{}", "nothing", '{"flows": 3}'):
        made["b"].write_text(bad)
        assert "b.json" in viaduct("compare", made["a"], made["b"]).error_line(2)
