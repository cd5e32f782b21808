"""A terminal that a test types on."""

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

from labs import TIMEOUT, VIADUCT, environment, wait_until


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

    def read(self, timeout: float) -> bool:
        """Reads the next output; returns False at the end."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # nobody has the other side any more
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern: str, timeout: float = TIMEOUT) -> re.Match[str]:
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
        for _ in range(int(TIMEOUT)):
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

    def wait(self, timeout: float = TIMEOUT) -> int:
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
