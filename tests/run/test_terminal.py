"""`viaduct exec` on a terminal: the program gets a pseudoterminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import PATIENCE, VIADUCT, environment, records, viaduct, wait_until

STATIC = "routing: {protocol: static}\nduration: 1h\nnodes: 2\nlinks: [{line: all}]\n"


class Terminal:
    """A user's terminal with the command in its foreground."""

    def __init__(self, *arguments: str, rows: int = 31, columns: int = 97) -> None:
        self.text = ""
        self.status: int | None = None
        go, ready = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(go, 1)
            os.dup2(1, 2)
            command = [str(VIADUCT), *arguments]
            os.execve(command[0], command, {**environment(), "TERM": "vt100"})
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.fd)
        os.write(ready, b"x")
        os.close(go)
        os.close(ready)

    def resize(self, rows: int, columns: int) -> None:
        """As a terminal emulator does when its window changes; the kernel sends SIGWINCH."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """What the user's keyboard sends."""
        os.write(self.fd, text.encode())

    def read(self, patience: float) -> bool:
        """Reads the next output; returns False at the end."""
        if not select.select([self.fd], [], [], patience)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # nobody has the other side any more
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern: str, timeout: float = PATIENCE) -> re.Match[str]:
        """Waits until something like this is shown; discards all up to its end."""
        end = time.monotonic() + timeout
        while True:
            found = re.search(pattern, self.text)
            if found:
                self.text = self.text[found.end() :]
                return found
            assert time.monotonic() < end, f"never shown: '{pattern}'; only:\n{self.text}"
            assert self.read(0.1) or re.search(pattern, self.text), f"ended with:\n{self.text}"

    def insist(self, key: str, pattern: str) -> None:
        """Presses the key until something like this is shown: its reader may not be ready yet."""
        for _ in range(int(PATIENCE)):
            self.type(key)
            with contextlib.suppress(AssertionError):
                self.expect(pattern, 1)
                return
        raise AssertionError(f"never shown: '{pattern}'; only:\n{self.text}")

    def raw(self) -> bool:
        """Whether keys reach the command one by one, Ctrl-C too."""
        return not termios.tcgetattr(self.fd)[3] & (termios.ICANON | termios.ISIG | termios.ECHO)

    def wait_until_raw(self) -> None:
        """Waits until the command relays keys."""
        wait_until(self.raw, "the terminal is in raw mode")

    def wait(self, timeout: float = PATIENCE) -> int:
        """The command's exit status."""
        end = time.monotonic() + timeout
        while self.status is None:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            assert time.monotonic() < end, f"still running:\n{self.text}"
        self.read(0)
        return self.status

    def close(self) -> None:
        """Ends the command, if it still runs, and hangs up."""
        if self.status is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        os.close(self.fd)


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
