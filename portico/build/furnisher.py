"""Puts groups of things where there is room: never on what must stay free, never into one another, groups well apart."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import shapely

from portico.build.groups import GROUP_SPACING_M, GROUPS, Group, Item
from portico.build.models import Model, place
from portico.build.scene import Scene
from portico.build.shapes import moved
from portico.geometry import rotation_z

#: What hangs higher than this hinders nobody: crowns, sunshades, the arms of lamps.
BODY_HEIGHT_M = 2.1
#: What is lower than this in front of a shop does not hide its sign from across the street.
SIGHT_HEIGHT_M = 2.35
_APART_M = 0.08


@dataclass
class Furnisher:
    """Keeps track of what is free.

    Attributes:
        keep_free: ground on which nothing may stand. sight: ground in front of signs, for low things only.
        anchors: (x, y) of every contextual group so far.
    """

    scene: Scene
    keep_free: shapely.Geometry
    sight: shapely.Geometry
    anchors: list[tuple[float, float]] = field(default_factory=list)
    _taken: list[shapely.Polygon] = field(default_factory=list)

    def __post_init__(self) -> None:
        shapely.prepare(self.keep_free)
        shapely.prepare(self.sight)

    def put(self, name: str, x: float, y: float, yaw_rad: float, rng: np.random.Generator, *, z: float = 0.0, within: shapely.Geometry | None = None) -> bool:
        """Place the group of that name if there is room for all of it; says whether it did."""
        return self.put_items(GROUPS[name](rng), x, y, yaw_rad, z=z, within=within)

    def put_items(self, group: Group, x: float, y: float, yaw_rad: float, *, z: float = 0.0, within: shapely.Geometry | None = None) -> bool:
        """Place items if there is room for all of them."""
        contextual = len(group) > 1
        if contextual and any(np.hypot(x - ax, y - ay) < GROUP_SPACING_M for ax, ay in self.anchors):
            return False
        turn = rotation_z(yaw_rad)[:2, :2]
        spots = [np.array([x, y]) + turn @ np.array([item.x, item.y]) for item in group]
        outlines = [footprint(item.model, p[0], p[1], yaw_rad + item.yaw_rad) for item, p in zip(group, spots, strict=True)]
        if not all(self._free(item, outline, within) for item, outline in zip(group, outlines, strict=True)):
            return False
        for item, p in zip(group, spots, strict=True):
            place(self.scene, item.category, item.model, float(p[0]), float(p[1]), z + item.z, yaw_rad + item.yaw_rad)
        self._taken += outlines
        if contextual:
            self.anchors.append((x, y))
        return True

    def occupy(self, area: shapely.Polygon) -> None:
        """Note that something else stands there."""
        self._taken.append(area)

    def _free(self, item: Item, outline: shapely.Polygon, within: shapely.Geometry | None) -> bool:
        if self.keep_free.intersects(outline) or (within is not None and not within.contains(outline)):
            return False
        top = max(float(p.mesh[0][:, 2].max()) for p in item.model)
        if top > SIGHT_HEIGHT_M and self.sight.intersects(outline):
            return False
        grown = outline.buffer(_APART_M, join_style="mitre")
        return not bool(shapely.intersects(np.array(self._taken, dtype=object), grown).any()) if self._taken else True


def footprint(model: Model, x: float, y: float, yaw_rad: float) -> shapely.Polygon:
    """The rectangle a model covers at the height of a body."""
    points = np.concatenate([p.mesh[0] for p in model])
    low = points[points[:, 2] < BODY_HEIGHT_M]
    (x0, y0), (x1, y1) = low[:, :2].min(axis=0), low[:, :2].max(axis=0)
    corners = np.array([[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]], np.float32)
    return shapely.Polygon(moved((corners, np.zeros((0, 3), np.int32)), x, y, 0.0, yaw_rad)[0][:, :2])
