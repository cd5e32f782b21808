"""Two real hosts, each in a namespace, and a third one between them for a router of ns-3."""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass

import pytest
from labs import BUILD, TIMEOUT, environment, inside

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
        text, _ = self.process.communicate(timeout=TIMEOUT)
        assert self.process.returncode == 0, text
        return text


def wait_for_the_router(hosts: Hosts, to: str) -> None:
    """Its addresses are new (duplicate address detection)."""
    for _ in range(100):
        if "1 received" in inside(hosts.left, "ping", "-c", "1", "-W", "1", to).output:
            return
        time.sleep(0.1)
    pytest.fail(f"no answer from {to}")
