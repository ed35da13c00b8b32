"""Fills the streets and quarters of a plan: cars at the curb, groups and trees along sidewalks, squares, parks and yards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.furnisher import Furnisher, footprint
from portico.build.ground import ROAD_DEPTH_M
from portico.build.groups import Item
from portico.build.models import place
from portico.build.primitives import prism
from portico.build.quarters import QuarterPlan
from portico.build.scene import Scene
from portico.build.streets import add_paint, open_stretches
from portico.build.textures import textured
from portico.build.town_plan import BORDER_WALK_M, BORDER_WALL_M, SIDEWALK_M, TownPlan
from portico.build.vegetation import add_hedge
from portico.build.vehicles import PAINTS, PARKED
from portico.world import Surface

#: Strip along the curb where things may stand; the rest of a sidewalk is for walking.
CURB_ZONE_M = (0.22, 1.36)
_CAR_PITCH_M = 6.0
_SIDEWALK_GROUPS = (
    "seat",
    "bike parking",
    "mail",
    "scooters",
    "utility",
    "advert",
    "phone",
    "motorcycles",
    "flowers",
    "delivery",
    "works",
    "seat",
    "bike parking",
)
#: Which group suits the shop it stands before.
_BY_TRADE = {
    "cafe": "cafe curb",
    "restaurant": "cafe curb",
    "bar": "cafe curb",
    "bakery": "cafe curb",
    "florist": "flowers",
    "supermarket": "groceries",
    "post office": "mail",
}
_SMALL = ("one parking meter", "one trash can", "one planter", "one fire hydrant", "one parking meter", "one bollard")


@dataclass(frozen=True)
class CurbRun:
    """A stretch of curb: where it starts, where it leads, its length, the side people walk on, and what kind it is."""

    start: NDArray[np.float64]
    along: NDArray[np.float64]
    length_m: float
    inward: NDArray[np.float64]
    zone_m: tuple[float, float]

    def at(self, station_m: float) -> tuple[float, float]:
        """World position of the middle of the zone."""
        p = self.start + self.along * station_m + self.inward * (self.zone_m[0] + self.zone_m[1]) / 2
        return float(p[0]), float(p[1])

    @property
    def zone(self) -> shapely.Polygon:
        a, b = self.start + self.inward * self.zone_m[0], self.start + self.inward * self.zone_m[1]
        return shapely.Polygon([a, a + self.along * self.length_m, b + self.along * self.length_m, b])

    @property
    def yaw_rad(self) -> float:
        """Yaw that turns a model's front towards the people who walk by."""
        return float(np.arctan2(self.inward[1], self.inward[0]) + np.pi / 2)


def curb_runs(town: TownPlan) -> tuple[list[CurbRun], list[CurbRun], list[CurbRun]]:
    """Curbs of streets, edges of the mews, and the inner side of the border wall."""
    streets, mews, border = [], [], []
    for q in town.quarters:
        x, y = np.array([float(q.sx), 0.0]), np.array([0.0, float(q.sy)])
        streets.append(CurbRun(np.array(q.point(0.0, -SIDEWALK_M)), x, q.width_m + BORDER_WALK_M - 1.0, y, CURB_ZONE_M))
        if q.mews:
            mews.append(CurbRun(np.array(q.point(0.0, 1.0)), y, q.depth_m - 1.0, -x, (0.25, 1.35)))
        else:
            streets.append(CurbRun(np.array(q.point(-SIDEWALK_M, 0.0)), y, q.depth_m + BORDER_WALK_M - 1.0, x, CURB_ZONE_M))
        wall = BORDER_WALK_M - BORDER_WALL_M
        border.append(CurbRun(np.array(q.point(q.width_m + wall, 0.0)), y, q.depth_m - 1.0, -x, (0.10, 0.80)))
        border.append(CurbRun(np.array(q.point(0.0, q.depth_m + wall)), x, q.width_m - 1.0, -y, (0.10, 0.80)))
    return streets, mews, border


