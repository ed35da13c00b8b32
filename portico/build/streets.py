"""Streets: sunken beds with round corners, lane markings, crosswalks with curb ramps. Roads may run in any direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.ground import ROAD_DEPTH_M, Patch, Plane, polygons, tessellate
from portico.build.primitives import merge
from portico.build.scene import Scene
from portico.build.textures import linear
from portico.world import Surface

#: 0.2 m over 1.8 m is 6.3 degrees: what the smallest robots climb, and near what curb ramps for wheelchairs have.
RAMP_LENGTH_M = 1.8
RAMP_WIDTH_M = 3.0
CURB_STONE_M = 0.15
_PAINT_LIFT_M = 0.008
_LINE_M = 0.12


@dataclass(frozen=True)
class Road:
    """A straight road bed.

    Attributes:
        start, end: of the centre line. half_width_m: to the curb.
        parking_m: width of the parking lanes to the left and to the right of the direction start to end; 0 for none.
    """

    name: str
    start: tuple[float, float]
    end: tuple[float, float]
    half_width_m: float
    parking_m: tuple[float, float] = (0.0, 0.0)

    @property
    def length_m(self) -> float:
        return float(np.hypot(self.end[0] - self.start[0], self.end[1] - self.start[1]))

    @property
    def heading(self) -> NDArray[np.float64]:
        """(2,) unit vector from start to end."""
        along: NDArray[np.float64] = (np.array(self.end) - np.array(self.start)) / self.length_m
        return along

    @property
    def yaw_rad(self) -> float:
        return float(np.arctan2(self.heading[1], self.heading[0]))

    def point(self, along_m: float, left_m: float) -> NDArray[np.float64]:
        """(2,) world position of a station and an offset to the left."""
        h = self.heading
        return np.array(self.start) + h * along_m + np.array([-h[1], h[0]]) * left_m

    def strip(self, along_m: tuple[float, float], left_m: tuple[float, float]) -> shapely.Polygon:
        """The rectangle between two stations and two offsets."""
        (a, b), (r, s) = along_m, left_m
        return shapely.Polygon([self.point(a, r), self.point(b, r), self.point(b, s), self.point(a, s)])

    def bed(self) -> shapely.Polygon:
        """From curb to curb over its whole length."""
        return self.strip((0.0, self.length_m), (-self.half_width_m, self.half_width_m))


@dataclass(frozen=True)
class Crosswalk:
    """A marked crossing of a road around the station ``at_m``, with a ramp down from the sidewalk at both ends."""

    name: str
    road: Road
    at_m: float
    width_m: float = 3.6

    @property
    def span_m(self) -> tuple[float, float]:
        """Stations where it begins and ends."""
        return self.at_m - self.width_m / 2, self.at_m + self.width_m / 2

    def bed(self) -> shapely.Polygon:
        """On the road, curb to curb."""
        return self.road.strip(self.span_m, (-self.road.half_width_m, self.road.half_width_m))

    def ramps(self) -> list[tuple[shapely.Polygon, Plane]]:
        """Footprint and plane of the two ramps, cut into the sidewalks to the left and to the right."""
        found = []
        h = self.road.heading
        for side in (1.0, -1.0):
            foot, head = side * self.road.half_width_m, side * (self.road.half_width_m + RAMP_LENGTH_M)
            outline = self.road.strip((self.at_m - RAMP_WIDTH_M / 2, self.at_m + RAMP_WIDTH_M / 2), (foot, head))
            gradient = ROAD_DEPTH_M / RAMP_LENGTH_M * side * np.array([-h[1], h[0]])
            z0 = -float(gradient @ self.road.point(self.at_m, head))
            found.append((outline, (z0, float(gradient[0]), float(gradient[1]))))
        return found

    def stations(self) -> list[NDArray[np.float64]]:
        """(x, y, z) at the head and foot of one ramp, the middle, and the foot and head of the other."""
        w = self.road.half_width_m
        offsets = ((w + RAMP_LENGTH_M, 0.0), (w, -ROAD_DEPTH_M), (0.0, -ROAD_DEPTH_M), (-w, -ROAD_DEPTH_M), (-w - RAMP_LENGTH_M, 0.0))
        return [np.array([*self.road.point(self.at_m, left), z]) for left, z in offsets]


def road_beds(roads: Iterable[Road], corner_m: float = 3.0) -> shapely.Geometry:
    """The joined beds of roads, the sidewalks' corners rounded with radius ``corner_m``."""
    joined = shapely.union_all([r.bed() for r in roads])
    return joined.buffer(corner_m, quad_segs=6, join_style="mitre").buffer(-corner_m, quad_segs=6)


