"""The analysis: medians, ratios, and the search for a loss-free rate. No I/O."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .process import BenchError

Bar = Literal["at least", "at most", "exactly", "within"]

_NORMAL_95 = statistics.NormalDist().inv_cdf(0.975)

LOSS_FREE = 0.001  # maximum loss at which a rate counts as loss-free


@dataclass(frozen=True)
class Ratio:
    """A figure over interleaved rounds: the median, the lowest and the highest round, the bar."""

    value: float
    low: float
    high: float
    bar: float
    kind: Bar = "at least"
    rounds: tuple[float, ...] = field(default=())
    bar_high: float = math.nan  # the upper limit of "within"; `bar` is the lower limit

    @staticmethod
    def of(rounds: Sequence[float], bar: float, kind: Bar = "at least") -> Ratio:
        """Of a figure that each round has."""
        return Ratio(*spread(rounds), bar, kind, tuple(rounds))

    def holds(self) -> bool:
        """Whether the median reaches the bar."""
        return {
            "at least": self.value >= self.bar,
            "at most": self.value <= self.bar,
            "exactly": self.value == self.bar,
            "within": self.bar <= self.value <= self.bar_high,
        }[self.kind]

    def bar_text(self) -> str:
        """As people read it, e.g. "at least 0.9"."""
        if self.kind == "within":
            return f"{self.bar:g} to {self.bar_high:g}"
        return f"{self.kind} {self.bar:g}"

    def as_json(self) -> dict[str, object]:
        """As the result file has it."""
        bar = [self.bar, self.bar_high] if self.kind == "within" else self.bar
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "bar": bar,
            "bar_is": self.kind,
            "rounds": list(self.rounds),
        }


def ratio_of_rounds(
    ours: Sequence[float], theirs: Sequence[float], bar: float, kind: Bar = "at least"
) -> Ratio:
    """Ratio a round, of two systems measured in the same rounds; then median, low, high."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError("both systems must be measured in the same rounds, at least one")
    if any(value <= 0 for value in theirs):
        raise BenchError("the baseline carried nothing in one round: no ratio can be formed")
    return Ratio.of([a / b for a, b in zip(ours, theirs, strict=True)], bar, kind)


@dataclass(frozen=True)
class Mean:
    """The mean of independent runs, with its 95% confidence interval (normal approximation)."""

    value: float
    low: float
    high: float
    stddev: float
    count: int

    @property
    def relative_error(self) -> float:
        """Standard error over the mean; 0 of a mean that is 0."""
        return self.stddev / math.sqrt(self.count) / self.value if self.value else 0.0


def mean_of_runs(values: Sequence[float]) -> Mean:
    """Of at least two runs."""
    if len(values) < 2:
        raise ValueError("a confidence interval needs at least two runs")
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    half = _NORMAL_95 * deviation / math.sqrt(len(values))
    return Mean(mean, mean - half, mean + half, deviation, len(values))


def ratio_of_means(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], low: float, high: float
) -> Ratio:
    """Ratio of the means of all runs, of two systems measured independently, round by round.

    `low` and `high` are its 95% confidence interval, from the standard errors of both means by
    the delta method on the logarithm; the ratio's bar is the range from `low` to `high` given.
    """
    if len(ours) != len(theirs) or not ours:
        raise ValueError("both systems must be measured in the same rounds, at least one")
    a = mean_of_runs([value for values in ours for value in values])
    b = mean_of_runs([value for values in theirs for value in values])
    if a.value <= 0 or b.value <= 0:
        raise BenchError("nothing was carried: no ratio can be formed")
    ratio = a.value / b.value
    factor = math.exp(_NORMAL_95 * math.hypot(a.relative_error, b.relative_error))
    rounds = tuple(
        statistics.fmean(x) / statistics.fmean(y) for x, y in zip(ours, theirs, strict=True)
    )
    return Ratio(ratio, ratio / factor, ratio * factor, low, "within", rounds, high)


def spread(values: Sequence[float | None]) -> tuple[float | None, float | None, float | None]:
    """Median, lowest and highest of what was measured; None where nothing was."""
    known = [value for value in values if value is not None]
    return (statistics.median(known), min(known), max(known)) if known else (None, None, None)


@dataclass(frozen=True)
class LossFree:
    """The result of a search: the highest rate without loss, and every trial (offered, loss)."""

    rate: float
    trials: tuple[tuple[float, float], ...]


def find_loss_free(
    loss_at: Callable[[float], float],
    start: float,
    limit: float,
    precision: float = 0.05,
    max_trials: int = 16,
    growth: float = 2.0,
) -> LossFree:
    """Find the highest offered rate whose loss is below LOSS_FREE, to `precision`.

    Grows (doubles) from `start` until a rate loses, halves if `start` itself does, then bisects
    (geometrically). A rate that loses is tried a second time before it counts as losing: one
    preemption of the forwarder must not end the search. `loss_at` returns the loss (0..1), or
    1 if the rate could not be offered. The result is 0 if every rate tried lost.
    """
    trials: list[tuple[float, float]] = []

    def passes(rate: float) -> bool:
        for _ in range(2):
            if len(trials) >= max_trials:
                return False
            loss = loss_at(rate)
            trials.append((rate, loss))
            if loss < LOSS_FREE:
                return True
        return False

    good, bad = 0.0, math.inf
    rate = min(start, limit)
    while len(trials) < max_trials:
        if passes(rate):
            good = rate
            if rate >= limit:
                break
        else:
            bad = rate
        if good > 0 and bad / good <= 1 + precision:
            break
        if bad == math.inf:
            rate = min(good * growth, limit)
        elif good == 0:
            rate = bad / 2
        else:
            rate = math.sqrt(good * bad)
    return LossFree(good, tuple(trials))


def confirm_loss_free(loss_at: Callable[[float], float], rate: float, max_steps: int = 8) -> float:
    """The highest of rate, 0.9 rate, 0.81 rate... that holds in a trial of its own.

    A search needs short trials, in which the forwarder's queues may hide that a rate is too high;
    `loss_at` here measures longer. As in the search, a rate that loses is tried a second time.
    0 if none of `max_steps` rates holds.
    """
    for _ in range(max_steps):
        if rate <= 0 or loss_at(rate) < LOSS_FREE or loss_at(rate) < LOSS_FREE:
            return rate
        rate *= 0.9
    return 0.0
