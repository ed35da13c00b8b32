"""Where surfaces end: drops, high steps and low passages, as features that bodies keep their radius from.

A border is seen from the nodes beside it and from whatever joins them, never through a floor: that is how a balcony's
brink leaves the room below alone, and how the third tread of a stair, too high to step on, leaves the first one free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.columns import Grid
from portico.space.surfaces import DX, DY, OBSTRUCTED, OPEN, BodyShape, Levels, Nodes, nearest_level


class Borders(NamedTuple):
    """column: (B,) int32. outline: (B, 8) uint8 octagons. Nodes beside: border numbers ``of_node[start[n] : start[n + 1]]``."""

    column: NDArray[np.int32]
    outline: NDArray[np.uint8]
    start: NDArray[np.int32]
    of_node: NDArray[np.int32]


def find_borders(levels: Levels, nodes: Nodes, grid: Grid, body: BodyShape) -> Borders:
    """Borders of all nodes."""
    size = np.zeros(2, np.int64)
    empty = np.empty(0, np.int32)
    _find(levels, nodes, grid, body, size, empty, np.empty((0, 8), np.uint8), empty, empty, False)
    column, outline = np.empty(size[0], np.int32), np.empty((size[0], 8), np.uint8)
    seen_from, border = np.empty(size[1], np.int32), np.empty(size[1], np.int32)
    _find(levels, nodes, grid, body, size, column, outline, seen_from, border, True)
    start = np.concatenate([[0], np.cumsum(np.bincount(seen_from, minlength=len(nodes.z)))]).astype(np.int32)
    return Borders(column, outline, start, border[np.argsort(seen_from, kind="stable")])


@njit(cache=True, nogil=True)
def _find(levels, nodes, grid, body, size, column, outline, seen_from, border, write):  # type: ignore[no-untyped-def]
    """Look from every column at the nodes around it that do not join it. ``size`` counts borders and sightings."""
    size[:] = 0
    own = np.full(levels.z.size, -1, np.int32)
    heights, numbers = np.empty(256), np.empty(256, np.int32)
    for j in range(1, grid.ny - 1):
        for i in range(1, grid.nx - 1):
            k = j * grid.nx + i
            void = 0
            for d in range(8):
                beside = k + _offset(d, grid.nx)
                for n in range(nodes.start[beside], nodes.start[beside + 1]):
                    if _joined(nodes, n, d):
                        continue
                    t = nearest_level(levels.start, levels.z, k, nodes.z[n], body.step)
                    if t >= 0 and ((levels.state[t] == OPEN and d >= 4) or (levels.state[t] == OBSTRUCTED and abs(levels.z[t] - nodes.z[n]) < 1e-4)):
                        continue
                    if t >= 0 and levels.state[t] != OPEN:
                        fresh = own[t] < 0
                        if fresh:
                            own[t] = size[0]
                        number = own[t]
                    else:
                        a = 0
                        while a < void and abs(heights[a] - nodes.z[n]) > body.step:
                            a += 1
                        fresh = a == void
                        if fresh:
                            heights[a], numbers[a] = nodes.z[n], size[0]
                            void = min(void + 1, heights.size - 1)
                        number, t = numbers[a], -1
                    if fresh and write:
                        column[number] = k
                        for o in range(8):
                            outline[number, o] = levels.outline[t, o] if t >= 0 else (255 if o % 2 else 0)
                    size[0] += fresh
                    if write:
                        seen_from[size[1]], border[size[1]] = n, number
                    size[1] += 1


@njit(cache=True, nogil=True, inline="always")
def _offset(d, nx):  # type: ignore[no-untyped-def]
    """Columns from one to the next in direction d: 0 to 3 are E, N, W, S; 4 to 7 are NE, NW, SW, SE."""
    if d < 4:
        return DY[d] * nx + DX[d]
    a, b = d - 4, (d - 3) % 4
    return (DY[a] + DY[b]) * nx + DX[a] + DX[b]


@njit(cache=True, nogil=True)
def _joined(nodes, n, d):  # type: ignore[no-untyped-def]
    """Whether node n, which lies in direction d, is joined to the column it is looked at from."""
    if d < 4:
        return nodes.links[n, (d + 2) % 4] >= 0
    return (nodes.diagonals[n] >> ((d - 2) % 4)) & 1 == 1
