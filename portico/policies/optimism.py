"""How far a point is if all that is unknown were free: what tells a promising frontier from one behind the same wall."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, isfinite

import numpy as np
from numpy.typing import NDArray

from portico.grids.paths import map_distance_field
from portico.policies.explore import Place
from portico.policies.local_map import Costs
from portico.policies.pilot import Pilot

#: Cells are taken together in blocks of this many by as many: a wall seen from one side alone still fills some of them.
_BLOCK = 2
#: Blocks of unknown ground around the map.
_MARGIN = 8
#: What no known way leads to is taken to be this much farther, and a detour away.
_NO_WAY_M, _DETOUR = 20.0, 1.5
_CLIMB_M_PER_M = 2.0


def optimistic_distance_m(pilot: Pilot, weight: Costs, goal: Place) -> Callable[[Place], float]:
    """Metres from a place (x, y, z) to a goal over ground that is known to be passable or not known at all.

    Storeys are not told apart, but going up or down costs twice the height. A goal off the map is taken to lie at the
    nearest edge, the rest of the way to be straight.

    Args:
        weight: cost of standing on every surface of the map, inf where the body does not fit.
    """
    grid, edge_m = pilot.map.grid, _BLOCK * pilot.map.cell_m
    passable = _blocks(np.isfinite(weight))
    # A strip that the body just fits through keeps its block open.
    free = np.pad(passable | ~_blocks(~np.isnan(grid.height) & ~np.isfinite(weight)), _MARGIN, constant_values=True)
    rows, columns = free.shape

    def block(x: float, y: float) -> tuple[int, int]:
        i, j = int((y - grid.y0) // edge_m) + _MARGIN, int((x - grid.x0) // edge_m) + _MARGIN
        return min(max(i, 1), rows - 2), min(max(j, 1), columns - 2)

    i, j = block(goal[0], goal[1])
    free[i, j] = True
    x, y = grid.x0 + (j - _MARGIN + 0.5) * edge_m, grid.y0 + (i - _MARGIN + 0.5) * edge_m
    rest_m = max(0.0, hypot(goal[0] - x, goal[1] - y) - edge_m)
    field = map_distance_field(free, np.array([[i, j]], np.int32), edge_m)

    def distance_m(place: Place) -> float:
        i, j = block(place[0], place[1])
        # A frontier may share its block with what blocks it.
        way = float(field[i - 1 : i + 2, j - 1 : j + 2].min())
        way = way + rest_m if isfinite(way) else _DETOUR * hypot(goal[0] - place[0], goal[1] - place[1]) + _NO_WAY_M
        return way + _CLIMB_M_PER_M * abs(goal[2] - place[2])

    return distance_m


def _blocks(surfaces: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(rows, columns) whether a block of the map holds any of some surfaces (sheets, rows, columns)."""
    rows, columns = (n // _BLOCK for n in surfaces.shape[1:])
    cells = surfaces[:, : rows * _BLOCK, : columns * _BLOCK].reshape(-1, rows, _BLOCK, columns, _BLOCK)
    blocks: NDArray[np.bool_] = np.any(cells, axis=(0, 2, 4))
    return blocks
