"""Facade edges of all buildings: which one a point belongs to, and where along it there is room."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.osm.extract import polygons_of
from portico.build.osm.houses import House

_SHORTEST_M = 1.2
_PROBE_M = 1.2
_SHIFT_STEP_M = 0.5
_OFF_WALKABLE_M = 12.0
_WALLED_IN_M = 1000.0


@dataclass
class Edge:
    """A straight stretch of facade from ``a`` to ``b``, left to right seen from outside; ``taken`` stretches along it in metres."""

    house: int
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    taken: list[tuple[float, float]] = field(default_factory=list)

    @property
    def length_m(self) -> float:
        return float(np.hypot(*(self.b - self.a)))

    @property
    def along(self) -> NDArray[np.float64]:
        """(2,) unit vector from a to b."""
        return (self.b - self.a) / self.length_m

    @property
    def outward(self) -> NDArray[np.float64]:
        """(2,) unit normal, away from the building."""
        x, y = self.along
        return np.array([y, -x])

    def point(self, along_m: float) -> NDArray[np.float64]:
        """(2,) the point at a distance from a."""
        return self.a + self.along * along_m

    def project(self, point: NDArray[np.float64]) -> float:
        """Distance from a of the nearest point of the edge."""
        return float(np.clip((point - self.a) @ self.along, 0.0, self.length_m))

    def free_middle(self, wanted_m: float, width_m: float, reach_m: float) -> float | None:
        """The middle nearest to the wanted one of a free stretch; None when there is none within reach."""
        half = width_m / 2.0
        if self.length_m < width_m:
            return None
        for step in range(int(reach_m / _SHIFT_STEP_M) + 1):
            for sign in (1.0, -1.0):
                middle = float(np.clip(wanted_m + sign * step * _SHIFT_STEP_M, half, self.length_m - half))
                if all(middle + half <= low or middle - half >= high for low, high in self.taken):
                    return middle
        return None

    def take(self, middle_m: float, width_m: float) -> None:
        """Occupy a stretch."""
        self.taken.append((middle_m - width_m / 2.0, middle_m + width_m / 2.0))


class Frontages:
    """Edges of the footprints of all houses; finds the facade that a thing at a point belongs to."""

    def __init__(self, houses: list[House], walkable: shapely.Geometry, built: shapely.Geometry) -> None:
        self.houses = houses
        self._walkable, self._built = walkable, built
        shapely.prepare(walkable)
        shapely.prepare(built)
        self.edges = [edge for i, house in enumerate(houses) for edge in _edges(i, house)]
        self._edge_tree = shapely.STRtree([shapely.LineString([e.a, e.b]) for e in self.edges])
        self._house_tree = shapely.STRtree([h.footprint for h in houses])

    def house_at(self, point: shapely.Point) -> int | None:
        """The house whose footprint holds the point."""
        found = self._house_tree.query(point, predicate="intersects").tolist()
        return min(found) if found else None

    def facing(self, point: shapely.Point, reach_m: float, house: int | None = None) -> list[Edge]:
        """Edges within reach, the best first: near, and with walkable ground in front rather than a courtyard or a wall."""
        near = sorted(self._edge_tree.query(point, predicate="dwithin", distance=reach_m).tolist())
        scored = []
        for number in near:
            edge = self.edges[number]
            if house is not None and edge.house != house:
                continue
            xy = np.asarray(point.coords[0])
            foot = edge.point(edge.project(xy))
            scored.append((round(float(np.hypot(*(foot - xy))) + self._penalty(edge, edge.project(xy)), 3), number))
        return [self.edges[number] for score, number in sorted(scored) if score < _WALLED_IN_M]

    def _penalty(self, edge: Edge, along_m: float) -> float:
        inset = min(0.8, edge.length_m / 2.0)
        x, y = edge.point(float(np.clip(along_m, inset, edge.length_m - inset))) + edge.outward * _PROBE_M
        if self._built.intersects(shapely.Point(x, y)):
            return _WALLED_IN_M
        return 0.0 if self._walkable.intersects(shapely.Point(x, y)) else _OFF_WALKABLE_M


def _edges(number: int, house: House) -> list[Edge]:
    found = []
    for polygon in polygons_of(house.footprint):
        polygon = shapely.geometry.polygon.orient(polygon, 1.0)
        for ring in (polygon.exterior, *polygon.interiors):
            for a, b in pairwise(np.asarray(ring.coords)):
                edge = Edge(number, a, b)
                if edge.length_m >= _SHORTEST_M:
                    found.append(edge)
    return found
