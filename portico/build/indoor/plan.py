"""Floor plans on the drawing board: rooms, the openings between them, and the stairs that join floors.

A room is the clear space between wall faces; walls are what is left between rooms. All walls run along u or v.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import shapely

from portico.build.indoor.lot import Point

OUTER_WALL_M = 0.2
INNER_WALL_M = 0.15
STOREY_M = 3.2
CLEAR_M = 2.9
DOOR_HEAD_M = 2.1
INNER_DOOR_M = 1.1

Axis = Literal["u", "v"]
Side = Literal["u0", "u1", "v0", "v1"]


@dataclass(frozen=True)
class Rect:
    """An upright rectangle, u0 < u1 and v0 < v1."""

    u0: float
    v0: float
    u1: float
    v1: float

    @property
    def du(self) -> float:
        """Extent along u."""
        return self.u1 - self.u0

    @property
    def dv(self) -> float:
        """Extent along v."""
        return self.v1 - self.v0

    @property
    def center(self) -> Point:
        """Middle."""
        return ((self.u0 + self.u1) / 2.0, (self.v0 + self.v1) / 2.0)

    def corners(self) -> tuple[Point, ...]:
        """Counter-clockwise."""
        return ((self.u0, self.v0), (self.u1, self.v0), (self.u1, self.v1), (self.u0, self.v1))

    def grown(self, by_m: float) -> Rect:
        """Pushed out on every side."""
        return Rect(self.u0 - by_m, self.v0 - by_m, self.u1 + by_m, self.v1 + by_m)

    def overlaps(self, other: Rect, slack_m: float = 1e-6) -> bool:
        """Whether the interiors meet by more than ``slack_m``."""
        return self.u0 < other.u1 - slack_m and other.u0 < self.u1 - slack_m and self.v0 < other.v1 - slack_m and other.v0 < self.v1 - slack_m


@dataclass(frozen=True)
class Edge:
    """One wall face of a room, from start to end along an axis; ``inward`` (+1 or -1) points into the room across it."""

    along: Axis
    line: float
    start: float
    end: float
    inward: int

    @property
    def length(self) -> float:
        """Metres."""
        return self.end - self.start

    def point(self, at: float, away: float = 0.0) -> Point:
        """The point at a position along the edge, ``away`` metres into the room."""
        across = self.line + self.inward * away
        return (at, across) if self.along == "u" else (across, at)

    def rect(self, start: float, end: float, depth_m: float) -> Rect:
        """The rectangle on the room's side of a stretch of this edge."""
        low, high = sorted((self.line, self.line + self.inward * depth_m))
        return Rect(start, low, end, high) if self.along == "u" else Rect(low, start, high, end)


@dataclass(frozen=True)
class RoomPlan:
    """A room: its corners run counter-clockwise. ``number`` is what its plaque says, "" for none."""

    index: int
    category: str
    corners: tuple[Point, ...]
    number: str = ""

    @property
    def polygon(self) -> shapely.Polygon:
        """As a polygon."""
        return shapely.Polygon(self.corners)

    @property
    def bounds(self) -> Rect:
        """Bounding rectangle."""
        us, vs = zip(*self.corners, strict=True)
        return Rect(min(us), min(vs), max(us), max(vs))

    def edges(self) -> Iterator[Edge]:
        """Wall faces, in the order of the corners."""
        for (u0, v0), (u1, v1) in zip(self.corners, self.corners[1:] + self.corners[:1], strict=True):
            if v0 == v1:
                yield Edge("u", v0, min(u0, u1), max(u0, u1), 1 if u1 > u0 else -1)
            else:
                yield Edge("v", u0, min(v0, v1), max(v0, v1), 1 if v1 < v0 else -1)


