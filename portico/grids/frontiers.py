"""Frontiers of a surface grid: ground that can be stood on, next to columns of which nothing is known at that level."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.grids.surface_grid import GROUND, SPENT

#: Heights within which a neighbouring column counts as known. More than a step, less than a headroom.
_KNOWN_BAND_M = 0.6


@njit(cache=True)
def frontier_surfaces(g, cost):  # type: ignore[no-untyped-def]
    """(N, 3) int64: sheet, row and column of reachable, unspent ground with an unknown 4-neighbour, in index order."""
    sheets, rows, cols = g.height.shape
    found = []
    for k in range(sheets):
        for i in range(1, rows - 1):
            for j in range(1, cols - 1):
                if not np.isfinite(cost[k, i, j]) or g.flags[k, i, j] & SPENT:
                    continue
                z = g.height[k, i, j]
                for n in range(4):
                    a, b = i + (n == 0) - (n == 1), j + (n == 2) - (n == 3)
                    if not _known(g, a, b, z):
                        found.append((k, i, j))
                        break
    out = np.empty((len(found), 3), np.int64)
    for n in range(len(found)):
        out[n, 0], out[n, 1], out[n, 2] = found[n]
    return out


@njit(cache=True)
def _known(g, i, j, z):  # type: ignore[no-untyped-def]
    """Whether the column has ground or an obstacle near height z; a guessed height alone is not knowledge."""
    for k in range(g.height.shape[0]):
        if abs(g.height[k, i, j] - z) <= _KNOWN_BAND_M and (g.flags[k, i, j] & GROUND or g.odds[k, i, j] > 0):
            return True
    return False


@njit(cache=True)
def cluster_frontiers(g, frontier, climb, largest):  # type: ignore[no-untyped-def]
    """Group frontier surfaces that touch: (N,) int64 labels 0, 1, ... in order of first appearance.

    Args:
        frontier: (N, 3) as from ``frontier_surfaces``. largest: clusters are cut at this many members, so that a long
            frontier offers several goals.
    """
    height = g.height
    sheets, rows, cols = height.shape
    index = np.full((sheets, rows, cols), -1, np.int64)
    for n in range(len(frontier)):
        index[frontier[n, 0], frontier[n, 1], frontier[n, 2]] = n
    labels = np.full(len(frontier), -1, np.int64)
    queue = np.empty(len(frontier), np.int64)
    count = 0
    for start in range(len(frontier)):
        if labels[start] >= 0:
            continue
        head, tail = 0, 1
        queue[0] = start
        labels[start] = count
        while head < tail and tail < largest:
            n = queue[head]
            head += 1
            k, i, j = frontier[n, 0], frontier[n, 1], frontier[n, 2]
            for a in range(max(0, i - 1), min(rows, i + 2)):
                for b in range(max(0, j - 1), min(cols, j + 2)):
                    for q in range(sheets):
                        m = index[q, a, b]
                        if m >= 0 and labels[m] < 0 and tail < largest and abs(height[q, a, b] - height[k, i, j]) <= climb:
                            labels[m] = count
                            queue[tail] = m
                            tail += 1
        count += 1
    return labels


@njit(cache=True)
def unknown_beyond(g, frontier, labels, count, reach, most):  # type: ignore[no-untyped-def]
    """How many unknown columns lie behind each cluster: joined to it by unknown columns, no more than ``reach`` cells away.

    Args:
        frontier, labels: as from ``frontier_surfaces`` and ``cluster_frontiers``; ``count`` clusters.
        most: counting stops there.

    Returns:
        (count,) int64.
    """
    rows, cols = g.height.shape[1], g.height.shape[2]
    out = np.zeros(count, np.int64)
    visited = np.full((rows, cols), -1, np.int64)
    queue = np.empty((most + 1, 2), np.int64)
    for n in range(len(frontier)):
        label = labels[n]
        i0, j0 = frontier[n, 1], frontier[n, 2]
        z = g.height[frontier[n, 0], i0, j0]
        head, tail = 0, 0
        queue[0, 0], queue[0, 1] = i0, j0
        tail = 1
        while head < tail:
            i, j = queue[head, 0], queue[head, 1]
            head += 1
            for m in range(4):
                a, b = i + (m == 0) - (m == 1), j + (m == 2) - (m == 3)
                if a < 0 or b < 0 or a >= rows or b >= cols or abs(a - i0) > reach or abs(b - j0) > reach:
                    continue
                if visited[a, b] == label or _known(g, a, b, z):
                    continue
                visited[a, b] = label
                out[label] += 1
                if out[label] >= most or tail > most:
                    break
                queue[tail, 0], queue[tail, 1] = a, b
                tail += 1
            if out[label] >= most:
                break
    return out
