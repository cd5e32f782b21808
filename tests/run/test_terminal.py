"""`viaduct exec` on a terminal: the program gets a pseudoterminal."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import records, viaduct
from terminals import Terminal

STATIC = "routing: {protocol: static}\nduration: 1h\nnodes: 2\nlinks: [{line: all}]\n"


@pytest.fixture
def up(lab: str, scenario: Callable[[str], Path]) -> Iterator[str]:
    """A lab that is up; its name."""
    viaduct("up", scenario(STATIC)).expect()
    yield lab
    if lab in records():
        viaduct("down", lab).expect()


@pytest.fixture
def start(up: str) -> Iterator[Callable[..., Terminal]]:
    """Starts a program in node n0 from a terminal."""
    opened: list[Terminal] = []

    def run(*command: str) -> Terminal:
        opened.append(Terminal("exec", f"{up}:n0", "--", *command))
        return opened[-1]

    yield run
    for terminal in opened:
        terminal.close()


SHELL = ("env", "PS1=$ ", "bash", "--norc", "--noediting", "-i")


def test_a_program_has_the_terminal(start: Callable[..., Terminal]) -> None:
    terminal = start("sh", "-c", "test -t 0 -a -t 1 -a -t 2 && stty size && echo $TERM; exit 5")
    terminal.expect("31 97\r\n")
    terminal.expect("vt100\r\n")
    assert terminal.wait() == 5
    assert termios.tcgetattr(terminal.fd) == terminal.before


def test_all_output_arrives(start: Callable[..., Terminal]) -> None:
    """Also what was written right before the end."""
    terminal = start("seq", "20000")
    terminal.expect(r"\n19999\r\n20000\r\n")
    assert terminal.wait() == 0


def test_keys_are_shown_once(start: Callable[..., Terminal]) -> None:
    terminal = start("cat")
    terminal.wait_until_raw()
    terminal.type("hello\n")
    terminal.expect("hello\r\nhello\r\n")
    terminal.type("\x04")  # Ctrl-D
    assert terminal.wait() == 0
    assert "hello" not in terminal.text


def test_a_shell_has_job_control(start: Callable[..., Terminal]) -> None:
    terminal = start(*SHELL)
    terminal.expect(r"\$ $")
    assert "no job control" not in terminal.text
    terminal.type("echo in $(ip netns identify)\n")
    terminal.expect(r"in \S+\.n0\r\n")
    # A Ctrl-Z that comes before the shell has read its line would take the line away.
    terminal.type("echo read $((6 * 7)); sleep 1000\n")
    terminal.expect("read 42\r\n")
    terminal.insist("\x1a", r"Stopped +sleep 1000")  # Ctrl-Z
    terminal.expect(r"\$ $")
    # By number: bash 5.2 under load may have no current job when a program is stopped at its start.
    terminal.type("fg %1\n")
    terminal.expect("fg %1\r\nsleep 1000\r\n")
    terminal.insist("\x03", r"\$ $")  # Ctrl-C reaches sleep, not the shell
    terminal.type("echo status=$?; exit 3\n")
    terminal.expect("status=130")
    assert terminal.wait() == 3
    assert termios.tcgetattr(terminal.fd) == terminal.before


def test_ctrl_c_ends_the_program(start: Callable[..., Terminal]) -> None:
    terminal = start("sleep", "1000")
    terminal.wait_until_raw()
    terminal.type("\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    assert termios.tcgetattr(terminal.fd) == terminal.before


def test_the_size_follows(start: Callable[..., Terminal]) -> None:
    script = "import os, signal, sys\n"
    script += "signal.signal(signal.SIGWINCH, lambda *_: print(os.get_terminal_size(), flush=True))"
    script += "\nprint('ready', flush=True)\nwhile True: signal.pause()"
    terminal = start("python3", "-c", script)
    terminal.expect("ready")
    terminal.resize(50, 132)
    terminal.expect(r"columns=132, lines=50")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_restored_when_killed(number: int, start: Callable[..., Terminal]) -> None:
    """And the shell in the node does not outlive its terminal (the fixture looks for it)."""
    terminal = start(*SHELL)
    terminal.expect(r"\$ $")
    assert terminal.raw()
    os.kill(terminal.pid, number)
    assert terminal.wait() == 128 + number
    assert termios.tcgetattr(terminal.fd) == terminal.before


def test_restored_when_the_lab_goes_down(up: str, start: Callable[..., Terminal]) -> None:
    terminal = start(*SHELL)
    terminal.expect(r"\$ $")
    viaduct("down", up).expect()
    assert terminal.wait() != 0  # killed with the lab; or the broker was gone before it said so
    assert termios.tcgetattr(terminal.fd) == terminal.before


def test_a_closed_window_ends_the_program(up: str, start: Callable[..., Terminal]) -> None:
    terminal = start("sh", "-c", "echo ready; exec sleep 1000")
    terminal.expect("ready")
    master = terminal.fd
    terminal.fd = os.open(os.devnull, os.O_RDWR)
    os.close(master)
    _, status = os.waitpid(terminal.pid, 0)
    terminal.status = os.waitstatus_to_exitcode(status)
    assert terminal.status == 128 + signal.SIGHUP


def test_an_unknown_program(start: Callable[..., Terminal]) -> None:
    terminal = start("no-such-program")
    terminal.expect("no-such-program")
    assert terminal.wait() == 127
    assert termios.tcgetattr(terminal.fd) == terminal.before
