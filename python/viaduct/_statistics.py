"""Means and their confidence intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def _t_share(t: float, freedom: int) -> float:
    """P(|T| < t), exact: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan2(t, math.sqrt(freedom))
    cos, odd = math.cos(angle), freedom % 2 == 1
    term = cos if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cos * cos * (k - 1) / k
        total += term
    share = math.sin(angle) * total
    return 2 / math.pi * (angle + share) if odd else share


def exact_t(confidence: float, freedom: int) -> float:
    """The t with P(|T| < t) = confidence, by bisection of the exact formula."""
    low, high = 0.0, 1.0
    while _t_share(high, freedom) < confidence:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_share(middle, freedom) < confidence else (low, middle)
    return high


def t_quantile(confidence: float, freedom: float) -> float:
    """The t with P(|T| < t) = confidence: of scipy where it is, which is only recommended.

    Without it, degrees of freedom (Welch's may be no whole number) are rounded down, which makes
    intervals wider.
    """
    try:
        from scipy import stats  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return exact_t(confidence, max(1, int(freedom)))
    return float(stats.t.ppf((1 + confidence) / 2, freedom))


def interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Of the mean of independent values; None of fewer than two."""
    if len(values) < 2:
        return None
    mean, half = statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
    half *= t_quantile(confidence, len(values) - 1)
    return mean - half, mean + half


def difference(
    a: Sequence[float], b: Sequence[float], confidence: float
) -> tuple[float, float] | None:
    """Of the mean of b less that of a, variances unequal (Welch 1947); None of fewer than two."""
    if len(a) < 2 or len(b) < 2:
        return None
    shares = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    middle = statistics.fmean(b) - statistics.fmean(a)
    if sum(shares) == 0:
        return middle, middle
    below = shares[0] ** 2 / (len(a) - 1) + shares[1] ** 2 / (len(b) - 1)
    half = t_quantile(confidence, sum(shares) ** 2 / below) * math.sqrt(sum(shares))
    return middle - half, middle + half
