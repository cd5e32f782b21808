"""How much is measured: the full experiment, or the quick one that keeps every ratio."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Plan:
    """Rounds and durations of a run, and its progress on standard error."""

    quick: bool
    rounds: int
    name: str
    started: float = field(default_factory=time.monotonic)

    @property
    def trial(self) -> float:
        """Seconds of a trial that makes a row."""
        return self.choose(5.0, 1.0)

    @property
    def search_trial(self) -> float:
        """Seconds of a trial within a search for the loss-free rate."""
        return self.choose(2.0, 1.0)

    @property
    def confirm_trial(self) -> float:
        """Seconds for which a loss-free rate must hold: longer than queues can hide an overload."""
        return self.choose(10.0, 3.0)

    @property
    def tcp_trial(self) -> float:
        """Seconds of a TCP trial."""
        return self.choose(10.0, 2.0)

    @property
    def row_rounds(self) -> int:
        """Rounds of the points that only make a row."""
        return self.choose(self.rounds, 1)

    def choose(self, full: T, quick: T) -> T:
        """What the full or the quick experiment has: a number, or its points."""
        return quick if self.quick else full

    def turns(self, systems: Iterable[T], rounds: int = 0) -> Iterator[tuple[int, list[T]]]:
        """Each round's number, from 1, and the systems in their order; each other one backwards."""
        order = list(systems)
        for number in range(rounds or self.rounds):
            yield number + 1, order if number % 2 == 0 else order[::-1]

    def say(self, text: str) -> None:
        """A line of progress."""
        elapsed = time.monotonic() - self.started
        print(f"{self.name} {elapsed:4.0f} s: {text}", file=sys.stderr, flush=True)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started


# (quick, full); a round of kernelstack has a minute of real time and many runs in it.
_ROUNDS = {"kernelstack": (1, 3)}


def make_plan(name: str, quick: bool, rounds: int | None) -> Plan:
    """Three rounds if quick, else five, unless told; some benchmarks have fewer."""
    quickly, fully = _ROUNDS.get(name, (3, 5))
    return Plan(quick, rounds or (quickly if quick else fully), name)
