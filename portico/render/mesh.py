"""Triangles made ready for the rasteriser: compact chunks of neighbours that can be culled as one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from portico.geometry import Floats

#: Triangles per chunk: small enough to cull tightly indoors, large enough that culling itself stays cheap.
CHUNK_TRIANGLES = 96
# Large triangles get chunks of their own, lest a road polygon blow up the box of a hundred small neighbours.
_SIZE_CLASSES_M = (3.0, 15.0, 75.0)


class Mesh(NamedTuple):
    """Triangles in chunk order; K chunks, F triangles.

    Attributes:
        corners: (F, 3, 3) float32, world frame. plane: (F, 4) float64, unit normal and offset: n . p = d.
        face: (F,) int32, index of the triangle in the world's geometry.
        start: (K + 1,) int64, chunk k holds triangles start[k] to start[k + 1].
        low, high: (K, 3) float64, box of each chunk.
    """

    corners: NDArray[np.float32]
    plane: Floats
    face: NDArray[np.int32]
    start: NDArray[np.int64]
    low: Floats
    high: Floats


def face_planes(triangles: NDArray[np.float32]) -> Floats:
    """(F, 4): unit normal and offset of triangles (F, 3, 3); zeros where a triangle has no area."""
    corners = triangles.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals = np.where(lengths[:, None] > 0.0, normals / np.where(lengths > 0.0, lengths, 1.0)[:, None], 0.0)
    return np.concatenate([normals, (normals * corners[:, 0]).sum(axis=1)[:, None]], axis=1)


def prepare(triangles: NDArray[np.float32], face: NDArray[np.int64] | None = None) -> Mesh:
    """Chunks out of triangles (F, 3, 3); triangles without area are left out.

    ``face`` (F,) numbers them; by default each is its own position.
    """
    plane = face_planes(triangles)
    low, high = triangles.min(axis=1).astype(np.float64), triangles.max(axis=1).astype(np.float64)
    extent = (high - low).max(axis=1) if len(triangles) else np.zeros(0)
    size_class = np.searchsorted(_SIZE_CLASSES_M, extent)
    centers = 0.5 * (low + high)
    visible = np.abs(plane[:, :3]).max(axis=1) > 0.0 if len(triangles) else np.zeros(0, bool)
    groups: list[NDArray[np.int64]] = []
    for size in range(len(_SIZE_CLASSES_M) + 1):
        groups += _split(np.flatnonzero(visible & (size_class == size)), centers)
    order = np.concatenate(groups) if groups else np.zeros(0, np.int64)
    names = order if face is None else face[order]
    start = np.concatenate([[0], np.cumsum([len(g) for g in groups])]).astype(np.int64)
    chunk_low = np.array([low[g].min(axis=0) for g in groups]).reshape(-1, 3)
    chunk_high = np.array([high[g].max(axis=0) for g in groups]).reshape(-1, 3)
    return Mesh(np.ascontiguousarray(triangles[order]), plane[order], names.astype(np.int32), start, chunk_low, chunk_high)


def _split(members: NDArray[np.int64], centers: Floats) -> list[NDArray[np.int64]]:
    """Halve along the longest axis until a group fits a chunk."""
    groups, pending = [], [members] if len(members) else []
    while pending:
        group = pending.pop()
        if len(group) <= CHUNK_TRIANGLES:
            groups.append(np.sort(group))
            continue
        points = centers[group]
        axis = int(np.argmax(points.max(axis=0) - points.min(axis=0)))
        ranked = group[np.argsort(points[:, axis], kind="stable")]
        half = len(ranked) // 2
        pending += [ranked[half:], ranked[:half]]
    return groups
