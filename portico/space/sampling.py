"""Spreading points over a surface: farthest-point sampling, then Lloyd's iterations [I2 C.2]."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from portico.geometry import Floats

#: More candidates than this are thinned at random first: they are cells of a grid far finer than the spacing of any sites.
_MOST_CANDIDATES = 100_000


def spread(points: Floats, count: int, rng: np.random.Generator, lloyd_iterations: int) -> NDArray[np.int64]:
    """Indices of ``count`` of the points (M, 3), evenly spread.

    Farthest-point sampling (Gonzalez 1985) from a random first point; then each iteration moves every site to the point
    nearest to the mean of the points it is nearest to (Lloyd 1982). Two sites never share a point.
    """
    if len(points) > _MOST_CANDIDATES >= count:
        kept = np.sort(rng.choice(len(points), _MOST_CANDIDATES, replace=False))
        return kept[spread(points[kept], count, rng, lloyd_iterations)]
    sites: NDArray[np.int64] = _farthest(points, count, int(rng.integers(len(points))))
    for _ in range(lloyd_iterations):
        owner = cKDTree(points[sites]).query(points)[1]
        mass = np.bincount(owner, minlength=count)
        means = np.stack([np.bincount(owner, points[:, d], count) for d in range(3)], axis=1) / np.maximum(mass, 1)[:, None]
        moved = _nearest_own(points, owner, means, sites)
        if np.array_equal(moved, sites):
            break
        sites = moved
    return sites


@njit(cache=True, nogil=True)
def _farthest(points, count, first):  # type: ignore[no-untyped-def]
    sites = np.empty(count, np.int64)
    gap = np.full(points.shape[0], np.inf)
    chosen = first
    for a in range(count):
        sites[a] = chosen
        farthest = -1.0
        x, y, z = points[chosen, 0], points[chosen, 1], points[chosen, 2]
        for n in range(points.shape[0]):
            d = (points[n, 0] - x) ** 2 + (points[n, 1] - y) ** 2 + (points[n, 2] - z) ** 2
            gap[n] = min(gap[n], d)
            if gap[n] > farthest:
                farthest, chosen = gap[n], n
    return sites


@njit(cache=True, nogil=True)
def _nearest_own(points, owner, means, sites):  # type: ignore[no-untyped-def]
    best, gap = sites.copy(), np.full(sites.size, np.inf)
    for n in range(points.shape[0]):
        a = owner[n]
        d = (points[n, 0] - means[a, 0]) ** 2 + (points[n, 1] - means[a, 1]) ** 2 + (points[n, 2] - means[a, 2]) ** 2
        if d < gap[a]:
            best[a], gap[a] = n, d
    return best
