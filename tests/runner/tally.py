"""Counts of tests, and which of them may be run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

WORDS = ("passed", "failed", "skipped", "re-run")


@dataclass
class Tally:
    """What happened, test by test. A name is KIND:PROGRAM:TEST."""

    passed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    rerun: list[tuple[str, str]] = field(default_factory=list)  # counted above as well
    # Failed tests that depend on real time, by name: each call runs the test alone. Several tests
    # that can only be run together have the same call.
    again: dict[str, Callable[[], Tally]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Takes over the other's counts."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.rerun += other.rerun
        self.again |= other.again

    def counts(self) -> tuple[int, ...]:
        """In the order of WORDS."""
        return self.passed, len(self.failed), len(self.skipped), len(self.rerun)

    def line(self) -> str:
        """The one line that sums it up."""
        counted = zip(self.counts(), WORDS, strict=True)
        return ", ".join(f"{count} {word}" for count, word in counted)