def furnish_streets(furnisher: Furnisher, town: TownPlan, rng: np.random.Generator) -> None:
    """Lamps and signs at fixed distances, then groups, then trees and small things between them."""
    streets, mews, border = curb_runs(town)
    _signals(furnisher, town, rng)
    for k, run in enumerate(streets):
        for station in np.arange(5.0, run.length_m - 2.0, 22.0):
            furnisher.put("one street lamp", *run.at(float(station)), run.yaw_rad + np.pi, rng, within=run.zone)
        if k % 2 == 0 or not town.mews:
            _try_along(furnisher, run, "bus stop", rng.permutation(np.arange(14.0, run.length_m - 8.0, 2.0)), rng, limit=int(k in (0, 3, 6)))
    for run in streets:
        _groups_along(furnisher, run, rng)
        for station in np.arange(2.5, run.length_m - 2.0, 7.5):
            furnisher.put("street tree", *run.at(float(station) + float(rng.uniform(-0.8, 0.8))), 0.0, rng, within=run.zone)
        for station in np.arange(1.5, run.length_m - 1.5, 4.5):
            if rng.random() < 0.45:
                furnisher.put(str(rng.choice(_SMALL)), *run.at(float(station)), run.yaw_rad, rng, within=run.zone)
    for run in mews:
        for station in np.arange(3.0, run.length_m - 2.0, 6.5):
            furnisher.put("planter tree", *run.at(float(station)), run.yaw_rad, rng, within=run.zone)
        _groups_along(furnisher, run, rng)
    for run in border:
        for station in np.arange(6.0, run.length_m, 20.0):
            furnisher.put("one park lamp", *run.at(float(station)), 0.0, rng, within=run.zone)
            furnisher.put("park bench", *run.at(float(station) + 10.0), run.yaw_rad, rng, within=run.zone.buffer(0.05))


def _signals(furnisher: Furnisher, town: TownPlan, rng: np.random.Generator) -> None:
    """A traffic light on the near side of every junction arm, stop signs at the mid-block crossing, street names at corners."""
    for c in town.crosswalks:
        middle = c.name.endswith("middle")
        for side in (1.0, -1.0):
            at = c.at_m + side * (c.width_m / 2 + 0.45)
            p = c.road.point(at, -side * (c.road.half_width_m + 0.60))
            furnisher.put("one stop sign" if middle else "one traffic light", float(p[0]), float(p[1]), c.road.yaw_rad + side * np.pi / 2, rng)
    for q in town.quarters:
        if not q.mews:
            furnisher.put("one street sign", *q.point(-SIDEWALK_M + 1.9, -SIDEWALK_M + 1.9), 0.0 if q.sy > 0 else np.pi, rng)


def _groups_along(furnisher: Furnisher, run: CurbRun, rng: np.random.Generator) -> None:
    """Groups that suit the shops first, then whatever a sidewalk holds, in a shuffled order."""
    for place_ in furnisher.scene.places:
        group = _BY_TRADE.get(place_.category)
        if group is not None:
            station = float((np.array(place_.center[:2]) - run.start) @ run.along)
            off = float((np.array(place_.center[:2]) - run.start) @ run.inward)
            if 0.0 < station < run.length_m and 0.0 < off < SIDEWALK_M + 1.5:
                _try_along(furnisher, run, group, station + np.array([3.2, -3.2, 4.4, -4.4, 5.6, -5.6]), rng, limit=1)
    names = [str(n) for n in rng.permutation(_SIDEWALK_GROUPS)]
    for station in np.arange(4.0, run.length_m - 3.0, 2.0):
        if names and furnisher.put(names[0], *run.at(float(station)), run.yaw_rad, rng, within=run.zone):
            names.pop(0)


def _try_along(furnisher: Furnisher, run: CurbRun, group: str, stations: NDArray[np.float64], rng: np.random.Generator, *, limit: int) -> None:
    for station in stations:
        if limit and furnisher.put(group, *run.at(float(station)), run.yaw_rad, rng, within=run.zone):
            limit -= 1


def park_cars(furnisher: Furnisher, town: TownPlan, rng: np.random.Generator) -> None:
    """Cars of all kinds in the parking lanes, nose in the direction of travel."""
    for road, clear in zip(town.roads, town.clear, strict=True):
        for side, width in zip((1.0, -1.0), road.parking_m, strict=True):
            if width <= 0.0:
                continue
            for a, b in open_stretches(road.length_m, clear, 8.0):
                for station in np.arange(a + 3.2, b - 3.0, _CAR_PITCH_M):
                    if rng.random() < 0.72:
                        at = float(station) + float(rng.uniform(-0.25, 0.25))
                        p = road.point(at, side * (road.half_width_m - width / 2 + 0.05))
                        yaw = road.yaw_rad + (np.pi if side > 0 else 0.0) + float(rng.uniform(-0.02, 0.02))
                        _park(furnisher, float(p[0]), float(p[1]), yaw, rng, -ROAD_DEPTH_M)


