"""An aligned collision mesh of a capture: where it is given, bodies meet its triangles, and the Gaussians are only looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numba import njit
from numpy.typing import NDArray

from portico.build.captures.ground import Runs, find_ground, level
from portico.build.captures.solid import Solid
from portico.build.captures.spread import sample
from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.space.columns import OBSTACLE, TOP, cut, grid_around
from portico.world import Geometry, Surface

#: Faces that lean less are tops; this share of their area must be ground to make them walkable; tops this close are one.
_LEAN_COS, _SHARE, _SAME_M = np.cos(np.deg2rad(45.0)), 0.3, 0.05
#: Points per square metre, and at most per face, that tell what a face is.
_SAMPLE_M, _MOST_SAMPLES = 0.1, 400
_LEAST_OVERLAP = 0.3
#: A mesh may reach beyond what was captured, but hardly so much, least of all upwards.
_MOST_TIMES, _MORE_M = np.array([3.0, 3.0, 2.0]), np.array([5.0, 5.0, 2.0])


@dataclass(frozen=True)
class CollisionMesh:
    """A mesh as bodies meet it.

    Attributes:
        geometry: its triangles; those of the ground are FLOOR and face up, the others FURNITURE.
        ground: the ground's cells and heights, without boxes.
        lines: what was found, one sentence each.
    """

    geometry: Geometry
    ground: Solid
    lines: tuple[str, ...]


def read_collision_mesh(path: Path | str, T_world_capture: Floats, bounds: Floats, *, cell_m: float) -> CollisionMesh:
    """Read a mesh in the frame and unit of the capture's file, and tell ground from obstacles.

    Args:
        T_world_capture: (4, 4), as found for the Gaussians. bounds: (2, 3), of the Gaussians in the world, to see that both lie together.

    Raises:
        ImportFailed: unreadable, empty, not finite, elsewhere than the capture, or without a floor.
    """
    path = Path(path)
    vertices, faces = _read(path)
    vertices = vertices @ T_world_capture[:3, :3].T + T_world_capture[:3, 3]
    _check_place(vertices, bounds, path)
    triangles = vertices[faces]
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    upright = np.abs(normal[:, 2]) >= _LEAN_COS * np.linalg.norm(normal, axis=1)
    runs = _tops(triangles, upright & (normal != 0.0).any(axis=1), cell_m)
    try:
        chosen = find_ground(runs, cell_m)
    except ImportFailed as error:
        raise ImportFailed("the collision mesh has no floor", where=str(path), why=error.why, next_step=error.next_step) from error
    ground = Solid(cell_m, runs.column[chosen], level(runs, chosen), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
    walkable = upright & _on_ground(triangles, upright, runs, chosen, cell_m)
    # Scans wind their faces as they like; what carries a body must face up.
    turned = walkable & (normal[:, 2] < 0.0)
    faces[turned] = faces[turned][:, ::-1]
    lines = (f"{len(faces):,} triangles of {path.name} are what bodies meet; {walkable.sum():,} of them are ground, {ground.ground_m2:.1f} m²",)
    return CollisionMesh(_geometry(vertices, faces, walkable), ground, lines)


def _read(path: Path) -> tuple[Floats, NDArray[np.int64]]:
    try:
        loaded: Any = trimesh.load(path, force="mesh", process=False)
    except FileNotFoundError as error:
        raise ImportFailed("there is no such mesh", where=str(path), next_step="check --mesh") from error
    except Exception as error:
        # Loaders raise whatever their format's parser raises.
        raise ImportFailed("the collision mesh cannot be read", where=str(path), why=str(error), next_step="give a .glb, .obj, .ply or .stl") from error
    vertices, faces = np.asarray(getattr(loaded, "vertices", []), np.float64), np.array(getattr(loaded, "faces", []), np.int64)
    if len(faces) == 0:
        raise ImportFailed("the collision mesh holds no triangles", where=str(path), why=f"{len(vertices)} points", next_step="export a surface, not points")
    if not np.isfinite(vertices).all():
        bad = int((~np.isfinite(vertices)).any(axis=1).sum())
        raise ImportFailed("the collision mesh is not finite", where=str(path), why=f"{bad} vertices hold NaN or infinity", next_step="export it again")
    return vertices, faces


def _check_place(vertices: Floats, bounds: Floats, path: Path) -> None:
    """Along every axis both must share a third of the shorter one, and neither may be much longer."""
    mine = np.stack([vertices.min(axis=0), vertices.max(axis=0)])
    shared = np.minimum(mine[1], bounds[1]) - np.maximum(mine[0], bounds[0])
    lengths = np.stack([mine[1] - mine[0], bounds[1] - bounds[0]])
    apart = shared < _LEAST_OVERLAP * lengths.min(axis=0) - _SAME_M
    if apart.any() or (lengths[0] > _MOST_TIMES * lengths[1] + _MORE_M).any():
        raise ImportFailed(
            "the collision mesh does not lie where the capture does",
            where=str(path),
            why=f"it spans {_spans(mine)}, the capture {_spans(bounds)}, x, y and z after up, scale and floor",
            next_step="give it in the frame and unit of the capture's file; glTF is y up, so a GLB may have to be turned",
        )


def _spans(bounds: Floats) -> str:
    return " x ".join(f"{low:.1f} to {high:.1f}" for low, high in zip(*bounds, strict=True)) + " m"


def _tops(triangles: Floats, upright: NDArray[np.bool_], cell_m: float) -> Runs:
    """Every top of every column with the free height above it."""
    corners = triangles.reshape(-1, 3)
    grid = grid_around(np.stack([corners.min(axis=0), corners.max(axis=0)]), cell_m)
    pieces = cut(triangles, np.where(upright, TOP, OBSTACLE).astype(np.uint8), np.zeros(len(triangles), np.uint8), grid)
    count = np.zeros(len(pieces.start) - 1, np.int64)
    z, headroom = np.empty(len(pieces.low), np.float32), np.empty(len(pieces.low), np.float32)
    total = _find_tops(pieces, count, z, headroom)
    column = np.repeat(np.arange(len(count)), count)
    index = np.stack([column % grid.nx + round(grid.x0 / cell_m), column // grid.nx + round(grid.y0 / cell_m)], axis=1)
    order = np.lexsort((z[:total], index[:, 1], index[:, 0]))
    nothing = np.zeros(0, np.int64)
    return Runs(index[order], nothing, nothing, z[:total][order].astype(np.float64), headroom[:total][order].astype(np.float64))


@njit(cache=True, nogil=True)
def _find_tops(pieces, count, z, headroom):  # type: ignore[no-untyped-def]
    """Tops column by column, those within 5 cm as the highest of them; how many there are in all."""
    start, kind, low, level = pieces.start, pieces.kind, pieces.low, pieces.level
    total = 0
    for k in range(start.size - 1):
        first = total
        for p in range(start[k], start[k + 1]):
            if kind[p] != TOP:
                continue
            known = False
            for n in range(first, total):
                if abs(z[n] - level[p]) <= _SAME_M:
                    z[n] = max(z[n], level[p])
                    known = True
            if not known:
                z[total] = level[p]
                total += 1
        for n in range(first, total):
            headroom[n] = np.inf
            for p in range(start[k], start[k + 1]):
                if low[p] > z[n] + _SAME_M:
                    headroom[n] = min(headroom[n], low[p] - z[n])
        count[k] = total - first
    return total


def _on_ground(triangles: Floats, upright: NDArray[np.bool_], runs: Runs, chosen: NDArray[np.bool_], cell_m: float) -> NDArray[np.bool_]:
    """(F,) whether enough of a face lies on ground."""
    area = 0.5 * np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    counts = np.where(upright, np.clip(np.ceil(area / _SAMPLE_M**2), 1, _MOST_SAMPLES), 0).astype(np.int64)
    face, weights = sample("collision mesh", counts)
    points = (weights[:, :, None] * triangles[face]).sum(axis=1)
    tops = np.flatnonzero(chosen)
    low = runs.column[tops].min(axis=0) - 1
    width = int(runs.column[tops, 1].max() - low[1]) + 2
    keys = (runs.column[tops, 0] - low[0]) * width + runs.column[tops, 1] - low[1]
    at = np.floor(points[:, :2] / cell_m).astype(np.int64) - low
    inside = (at >= 0).all(axis=1) & (at[:, 1] < width)
    wanted = np.where(inside, at[:, 0] * width + at[:, 1], -1)
    hit = np.zeros(len(points), np.bool_)
    first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, "right")
    for k in range(int((last - first).max(initial=0))):
        there = np.flatnonzero(first + k < last)
        hit[there] |= np.abs(runs.z_m[tops[first[there] + k]] - points[there, 2]) <= 2.0 * _SAME_M
    share = np.bincount(face, hit, len(triangles)) / np.maximum(counts, 1)
    return np.asarray(share >= _SHARE)


def _geometry(vertices: Floats, faces: NDArray[np.int64], walkable: NDArray[np.bool_]) -> Geometry:
    count = len(faces)
    return Geometry(
        vertices.astype(np.float32),
        faces.astype(np.int32),
        np.where(walkable, int(Surface.FLOOR), int(Surface.FURNITURE)).astype(np.uint8),
        np.ones(count, np.int32),
        np.zeros(count, np.int32),
        np.ones(count, np.bool_),
        np.zeros((count, 3, 2), np.float32),
        np.ones(count, np.bool_),
    )
