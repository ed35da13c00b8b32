"""How far every node is from what its body may not touch, and which features decide it.

Features are obstacle pieces (met by height interval, wherever they are) and borders (met along links). Lengths inside this
file are in cells. A node whose whole cell is certainly free, or certainly not, needs no features; for the few between, all
features near enough to matter are listed, so that queries about any point of the cell are exact.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.borders import Borders
from portico.space.columns import Grid
from portico.space.obstacles import Obstacles
from portico.space.surfaces import RUG_M, BodyShape, Nodes

#: Half a cell's diagonal, in cells, rounded up.
HALF_DIAGONAL = 0.70711
#: ``Clearance.fit`` of nodes in whose cell the body fits everywhere, or nowhere; others index ``Clearance.start``.
FITS, BLOCKED = -1, -2
_NONE = -1


class Features(NamedTuple):
    """corner: (F, 2) int32 cell (i, j). outline: (F, 8) uint8 octagon inside that cell."""

    corner: NDArray[np.int32]
    outline: NDArray[np.uint8]


class Clearance(NamedTuple):
    """distance: (N,) float64, metres, inf in a world without anything to touch. nearest: (N,) int32 feature or -1.

    fit: (N,) int32, FITS, BLOCKED or a row of the lists; row a holds features ``listed[start[a] : start[a + 1]]``.
    """

    distance: NDArray[np.float64]
    nearest: NDArray[np.int32]
    fit: NDArray[np.int32]
    start: NDArray[np.int32]
    listed: NDArray[np.int32]
    features: Features


def measure_clearance(nodes: Nodes, obstacles: Obstacles, borders: Borders, grid: Grid, body: BodyShape) -> Clearance:
    """Clearance of every node for one body."""
    features = _all_features(obstacles, borders, grid)
    cells = cells_of(nodes.column, grid)
    radius = body.radius / grid.cell
    near_enough = radius + 2.0 * HALF_DIAGONAL
    low, high, rough = _slabs(nodes, body)
    distance, nearest = _seed(nodes, cells, obstacles, borders, features, low, high, grid.nx)
    _propagate(nodes.links, nodes.diagonals, cells, features, distance, nearest)
    steps = ceil(sqrt(2.0) * (near_enough + 1.0))
    rough = _within_steps(nodes.links, rough, steps)
    doubtful = rough | (distance < radius + HALF_DIAGONAL + 0.25)
    bordered = _within_steps(nodes.links, np.diff(borders.start) > 0, steps)
    fit, start, listed = _list_features(nodes, cells, obstacles, borders, features, low, high, grid.nx, radius, doubtful, bordered, distance, nearest)
    return Clearance(distance * grid.cell, *_keep_used(features, nearest, fit, start, listed))


def cells_of(columns: NDArray[np.int32], grid: Grid) -> NDArray[np.int32]:
    """(N, 2) int32 cell (i, j) of column numbers (N,)."""
    return np.stack([columns % grid.nx, columns // grid.nx], axis=1).astype(np.int32)


def _all_features(obstacles: Obstacles, borders: Borders, grid: Grid) -> Features:
    column = np.repeat(np.arange(grid.nx * grid.ny, dtype=np.int32), np.diff(obstacles.start))
    return Features(cells_of(np.concatenate([column, borders.column]), grid), np.concatenate([obstacles.outline, borders.outline]))


def _keep_used(
    features: Features, nearest: NDArray[np.int32], fit: NDArray[np.int32], start: NDArray[np.int32], listed: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Features]:
    used = np.zeros(len(features.corner) + 1, bool)
    used[listed], used[nearest] = True, True
    used[_NONE] = False
    number = np.cumsum(used, dtype=np.int32) - 1
    number[_NONE] = _NONE
    kept = used[:-1]
    return number[nearest], fit, start, number[listed], Features(features.corner[kept], features.outline[kept])


@njit(cache=True, nogil=True)
def feature_distance(features, f, x, y):  # type: ignore[no-untyped-def]
    """Lower bound of the distance from (x, y) to a feature, all in cells; exact but for corners cut at 45 degrees.

    An octagon is what an upright box and one turned by 45 degrees have in common: no point is farther than from both.
    """
    o = features.outline[f]
    px, py = x - features.corner[f, 0], y - features.corner[f, 1]
    s = 1.0 / 255.0
    ax = max(o[0] * s - px, px - o[1] * s, 0.0)
    ay = max(o[2] * s - py, py - o[3] * s, 0.0)
    u, v = 0.5 * (px + py), 0.5 * (px - py + 1.0)
    bu = max(o[4] * s - u, u - o[5] * s, 0.0)
    bv = max(o[6] * s - v, v - o[7] * s, 0.0)
    return sqrt(max(ax * ax + ay * ay, 2.0 * (bu * bu + bv * bv)))


@njit(cache=True, nogil=True)
def _slabs(nodes, body):  # type: ignore[no-untyped-def]
    """Height interval that must be clear around each node, for the body there and on joined nodes; and where ground is uneven."""
    count = nodes.z.size
    low, high, rough = np.empty(count, np.float32), np.empty(count, np.float32), np.zeros(count, np.bool_)
    for n in range(count):
        lowest = highest = nodes.z[n]
        for d in range(4):
            m = nodes.links[n, d]
            if m >= 0:
                lowest, highest = min(lowest, nodes.z[m]), max(highest, nodes.z[m])
                if (nodes.diagonals[n] >> d) & 1:
                    z = nodes.z[nodes.links[m, (d + 1) % 4]]
                    lowest, highest = min(lowest, z), max(highest, z)
        low[n], high[n], rough[n] = lowest + RUG_M, highest + body.height, highest - lowest > 1e-4
    return low, high, rough


@njit(cache=True, nogil=True)
def _seed(nodes, cells, obstacles, borders, features, low, high, nx):  # type: ignore[no-untyped-def]
    """Nearest feature among those beside each node."""
    count = nodes.z.size
    distance, nearest = np.full(count, np.inf), np.full(count, _NONE, np.int32)
    for n in range(count):
        x, y = cells[n, 0] + 0.5, cells[n, 1] + 0.5
        for dj in range(-1, 2):
            for di in range(-1, 2):
                k = nodes.column[n] + dj * nx + di
                for q in range(obstacles.start[k], obstacles.start[k + 1]):
                    if obstacles.high[q] > low[n] and obstacles.low[q] < high[n]:
                        _offer(features, q, x, y, n, distance, nearest)
        for b in range(borders.start[n], borders.start[n + 1]):
            _offer(features, obstacles.low.size + borders.of_node[b], x, y, n, distance, nearest)
    return distance, nearest


@njit(cache=True, nogil=True)
def _offer(features, f, x, y, n, distance, nearest):  # type: ignore[no-untyped-def]
    gap = feature_distance(features, f, x, y)
    if gap < distance[n]:
        distance[n], nearest[n] = gap, f
        return True
    return False


@njit(cache=True, nogil=True)
def _propagate(links, diagonals, cells, features, distance, nearest):  # type: ignore[no-untyped-def]
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
                        if nearest[m] != nearest[n] and nearest[m] != _NONE:
                            changed |= _offer(features, nearest[m], x, y, n, distance, nearest)
                        if (diagonals[n] >> d) & 1:
                            m = links[m, (d + 1) % 4]
                            if nearest[m] != nearest[n] and nearest[m] != _NONE:
                                changed |= _offer(features, nearest[m], x, y, n, distance, nearest)


@njit(cache=True, nogil=True)
def _within_steps(links, seeds, steps):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def _list_features(nodes, cells, obstacles, borders, features, low, high, nx, radius, doubtful, bordered, distance, nearest):  # type: ignore[no-untyped-def]
    """Exact distance of doubtful nodes, and the features that decide about points of their cells."""
    count = nodes.z.size
    near_enough = radius + 2.0 * HALF_DIAGONAL
    fit = np.full(count, FITS, np.int32)
    start, rows = np.zeros(1024, np.int32), 0
    listed, filled = np.empty(16384, np.int32), 0
    visited, met = np.full(count, -1, np.int32), np.full(borders.column.size, -1, np.int32)
    queue = np.empty(int(np.ceil((2.0 * near_enough + 6.0) ** 2)) * 4, np.int32)
    for n in range(count):
        if doubtful[n]:
            x, y = cells[n, 0] + 0.5, cells[n, 1] + 0.5
            if filled + 4096 > listed.size:
                listed = np.concatenate((listed, np.empty(listed.size, np.int32)))
            end, listed = _list_obstacles(nodes.column[n], x, y, obstacles, features, low[n], high[n], nx, near_enough, listed, filled)
            if bordered[n]:
                end, listed = _list_borders(n, x, y, nodes.links, cells, borders, features, obstacles.low.size, near_enough, visited, met, queue, listed, end)
            if end > filled:
                distance[n] = np.inf
                for a in range(filled, end):
                    _offer(features, listed[a], x, y, n, distance, nearest)
            else:
                distance[n] = max(distance[n], near_enough)
            if distance[n] < radius + HALF_DIAGONAL and distance[n] >= radius - HALF_DIAGONAL:
                fit[n] = rows
                rows += 1
                if rows + 1 > start.size:
                    start = np.concatenate((start, np.zeros(start.size, np.int32)))
                start[rows] = end
                filled = end
        if distance[n] < radius - HALF_DIAGONAL:
            fit[n] = BLOCKED
    return fit, start[: rows + 1].copy(), listed[:filled].copy()


@njit(cache=True, nogil=True)
def _list_obstacles(column, x, y, obstacles, features, low, high, nx, near_enough, listed, end):  # type: ignore[no-untyped-def]
    reach = int(np.ceil(near_enough))
    total = obstacles.start.size - 1
    for dj in range(-reach, reach + 1):
        for di in range(-reach, reach + 1):
            k = column + dj * nx + di
            if k < 0 or k >= total:
                continue
            for q in range(obstacles.start[k], obstacles.start[k + 1]):
                if obstacles.high[q] > low and obstacles.low[q] < high and feature_distance(features, q, x, y) <= near_enough:
                    if end == listed.size:
                        listed = np.concatenate((listed, np.empty(listed.size, np.int32)))
                    listed[end] = q
                    end += 1
    return end, listed


@njit(cache=True, nogil=True)
def _list_borders(n, x, y, links, cells, borders, features, first, near_enough, visited, met, queue, listed, end):  # type: ignore[no-untyped-def]
    """Borders beside any node that joins n within reach."""
    reach = (near_enough + 2.0 * HALF_DIAGONAL) ** 2
    queue[0], visited[n] = n, n
    begin, stop = 0, 1
    while begin < stop:
        a = queue[begin]
        begin += 1
        for b in range(borders.start[a], borders.start[a + 1]):
            number = borders.of_node[b]
            if met[number] != n:
                met[number] = n
                if feature_distance(features, first + number, x, y) <= near_enough:
                    if end == listed.size:
                        listed = np.concatenate((listed, np.empty(listed.size, np.int32)))
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
