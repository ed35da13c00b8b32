"""Sorts the elements of an extract by what they become, projected and clipped to the world's extent."""

from __future__ import annotations

from dataclasses import dataclass, field

import shapely

from portico.build.osm.extract import Element, Extract
from portico.build.osm.highways import Street, street_of
from portico.build.osm.layers import areas, common, lines_of
from portico.build.osm.projection import LocalFrame
from portico.build.osm.report import Ledger
from portico.build.osm.tags import Tags, at_street_level, is_indoor, is_underground, layer

GREEN = {
    "landuse": {"grass", "forest", "meadow", "village_green", "cemetery", "orchard", "vineyard", "farmland", "allotments", "recreation_ground", "flowerbed", "greenfield"},
    "leisure": {"park", "garden", "dog_park", "nature_reserve", "golf_course"},
    "natural": {"wood", "scrub", "grassland", "heath", "wetland", "tree_group", "shrubbery", "fell", "bare_rock", "scree"},
}  # fmt: skip
WATER = {"natural": {"water", "bay"}, "landuse": {"basin", "reservoir", "pond"}, "leisure": {"swimming_pool"}, "waterway": {"riverbank", "dock"}}
PLAY = {"leisure": {"pitch", "playground", "track", "outdoor_seating", "bandstand"}, "natural": {"sand", "beach", "shingle"}, "man_made": {"pier"}}
SQUARE = {"place": {"square"}, "leisure": {"common"}, "amenity": {"marketplace"}}
PARKING = {"amenity": {"parking", "bicycle_parking", "motorcycle_parking", "taxi", "fuel"}}
_STREAM_WIDTH_M = {"river": 12.0, "canal": 8.0, "stream": 1.5, "drain": 1.0, "ditch": 0.8}
_RAIL_WIDTH_M = {"rail": 3.0, "light_rail": 3.0, "narrow_gauge": 2.2, "tram": 2.6}
PLACE_KEYS = ("shop", "amenity", "tourism", "office", "craft", "healthcare", "leisure")


@dataclass
class Survey:
    """The elements of an extract by what they become; shapes in local metres, inside ``extent``."""

    extent: shapely.Polygon
    streets: list[Street] = field(default_factory=list)
    buildings: list[Element] = field(default_factory=list)
    parts: list[Element] = field(default_factory=list)
    canopies: list[Element] = field(default_factory=list)
    green: list[Element] = field(default_factory=list)
    water: list[Element] = field(default_factory=list)
    play: list[Element] = field(default_factory=list)
    squares: list[Element] = field(default_factory=list)
    parkings: list[Element] = field(default_factory=list)
    rails: list[Element] = field(default_factory=list)
    barriers: list[Element] = field(default_factory=list)
    gates: list[shapely.Point] = field(default_factory=list)
    coastlines: list[Element] = field(default_factory=list)
    crossings: list[Element] = field(default_factory=list)
    entrances: list[Element] = field(default_factory=list)
    furniture: list[Element] = field(default_factory=list)
    places: list[Element] = field(default_factory=list)


def survey(extract: Extract, frame: LocalFrame, extent: shapely.Polygon, ledger: Ledger) -> Survey:
    """Sort, project and clip; everything left out is noted."""
    result = Survey(extent)
    shapely.prepare(extent)
    for element in extract.elements:
        local = shapely.transform(element.shape, lambda degrees: frame.to_local(degrees[:, 0], degrees[:, 1]))
        if not extent.intersects(local):
            continue
        clipped = local if extent.contains_properly(local) else _clipped(local, extent)
        if clipped is not None and not clipped.is_empty:
            _sort(element.moved(clipped), result, ledger)
    result.streets = _without_flyovers(result.streets, result.rails, ledger)
    return result


def _without_flyovers(streets: list[Street], rails: list[Element], ledger: Ledger) -> list[Street]:
    """Streets without the bridges over other streets or rails: on flat ground those would meet. Bridges over water stay."""
    below = [s.element.shape for s in streets if not _is_bridge(s)] + [e.shape for e in rails if e.tags.get("railway") != "tram"]
    tree = shapely.STRtree(below)
    kept = []
    for street in streets:
        if _is_bridge(street) and any(_crosses(street.element.shape, below[i]) for i in tree.query(street.element.shape, predicate="intersects").tolist()):
            ledger.note("dropped", "bridge over another street or a railway; the ground is flat", street.element.id)
        else:
            kept.append(street)
    return kept


def _is_bridge(street: Street) -> bool:
    return street.element.tags.get("bridge", "no") != "no" and layer(street.element.tags) > 0


def _crosses(bridge: shapely.Geometry, other: shapely.Geometry) -> bool:
    """Whether they meet elsewhere than at the ends of the bridge, where it goes on as a street."""
    return not shapely.difference(shapely.intersection(bridge, other), bridge.boundary.buffer(0.5)).is_empty


def _clipped(shape: shapely.Geometry, extent: shapely.Polygon) -> shapely.Geometry | None:
    if "Polygon" in shape.geom_type:
        return areas(common(shape, extent), 0.1)
    if shape.geom_type == "Point":
        return shape
    pieces = lines_of(shapely.intersection(shape, extent))
    return shapely.MultiLineString(pieces) if len(pieces) > 1 else pieces[0] if pieces else None


