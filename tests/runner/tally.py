"""Counts of tests, and which of them may be run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

WORDS = ("passed", "failed", "skipped", "re-run")
PASSED, FAILED, SKIPPED = WORDS[:3]
_WORSE = (SKIPPED, PASSED, FAILED)


@dataclass
class Tally:
    """What happened, test by test. A name is KIND:PROGRAM:TEST; of a whole program KIND:PROGRAM."""

    results: dict[str, tuple[str, str]] = field(default_factory=dict)  # one of WORDS[:3], why
    rerun: dict[str, str] = field(default_factory=dict)  # counted above as well
    # Failed tests that depend on real time: each call runs the test alone. Several tests that can
    # only be run together have the same call.
    again: dict[str, Callable[[], Tally]] = field(default_factory=dict)
    # Failures of whole programs, as crashes: they have no result when the program ends well.
    whole: set[str] = field(default_factory=set)

    def note(self, name: str, word: str, why: str = "") -> None:
        """Counts a test; another one of its name gets a number."""
        unique, number = name, 1
        while unique in self.results:
            number += 1
            unique = f"{name}#{number}"
        self.results[unique] = word, why

    def fail(self, name: str, why: str) -> None:
        """Counts a failure, also of a test that is counted already."""
        before = self.of(name)
        self.results[name] = FAILED, f"{before[1]}; {why}" if before[0] == FAILED else why

    def of(self, name: str) -> tuple[str, str]:
        """What became of a test."""
        return self.results.get(name, ("", "it did not run"))

    def names(self, word: str) -> list[str]:
        """The tests that ended so."""
        return [name for name, (ended, _) in self.results.items() if ended == word]

    def add(self, other: Tally) -> None:
        """Takes over the other's counts. Of a test that both have the worse result holds."""
        for name, (word, why) in other.results.items():
            if name not in self.results or _WORSE.index(word) > _WORSE.index(self.of(name)[0]):
                self.results[name] = word, why
        self.rerun |= other.rerun
        self.again |= other.again
        self.whole |= other.whole

    def counts(self) -> tuple[int, ...]:
        """In the order of WORDS."""
        return *(len(self.names(word)) for word in WORDS[:3]), len(self.rerun)

    def line(self) -> str:
        """The one line that sums it up."""
        counted = zip(self.counts(), WORDS, strict=True)
        return ", ".join(f"{count} {word}" for count, word in counted)
