"""Triangles cut by a grid of square columns: every piece with its exact height interval and a tight outline.

A column holds *pieces*, one per triangle that crosses it. A piece keeps the height interval of triangle ∩ column and an
octagon around its plan: bounds along x, y, x + y and x - y in 1/255 of the cell, rounded outwards. Walls keep
their place to millimetres although cells are 5 to 20 cm wide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: Piece kinds: OBSTACLE blocks whatever touches it, GROUND may be stepped over within the climb, TOP can carry a body.
OBSTACLE, GROUND, TOP = 0, 1, 2
_SLIVER = 1e-3


class Grid(NamedTuple):
    """Columns: cell (i, j) covers [x0 + i cell, x0 + (i + 1) cell] × [y0 + j cell, …]; its number is j nx + i. Metres."""

    x0: float
    y0: float
    cell: float
    nx: int
    ny: int


class Pieces(NamedTuple):
    """Pieces of all columns, column by column.

    Attributes:
        start: (nx ny + 1,) int32, pieces of column k are start[k] : start[k + 1].
        low, high: (P,) float32, height interval, metres. outline: (P, 8) uint8 octagon.
        kind: (P,) uint8. surface: (P,) uint8.
        level: (P,) float32, height at the cell's centre (TOP only). cover: (P,) float32, covered share of the cell, negative
            where the piece does not hold the centre (TOP only).
    """

    start: NDArray[np.int32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    outline: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    surface: NDArray[np.uint8]
    level: NDArray[np.float32]
    cover: NDArray[np.float32]


def grid_around(bounds: NDArray[np.float64], cell_m: float) -> Grid:
    """Columns over the plan of bounds (2, 3), aligned to multiples of the cell, with a free margin of two cells."""
    low = np.floor(bounds[0, :2] / cell_m).astype(int) - 2
    high = np.ceil(bounds[1, :2] / cell_m).astype(int) + 2
    nx, ny = (high - low).tolist()
    return Grid(float(low[0] * cell_m), float(low[1] * cell_m), float(cell_m), nx, ny)


def cut(triangles: NDArray[np.float64], kinds: NDArray[np.uint8], surfaces: NDArray[np.uint8], grid: Grid, boxes: NDArray[np.float64] | None = None) -> Pieces:
    """Pieces of triangles (F, 3, 3) with their kinds and surfaces (F,), and of obstacles that are boxes (B, 2, 3): lowest and highest corners.

    What lies beyond the grid is left out.
    """
    origin, unit = np.array([grid.x0, grid.y0, 0.0]), np.array([grid.cell, grid.cell, 1.0])
    local, solid = (triangles - origin) / unit, ((np.zeros((0, 2, 3)) if boxes is None else boxes) - origin) / unit
    start = np.zeros(grid.nx * grid.ny + 1, np.int32)
    pieces = _storage(start, 0)
    _cut(local, kinds, surfaces, grid, pieces, start[1:], False)
    _cut_boxes(solid, grid, pieces, start[1:], False)
    np.cumsum(start, out=start)
    pieces, cursor = _storage(start, int(start[-1])), start[:-1].copy()
    _cut(local, kinds, surfaces, grid, pieces, cursor, True)
    _cut_boxes(solid, grid, pieces, cursor, True)
    return pieces


def _storage(start: NDArray[np.int32], count: int) -> Pieces:
    floats = [np.empty(count, np.float32) for _ in range(4)]
    return Pieces(start, floats[0], floats[1], np.empty((count, 8), np.uint8), np.empty(count, np.uint8), np.empty(count, np.uint8), floats[2], floats[3])


@njit(cache=True, nogil=True)
def _cut(triangles, kinds, surfaces, grid, pieces, cursor, write):  # type: ignore[no-untyped-def]
    """Visit every (triangle, cell) overlap; count it in ``cursor``, and write it there when asked to.

    Triangles (F, 3, 3) come in cells along x and y, so that what lies on a line between cells is cut without rounding.
    """
    row, square, spare = np.empty((10, 3)), np.empty((12, 3)), np.empty((12, 3))
    nx = grid.nx
    low, high, outline, kind, surface, level, cover = pieces.low, pieces.high, pieces.outline, pieces.kind, pieces.surface, pieces.level, pieces.cover
    for f in range(triangles.shape[0]):
        t = triangles[f]
        j0, j1 = _cell_range(min(t[0, 1], t[1, 1], t[2, 1]), max(t[0, 1], t[1, 1], t[2, 1]))
        for j in range(max(j0, 0), min(j1, grid.ny - 1) + 1):
            n = _clip(t, 3, 1, j, 1.0, spare)
            n = _clip(spare, n, 1, j + 1, -1.0, row)
            if n == 0:
                continue
            i0, i1 = _cell_range(row[:n, 0].min(), row[:n, 0].max())
            full0, full1 = _full_cells(row, n, j)
            for i in range(max(i0, 0), min(i1, nx - 1) + 1):
                k = j * nx + i
                if full0 <= i < full1:
                    if write:
                        p = cursor[k]
                        kind[p], surface[p] = kinds[f], surfaces[f]
                        _write_full(low, high, outline, level, cover, p, t, i, j)
                    cursor[k] += 1
                    continue
                m = _clip(row, n, 0, i, 1.0, spare)
                m = _clip(spare, m, 0, i + 1, -1.0, square)
                if m > 0:
                    if write:
                        p = cursor[k]
                        kind[p], surface[p] = kinds[f], surfaces[f]
                        _write_part(low, high, outline, kind, level, cover, p, t, square, m, i, j)
                    cursor[k] += 1


@njit(cache=True, nogil=True)
def _cut_boxes(boxes, grid, pieces, cursor, write):  # type: ignore[no-untyped-def]
    """Visit every (box, cell) overlap like ``_cut``; a box has one piece in each cell, as tall as itself."""
    low, high, outline, kind, surface, level, cover = pieces.low, pieces.high, pieces.outline, pieces.kind, pieces.surface, pieces.level, pieces.cover
    for b in range(boxes.shape[0]):
        i0, i1 = _cell_range(boxes[b, 0, 0], boxes[b, 1, 0])
        j0, j1 = _cell_range(boxes[b, 0, 1], boxes[b, 1, 1])
        for j in range(max(j0, 0), min(j1, grid.ny - 1) + 1):
            for i in range(max(i0, 0), min(i1, grid.nx - 1) + 1):
                k = j * grid.nx + i
                if write:
                    p = cursor[k]
                    x0, x1 = max(boxes[b, 0, 0] - i, 0.0), min(boxes[b, 1, 0] - i, 1.0)
                    y0, y1 = max(boxes[b, 0, 1] - j, 0.0), min(boxes[b, 1, 1] - j, 1.0)
                    kind[p], surface[p], level[p], cover[p] = OBSTACLE, 0, boxes[b, 1, 2], 0.0
                    low[p], high[p] = boxes[b, 0, 2], boxes[b, 1, 2]
                    _write_outline(outline, p, x0, x1, y0, y1, x0 + y0, x1 + y1, x0 - y1, x1 - y0)
                cursor[k] += 1


@njit(cache=True, nogil=True, forceinline=True)
def _write_outline(outline, p, x0, x1, y0, y1, u0, u1, v0, v1):  # type: ignore[no-untyped-def]
    outline[p, 0], outline[p, 1], outline[p, 2], outline[p, 3] = _down(x0), _up(x1), _down(y0), _up(y1)
    outline[p, 4], outline[p, 5] = _down(0.5 * u0), _up(0.5 * u1)
    outline[p, 6], outline[p, 7] = _down(0.5 * (v0 + 1.0)), _up(0.5 * (v1 + 1.0))


@njit(cache=True, nogil=True, forceinline=True)
def _full_cells(row, n, j):  # type: ignore[no-untyped-def]
    """First and one past the last cell that a row's polygon (n, 3) covers whole: both of its long sides must span the cell."""
    left0, right0, left1, right1 = np.inf, -np.inf, np.inf, -np.inf
    for a in range(n):
        if row[a, 1] == j:
            left0, right0 = min(left0, row[a, 0]), max(right0, row[a, 0])
        if row[a, 1] == j + 1:
            left1, right1 = min(left1, row[a, 0]), max(right1, row[a, 0])
    left, right = max(left0, left1), min(right0, right1)
    if not right - left >= 1.0:
        return 0, 0
    return int(np.ceil(left)), int(np.floor(right))


