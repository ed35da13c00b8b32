"""From a world's triangles to a Space."""

from __future__ import annotations

from math import cos, radians, sqrt, tan

import numpy as np
from numpy.typing import NDArray

from portico.errors import UserError
from portico.grids.paths import Lattice, components
from portico.space.body import BodySize
from portico.space.borders import find_borders
from portico.space.clearance import Clearance, cells_of, measure_clearance
from portico.space.columns import GROUND, OBSTACLE, TOP, Grid, Pieces, cut, grid_around
from portico.space.nowhere import nowhere
from portico.space.obstacles import gather_obstacles, yield_risers
from portico.space.queries import Ground
from portico.space.space import Space
from portico.space.surfaces import BodyShape, Nodes, find_levels, join_levels
from portico.world import WALKABLE, World

#: Contact margin, metres: what rounding and the smallest steps of a sweep may cost.
_MARGIN_M = 1e-5
_SLOPE_SLACK_RAD = radians(0.1)
_MAX_COLUMNS = 2**30


def build_space(world: World, embodiment: BodySize, *, cell_m: float | None = None) -> Space:
    """Layered walkable surfaces of a world for one body; none in a world that is flown over.

    Args:
        cell_m: side of a cell; the world's own (``manifest.cell_m``) by default.

    Raises:
        UserError: the cell is unfit, the world has no ground to stand on, or the body fits nowhere.
    """
    cell = float(world.manifest.cell_m if cell_m is None else cell_m)
    if world.appearance.raster is not None:
        return nowhere(world, embodiment, cell)
    if not 0.0 < cell <= embodiment.radius_m:
        raise UserError(
            f"cells of {cell:g} m are unfit for {embodiment.name}",
            where=f"world {world.id!r}",
            why=f"a cell must be above 0 and at most the body's radius of {embodiment.radius_m:g} m",
            next_step="give a cell_m of 0.05 (indoors) or 0.1 (outdoors)",
        )
    body = _shape(embodiment, cell)
    grid, pieces = _pieces(world, embodiment, cell)
    if not (pieces.kind == TOP).any():
        raise _no_space(world, embodiment, "the world has no walkable ground", grid, pieces)
    yield_risers(pieces, grid, body.climb)
    levels = find_levels(pieces, grid, body)
    obstacles = gather_obstacles(pieces)
    nodes = join_levels(levels, grid, body)
    if len(nodes.z) == 0:
        raise _no_space(world, embodiment, f"{embodiment.name} can stand nowhere", grid, pieces, len(levels.z), 0)
    clearance = measure_clearance(nodes, obstacles, find_borders(levels, nodes, grid, body), grid, body)
    roomy = clearance.distance >= sqrt(embodiment.radius_m**2 + 0.5 * cell**2) + _MARGIN_M
    if not roomy.any():
        raise _no_space(world, embodiment, f"{embodiment.name} fits nowhere", grid, pieces, len(levels.z), len(nodes.z))
    return _assemble(world, embodiment, grid, body, nodes, clearance, roomy)


def _shape(embodiment: BodySize, cell: float) -> BodyShape:
    step = max(embodiment.climb_m, tan(embodiment.slope_rad + _SLOPE_SLACK_RAD) * cell) + 1e-3
    return BodyShape(embodiment.radius_m + _MARGIN_M, embodiment.height_m, embodiment.climb_m, step)


def _pieces(world: World, embodiment: BodySize, cell: float) -> tuple[Grid, Pieces]:
    geometry = world.geometry
    touched = geometry.collides
    triangles, boxes = geometry.triangles[touched].astype(np.float64), geometry.boxes.astype(np.float64)
    if len(triangles) == 0:
        raise UserError("the world has nothing a body could touch", where=f"world {world.id!r}", why="no triangle collides", next_step="rebuild the world")
    surfaces = geometry.surface[touched]
    corners = np.concatenate([triangles.reshape(-1, 3), boxes.reshape(-1, 3)])
    grid = grid_around(np.stack([corners.min(axis=0), corners.max(axis=0)]), cell)
    if grid.nx * grid.ny > _MAX_COLUMNS:
        raise UserError(
            f"{grid.nx * grid.ny:,} cells are too many", where=f"world {world.id!r}", why=f"cells of {cell:g} m", next_step="choose a larger cell_m"
        )
    return grid, cut(triangles, _kinds(triangles, surfaces, embodiment.slope_rad), surfaces, grid, boxes)


def _kinds(triangles: NDArray[np.float64], surfaces: NDArray[np.uint8], slope_rad: float) -> NDArray[np.uint8]:
    """Piece kind of every triangle (F, 3, 3): walkable classes are ground, those that face up within the slope carry."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    upright = normal[:, 2] >= np.linalg.norm(normal, axis=1) * cos(slope_rad + _SLOPE_SLACK_RAD)
    walkable = np.isin(surfaces, sorted(WALKABLE))
    kinds = np.full(len(triangles), OBSTACLE, np.uint8)
    kinds[walkable] = GROUND
    kinds[walkable & upright & (normal[:, 2] > 0.0)] = TOP
    return kinds


def _assemble(world: World, embodiment: BodySize, grid: Grid, body: BodyShape, nodes: Nodes, clearance: Clearance, roomy: NDArray[np.bool_]) -> Space:
    cells = cells_of(nodes.column, grid)
    lattice = Lattice(nodes.links, nodes.diagonals, cells)
    centres = (cells + 0.5) * grid.cell + [grid.x0, grid.y0]
    ground = Ground(
        *grid,
        radius=body.radius / grid.cell,
        above=body.climb + 1e-3,
        start=nodes.start,
        z=nodes.z,
        fit=clearance.contacts.fit,
        row_start=clearance.contacts.start,
        contacts=clearance.contacts.octagons,
        links=nodes.links,
        nearest=clearance.nearest,
        octagons=clearance.octagons,
    )
    return Space(
        world.id,
        grid.cell,
        embodiment,
        np.column_stack([centres, nodes.z.astype(np.float64)]),
        nodes.surface,
        clearance.distance,
        components(lattice, roomy),
        roomy,
        lattice,
        ground,
    )


def _no_space(world: World, embodiment: BodySize, what: str, grid: Grid, pieces: Pieces, levels: int | None = None, supported: int | None = None) -> UserError:
    """The error that says how much ground survived each filter."""
    area = grid.cell**2
    why = f"{area * (np.diff(pieces.start) > 0).sum():.1f} m² are covered by anything"
    if levels is not None and supported is not None:
        why = f"of {area * levels:.1f} m² of walkable ground {area * supported:.1f} m² have {embodiment.height_m:g} m of headroom"
        why += f", and none lies {embodiment.radius_m:g} m from every obstacle and drop" if supported else ""
    else:
        why += f", none of it walkable and flatter than {np.rad2deg(embodiment.slope_rad):.0f}°"
    where = f"world {world.id!r}, {embodiment.name}: radius {embodiment.radius_m:g} m, height {embodiment.height_m:g} m, climb {embodiment.climb_m:g} m"
    return UserError(what, where=where, why=why, next_step="check the surface classes and the scale of the world, or choose a smaller embodiment")
