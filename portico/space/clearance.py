"""How far every node is from what its body may not touch, and which features decide it.

Features are obstacle pieces (met by height interval, wherever they are) and borders (met along links). Lengths inside this
file are in cells.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.grids.distance import NONE, offer, propagate, within_steps
from portico.space.borders import Borders
from portico.space.columns import Grid
from portico.space.contacts import HALF_DIAGONAL, Contacts, list_contacts
from portico.space.obstacles import Obstacles
from portico.space.surfaces import RUG_M, BodyShape, Nodes


class Slabs(NamedTuple):
    """Height interval (N,) float32 metres that must be clear around each node, for the body there and on joined nodes."""

    low: NDArray[np.float32]
    high: NDArray[np.float32]


class Clearance(NamedTuple):
    """distance: (N,) float64, metres, inf in a world without anything to touch. nearest: (N,) int32 feature or -1.

    octagons: (F, 8) float32, those features, see ``grids.distance``. contacts: see ``contacts``.
    """

    distance: NDArray[np.float64]
    nearest: NDArray[np.int32]
    octagons: NDArray[np.float32]
    contacts: Contacts


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
    contacts = list_contacts(nodes, cells, obstacles, borders, octagons, slabs, grid.nx, radius, doubtful, bordered, distance, nearest)
    used = np.zeros(len(octagons), bool)
    used[nearest[nearest != NONE]] = True
    number = np.append(np.cumsum(used, dtype=np.int32) - 1, np.int32(NONE))
    return Clearance(distance * grid.cell, number[nearest], octagons[used], contacts)


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