def _sort(element: Element, result: Survey, ledger: Ledger) -> None:
    tags, kind = element.tags, element.shape.geom_type
    if is_indoor(tags):
        ledger.note("ignored", "indoor features; the inside of buildings is not modelled", element.id)
    elif is_underground(tags):
        ledger.note("ignored", "underground or in a tunnel", element.id)
    elif kind == "Point":
        _sort_point(element, result)
        _sort_place(element, result, ledger)
    elif "Line" in kind:
        _sort_line(element, result, ledger)
    else:
        _sort_area(element, result, ledger)
        _sort_place(element, result, ledger)


def _sort_point(element: Element, result: Survey) -> None:
    tags = element.tags
    if tags.get("highway") == "crossing" and tags.get("crossing") != "no":
        result.crossings.append(element)
    elif tags.get("barrier") in ("gate", "entrance", "lift_gate", "swing_gate", "kissing_gate", "stile", "turnstile", "cycle_barrier", "sally_port"):
        result.gates.append(element.shape)
    elif tags.get("entrance", "no") not in ("no", "emergency") or tags.get("building") == "entrance" or "door" in tags:
        if at_street_level(tags):
            result.entrances.append(element)
    else:
        result.furniture.append(element)


def _sort_line(element: Element, result: Survey, ledger: Ledger) -> None:
    tags = element.tags
    if "highway" in tags or tags.get("railway") == "platform":
        _add_street(element, result, ledger)
    elif tags.get("railway") in _RAIL_WIDTH_M:
        result.rails.append(element.moved(element.shape.buffer(_RAIL_WIDTH_M[tags["railway"]] / 2.0, cap_style="flat")))
    elif tags.get("waterway") in _STREAM_WIDTH_M:
        result.water.append(element.moved(element.shape.buffer(_STREAM_WIDTH_M[tags["waterway"]] / 2.0, quad_segs=3)))
    elif tags.get("natural") == "coastline":
        result.coastlines.append(element)
    elif "barrier" in tags or tags.get("natural") == "tree_row":
        result.barriers.append(element)
    elif tags.get("building", "no") != "no":
        ledger.note("dropped", "building outline that is not closed", element.id)


def _sort_area(element: Element, result: Survey, ledger: Ledger) -> None:
    tags = element.tags
    if tags.get("building", "no") not in ("no", "entrance", "underpass_entrance", "proposed", "construction", "ruins"):
        roof = tags["building"] in ("roof", "canopy", "carport") or tags.get("location") == "roof"
        (result.canopies if roof else result.buildings).append(element)
    elif tags.get("building:part", "no") != "no":
        (result.canopies if tags["building:part"] == "roof" else result.parts).append(element)
    elif tags.get("man_made") == "canopy":
        result.canopies.append(element)
    elif "highway" in tags or "area:highway" in tags or "platform" in (tags.get("railway"), tags.get("public_transport")):
        if "highway" in tags or tags.get("area:highway") in ("pedestrian", "footway") or tags.get("railway") == "platform":
            _add_street(element, result, ledger)
    elif _matches(tags, WATER):
        result.water.append(element)
    elif _matches(tags, PLAY):
        result.play.append(element)
    elif _matches(tags, PARKING) and tags.get("parking", "surface") in ("surface", "street_side", "lane"):
        result.parkings.append(element)
    elif _matches(tags, GREEN):
        result.green.append(element)
    elif _matches(tags, SQUARE):
        result.squares.append(element)
    elif tags.get("landuse") == "railway":
        result.rails.append(element)


def _add_street(element: Element, result: Survey, ledger: Ledger) -> None:
    if not at_street_level(element.tags):
        ledger.note("ignored", "streets and paths on storeys above the ground", element.id)
        return
    street = street_of(element, ledger)
    if street is None:
        return
    if layer(element.tags) > 0 and element.tags.get("bridge", "no") == "no" and element.tags.get("covered", "no") == "no":
        ledger.note("ignored", "streets and paths above the ground that are no bridges", element.id)
        return
    result.streets.append(street)


_NOT_PLACES = {
    "bench", "waste_basket", "waste_disposal", "recycling", "vending_machine", "parking", "parking_space", "parking_entrance", "bicycle_parking", "motorcycle_parking",
    "bicycle_rental", "post_box", "telephone", "clock", "fountain", "drinking_water", "grit_bin", "shelter", "taxi", "charging_station", "atm", "toilets", "lounger",
    "pitch", "playground", "park", "garden", "track", "swimming_pool", "slipway", "common", "outdoor_seating", "picnic_table", "bandstand", "artwork", "viewpoint",
    "information", "attraction", "picnic_site", "life_ring", "bbq", "hunting_stand", "loading_dock", "watering_place", "water_point", "feeding_place", "nature_reserve",
    "dog_park", "fitness_station", "no", "vacant", "disused", "compressed_air", "grave_yard", "ferry_terminal", "photo_booth", "advertising", "table",
}  # fmt: skip


def place_category(tags: Tags) -> str | None:
    """The value that makes an element a destination: ``bakery``, ``cafe``, ``museum``; None for street furniture and the like."""
    for key in PLACE_KEYS:
        value = tags.get(key, "").split(";")[0].strip()
        if value and value not in _NOT_PLACES:
            return key if value == "yes" else value
    return None


def _sort_place(element: Element, result: Survey, ledger: Ledger) -> None:
    if place_category(element.tags) is None:
        return
    if at_street_level(element.tags):
        result.places.append(element)
    else:
        ledger.note("ignored", "shops and services on other storeys; the inside of buildings is not modelled", element.id)


def _matches(tags: Tags, table: dict[str, set[str]]) -> bool:
    return any(tags.get(key) in values for key, values in table.items())
