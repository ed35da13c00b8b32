"""What the things of a world are: buildings, floors, portals, regions, rooms, objects, places, routes.

These models are the schema of ``semantics.json``. Distances in metres, world frame; polygons are simple, in either
winding, without a repeated last point.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import shapely
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, SerializerFunctionWrapHandler, model_serializer

Point2 = tuple[FiniteFloat, FiniteFloat]
Point3 = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
Segment = tuple[Point2, Point2]

RegionType = Literal["sidewalk", "crosswalk", "shared_road", "vehicle_lane", "open_area", "vegetated", "water"]
Access = Literal["allowed", "prohibited"]

#: Default access by region type [I2 A.3]; an annotation overrides it.
DEFAULT_ACCESS: dict[RegionType, Access] = {
    "sidewalk": "allowed",
    "crosswalk": "allowed",
    "shared_road": "allowed",
    "open_area": "allowed",
    "vehicle_lane": "prohibited",
    "vegetated": "prohibited",
    "water": "prohibited",
}


def _simple(polygon: list[Point2]) -> list[Point2]:
    if len(polygon) < 3:
        raise ValueError(f"a polygon needs at least 3 points, this one has {len(polygon)}")
    shape = shapely.Polygon(polygon)
    if not shape.is_valid:
        raise ValueError(f"polygon is not simple: {shapely.is_valid_reason(shape)}")
    return polygon


Polygon = Annotated[list[Point2], AfterValidator(_simple)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Floor(_Record):
    """A storey: ``z_m`` is its floor surface; ``level`` 0 is the one at the street."""

    id: str
    level: int
    z_m: FiniteFloat
    height_m: Annotated[FiniteFloat, Field(gt=0)]
    outline: Polygon | None = None


class Building(_Record):
    """A building; its footprint says where inside ends. ``enterable`` when its rooms are modelled."""

    id: str
    name: str = ""
    category: str = "building"
    footprint: Polygon
    floors: list[Floor] = []
    enterable: bool = False


class Portal(_Record):
    """An opening between two spaces; ``building`` to outdoors when ``exterior``."""

    id: str
    building: str
    floor: str
    kind: Literal["door", "opening", "gate"] = "door"
    segment: Segment
    z_m: FiniteFloat
    state: Literal["open", "closed"] = "open"
    exterior: bool = False


class Region(_Record):
    """Outdoor ground of one type; where regions overlap the last listed wins."""

    id: str
    type: RegionType
    access: Access
    polygon: Polygon


class Room(_Record):
    """A room or corridor on a floor."""

    id: str
    building: str
    floor: str
    category: str
    polygon: Polygon


class ObjectInstance(_Record):
    """A thing with an upright box: ``center`` of the box, ``size`` along its own axes, turned by ``yaw_rad``."""

    id: str
    category: str
    name: str = ""
    center: Point3
    size: tuple[FiniteFloat, FiniteFloat, FiniteFloat]
    yaw_rad: FiniteFloat = 0.0
    building: str | None = None
    floor: str | None = None
    room: str | None = None


class Place(_Record):
    """A shop, cafe or service: what people would name as a destination."""

    id: str
    category: str
    name: str
    building: str | None = None
    frontage: Segment | None = None
    center: Point3
    size: tuple[FiniteFloat, FiniteFloat, FiniteFloat] = (1.0, 1.0, 1.0)
    entrance: str | None = None


class RouteGraph(_Record):
    """Outdoor pedestrian network: node positions and undirected edges between them."""

    nodes: list[Point3] = []
    edges: list[tuple[int, int]] = []


class Way(_Record):
    """A road or waterway seen from above: the line in its middle, and how wide it is where that is known."""

    id: str
    kind: Literal["road", "waterway"]
    category: str = ""
    name: str = ""
    line: Annotated[list[Point2], Field(min_length=2)]
    width_m: FiniteFloat | None = None


class InstanceLabel(_Record):
    """What the instance number of a triangle stands for: a category, and the object when it is one."""

    id: Annotated[int, Field(ge=1)]
    category: str
    object: str | None = None


class Semantics(BaseModel):
    """All annotations of a world."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    buildings: list[Building] = []
    portals: list[Portal] = []
    regions: list[Region] = []
    rooms: list[Room] = []
    objects: list[ObjectInstance] = []
    places: list[Place] = []
    routes: RouteGraph = RouteGraph()
    instances: list[InstanceLabel] = []
    ways: list[Way] = []

    @model_serializer(mode="wrap")
    def _plain(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only aerial worlds have ways: other worlds are written, and hashed, without the key."""
        data: dict[str, Any] = handler(self)
        return data if self.ways else {name: value for name, value in data.items() if name != "ways"}

    def categories(self) -> dict[int, str]:
        """Semantic id -> category, ids from 1 in alphabetical order: the values of the semantic channel."""
        return {i + 1: c for i, c in enumerate(sorted({label.category for label in self.instances}))}

    def object_categories(self) -> list[str]:
        """Categories that objects of this world have, sorted."""
        return sorted({o.category for o in self.objects})
