"""A lab on several machines, of which some are not as they should be, or fail."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import FAST_OLSR, VIADUCT, Running, results, viaduct, wait_until
from machines import Machine, Machines, machines

TWO = """
mode: offload
duration: 60s
nodes: {n0: {on_machine: h1}, n1: {on_machine: h1}, n2: {on_machine: h2}, n3: {on_machine: h2}}
links: [{line: all}]
"""
FLOW = "flows: [{type: udp, from: n0, to: n3, rate: 1Mbit}]"


def killed(machine: Machine, *, only_rank: bool = False) -> int:
    """Kills the host's processes, or only the one that runs its part; how many."""
    own = Path(f"/proc/{machine.pid}/ns/mnt").readlink()
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            is_rank = words[-2:-1] == [b"rank"] and words[0].endswith(b"viaduct")
            is_host = int(folder.name) == machine.pid or b"become_host" in b"".join(words)
            if not is_host and (is_rank or not only_rank) and (folder / "ns/mnt").readlink() == own:
                os.kill(int(folder.name), signal.SIGKILL)
                count += 1
    return count


def assert_void(hosts: Machines, run: Running, tmp_path: Path, dead: Machine | None = None) -> None:
    """One line, VOID, no results, and nothing left but on the host that is dead."""
    assert run.wait() == 4, run.text
    assert "VOID" in run.text.strip().splitlines()[-1], run.text
    assert run.text.count("viaduct: ") == 1, run.text
    assert not (tmp_path / "out.json").exists()
    wait_until(lambda: all(m == dead or not m.left() for m in hosts.all), "nothing left")
    if dead:
        dead.run(VIADUCT, "clean")
    hosts.await_nothing_left()


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("only_rank", [False, True])
def test_a_host_dies(
    scenario: Callable[[str], Path], tmp_path: Path, number: int, only_rank: bool
) -> None:
    """Without a word: everything there at once, or what runs its part."""
    with machines(2) as hosts:
        run = hosts.start(
            "run", scenario(TWO + FLOW + FAST_OLSR + hosts.hosts()), "--json", tmp_path / "out.json"
        )
        run.wait_for("converged")
        assert killed(hosts.all[number], only_rank=only_rank)
        if number == 0 and not only_rank:
            # The command itself was one of them.
            assert run.wait() == -signal.SIGKILL
            wait_until(
                lambda: not hosts.all[1].left(), lambda: f"nothing left: {hosts.all[1].left()}"
            )
            hosts.all[0].run(VIADUCT, "clean")
            hosts.await_nothing_left()
            return
        assert_void(hosts, run, tmp_path, hosts.all[number])


