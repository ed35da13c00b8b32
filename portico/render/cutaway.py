"""Buildings cut open at a height above one of their floors, so that rooms and furniture are seen from above."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.world import Surface, World

# What is sawn through; furniture and the like is kept whole or taken away whole.
_STRUCTURE = (Surface.FLOOR, Surface.STAIRS, Surface.RAMP, Surface.WALL, Surface.CEILING, Surface.ROOF, Surface.DOOR, Surface.WINDOW)
_OVERHEAD = (Surface.CEILING, Surface.ROOF)
_CLIMBING = (Surface.STAIRS, Surface.RAMP)
# Facades and gutters belong to a building though they stand out from its footprint.
_OVERHANG_M = 0.6
_CANOPY_M = 4.0

#: Rows and columns of a picture.
Patch = tuple[slice, slice]


@dataclass(frozen=True)
class Section:
    """The triangles that one horizontal cut meets.

    Attributes:
        z_m: height of the cut. segments: (S, 4) float64, where a triangle crosses it, x and y of both ends.
        outward_x: (S,) float64, x of the triangle's outward normal. surface: (S,) uint8.
    """

    z_m: float
    segments: Floats
    outward_x: Floats
    surface: NDArray[np.uint8]


@dataclass(frozen=True)
class Cutaway:
    """Triangles (N, 3, 3) float32 that remain, the face of the world each came from, and the sections through walls."""

    triangles: NDArray[np.float32]
    face: NDArray[np.int64]
    sections: list[Section]


def cut_open(world: World, level: int, cut_m: float) -> Cutaway:
    """Enterable buildings that have the level lose their roofs, the floors above, and everything over ``cut_m``.

    Stairs are shown up to the next floor. Buildings without that level, and those whose inside is not modelled, keep
    their roofs. A world without buildings but with an inside (a scanned room) is cut above its floor.
    """
    triangles = world.geometry.triangles
    keep = np.ones(len(triangles), np.bool_)
    clipped: list[tuple[NDArray[np.int64], float]] = []
    for opening in _openings(world, triangles, level):
        members = opening.members
        surface = world.geometry.surface[members]
        z_cut = np.where(np.isin(surface, _CLIMBING), opening.next_floor_z, opening.floor_z + cut_m)
        structural = np.isin(surface, _STRUCTURE)
        low, high = triangles[members, :, 2].min(axis=1), triangles[members, :, 2].max(axis=1)
        base = _instance_base(world.geometry.instance[members], low)
        keep[members[np.where(structural, low, base) >= z_cut]] = False
        keep[members[np.isin(surface, _OVERHEAD)]] = False
        for z in np.unique(z_cut).tolist():
            clipped.append((members[structural & (z_cut == z) & (low < z) & (high > z) & keep[members]], z))
    pieces, sources, sections = [], [], []
    for members, z in clipped:
        keep[members] = False
        below, source = _clip_below(triangles[members], z)
        pieces.append(below)
        sources.append(members[source])
        sections.append(_section(world, triangles, members, z))
    face = np.concatenate([np.flatnonzero(keep), *sources])
    return Cutaway(np.concatenate([triangles[keep], *pieces]).astype(np.float32), face, sections)


@dataclass(frozen=True)
class _Opening:
    """One cut: the triangles it concerns, the floor that is laid open, and the floor above it."""

    members: NDArray[np.int64]
    floor_z: float
    next_floor_z: float


def _openings(world: World, triangles: NDArray[np.float32], level: int) -> list[_Opening]:
    geometry = world.geometry
    centers = triangles.astype(np.float64).mean(axis=1)
    found = []
    for building in world.semantics.buildings:
        floors = [floor for floor in building.floors if floor.level == level]
        if not building.enterable or not floors:
            continue
        outline = shapely.Polygon(building.footprint)
        inside = _within(outline, _OVERHANG_M, centers)
        # A canopy reaches further, but is one thing with the roof.
        overhead = np.isin(geometry.surface, _OVERHEAD)
        roofs = np.unique(geometry.instance[inside & overhead])
        inside |= overhead & np.isin(geometry.instance, roofs) & _within(outline, _CANOPY_M, centers)
        found.append(_Opening(np.flatnonzero(inside), floors[0].z_m, floors[0].z_m + floors[0].height_m))
    if not world.semantics.buildings and geometry.indoor.any():
        ground = geometry.indoor & (geometry.surface == Surface.FLOOR)
        heights = centers[ground, 2] if ground.any() else triangles[geometry.indoor][:, :, 2].min(axis=1)
        floor_z = float(np.median(heights))
        found.append(_Opening(np.flatnonzero(geometry.indoor), floor_z, np.inf))
    return found


def _within(outline: shapely.Polygon, margin_m: float, points: Floats) -> NDArray[np.bool_]:
    grown = outline.buffer(margin_m, join_style="mitre")
    shapely.prepare(grown)
    return np.asarray(shapely.contains_xy(grown, points[:, 0], points[:, 1]))


def _instance_base(instance: NDArray[np.int32], low: NDArray[np.float32]) -> NDArray[np.float32]:
    """The lowest point of the thing that each triangle belongs to."""
    base = np.full(int(instance.max(initial=0)) + 1, np.inf, np.float32)
    np.minimum.at(base, instance, low)
    return base[instance]


def _clip_below(triangles: NDArray[np.float32], z_cut: float) -> tuple[Floats, NDArray[np.int64]]:
    """What is left of triangles (N, 3, 3) that cross a height, and which triangle each piece came from."""
    corners, lone = _lone_corner_first(triangles, z_cut)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac = _crossing(a, b, z_cut), _crossing(a, c, z_cut)
    tips = np.flatnonzero(~lone)
    bodies = np.flatnonzero(lone)
    pieces = [
        np.stack([a, ab, ac], axis=1)[tips],
        np.stack([ab, b, c], axis=1)[bodies],
        np.stack([ab, c, ac], axis=1)[bodies],
    ]
    return np.concatenate(pieces), np.concatenate([tips, bodies, bodies])


def _lone_corner_first(triangles: NDArray[np.float32], z_cut: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Corners turned so that the one alone on its side of the cut leads, and whether that one is above."""
    corners = triangles.astype(np.float64)
    above = corners[:, :, 2] > z_cut
    lone_above = above.sum(axis=1) == 1
    first = np.argmax(np.where(lone_above[:, None], above, ~above), axis=1)
    order = (first[:, None] + np.arange(3)) % 3
    return np.take_along_axis(corners, order[:, :, None], axis=1), lone_above


