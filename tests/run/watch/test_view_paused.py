"""`viaduct view` of a paused simulation: what stands still is read, changed, and continued."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import browser
from labs import Running, results, viaduct
from test_view import ask, choose, view

SCENARIO = """
name: NAME
mode: simulate
stack: kernel
duration: 6s
nodes: 3
links: [{line: all, spec: "delay=10ms rate=10Mbit"}]
routing: {protocol: static}
flows: [{type: ping, from: n0, to: n2, duration: 5s, interval: 100ms}]
"""


# n0 has a SPEC'd link, n2 a plain one; of n1 both are.
OF_NS3 = """
name: NAME
mode: simulate
duration: 6s
nodes: 4
links:
  - {pair: [n0, n1], spec: "delay=10ms rate=100kbit queue=200p"}
  - {pair: [n1, n2], spec: "delay=10ms"}
  - {pair: [n2, n3]}
routing: {protocol: OLSR}
flows:
  - {type: udp, from: n0, to: n3, rate: 200kbit, size: 500, duration: 5s}
  - {type: ping, from: n3, to: n1, duration: 5s, interval: 100ms}
"""


@contextlib.contextmanager
def paused_run(text: str, folder: Path) -> Iterator[tuple[str, Running, Path]]:
    """A run that stands still one second after convergence: its name, itself, its results."""
    name, file, found = f"still{os.getpid()}", folder / "still.yaml", folder / "still.json"
    file.write_text(text.replace("NAME", name))
    run = Running("run", file, "--pause-at", "1s", "--json", found)
    try:
        run.wait_for("is paused at ")
        run.wait_for("viaduct kernel resume")
        yield name, run, found
    finally:
        if run.process.poll() is None:
            os.kill(run.pid, signal.SIGTERM)
            run.wait()


@pytest.fixture
def paused(tmp_path: Path) -> Iterator[tuple[str, Running, Path]]:
    """One of kernels."""
    if "release" not in viaduct("kernel", "list").output:
        pytest.skip("no kernel for guests: viaduct kernel build")
    with paused_run(SCENARIO, tmp_path) as found:
        yield found


@pytest.fixture
def of_ns3(tmp_path: Path) -> Iterator[tuple[str, Running, Path]]:
    """One of ns-3's own stacks."""
    with paused_run(OF_NS3, tmp_path) as found:
        yield found


def test_it_is_listed(paused: tuple[str, Running, Path]) -> None:
    name, _, _ = paused
    (listed,) = (e for e in json.loads(viaduct("ls", "--json").output) if e.get("name") == name)
    assert listed["kind"] == "paused simulation"
    assert listed["state"] == "paused"
    assert listed["time"] == pytest.approx(1.2)
    assert listed["nodes"] == ["n0", "n1", "n2"]
    assert [link["nodes"] for link in listed["links"]] == [["n0", "n1"], ["n1", "n2"]]
    assert listed["links"][1]["interfaces"] == ["eth1", "eth0"]
    assert listed["kernels"] == listed["nodes"]
    assert f"{name} " in viaduct("ls").expect().output


def test_it_is_shown_changed_and_continued(paused: tuple[str, Running, Path]) -> None:
    name, run, found = paused
    with view(name) as (_, address), browser() as page:
        page.open(address)
        page.wait("return document.querySelectorAll('#picture .node').length === 3", "no topology")
        assert page.text("#name") == f"simulation {name}"
        assert "paused at 1.200000 s" in page.text("#lateness")
        choose(page, "[data-node=n0]")
        page.wait("return document.querySelector('#to')", "no routes")
        page.wait(
            "return /10\\.0\\.0\\./.test(document.querySelector('#panel pre')?.innerText)", ""
        )
        page.ask("const to = document.querySelector('#to'); to.value = 'n2'; to.onchange()")
        page.wait("return document.querySelector('#hops').innerText.includes('n2')", "no path")
        assert page.text("#hops") == "n0 → n1 → n2"
        choose(page, "[data-link=n1-n2]")
        page.wait("return /qdisc/.test(document.querySelector('#packets')?.innerText)", "no queue")
        counters = page.text("#packets")
        assert "n1 eth1" in counters and "n2 eth0" in counters and "RX:" in counters
        # It stands still: what is read again is the same.
        status, again = ask(address, "packets?link=n1-n2")
        assert status == 200
        assert "\n".join(json.loads(again)["lines"]).split() == counters.split()
        page.ask("[...document.querySelectorAll('#panel button')][1].click()")  # link down
        page.wait("return /state DOWN/.test(document.querySelector('#packets').innerText)", "up")
        head = {"Content-Type": "application/json"}
        spec = json.dumps({"link": "n0-n1", "direction": "up", "spec": "delay=9ms"})
        assert ask(address, "spec", method="POST", body=spec, headers=head)[0] == 422
        page.ask("document.querySelector('#resume').click()")
        page.wait("return !document.querySelector('#ended').hidden", "it is not told")
        assert "goes on" in page.text("#ended")
        assert not page.errors()
    assert run.wait() == 0, run.text
    # What was sent after the pause found no link.
    (ping,) = results(found)["flows"]
    assert ping["sent"] == 50
    assert 5 <= ping["received"] <= 12


