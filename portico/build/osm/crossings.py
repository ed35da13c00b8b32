"""Where pedestrians cross roads: mapped crossing ways, crossing nodes, and footpaths that simply run across."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.osm.layers import common, lines_of, minus, union
from portico.build.osm.report import Ledger
from portico.build.osm.survey import Survey

NODE_CROSSING_WIDTH_M = 3.5
_REACH_M = 6.0
_JOIN_M = 0.6


@dataclass(frozen=True)
class Crossing:
    """A strip of road where pedestrians cross.

    Attributes:
        area: on the road only. axis: unit vector of the walking direction. marked: painted with stripes.
        line: the way across, a little beyond both kerbs.
    """

    id: str
    area: shapely.Geometry
    axis: NDArray[np.float64]
    marked: bool
    line: shapely.LineString


def find_crossings(found: Survey, road: shapely.Geometry, ledger: Ledger) -> list[Crossing]:
    """Crossings that do not overlap, mapped ways first, then nodes, then unmarked paths across the road."""
    shapely.prepare(road)
    centre_lines = shapely.union_all([s.element.shape for s in found.streets if s.role == "road" and not s.is_area])
    kept: list[Crossing] = []
    bounds = np.zeros((0, 4))
    for candidate in (*_mapped(found, road), *_from_nodes(found, road, ledger), *_across(found, road, centre_lines, ledger)):
        if candidate.area.is_empty:
            continue
        x0, y0, x1, y1 = candidate.area.bounds
        near = np.flatnonzero((bounds[:, 0] <= x1) & (bounds[:, 2] >= x0) & (bounds[:, 1] <= y1) & (bounds[:, 3] >= y0))
        area = minus(candidate.area, union(kept[i].area for i in near))
        # What mostly lies on another crossing is the same one, mapped twice.
        if area.area >= max(0.5, 0.5 * candidate.area.area):
            kept.append(replace(candidate, area=area))
            bounds = np.vstack([bounds, area.bounds])
    return kept


def _mapped(found: Survey, road: shapely.Geometry) -> Iterator[Crossing]:
    for street in found.streets:
        if street.role == "crossing" and not street.is_area and street.access == "allowed":
            for line in lines_of(street.element.shape):
                yield _strip(street.element.id, line, street.width_m, street.marked, road)


def _from_nodes(found: Survey, road: shapely.Geometry, ledger: Ledger) -> Iterator[Crossing]:
    """A strip at right angles to the road for crossings that are mapped as a node on it alone."""
    lines = [(line, street.width_m) for street in found.streets if street.role == "road" for line in lines_of(street.element.shape)]
    mapped = shapely.union_all([s.element.shape for s in found.streets if s.role == "crossing"])
    tree = shapely.STRtree([line for line, _ in lines])
    for node in found.crossings:
        point = node.shape
        near = sorted(tree.query(point, predicate="dwithin", distance=_JOIN_M).tolist())
        if not near or (not mapped.is_empty and mapped.distance(point) < 1.5):
            continue
        line, width_m = lines[near[0]]
        at = line.project(point)
        (x0, y0), (x1, y1) = (line.interpolate(s).coords[0] for s in (max(at - 2.0, 0.0), min(at + 2.0, line.length)))
        direction = np.array([x1 - x0, y1 - y0])
        if not np.hypot(*direction) > 0.0:
            continue
        across = np.array([-direction[1], direction[0]]) / np.hypot(*direction) * (width_m / 2.0)
        middle = np.asarray(point.coords[0])
        ledger.note("assumed", "a crossing node without a crossing way: a strip at right angles to the road", node.id)
        marked = node.tags.get("crossing") not in ("unmarked",) and node.tags.get("crossing:markings") != "no"
        yield _strip(node.id, shapely.LineString([middle - across, middle + across]), NODE_CROSSING_WIDTH_M, marked, road)


def _across(found: Survey, road: shapely.Geometry, centre_lines: shapely.Geometry, ledger: Ledger) -> Iterator[Crossing]:
    """Paths that run from one side of a road to the other without being tagged as crossings."""
    if centre_lines.is_empty:
        return
    shapely.prepare(centre_lines)
    paths = [s for s in found.streets if s.role in ("path", "plaza", "shared", "steps") and not s.is_area and s.access == "allowed"]
    for street in paths:
        for inside in lines_of(shapely.intersection(street.element.shape, road)):
            if centre_lines.intersects(inside) and _reaches_both_kerbs(inside, centre_lines):
                ledger.note("assumed", "an unmarked crossing where a path runs across a road", street.element.id)
                yield _strip(street.element.id, inside, min(max(street.width_m, 2.0), 4.0), False, road)


def _reaches_both_kerbs(inside: shapely.LineString, centre_lines: shapely.Geometry) -> bool:
    """A path that ends on the road's centre line only joins it."""
    ends = [shapely.Point(c) for c in (inside.coords[0], inside.coords[-1])]
    return inside.length > 2.0 and all(centre_lines.distance(end) > _JOIN_M for end in ends)


def _strip(identity: str, line: shapely.LineString, width_m: float, marked: bool, road: shapely.Geometry) -> Crossing:
    """The line widened, and drawn on until it leaves the road at both ends, at most by a few metres."""
    points = np.asarray(line.coords)
    axis = points[-1] - points[0]
    length = np.hypot(*axis)
    axis = axis / length if length > 0.0 else np.array([1.0, 0.0])
    start = points[0] - axis * _beyond(points[0], -axis, road)
    end = points[-1] + axis * _beyond(points[-1], axis, road)
    path = shapely.LineString([start, *points[1:-1], end])
    strip = path.buffer(width_m / 2.0, cap_style="flat", join_style="mitre", mitre_limit=2.0)
    return Crossing(identity, common(strip, road), axis, marked, path)


def _beyond(point: NDArray[np.float64], direction: NDArray[np.float64], road: shapely.Geometry) -> float:
    """How far to go from a point so that it lies a metre off the road; 1 m when it already does."""
    ray = shapely.LineString([point, point + direction * _REACH_M])
    on_road = shapely.intersection(ray, road)
    first = [piece for piece in lines_of(on_road) if piece.distance(shapely.Point(point)) < 0.05]
    return min(first[0].length, _REACH_M) + 1.2 if first else 1.2
