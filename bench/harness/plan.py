"""How much is measured: the full experiment, or the quick one, which has five minutes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

QUICK_SECONDS = 280.0  # seconds of measuring; the clean-up has the remainder of five minutes


@dataclass
class Plan:
    """Rounds and durations of a run, and its progress on standard error."""

    quick: bool
    rounds: int
    name: str
    started: float = field(default_factory=time.monotonic)
    budget: float | None = None  # seconds; None: unlimited
    shortened: list[str] = field(default_factory=list)  # parts left out or shortened
    _part: str = ""
    _part_end: float | None = None  # end of the present part by the monotonic clock

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
        """Returns the value for the full or the quick experiment."""
        return quick if self.quick else full

    def turns(self, systems: Iterable[T], rounds: int = 0) -> Iterator[tuple[int, list[T]]]:
        """Each round's number, from 1, and the systems in their order; each other one backwards.

        Rounds for which the part of the budget has no room are left out; the first never is.
        """
        order = list(systems)
        wanted = rounds or self.rounds
        for number in self.points("rounds", range(wanted)):
            yield number + 1, order if number % 2 == 0 else order[::-1]

    def points(self, what: str, points: Sequence[T]) -> Iterator[T]:
        """The points, as far as time allows: none that may take as long as the longest so far."""
        longest = 0.0
        for done, point in enumerate(points):
            if done > 0 and not self.fits(longest):
                where = f"{self._part}: " if self._part else ""
                self.shortened.append(f"{where}{done} of {len(points)} {what}")
                return
            begin = time.monotonic()
            yield point
            longest = max(longest, time.monotonic() - begin)

    @contextlib.contextmanager
    def part(self, name: str, share: float) -> Iterator[None]:
        """What is measured inside has this share of the time that is left."""
        outer = (self._part, self._part_end)
        end = self._end()
        if end is not None:
            now = time.monotonic()
            end = now + share * max(end - now, 0.0)
        self._part, self._part_end = name, end
        try:
            yield
        finally:
            self._part, self._part_end = outer

    def fits(self, seconds: float = 0.0) -> bool:
        """Whether so much time is left."""
        end = self._end()
        return end is None or time.monotonic() + seconds < end

    def _end(self) -> float | None:
        if self._part_end is not None:
            return self._part_end
        return None if self.budget is None else self.started + self.budget

    def say(self, text: str) -> None:
        """A line of progress."""
        elapsed = time.monotonic() - self.started
        print(f"{self.name} {elapsed:4.0f} s: {text}", file=sys.stderr, flush=True)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started


# Numbers of rounds (quick, full); a round of kernelstack has a minute of real time and many runs in
# it.
_ROUNDS = {"kernelstack": (1, 3), "fidelity": (1, 3)}


def make_plan(name: str, quick: bool, rounds: int | None) -> Plan:
    """Three rounds if quick, else five, unless told; some benchmarks have fewer."""
    quickly, fully = _ROUNDS.get(name, (3, 5))
    plan = Plan(quick, rounds or (quickly if quick else fully), name)
    plan.budget = QUICK_SECONDS if quick else None
    return plan
