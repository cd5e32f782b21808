"""The benchmark `kernelstack`: its program, its reading of results, its page."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness import kernelstack, kernelstack_cost, kernelstack_goodput
from harness.analysis import Ratio
from harness.kernelstack_runs import HostRun, System, _host_run
from harness.plan import make_plan
from harness.results import Result, Row, read_csv

BUILD = Path(os.environ.get("VIADUCT_BUILD", Path(__file__).resolve().parent.parent / "build"))


def dumbbell(*words: str) -> subprocess.CompletedProcess[str]:
    program = BUILD / "bench" / "ns3-dumbbell"
    if not program.exists():
        pytest.skip("ns3-dumbbell is not built: it needs ns-3")
    command = [str(program), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def report(*words: str) -> Row:
    done = dumbbell(*words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def has_kernel() -> bool:
    """Also needs the command, which test runs build along with the program."""
    if not (BUILD / "viaduct").exists():
        return False
    listed = subprocess.run(
        [str(BUILD / "viaduct"), "kernel", "list", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.returncode == 0 and bool(json.loads(listed.stdout))


@pytest.mark.parametrize(
    ("stack", "routers"), [("ns3", "same"), ("kernel", "same"), ("kernel", "ns3")]
)
def test_a_dumbbell_without_loss_carries_all_and_repeats(stack: str, routers: str) -> None:
    if stack == "kernel" and not has_kernel():
        pytest.skip("no kernel for guests: viaduct kernel build")
    words = [
        f"--stack={stack}",
        f"--routers={routers}",
        "--loss=0",
        "--bottleneck=4Mbps",
        "--delay=5ms",
    ]
    words += ["--duration=2s", "--hash"]
    first = report(*words)
    # The goodput is less than 1 Mbit/s by the handshake and the bytes that are under way at the
    # end.
    assert first["goodput_bit_per_s"] == pytest.approx([0.97e6, 0.97e6], rel=0.03)
    assert first["nodes"] == 6
    assert first["segments"] * 3 <= first["frames"]  # type: ignore[operator]
    assert report(*words)["hash"] == first["hash"]


def test_a_discipline_has_all_its_words() -> None:
    if not has_kernel():
        pytest.skip("no kernel for guests: viaduct kernel build")
    words = ["--rate-app=0", "--loss=0", "--duration=1s", "--link=p2p", "--queue=pfifo limit 7"]
    words += ["--sysctl=net.ipv4.tcp_wmem=4096 16384 4194304;net.ipv4.tcp_rmem=4096 131072 6291456"]
    kernel = report(*words)["kernel"]
    assert isinstance(kernel, dict)
    assert kernel["qdisc"][0]["options"] == {"limit": 7}


def test_losses_go_by_the_run() -> None:
    words = ["--stack=ns3", "--duration=5s", "--hash"]
    first, second = report(*words, "--run=1"), report(*words, "--run=2")
    assert first["hash"] != second["hash"]
    assert first["mean_goodput_bit_per_s"] < 0.9e6  # type: ignore[operator]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--stack=bsd"], "--stack=bsd: ns3, kernel or kernel:VERSION"),
        (["--routers=bsd"], "--routers=bsd: one of same, ns3"),
        (["--transport=quic"], "--transport=quic: one of tcp"),
        (["--stack=ns3", "--transport=sctp"], "use --stack=kernel"),
        (["--loss=1"], "--loss: a probability below 1"),
        (["--stack=ns3", "--congestion=nosuch"], "--congestion=nosuch: ns-3 has no"),
        (["--sysctl=a"], "--sysctl: a is not NAME=VALUE"),
    ],
)
def test_wrong_options_are_named_in_one_line(words: list[str], text: str) -> None:
    done = dumbbell(*words)
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_real_time_run_is_a_mean_a_dumbbell() -> None:
    said: Row = {"goodput_bit_per_s": [1.0, 3.0, 4.0, 6.0], "worst_lateness_ms": 0.5}
    engine: Row = {
        "pipelines": [{"arrived": 60, "fates": {"lost": 4}}, {"arrived": 40, "fates": {"lost": 2}}],
        "timing": {"p99_ns": 5000},
    }
    run = _host_run(said, engine)
    assert run.goodputs == [2.0, 5.0]
    assert run.loss == pytest.approx(0.06)
    assert run.path_p99_us == 5


def _goodput(experiment: str, system: str, value: float) -> Row:
    row: Row = {"experiment": experiment, "system": system, "label": f"{system}, a stack"}
    row |= {"goodput_kbit": value, "goodput_kbit_low": value - 5, "goodput_kbit_high": value + 5}
    return row | {"times_host": value / 300, "transport": system}


def test_the_page_shows_measured_and_published() -> None:
    report = pytest.importorskip("harness.report", reason="needs matplotlib")
    result = Result("kernelstack", {})
    result.ratios["goodput_virtual_vs_real"] = Ratio(
        1.01, 0.98, 1.04, 0.95, "within", (1.01,), 1.05
    )
    kernel = System("kernel_6_12", "Linux 6.12, virtual time", ())
    result.rows = [_goodput("tcp", name, 300) for name in ("host", kernel.name, "ns3")]
    result.rows += [_goodput("transports", kernel.name, 200)]
    for system, cost in (("ns3", 1.0), (kernel.name, 2.0)):
        for x in (1, 100):
            result.rows.append(
                {"experiment": "duration", "system": system, "label": system}
                | {"simulated_seconds": x, "wall_seconds": cost * x, "us_per_frame": cost}
            )
    for file in ("cradle-goodput", "cradle-wall"):
        result.published += read_csv(f"{file}.csv", table=file)
    page = report.to_html(result)
    assert page.count("<svg") == 3
    assert "0.95 … 1.05" in page
    assert "DCE Cradle and NSC" in page


def _canned(system: System, words: Sequence[str]) -> Row:
    """What ns3-dumbbell might print, a little different from run to run."""
    run = next((int(word.split("=")[1]) for word in words if word.startswith("--run=")), 1)
    cost = 2.0 if system.name.startswith("kernel") else 1.0
    row: Row = {"boot_seconds": 0.1, "run_seconds": cost, "run_user_seconds": cost}
    row |= {"run_system_seconds": 0.1, "segments": 1000, "frames": 5000, "setup_seconds": 0.1}
    row |= {"first_frame_seconds": 0.5, "pss_mib": 300.0, "pss_mib_per_node": 0.6, "processes": 3}
    row |= {"frames_per_second": 20000.0, "hash": run, "mean_goodput_bit_per_s": 3e5 + 1e3 * run}
    row |= {"goodput_bit_per_s": [5e6, 4e6], "series_bit_per_s": [[5e6, 5e6], [4e6, 4e6]]}
    return row | ({"kernel": {"qdisc": [{"drops": 7}]}} if "--queue=codel" in words else {})


def test_a_quick_run_has_every_ratio_and_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    report = pytest.importorskip("harness.report", reason="needs matplotlib")
    kernels = [System("kernel_6_12", "Linux 6.12", ()), System("kernel_6_1", "Linux 6.1", ())]
    for module in (kernelstack_cost, kernelstack_goodput):
        monkeypatch.setattr(module, "kernel_systems", lambda _session: kernels)
        monkeypatch.setattr(
            module, "dumbbells", lambda _session, asked: (_canned(*one) for one in asked)
        )
    monkeypatch.setattr(
        kernelstack_cost,
        "dumbbell",
        lambda _session, system, *words, cpu=None: _canned(system, words),
    )
    monkeypatch.setattr(
        kernelstack_goodput,
        "host_dumbbells",
        lambda *_words, **_named: HostRun([3.1e5, 3.2e5, 3.3e5], 1.0, 10.0, 0.05),
    )
    result = Result("kernelstack", {"kernel": "6.18.44"})
    kernelstack.measure(None, make_plan("kernelstack", True, None), result)  # type: ignore[arg-type]
    assert set(result.ratios) == {
        "goodput_virtual_vs_real",
        "wall_vs_ns3_native",
        "wall_vs_ns3_native_process",
        "wall_vs_ns3_native_hosts",
        "wall_vs_ns3_native_hosts_process",
        "wall_bulk_vs_ns3_native",
        "wall_bulk_vs_ns3_native_process",
        "wall_100flows_vs_ns3_native",
        "wall_100flows_vs_ns3_native_process",
        "wall_short_vs_ns3_native",
        "wall_short_vs_ns3_native_process",
        "frames_per_second",
        "frames_per_second_process",
        "process_traces_as_embedded",
        "memory_per_node_MiB",
        "boot_seconds",
        "deterministic_runs",
    }
    assert result.ratios["deterministic_runs"].holds()
    assert result.ratios["wall_vs_ns3_native"].value == pytest.approx(2.1 / 1.1)
    page = report.to_html(result)
    assert page.count("<svg") == 7
    assert "the kernel&#x27;s CoDel" in page
