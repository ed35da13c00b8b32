"""``import_rosmap``: a two-dimensional map becomes a world, walls of one height on a level floor."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy import ndimage

from portico.build.rosmap.occupancy_map import FREE, OCCUPIED, MapGrid, OccupancyMap
from portico.build.rosmap.read import read_rosmap
from portico.build.rosmap.rectangles import SIDES, edges, rectangles
from portico.build.scene import Scene
from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.world import Building, Floor, Light, Provenance, Surface, World

BUILDING = "map"
Unknown = Literal["void", "wall", "floor"]
UNKNOWN_CHOICES: tuple[Unknown, ...] = ("void", "wall", "floor")
#: Things that stand apart, and stretches of so many metres of one thing, get different colours: pictures of different places differ.
_PATCH_M = 3.0
_WALL_COLORS = (
    (0.62, 0.60, 0.56),
    (0.45, 0.55, 0.60),
    (0.60, 0.42, 0.36),
    (0.42, 0.54, 0.42),
    (0.66, 0.58, 0.36),
    (0.50, 0.44, 0.58),
    (0.36, 0.50, 0.52),
    (0.56, 0.48, 0.42),
)
_FLOOR_COLOR = (0.74, 0.72, 0.68)
_OUTLINE_M = 0.5
_USUAL_NAMES = ("map", "nav_map")
#: A body stands on several cells of a map; where the map's are coarser the world's are a fraction of them.
_COARSEST_CELL_M = 0.1
_DIAGONAL = np.array([[0, 1, 2], [0, 2, 3]])


@dataclass(frozen=True)
class ImportedMap:
    """A world, the map it was made of, and what was done, line by line."""

    world: World
    occupancy: OccupancyMap
    lines: tuple[str, ...]


def import_rosmap(path: Path | str, *, wall_height_m: float = 2.5, unknown: str = "void", world_id: str | None = None) -> ImportedMap:
    """Read a map_server map and raise its walls.

    The world's frame is the map's: x and y as the YAML file's origin says, the floor at z = 0.

    Args:
        wall_height_m: of every occupied cell.
        unknown: what cells that nobody saw become: ``void`` (neither floor nor wall: nothing stands there), ``wall`` or ``floor``.

    Raises:
        ImportFailed: unreadable or impossible files, or a map without a free cell.
    """
    path = Path(path)
    if unknown not in UNKNOWN_CHOICES:
        raise ImportFailed(f"unknown cells cannot become {unknown!r}", where="--unknown", next_step=f"choose one of {', '.join(UNKNOWN_CHOICES)}")
    if not (np.isfinite(wall_height_m) and wall_height_m > 0.0):
        raise ImportFailed(f"walls of {wall_height_m!r} m cannot be built", where="--wall-height", next_step="give a height above 0, in metres")
    read = read_rosmap(path)
    lines = [*read.remarks, f"cells: {read.occupancy.account()}"]
    if unknown != "void":
        value = OCCUPIED if unknown == "wall" else FREE
        lines.append(f"{int(read.occupancy.unknown.sum()):,} unknown cells became {unknown}, as asked")
        occupancy = OccupancyMap(read.occupancy.grid, np.where(read.occupancy.unknown, np.int8(value), read.occupancy.cells))
    else:
        occupancy = read.occupancy
    if not occupancy.free.any():
        raise ImportFailed(
            "the map has no free cell",
            where=str(path),
            why=f"with free_thresh {read.file.free_thresh:g} and negate {int(read.file.negate)}: {occupancy.account()}",
            next_step="check negate and the thresholds; nothing could stand anywhere",
        )
    recipe = {"importer": "rosmap", "file": path.name, "mode": read.file.mode, "wall_height_m": wall_height_m, "unknown": unknown}
    world = map_world(world_id or _name(path), occupancy, wall_height_m=wall_height_m, source=f"ROS map {path.name}", recipe=recipe, notes=tuple(lines))
    lines.append(f"{len(world.geometry.faces):,} triangles stand for {occupancy.cells.size:,} cells of {occupancy.grid.resolution_m:g} m")
    return ImportedMap(world, occupancy, tuple(lines))


def _name(path: Path) -> str:
    """The file's name, or its folder's where the file is called what they all are."""
    return path.resolve().parent.name if path.stem in _USUAL_NAMES else path.stem


def map_world(
    name: str,
    occupancy: OccupancyMap,
    *,
    wall_height_m: float,
    source: str,
    licence: str = "unknown",
    recipe: dict[str, Any],
    notes: tuple[str, ...] = (),
) -> World:
    """The world of a map: floor where it is free, walls where it is occupied, one building of one floor around both.

    The recipe keeps the grid, so that the map can be taken from the world again cell for cell.
    """
    grid = occupancy.grid
    scene = Scene(light=Light())
    scene.notes += notes
    floor = scene.material("floor", _FLOOR_COLOR)
    _add_flat(scene, grid, rectangles(occupancy.free.astype(np.uint8)), 0.0, Surface.FLOOR, [floor], scene.instance("floor"))
    if occupancy.occupied.any():
        _add_walls(scene, grid, _things(occupancy), wall_height_m)
    scene.buildings.append(_building(occupancy, wall_height_m))
    cell_m = grid.resolution_m / ceil(grid.resolution_m / _COARSEST_CELL_M - 1e-9)
    return scene.world(name, "indoor", Provenance(source=source, licence=licence), recipe=recipe | {"map": grid.recipe()}, cell_m=cell_m)


def _things(occupancy: OccupancyMap) -> NDArray[np.uint8]:
    """(H, W) 0 where nothing stands, else 1 to the number of colours, alike for cells that touch and lie in one patch."""
    parts, _ = ndimage.label(occupancy.occupied, np.ones((3, 3)))
    row, column = (np.arange(n) * occupancy.grid.resolution_m // _PATCH_M for n in occupancy.cells.shape)
    color = parts - 1 + 3 * row[:, None] + 5 * column
    return np.where(parts > 0, 1 + color % len(_WALL_COLORS), 0).astype(np.uint8)


def _add_walls(scene: Scene, grid: MapGrid, things: NDArray[np.uint8], height_m: float) -> None:
    instance = scene.instance("wall")
    materials = [scene.material(f"wall {k}", color) for k, color in enumerate(_WALL_COLORS)]
    _add_flat(scene, grid, rectangles(things), height_m, Surface.WALL, materials, instance)
    for side in range(len(SIDES)):
        runs = edges(things, side)
        kinds = things[runs[:, 0], runs[:, 1]]
        a, b = _side_ends(grid, runs, side)
        low, high = np.zeros((len(a), 1)), np.full((len(a), 1), height_m)
        corners = np.stack([np.hstack([a, low]), np.hstack([b, low]), np.hstack([b, high]), np.hstack([a, high])], axis=1)
        for kind in np.unique(kinds):
            _add_quads(scene, corners[kinds == kind], Surface.WALL, materials[kind - 1], instance)


def _side_ends(grid: MapGrid, runs: NDArray[np.int64], side: int) -> tuple[Floats, Floats]:
    """World positions (E, 2) of both ends of each run's outline, the occupied cells to its left."""
    row0, column0, row1, column1 = runs.T
    west, east, north, south = column0, column1 + 1, grid.height - row0, grid.height - row1 - 1
    corner = {0: ((east, south), (east, north)), 1: ((east, north), (west, north)), 2: ((west, north), (west, south)), 3: ((west, south), (east, south))}
    a, b = (np.stack(pair, axis=1) * grid.resolution_m for pair in corner[side])
    return grid.to_world(a), grid.to_world(b)


