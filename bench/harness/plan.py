"""How much is measured: the full experiment, or the quick one that keeps every ratio."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


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
        return 1.0 if self.quick else 5.0

    @property
    def search_trial(self) -> float:
        """Seconds of a trial within a search for the loss-free rate."""
        return 1.0 if self.quick else 2.0

    @property
    def confirm_trial(self) -> float:
        """Seconds for which a loss-free rate must hold: longer than queues can hide an overload."""
        return 3.0 if self.quick else 10.0

    @property
    def tcp_trial(self) -> float:
        """Seconds of a TCP trial."""
        return 2.0 if self.quick else 10.0

    @property
    def row_rounds(self) -> int:
        """Rounds of the points that only make a row."""
        return 1 if self.quick else self.rounds

    def choose(self, full: Sequence, quick: Sequence) -> list:
        """The points of the full or of the quick experiment."""
        return list(quick if self.quick else full)

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
