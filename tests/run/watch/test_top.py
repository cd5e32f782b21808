"""`viaduct top` and what `viaduct ls` says of hubs and joined nodes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import TIMEOUT, VIADUCT, Running, execute, records, running, viaduct, wait_until
from wires import Wires

SCENARIO = """
nodes: {{count: 1, {remote}}}
links:
{links}
routing: {{protocol: static}}
"""


def hub_file(scenario: Callable[[str], Path], nodes: int = 2) -> Path:
    """A hub with so many nodes that the first host may claim."""
    names = [f"c{i}" for i in range(nodes)]
    remote = ", ".join(f"{name}: {{remote: any}}" for name in names)
    links = "\n".join(f"  - {{pair: [n0, {name}], spec: delay=1ms}}" for name in names)
    return scenario(SCENARIO.format(remote=remote, links=links))


@contextlib.contextmanager
def hub(file: Path, *options: str) -> Iterator[Running]:
    with running("hub", file, "--port", "0", *options) as process:
        process.wait_for("a client without Viaduct")
        yield process


def top(*options: str) -> dict:
    return json.loads(viaduct("top", "--json", "--interval", "100ms", *options).expect().output)


def hubs() -> dict[str, dict]:
    return {each["name"]: each for each in top()["hubs"]}


def test_there_may_be_nothing(lab: str) -> None:
    done = viaduct("top").expect()
    assert ": 0 labs, 0 paths, 0 hubs, 0 joined nodes" in done.output
    assert set(top()) == {"time", "labs", "paths", "hubs", "joined"}
    viaduct("top", "--prometheus").expect()


@pytest.mark.parametrize("nodes", [2, 40])
def test_a_hub_and_each_client(scenario: Callable[[str], Path], lab: str, nodes: int) -> None:
    """Its statistics arrive in pieces if there are many."""
    with hub(hub_file(scenario, nodes)) as process:
        found = hubs()[lab]
        assert found["pid"] == process.pid
        assert found["state"] == "running"
        clients = found["statistics"]["clients"]
        assert [each["node"] for each in clients] == [f"c{i}" for i in range(nodes)]
        assert len(found["rates"]) == nodes
        listed = json.loads(viaduct("ls", "--json").expect().output)
        entry = next(each for each in listed if each["kind"] == "hub")
        assert (entry["name"], len(entry["nodes"])) == (lab, nodes)
        assert lab in viaduct("ls").expect().output
        metrics = viaduct("top", "--prometheus").expect().output
        assert f'viaduct_hub_nodes{{hub="{lab}"}} {nodes}\n' in metrics
        table = viaduct("top", "--once", "--interval", "100ms").expect().output
        assert f"0 of {nodes}" in table
    assert viaduct("ls", "--json").expect().output == "[]\n"


def test_a_hub_that_is_a_lab(scenario: Callable[[str], Path], lab: str) -> None:
    """It is among the labs, too."""
    with hub(hub_file(scenario), "--mode", "offload"):
        clients = hubs()[lab]["statistics"]["clients"]
        assert [each["node"] for each in clients] == ["c0", "c1"]
        found = next(each for each in top()["labs"] if each["name"] == lab)
        assert found["nodes"] == ["n0"]
        assert found["statistics"]["pipelines"]
        # The simulator tells its lateness while it runs.
        events = wait_until(
            lambda: (now := hubs()[lab]["statistics"]["events"])["events"] and now, "lateness"
        )
        assert events["max_ns"] >= events["p99_ns"] >= events["p50_ns"] > 0
        metrics = viaduct("top", "--prometheus").expect().output
        counted = re.search(
            rf'viaduct_hub_event_lateness_seconds_count{{hub="{lab}"}} (\d+)\n', metrics
        )
        assert counted and int(counted[1]) > 0


def test_two_hubs_of_one_name(scenario: Callable[[str], Path], lab: str) -> None:
    file = hub_file(scenario)
    with hub(file), hub(file) as second:
        assert set(hubs()) == {lab, f"{lab}-{second.pid}"}
        with hub(file) as third:
            assert len(hubs()) == 3
            third.process.send_signal(signal.SIGINT)
            assert third.wait() == 0
        assert len(hubs()) == 2


def test_a_hub_that_was_killed(scenario: Callable[[str], Path], lab: str) -> None:
    with hub(hub_file(scenario)) as process:
        process.process.send_signal(signal.SIGKILL)
        process.process.wait(TIMEOUT)
        found = hubs()[lab]
        assert (found["state"], "clean" in found["trouble"]) == ("dead", True)
        assert lab in viaduct("clean").expect().output.split()
        assert lab not in hubs()
        assert not any(name.startswith(".hubs") for name in records())


def test_a_hub_that_hangs(scenario: Callable[[str], Path], lab: str) -> None:
    """It holds nobody up for long, and one that ends meanwhile is no error."""
    with hub(hub_file(scenario)) as process:
        os.kill(process.pid, signal.SIGSTOP)
        begin = time.monotonic()
        trouble = hubs()[lab]["trouble"]
        assert "does not respond" in trouble
        assert time.monotonic() - begin < 10
        with subprocess.Popen(
            [str(VIADUCT), "top", "--json", "--interval", "100ms"], stdout=subprocess.PIPE
        ) as looking:
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGKILL)
            output, _ = looking.communicate(timeout=TIMEOUT)
        assert looking.returncode == 0, output
        json.loads(output)
        viaduct("clean").expect()


def test_a_path_has_rates(wires: Wires) -> None:
    with wires.path("--between", "a", "b", "--up", "delay=1ms loss=100%") as path:
        paths = {each["name"]: each for each in top()["paths"]}
        name = next(each for each in paths if f"{wires.middle}-p" in each or "a-b" in each)
        link = paths[name]["statistics"]["pipelines"][0]
        assert link["spec"] and len(paths[name]["rates"]) == len(
            paths[name]["statistics"]["pipelines"]
        )
        metrics = viaduct("top", "--prometheus").expect().output
        assert f'viaduct_path_arrived_packets_total{{path="{name}"' in metrics
        path.process.send_signal(signal.SIGINT)
        assert path.wait() == 0


LAB = "nodes: 2\nlinks: [{pair: [n0, n1], spec: delay=1ms}]\nrouting: {protocol: static}\n"


def test_a_lab_and_its_links(scenario: Callable[[str], Path], lab: str) -> None:
    viaduct("up", scenario(LAB)).expect()
    try:
        found = next(each for each in top()["labs"] if each["name"] == lab)
        assert (found["state"], sorted(found["nodes"])) == ("up", ["n0", "n1"])
        links = found["statistics"]["pipelines"]
        assert {each["pair"] for each in links} == {"n0-n1"}
        viaduct("exec", f"{lab}:n0", "--", "ping", "-c", "3", "-i", "0.1", "10.0.0.2").expect()
        metrics = viaduct("top", "--prometheus").expect().output
        assert f'viaduct_lab_nodes{{lab="{lab}"}} 2\n' in metrics
        assert re.search(
            rf'viaduct_lab_link_packets_total{{lab="{lab}",pair="n0-n1".*fate="delivered"}} \d+\n',
            metrics,
        )
        table = viaduct("top").expect().output
        assert "LINKS" in table and "n0-n1" in table
    finally:
        viaduct("down", lab).expect()


def test_others_statistics_are_theirs(
    scenario: Callable[[str], Path], lab: str, tmp_path: Path
) -> None:
    """A lab is seen by every user, a hub by its own; statistics by their own and root."""
    viaduct("up", scenario(LAB)).expect()
    try:
        with hub(hub_file(scenario)):
            nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            look = [str(VIADUCT), "top", "--json", "--interval", "50ms"]
            done = execute([*nobody, "env", "-u", "XDG_RUNTIME_DIR", *look]).expect()
            seen = json.loads(done.output)
            mine = next(each for each in seen["labs"] if each["name"] == lab)
            assert "owned by another user" in mine["trouble"]
            assert "statistics" not in mine
            assert seen["hubs"] == []
    finally:
        viaduct("down", lab).expect()


class Terminal:
    """The command in a pseudoterminal of 24 rows and 80 columns."""

    def __init__(self, *words: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.slave = slave
        self.settings = termios.tcgetattr(slave)
        self.text = b""
        starter = "import os, sys, fcntl, termios; os.setsid(); "
        starter += "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", starter, str(VIADUCT), *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )

    def read(self) -> bytes:
        while select.select([self.master], [], [], 0.05)[0]:
            self.text += os.read(self.master, 65536)
        return self.text

    def wait_for(self, what: bytes) -> None:
        wait_until(lambda: what in self.read(), f"it shows {what!r}")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.mark.parametrize("end", ["q", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_the_terminal_is_as_it_was(end: str) -> None:
    terminal = Terminal("top", "--interval", "100ms")
    try:
        terminal.wait_for(b"joined nodes")
        assert terminal.text.startswith(ENTER)
        assert LEAVE not in terminal.text
        if end == "q":
            os.write(terminal.master, b"xq")
        else:
            terminal.process.send_signal(getattr(signal, end))
        status = terminal.process.wait(TIMEOUT)
        assert status == (0 if end in ("q", "SIGINT") else 128 + getattr(signal, end))
        after = terminal.read().partition(LEAVE)
        assert after[1] and ENTER not in after[2]
        assert b"\x1b[?25h" in after[0], "the cursor is there again"
        assert termios.tcgetattr(terminal.slave) == terminal.settings
    finally:
        terminal.close()


def test_a_table_that_is_stopped_and_goes_on() -> None:
    terminal = Terminal("top", "--interval", "100ms")
    try:
        terminal.wait_for(b"joined nodes")
        terminal.process.send_signal(signal.SIGTSTP)
        terminal.wait_for(LEAVE)
        assert termios.tcgetattr(terminal.slave) == terminal.settings
        terminal.text = b""
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for(ENTER)
        terminal.wait_for(b"joined nodes")
        fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
        terminal.process.send_signal(signal.SIGWINCH)
        wait_until(
            lambda: terminal.read().split(b"\x1b[H")[-1].startswith(b"viaduct top, " + b"2"),
            "it is drawn again",
        )
        last = terminal.read().split(b"\x1b[H")[-1]
        assert len(last.partition(b"\x1b[K")[0]) == 20, last
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(TIMEOUT) == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "[::1]"])
def test_metrics_over_http(scenario: Callable[[str], Path], lab: str, address: str) -> None:
    with hub(hub_file(scenario)), running("top", "--listen", f"{address}:0") as server:
        server.wait_for("metrics: TCP port")
        port = server.text.split("TCP port ")[1].split(",")[0]
        with urllib.request.urlopen(f"http://{address}:{port}/metrics", timeout=30) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert f'viaduct_hub_nodes{{hub="{lab}"}} 2\n' in answer.read().decode()
        server.process.send_signal(signal.SIGINT)
        assert server.wait() == 0


def test_bad_input() -> None:
    for where in ("x", ":", "1.2.3:5", ":70000", "localhost:1"):
        assert "--listen" in viaduct("top", "--listen", where).error_line(2)
    assert "--interval" in viaduct("top", "--interval", "0s").error_line(2)
    assert "--json and --prometheus" in viaduct("top", "--json", "--prometheus").error_line(2)
