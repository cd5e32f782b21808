"""Two real hosts, each in a namespace, and a third one between them for a router of ns-3."""

from __future__ import annotations

import contextlib
import subprocess
from dataclasses import dataclass

from labs import BUILD, PATIENCE, environment

PROGRAM = BUILD / "examples" / "viaduct-queue-discs"


@dataclass
class Hosts:
    """left:eth0 --- r0:router:r1 --- right:eth0."""

    left: str
    router: str
    right: str


class Program:
    """A program inside a namespace, with its output."""

    def __init__(self, stack: contextlib.ExitStack, namespace: str, *command: str) -> None:
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", namespace, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
        )
        stack.callback(self.process.kill)

    def output(self) -> str:
        """All of it, once it has ended well."""
        text, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, text
        return text
