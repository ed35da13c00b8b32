"""Meshes that everything built is made of: boxes, quads, prisms, cylinders, walls with openings, flights of stairs.

Every function returns vertices (V, 3) float32 and faces (F, 3) int32, counter-clockwise seen from outside.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from portico.geometry import rotation_z

Mesh = tuple[NDArray[np.float32], NDArray[np.int32]]

_BOX_CORNERS = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
_BOX_FACES = np.array(
    [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]], np.int32
)


def box(center: ArrayLike, size: ArrayLike, yaw_rad: float = 0.0) -> Mesh:
    """An upright box: center (3,), size (3,) along its own axes, turned about z."""
    corners = _BOX_CORNERS * np.asarray(size, np.float64)
    corners = corners @ rotation_z(yaw_rad).T + np.asarray(center, np.float64)
    return corners.astype(np.float32), _BOX_FACES.copy()


def quad(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> Mesh:
    """Two triangles a, b, c, d, counter-clockwise from the side that is seen."""
    return np.array([a, b, c, d], np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)


#: Texture corners of ``quad``: a lower left, b lower right, c upper right, d upper left.
QUAD_UV = np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]], np.float32)


def flat_polygon(polygon: shapely.Polygon, z: float, *, up: bool = True) -> Mesh:
    """A horizontal polygon, holes respected, facing up or down. Multi-polygons are the caller's to split."""
    triangles = [np.asarray(t.exterior.coords)[:3] for t in shapely.constrained_delaunay_triangles(polygon).geoms]
    if not triangles:
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)
    corners = np.stack(triangles)[:, :, :2]
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    turned = (e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0] > 0.0) != up
    corners[turned] = corners[turned][:, ::-1]
    flat = np.concatenate([corners.reshape(-1, 2), np.full((corners.size // 2, 1), z)], axis=1)
    return flat.astype(np.float32), np.arange(len(flat), dtype=np.int32).reshape(-1, 3)


def skirt(polygon: shapely.Polygon, z_low: float, z_high: float, *, outward: bool = True) -> Mesh:
    """Vertical faces along the outline and the holes of a polygon, facing away from its interior (or into it)."""
    vertices: list[NDArray[np.float64]] = []
    polygon = shapely.geometry.polygon.orient(polygon, 1.0)
    for ring in (polygon.exterior, *polygon.interiors):
        points = np.asarray(ring.coords)[:, :2]
        for p, q in pairwise(points):
            a, b = (p, q) if outward else (q, p)
            vertices.append(np.array([[*a, z_low], [*b, z_low], [*b, z_high], [*a, z_high]]))
    stacked = np.concatenate(vertices).astype(np.float32)
    quads = np.arange(len(vertices), dtype=np.int32)[:, None, None] * 4
    return stacked, (quads + np.array([[0, 1, 2], [0, 2, 3]], np.int32)).reshape(-1, 3)


def prism(polygon: shapely.Polygon, z_low: float, z_high: float, *, bottom: bool = False) -> Mesh:
    """A polygon pulled up: top, sides and, on request, bottom."""
    parts = [flat_polygon(polygon, z_high), skirt(polygon, z_low, z_high)]
    if bottom:
        parts.append(flat_polygon(polygon, z_low, up=False))
    return merge(parts)


def cylinder(center: ArrayLike, radius_m: float, height_m: float, *, sides: int = 10, top_radius_m: float | None = None) -> Mesh:
    """An upright cylinder or cone frustum; ``center`` (3,) is the middle of its base."""
    cx, cy, cz = np.asarray(center, np.float64)
    top = radius_m if top_radius_m is None else top_radius_m
    angles = np.arange(sides) * 2.0 * np.pi / sides
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    low = np.concatenate([ring * radius_m + [cx, cy], np.full((sides, 1), cz)], axis=1)
    high = np.concatenate([ring * top + [cx, cy], np.full((sides, 1), cz + height_m)], axis=1)
    vertices = np.concatenate([low, high, [[cx, cy, cz], [cx, cy, cz + height_m]]])
    i = np.arange(sides)
    j = (i + 1) % sides
    faces = np.concatenate(
        [
            np.stack([i, j, j + sides], axis=1),
            np.stack([i, j + sides, i + sides], axis=1),
            np.stack([j, i, np.full(sides, 2 * sides)], axis=1),
            np.stack([i + sides, j + sides, np.full(sides, 2 * sides + 1)], axis=1),
        ]
    )
    return vertices.astype(np.float32), faces.astype(np.int32)


def merge(meshes: list[Mesh]) -> Mesh:
    """One mesh out of several."""
    offset, vertices, faces = 0, [], []
    for v, f in meshes:
        vertices.append(v)
        faces.append(f + offset)
        offset += len(v)
    return np.concatenate(vertices), np.concatenate(faces).astype(np.int32)
