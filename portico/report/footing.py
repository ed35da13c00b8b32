"""Where the ground is under a point: enough of a floor to stand a camera on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.tasks.annotations import Annotations
from portico.tasks.predicates import footprint_distance_m
from portico.world import WALKABLE, World

#: Nothing that collides may lie this near to a camera, seen from above.
_ELBOW_ROOM_M = 0.4


class Footing:
    """Walkable triangles of a world, asked for heights.

    Attributes:
        annotations: lookups over the same world.
    """

    def __init__(self, world: World) -> None:
        self.annotations = Annotations(world.semantics)
        self._objects = world.semantics.objects
        walkable = np.isin(world.geometry.surface, [int(s) for s in WALKABLE]) & world.geometry.collides
        self._triangles: Floats = world.geometry.vertices[world.geometry.faces[walkable]].astype(np.float64)
        self._low = self._triangles[:, :, :2].min(axis=1)
        self._high = self._triangles[:, :, :2].max(axis=1)
        self._object_xy = np.array([o.center[:2] for o in self._objects], dtype=np.float64).reshape(-1, 2)
        self._object_reach = np.array([0.5 * float(np.hypot(*o.size[:2])) for o in self._objects], dtype=np.float64)

    def height(self, xy: Floats, near_z: float, reach_m: float = 1.5) -> float | None:
        """Height of the walkable surface over or under ``xy`` (2,) that is closest to ``near_z``, None beyond ``reach_m``."""
        heights = self._heights(np.asarray(xy, dtype=np.float64))
        if not len(heights):
            return None
        best = float(heights[np.argmin(np.abs(heights - near_z))])
        return best if abs(best - near_z) <= reach_m else None

    def clear_of_objects(self, point: Floats) -> bool:
        """Whether no annotated thing stands at a foot point (3,) or within an elbow's reach of it, at a robot's height."""
        near = np.flatnonzero(np.linalg.norm(self._object_xy - point[:2], axis=1) < self._object_reach + _ELBOW_ROOM_M)
        for item in (self._objects[i] for i in near):
            low, high = item.center[2] - 0.5 * item.size[2], item.center[2] + 0.5 * item.size[2]
            if low < point[2] + 1.2 and high > point[2] + 0.1 and footprint_distance_m(point[None], item)[0] < _ELBOW_ROOM_M:
                return False
        return True

    def _heights(self, xy: Floats) -> Floats:
        boxed: NDArray[np.int64] = np.flatnonzero(((self._low <= xy) & (xy <= self._high)).all(axis=1))
        a, b, c = (self._triangles[boxed, i] for i in range(3))
        e1, e2, p = b - a, c - a, xy - a[:, :2]
        area = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
        flat = np.abs(area) > 1e-12
        scale = np.where(flat, area, 1.0)
        u = (p[:, 0] * e2[:, 1] - p[:, 1] * e2[:, 0]) / scale
        v = (e1[:, 0] * p[:, 1] - e1[:, 1] * p[:, 0]) / scale
        hit = flat & (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9)
        heights: Floats = a[hit, 2] + u[hit] * e1[hit, 2] + v[hit] * e2[hit, 2]
        return heights
