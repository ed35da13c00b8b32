"""The map of a world's floor as one body meets it: what is free to it, what is in its way, what nobody knows."""

from __future__ import annotations

from math import cos, inf

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.build.rosmap.occupancy_map import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMap
from portico.errors import UserError
from portico.geometry import Floats
from portico.space.body import BodySize
from portico.space.columns import OBSTACLE, TOP, Grid, cut
from portico.world import WALKABLE, Surface, World

#: A floor's ground may lie this far below its stated height.
_BELOW_M = 0.5
#: What a face means in a column: ground to stand on, the upper or the lower side of something solid, a roof, ceiling or
#: other floor that ends a storey, anything else.
_GROUND, _UPPER, _LOWER, _SHELL, _OTHER = 1, 2, 3, 4, 5
#: Faces lean out of no cell by rounding alone: upright ones are moved into their solid by so many cells, and what reaches
#: less than the second into a cell (in 1/255 of it) does not count there.
_INWARDS, _TOUCH = 0.02, 2
#: Level faces of solids are moved by this many cells, so that no cell's centre lies on the edge between two triangles.
_ASIDE = np.array([0.0031, 0.0017])
_LEVEL = 0.01
_CLIMB_SLACK_M = 1e-3
_MOST_CELLS = 2**28


def grid_of(world: World, resolution_m: float | None = None) -> MapGrid:
    """The grid for a map of a world: its own where it was made of a map and no other resolution is asked for, else ``grid_around``."""
    own = MapGrid.kept(world.manifest.recipe)
    if own is not None and resolution_m in (None, own.resolution_m):
        return own
    return grid_around(world, float(world.manifest.cell_m if resolution_m is None else resolution_m))


def grid_around(world: World, cell: float) -> MapGrid:
    """Cells of so many metres around all that a world holds, aligned to multiples of the cell.

    Raises:
        UserError: the cell is not positive, or would make more than 268 million of them.
    """
    low, high = world.geometry.bounds()[:, :2]
    size = (high - low) / cell if cell > 0.0 else np.full(2, inf)
    if not (size + 3.0).prod() <= _MOST_CELLS:
        raise UserError(
            f"a map with cells of {cell:g} m cannot be drawn",
            where=f"world {world.id!r}, {high[0] - low[0]:.0f} x {high[1] - low[1]:.0f} m",
            why=f"at most {_MOST_CELLS:,} cells",
            next_step="choose another --resolution, metres per cell",
        )
    first, last = np.floor(low / cell).astype(int) - 1, np.ceil(high / cell).astype(int) + 1
    width, height = (last - first).tolist()
    return MapGrid(cell, round(float(first[0] * cell), 9), round(float(first[1] * cell), 9), 0.0, width, height)


def occupancy_of(world: World, body: BodySize, *, level: int = 0, grid: MapGrid | None = None) -> OccupancyMap:
    """A map of one floor of a world.

    A cell is free where ground holds its centre and nothing fills the body's interval above, from its climb to its height; it
    is occupied where something does, or where it lies inside of something solid; elsewhere nobody knows.

    Args:
        level: of the floor, 0 at the street. Outdoor ground belongs to level 0, however high it lies.
        grid: the world's own by default, see ``grid_of``.

    Raises:
        UserError: there is no such floor.
    """
    grid = grid or grid_of(world)
    low, high, base = _interval(world, level)
    triangles, surfaces, boxes = _matter(world, grid)
    codes = _codes(triangles, surfaces, body.slope_rad)
    triangles = _settled(triangles, codes, grid)
    columns, corner = _columns(np.concatenate([triangles.reshape(-1, 3), boxes.reshape(-1, 3)])[:, :2], grid)
    kinds = np.where(codes == _OTHER, OBSTACLE, TOP).astype(np.uint8)
    pieces = cut(triangles, kinds, codes, columns, boxes)
    state = np.empty(columns.nx * columns.ny, np.int8)
    _classify(pieces, low, high, base, body.climb_m + _CLIMB_SLACK_M, body.height_m, state)
    upward = state.reshape(columns.ny, columns.nx)[corner[1] : corner[1] + grid.height, corner[0] : corner[0] + grid.width]
    return OccupancyMap(grid, np.ascontiguousarray(upward[::-1]))


def _interval(world: World, level: int) -> tuple[float, float, float]:
    """Heights between which the ground of a level lies, and the height that stands for it where there is no ground."""
    floors = [floor for building in world.semantics.buildings for floor in building.floors]
    chosen = [floor for floor in floors if floor.level == level]
    if not chosen and (level != 0 or floors):
        raise UserError(
            f"there is no floor {level}",
            where=f"world {world.id!r}",
            why=f"its floors are {', '.join(map(str, sorted({floor.level for floor in floors}))) or 'the ground alone: 0'}",
            next_step="choose one of them with --floor",
        )
    if not chosen:
        return -inf, inf, 0.0
    top = max(floor.z_m + floor.height_m for floor in chosen)
    bottom = min(floor.z_m for floor in chosen)
    open_below = level == 0 and world.manifest.kind != "indoor"
    return -inf if open_below else bottom - _BELOW_M, top - _BELOW_M, bottom


