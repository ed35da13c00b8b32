"""Buildings: heights, footprints that do not overlap, parts, and passages that streets need through them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import shapely

from portico.build.osm.extract import Element, polygons_of
from portico.build.osm.highways import Street
from portico.build.osm.layers import EMPTY, areas, common, lines_of, minus, union
from portico.build.osm.report import Ledger
from portico.build.osm.survey import Survey
from portico.build.osm.tags import Tags, layer, parse_count, parse_length_m

STOREY_M = 3.2
PASSAGE_HEIGHT_M = 3.4
_FALLBACK_LEVELS = 3
_LEVELS = {
    "house": 2, "detached": 2, "semidetached_house": 2, "terrace": 2, "bungalow": 1, "residential": 3, "apartments": 5, "office": 5, "commercial": 3, "retail": 2,
    "industrial": 2, "warehouse": 2, "garage": 1, "garages": 1, "shed": 1, "kiosk": 1, "hut": 1, "cabin": 1, "greenhouse": 1, "glasshouse": 1, "service": 1, "toilets": 1,
    "utility": 1, "farm_auxiliary": 1, "barn": 2, "church": 4, "cathedral": 7, "chapel": 3, "school": 3, "university": 5, "hotel": 6, "hospital": 5, "train_station": 3,
    "pavilion": 1, "farm": 2, "stable": 1, "carport": 1, "static_caravan": 1, "public": 3,
}  # fmt: skip
_SMALLEST_M2 = 1.0
_SLIT_M = 0.05
_PIER_M = 0.8


@dataclass(frozen=True)
class Body:
    """A vertical prism of a building. ``street_level`` bodies have a ground storey."""

    polygon: shapely.Geometry
    low_m: float
    high_m: float
    storey_m: float

    @property
    def street_level(self) -> bool:
        return self.low_m <= 0.0


@dataclass(frozen=True)
class House:
    """A building as it will be raised: ``footprint`` is where its walls meet the ground, passages left out."""

    element: Element
    category: str
    footprint: shapely.Geometry
    bodies: tuple[Body, ...]
    levels: int
    storey_m: float

    @property
    def name(self) -> str:
        return self.element.tags.get("name", "")


def raise_houses(found: Survey, ledger: Ledger) -> list[House]:
    """Every building with a footprint of its own, in the order of area, and what hangs above the ground."""
    plots = _plots(found, ledger)
    passages = _passages(plots, found.streets, ledger)
    parts = _assigned(found.parts, plots, ledger)
    standing = [_house(element, shape, passages.get(i, EMPTY), parts.get(i, []), ledger) for i, (element, shape) in enumerate(plots)]
    return standing + [_hanging(element, ledger) for element in found.buildings if not _stands(element)]


def _plots(found: Survey, ledger: Ledger) -> list[tuple[Element, shapely.Geometry]]:
    """Outlines without overlaps: the larger building keeps the ground, a smaller one inside it is part of it."""
    ordered = sorted(found.buildings, key=lambda e: (-round(e.shape.area, 3), e.id))
    grounded = [e for e in ordered if _stands(e)]
    tree = shapely.STRtree([e.shape for e in grounded])
    taken: dict[int, shapely.Geometry] = {}
    for i, element in enumerate(grounded):
        shape = element.shape
        neighbours = sorted(j for j in tree.query(shape, predicate="intersects").tolist() if j in taken)
        if neighbours:
            shape = minus(shape, union(taken[j] for j in neighbours))
        if element.shape.area < _SMALLEST_M2:
            ledger.note("dropped", f"building of less than {_SMALLEST_M2:g} square metre", element.id)
        elif shape.area < 0.1 * element.shape.area:
            ledger.note("dropped", "building inside the outline of another building", element.id)
        else:
            shape = areas(shape.simplify(0.03), _SMALLEST_M2)
            if not shape.is_empty:
                taken[i] = shape
    return [(grounded[i], shape) for i, shape in sorted(taken.items())]


def _stands(element: Element) -> bool:
    """Whether a building reaches the ground; skywalks and upper storeys mapped on their own do not."""
    return _base_m(element.tags) <= 0.5 and layer(element.tags) <= 0


def _hanging(element: Element, ledger: Ledger) -> House:
    """A building above the ground, such as a skywalk: walls, a roof and a soffit, and the ground below stays free."""
    base_m = max(_base_m(element.tags), PASSAGE_HEIGHT_M)
    top_m, levels, storey_m = _height(element, ledger)
    if top_m < base_m + 1.0:
        top_m = base_m + storey_m
    category = element.tags.get("building", "yes")
    return House(element, "building" if category == "yes" else category, EMPTY, (Body(element.shape, base_m, top_m, storey_m),), levels, storey_m)


def _passages(plots: list[tuple[Element, shapely.Geometry]], streets: list[Street], ledger: Ledger) -> dict[int, shapely.Geometry]:
    """Plot number -> ground to keep clear for streets that run through the building."""
    tree = shapely.STRtree([shape for _, shape in plots])
    cut: dict[int, list[shapely.Geometry]] = {}
    for street in streets:
        if street.is_area or street.role == "steps":
            continue
        line = street.element.shape
        ends = [shapely.Point(c) for part in lines_of(line) for c in (part.coords[0], part.coords[-1])]
        for i in sorted(tree.query(line, predicate="intersects").tolist()):
            inside = [part for part in lines_of(shapely.intersection(line, plots[i][1])) if part.length > 1.0]
            if not street.passage:
                inside = [part for part in inside if street.role in ("road", "shared") or not any(part.distance(end) < 0.3 for end in ends)]
                for _ in inside:
                    ledger.note("assumed", "a passage where a street or path without tunnel=building_passage runs through a building", street.element.id)
            width = street.width_m / 2.0 if street.role in ("road", "shared") else max(street.width_m, 2.4) / 2.0
            cut.setdefault(i, []).extend(part.buffer(width, cap_style="square", join_style="mitre") for part in inside)
    # Passages side by side are one: no thin wall stays between a lane and its sidewalk.
    return {i: union(pieces).buffer(_PIER_M / 2.0, join_style="mitre").buffer(-_PIER_M / 2.0, join_style="mitre") for i, pieces in cut.items() if pieces}


def _assigned(parts: list[Element], plots: list[tuple[Element, shapely.Geometry]], ledger: Ledger) -> dict[int, list[Element]]:
    tree = shapely.STRtree([shape for _, shape in plots])
    assigned: dict[int, list[Element]] = {}
    for part in sorted(parts, key=lambda e: e.id):
        hosts = tree.query(part.shape, predicate="intersects").tolist()
        shares = [(-common(part.shape, plots[i][1]).area, i) for i in hosts]
        if not shares or -min(shares)[0] < 0.3 * part.shape.area:
            ledger.note("dropped", "building:part outside of every building", part.id)
        else:
            assigned.setdefault(min(shares)[1], []).append(part)
    return assigned


def _house(element: Element, plot: shapely.Geometry, passage: shapely.Geometry, parts: list[Element], ledger: Ledger) -> House:
    tags = element.tags
    height_m, levels, storey_m = _height(element, ledger)
    bodies: list[Body] = []
    remainder = plot
    for part in parts:
        shape = common(part.shape, plot)
        base_m = _base_m(part.tags)
        top_m, _, part_storey_m = _height(part, ledger, fallback_m=height_m)
        if shape.is_empty or top_m <= base_m:
            continue
        bodies.append(Body(shape, base_m if base_m > 0.5 else 0.0, top_m, part_storey_m))
        if base_m <= 0.5:
            remainder = minus(remainder, shape)
    if remainder.area > 0.1 * plot.area or not bodies:
        bodies.insert(0, Body(areas(remainder, 0.5), 0.0, height_m, storey_m))
    if not passage.is_empty:
        bodies = [piece for body in bodies for piece in _cut(body, passage)]
    footprint = areas(minus(plot, passage), 0.5)
    category = tags.get("building", "yes")
    return House(element, "building" if category == "yes" else category, footprint, tuple(bodies), levels, storey_m)


def _cut(body: Body, passage: shapely.Geometry) -> list[Body]:
    over = common(body.polygon, passage)
    if not body.street_level or over.is_empty:
        return [body]
    rest = Body(areas(minus(body.polygon, passage), 0.05), body.low_m, body.high_m, body.storey_m)
    above = Body(over, PASSAGE_HEIGHT_M, body.high_m, body.storey_m)
    return [piece for piece in (rest, above) if not piece.polygon.is_empty and piece.high_m > piece.low_m]


def _base_m(tags: Tags) -> float:
    if "min_height" in tags:
        return parse_length_m(tags["min_height"]) or 0.0
    return (parse_count(tags.get("building:min_level", "0")) or 0.0) * STOREY_M


def _height(element: Element, ledger: Ledger, fallback_m: float | None = None) -> tuple[float, int, float]:
    """Height in metres, number of storeys, storey height."""
    tags = element.tags
    storeys = _tagged_storeys(element, ledger)
    height_m = _tagged_height(element, ledger)
    if height_m is None and storeys is None:
        if fallback_m is None:
            storeys = _LEVELS.get(tags.get("building", ""), _FALLBACK_LEVELS)
            ledger.note("assumed", "height of a building without height and building:levels, from its kind", element.id)
        else:
            height_m = fallback_m
    if height_m is None:
        height_m = max(1.0, storeys or 1.0) * STOREY_M + (0.6 if (storeys or 0) > 1 else 0.0)
    levels = max(1, ceil(storeys) if storeys else round(height_m / STOREY_M))
    return height_m, levels, min(max(height_m / levels, 2.4), 6.0)


def _tagged_height(element: Element, ledger: Ledger) -> float | None:
    text = element.tags.get("height") or element.tags.get("building:height")
    if text is None:
        return None
    height_m = parse_length_m(text)
    if height_m is None or not 0.3 <= height_m <= 900.0:
        ledger.note("assumed", f"height={text!r} is no usable length, height from the storeys or the kind of building instead", element.id)
        return None
    return height_m


def _tagged_storeys(element: Element, ledger: Ledger) -> float | None:
    text = element.tags.get("building:levels") or element.tags.get("levels")
    if text is None:
        return None
    storeys = parse_count(text)
    if storeys is None or storeys == 0.0:
        ledger.note("assumed", f"building:levels={text!r} is no usable count, storeys from the height or the kind of building instead", element.id)
        return None
    return storeys


def canopy_height_m(tags: Tags) -> float:
    """Upper side of a roof on posts: high enough to walk under."""
    tagged = parse_length_m(tags.get("height", ""))
    base_m = _base_m(tags)
    return max(tagged or 0.0, base_m + 0.3 if base_m > 0.0 else 0.0, 3.2)


def simple_footprints(footprint: shapely.Geometry) -> list[shapely.Polygon]:
    """The footprint's pieces as polygons without holes: a slit of 5 cm joins each courtyard to the outside."""
    pieces: list[shapely.Polygon] = []
    for polygon in polygons_of(footprint):
        for _ in range(len(polygon.interiors)):
            if not polygon.interiors:
                break
            polygon = max(polygons_of(minus(polygon, _slit(polygon))), key=lambda p: p.area)
        pieces.append(polygon)
    return [p for p in pieces if not p.interiors]


def _slit(polygon: shapely.Polygon) -> shapely.Geometry:
    """A narrow strip from the first hole to the outside, by the shortest way."""
    way = shapely.shortest_line(polygon.exterior, polygon.interiors[0])
    (x0, y0), (x1, y1) = way.coords
    if way.length < 1e-6:
        return shapely.Point(x0, y0).buffer(_SLIT_M, quad_segs=2)
    reach = 2.0 * _SLIT_M / way.length
    longer = shapely.LineString([(x0 - reach * (x1 - x0), y0 - reach * (y1 - y0)), (x1 + reach * (x1 - x0), y1 + reach * (y1 - y0))])
    return longer.buffer(_SLIT_M / 2.0, cap_style="flat")