def _crossing(a: Floats, b: Floats, z_cut: float) -> Floats:
    t = (z_cut - a[:, 2]) / (b[:, 2] - a[:, 2])
    return a + t[:, None] * (b - a)


def _section(world: World, triangles: NDArray[np.float32], members: NDArray[np.int64], z_cut: float) -> Section:
    corners, _ = _lone_corner_first(triangles[members], z_cut)
    ends = [_crossing(corners[:, 0], corners[:, k], z_cut)[:, :2] for k in (1, 2)]
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    outward_x = e1[:, 1] * e2[:, 2] - e1[:, 2] * e2[:, 1]
    return Section(z_cut, np.concatenate(ends, axis=1), outward_x, world.geometry.surface[members])


def solid_pixels(section: Section, surfaces: tuple[Surface, ...], to_pixels: Floats, shape: tuple[int, int]) -> tuple[Patch, NDArray[np.bool_]]:
    """Pixels whose centres lie inside what the cut went through, by winding number along each row.

    ``to_pixels`` is (x_min, y_max, px_per_m). Rows that a gap in the mesh leaves without an end stay empty.

    Returns:
        The rows and columns of a picture of that shape that hold all of them, and which pixels there: (h, w) bool.
    """
    chosen = np.isin(section.surface, surfaces)
    ends = (section.segments[chosen].reshape(-1, 2, 2) - to_pixels[:2]) * [to_pixels[2], -to_pixels[2]]
    if not len(ends):
        return (slice(0, 0), slice(0, 0)), np.zeros((0, 0), np.bool_)
    low, high = np.floor(ends.min(axis=(0, 1))).astype(int), np.ceil(ends.max(axis=(0, 1))).astype(int) + 1
    (left, top), (right, bottom) = np.clip(low, 0, shape[::-1]), np.clip(high, 0, shape[::-1])
    steps = np.zeros((bottom - top, right - left + 1), np.int32)
    _count_crossings(ends - [left, top], -np.sign(section.outward_x[chosen]).astype(np.int32), steps)
    closed = steps.sum(axis=1) == 0
    inside = (np.cumsum(steps, axis=1, dtype=np.int32)[:, :-1] > 0) & closed[:, None]
    return (slice(int(top), int(bottom)), slice(int(left), int(right))), np.asarray(inside)


@njit(cache=True, error_model="numpy")
def _count_crossings(ends: Floats, sign: NDArray[np.int32], steps: NDArray[np.int32]) -> None:
    """Add each segment's sign where it crosses the middle of a row; columns beyond the picture count at its edges."""
    height, width = steps.shape[0], steps.shape[1] - 1
    for s in range(len(ends)):
        top, bottom = (0, 1) if ends[s, 0, 1] <= ends[s, 1, 1] else (1, 0)
        y0, y1 = ends[s, top, 1], ends[s, bottom, 1]
        first = int(np.ceil(min(max(y0, 0.0), height + 0.0) - 0.5))
        last = int(np.ceil(min(max(y1, 0.0), height + 0.0) - 0.5))
        for row in range(first, last):
            x = ends[s, top, 0] + (row + 0.5 - y0) / (y1 - y0) * (ends[s, bottom, 0] - ends[s, top, 0])
            steps[row, int(np.ceil(min(max(x, 0.0), width + 0.0) - 0.5)) if x > 0.0 else 0] += sign[s]
