"""From pieces to layered surfaces: where a body could stand, and which of those places join.

A *level* is a place to stand in one column: walkable tops within the climb of one another make one level. A level is open
when nothing in its column reaches into the body's interval above it. Open levels of neighbouring columns link when they
differ by no more than the climb; so floors, stairs, ramps and bridges need no special case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.columns import OBSTACLE, TOP, Grid, Pieces

#: Things lower than this above the floor (rugs, sills, sunken rims) stop nobody.
RUG_M = 0.02
_COVERED = 0.97
#: Why a level is not open: OPEN, by obstacles only, by ground above (a high step, a low bridge), at a brink.
OPEN, OBSTRUCTED, STEPPED, BRINK = 0, 1, 2, 3
#: Column offsets of the directions E, N, W, S and of the diagonals NE, NW, SW, SE that follow each.
DX, DY = (1, 0, -1, 0), (0, 1, 0, -1)


class BodyShape(NamedTuple):
    """Metres. ``step`` is the largest height difference between joined neighbours: the climb, or the steepest ramp over one cell."""

    radius: float
    height: float
    climb: float
    step: float


class Levels(NamedTuple):
    """start: (columns + 1,) int32. z: (T,) float32. surface, state: (T,) uint8. cover: (T,) float32. outline: (T, 8) uint8 of what blocks it."""

    start: NDArray[np.int32]
    z: NDArray[np.float32]
    surface: NDArray[np.uint8]
    state: NDArray[np.uint8]
    cover: NDArray[np.float32]
    outline: NDArray[np.uint8]


class Nodes(NamedTuple):
    """Open levels, in column order.

    Attributes:
        start: (columns + 1,) int32. column: (N,) int32. z: (N,) float32. surface: (N,) uint8.
        links: (N, 4) int32, joined node to the E, N, W, S, or -1.
        diagonals: (N,) uint8, bit d set when going d then d + 1 and d + 1 then d ends at one node: NE, NW, SW, SE.
    """

    start: NDArray[np.int32]
    column: NDArray[np.int32]
    z: NDArray[np.float32]
    surface: NDArray[np.uint8]
    links: NDArray[np.int32]
    diagonals: NDArray[np.uint8]


def find_levels(pieces: Pieces, grid: Grid, body: BodyShape) -> Levels:
    """Levels of all columns; brinks (a column only partly covered, beside a drop) are closed."""
    start = np.zeros(len(pieces.start), np.int32)
    _find_levels(pieces, body, start[1:], _level_storage(start, 0), False)
    np.cumsum(start, out=start)
    levels = _level_storage(start, int(start[-1]))
    _find_levels(pieces, body, start[:-1].copy(), levels, True)
    _close_brinks(pieces, levels, grid, body)
    return levels


def join_levels(levels: Levels, grid: Grid, body: BodyShape) -> Nodes:
    """The open levels and their links."""
    is_open = levels.state == OPEN
    start = np.concatenate([[0], np.cumsum(is_open)]).astype(np.int32)[levels.start]
    column = np.repeat(np.arange(grid.nx * grid.ny, dtype=np.int32), np.diff(start))
    z, surface = levels.z[is_open], levels.surface[is_open]
    links = _link(start, column, z, grid, body)
    return Nodes(start, column, z, surface, links, _find_diagonals(links))


def _level_storage(start: NDArray[np.int32], count: int) -> Levels:
    f, b = np.empty(count, np.float32), np.empty(count, np.uint8)
    return Levels(start, f, b, np.empty(count, np.uint8), np.empty(count, np.float32), np.empty((count, 8), np.uint8))


@njit(cache=True, nogil=True)
def _find_levels(pieces, body, cursor, levels, write):  # type: ignore[no-untyped-def]
    start, kind, level, climb = pieces.start, pieces.kind, pieces.level, body.climb
    order = np.empty(64, np.int32)
    for k in range(start.size - 1):
        first, last = start[k], start[k + 1]
        if last - first > order.size:
            order = np.empty(2 * (last - first), np.int32)
        n = 0
        for p in range(first, last):
            if kind[p] == TOP:
                at = n
                while at > 0 and level[order[at - 1]] < level[p]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = p
                n += 1
        a = 0
        while a < n:
            b = a
            while b < n and level[order[a]] - level[order[b]] <= climb:
                b += 1
            if write:
                _write_level(pieces, levels, cursor[k], order, a, b, first, last, body)
            cursor[k] += 1
            a = b


@njit(cache=True, nogil=True, forceinline=True)
def _write_level(pieces, levels, t, order, a, b, first, last, body):  # type: ignore[no-untyped-def]
    """The level made of the tops order[a:b], highest first: it stands on the highest that holds the cell's centre."""
    kind, low, high, cover, outline = pieces.kind, pieces.low, pieces.high, pieces.cover, pieces.outline
    chosen, covered = order[a], 0.0
    for i in range(b - 1, a - 1, -1):
        covered += abs(cover[order[i]])
        if cover[order[i]] > 0.0:
            chosen = order[i]
    z, state = pieces.level[chosen], OPEN
    bounds = levels.outline
    for o in range(4):
        bounds[t, 2 * o], bounds[t, 2 * o + 1] = 255, 0
    climb, height = body.climb, body.height
    for p in range(first, last):
        if blocks(kind[p], low[p], high[p], z, climb, height):
            state = max(state, OBSTRUCTED if kind[p] == OBSTACLE else STEPPED)
            for o in range(4):
                bounds[t, 2 * o] = min(bounds[t, 2 * o], outline[p, 2 * o])
                bounds[t, 2 * o + 1] = max(bounds[t, 2 * o + 1], outline[p, 2 * o + 1])
    levels.z[t], levels.surface[t], levels.cover[t], levels.state[t] = z, pieces.surface[chosen], covered, state


