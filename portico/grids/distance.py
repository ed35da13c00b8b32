"""Distances to small convex features, and how they spread over square lattices, flat or layered.

A feature is an octagon, a row of eight float32: its bounds along x, y, (x + y) / 2 and (x - y) / 2. Lattices are those of
``portico.grids.paths``; node n lies in the middle of its cell. All lengths are in cells.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

#: A node that knows no feature.
NONE = -1


@njit(cache=True, nogil=True, forceinline=True)
def squared_gap(octagons, f, x, y):  # type: ignore[no-untyped-def]
    """Lower bound of the squared distance from (x, y) to a feature, in cells; exact but for corners cut at 45 degrees.

    An octagon, bounded along x, y, (x + y) / 2 and (x - y) / 2, is what an upright box and one turned by 45 degrees have in
    common: no point of it is nearer than the farther of both.
    """
    ax = max(octagons[f, 0] - x, x - octagons[f, 1], 0.0)
    ay = max(octagons[f, 2] - y, y - octagons[f, 3], 0.0)
    u, v = 0.5 * (x + y), 0.5 * (x - y)
    bu = max(octagons[f, 4] - u, u - octagons[f, 5], 0.0)
    bv = max(octagons[f, 6] - v, v - octagons[f, 7], 0.0)
    return max(ax * ax + ay * ay, 2.0 * (bu * bu + bv * bv))


@njit(cache=True, nogil=True, forceinline=True)
def feature_gap(octagons, f, x, y):  # type: ignore[no-untyped-def]
    """Distance from (x, y) to a feature, see ``squared_gap``."""
    return sqrt(squared_gap(octagons, f, x, y))


@njit(cache=True, nogil=True, forceinline=True)
def offer(octagons, f, x, y, n, distance, nearest):  # type: ignore[no-untyped-def]
    """Make f the nearest feature of n, which lies at (x, y), if it is nearer than the one known; whether it is."""
    length = feature_gap(octagons, f, x, y)
    if length < distance[n]:
        distance[n], nearest[n] = length, f
        return True
    return False


@njit(cache=True, nogil=True)
def propagate(links, diagonals, cells, octagons, distance, nearest):  # type: ignore[no-untyped-def]
    """Pass nearest features on along links, forth and back in column order, until nothing changes (vector distance
    transform after Danielsson 1980, on layered surfaces)."""
    count = nearest.size
    changed = True
    while changed:
        changed = False
        for sweep in range(2):
            for a in range(count):
                n = a if sweep == 0 else count - 1 - a
                x, y = cells[n, 0] + 0.5, cells[n, 1] + 0.5
                for d in range(4):
                    m = links[n, d]
                    if m >= 0:
                        if nearest[m] != nearest[n] and distance[m] - 1.0 < distance[n]:
                            changed |= offer(octagons, nearest[m], x, y, n, distance, nearest)
                        if (diagonals[n] >> d) & 1:
                            m = links[m, (d + 1) % 4]
                            if nearest[m] != nearest[n] and distance[m] - 1.4143 < distance[n]:
                                changed |= offer(octagons, nearest[m], x, y, n, distance, nearest)


@njit(cache=True, nogil=True)
def within_steps(links, seeds, steps):  # type: ignore[no-untyped-def]
    """Nodes that some seed reaches by at most so many links."""
    reached = seeds.copy()
    queue = np.empty(seeds.size, np.int32)
    end = 0
    for n in range(seeds.size):
        if seeds[n]:
            queue[end] = n
            end += 1
    begin = 0
    for _ in range(steps):
        layer_end = end
        for a in range(begin, layer_end):
            for d in range(4):
                m = links[queue[a], d]
                if m >= 0 and not reached[m]:
                    reached[m] = True
                    queue[end] = m
                    end += 1
        begin = layer_end
    return reached
