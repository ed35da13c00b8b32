"""The plan of a town block: two streets that meet, their crosswalks, and the four quarters between them and the border.

A quarter is drawn in its own frame: u runs away from the north-south street, v away from the east-west street, and
(0, 0) is the corner nearest the junction, where both sidewalks end and the quarter begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import shapely

from portico.build.indoor.lot import Front
from portico.build.streets import Crosswalk, Road

Local = tuple[float, float]
Side = Literal["u-", "u+", "v-", "v+"]

SIDEWALK_M = 4.0
#: Paved walk along the world's border, wall included.
BORDER_WALK_M = 3.4
BORDER_WALL_M = 0.3
MEWS_HALF_M = 3.5
CORNER_M = 3.0
_PARKING_M = 2.3
_LANE_M = 3.2


@dataclass(frozen=True)
class Quarter:
    """A quarter of the block and its frame.

    Attributes:
        origin: world position of its (0, 0). sx, sy: +1 or -1, direction of u along x and of v along y.
        width_m, depth_m: extent in u and v, up to the border walk. mews: whether its u = 0 side faces the mews.
    """

    name: str
    origin: tuple[float, float]
    sx: int
    sy: int
    width_m: float
    depth_m: float
    mews: bool

    def point(self, u: float, v: float) -> tuple[float, float]:
        """World (x, y)."""
        return self.origin[0] + self.sx * u, self.origin[1] + self.sy * v

    def rect(self, u0: float, v0: float, u1: float, v1: float) -> shapely.Polygon:
        """World rectangle."""
        (xa, ya), (xb, yb) = self.point(u0, v0), self.point(u1, v1)
        return shapely.box(round(min(xa, xb), 3), round(min(ya, yb), 3), round(max(xa, xb), 3), round(max(ya, yb), 3))

    def polygon(self, points: list[Local]) -> shapely.Polygon:
        """World polygon."""
        return shapely.Polygon([self.point(u, v) for u, v in points])

    def facing(self, side: Side) -> Front:
        """The compass direction of a side."""
        east = (self.sx > 0) == (side[1] == "+")
        north = (self.sy > 0) == (side[1] == "+")
        return ("east" if east else "west") if side[0] == "u" else ("north" if north else "south")

    def yaw(self, du: float, dv: float) -> float:
        """World heading that a model is turned by so that its front, -y, looks along (du, dv)."""
        return float(np.arctan2(self.sy * dv, self.sx * du) + np.pi / 2)


@dataclass(frozen=True)
class TownPlan:
    """Streets and quarters of a square of side ``2·half_m`` centred on the origin.

    Attributes:
        clear: per road the stations where nobody parks and nothing is painted.
        mews: the pedestrian lane that continues the north-south street on one side, or None where that is a road too.
    """

    half_m: float
    roads: tuple[Road, Road]
    crosswalks: tuple[Crosswalk, ...]
    clear: tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]
    quarters: tuple[Quarter, ...]
    mews: shapely.Polygon | None

    @property
    def square(self) -> shapely.Polygon:
        return shapely.box(-self.half_m, -self.half_m, self.half_m, self.half_m)


def plan_town(rng: np.random.Generator, size_m: float, junction: Literal["cross", "tee"]) -> TownPlan:
    """Draw the streets: where they run, how wide they are, on which sides one may park, where one crosses."""
    half = size_m / 2
    x, y = (round(float(v), 1) for v in rng.uniform(-0.05, 0.05, 2) * size_m)
    main_half = _LANE_M + _PARKING_M
    side_parking = (_PARKING_M, 0.0) if rng.random() < 0.5 else (0.0, _PARKING_M)
    side_half = round(_LANE_M + 0.5 * _PARKING_M, 2)
    mews_side = int(rng.choice([-1, 1])) if junction == "tee" else 0
    main = Road("main street", (-half, y), (half, y), main_half, (_PARKING_M, _PARKING_M))
    low, high = (y if mews_side < 0 else -half), (y if mews_side > 0 else half)
    side = Road("side street", (x, low), (x, high), side_half, side_parking)
    crosswalks = _crosswalks(rng, main, side, x, y, mews_side)
    clear = (_clear(crosswalks, main, x + half, side_half), _clear(crosswalks, side, y - low, main_half))
    mews = None
    if mews_side:
        start = y + mews_side * (main_half + SIDEWALK_M)
        mews = shapely.box(x - MEWS_HALF_M, min(start, mews_side * half), x + MEWS_HALF_M, max(start, mews_side * half))
    quarters = tuple(_quarter(half, x, y, sx, sy, side_half, main_half, sy == mews_side) for sy in (-1, 1) for sx in (-1, 1))
    return TownPlan(half, (main, side), crosswalks, clear, quarters, mews)


def _crosswalks(rng: np.random.Generator, main: Road, side: Road, x: float, y: float, mews_side: int) -> tuple[Crosswalk, ...]:
    half = main.length_m / 2
    reach_main, reach_side = side.half_width_m + CORNER_M + 2.3, main.half_width_m + CORNER_M + 2.3
    found = [Crosswalk("crosswalk-west", main, x + half - reach_main), Crosswalk("crosswalk-east", main, x + half + reach_main)]
    if mews_side >= 0:
        found.append(Crosswalk("crosswalk-south", side, y - side.start[1] - reach_side))
    if mews_side <= 0:
        found.append(Crosswalk("crosswalk-north", side, y - side.start[1] + reach_side))
    longer_east = half - x >= half + x
    first, last = (x + half + reach_main, main.length_m) if longer_east else (0.0, x + half - reach_main)
    found.append(Crosswalk("crosswalk-middle", main, round(float(first + (last - first) * rng.uniform(0.50, 0.62)), 1)))
    return tuple(found)


def _clear(crosswalks: tuple[Crosswalk, ...], road: Road, junction_m: float, other_half_m: float) -> tuple[tuple[float, float], ...]:
    own = [(c.span_m[0] - 1.0, c.span_m[1] + 1.0) for c in crosswalks if c.road is road]
    reach = other_half_m + CORNER_M + 1.0
    return (*own, (junction_m - reach, junction_m + reach), (-1.0, 1.2), (road.length_m - 1.2, road.length_m + 1.0))


def _quarter(half: float, x: float, y: float, sx: int, sy: int, side_half: float, main_half: float, mews: bool) -> Quarter:
    u0 = x + sx * (MEWS_HALF_M if mews else side_half + SIDEWALK_M)
    v0 = y + sy * (main_half + SIDEWALK_M)
    name = ("north" if sy > 0 else "south") + ("east" if sx > 0 else "west")
    return Quarter(name, (u0, v0), sx, sy, round(half - BORDER_WALK_M - sx * u0, 3), round(half - BORDER_WALK_M - sy * v0, 3), mews)