def _add_flat(scene: Scene, grid: MapGrid, boxes: NDArray[np.int64], z_m: float, surface: Surface, materials: list[int], instance: int) -> None:
    """Rectangles of cells as level quads that face up; class k has the material before k."""
    row0, column0, row1, column1, kinds = boxes.T
    south, north = grid.height - row1, grid.height - row0
    plan = [(column0, south), (column1, south), (column1, north), (column0, north)]
    corners = np.stack([grid.to_world(np.stack(p, axis=1) * grid.resolution_m) for p in plan], axis=1)
    corners = np.concatenate([corners, np.full((*corners.shape[:2], 1), z_m)], axis=2)
    for kind in np.unique(kinds):
        _add_quads(scene, corners[kinds == kind], surface, materials[kind - 1], instance)


def _add_quads(scene: Scene, corners: Floats, surface: Surface, material: int, instance: int) -> None:
    faces = (4 * np.arange(len(corners))[:, None, None] + _DIAGONAL).reshape(-1, 3)
    scene.add_mesh(corners.reshape(-1, 3), faces, surface=surface, material=material, instance=instance, indoor=True)


def _building(occupancy: OccupancyMap, height_m: float) -> Building:
    centres = occupancy.grid.centres(np.argwhere(~occupancy.unknown))
    outline = shapely.convex_hull(shapely.multipoints(centres)).buffer(_OUTLINE_M, join_style="mitre")
    footprint = [(float(x), float(y)) for x, y in list(outline.exterior.coords)[:-1]]
    floor = Floor(id=f"{BUILDING}:0", level=0, z_m=0.0, height_m=max(height_m, 2.0))
    return Building(id=BUILDING, name=BUILDING, footprint=footprint, floors=[floor], enterable=True)
