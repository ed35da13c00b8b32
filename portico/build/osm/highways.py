"""What each ``highway=*`` is to a pedestrian: class, width, default sidewalks, access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from portico.build.osm.extract import Element
from portico.build.osm.report import Ledger
from portico.build.osm.tags import Tags, layer, parse_count, parse_length_m
from portico.world.semantics import Access

Role = Literal["road", "shared", "path", "plaza", "steps", "crossing"]
Sides = Literal["both", "left", "right", "none"]

LANE_M = 3.25


@dataclass(frozen=True)
class Custom:
    """Defaults of a highway class: ``lanes`` of LANE_M for roads, ``width_m`` for everything else."""

    role: Role
    lanes: int = 0
    width_m: float = 2.0
    sidewalk_m: float = 0.0
    access: Access = "allowed"


CUSTOMS: dict[str, Custom] = {
    "motorway": Custom("road", lanes=2, access="prohibited"),
    "motorway_link": Custom("road", lanes=1, access="prohibited"),
    "trunk": Custom("road", lanes=2, access="prohibited"),
    "trunk_link": Custom("road", lanes=1, access="prohibited"),
    "primary": Custom("road", lanes=2, sidewalk_m=3.0, access="prohibited"),
    "primary_link": Custom("road", lanes=1, sidewalk_m=2.5, access="prohibited"),
    "secondary": Custom("road", lanes=2, sidewalk_m=3.0, access="prohibited"),
    "secondary_link": Custom("road", lanes=1, sidewalk_m=2.5, access="prohibited"),
    "tertiary": Custom("road", lanes=2, sidewalk_m=2.5, access="prohibited"),
    "tertiary_link": Custom("road", lanes=1, sidewalk_m=2.0, access="prohibited"),
    "unclassified": Custom("road", lanes=2, sidewalk_m=2.5, access="prohibited"),
    "residential": Custom("road", lanes=2, sidewalk_m=2.5, access="prohibited"),
    "road": Custom("road", lanes=2, access="prohibited"),
    "busway": Custom("road", lanes=1, access="prohibited"),
    "living_street": Custom("shared", width_m=5.5),
    "service": Custom("shared", width_m=3.5),
    "track": Custom("shared", width_m=3.0),
    "cycleway": Custom("shared", width_m=2.5, access="prohibited"),
    "bridleway": Custom("shared", width_m=2.0),
    "pedestrian": Custom("plaza", width_m=6.0),
    "footway": Custom("path", width_m=2.0),
    "path": Custom("path", width_m=1.8),
    "platform": Custom("path", width_m=3.0),
    "steps": Custom("steps", width_m=2.5),
}

_CROSSING_WIDTH_M = 3.5
_FORBIDDING = {"no", "private", "military", "permit", "customers"}
_ALLOWING = {"yes", "designated", "permissive", "public", "official"}


@dataclass(frozen=True)
class Street:
    """A highway ready to be laid out.

    Attributes:
        element: line or area in local metres. role: what it becomes. width_m: kerb to kerb.
        sidewalk_m: width of the strips along it, on ``sides``. marked: painted, for crossings.
    """

    element: Element
    role: Role
    width_m: float
    access: Access
    sidewalk_m: float = 0.0
    sides: Sides = "none"
    marked: bool = False
    passage: bool = False

    @property
    def is_area(self) -> bool:
        return "Polygon" in self.element.shape.geom_type


def street_of(element: Element, ledger: Ledger) -> Street | None:
    """The street that a highway element is; None, and said so, for values that are no ground to walk or drive on."""
    tags = element.tags
    value = tags.get("highway") or ("pedestrian" if tags.get("area:highway") in ("pedestrian", "footway") else "")
    if tags.get("railway") == "platform" or tags.get("public_transport") == "platform":
        value = "platform" if value not in CUSTOMS else value
    custom = CUSTOMS.get(value)
    if custom is None:
        ledger.note("ignored", f"highway={value}", element.id)
        return None
    crossing = custom.role == "path" and "crossing" in (tags.get("footway"), tags.get("path"), tags.get("cycleway"))
    role: Role = "crossing" if crossing else custom.role
    if role == "path" and "Polygon" in element.shape.geom_type and value == "footway":
        role = "plaza"
    sides, sidewalk_m = _sidewalks(element, custom, ledger) if role == "road" else ("none", 0.0)
    passage = tags.get("tunnel") == "building_passage" or (tags.get("covered", "no") not in ("no", "") and layer(tags) >= 0)
    marked = crossing and tags.get("crossing") not in ("unmarked", "no") and tags.get("crossing:markings") != "no"
    width_m = _width(element, custom, value, ledger)
    if crossing and "width" not in tags:
        width_m = _CROSSING_WIDTH_M
    return Street(element, role, width_m, access_of(tags, custom), sidewalk_m, sides, marked, passage)


def access_of(tags: Tags, custom: Custom) -> Access:
    """``foot`` decides, then ``access`` for ways on which people walk, then the custom of the class."""
    foot, general = tags.get("foot"), tags.get("access")
    if foot in _FORBIDDING or foot == "use_sidepath":
        return "prohibited"
    if custom.role == "road":
        return "prohibited"
    if foot in _ALLOWING:
        return "allowed"
    if custom.access == "prohibited" and tags.get("segregated") != "no":
        return "prohibited"
    return "prohibited" if general in _FORBIDDING - {"customers"} else "allowed"


def _width(element: Element, custom: Custom, value: str, ledger: Ledger) -> float:
    tags = element.tags
    text = tags.get("width") or tags.get("est_width")
    if text and "Polygon" not in element.shape.geom_type:
        width_m = parse_length_m(text)
        if width_m is not None and 0.3 <= width_m <= 80.0:
            return max(width_m, 1.0)
        ledger.note("assumed", f"width={text!r} is no usable length, the default of highway={value} instead", element.id)
    if custom.role != "road":
        return custom.width_m
    lanes = None
    if "lanes" in tags:
        lanes = parse_count(tags["lanes"])
        if lanes is None or not 1.0 <= lanes <= 16.0:
            ledger.note("assumed", f"lanes={tags['lanes']!r} is no usable count, the default of highway={value} instead", element.id)
            lanes = None
    if lanes is None:
        ledger.note("assumed", f"width of highway={value} from its class, neither width nor lanes given", element.id)
        oneway = tags.get("oneway") in ("yes", "1", "-1", "true") or tags.get("junction") == "roundabout"
        lanes = max(1, custom.lanes - 1) if oneway else custom.lanes
    return max(lanes * LANE_M, 3.5)


def _sidewalks(element: Element, custom: Custom, ledger: Ledger) -> tuple[Sides, float]:
    tags = element.tags
    given: dict[str, str] = {side: tags[f"sidewalk:{side}"] for side in ("left", "right") if f"sidewalk:{side}" in tags}
    both = tags.get("sidewalk:both") or tags.get("sidewalk")
    width_m = max(custom.sidewalk_m, 2.0)
    if both in ("both", "yes"):
        return "both", width_m
    if both in ("left", "right"):
        return ("left", width_m) if both == "left" else ("right", width_m)
    if both in ("no", "none", "separate"):
        return "none", 0.0
    if given:
        sides = [side for side, value in given.items() if value == "yes"]
        return ("both" if len(sides) == 2 else "left" if sides == ["left"] else "right" if sides else "none"), width_m
    if not custom.sidewalk_m or "Polygon" in element.shape.geom_type or tags.get("motorroad") == "yes":
        return "none", 0.0
    ledger.note("assumed", "sidewalks on both sides of a street without a sidewalk tag", element.id)
    return "both", custom.sidewalk_m