@njit(cache=True, nogil=True, forceinline=True)
def _cell_range(low, high):  # type: ignore[no-untyped-def]
    """First and last cell of an interval; a far end that only touches a cell does not count."""
    first, last = int(np.floor(low)), int(np.floor(high))
    return first, last - 1 if last > first and high - last < 1e-9 else last


@njit(cache=True, nogil=True, forceinline=True)
def _clip(polygon, n, axis, bound, sign, out):  # type: ignore[no-untyped-def]
    """Part of a convex polygon (n, 3) where sign · (coordinate - bound) >= 0 (Sutherland and Hodgman 1974)."""
    m = 0
    for a in range(n):
        b = a + 1 if a + 1 < n else 0
        da, db = sign * (polygon[a, axis] - bound), sign * (polygon[b, axis] - bound)
        if da >= 0.0:
            out[m, 0], out[m, 1], out[m, 2] = polygon[a, 0], polygon[a, 1], polygon[a, 2]
            m += 1
        if (da > 0.0 and db < 0.0) or (da < 0.0 and db > 0.0):
            s = da / (da - db)
            for d in range(3):
                out[m, d] = polygon[a, d] + s * (polygon[b, d] - polygon[a, d])
            out[m, axis] = bound
            m += 1
    return m


@njit(cache=True, nogil=True, forceinline=True)
def _side(a, b, x, y):  # type: ignore[no-untyped-def]
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