@pytest.mark.usefixtures("lab")
def test_the_network_between_the_hosts_is_cut(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """It is missed within some 10 s, on both sides."""
    with machines(2) as hosts:
        run = hosts.start(
            "run", scenario(TWO + FLOW + FAST_OLSR + hosts.hosts()), "--json", tmp_path / "out.json"
        )
        run.wait_for("converged")
        hosts.plug(1, "down")
        assert_void(hosts, run, tmp_path)


@pytest.mark.usefixtures("lab")
def test_the_network_between_the_hosts_flaps(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """The run goes on, and what was lost is counted."""
    flow = "flows: [{type: udp, from: n0, to: n3, rate: 1Mbit, duration: 8s}]"
    static = "\nrouting: {protocol: static}\n"
    with machines(2) as hosts:
        text = TWO.replace("60s", "9s") + flow + static + hosts.hosts()
        run = hosts.start("run", scenario(text), "--json", tmp_path / "out.json")
        run.wait_for("converged")
        run.wait_for("of 9 s, udp n0->n3")
        hosts.plug(1, "down")
        time.sleep(2)
        hosts.plug(1, "up")
        assert run.wait() == 0, run.text
        flow = results(tmp_path / "out.json")["flows"][0]
        assert 0.15 < flow["loss"] < 0.6, flow
        hosts.await_nothing_left()


@pytest.mark.usefixtures("lab")
def test_a_host_that_is_not_ready(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Without viaduct, with another version of it, without rights: one line that names the host."""
    other = tmp_path / "viaduct"
    # Compilers put a short text into instructions, four bytes each.
    begin = viaduct("version").output.split()[1].encode()[:4]
    other.write_bytes(VIADUCT.read_bytes().replace(begin, b"9" + begin[1:]))
    other.chmod(0o755)
    nothing = tmp_path / "nothing"
    nothing.touch()
    for file, words in (
        (nothing, f"machine h2: {VIADUCT} is missing"),
        (other, "this machine has viaduct 9"),
    ):
        with machines(2) as hosts:
            hosts.all[1].run("mount", "--bind", file, VIADUCT)
            run = hosts.start("run", scenario(TWO + FLOW + FAST_OLSR + hosts.hosts()))
            assert run.wait() == 3, run.text
            assert words in run.text
            assert "h2" in run.text
            assert len(run.text.strip().splitlines()) == 1, run.text
            hosts.await_nothing_left()


@pytest.mark.usefixtures("lab")
def test_a_host_without_rights(scenario: Callable[[str], Path]) -> None:
    """Who logs in there is not root, and sudo does not let them be."""
    with machines(2) as hosts:
        hosts.demote(hosts.all[1])
        run = hosts.start("run", scenario(TWO + FLOW + FAST_OLSR + hosts.hosts()))
        assert run.wait() == 3, run.text
        assert "machine h2: " in run.text
        assert "root" in run.text
        assert len(run.text.strip().splitlines()) == 1, run.text
        hosts.await_nothing_left()


@pytest.mark.usefixtures("lab")
def test_routes_that_do_not_converge_across_hosts(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """What is said to be reachable is so; and it is an error unless that is wanted."""
    text = TWO.replace("60s", "1s").replace("{line: all}", "{line: all, spec: loss=0%}")
    text = text.replace("links:", "convergence: {timeout: 3s, required: false}\nlinks:")
    cut = "{pair: [n0, n1]}, {pair: [n2, n3]}, {pair: [n1, n2], spec: loss=100%}"
    text = text.replace("{line: all, spec: loss=0%}", cut)
    with machines(2) as hosts:
        for required in ("false", "true"):
            file = scenario(text.replace("false", required) + FAST_OLSR + hosts.hosts())
            run = hosts.start("run", file, "--json", tmp_path / f"{required}.json")
            assert run.wait() == (0 if required == "false" else 1), run.text
        convergence = results(tmp_path / "false.json")["convergence"]
        assert (convergence["reachable"], convergence["pairs"]) == (4, 12)
        assert ["n1", "n2"] in convergence["unreachable"]
        assert run.text.count("viaduct: ") == 1, run.text
        assert not (tmp_path / "true.json").exists()
        hosts.await_nothing_left()


def signal_all(machine: Machine, number: signal.Signals) -> None:
    """Sends the signal to all processes of the host but the one that stands for it."""
    own = Path(f"/proc/{machine.pid}/ns/mnt").readlink()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_host = (
                int(folder.name) == machine.pid
                or b"become_host" in (folder / "cmdline").read_bytes()
            )
            if not is_host and (folder / "ns/mnt").readlink() == own:
                os.kill(int(folder.name), number)


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("number", [1, 2])
def test_a_host_is_frozen(scenario: Callable[[str], Path], tmp_path: Path, number: int) -> None:
    """Its kernel still answers: it is missed all the same, named, and cleans up when it goes on."""
    with machines(3) as hosts:
        text = TWO.replace("{line: all}", "{line: all}").replace(
            "n3: {on_machine: h2}", "n3: {on_machine: h3}"
        )
        run = hosts.start(
            "run", scenario(text + FLOW + FAST_OLSR + hosts.hosts()), "--json", tmp_path / "o.json"
        )
        run.wait_for("converged")
        frozen = hosts.all[number]
        signal_all(frozen, signal.SIGSTOP)
        try:
            assert run.wait() == 4, run.text
            last = run.text.strip().splitlines()[-1]
            assert f"machine {frozen.name}: no message has arrived for 10 s" in last, run.text
            assert "VOID" in last
            assert not (tmp_path / "o.json").exists()
            others = [m for m in hosts.all if m != frozen]
            wait_until(lambda: not any(m.left() for m in others), "nothing left")
        finally:
            signal_all(frozen, signal.SIGCONT)
        wait_until(lambda: not frozen.left(), lambda: f"nothing left: {frozen.left()}")
