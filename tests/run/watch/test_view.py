"""`viaduct view` in a headless browser, and what it refuses."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser import Browser, browser
from labs import (
    TIMEOUT,
    VIADUCT,
    Running,
    descendants,
    execute,
    inside,
    ip,
    running,
    viaduct,
    wait_until,
)
from wires import Wires

SCENARIO = """
nodes: 3
links: [{line: all, spec: "delay=1ms"}]
routing: {protocol: static}
"""


@contextlib.contextmanager
def view(*words: str | Path) -> Iterator[tuple[Running, str]]:
    """The command, and its page's address."""
    with running("view", *words) as process:
        process.wait_for("/\n")
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", process.text)
        assert found, process.text
        yield process, found[0]


def ask(address: str, what: str, **options: Any) -> tuple[int, str]:
    """Status and body."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT)
    connection.request(options.pop("method", "GET"), parts.path + what, **options)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def ask_for(address: str, target: str) -> int:
    """The status of a request for this target, as it is (RFC 9112, 3.2)."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), TIMEOUT) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.fixture
def up(scenario: Callable[[str], Path], lab: str) -> Iterator[str]:
    """A lab of three nodes in a line."""
    viaduct("up", scenario(SCENARIO), "--quiet").expect()
    try:
        yield lab
    finally:
        viaduct("down", lab)


def address_of(lab: str, node: str) -> str:
    for interface in ip(f"{lab}.{node}", "address"):
        for each in interface["addr_info"]:
            if interface["ifname"] != "lo" and each["family"] == "inet":
                return str(each["local"])
    raise AssertionError(f"{node} has no address")


def choose(page: Browser, selector: str) -> None:
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    page.wait(f"return document.querySelector('{selector}') !== null", "it is not drawn")
    page.ask(f"document.querySelector(arguments[0]).{click}", selector)


def test_it_shows_a_lab_and_changes_it(up: str) -> None:
    with view(up) as (process, address), browser() as page:
        page.open(address)
        page.wait("return document.querySelectorAll('#picture .node').length === 3", "no topology")
        page.wait("return document.querySelectorAll('#panel tr.pick').length === 2", "no links")
        choose(page, "[data-link=n0-n1]")
        page.wait("return document.querySelectorAll('#panel form').length === 2", "no SPECs")
        page.ask("document.querySelector('#panel input[name=up]').value = 'loss=100%'")
        page.ask("document.querySelector('#panel form button').click()")
        wait_until(
            lambda: "loss=100%" in viaduct("path", "stats", up, "--json").output, "the SPEC is set"
        )
        # What is lost is seen within two seconds.
        inside(f"{up}.n0", "ping", "-c", "3", "-i", "0.2", "-W", "1", address_of(up, "n1"))
        lost = time.monotonic()
        page.wait(
            "return document.querySelector('[data-link=n0-n1]').classList.contains('losing') || "
            "/[1-9]/.test(document.querySelector('#figures table tr:nth-child(3) td:nth-child(3)')"
            "?.innerText ?? '')",
            "no loss is shown",
        )
        assert time.monotonic() - lost < 2 + TIMEOUT / 10  # a busy machine
        assert "lost" in page.text("#figures")
        choose(page, "[data-node=n0]")
        page.wait("return document.querySelector('#to')", "no routes")
        page.ask("const to = document.querySelector('#to'); to.value = 'n2'; to.onchange()")
        page.wait("return document.querySelector('#hops').innerText.includes('n1')", "no path")
        assert page.text("#hops") == "n0 → n1 → n2"
        assert page.ask("return document.querySelectorAll('#picture .link.onpath').length") == 2
        assert not page.errors()
        viaduct("down", up).expect()
        page.wait("return !document.querySelector('#ended').hidden", "the lab's end is not shown")
        assert f"lab {up} has ended" in page.text("#ended")
        assert page.ask("return document.querySelectorAll('#picture .node').length") == 3
        assert process.process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait() == 0


def test_a_link_goes_down_and_its_packets_are_shown(up: str) -> None:
    def seen() -> str:
        inside(f"{up}.n0", "ping", "-c", "1", "-W", "1", address_of(up, "n1"))
        return page.text("#packets") if "ICMP" in page.text("#packets") else ""

    def is_up(node: str) -> bool:
        (link,) = (i for i in ip(f"{up}.{node}", "link") if i["ifname"] == "eth0")
        return "UP" in link["flags"]

    with view(up) as (_, address), browser() as page:
        page.open(address)
        page.wait("return document.querySelector('[data-link=n0-n1]')", "no topology")
        choose(page, "[data-link=n0-n1]")
        page.wait("return /seen/.test(document.querySelector('#packets')?.innerText)", "no packets")
        assert "Echo (ping) request" in wait_until(seen, "packets are shown")
        for state, button in (("DOWN", 1), ("UP", 2)):
            page.ask(f"document.querySelectorAll('#panel > button')[{button}].click()")
            wait_until(lambda s=state: {is_up("n0"), is_up("n1")} == {s == "UP"}, f"it is {state}")
        # The routes that went with it are back.
        inside(f"{up}.n0", "ping", "-c", "1", "-w", "10", address_of(up, "n2"))


