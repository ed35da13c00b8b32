"""A town block that can be walked into: streets, a plaza, a park, shops, and buildings whose rooms are modelled.

The order is the order of a plan: streets and quarters, buildings and their fronts, the ground between them, then all
that stands on it. What comes later never blocks what was planned earlier: doors, ramps, crosswalks and walking lanes are
ground on which nothing may be put.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import shapely

from portico.build.border import add_backdrop, add_border
from portico.build.furnish import furnish_quarter, furnish_streets, park_cars, tree_pits
from portico.build.furnisher import Furnisher
from portico.build.ground import Patch, add_curbs, add_ground, paint_over, regions
from portico.build.indoor import Lot, add_building
from portico.build.quarters import KINDS, LotPlan, QuarterPlan
from portico.build.routes import route_graph
from portico.build.scene import Scene
from portico.build.signs import TRADES
from portico.build.storefronts import FrontZone, add_closed_building, add_enterable_sign, name_of
from portico.build.streets import add_crosswalks, add_paint, curb_openings, lane_marks, road_beds, street_patches
from portico.build.town_plan import BORDER_WALK_M, SIDEWALK_M, TownPlan, plan_town
from portico.errors import WorldError
from portico.geometry import Floats
from portico.seeding import generator
from portico.world import Light, Provenance, Surface, World

Junction = Literal["cross", "tee"]

_SMALLEST_M, _LARGEST_M = 130.0, 190.0
#: Programs of the enterable buildings in the order they are given out, with their floors.
_PROGRAMS: tuple[tuple[str, int], ...] = (("office", 2), ("cafe", 1), ("apartments", 2), ("supermarket", 1), ("clinic", 2), ("hotel", 3), ("school", 2))
_WALKING_LINE_M = 1.4


@dataclass(frozen=True)
class Enterable:
    """An enterable building to be: its site and what it is for."""

    lot: LotPlan
    program: str
    floors: int


def build_composite(seed: int, *, size_m: float = 150.0, enterable: int = 5, junction: Junction | None = None) -> World:
    """A town block of ``size_m`` by ``size_m`` around a junction; the same seed and parameters give the same bytes.

    Args:
        seed: everything that is drawn by chance follows from it.
        size_m: side of the square, 130 to 190.
        enterable: how many buildings have their rooms modelled, 1 to 7; they are spread over all quarters.
        junction: a crossing of two streets, or one that ends at the other and goes on as a mews; drawn when not given.

    Raises:
        WorldError: a parameter out of range.
    """
    _check(size_m, enterable)
    rng = generator("composite", seed, "plan")
    chosen: Junction = junction or ("cross" if generator("composite", seed, "junction").random() < 0.5 else "tee")
    town = plan_town(rng, size_m, chosen)
    plans = [QuarterPlan(q) for q in town.quarters]
    for plan, kind in zip(plans, rng.permutation(list(KINDS)).tolist(), strict=True):
        KINDS[kind](plan, rng)
    scene = Scene(light=_light(generator("composite", seed, "light")))
    sites, closed = _share_out(plans, enterable, rng)
    zones = _add_buildings(scene, seed, sites, closed)
    patches = _lay_ground(scene, town, plans, sites, closed)
    furnisher = Furnisher(scene, _keep_free(town, plans, zones), shapely.union_all([z.sight for z in zones]))
    _furnish(furnisher, town, plans, seed)
    tree_pits(scene, shapely.union_all([p.area for p in patches if p.surface in (Surface.SIDEWALK, Surface.OPEN_AREA) and p.cover != "gravel"]))
    scene.routes = route_graph(_walking_lines(town, plans), lambda point: _height(patches, point))
    recipe = {"generator": "composite", "version": 1, "size_m": size_m, "enterable": enterable, "junction": chosen}
    return scene.world(f"block-{seed:04d}", "composite", Provenance(source="Portico composite generator", licence="Apache-2.0"), recipe=recipe, seed=seed)


def _check(size_m: float, enterable: int) -> None:
    if not _SMALLEST_M <= size_m <= _LARGEST_M:
        raise WorldError(
            "the block has no such size",
            where=f"size_m = {size_m:g}",
            why="streets and quarters need their room",
            next_step=f"choose {_SMALLEST_M:g} to {_LARGEST_M:g} m",
        )
    if not 1 <= enterable <= len(_PROGRAMS):
        raise WorldError("the block has no room for that", where=f"enterable = {enterable}", next_step=f"choose 1 to {len(_PROGRAMS)} enterable buildings")


def _light(rng: np.random.Generator) -> Light:
    """A bright day with dim rooms, or an evening with lit ones."""
    heading, height = float(rng.uniform(0, 2 * np.pi)), float(np.deg2rad(rng.uniform(32.0, 62.0)))
    evening = rng.random() < 0.25
    if evening:
        height = float(np.deg2rad(rng.uniform(16.0, 26.0)))
    direction = (float(np.cos(height) * np.cos(heading)), float(np.cos(height) * np.sin(heading)), float(np.sin(height)))
    if evening:
        return Light(sun_direction=direction, sun=0.36, sky=0.27, indoor=0.68, zenith_color=(0.16, 0.22, 0.42), horizon_color=(0.90, 0.62, 0.42))
    sun = float(rng.uniform(0.72, 0.92))
    return Light(sun_direction=direction, sun=sun, sky=float(rng.uniform(0.40, 0.50)), indoor=float(rng.uniform(0.34, 0.50)))


def _share_out(plans: list[QuarterPlan], wanted: int, rng: np.random.Generator) -> tuple[list[Enterable], list[LotPlan]]:
    """Which sites get rooms: one in every quarter before any quarter gets a second."""
    free = [[lot for lot in plan.lots if lot.detached] + [lot for lot in plan.lots if not lot.detached] for plan in plans]
    order = [lot for rank in range(max(map(len, free))) for lots in free for lot in lots[rank : rank + 1]]
    programs = list(_PROGRAMS[:wanted])
    turn = rng.permutation(len(programs))
    sites = [Enterable(_fitted(lot, programs[i][0]), *programs[i]) for lot, i in zip(order, turn.tolist(), strict=False)]
    taken = {site.lot.id for site in sites}
    return sites, [lot for plan in plans for lot in plan.lots if lot.id not in taken]


def _fitted(lot: LotPlan, program: str) -> LotPlan:
    """A cafe needs less than a whole site."""
    if program != "cafe":
        return lot
    cut = max(0.0, lot.front_m - 14.0)
    deep = 3.0
    if lot.front in ("north", "south"):
        y0, y1 = (lot.y0, lot.y1 - deep) if lot.front == "south" else (lot.y0 + deep, lot.y1)
        return replace(lot, x1=round(lot.x1 - cut, 2), y0=y0, y1=y1)
    x0, x1 = (lot.x0, lot.x1 - deep) if lot.front == "west" else (lot.x0 + deep, lot.x1)
    return replace(lot, x0=x0, x1=x1, y1=round(lot.y1 - cut, 2))


def _add_buildings(scene: Scene, seed: int, sites: list[Enterable], closed: list[LotPlan]) -> list[FrontZone]:
    """Enterable buildings with their signs, then closed ones with the trades that are left; what must stay free before them."""
    zones = []
    rng = generator("composite", seed, "buildings")
    for site in sites:
        lot = Lot(site.lot.id, name_of(site.program, rng), site.program, site.lot.x0, site.lot.y0, site.lot.x1, site.lot.y1, site.lot.front, site.floors)
        zones.append(add_enterable_sign(scene, add_building(scene, lot, generator("composite", seed, "building", site.lot.id))))
    trades = _trades(closed, {site.program for site in sites}, rng)
    all_lots = [*closed, *(site.lot for site in sites)]
    for plot in closed:
        zones += add_closed_building(scene, plot, trades, rng, blind=_blind_edges(plot, all_lots))
    return zones


def _trades(closed: list[LotPlan], given: set[str], rng: np.random.Generator) -> Iterator[str | None]:
    """Every trade that no enterable building has, in a shuffled order, dwellings between them, then a few trades again."""
    first = [t for t in rng.permutation(list(TRADES)).tolist() if t not in given]
    again = rng.permutation(list(TRADES)).tolist()[:4]
    for trade in [*first, *again]:
        yield trade
        if rng.random() < 0.3:
            yield None


def _blind_edges(lot: LotPlan, lots: list[LotPlan]) -> frozenset[int]:
    """Edges, of the four, that look into a gap of less than 4 m."""
    others = shapely.union_all([other.footprint for other in lots if other.id != lot.id])
    corners = np.asarray(shapely.geometry.polygon.orient(lot.footprint, 1.0).exterior.coords)
    found = set()
    for i in range(4):
        p, q = corners[i], corners[i + 1]
        along = (q - p) / np.linalg.norm(q - p)
        out = np.array([along[1], -along[0]])
        strip = shapely.Polygon([p + along * 0.5 + out * 0.05, q - along * 0.5 + out * 0.05, q - along * 0.5 + out * 3.9, p + along * 0.5 + out * 3.9])
        if strip.intersects(others):
            found.add(i)
    return frozenset(found)


def _lay_ground(scene: Scene, town: TownPlan, plans: list[QuarterPlan], sites: list[Enterable], closed: list[LotPlan]) -> list[Patch]:
    """Ground, curbs, markings and regions; the patches they were made of."""
    beds = shapely.intersection(road_beds(town.roads), town.square)
    patches = [Patch("sidewalk", "sidewalk", town.square, "paving", Surface.SIDEWALK)]
    if town.mews is not None:
        patches.append(Patch("mews", "shared_road", town.mews, "cobble", Surface.SHARED_ROAD))
    patches += [patch for plan in plans for patch in plan.patches]
    patches += street_patches(beds, town.crosswalks, town.square)
    footprints = shapely.union_all([lot.footprint for lot in [*closed, *(site.lot for site in sites)]])
    disjoint = paint_over(patches, footprints)
    add_ground(scene, disjoint)
    add_curbs(scene, beds, shapely.union(curb_openings(town.crosswalks), town.square.boundary.buffer(0.01)))
    add_crosswalks(scene, town.crosswalks)
    marks = [mark for road, clear in zip(town.roads, town.clear, strict=True) for mark in lane_marks(road, clear, _stops(town, road.name))]
    add_paint(scene, marks, "road marking", Surface.VEHICLE_LANE)
    scene.regions += regions(disjoint)
    return disjoint


def _stops(town: TownPlan, road: str) -> list[tuple[float, int]]:
    """Stop lines before every crosswalk, on the lane that drives towards it."""
    found = []
    for c in town.crosswalks:
        if c.road.name == road:
            found += [(c.span_m[0] - 0.7, -1), (c.span_m[1] + 0.7, 1)] if c.name.endswith("middle") else []
            if not c.name.endswith("middle"):
                before = c.name.endswith(("west", "south"))
                found.append((c.span_m[0] - 0.7, -1) if before else (c.span_m[1] + 0.7, 1))
    return found


def _keep_free(town: TownPlan, plans: list[QuarterPlan], zones: list[FrontZone]) -> shapely.Geometry:
    """Doors, crosswalks with their ramps and the ground behind them, and the lines that people walk along."""
    doors = [zone.door for zone in zones]
    crossings = [c.road.strip(c.span_m, (-c.road.half_width_m - SIDEWALK_M, c.road.half_width_m + SIDEWALK_M)) for c in town.crosswalks]
    walks = [shapely.LineString(line).buffer(1.15, quad_segs=4) for plan in plans for line in plan.walks]
    routes = [shapely.LineString(line).buffer(0.6, quad_segs=4) for line in _walking_lines(town, plans)]
    return shapely.union_all([*doors, *crossings, *walks, *routes])


def _furnish(furnisher: Furnisher, town: TownPlan, plans: list[QuarterPlan], seed: int) -> None:
    rng = generator("composite", seed, "furnish")
    for building in furnisher.scene.buildings:
        furnisher.occupy(shapely.Polygon(building.footprint))
    park_cars(furnisher, town, rng)
    add_border(furnisher.scene, town, furnisher, rng)
    for plan in plans:
        furnish_quarter(furnisher, plan, rng)
    furnish_streets(furnisher, town, rng)
    add_backdrop(furnisher.scene, town, generator("composite", seed, "backdrop"))


def _walking_lines(town: TownPlan, plans: list[QuarterPlan]) -> list[list[tuple[float, float]]]:
    """Middle lines of sidewalks around every quarter, of crosswalks, of the mews, and the walks inside quarters."""
    lines = [line for plan in plans for line in plan.walks]
    for q in town.quarters:
        outer_u, outer_v = q.width_m + BORDER_WALK_M / 2 - 0.3, q.depth_m + BORDER_WALK_M / 2 - 0.3
        inner_u = -3.5 if q.mews else -_WALKING_LINE_M
        corners = ((inner_u, -_WALKING_LINE_M), (outer_u, -_WALKING_LINE_M), (outer_u, outer_v), (inner_u, outer_v), (inner_u, -_WALKING_LINE_M))
        lines.append([q.point(u, v) for u, v in corners])
    for c in town.crosswalks:
        reach = c.road.half_width_m + SIDEWALK_M - _WALKING_LINE_M
        ends = [c.road.point(c.at_m, reach), *(s[:2] for s in c.stations()), c.road.point(c.at_m, -reach)]
        lines.append([(float(p[0]), float(p[1])) for p in ends])
    return lines


def _height(patches: list[Patch], point: Floats) -> float:
    where = shapely.Point(float(point[0]), float(point[1]))
    for patch in reversed(patches):
        if patch.area.intersects(where):
            z0, gx, gy = patch.plane
            return round(float(z0 + gx * where.x + gy * where.y), 4)
    return 0.0
