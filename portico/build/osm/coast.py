"""Sea from coastlines: OSM draws them with land on the left and water on the right."""

from __future__ import annotations

import numpy as np
import shapely

from portico.build.osm.extract import Element, polygons_of
from portico.build.osm.layers import EMPTY, GRID_M, lines_of, union
from portico.build.osm.report import Ledger

_PROBE_M = 0.5
_REACH_M = 80.0


def sea(coastlines: list[Element], extent: shapely.Polygon, ledger: Ledger) -> shapely.Geometry:
    """The part of the extent on the water side of its coastlines.

    The lines cut the extent into faces; a face is sea when more coast runs with it on the right than on the left. Lines
    that stop short of the border, because their next node is not in the extract, are drawn on to it; one that ends far
    inside bounds nothing and is reported.
    """
    by_line = [(element.id, line) for element in coastlines for line in lines_of(element.shape)]
    if not by_line:
        return EMPTY
    merged = lines_of(shapely.line_merge(shapely.union_all([line for _, line in by_line]), directed=True))
    joined = [_to_border(line, extent) for line in merged]
    for identity, line in by_line:
        if any(done is None and whole.distance(line) < 1e-6 for done, whole in zip(joined, merged, strict=True)):
            ledger.note("ignored", "coastline that ends far from the extract's border: on which side the sea lies cannot be told", identity)
    lines = [line for line in joined if line is not None]
    faces = polygons_of(shapely.polygonize([shapely.union_all([extent.boundary, *lines], grid_size=GRID_M)]))
    return union(face for face in faces if _is_sea(face, lines))


def _to_border(line: shapely.LineString, extent: shapely.Polygon) -> shapely.LineString | None:
    """The line with both ends on the border of the extent; None when an end is too far from it. Islands stay as they are."""
    if line.is_closed:
        return line
    points = [list(c) for c in line.coords]
    for at in (0, -1):
        end = shapely.Point(points[at])
        beyond = shapely.shortest_line(end, extent.boundary)
        if beyond.length > _REACH_M:
            return None
        if beyond.length > 0.0:
            points.insert(0 if at == 0 else len(points), list(beyond.coords[-1]))
    return shapely.LineString(points)


def _is_sea(face: shapely.Polygon, lines: list[shapely.LineString]) -> bool:
    right = left = 0.0
    shapely.prepare(face)
    for line in lines:
        if not line.intersects(face):
            continue
        points = np.asarray(line.coords)
        step = np.diff(points, axis=0)
        length = np.hypot(*step.T)
        normal = np.stack([step[:, 1], -step[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]
        middle = points[:-1] + step / 2.0
        reach = np.minimum(_PROBE_M, length / 2.0)[:, None]
        at_right, at_left = middle + normal * reach, middle - normal * reach
        right += float(length[shapely.contains_xy(face, at_right[:, 0], at_right[:, 1])].sum())
        left += float(length[shapely.contains_xy(face, at_left[:, 0], at_left[:, 1])].sum())
    return right > left
