"""A grid of columns, each holding up to ``SHEETS`` surfaces at different heights: rooms, the rooms above them and stairs.

Every kernel takes the grid as it is, a named tuple of arrays; sheets come first, then rows (y) and columns (x).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

SHEETS = 3

#: For kernels that allocate nothing: without reference counts, which took most of the time of small functions that are
#: handed a grid of six arrays.
_COUNT_NOTHING: dict[str, Any] = {"_nrt": False}
lean = njit(cache=True, **_COUNT_NOTHING)
lean_inline = njit(cache=True, inline="always", **_COUNT_NOTHING)

#: Bits of ``SurfaceGrid.flags``.
GROUND, SEEN, LINTEL, SPENT, FACADE = 1, 2, 4, 8, 16

#: Surfaces of one column that are closer than this are the same surface. Less than any headroom, more than any climb.
MERGE_M = 0.45
#: No body passes between surfaces closer than this; a guessed one that near to a seen one is a wrong guess.
HEADROOM_M = 0.9
ROOF_LIMIT = 20
_ODDS_HIT, _ODDS_MAX, _ODDS_MIN = 4, 12, -6
_FACADE_M = 2.5


class SurfaceGrid(NamedTuple):
    """What is known of surfaces. Absent ones have NaN height.

    Attributes:
        height: (K, R, C) float32, metres in the map's frame.
        odds: (K, R, C) int8, blocked when positive.
        flags: (K, R, C) uint8. GROUND: a body may stand here, unless blocked; without it the height is only a guess.
            SEEN: hit by a ray, else filled in between two hits. LINTEL: an edge hangs over it. SPENT: no frontier any
            more. FACADE: something taller than 2.5 m stands on it.
        roof: (K, R, C) int8, positive when a ceiling hangs above, negative when open to the sky.
        glow: (K, R, C) int16, how often a long view or open sky was seen across this surface.
        stamp: (K, R, C) int32, the last frame that voted on it, negative for an obstacle.
        x0, y0: position of the outer corner of cell (0, 0). cell_m: edge of a cell.
    """

    height: NDArray[np.float32]
    odds: NDArray[np.int8]
    flags: NDArray[np.uint8]
    roof: NDArray[np.int8]
    glow: NDArray[np.int16]
    stamp: NDArray[np.int32]
    x0: float
    y0: float
    cell_m: float

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.height.shape[1], self.height.shape[2]

    def window(self, rows: slice, cols: slice) -> SurfaceGrid:
        """A view of some rows and columns; both slices have starts."""
        height, odds, flags, roof, glow, stamp = (getattr(self, name)[:, rows, cols] for name in _ARRAYS)
        return SurfaceGrid(height, odds, flags, roof, glow, stamp, self.x0 + cols.start * self.cell_m, self.y0 + rows.start * self.cell_m, self.cell_m)


_ARRAYS = ("height", "odds", "flags", "roof", "glow", "stamp")


def empty_grid(x_min: float, y_min: float, x_max: float, y_max: float, cell_m: float) -> SurfaceGrid:
    """A grid of nothing that covers the box; corners are snapped to multiples of the cell."""
    i0, j0 = int(np.floor(y_min / cell_m)), int(np.floor(x_min / cell_m))
    shape = (SHEETS, int(np.ceil(y_max / cell_m)) - i0, int(np.ceil(x_max / cell_m)) - j0)
    return SurfaceGrid(
        height=np.full(shape, np.nan, np.float32),
        odds=np.zeros(shape, np.int8),
        flags=np.zeros(shape, np.uint8),
        roof=np.zeros(shape, np.int8),
        glow=np.zeros(shape, np.int16),
        stamp=np.zeros(shape, np.int32),
        x0=j0 * cell_m,
        y0=i0 * cell_m,
        cell_m=cell_m,
    )


def grown(grid: SurfaceGrid, x_min: float, y_min: float, x_max: float, y_max: float) -> SurfaceGrid:
    """The same grid, enlarged to cover the box as well; the grid itself when it already does."""
    rows, cols = grid.shape
    x_end, y_end = grid.x0 + cols * grid.cell_m, grid.y0 + rows * grid.cell_m
    if x_min >= grid.x0 and y_min >= grid.y0 and x_max <= x_end and y_max <= y_end:
        return grid
    larger = empty_grid(min(x_min, grid.x0), min(y_min, grid.y0), max(x_max, x_end), max(y_max, y_end), grid.cell_m)
    i, j = round((grid.y0 - larger.y0) / grid.cell_m), round((grid.x0 - larger.x0) / grid.cell_m)
    for name in _ARRAYS:
        getattr(larger, name)[:, i : i + rows, j : j + cols] = getattr(grid, name)
    return larger


@lean_inline
def cell_of(g, x, y):  # type: ignore[no-untyped-def]
    """Row and column of a position, on the grid or off it."""
    return int(np.floor((y - g.y0) / g.cell_m)), int(np.floor((x - g.x0) / g.cell_m))


@lean_inline
def on_grid(g, i, j):  # type: ignore[no-untyped-def]
    """Whether a row and column exist."""
    return i >= 0 and j >= 0 and i < g.height.shape[1] and j < g.height.shape[2]


@lean_inline
def nearest_surface(height, i, j, z, tolerance):  # type: ignore[no-untyped-def]
    """Sheet of the surface of column (i, j) of heights (K, R, C) nearest to height z within the tolerance, or -1."""
    best, found = tolerance, -1
    for k in range(height.shape[0]):
        gap = abs(height[k, i, j] - z)
        if gap <= best:
            best, found = gap, k
    return found


@lean_inline
def find_surface(g, i, j, z, tolerance):  # type: ignore[no-untyped-def]
    """Sheet of the surface of column (i, j) nearest to height z within the tolerance, or -1."""
    return nearest_surface(g.height, i, j, z, tolerance)


@lean
def touch_surface(g, i, j, z, seen):  # type: ignore[no-untyped-def]
    """Sheet of the surface at height z, a new one when there is none; -1 when the column is full or off the grid.

    What is seen displaces a guess in a full column. What was not seen itself (``seen`` False) belongs to a surface that
    was, when that is too near for a body to pass between.
    """
    if not on_grid(g, i, j):
        return -1
    k = find_surface(g, i, j, z, MERGE_M)
    if k >= 0:
        return k
    if not seen:
        k = find_surface(g, i, j, z, HEADROOM_M)
        if k >= 0 and g.flags[k, i, j] & SEEN:
            return k
    worst, spare = 0.0, -1
    for k in range(g.height.shape[0]):
        gap = abs(g.height[k, i, j] - z)
        if np.isnan(gap):
            g.height[k, i, j] = z
            return k
        if seen and not g.flags[k, i, j] & SEEN and gap > worst:
            worst, spare = gap, k
    if spare >= 0:
        g.height[spare, i, j] = z
    return spare


@lean
def _absorb(g, k, i, j):  # type: ignore[no-untyped-def]
    """A surface that was seen takes over those that were only guessed within a headroom of it."""
    for q in range(g.height.shape[0]):
        if q == k or g.flags[q, i, j] & SEEN or not abs(g.height[q, i, j] - g.height[k, i, j]) <= HEADROOM_M:
            continue
        g.odds[k, i, j] = max(g.odds[k, i, j], g.odds[q, i, j])
        g.flags[k, i, j] |= g.flags[q, i, j] & (LINTEL | FACADE)
        g.roof[k, i, j] = min(max(g.roof[k, i, j] + g.roof[q, i, j], -ROOF_LIMIT), ROOF_LIMIT)
        g.glow[k, i, j] += g.glow[q, i, j]
        g.height[q, i, j], g.odds[q, i, j], g.flags[q, i, j], g.roof[q, i, j], g.glow[q, i, j] = np.nan, 0, 0, 0, 0


@lean
def mark_ground(g, i, j, z, frame):  # type: ignore[no-untyped-def]
    """Ground was hit: one vote per frame against an obstacle, heights averaged over frames."""
    k = touch_surface(g, i, j, z, True)
    if k < 0:
        return
    first = abs(g.stamp[k, i, j]) != frame
    if not g.flags[k, i, j] & SEEN:
        g.height[k, i, j] = z
    elif first:
        g.height[k, i, j] += np.float32(0.25) * (np.float32(z) - g.height[k, i, j])
    g.flags[k, i, j] |= GROUND | SEEN
    if first:
        _absorb(g, k, i, j)
        g.odds[k, i, j] = max(g.odds[k, i, j] - 1, _ODDS_MIN)
        g.stamp[k, i, j] = frame


@lean
def guess_ground(g, i, j, z):  # type: ignore[no-untyped-def]
    """Ground lies between two hits; its height is averaged over guesses and never overrules what was seen."""
    k = touch_surface(g, i, j, z, False)
    if k < 0:
        return
    if not g.flags[k, i, j] & (GROUND | SEEN):
        g.height[k, i, j] = z
    elif not g.flags[k, i, j] & SEEN:
        g.height[k, i, j] += np.float32(0.5) * (np.float32(z) - g.height[k, i, j])
    g.flags[k, i, j] |= GROUND


@lean
def stand_on(g, x, y, z, radius):  # type: ignore[no-untyped-def]
    """A body stands at (x, y, z): there is ground under it, free of obstacles."""
    span = int(np.ceil(radius / g.cell_m))
    i0, j0 = cell_of(g, x, y)
    for i in range(i0 - span, i0 + span + 1):
        for j in range(j0 - span, j0 + span + 1):
            distance = np.hypot(g.x0 + (j + 0.5) * g.cell_m - x, g.y0 + (i + 0.5) * g.cell_m - y)
            k = touch_surface(g, i, j, z, True) if distance <= radius else -1
            if k < 0:
                continue
            if distance < g.cell_m:
                g.height[k, i, j] = z
                g.flags[k, i, j] |= SEEN
            g.flags[k, i, j] |= GROUND
            _absorb(g, k, i, j)
            g.odds[k, i, j] = min(g.odds[k, i, j], 0)


@lean
def mark_solid(g, i, j, base, z, frame):  # type: ignore[no-untyped-def]
    """A hit at z above the ground ``base``: one vote per frame, taking back the same frame's vote for ground."""
    k = touch_surface(g, i, j, base, False)
    if k < 0:
        return
    if z - base > _FACADE_M:
        g.flags[k, i, j] |= FACADE
    if g.stamp[k, i, j] == -frame:
        return
    if g.stamp[k, i, j] == frame:
        g.odds[k, i, j] += 1
    g.odds[k, i, j] = min(max(g.odds[k, i, j], 0) + _ODDS_HIT, _ODDS_MAX)
    g.stamp[k, i, j] = -frame


@lean
def mark_roof(g, i, j, base, vote, lintel):  # type: ignore[no-untyped-def]
    """Something overhead. Remembered on the surface below it; an empty column gets one of guessed height to hold it."""
    if not on_grid(g, i, j):
        return
    k = find_surface(g, i, j, base, HEADROOM_M)
    if k < 0:
        if not np.isnan(g.height[0, i, j]):
            return
        k = 0
        g.height[k, i, j] = base
    g.roof[k, i, j] = min(g.roof[k, i, j] + vote, ROOF_LIMIT)
    if lintel:
        g.flags[k, i, j] |= LINTEL


@lean
def mark_tall(g, i, j, base):  # type: ignore[no-untyped-def]
    """The obstacle that stands here, if any, is tall."""
    if on_grid(g, i, j):
        k = find_surface(g, i, j, base, MERGE_M)
        if k >= 0 and g.odds[k, i, j] > 0:
            g.flags[k, i, j] |= FACADE
