"""Shapes that street furniture, vehicles and plants are made of, beyond the plain boxes of ``primitives``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from portico.build.primitives import Mesh, cylinder, flat_polygon
from portico.geometry import rotation_z

# Lays an upright thing on its side: +z becomes +y.
_LYING = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def moved(mesh: Mesh, x: float, y: float, z: float = 0.0, yaw_rad: float = 0.0) -> Mesh:
    """The mesh turned about z, then shifted."""
    vertices, faces = mesh
    return (vertices @ rotation_z(yaw_rad).T + np.array([x, y, z])).astype(np.float32), faces


def wheel(center: ArrayLike, radius_m: float, width_m: float, *, sides: int = 12) -> Mesh:
    """A disc that rolls along x: its axle lies along y, through ``center`` (3,)."""
    vertices, faces = cylinder((0.0, 0.0, -width_m / 2), radius_m, width_m, sides=sides)
    return (vertices @ _LYING.T + np.asarray(center)).astype(np.float32), faces


def rod(start: ArrayLike, end: ArrayLike, radius_m: float, *, sides: int = 6) -> Mesh:
    """A round bar between two points (3,)."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    length = float(np.linalg.norm(b - a))
    axis = (b - a) / length
    helper = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    side = np.cross(axis, helper)
    side /= np.linalg.norm(side)
    turn = np.stack([side, np.cross(axis, side), axis], axis=1)
    vertices, faces = cylinder((0.0, 0.0, 0.0), radius_m, length, sides=sides)
    return (vertices @ turn.T + a).astype(np.float32), faces


def extruded(profile_xz: Sequence[tuple[float, float]], width_m: float, *, top_width_m: float | None = None) -> Mesh:
    """A side view (x, z) pulled along y, centred on y = 0; narrowing linearly to ``top_width_m`` at its highest point."""
    outline = shapely.geometry.polygon.orient(shapely.Polygon(profile_xz), 1.0)
    points = np.asarray(outline.exterior.coords)[:-1]
    z = points[:, 1]
    rise = (z - z.min()) / max(float(np.ptp(z)), 1e-9)
    half = 0.5 * (width_m + rise * ((width_m if top_width_m is None else top_width_m) - width_m))
    n = len(points)
    vertices = np.concatenate([np.column_stack([points[:, 0], -half, z]), np.column_stack([points[:, 0], half, z])])
    i = np.arange(n)
    j = (i + 1) % n
    band = np.concatenate([np.stack([i, i + n, j + n], axis=1), np.stack([i, j + n, j], axis=1)])
    cap = _cap(outline, points)
    return vertices.astype(np.float32), np.concatenate([band, cap, cap[:, ::-1] + n]).astype(np.int32)


def _cap(outline: shapely.Polygon, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Triangles of the side view as indices of its points, counter-clockwise seen from -y."""
    corners, faces = flat_polygon(outline, 0.0)
    nearest: NDArray[np.int64] = np.abs(corners[:, None, :2] - points[None]).sum(axis=2).argmin(axis=1)
    return nearest[faces]


@lru_cache(maxsize=4)
def _icosphere(levels: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    g = (1.0 + 5.0**0.5) / 2.0
    vertices = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8)]
    faces += [(3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    points = [np.array(v, np.float64) / np.linalg.norm(v) for v in vertices]
    for _ in range(levels):
        middles: dict[tuple[int, int], int] = {}
        finer = []
        for a, b, c in faces:
            ab, bc, ca = (_middle(points, middles, p, q) for p, q in ((a, b), (b, c), (c, a)))
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = finer
    return np.stack(points), np.array(faces, np.int32)


def _middle(points: list[NDArray[np.float64]], middles: dict[tuple[int, int], int], a: int, b: int) -> int:
    key = (min(a, b), max(a, b))
    if key not in middles:
        point = points[a] + points[b]
        points.append(point / np.linalg.norm(point))
        middles[key] = len(points) - 1
    return middles[key]


def ball(center: ArrayLike, radii: ArrayLike, *, levels: int = 1, roughness: float = 0.0, rng: np.random.Generator | None = None) -> Mesh:
    """An ellipsoid (20·4^levels faces); ``roughness`` scatters its points in and out by that share, from ``rng``."""
    points, faces = _icosphere(levels)
    scale = np.ones(len(points)) if rng is None else 1.0 + roughness * (2.0 * rng.random(len(points)) - 1.0)
    return (points * scale[:, None] * np.asarray(radii) + np.asarray(center)).astype(np.float32), faces.copy()


def cone(center: ArrayLike, radius_m: float, height_m: float, *, sides: int = 10) -> Mesh:
    """A cone with its underside; ``center`` (3,) is the middle of its base."""
    return cylinder(center, radius_m, height_m, sides=sides, top_radius_m=0.02)