def test_what_is_wrong_is_one_line(paused: tuple[str, Running, Path]) -> None:
    name, _, _ = paused
    with view(name) as (_, address):
        assert ask(address, "node?name=n9")[0] == 422
        assert ask(address, "packets?link=n0-n9")[0] == 422
    assert "is there" in viaduct("view", f"{name}x").error_line(2)


def test_nodes_of_ns3_are_shown_changed_and_continued(of_ns3: tuple[str, Running, Path]) -> None:
    name, run, found = of_ns3
    with view(name) as (_, address), browser() as page:
        page.open(address)
        page.wait("return document.querySelectorAll('#picture .node').length === 4", "no topology")
        assert page.text("#name") == f"simulation {name}"
        choose(page, "[data-node=n0]")
        page.wait("return /10\\.0\\.0/.test(document.querySelector('#panel table')?.innerText)", "")
        assert "via 10.0.0.2 dev eth0 metric 3" in page.text("#panel pre")
        page.wait("return document.querySelector('#to')", "no paths")
        page.ask("const to = document.querySelector('#to'); to.value = 'n3'; to.onchange()")
        page.wait("return document.querySelector('#hops').innerText.includes('n3')", "no path")
        assert page.text("#hops") == "n0 → n1 → n2 → n3"
        choose(page, "[data-link=n0-n1]")
        page.wait("return /wait/.test(document.querySelector('#packets')?.innerText)", "no queue")
        queue = page.text("#packets")
        assert "rate=100kbit" in queue
        # Twice the rate comes in: of a second's 50 packets about half still waits.
        (waiting,) = re.findall(r"up: .*\n.* packets, (\d+) wait, 0 lost", queue)
        assert 15 <= int(waiting) <= 35, queue
        status, again = ask(address, "packets?link=n0-n1")
        assert status == 200
        assert "\n".join(json.loads(again)["lines"]).split() == queue.split()
        choose(page, "[data-link=n2-n3]")
        page.wait("return /link n2-n3 up/.test(document.querySelector('#packets').innerText)", "")
        assert "n3 eth0 UP" in page.text("#packets")
        page.ask("[...document.querySelectorAll('#panel button')][1].click()")  # link down
        page.wait("return /n2-n3 down/.test(document.querySelector('#packets').innerText)", "up")
        assert ask(address, "path?from=n0&to=n9")[0] == 422
        page.ask("document.querySelector('#resume').click()")
        page.wait("return !document.querySelector('#ended').hidden", "it is not told")
        assert "goes on" in page.text("#ended")
        assert not page.errors()
    assert run.wait() == 0, run.text
    result = results(found)
    udp, ping = result["flows"]
    assert [(e["link"], e["change"], e["at"]) for e in result["events"]] == [
        ("n2-n3", "down", pytest.approx(1.0))
    ]
    # What had not yet come when time stood still found no link.
    assert ping["sent"] == 50
    assert 8 <= ping["received"] <= 10
    assert 10 <= udp["received"] <= 30


def test_the_terminal_shows_and_changes_nodes_of_ns3(of_ns3: tuple[str, Running, Path]) -> None:
    name, run, found = of_ns3
    shown = viaduct("ls", name).expect().output
    assert f"simulation {name}, paused at " in shown
    assert re.search(r"n3 +ns3 +eth0 +up +n2-n3 +10\.0\.0\.10/30", shown), shown
    state = json.loads(viaduct("ls", name, "--json", "--to", "n0").expect().output)
    assert state["next"] == {"n1": "n0", "n2": "n1", "n3": "n2"}
    assert json.loads(viaduct("ls", name, "--json", "--to", "n0").output) == state  # stands still
    assert "'n3'" in viaduct("ls", name, "--to", "n33").error_line(2)
    assert "has a kernel" in viaduct("kernel", "shell", f"{name}:n0").error_line(2)
    assert "did you mean 'n0-n1'" in viaduct("link", f"{name}:n0-n2", "down").error_line(2)
    viaduct("link", f"{name}:n0-n1", "down").expect()
    assert not json.loads(viaduct("ls", name, "--json").expect().output)["links"][0]["up"]
    viaduct("link", f"{name}:n0-n1", "up").expect()
    assert json.loads(viaduct("ls", name, "--json").expect().output)["links"][0]["up"]
    viaduct("kernel", "resume", name).expect()
    assert run.wait() == 0, run.text
    assert [e["change"] for e in results(found)["events"]] == ["down", "up"]


def test_some_nodes_have_kernels(tmp_path: Path) -> None:
    if "release" not in viaduct("kernel", "list").output:
        pytest.skip("no kernel for guests: viaduct kernel build")
    mixed = SCENARIO.replace("stack: kernel\n", "").replace(
        "nodes: 3", "nodes: {count: 3, n1: {stack: kernel}}"
    )
    with paused_run(mixed, tmp_path) as (name, run, _), view(name) as (_, address):
        for node, said in (("n0", "of Ipv4StaticRouting"), ("n1", "proto kernel")):
            status, text = ask(address, f"node?name={node}")
            assert status == 200
            assert said in text, text
        hops = json.loads(ask(address, "path?from=n0&to=n2")[1])
        assert hops["nodes"] == ["n0", "n1", "n2"]
        lines = "\n".join(json.loads(ask(address, "packets?link=n0-n1")[1])["lines"])
        assert "n0 eth0 UP" in lines
        assert "qdisc" in lines
        viaduct("kernel", "resume", name).expect()
        assert run.wait() == 0, run.text