@njit(cache=True, nogil=True, forceinline=True)
def blocks(kind, low, high, z, climb, height):  # type: ignore[no-untyped-def]
    """Whether a piece reaches into the interval of a body that stands at z."""
    floor = z + RUG_M if kind == OBSTACLE else z + climb + 1e-3
    return high > floor and low < z + height + 1e-4


@njit(cache=True, nogil=True, forceinline=True)
def nearest_level(start, z, k, height, tolerance):  # type: ignore[no-untyped-def]
    """Index of the level (or node) of column k nearest to a height, no farther than the tolerance; -1 for none."""
    best, best_gap = -1, tolerance
    for t in range(start[k], start[k + 1]):
        gap = abs(z[t] - height)
        if gap <= best_gap:
            best, best_gap = t, gap
    return best


@njit(cache=True, nogil=True)
def _close_brinks(pieces, levels, grid, body):  # type: ignore[no-untyped-def]
    """A column whose walkable cover ends inside it, with nothing but a drop beyond, is no place to stand."""
    start, z, state, cover, outline, step = levels.start, levels.z, levels.state, levels.cover, levels.outline, body.step
    beside = (1, grid.nx, -1, -grid.nx)
    for k in range(grid.nx, grid.nx * (grid.ny - 1)):
        for t in range(start[k], start[k + 1]):
            if state[t] != OPEN or cover[t] >= _COVERED:
                continue
            for d in range(4):
                if nearest_level(start, z, k + beside[d], z[t], step) < 0 and not _walled(pieces, k + beside[d], z[t], body):
                    state[t] = BRINK
            if state[t] == BRINK:
                for o in range(4):
                    outline[t, 2 * o], outline[t, 2 * o + 1] = 0, 255


@njit(cache=True, nogil=True, forceinline=True)
def _walled(pieces, k, z, body):  # type: ignore[no-untyped-def]
    walled = False
    for p in range(pieces.start[k], pieces.start[k + 1]):
        walled = walled or blocks(pieces.kind[p], pieces.low[p], pieces.high[p], z, body.climb, body.height)
    return walled


@njit(cache=True, nogil=True)
def _link(start, column, z, grid, body):  # type: ignore[no-untyped-def]
    links = np.full((column.size, 4), -1, np.int32)
    beside, step = (1, grid.nx), body.step
    for n in range(column.size):
        for d in range(2):
            m = nearest_level(start, z, column[n] + beside[d], z[n], step)
            if m >= 0 and nearest_level(start, z, column[n], z[m], step) == n:
                links[n, d], links[m, d + 2] = m, n
    return links


@njit(cache=True, nogil=True)
def _find_diagonals(links):  # type: ignore[no-untyped-def]
    diagonals = np.zeros(links.shape[0], np.uint8)
    for n in range(links.shape[0]):
        for d in range(4):
            e = (d + 1) % 4
            a, b = links[n, d], links[n, e]
            if a >= 0 and b >= 0 and links[a, e] >= 0 and links[a, e] == links[b, d]:
                diagonals[n] |= 1 << d
    return diagonals
