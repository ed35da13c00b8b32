"""95 % intervals: Wilson for rates, bootstrap over worlds for the rest. Deterministic: same values, same interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np

from portico.geometry import Floats
from portico.seeding import generator

#: Two-sided 95 % quantile of the normal distribution.
_Z = 1.959963984540054
_RESAMPLES = 2000


class Interval(NamedTuple):
    """Lower and upper end."""

    low: float
    high: float


def wilson(successes: float, n: int) -> Interval:
    """Wilson's score interval of a rate; everything is possible when n is 0."""
    if n == 0:
        return Interval(0.0, 1.0)
    rate, z2 = successes / n, _Z * _Z
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    # The ends are exact where the formula's rounding is not.
    return Interval(0.0 if successes == 0 else middle - half, 1.0 if successes == n else middle + half)


def clustered(values: Iterable[tuple[str, float]]) -> Interval | None:
    """Percentile bootstrap of a mean over (world, value) pairs, whole worlds being drawn: episodes of one world are not independent.

    None with fewer than two worlds, where nothing can be said.
    """
    by_world: dict[str, list[float]] = {}
    for world, value in values:
        by_world.setdefault(world, []).append(value)
    return clustered_by_world([by_world[world] for world in sorted(by_world)])


def clustered_by_world(worlds: Sequence[Sequence[float]]) -> Interval | None:
    """As ``clustered``, of the values of each world, in the order of the worlds' names; every world has some."""
    if len(worlds) < 2:
        return None
    draws = _draws(len(worlds))
    sums = (draws * np.array([fsum(v) for v in worlds])).sum(axis=1)
    counts = (draws * np.array([len(v) for v in worlds])).sum(axis=1)
    low, high = np.quantile(sums / counts, [0.025, 0.975])
    return Interval(float(low), float(high))


@lru_cache(maxsize=64)
def _draws(worlds: int) -> Floats:
    """(B, worlds) how often each world is drawn in each resample."""
    chances = np.full(worlds, 1.0 / worlds)
    return generator("bootstrap", worlds).multinomial(worlds, chances, size=_RESAMPLES).astype(np.float64)