@njit(cache=True, nogil=True, forceinline=True)
def _holds(t, x, y):  # type: ignore[no-untyped-def]
    """Whether the plan of a triangle, of either winding, holds a point; its border counts."""
    s0, s1, s2 = _side(t[0], t[1], x, y), _side(t[1], t[2], x, y), _side(t[2], t[0], x, y)
    slack = 1e-12
    return (s0 >= -slack and s1 >= -slack and s2 >= -slack) or (s0 <= slack and s1 <= slack and s2 <= slack)


@njit(cache=True, nogil=True, forceinline=True)
def _height(t, x, y):  # type: ignore[no-untyped-def]
    """Height of the triangle's plane at (x, y); the plan must not be degenerate."""
    whole = _side(t[0], t[1], t[2, 0], t[2, 1])
    w0, w1 = _side(t[1], t[2], x, y) / whole, _side(t[2], t[0], x, y) / whole
    return w0 * t[0, 2] + w1 * t[1, 2] + (1.0 - w0 - w1) * t[2, 2]


@njit(cache=True, nogil=True, forceinline=True)
def _write_full(low, high, outline, level, cover, p, t, i, j):  # type: ignore[no-untyped-def]
    h00, h10, h01, h11 = _height(t, i, j), _height(t, i + 1, j), _height(t, i, j + 1), _height(t, i + 1, j + 1)
    low[p], high[p] = min(h00, h10, h01, h11), max(h00, h10, h01, h11)
    for o in range(4):
        outline[p, 2 * o], outline[p, 2 * o + 1] = 0, 255
    level[p], cover[p] = 0.25 * (h00 + h10 + h01 + h11), 1.0


@njit(cache=True, nogil=True, forceinline=True)
def _write_part(low, high, outline, kind, level, cover, p, t, polygon, n, i, j):  # type: ignore[no-untyped-def]
    lowest, highest, doubled = np.inf, -np.inf, 0.0
    x0, x1, y0, y1, u0, u1, v0, v1 = np.inf, -np.inf, np.inf, -np.inf, np.inf, -np.inf, np.inf, -np.inf
    for a in range(n):
        b = a + 1 if a + 1 < n else 0
        doubled += polygon[a, 0] * polygon[b, 1] - polygon[b, 0] * polygon[a, 1]
        lowest, highest = min(lowest, polygon[a, 2]), max(highest, polygon[a, 2])
        x, y = polygon[a, 0] - i, polygon[a, 1] - j
        x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
        u0, u1, v0, v1 = min(u0, x + y), max(u1, x + y), min(v0, x - y), max(v1, x - y)
    low[p], high[p] = lowest, highest
    _write_outline(outline, p, x0, x1, y0, y1, u0, u1, v0, v1)
    share = 0.5 * abs(doubled)
    level[p], cover[p] = highest, 0.0
    if kind[p] == TOP and share < _SLIVER:
        kind[p] = GROUND
    elif kind[p] == TOP:
        x, y = i + 0.5, j + 0.5
        level[p] = min(max(_height(t, x, y), lowest), highest)
        cover[p] = share if _holds(t, x, y) else -share


@njit(cache=True, nogil=True, forceinline=True)
def _down(value):  # type: ignore[no-untyped-def]
    return max(0, int(np.floor(255.0 * value - 1e-6)))


@njit(cache=True, nogil=True, forceinline=True)
def _up(value):  # type: ignore[no-untyped-def]
    return min(255, int(np.ceil(255.0 * value + 1e-6)))