def _park(furnisher: Furnisher, x: float, y: float, yaw: float, rng: np.random.Generator, z: float, *, checked: bool = False) -> None:
    kind = str(rng.choice(["sedan", "hatchback", "suv", "van", "pickup"], p=[0.33, 0.27, 0.22, 0.10, 0.08]))
    category, make = PARKED[kind]
    model = make(PAINTS[int(rng.integers(0, len(PAINTS)))])
    if checked:
        furnisher.put_items([Item(category, model)], x, y, yaw, z=z)
        return
    place(furnisher.scene, category, model, x, y, z, yaw)
    furnisher.occupy(footprint(model, x, y, yaw))


def furnish_quarter(furnisher: Furnisher, plan: QuarterPlan, rng: np.random.Generator) -> None:
    """Everything a quarter's plan asks for, then trees and bushes in its groves."""
    scene = furnisher.scene
    for pond in plan.ponds:
        rim = shapely.difference(pond.buffer(0.42, quad_segs=4), pond)
        for part in shapely.get_parts(rim).tolist():
            scene.add_mesh(
                *prism(part, -0.35, 0.42), surface=Surface.STREET_OBJECT, material=textured(scene, "pond-rim", "stone"), instance=scene.instance("pond rim")
            )
            furnisher.occupy(shapely.Polygon(part.exterior))
    for hedge in plan.hedges:
        add_hedge(scene, hedge, 1.2)
        furnisher.occupy(hedge)
    for spot in plan.spots:
        furnisher.put(spot.group, spot.x, spot.y, spot.yaw_rad, rng)
    _stalls(furnisher, plan, rng)
    for grove, trees in plan.groves:
        _plant(furnisher, grove, trees, rng)


def _stalls(furnisher: Furnisher, plan: QuarterPlan, rng: np.random.Generator) -> None:
    lines = []
    for x, y, yaw in plan.stalls:
        o, n = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
        for side in (-1.4, 1.4):
            c = np.array([x, y]) + n * side
            lines.append(shapely.Polygon([c - o * 2.5 - n * 0.05, c + o * 2.5 - n * 0.05, c + o * 2.5 + n * 0.05, c - o * 2.5 + n * 0.05]))
        if rng.random() < 0.6:
            _park(furnisher, x, y, yaw + (np.pi if rng.random() < 0.4 else 0.0), rng, 0.0, checked=True)
    add_paint(furnisher.scene, lines, "road marking", Surface.SHARED_ROAD, z_m=0.0)


def _plant(furnisher: Furnisher, grove: shapely.Geometry, trees: int, rng: np.random.Generator) -> None:
    """Scatter trees, well apart, then bushes between them."""
    if grove.is_empty:
        return
    x0, y0, x1, y1 = grove.bounds
    planted: list[tuple[float, float]] = []
    for kind, wanted, apart in (("tree", trees, 4.2), ("bush", round(trees * 0.9), 1.8)):
        count = 0
        for x, y in rng.uniform((x0, y0), (x1, y1), (wanted * 12, 2)):
            if (
                count < wanted
                and all(np.hypot(x - px, y - py) > apart for px, py in planted)
                and furnisher.put(kind, float(x), float(y), 0.0, rng, within=grove)
            ):
                planted.append((float(x), float(y)))
                count += 1


def tree_pits(scene: Scene, walkable: shapely.Geometry) -> None:
    """Soil around the trunks that stand in paving."""
    pits = [shapely.box(o.center[0] - 0.5, o.center[1] - 0.5, o.center[0] + 0.5, o.center[1] + 0.5) for o in scene.objects if o.category == "tree"]
    paved = [pit for pit in pits if walkable.contains(pit)]
    add_paint(scene, paved, "planting bed", Surface.SIDEWALK, color=(0.30, 0.24, 0.18), z_m=0.0)
