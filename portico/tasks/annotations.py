"""Ground truth the evaluator may use: which building, floor and region hold a point, and whether one may walk there.

Definitions: identity is decided by the robot's centre alone, not by roof cover [I2 B.1]. A building holds a point when
its footprint does, seen from above, and one of its floor intervals holds the base height.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import shapely
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.tasks.polygons import Bins, Ints, PolygonSet, holds, in_box, square_of
from portico.world.semantics import Building, Floor, ObjectInstance, Place, Region, Semantics

Bools = NDArray[np.bool_]

#: A floor's interval begins this far below its surface.
FLOOR_MARGIN_M = 0.5


class Annotations:
    """Lookups over a world's semantics, vectorised over points (N, 3): metres, world frame, the foot point of a base.

    Attributes:
        semantics: what they are made from.
        buildings, regions: as listed there; lookups answer with indices into them, -1 for none.
        floors: floors of all buildings, building by building. floor_building: (F,) index of the building of each.
    """

    def __init__(self, semantics: Semantics) -> None:
        self.semantics = semantics
        self.buildings: tuple[Building, ...] = tuple(semantics.buildings)
        self.regions: tuple[Region, ...] = tuple(semantics.regions)
        self.floors: tuple[Floor, ...] = tuple(floor for b in self.buildings for floor in b.floors)
        self.floor_building = np.repeat(np.arange(len(self.buildings)), [len(b.floors) for b in self.buildings]).astype(np.int64)
        self.footprints = PolygonSet.of([b.footprint for b in self.buildings])
        self.region_polygons = PolygonSet.of([r.polygon for r in self.regions])
        self._first_floor = np.cumsum([0] + [len(b.floors) for b in self.buildings]).astype(np.int64)
        self._floor_z = np.array([(f.z_m, f.height_m) for f in self.floors], dtype=np.float64).reshape(-1, 2)
        self._allowed = np.array([r.access == "allowed" for r in self.regions] + [False], dtype=bool)
        self._building_index = {b.id: i for i, b in enumerate(self.buildings)}

    def locate(self, points: Floats) -> tuple[Ints, Ints]:
        """Building and floor that hold each point: (N,) indices into ``buildings`` and ``floors``, -1 for none.

        Where floor intervals overlap the upper floor is meant: near the top of a flight of stairs its surface is the closer one.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        f = self.footprints
        building, floor = _locate(points, f.vertices, f.first, f.boxes, f.bins, self._first_floor, self._floor_z)
        return building, floor

    def inside(self, points: Floats) -> Ints:
        """(N,) index of the building that holds each point, -1 outdoors."""
        return self.locate(points)[0]

    def floor(self, points: Floats) -> Ints:
        """(N,) index into ``floors`` of the floor that holds each point, -1 outdoors."""
        return self.locate(points)[1]

    def region(self, points: Floats) -> Ints:
        """(N,) index of the region polygon over each point, the last listed winning, -1 for none. Buildings are not asked."""
        return self.region_polygons.last_holding(points)

    def allowed(self, points: Floats) -> Bools:
        """(N,) outdoors, in a region whose access is allowed. Ground under no polygon is prohibited."""
        permitted: Bools = self._allowed[self.region(points)]
        return permitted & (self.inside(points) < 0)

    def building_index(self, building: str | None) -> int:
        """Index of a building by id, -1 when there is none of that id."""
        return self._building_index.get(building or "", -1)

    def building_at(self, point: Floats) -> Building | None:
        """The building that holds one point (3,)."""
        index = int(self.inside(np.asarray(point, dtype=np.float64)[None])[0])
        return self.buildings[index] if index >= 0 else None

    def floor_at(self, point: Floats) -> Floor | None:
        """The floor that holds one point (3,)."""
        index = int(self.floor(np.asarray(point, dtype=np.float64)[None])[0])
        return self.floors[index] if index >= 0 else None

    def region_at(self, point: Floats) -> Region | None:
        """The region over one point (3,)."""
        index = int(self.region(np.asarray(point, dtype=np.float64)[None])[0])
        return self.regions[index] if index >= 0 else None

    def instances(self, category: str | None) -> tuple[ObjectInstance, ...]:
        """Objects of a category, in the order they are listed."""
        return tuple(o for o in self.semantics.objects if o.category == category)

    def places(self, category: str | None) -> tuple[Place, ...]:
        """Places of a category, in the order they are listed."""
        return tuple(p for p in self.semantics.places if p.category == category)

    @cached_property
    def by_id(self) -> dict[str, ObjectInstance | Place]:
        """Objects and places by id; where both use one, the object is meant."""
        found: dict[str, ObjectInstance | Place] = {place.id: place for place in self.semantics.places}
        return found | {item.id: item for item in self.semantics.objects}

    def floor_of_object(self, item: ObjectInstance) -> int:
        """Index into ``floors`` of the floor an object stands on, -1 outdoors: as annotated, else by its box's lower face."""
        building = self.building_index(item.building)
        for index in np.flatnonzero(self.floor_building == building) if building >= 0 and item.floor is not None else ():
            if self.floors[index].id == item.floor:
                return int(index)
        x, y, z = item.center
        return int(self.floor(np.array([[x, y, z - 0.5 * item.size[2]]]))[0])

    @cached_property
    def footprint_shapes(self) -> NDArray[np.object_]:
        """(B,) shapely polygons of the footprints."""
        return np.array([shapely.Polygon(b.footprint) for b in self.buildings] + [None], dtype=object)[:-1]

    @cached_property
    def allowed_area(self) -> shapely.STRtree:
        """Where one may walk outdoors, seen from above: allowed regions less what later regions and buildings cover."""
        shapes = np.array([shapely.Polygon(r.polygon) for r in self.regions] + list(self.footprint_shapes) + [None], dtype=object)[:-1]
        tree = shapely.STRtree(shapes)
        parts = []
        for index in np.flatnonzero(self._allowed[:-1]):
            over = tree.query(shapes[index], predicate="intersects")
            parts.append(shapely.difference(shapes[index], shapely.union_all(shapes[over[over > index]])))
        return shapely.STRtree([part for part in parts if not part.is_empty])


@njit(cache=True)
def _locate(points: Floats, vertices: Floats, first: Ints, boxes: Floats, bins: Bins, first_floor: Ints, floor_z: Floats) -> tuple[Ints, Ints]:
    building = np.full(len(points), -1, dtype=np.int64)
    floor = np.full(len(points), -1, dtype=np.int64)
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        square = square_of(x, y, bins)
        if square < 0:
            continue
        for m in range(bins.start[square], bins.start[square + 1]):
            b = bins.members[m]
            if not in_box(x, y, boxes, b) or not holds(x, y, vertices, first[b], first[b + 1]):
                continue
            for f in range(first_floor[b], first_floor[b + 1]):
                base, height = floor_z[f, 0], floor_z[f, 1]
                if base - FLOOR_MARGIN_M <= z <= base + height and (floor[n] < 0 or base > floor_z[floor[n], 0]):
                    floor[n] = f
            if floor[n] >= 0:
                building[n] = b
                break
    return building, floor