def street_patches(beds: shapely.Geometry, crosswalks: Sequence[Crosswalk], within: shapely.Geometry) -> list[Patch]:
    """Ground of roads and crosswalks, to be painted over the sidewalks: curb stones, bed, crosswalks, ramps."""
    stones = shapely.intersection(beds.buffer(CURB_STONE_M, quad_segs=6), within)
    bed_plane = (-ROAD_DEPTH_M, 0.0, 0.0)
    patches = [
        Patch("sidewalk", "sidewalk", stones, "curb", Surface.CURB),
        Patch("road", "vehicle_lane", beds, "asphalt", Surface.VEHICLE_LANE, bed_plane),
    ]
    for c in crosswalks:
        patches.append(Patch(c.name, "crosswalk", c.bed(), "asphalt", Surface.CROSSWALK, bed_plane))
        patches += [Patch(c.name, "crosswalk", ramp, "tactile", Surface.RAMP, plane) for ramp, plane in c.ramps()]
    return patches


def curb_openings(crosswalks: Sequence[Crosswalk]) -> shapely.Geometry:
    """Where no curb stands because a ramp comes down."""
    return shapely.union_all([ramp for c in crosswalks for ramp, _ in c.ramps()]).buffer(1e-6)


def ramp_cheeks(crosswalk: Crosswalk) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int32]]]:
    """Upright triangles between the sidewalk and the sloping sides of the ramps."""
    for side in (1.0, -1.0):
        foot, head = side * crosswalk.road.half_width_m, side * (crosswalk.road.half_width_m + RAMP_LENGTH_M)
        for end in (1.0, -1.0):
            station = crosswalk.at_m + end * RAMP_WIDTH_M / 2
            p, q = crosswalk.road.point(station, foot), crosswalk.road.point(station, head)
            triangle = np.array([[*p, -ROAD_DEPTH_M], [*p, 0.0], [*q, 0.0]], np.float32)
            yield triangle, np.array([[0, 1, 2] if side * end < 0 else [0, 2, 1]], np.int32)


def add_crosswalks(scene: Scene, crosswalks: Sequence[Crosswalk]) -> None:
    """Add the stripes and the cheeks of the ramps; the walking surfaces are patches."""
    stripes = []
    for c in crosswalks:
        low, high = -c.road.half_width_m + 0.35, c.road.half_width_m - 0.35
        count = max(3, round((high - low + 0.5) / 1.0))
        pitch = (high - low + 0.5) / count
        stripes += [c.road.strip(c.span_m, (low + k * pitch, low + k * pitch + pitch - 0.5)) for k in range(count)]
    add_paint(scene, stripes, "crosswalk", Surface.CROSSWALK)
    cheeks = [mesh for c in crosswalks for mesh in ramp_cheeks(c)]
    if cheeks:
        scene.add_mesh(*merge(cheeks), surface=Surface.CURB, material=scene.material("cheek", linear((0.62, 0.61, 0.60))), instance=scene.instance("curb"))


def add_paint(
    scene: Scene,
    areas: Sequence[shapely.Polygon],
    category: str,
    surface: Surface,
    *,
    color: tuple[float, float, float] = (0.90, 0.90, 0.88),
    z_m: float = -ROAD_DEPTH_M,
) -> None:
    """Lay thin paint on flat ground; nobody can touch it."""
    if areas:
        mesh = merge([tessellate(area, (z_m + _PAINT_LIFT_M, 0.0, 0.0)) for area in areas])
        material = scene.material("paint-line-{:.2f}-{:.2f}-{:.2f}".format(*color), linear(color))
        scene.add_mesh(*mesh, surface=surface, material=material, instance=scene.instance(category), collides=False)


def lane_marks(road: Road, clear: Sequence[tuple[float, float]], stops: Sequence[tuple[float, int]] = ()) -> list[shapely.Polygon]:
    """Dashed centre line, edges of the parking lanes and stop lines.

    Args:
        clear: stations between which nothing is painted (junctions and crosswalks).
        stops: station of a stop line, and +1 for the lane to the left of the centre line or -1 for the one to the right.
    """
    marks = []
    for a, b in open_stretches(road.length_m, clear):
        dashes = max(1, round((b - a) / 6.0))
        pitch = (b - a) / dashes
        marks += [road.strip((a + (k + 0.25) * pitch, a + (k + 0.75) * pitch), (-_LINE_M / 2, _LINE_M / 2)) for k in range(dashes)]
        for side, width in zip((1.0, -1.0), road.parking_m, strict=True):
            if width > 0.0:
                edge = side * (road.half_width_m - width)
                marks.append(road.strip((a + 1.0, b - 1.0), (edge - _LINE_M / 2, edge + _LINE_M / 2)))
    for at, side in stops:
        lane = road.half_width_m - road.parking_m[0 if side > 0 else 1]
        low, high = sorted((side * 0.15, side * (lane - 0.15)))
        marks.append(road.strip((at - 0.2, at + 0.2), (low, high)))
    return [part for mark in marks for part in polygons(mark)]


def open_stretches(length_m: float, clear: Sequence[tuple[float, float]], shortest_m: float = 4.0) -> list[tuple[float, float]]:
    """What is left of 0..length between the ``clear`` intervals, when it is long enough."""
    at, found = 0.0, []
    for a, b in (*sorted(clear), (length_m, length_m)):
        if a - at >= shortest_m:
            found.append((at, a))
        at = max(at, b)
    return found