@dataclass(frozen=True)
class Opening:
    """A hole through a wall: from start to end along it, from face ``low`` to face ``high`` across it, heights above the floor."""

    along: Axis
    low: float
    high: float
    start: float
    end: float
    sill: float
    head: float

    @property
    def width(self) -> float:
        """Metres."""
        return self.end - self.start

    def rect(self) -> Rect:
        """Its footprint in the wall."""
        return Rect(self.start, self.low, self.end, self.high) if self.along == "u" else Rect(self.low, self.start, self.high, self.end)

    def pierces(self, edge: Edge) -> bool:
        """Whether this wall face has the hole."""
        on_face = abs(edge.line - self.low) < 1e-6 or abs(edge.line - self.high) < 1e-6
        return self.along == edge.along and on_face and edge.start - 1e-6 <= self.start and self.end <= edge.end + 1e-6

    def lane(self, edge: Edge, depth_m: float) -> Rect:
        """What must stay free in front of it, on the room's side of an edge that it pierces."""
        return edge.rect(self.start, self.end, depth_m)


@dataclass(frozen=True)
class Door:
    """A way through. ``rooms`` are indices on the floor, None for the street; the leaves stand in the first room."""

    opening: Opening
    rooms: tuple[int, int | None]
    kind: Literal["door", "opening"] = "door"
    state: Literal["open", "closed"] = "open"
    leaves: tuple[Rect, ...] = ()

    @property
    def exterior(self) -> bool:
        """Whether it leads to the street."""
        return self.rooms[1] is None


@dataclass(frozen=True)
class Window:
    """A hole for light. ``storefront`` ones start low and have more mullions."""

    opening: Opening
    storefront: bool = False


@dataclass(frozen=True)
class StairCore:
    """A dog-leg stair: its clear rectangle, and the side of it where floors are entered."""

    rect: Rect
    approach: Side


@dataclass(frozen=True)
class Link:
    """Two rooms that a door or a wide opening should join."""

    a: int
    b: int
    kind: Literal["door", "opening"] = "door"


@dataclass
class FloorPlan:
    """One storey in the making."""

    level: int
    rooms: list[RoomPlan] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    doors: list[Door] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)

    def add(self, category: str, shape: Rect | shapely.Polygon) -> int:
        """A new room; returns its index."""
        if isinstance(shape, Rect):
            corners = shape.corners()
        else:
            ring = shapely.geometry.polygon.orient(shape.simplify(1e-9), 1.0).exterior.coords[:-1]
            corners = tuple((float(u), float(v)) for u, v in ring)
        self.rooms.append(RoomPlan(len(self.rooms), category, corners))
        return len(self.rooms) - 1

    def link(self, a: int, b: int, kind: Literal["door", "opening"] = "door") -> None:
        """Ask for a way between two rooms; the leaf will stand in the first."""
        self.links.append(Link(a, b, kind))


@dataclass(frozen=True)
class BuildingPlan:
    """All storeys of a building on its board."""

    width_m: float
    depth_m: float
    floors: tuple[FloorPlan, ...]
    stair: StairCore | None
    entrance_u: float


def number_rooms(plan: BuildingPlan) -> None:
    """Give every room behind a door of a corridor or hall a number: storey, then order."""
    for floor in plan.floors:
        count = 0
        for link in floor.links:
            behind, before = floor.rooms[link.a], floor.rooms[link.b]
            if link.kind == "door" and (before.category == "corridor" or before.index == 0):
                count += 1
                floor.rooms[link.a] = replace(behind, number=f"{floor.level * 100 + 100 + count}")


def shared_walls(a: RoomPlan, b: RoomPlan) -> list[tuple[Edge, Edge, float, float]]:
    """Facing edges of two rooms with nothing but one wall between, and the stretch they share, longest first."""
    found = []
    for ea in a.edges():
        for eb in b.edges():
            if ea.along != eb.along or ea.inward == eb.inward:
                continue
            gap = (ea.line - eb.line) * ea.inward
            start, end = max(ea.start, eb.start), min(ea.end, eb.end)
            if 0.0 < gap < INNER_WALL_M + 1e-6 and end - start > 1e-6:
                found.append((ea, eb, start, end))
    return sorted(found, key=lambda f: f[2] - f[3])
