"""`viaduct path`: interfaces that refuse frames, and makers in other pid namespaces."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from labs import VIADUCT, execute, viaduct, wait_until
from test_path import BETWEEN, finish, frame, up_of
from test_path_given_back import promiscuity
from wires import Tap, Wires, entered, traces_of


@pytest.mark.parametrize("end", ["middle", "right"])
def test_what_an_interface_refuses_is_not_delivered(
    wires: Wires, taps: tuple[Tap, Tap], end: str
) -> None:
    """It is down itself, or has no carrier (at the start, too), while the path runs."""
    far = (wires.middle, "b") if end == "middle" else (wires.right, "eth0")

    def switch(state: str) -> None:
        execute(["ip", "-n", far[0], "link", "set", "dev", far[1], state]).expect()

    def refused() -> int:
        return sum(entry["fates"]["refused"] for entry in wires.pipelines())

    def send_until(count: int) -> None:
        def enough() -> bool:
            taps[0].send(frame(1))
            return refused() >= count

        wait_until(enough, f"{count} frames are refused")

    if end == "right":  # an interface that is down itself is an error then
        switch("down")
    limit = ["--lateness-limit", "1h", "--json", "-"]
    with wires.path(*BETWEEN, "--up", "delay=1ms", *limit) as path:
        switch("down")
        send_until(5)
        up = next(entry for entry in wires.pipelines() if entry["direction"] == "up")
        assert (up["fates"]["delivered"], up["delivered_bytes"]) == (0, 0)
        switch("up")

        def passes() -> bool:
            taps[0].send(frame(2))
            return any(entry["fates"]["delivered"] > 0 for entry in wires.pipelines())

        wait_until(passes, "frames pass")
        switch("down")
        send_until(refused() + 5)
        results = finish(path)
    port = next(port for port in results["ports"] if port["name"] == "b")
    assert up_of(results)["fates"]["refused"] == port["tx_dropped_error"] >= 10


def test_clean_in_another_pid_namespace_leaves_a_live_path(wires: Wires) -> None:
    """Whose maker it cannot see."""
    elsewhere = ["unshare", "--pid", "--fork", "--mount-proc", str(VIADUCT), "clean"]
    with wires.path(*BETWEEN, "--up", "delay=10s") as path:
        name = traces_of(wires)[0]
        done = execute(elsewhere).expect()
        assert name not in done.output.split()
        named, _, reason = done.errors.partition(": created in another pid namespace")
        assert reason and name in named.removeprefix("viaduct clean: did not remove ").split(", ")
        assert name in json.dumps(
            json.loads(execute([*elsewhere, "--json"]).expect().output)["left"]
        )
        assert promiscuity(wires) == 2
        assert name not in viaduct("clean").expect().output.split()
        path.process.send_signal(signal.SIGINT)
        assert path.wait() == 0


@pytest.mark.skipif(
    Path("/proc/self/ns/pid").stat().st_ino != 0xEFFFFFFC, reason="sees not all processes"
)
def test_clean_judges_a_path_of_a_pid_namespace_within(wires: Wires) -> None:
    with entered(wires.middle):
        within = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
            + [str(VIADUCT), "path", *BETWEEN, "--quiet"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        wait_until(lambda: promiscuity(wires) == 2, "it runs")
        name = traces_of(wires)[0]
        assert name not in viaduct("clean").expect().output.split()
        assert promiscuity(wires) == 2
    finally:
        within.kill()  # and with the first process all of its namespace
        within.wait()
    wait_until(lambda: promiscuity(wires) == 0, "they have ended")

    # The keeper may have been faster than its namespace's end, or not at its own end yet.
    def are_gone() -> bool:
        viaduct("clean").expect()
        return not traces_of(wires)

    wait_until(are_gone, "nothing is left")


def test_names_command_no_terminal(wires: Wires) -> None:
    """What another user's process has called itself is shown as text (ECMA-48)."""
    with wires.path(*BETWEEN):
        record = next(Path("/run/viaduct/.paths").glob("*/record.json"))
        lines = record.read_text().splitlines()
        first = json.loads(lines[0]) | {"pairs": ["a-\x1b[31mb\n", "\x9b31m"]}
        record.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
        shown = wires.viaduct("path", "ls").expect().output
        assert "a-\\x1b[31mb\\x0a \\x9b31m" in shown
        assert not {"\x1b", "\x9b"} & set(shown)
        record.write_text("\n".join(lines) + "\n")