def _matter(world: World, grid: MapGrid) -> tuple[Floats, NDArray[np.uint8], Floats]:
    """What a body can touch: triangles (F, 3, 3) and their surfaces (F,), and boxes (B, 2, 3) along the map's own axes."""
    geometry = world.geometry
    touched = geometry.collides
    triangles, surfaces = geometry.triangles[touched].astype(np.float64), geometry.surface[touched]
    if grid.yaw_rad == 0.0:
        return triangles, surfaces, geometry.boxes.astype(np.float64) - [grid.x_m, grid.y_m, 0.0]
    sides = geometry.box_triangles().astype(np.float64)
    solid = np.full(len(sides), int(Surface.FURNITURE), np.uint8)
    return np.concatenate([triangles, sides]), np.concatenate([surfaces, solid]), np.zeros((0, 2, 3))


def _codes(triangles: Floats, surfaces: NDArray[np.uint8], slope_rad: float) -> NDArray[np.uint8]:
    """(F,) what each face means."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    up = normal[:, 2] / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)
    walkable = np.isin(surfaces, sorted(WALKABLE))
    solid = ~walkable & ~np.isin(surfaces, [Surface.ROOF, Surface.CEILING])
    codes = np.full(len(triangles), _OTHER, np.uint8)
    codes[solid & (up > _LEVEL)] = _UPPER
    codes[solid & (up < -_LEVEL)] = _LOWER
    codes[~solid & (np.abs(up) > _LEVEL)] = _SHELL
    codes[walkable & (up >= cos(slope_rad)) & (up > 0.0)] = _GROUND
    return codes


def _settled(triangles: Floats, codes: NDArray[np.uint8], grid: MapGrid) -> Floats:
    """Triangles along the map's own axes, moved by a hair so that each lies in the cells that it bounds."""
    local = triangles.copy()
    local[:, :, :2] = grid.to_map(triangles.reshape(-1, 3)).reshape(-1, 3, 2)
    normal = np.cross(local[:, 1] - local[:, 0], local[:, 2] - local[:, 0])[:, :2]
    inwards = -normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    upright = codes == _OTHER
    local[upright, :, :2] += _INWARDS * grid.resolution_m * inwards[upright, None]
    local[(codes == _UPPER) | (codes == _LOWER), :, :2] += _ASIDE * grid.resolution_m
    return local


def _columns(corners: Floats, grid: MapGrid) -> tuple[Grid, tuple[int, int]]:
    """Columns around the map and all corners (N, 2), and which of them is the map's lower left cell."""
    cell = grid.resolution_m
    low = np.minimum(np.floor(corners.min(axis=0) / cell).astype(int), 0) - 1
    high = np.maximum(np.ceil(corners.max(axis=0) / cell).astype(int), [grid.width, grid.height]) + 1
    nx, ny = (high - low).tolist()
    return Grid(float(low[0] * cell), float(low[1] * cell), cell, nx, ny), (int(-low[0]), int(-low[1]))


@njit(cache=True, nogil=True)
def _classify(pieces, low_m, high_m, base_m, climb_m, height_m, state):  # type: ignore[no-untyped-def]
    """What each column (K,) holds for the body, into state."""
    for k in range(state.size):
        first, last = pieces.start[k], pieces.start[k + 1]
        grounds, free = 0, False
        for p in range(first, last):
            if pieces.surface[p] == _GROUND and pieces.cover[p] > 0.0 and low_m <= pieces.level[p] < high_m:
                grounds += 1
                free = free or _is_clear(pieces, first, last, pieces.level[p], climb_m, height_m)
        if free:
            state[k] = FREE
        elif grounds > 0 or not _is_clear(pieces, first, last, base_m, climb_m, height_m):
            state[k] = OCCUPIED
        else:
            state[k] = UNKNOWN


@njit(cache=True, nogil=True)
def _is_clear(pieces, first, last, z_m, climb_m, height_m):  # type: ignore[no-untyped-def]
    """Whether nothing fills the body's interval above z in a column: no face reaches into it, and it does not lie inside of a solid.

    It does where there are more tops than undersides of solids between it and what ends the storey.
    """
    low, high, level, cover, meaning = pieces.low, pieces.high, pieces.level, pieces.cover, pieces.surface
    ceiling = np.inf
    for p in range(first, last):
        o = pieces.outline[p]
        inner = o[1] > _TOUCH and o[3] > _TOUCH and o[0] < 255 - _TOUCH and o[2] < 255 - _TOUCH
        if inner and high[p] > z_m + climb_m and low[p] < z_m + height_m:
            return False
        if cover[p] > 0.0 and level[p] >= z_m + height_m and (meaning[p] == _SHELL or meaning[p] == _GROUND):
            ceiling = min(ceiling, level[p])
    inside = 0
    for p in range(first, last):
        if cover[p] > 0.0 and z_m + height_m <= level[p] < ceiling:
            inside += 1 if meaning[p] == _UPPER else -1 if meaning[p] == _LOWER else 0
    return inside <= 0
