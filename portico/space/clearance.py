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

from portico.grids.distance import NONE, feature_gap, offer, propagate, within_steps
from portico.space.borders import Borders
from portico.space.columns import Grid
from portico.space.obstacles import Obstacles
from portico.space.surfaces import RUG_M, BodyShape, Nodes

#: Half a cell's diagonal, in cells, rounded up.
HALF_DIAGONAL = 0.70711
#: ``Clearance.fit`` of nodes in whose cell the body fits everywhere, or nowhere; others index ``Clearance.start``.
FITS, BLOCKED = -1, -2
_SLACK = 1e-4


class Slabs(NamedTuple):
    """Height interval (N,) float32 metres that must be clear around each node, for the body there and on joined nodes."""

    low: NDArray[np.float32]
    high: NDArray[np.float32]


class Clearance(NamedTuple):
    """distance: (N,) float64, metres, inf in a world without anything to touch. nearest: (N,) int32 feature or -1.

    fit: (N,) int32, FITS, BLOCKED or a row of the lists; row a holds features ``listed[start[a] : start[a + 1]]``.
    octagons: (F, 8) float32, the features, see ``squared_gap``.
    """

    distance: NDArray[np.float64]
    nearest: NDArray[np.int32]
    fit: NDArray[np.int32]
    start: NDArray[np.int32]
    listed: NDArray[np.int32]
    octagons: NDArray[np.float32]


def measure_clearance(nodes: Nodes, obstacles: Obstacles, borders: Borders, grid: Grid, body: BodyShape) -> Clearance:
    """Clearance of every node for one body."""
    cells = cells_of(nodes.column, grid)
    octagons = _octagons(obstacles, borders, grid)
    radius = body.radius / grid.cell
    slabs, rough = _slabs(nodes, body)
    distance, nearest = _seed(nodes, cells, obstacles, borders, octagons, slabs, grid.nx)
    propagate(nodes.links, nodes.diagonals, cells, octagons, distance, nearest)
    steps = ceil(sqrt(2.0) * (radius + 3.0 * HALF_DIAGONAL)) + 1
    doubtful = within_steps(nodes.links, rough, steps) | (distance < radius + HALF_DIAGONAL + 0.25)
    doubtful &= distance >= radius - HALF_DIAGONAL
    bordered = within_steps(nodes.links, np.diff(borders.start) > 0, steps)
    fit, start, listed = _list_features(nodes, cells, obstacles, borders, octagons, slabs, grid.nx, radius, doubtful, bordered, distance, nearest)
    return _keep_used(distance * grid.cell, nearest, fit, start, listed, octagons)


