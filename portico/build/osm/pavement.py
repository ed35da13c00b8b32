"""The ground plan: road beds, crossings, sidewalks, squares, greens and water as patches that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import shapely

from portico.build.ground import Patch
from portico.build.osm.coast import sea
from portico.build.osm.crossings import Crossing, find_crossings
from portico.build.osm.extract import polygons_of
from portico.build.osm.highways import Street
from portico.build.osm.layers import EMPTY, areas, common, lines_of, merged_lines, minus, union
from portico.build.osm.report import Ledger
from portico.build.osm.survey import Survey
from portico.world import DEFAULT_ACCESS, Surface
from portico.world.semantics import Access

_CORNER_RADIUS_M = 2.0
_GAP_M = 7.0
_ARC = 3
RAMP_M = 1.6
#: Region name of ground that no feature covers: it carries, and is no region.
BARE = "bare"


@dataclass(frozen=True)
class Pavement:
    """Disjoint patches; ``road`` is the carriageway with the ``crossings`` in it, ``walkable`` where pedestrians may be."""

    patches: list[Patch]
    road: shapely.Geometry
    walkable: shapely.Geometry
    crossings: list[Crossing]

    def of(self, region: str) -> shapely.Geometry:
        """The ground of one region name."""
        return next((p.area for p in self.patches if p.region == region), EMPTY)


def lay_pavement(found: Survey, built: shapely.Geometry, ledger: Ledger) -> Pavement:
    """Patches for every square metre of the extent outside ``built`` (the footprints of buildings)."""
    carriageway = _carriageway(found)
    road, crossings = _traffic(found, carriageway, built, ledger)
    plan = _Plan(minus(found.extent, built))
    for patch in (*_streets(found, road, crossings, ledger), *_areas(found, ledger)):
        plan.put(patch)
    walks = union([plan.placed("sidewalk"), plan.placed("plaza")])
    plan.put(Patch("frontage", "sidewalk", _gaps(walks, union([built, carriageway])), "paving", Surface.SIDEWALK))
    if _walkable(plan).is_empty:
        ledger.note("assumed", "open ground is walkable: no street or path lies under the open sky at street level", "the whole extract")
        plan.put(Patch("grounds", "open_area", found.extent, "gravel", Surface.OPEN_AREA))
    plan.put(Patch(BARE, "vegetated", found.extent, "soil", Surface.VEGETATED))
    walkable = _walkable(plan)
    if walkable.is_empty:
        ledger.note("missing", "ground where pedestrians may be: buildings, water and prohibited ground cover everything", "the whole extract")
    return Pavement(plan.patches, union([plan.placed("road"), plan.placed("crosswalk")]), walkable, crossings)


def _walkable(plan: _Plan) -> shapely.Geometry:
    return union(p.area for p in plan.patches if p.region != BARE and (p.access or DEFAULT_ACCESS[p.type]) == "allowed")


def _traffic(found: Survey, carriageway: shapely.Geometry, built: shapely.Geometry, ledger: Ledger) -> tuple[shapely.Geometry, list[Crossing]]:
    """The carriageway without islands and buildings, and the crossings on it."""
    free = minus(carriageway, built)
    crossings = find_crossings(found, free, ledger)
    platforms = [s for s in found.streets if "platform" in (s.element.tags.get("highway"), s.element.tags.get("railway"))]
    islands = union([*_beside_traffic(found, carriageway), *(_area(s) for s in platforms)])
    road = minus(free, minus(islands, union(c.area for c in crossings)))
    clipped = [Crossing(c.id, common(c.area, road), c.axis, c.marked, c.line) for c in crossings]
    return road, [c for c in clipped if not c.area.is_empty]


def _streets(found: Survey, road: shapely.Geometry, crossings: list[Crossing], ledger: Ledger) -> list[Patch]:
    """Ground that highways make, the strongest claim first."""
    steps, paths, shared, plazas = ([s for s in found.streets if s.role == role] for role in ("steps", "path", "shared", "plaza"))
    for street in steps:
        ledger.note("assumed", "steps laid flat, since the extract holds no heights; they keep the surface class of stairs", street.element.id)
    # Crossing ways also pave the islands and kerbs they pass over.
    walked = [s for s in found.streets if s.role in ("path", "crossing") and s.access == "allowed"]
    trams, trains = ([e.shape for e in found.rails if (e.tags.get("railway") == "tram") is tram] for tram in (True, False))
    return [
        Patch("crosswalk", "crosswalk", union(c.area for c in crossings), "asphalt", Surface.CROSSWALK),
        Patch("road", "vehicle_lane", road, "asphalt", Surface.VEHICLE_LANE),
        Patch("steps", "sidewalk", _areas_of(steps), "curb", Surface.STAIRS),
        Patch("sidewalk", "sidewalk", union([_areas_of(walked), *_strips(found)]), "paving", Surface.SIDEWALK),
        Patch("private-path", "sidewalk", _areas_of(paths, "prohibited"), "paving-warm", Surface.SIDEWALK, access="prohibited"),
        Patch("shared", "shared_road", _areas_of(shared, "allowed"), "cobble", Surface.SHARED_ROAD),
        Patch("private-road", "shared_road", _areas_of(shared, "prohibited"), "cobble", Surface.SHARED_ROAD, access="prohibited"),
        Patch("plaza", "open_area", _areas_of(plazas, "allowed"), "plaza", Surface.OPEN_AREA),
        Patch("private-plaza", "open_area", _areas_of(plazas, "prohibited"), "plaza", Surface.OPEN_AREA, access="prohibited"),
        Patch("tram", "vehicle_lane", union(trams), "cobble", Surface.VEHICLE_LANE),
        Patch("rail", "vehicle_lane", union(trains), "gravel", Surface.VEHICLE_LANE),
    ]


def _areas(found: Survey, ledger: Ledger) -> list[Patch]:
    """Ground that land use and nature make, where no highway lies."""
    water = union([*(e.shape for e in found.water), sea(found.coastlines, found.extent, ledger)])
    return [
        Patch("play", "open_area", union(e.shape for e in found.play), "gravel", Surface.OPEN_AREA),
        Patch("water", "water", water, "water", Surface.WATER),
        Patch("parking", "shared_road", union(e.shape for e in found.parkings), "asphalt-light", Surface.SHARED_ROAD),
        Patch("green", "vegetated", union(e.shape for e in found.green), "grass", Surface.VEGETATED),
        Patch("square", "open_area", union(e.shape for e in found.squares), "plaza", Surface.OPEN_AREA),
    ]


def _gaps(walks: shapely.Geometry, others: shapely.Geometry) -> shapely.Geometry:
    """Narrow leftovers between pavement, kerbs and facades: people walk there, whatever the widths assumed."""
    if walks.is_empty:
        return EMPTY
    solid = union([walks, others])
    closed = solid.buffer(_GAP_M / 2.0, quad_segs=2, join_style="mitre").buffer(-_GAP_M / 2.0, quad_segs=2, join_style="mitre")
    shapely.prepare(walks)
    return union(piece for piece in polygons_of(minus(closed, solid)) if walks.distance(piece) < 0.05)


class _Plan:
    """Patches by priority: what is put first keeps its ground."""

    def __init__(self, free: shapely.Geometry) -> None:
        self.patches: list[Patch] = []
        self._free = free

    def put(self, patch: Patch) -> None:
        """Lay a patch on what is still free of its area."""
        area = areas(common(patch.area, self._free), 0.02)
        if not area.is_empty:
            self.patches.append(replace(patch, area=area))
            self._free = minus(self._free, area)

    def placed(self, region: str) -> shapely.Geometry:
        """Where the patch of a region lies."""
        return next((p.area for p in self.patches if p.region == region), EMPTY)


def _area(street: Street) -> shapely.Geometry:
    shape = street.element.shape
    return shape if street.is_area else shape.buffer(street.width_m / 2.0, quad_segs=2)


def _areas_of(streets: list[Street], access: Access | None = None) -> shapely.Geometry:
    return union(_area(s) for s in streets if access in (None, s.access))


def _carriageway(found: Survey) -> shapely.Geometry:
    """All carriageways, with rounded corners where they meet."""
    by_width: dict[float, list[shapely.Geometry]] = {}
    for street in found.streets:
        if street.role == "road" and not street.is_area:
            by_width.setdefault(round(street.width_m, 2), []).append(street.element.shape)
    lanes = [line.buffer(width / 2.0, quad_segs=_ARC) for width, lines in sorted(by_width.items()) for line in merged_lines(lines)]
    road = union([*lanes, *(s.element.shape for s in found.streets if s.role == "road" and s.is_area)])
    if road.is_empty:
        return road
    rounded = road.buffer(_CORNER_RADIUS_M, join_style="mitre").buffer(-_CORNER_RADIUS_M, quad_segs=_ARC)
    return common(areas(union([road, rounded]).simplify(0.03)), found.extent)


def _strips(found: Survey) -> list[shapely.Geometry]:
    """Sidewalks along streets, by tag or by custom."""
    strips: list[shapely.Geometry] = []
    for street in found.streets:
        if street.sides == "none":
            continue
        reach = street.width_m / 2.0 + street.sidewalk_m
        for line in lines_of(street.element.shape):
            if street.sides == "both":
                strips.append(line.buffer(reach, quad_segs=2))
            else:
                strips.append(line.buffer(reach if street.sides == "left" else -reach, single_sided=True, join_style="mitre"))
    return strips


def _beside_traffic(found: Survey, road: shapely.Geometry) -> list[shapely.Geometry]:
    """Sidewalks that are mapped inside what a carriageway's assumed width covers: there the sidewalk is believed."""
    centre_lines = shapely.union_all([s.element.shape for s in found.streets if s.role == "road" and not s.is_area])
    if centre_lines.is_empty or road.is_empty:
        return []
    shapely.prepare(centre_lines)
    pieces: list[shapely.Geometry] = []
    for street in found.streets:
        if street.role not in ("path", "steps") or street.is_area or street.access == "prohibited":
            continue
        for inside in lines_of(shapely.intersection(street.element.shape, road)):
            if inside.length > 1.0 and not centre_lines.intersects(inside):
                pieces.append(inside.buffer(street.width_m / 2.0, quad_segs=2))
    return pieces
