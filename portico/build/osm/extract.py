"""An OSM extract in memory: tagged points, lines and areas in degrees, whatever file they came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.osm.report import Ledger
from portico.build.osm.tags import Tags

Box = tuple[float, float, float, float]  # west, south, east, north in degrees

#: Closed ways with one of these keys are areas unless ``area=no``.
_AREA_KEYS = {
    "building", "building:part", "landuse", "leisure", "natural", "amenity", "shop", "tourism", "office", "craft", "healthcare", "place", "area:highway", "room",
    "indoor", "historic", "water",
}  # fmt: skip
_LINEAR_NATURAL = {"coastline", "tree_row", "cliff", "ridge", "valley"}
_AREA_MAN_MADE = {"bridge", "pier", "canopy", "tower", "building"}


@dataclass(frozen=True)
class Element:
    """One OSM element: ``id`` as n1, w1 or r1; ``shape`` a Point, LineString, Polygon or MultiPolygon."""

    id: str
    tags: Tags
    shape: shapely.Geometry

    def moved(self, shape: shapely.Geometry) -> Element:
        """The same element with another shape."""
        return replace(self, shape=shape)


@dataclass(frozen=True)
class Extract:
    """What a file holds. ``bounds`` is what it, or the user, says it covers; None when neither did."""

    elements: tuple[Element, ...]
    bounds: Box | None
    read: dict[str, int]


def is_area(tags: Tags, closed: bool) -> bool:
    """Whether a way is an area, by OSM's custom."""
    if not closed or tags.get("area") == "no" or tags.get("type") == "boundary":
        return False
    if tags.get("area") == "yes":
        return True
    if tags.get("natural") in _LINEAR_NATURAL or tags.get("indoor") == "wall":
        return False
    linear_barrier = "barrier" in tags and not _AREA_KEYS & tags.keys() - {"indoor"}
    return not linear_barrier and (
        bool(_AREA_KEYS & tags.keys()) or tags.get("man_made") in _AREA_MAN_MADE or tags.get("highway") == "platform" or tags.get("railway") == "platform"
    )


def way_shape(element_id: str, tags: Tags, points: NDArray[np.float64], ledger: Ledger) -> shapely.Geometry | None:
    """Line or polygon of a way from its points (N, 2) degrees; None, and said so, when there is nothing left to draw."""
    closed = len(points) >= 3 and bool((points[0] == points[-1]).all())
    points = _without_repeats(points)
    if is_area(tags, closed):
        if len(points) < 4:
            ledger.note("dropped", "outline of fewer than three different points", element_id)
            return None
        return repaired_area(element_id, shapely.Polygon(points), ledger)
    if len(points) < 2:
        ledger.note("dropped", "way of fewer than two different points", element_id)
        return None
    return shapely.LineString(points)


def repaired_area(element_id: str, area: shapely.Geometry, ledger: Ledger) -> shapely.Geometry | None:
    """The area itself, or its valid pieces where the outline crosses itself; None when no area is left."""
    if area.is_valid and area.area > 0.0:
        return area
    reason = shapely.is_valid_reason(area).split("[")[0]
    pieces = polygons_of(shapely.make_valid(area))
    if not pieces:
        ledger.note("dropped", "outline without an area", element_id)
        return None
    ledger.note("repaired", f"outline crosses or touches itself ({reason.lower()}), split into simple pieces", element_id)
    return pieces[0] if len(pieces) == 1 else shapely.MultiPolygon(pieces)


def multipolygon(element_id: str, outers: list[NDArray[np.float64]], inners: list[NDArray[np.float64]], ledger: Ledger) -> shapely.Geometry | None:
    """The area of a multipolygon relation from the points of its member ways; None, and said so, when no ring closes.

    Roles are mapped carelessly often enough that only "inner" is believed; whatever ring remains open is reported.
    """
    outer = _rings(element_id, outers, ledger)
    if not outer:
        ledger.note("dropped", "multipolygon without a closed outer ring", element_id)
        return None
    area = shapely.union_all(outer)
    holes = _rings(element_id, inners, ledger) if inners else []
    area = shapely.difference(area, shapely.union_all(holes)) if holes else area
    pieces = polygons_of(area)
    if not pieces:
        ledger.note("dropped", "outline without an area", element_id)
        return None
    return pieces[0] if len(pieces) == 1 else shapely.MultiPolygon(pieces)


def polygons_of(shape: shapely.Geometry | Iterable[shapely.Geometry]) -> list[shapely.Polygon]:
    """The polygons with an area in any geometry, in its own order."""
    parts = [shape] if isinstance(shape, shapely.Geometry) else list(shape)
    flat: list[shapely.Geometry] = []
    while parts:
        part = parts.pop(0)
        if hasattr(part, "geoms"):
            parts = [*part.geoms, *parts]
        else:
            flat.append(part)
    return [p for p in flat if isinstance(p, shapely.Polygon) and p.area > 0.0]


def _rings(element_id: str, lines: list[NDArray[np.float64]], ledger: Ledger) -> list[shapely.Polygon]:
    segments = {tuple(sorted((tuple(a), tuple(b)))) for line in lines for a, b in pairwise(line.tolist()) if a != b}
    if not segments:
        return []
    faces, cuts, dangles, invalid = shapely.polygonize_full([shapely.LineString(s) for s in sorted(segments)])
    if len(faces.geoms) and (len(cuts.geoms) or len(dangles.geoms) or len(invalid.geoms)):
        ledger.note("repaired", "multipolygon with an open ring, its closed rings kept", element_id)
    # polygonize also returns the faces inside nested rings; the outer rings alone carry the area.
    return [shapely.Polygon(face.exterior) for face in faces.geoms]


def _without_repeats(points: NDArray[np.float64]) -> NDArray[np.float64]:
    keep = np.ones(len(points), bool)
    keep[1:] = (np.diff(points, axis=0) != 0.0).any(axis=1)
    return points[keep]
