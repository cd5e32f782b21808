"""`viaduct view` of a paused simulation: what stands still is read, changed, and continued."""

from __future__ import annotations

import json
import os
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


@pytest.fixture
def paused(tmp_path: Path) -> Iterator[tuple[str, Running, Path]]:
    """A run that stands still one second after convergence: its name, itself, its results."""
    if "release" not in viaduct("kernel", "list").output:
        pytest.skip("no kernel for guests: viaduct kernel build")
    name, file, found = f"still{os.getpid()}", tmp_path / "still.yaml", tmp_path / "still.json"
    file.write_text(SCENARIO.replace("NAME", name))
    run = Running("run", file, "--pause-at", "1s", "--json", found)
    try:
        run.wait_for("is paused at 1.200000 s")
        yield name, run, found
    finally:
        if run.process.poll() is None:
            os.kill(run.pid, signal.SIGTERM)
            run.wait()


def test_it_is_listed(paused: tuple[str, Running, Path]) -> None:
    name, _, _ = paused
    (listed,) = (e for e in json.loads(viaduct("ls", "--json").output) if e.get("name") == name)
    assert listed["kind"] == "paused simulation"
    assert listed["state"] == "paused"
    assert listed["time"] == pytest.approx(1.2)
    assert listed["nodes"] == ["n0", "n1", "n2"]
    assert [link["nodes"] for link in listed["links"]] == [["n0", "n1"], ["n1", "n2"]]
    assert listed["links"][1]["interfaces"] == ["eth1", "eth0"]
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