def test_a_link_of_several_nodes(scenario: Callable[[str], Path], lab: str) -> None:
    file = scenario(
        'nodes: 3\nlinks: [{shared: all, name: lan, spec: "delay=1ms"}]\n'
        "routing: {protocol: static}\n"
    )
    viaduct("up", file, "--quiet").expect()
    try:
        assert re.search(r"lan +.* delay=1ms +n1 up ", viaduct("ls", lab).expect().output)
        with view(lab) as (_, address), browser() as page:
            page.open(address)
            choose(page, "[data-link=lan]")
            page.wait("return document.querySelectorAll('#panel form').length === 3", "no SPECs")
            said = "const [,, form] = document.querySelectorAll('#panel form');"
            assert page.ask(f"{said} return form.querySelector('input').value") == "delay=1ms"
            change = "form.querySelector('input').value = 'delay=2ms loss=100%'; form.onsubmit"
            page.ask(f"{said} {change}(new Event('submit'))")
            page.wait("return /n2 up: /.test(document.body.innerText)", "it says nothing")
            ping = ["ping", "-c1", "-W1", address_of(lab, "n0")]
            assert viaduct("exec", f"{lab}:n2", "--", *ping).status != 0
            figures = "document.querySelector('#figures').innerText"
            page.wait(f"return /n2 up\\s+\\d+\\s+[1-9]/.test({figures})", "no loss")
            assert not page.errors()
            head = {"Content-Type": "application/json"}
            spec = json.dumps({"link": "lan", "direction": "n7 up", "spec": "delay=9ms"})
            assert ask(address, "spec", method="POST", body=spec, headers=head)[0] == 422
    finally:
        viaduct("down", lab)


