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

#: Different floors that may end at one column.
_VOIDS = 256


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
    level_start, level_z, state, blocked = levels.start, levels.z, levels.state, levels.outline
    start, z, links, diagonals, nx, step = nodes.start, nodes.z, nodes.links, nodes.diagonals, grid.nx, body.step
    found, sightings = 0, 0
    own = np.full(level_z.size, -1, np.int32)
    heights, numbers = np.empty(_VOIDS), np.empty(_VOIDS, np.int32)
    for k in range(nx + 1, nx * (grid.ny - 1) - 1):
        voids = 0
        for d in range(8):
            beside = k + _offset(d, nx)
            for n in range(start[beside], start[beside + 1]):
                if _joined(links, diagonals, n, d):
                    continue
                t = nearest_level(level_start, level_z, k, z[n], step)
                if t >= 0 and state[t] == OBSTRUCTED and abs(level_z[t] - z[n]) < 1e-4:
                    continue
                if t >= 0 and state[t] == OPEN and d >= 4:
                    continue
                if t >= 0 and state[t] != OPEN:
                    fresh = own[t] < 0
                    if fresh:
                        own[t] = found
                    number = own[t]
                else:
                    a = 0
                    while a < voids and abs(heights[a] - z[n]) > step:
                        a += 1
                    fresh = a == voids
                    if fresh:
                        heights[a], numbers[a] = z[n], found
                        voids = min(voids + 1, _VOIDS - 1)
                    number, t = numbers[a], -1
                if fresh and write:
                    column[number] = k
                    for o in range(8):
                        outline[number, o] = blocked[t, o] if t >= 0 else 255 * (o % 2)
                if write:
                    seen_from[sightings], border[sightings] = n, number
                found += fresh
                sightings += 1
    size[0], size[1] = found, sightings


@njit(cache=True, nogil=True, forceinline=True)
def _offset(d, nx):  # type: ignore[no-untyped-def]
    """Columns from one to the next in direction d: 0 to 3 are E, N, W, S; 4 to 7 are NE, NW, SW, SE."""
    if d < 4:
        return DY[d] * nx + DX[d]
    a, b = d - 4, (d - 3) % 4
    return (DY[a] + DY[b]) * nx + DX[a] + DX[b]


@njit(cache=True, nogil=True, forceinline=True)
def _joined(links, diagonals, n, d):  # type: ignore[no-untyped-def]
    """Whether node n, which lies in direction d, is joined to the column it is looked at from."""
    if d < 4:
        return links[n, (d + 2) % 4] >= 0
    return (diagonals[n] >> ((d - 2) % 4)) & 1 == 1
