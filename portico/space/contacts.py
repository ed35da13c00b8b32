"""The few cells that a body may enter but not everywhere: which features decide about each point of them.

Lengths are in cells. A node whose whole cell is certainly free, or certainly not, needs nothing. For the others every feature
that comes within the body's radius of any point of the cell is kept, so that queries about the cell's points are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.grids.distance import feature_gap, offer

#: Half a cell's diagonal, in cells, rounded up.
HALF_DIAGONAL = 0.70711
#: ``Contacts.fit`` of nodes in whose cell the body fits everywhere, or nowhere; others name a row.
FITS, BLOCKED = -1, -2
_SLACK = 1e-4
#: Bounds this close are one edge: two steps of the 1/255 that pieces are rounded to.
_SAME_EDGE = 0.008


class Contacts(NamedTuple):
    """fit: (N,) int32, FITS, BLOCKED or a row; row a holds the octagons ``octagons[start[a] : start[a + 1]]``, (L, 8) float32."""

    fit: NDArray[np.int32]
    start: NDArray[np.int32]
    octagons: NDArray[np.float32]


@njit(cache=True, nogil=True)
def list_contacts(nodes, cells, obstacles, borders, octagons, slabs, nx, radius, doubtful, bordered, distance, nearest):  # type: ignore[no-untyped-def]
    """Contacts of every node. Corrects, in place, distance and nearest feature of the doubtful ones to exact values."""
    links, column = nodes.links, nodes.column
    count = column.size
    near_enough = radius + HALF_DIAGONAL + _SLACK
    fit = np.full(count, FITS, np.int32)
    start, rows, kept, filled = np.zeros(1024, np.int32), 0, np.empty((16384, 8), np.float32), 0
    visited, met, listed = np.full(count, -1, np.int32), np.full(borders.column.size, -1, np.int32), np.empty(1024, np.int32)
    queue = np.empty(int(np.ceil((2.0 * near_enough + 6.0) ** 2)) * 4, np.int32)
    for n in range(count):
        if doubtful[n]:
            x, y = cells[n, 0] + 0.5, cells[n, 1] + 0.5
            end, listed = _list_obstacles(n, column[n], x, y, obstacles, octagons, slabs, nx, near_enough, listed)
            if bordered[n]:
                end, listed = _list_borders(n, x, y, links, cells, borders, octagons, near_enough, visited, met, queue, listed, end)
            distance[n] = np.inf if end > 0 else max(distance[n], near_enough)
            for a in range(end):
                offer(octagons, listed[a], x, y, n, distance, nearest)
            if distance[n] < radius + HALF_DIAGONAL and distance[n] >= radius - HALF_DIAGONAL:
                fit[n] = rows
                while filled + end > kept.shape[0]:
                    kept = np.concatenate((kept, np.empty_like(kept)))
                filled += _merge(octagons, listed, end, kept[filled:])
                rows += 1
                start = _room(start, rows + 1)
                start[rows] = filled
        if distance[n] < radius - HALF_DIAGONAL:
            fit[n] = BLOCKED
    return Contacts(fit, start[: rows + 1].copy(), kept[:filled].copy())


@njit(cache=True, nogil=True)
def _merge(octagons, listed, count, out):  # type: ignore[no-untyped-def]
    """Copy the listed octagons, those that are or make one upright box joined; how many remain. Unions never lose matter."""
    kept = 0
    for a in range(count):
        for o in range(8):
            out[kept, o] = octagons[listed[a], o]
        b = 0
        while b < kept:
            if _one_box(out, b, kept):
                for o in range(4):
                    out[b, 2 * o] = min(out[b, 2 * o], out[kept, 2 * o])
                    out[b, 2 * o + 1] = max(out[b, 2 * o + 1], out[kept, 2 * o + 1])
                kept -= 1
                for o in range(8):
                    out[b, o], out[kept, o] = out[kept, o], out[b, o]
                b = -1
            b += 1
        kept += 1
    return kept


@njit(cache=True, nogil=True, forceinline=True)
def _one_box(out, a, b):  # type: ignore[no-untyped-def]
    """Whether two upright boxes share two opposite edges and touch, so that their union is a box."""
    same_x = abs(out[a, 0] - out[b, 0]) < _SAME_EDGE and abs(out[a, 1] - out[b, 1]) < _SAME_EDGE
    same_y = abs(out[a, 2] - out[b, 2]) < _SAME_EDGE and abs(out[a, 3] - out[b, 3]) < _SAME_EDGE
    if not (same_x or same_y) or not (_upright(out, a) and _upright(out, b)):
        return False
    o = 2 if same_x else 0
    return out[a, o] <= out[b, o + 1] + _SAME_EDGE and out[b, o] <= out[a, o + 1] + _SAME_EDGE


@njit(cache=True, nogil=True, forceinline=True)
def _upright(out, a):  # type: ignore[no-untyped-def]
    """Whether an octagon's slanted edges cut nothing off its upright box."""
    x0, x1, y0, y1 = out[a, 0], out[a, 1], out[a, 2], out[a, 3]
    cut_u = max(out[a, 4] - 0.5 * (x0 + y0), 0.5 * (x1 + y1) - out[a, 5])
    return max(cut_u, out[a, 6] - 0.5 * (x0 - y1), 0.5 * (x1 - y0) - out[a, 7]) < _SAME_EDGE


@njit(cache=True, nogil=True, forceinline=True)
def _room(array, size):  # type: ignore[no-untyped-def]
    """The array, or one twice as long when it holds fewer than ``size``."""
    return array if size <= array.size else np.concatenate((array, np.zeros_like(array)))


@njit(cache=True, nogil=True, forceinline=True)
def _list_obstacles(n, column, x, y, obstacles, octagons, slabs, nx, near_enough, listed):  # type: ignore[no-untyped-def]
    """Obstacles within reach, row by row of columns."""
    start, bottom, top, low, high = obstacles.start, obstacles.low, obstacles.high, slabs.low[n], slabs.high[n]
    reach, last, end = int(np.ceil(near_enough)), start.size - 1, 0
    for dj in range(-reach, reach + 1):
        k0, k1 = column + dj * nx - reach, column + dj * nx + reach + 1
        for q in range(start[min(max(k0, 0), last)], start[min(max(k1, 0), last)]):
            if top[q] > low and bottom[q] < high and feature_gap(octagons, q, x, y) <= near_enough:
                listed = _room(listed, end + 1)
                listed[end] = q
                end += 1
    return end, listed


@njit(cache=True, nogil=True, forceinline=True)
def _list_borders(n, x, y, links, cells, borders, octagons, near_enough, visited, met, queue, listed, end):  # type: ignore[no-untyped-def]
    """Borders beside any node that joins n within reach."""
    start, of_node = borders.start, borders.of_node
    first, reach = octagons.shape[0] - met.size, (near_enough + 2.0 * HALF_DIAGONAL) ** 2
    queue[0], visited[n] = n, n
    begin, stop = 0, 1
    while begin < stop:
        a = queue[begin]
        begin += 1
        for b in range(start[a], start[a + 1]):
            number = of_node[b]
            if met[number] != n:
                met[number] = n
                if feature_gap(octagons, first + number, x, y) <= near_enough:
                    listed = _room(listed, end + 1)
                    listed[end] = first + number
                    end += 1
        for d in range(4):
            m = links[a, d]
            if m >= 0 and visited[m] != n and stop < queue.size:
                gx, gy = cells[m, 0] + 0.5 - x, cells[m, 1] + 0.5 - y
                if gx * gx + gy * gy <= reach:
                    visited[m] = n
                    queue[stop] = m
                    stop += 1
    return end, listed
