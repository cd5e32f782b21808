"""What users are told of a lab's forwarding programs and of their process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labs import forwarder, inside, viaduct, wait_until
from programs import LINE, compiled, plane

Write = Callable[[str], Path]


def listed(lab: str) -> dict[str, Any]:
    """The lab's entry of `viaduct ls`."""
    all_ = json.loads(viaduct("ls", "--json").expect().output)
    return next(each for each in all_ if each["lab"] == lab)


def inspected(lab: str) -> Any:
    """`viaduct ls LAB`."""
    return json.loads(viaduct("ls", lab, "--json").expect().output)


def test_a_lab_shows_its_programs_and_their_losses(
    lab: str, scenario: Write, tmp_path: Path
) -> None:
    """All pings come by, and none of the long ones."""
    take = (
        "if (frame.bytes.size() > 500) return 1; outbox.Flood(frame.port, frame.bytes); return 0;"
    )
    library = compiled(tmp_path, take)
    viaduct("up", scenario(LINE + plane(library))).expect()
    try:
        inside(f"{lab}.a", "ping", "-c3", "-i0.2", "10.0.0.3").expect()
        inside(f"{lab}.a", "ping", "-c3", "-i0.2", "-W1", "-s1000", "10.0.0.3").expect(1)
        looked = inspected(lab)
        n0, n1 = (next(n for n in looked["nodes"] if n["name"] == name) for name in ("n0", "n1"))
        assert n0["program"] == n1["program"] == str(library)
        assert n0["drops"]["lost"] >= 3
        assert n1["packets"]["eth0"]["forwarded"] >= 3
        assert looked["forwarder"] == {
            "pid": forwarder(lab, 2),
            "running": True,
            "restarts": 0,
        }
        text = viaduct("ls", lab).expect().output
        row = next(line for line in text.splitlines() if str(library) in line)
        assert row.startswith("n0 ")
        assert row.split()[-1] == "lost"
        assert f"forwarder: process {looked['forwarder']['pid']}" in text
    finally:
        viaduct("down", lab).expect()


def test_a_forwarder_that_died_is_seen(lab: str, scenario: Write, tmp_path: Path) -> None:
    """One that is replaced, and one that cannot be."""
    refuses = tmp_path / "refuses"
    library = compiled(
        tmp_path,
        "return 0;",
        make=f'if (std::ifstream("{refuses}")) throw std::runtime_error("it will not");',
    )
    viaduct("up", scenario(LINE + plane(library))).expect()
    try:
        assert listed(lab)["forwarder"] == {"restarts": 0, "absent": False}
        first = forwarder(lab, 2)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: listed(lab)["forwarder"]["restarts"] == 1, "ls says that it died")
        wait_until(lambda: not listed(lab)["forwarder"]["absent"], "ls says that another is there")
        assert "up, forwarder restarted 1 times: was killed by signal 9" in viaduct("ls").output
        assert inspected(lab)["forwarder"]["running"]
        refuses.write_text("")
        os.kill(forwarder(lab, 2), signal.SIGKILL)
        wait_until(lambda: "it will not" in listed(lab)["forwarder"].get("cause", ""), "ls says so")
        assert listed(lab)["forwarder"]["absent"]
        assert "up, forwarder exited unexpectedly: " in viaduct("ls").output
        looked = inspected(lab)["forwarder"]
        assert not looked["running"]
        assert "it will not" in looked["last_words"]
        assert "the forwarder exited and was not restarted" in viaduct("ls", lab).output
        assert "the forwarder exited unexpectedly: " in viaduct("top", "--json").expect().output
    finally:
        viaduct("down", lab).expect()
