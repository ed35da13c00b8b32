"""Plan geometry on a millimetre grid: unions and differences that never fail on nearly coincident edges, and hole-free pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.osm.extract import polygons_of

GRID_M = 0.001
EMPTY = shapely.Polygon()


def union(shapes: Iterable[shapely.Geometry]) -> shapely.Geometry:
    """Union of areas on the grid; what has no area is left out."""
    pieces = polygons_of(shapes)
    if not pieces:
        return EMPTY
    try:
        return shapely.union_all(pieces, grid_size=GRID_M)
    except shapely.GEOSException:
        return shapely.union_all(shapely.make_valid(np.array(pieces, dtype=object)), grid_size=GRID_M)


def minus(a: shapely.Geometry, b: shapely.Geometry) -> shapely.Geometry:
    """a without b, areas only."""
    return areas(_overlay(shapely.difference, a, b)) if not a.is_empty and not b.is_empty else a


def common(a: shapely.Geometry, b: shapely.Geometry) -> shapely.Geometry:
    """The area in both."""
    return areas(_overlay(shapely.intersection, a, b)) if not a.is_empty and not b.is_empty else EMPTY


def _overlay(operation: Callable[..., shapely.Geometry], a: shapely.Geometry, b: shapely.Geometry) -> shapely.Geometry:
    """Simplified and buffered outlines can touch themselves within rounding; then they are made valid first."""
    try:
        return operation(a, b, grid_size=GRID_M)
    except shapely.GEOSException:
        return operation(areas(shapely.make_valid(a)), areas(shapely.make_valid(b)), grid_size=GRID_M)


def areas(shape: shapely.Geometry, smallest_m2: float = 0.0) -> shapely.Geometry:
    """The areal part of a geometry, made valid, slivers below ``smallest_m2`` left out."""
    pieces = [p for p in polygons_of(shape if shapely.is_valid(shape) else shapely.make_valid(shape)) if p.area > smallest_m2]
    if not pieces:
        return EMPTY
    return pieces[0] if len(pieces) == 1 else shapely.MultiPolygon(pieces)


def lines_of(shape: shapely.Geometry) -> list[shapely.LineString]:
    """The lines in any geometry."""
    parts = list(getattr(shape, "geoms", [shape]))
    flat = [line for part in parts for line in (lines_of(part) if hasattr(part, "geoms") else [part])]
    return [line for line in flat if isinstance(line, shapely.LineString) and line.length > 0.0]


def merged_lines(lines: Iterable[shapely.Geometry]) -> list[shapely.LineString]:
    """Lines joined where exactly two meet, so that buffers have no joints."""
    parts = [line for shape in lines for line in lines_of(shape)]
    return lines_of(shapely.line_merge(shapely.union_all(parts))) if parts else []


def without_holes(shape: shapely.Geometry) -> list[shapely.Polygon]:
    """Simple pieces that tile an area: polygons with holes are cut through a hole, again and again, along the shorter side."""
    simple: list[shapely.Polygon] = []
    todo = polygons_of(shape)[::-1]
    while todo:
        polygon = todo.pop()
        if not polygon.interiors:
            simple.append(polygon)
            continue
        hole = max(polygon.interiors, key=lambda ring: shapely.Polygon(ring).area)
        x, y = shapely.Polygon(hole).centroid.coords[0]
        x0, y0, x1, y1 = polygon.bounds
        if x1 - x0 >= y1 - y0:
            halves = shapely.box(x0 - 1, y0 - 1, x, y1 + 1), shapely.box(x, y0 - 1, x1 + 1, y1 + 1)
        else:
            halves = shapely.box(x0 - 1, y0 - 1, x1 + 1, y), shapely.box(x0 - 1, y, x1 + 1, y1 + 1)
        todo += [p for half in halves[::-1] for p in polygons_of(common(polygon, half))[::-1]]
    return simple


def tiles(shape: shapely.Geometry, size_m: float) -> list[shapely.Polygon]:
    """The area cut along a square grid, halved again and again so that every cut meets half of what is left."""
    done: list[shapely.Polygon] = []
    todo = polygons_of(shape)[::-1]
    while todo:
        polygon = todo.pop()
        x0, y0, x1, y1 = polygon.bounds
        first, last = np.floor(np.array([x0, y0]) / size_m + 1e-9), np.ceil(np.array([x1, y1]) / size_m - 1e-9)
        count = last - first
        if count.max() <= 1:
            done.append(polygon)
            continue
        axis = int(np.argmax(count))
        cut = float((first[axis] + count[axis] // 2) * size_m)
        low, high = [x0 - 1.0, y0 - 1.0, x1 + 1.0, y1 + 1.0], [x0 - 1.0, y0 - 1.0, x1 + 1.0, y1 + 1.0]
        low[axis + 2] = high[axis] = cut
        halves = [polygons_of(_overlay(shapely.intersection, polygon, shapely.box(*half))) for half in (low, high)]
        todo += [p for half in halves[::-1] for p in half[::-1] if p.area > 1e-6]
    return done


def triangulated(polygons: list[shapely.Polygon]) -> NDArray[np.float64]:
    """(N, 3, 2): counter-clockwise triangles that tile polygons, holes respected."""
    if not polygons:
        return np.zeros((0, 3, 2))
    parts = shapely.get_parts(shapely.constrained_delaunay_triangles(np.array(polygons, dtype=object)))
    corners: NDArray[np.float64] = shapely.get_coordinates(parts).reshape(-1, 4, 2)[:, :3]
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    twice_area = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
    turned = twice_area < 0.0
    corners[turned] = corners[turned][:, ::-1]
    return corners[np.abs(twice_area) > 1e-9]