def test_only_who_has_the_address_may(up: str) -> None:
    with view(up) as (_, address):
        host = urlsplit(address).netloc
        assert ask(address, "state")[0] == 200
        status, page = ask(address, "")
        assert status == 200
        assert "https://" not in page.replace("https://github.com/leeoniya/uPlot", "")
        for bad in ("", "x/", "x" * 24 + "/"):
            assert ask(f"http://{host}/{bad}", "state")[0] == 403
        assert ask(address, "state", headers={"Host": "evil.example"})[0] == 403
        for target, status in (("x", 403), ("http://[::1/x", 400), ("*", 403), ("//", 403)):
            assert ask_for(address, target) == status, target
        same = {"Host": f"localhost:{urlsplit(address).port}"}
        assert ask(address, "state", headers=same)[0] == 200
        assert ask(address, "state", headers={"Origin": "http://evil.example"})[0] == 403
        assert ask(address, "state", headers={"Origin": f"http://{host}"})[0] == 200
        assert ask(address, "state", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403
        json_head = {"Content-Type": "application/json"}
        body = json.dumps({"link": "n0-n1", "direction": "up", "spec": "delay=9ms"})
        plain = {"Content-Type": "text/plain"}
        assert ask(address, "spec", method="POST", body=body, headers=plain)[0] == 415
        assert ask(address, "spec", method="POST", body="{", headers=json_head)[0] == 400
        assert ask(address, "spec", method="POST", body="[]", headers=json_head)[0] == 400
        huge = {**json_head, "Content-Length": "999999999"}
        assert ask(address, "spec", method="POST", body="", headers=huge)[0] == 413
        assert ask(address, "no-such", method="POST", body=body, headers=json_head)[0] == 404
        for change in (
            {"spec": "delay=fast"},
            {"link": "n0-n9"},
            {"direction": "left"},
            {"spec": "--help"},
        ):
            sent = json.dumps({**json.loads(body), **change})
            status, said = ask(address, "spec", method="POST", body=sent, headers=json_head)
            assert status == 422, said
            assert json.loads(said)["error"]
        assert ask(address, "node?name=../x")[0] == 422
        assert ask(address, "node")[0] == 400
        assert ask(address, "spec", method="POST", body=body, headers=json_head)[0] == 200
        assert "delay=9ms" in viaduct("path", "stats", up, "--json").output


def test_nothing_stays_after_a_kill(up: str) -> None:
    with view(up) as (process, address):
        ask(address, "packets?link=n0-n1")
        children = wait_until(lambda: descendants(process.pid), "its child")
        process.process.kill()
        process.wait()
        wait_until(
            lambda: not [pid for pid in children if Path(f"/proc/{pid}/cmdline").exists()],
            "its child ends",
        )
    assert viaduct("path", "stats", up, "--json").status == 0


def test_a_finished_run_is_played_back(tmp_path: Path) -> None:
    file = tmp_path / "cut.yaml"
    file.write_text(
        "name: cut\nnodes: 2\nlinks: [{line: all}]\nrouting: {protocol: static}\nduration: 6s\n"
        "flows: [{type: ping, from: n0, to: n1, interval: 100ms, duration: 5s}]\n"
        "events: [{link: n0-n1, at: 2s, state: down}, {link: n0-n1, at: 3s, state: up}]\n"
    )
    out = tmp_path / "out"
    viaduct("run", file, "--mode", "simulate", "--report", out).expect()
    for what in (out, out / "results.json"):
        with view(what) as (_, address), browser() as page:
            page.open(address)
            page.wait("return charts.length === 1", "no chart")
            page.ask("const at = document.querySelector('#at'); at.value = 2.5; at.oninput()")
            assert "lost" in page.text("#panel")
            assert page.ask("return document.querySelectorAll('#picture .link.off').length") == 1
            page.ask("const at = document.querySelector('#at'); at.value = 4; at.oninput()")
            assert page.ask("return document.querySelectorAll('#picture .link.off').length") == 0
            page.ask("document.querySelector('#run').click()")
            page.wait("return document.querySelector('#at').value > 4.3", "it does not play")
            assert not page.errors()


class Crowd:
    """A lab of 500 nodes in a grid, all of whose links carry something and some of which lose."""

    def __init__(self) -> None:
        self.nodes = [f"n{i}" for i in range(500)]
        pairs = [(i, i + step) for i in range(500) for step in (1, 25) if i + step < 500]
        self.links = [
            {"name": f"n{a}-n{b}", "nodes": [f"n{a}", f"n{b}"], "ends": []} for a, b in pairs
        ]
        self.looks = 0

    def topology(self) -> dict[str, Any]:
        nodes = [{"name": name, "plane": "kernel"} for name in self.nodes]
        return {"kind": "lab", "name": "crowd", "nodes": nodes, "links": self.links}

    def packets(self, link: str) -> dict[str, Any]:
        return {"at": link, "seen": 0, "lines": []}

    def state(self) -> dict[str, Any]:
        self.looks += 1
        one = {"spec": "delay=1ms", "packets": 9, "bytes": 9, "causes": {}, "waiting": 1}
        rows = {
            link["name"]: {
                way: {**one, "out_bytes": self.looks * 1000 * i, "lost": self.looks * (i % 7 == 0)}
                for way in ("up", "down")
            }
            for i, link in enumerate(self.links)
        }
        return {"time": time.time(), "stamp": time.monotonic(), "links": rows, "timing": None}


def test_500_nodes_stay_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "python"))
    from viaduct._view import Server

    crowd = Crowd()
    server = Server(0, crowd, viaduct("docs", "view").expect().output.encode())  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with browser() as page:
            page.open(server.address)
            count = "return document.querySelectorAll('#picture .{}').length {}"
            page.wait(count.format("node", "=== 500"), "no nodes")
            page.wait(count.format("losing", "> 100"), "no losses")
            looks = crowd.looks
            # Seconds in which the page hangs: those that a timer of 10 ms is late by.
            page.ask(
                """window.late = 0; let last = performance.now(); setInterval(() => {
                const now = performance.now();
                late = Math.max(late, now - last - 10); last = now; }, 10)"""
            )
            wait_until(lambda: crowd.looks >= looks + 6, "it goes on looking")
            choose(page, "[data-link=n0-n1]")
            page.wait("return document.querySelector('#figures table')", "a click is not answered")
            assert page.ask("return late") < 1000 * TIMEOUT / 20
            assert not page.errors()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_run_in_progress(scenario: Callable[[str], Path], lab: str) -> None:
    """Its SPECs can be changed; its links are its events'."""
    flow = "flows: [{type: ping, from: n0, to: n2, interval: 100ms, duration: 600s}]\n"
    file = scenario(SCENARIO + "duration: 600s\n" + flow)
    with running("run", file, "--mode", "offload") as run:
        run.wait_for("converged")
        with view() as (_, address):

            def passed() -> bool:
                state = json.loads(ask(address, "state")[1])
                return state["links"].get("n1-n2", {}).get("up", {}).get("packets", 0) > 3

            wait_until(passed, "its packets are counted")
            head = {"Content-Type": "application/json"}
            body = json.dumps({"link": "n0-n1", "direction": "down", "spec": "delay=7ms"})
            assert ask(address, "spec", method="POST", body=body, headers=head)[0] == 200
            body = json.dumps({"link": "n0-n1", "up": False})
            status, said = ask(address, "link", method="POST", body=body, headers=head)
            assert status == 422
            assert lab in said
            os.killpg(run.pid, signal.SIGINT)
            run.wait()
            wait_until(lambda: "ended" in json.loads(ask(address, "state")[1]), "the end is told")