def cells_of(columns: NDArray[np.int32], grid: Grid) -> NDArray[np.int32]:
    """(N, 2) int32 cell (i, j) of column numbers (N,)."""
    return np.stack([columns % grid.nx, columns // grid.nx], axis=1).astype(np.int32)


def _octagons(obstacles: Obstacles, borders: Borders, grid: Grid) -> NDArray[np.float32]:
    """Features of obstacles, then of borders, placed on the grid and rounded outwards."""
    column = np.concatenate([np.repeat(np.arange(grid.nx * grid.ny, dtype=np.int32), np.diff(obstacles.start)), borders.column])
    x, y = (column % grid.nx).astype(np.float64), (column // grid.nx).astype(np.float64)
    outline = np.concatenate([obstacles.outline, borders.outline])
    octagons = np.empty(outline.shape, np.float32)
    for o, corner in enumerate((x, y, 0.5 * (x + y), 0.5 * (x - y) - 0.5)):
        octagons[:, 2 * o] = np.nextafter((corner + outline[:, 2 * o] / 255.0).astype(np.float32), np.float32(-np.inf))
        octagons[:, 2 * o + 1] = np.nextafter((corner + outline[:, 2 * o + 1] / 255.0).astype(np.float32), np.float32(np.inf))
    return octagons


def _keep_used(
    distance: NDArray[np.float64],
    nearest: NDArray[np.int32],
    fit: NDArray[np.int32],
    start: NDArray[np.int32],
    listed: NDArray[np.int32],
    octagons: NDArray[np.float32],
) -> Clearance:
    """Drop features that nobody refers to."""
    used = np.zeros(len(octagons) + 1, bool)
    used[listed], used[nearest] = True, True
    used[NONE] = False
    number = np.cumsum(used, dtype=np.int32) - 1
    number[NONE] = NONE
    return Clearance(distance, number[nearest], fit, start, number[listed], octagons[used[:-1]])


@njit(cache=True, nogil=True)
def _slabs(nodes, body):  # type: ignore[no-untyped-def]
    """Slabs of all nodes, and which of them stand beside a difference in height."""
    z, links, diagonals = nodes.z, nodes.links, nodes.diagonals
    count = z.size
    low, high, rough = np.empty(count, np.float32), np.empty(count, np.float32), np.zeros(count, np.bool_)
    for n in range(count):
        lowest = highest = z[n]
        for d in range(4):
            m = links[n, d]
            if m >= 0:
                lowest, highest = min(lowest, z[m]), max(highest, z[m])
                if (diagonals[n] >> d) & 1:
                    m = links[m, (d + 1) % 4]
                    lowest, highest = min(lowest, z[m]), max(highest, z[m])
        low[n], high[n], rough[n] = lowest + RUG_M, highest + body.height + 1e-4, highest - lowest > 1e-4
    return Slabs(low, high), rough


@njit(cache=True, nogil=True)
def _seed(nodes, cells, obstacles, borders, octagons, slabs, nx):  # type: ignore[no-untyped-def]
    """Nearest feature among those beside each node."""
    start, bottom, top, low, high = obstacles.start, obstacles.low, obstacles.high, slabs.low, slabs.high
    column, border_start, of_node = nodes.column, borders.start, borders.of_node
    count = column.size
    distance, nearest = np.full(count, np.inf), np.full(count, NONE, np.int32)
    for n in range(count):
        x, y = cells[n, 0] + 0.5, cells[n, 1] + 0.5
        for dj in range(-1, 2):
            k = column[n] + dj * nx
            for q in range(start[k - 1], start[k + 2]):
                if top[q] > low[n] and bottom[q] < high[n]:
                    offer(octagons, q, x, y, n, distance, nearest)
        for b in range(border_start[n], border_start[n + 1]):
            offer(octagons, top.size + of_node[b], x, y, n, distance, nearest)
    return distance, nearest


@njit(cache=True, nogil=True)
def _list_features(nodes, cells, obstacles, borders, octagons, slabs, nx, radius, doubtful, bordered, distance, nearest):  # type: ignore[no-untyped-def]
    """Exact distance of doubtful nodes, and the features that decide about points of their cells: those that come within the
    radius of any of them."""
    links, column = nodes.links, nodes.column
    count = column.size
    near_enough = radius + HALF_DIAGONAL + _SLACK
    fit = np.full(count, FITS, np.int32)
    start, rows = np.zeros(1024, np.int32), 0
    listed, filled = np.empty(16384, np.int32), 0
    visited, met = np.full(count, -1, np.int32), np.full(borders.column.size, -1, np.int32)
    queue = np.empty(int(np.ceil((2.0 * near_enough + 6.0) ** 2)) * 4, np.int32)
    for n in range(count):
        if doubtful[n]:
            x, y = cells[n, 0] + 0.5, cells[n, 1] + 0.5
            end, listed = _list_obstacles(n, column[n], x, y, obstacles, octagons, slabs, nx, near_enough, listed, filled)
            if bordered[n]:
                end, listed = _list_borders(n, x, y, links, cells, borders, octagons, near_enough, visited, met, queue, listed, end)
            distance[n] = np.inf if end > filled else max(distance[n], near_enough)
            for a in range(filled, end):
                offer(octagons, listed[a], x, y, n, distance, nearest)
            if distance[n] < radius + HALF_DIAGONAL and distance[n] >= radius - HALF_DIAGONAL:
                fit[n] = rows
                rows += 1
                start = _room(start, rows + 1)
                start[rows] = filled = end
        if distance[n] < radius - HALF_DIAGONAL:
            fit[n] = BLOCKED
    return fit, start[: rows + 1].copy(), listed[:filled].copy()


@njit(cache=True, nogil=True, forceinline=True)
def _room(array, size):  # type: ignore[no-untyped-def]
    """The array, or one twice as long when it holds fewer than ``size``."""
    return array if size <= array.size else np.concatenate((array, np.zeros_like(array)))


@njit(cache=True, nogil=True, forceinline=True)
def _list_obstacles(n, column, x, y, obstacles, octagons, slabs, nx, near_enough, listed, end):  # type: ignore[no-untyped-def]
    """Obstacles within reach, row by row of columns."""
    start, bottom, top, low, high = obstacles.start, obstacles.low, obstacles.high, slabs.low[n], slabs.high[n]
    reach, last = int(np.ceil(near_enough)), start.size - 1
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