def test_a_path(wires: Wires, lab: str) -> None:
    words = ["--between", "a", "b", "--up", "delay=3ms", "--name", lab]
    with wires.path(*words) as path, view(lab) as (_, address):
        topology = json.loads(ask(address, "topology")[1])
        assert topology["kind"] == "path"
        assert [node["name"] for node in topology["nodes"]] == ["a", "b"]
        (link,) = (each["name"] for each in topology["links"])

        def spec() -> str:
            links = json.loads(ask(address, "state")[1])["links"]
            return str(links.get(link, {}).get("up", {}).get("spec", ""))

        assert "delay=3ms" in wait_until(spec, "its statistics")
        assert ask(address, f"packets?link={link}")[0] == 422
        path.stop()
        wait_until(lambda: "ended" in json.loads(ask(address, "state")[1]), "the end is told")


def test_errors_are_one_line(tmp_path: Path, lab: str) -> None:
    assert "no file, and no lab" in viaduct("view", "no-such").error_line(2)
    assert "give a lab" in viaduct("view").error_line(2)
    assert "none.json" in viaduct("view", tmp_path / "none.json").error_line(2)
    bad = tmp_path / "bad.json"
    for text in ("{}", "[]", "no", '{"runs": [1]}', '{"scenario": 1, "flows": []}'):
        bad.write_text(text)
        assert "bad.json" in viaduct("view", bad).error_line(2)
    assert "--port" in viaduct("view", bad, "--port", "high").error_line(2)
    assert "--port" in viaduct("view", bad, "--port", "70000").error_line(2)


def _finished(folder: Path) -> Path:
    """The results of a short run."""
    file = folder / "results.json"
    words = ["run", "--topo=line,2", "--protocol=static", "--mode=simulate", "--duration=1s"]
    viaduct(*words, f"--json={file}").expect()
    return file


def test_strangers_that_connect_are_in_nobodys_way(tmp_path: Path) -> None:
    """Who has no address to ask for connects, and says nothing."""
    with contextlib.ExitStack() as stack:
        _, address = stack.enter_context(view(_finished(tmp_path)))
        parts = urlsplit(address)
        begin = time.monotonic()
        for _ in range(60):
            stranger = socket.create_connection((parts.hostname or "", parts.port or 0), TIMEOUT)
            stack.enter_context(stranger)
        assert ask(address, "state")[0] == 200
        assert time.monotonic() - begin < 4, "each second of it a connection was refused"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
@pytest.mark.parametrize("words", [["view", "{}"], ["compare", "{}", "{}"]], ids=" ".join)
def test_a_pipe_that_nobody_writes_to(words: list[str], number: int, tmp_path: Path) -> None:
    """A signal ends the wait for it, without a traceback."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with running(*(word.format(pipe) for word in words)) as process:
        wait_until(lambda: _opens(process.pid, str(pipe)), "it opens the pipe")
        os.kill(process.pid, number)
        assert process.wait(timeout=10) in (128 + number, -number)
        assert "Traceback" not in process.read()


def _opens(pid: int, file: str) -> bool:
    """Whether the process waits in open(2), once it has read its arguments."""
    waits = Path(f"/proc/{pid}/wchan").read_text() in ("fifo_open", "wait_for_partner")
    return waits and file in Path(f"/proc/{pid}/cmdline").read_text()


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    done = execute(["sh", "-c", f"{VIADUCT} view {_finished(tmp_path)} > /dev/full"])
    assert "standard output: cannot be written: No space left" in done.error_line(1)


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    results = {"flows": [{"name": "\x1b[31mred", "from": "a", "to": "b", "sent": 1}]}
    file = tmp_path / "results.json"
    file.write_text(json.dumps(results))
    compared = viaduct("compare", file, file).expect().output
    assert "\\x1b[31mred" in compared
    assert "\x1b" not in compared
    assert "\\x1b[31m" in viaduct("view", "\x1b[31mlab").error_line(2)
    assert "\\x1b[31m" in viaduct("sweep", file, "--over", "\x1b[31m=1").error_line(2)
    with file.open("wb") as huge:
        huge.truncate(2 << 30)
    assert "is it the right file" in viaduct("compare", file, file).error_line(2)


def test_a_signal_that_another_thread_gets_ends_it(up: str) -> None:
    """The kernel may give a process's signal to any thread of it."""
    with view(up) as (process, _):
        threads = [int(each.name) for each in Path(f"/proc/{process.pid}/task").iterdir()]
        other = next(each for each in threads if each != process.pid)
        libc = ctypes.CDLL(None)
        assert libc.tgkill(process.pid, other, int(signal.SIGINT)) == 0
        assert process.wait() == 0
