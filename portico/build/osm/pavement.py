"""The ground plan: road beds, crossings, sidewalks, squares, greens and water as patches that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass

import shapely

from portico.build.ground import Patch
from portico.build.osm.coast import sea
from portico.build.osm.crossings import Crossing, find_crossings
from portico.build.osm.highways import Street
from portico.build.osm.layers import EMPTY, areas, common, lines_of, merged_lines, minus, union
from portico.build.osm.report import Ledger
from portico.build.osm.survey import Survey
from portico.world import DEFAULT_ACCESS, Surface
from portico.world.semantics import Access, RegionType

_CORNER_RADIUS_M = 2.0
_FRONTAGE_M = 4.0
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
        return union(p.area for p in self.patches if p.region == region)


def lay_pavement(found: Survey, built: shapely.Geometry, ledger: Ledger) -> Pavement:
    """Patches for every square metre of the extent outside ``built`` (the footprints of buildings)."""
    paths = [s for s in found.streets if s.role == "path"]
    platforms = [s for s in paths if s.element.tags.get("highway") == "platform" or s.element.tags.get("railway") == "platform"]
    road_all = _road(found)
    crossings = find_crossings(found, minus(road_all, built), ledger)
    islands = union([*_beside_traffic(found, road_all), *(_area(s) for s in platforms)])
    crossing_area = union(c.area for c in crossings)
    road = minus(minus(road_all, built), minus(islands, crossing_area))
    crossings = [Crossing(c.id, common(c.area, road), c.axis, c.marked, c.line) for c in crossings]
    crossings = [c for c in crossings if not c.area.is_empty]

    plan = _Plan(found.extent, built)
    plan.put("crosswalk", "crosswalk", union(c.area for c in crossings), "asphalt", Surface.CROSSWALK)
    road_bed = plan.put("road", "vehicle_lane", road, "asphalt", Surface.VEHICLE_LANE)
    plan.put("steps", "sidewalk", union(_area(s) for s in found.streets if s.role == "steps"), "plaza", Surface.STAIRS)
    sidewalk = union([*(_area(s) for s in paths if s.access == "allowed"), *_strips(found), *(_area(s) for s in _crossings_off_road(found))])
    walks = plan.put("sidewalk", "sidewalk", sidewalk, "paving", Surface.SIDEWALK)
    plan.put("private-path", "sidewalk", union(_area(s) for s in paths if s.access == "prohibited"), "paving-warm", Surface.SIDEWALK, "prohibited")
    shared = [s for s in found.streets if s.role == "shared"]
    for access, region in (("allowed", "shared"), ("prohibited", "private-road")):
        own = [s for s in shared if s.access == access]
        plan.put(region, "shared_road", union(_area(s) for s in own), "cobble", Surface.SHARED_ROAD, access)  # type: ignore[arg-type]
    plaza = plan.put("plaza", "open_area", union(_area(s) for s in found.streets if s.role == "plaza" and s.access == "allowed"), "plaza", Surface.OPEN_AREA)
    plan.put("rail", "vehicle_lane", union(e.shape for e in found.rails), "gravel", Surface.VEHICLE_LANE)
    plan.put("play", "open_area", union(e.shape for e in found.play), "gravel", Surface.OPEN_AREA)
    water = [e.shape for e in found.water]
    plan.put("water", "water", union([*water, sea(found.coastlines, found.extent, ledger)]), "water", Surface.WATER)
    plan.put("parking", "shared_road", union(e.shape for e in found.parkings), "asphalt-light", Surface.SHARED_ROAD)
    plan.put("green", "vegetated", union(e.shape for e in found.green), "grass", Surface.VEGETATED)
    plan.put("square", "open_area", union(e.shape for e in found.squares), "plaza", Surface.OPEN_AREA)
    walks = union([walks, plaza])
    if not walks.is_empty:
        beside = union([built, road_all]).buffer(_FRONTAGE_M, quad_segs=2, join_style="mitre")
        plan.put("frontage", "sidewalk", common(walks.buffer(_FRONTAGE_M, quad_segs=2), beside), "paving", Surface.SIDEWALK)
    plan.put(BARE, "vegetated", found.extent, "soil", Surface.VEGETATED)
    walkable = union(p.area for p in plan.patches if p.region != BARE and (p.access or DEFAULT_ACCESS[p.type]) == "allowed")
    if walkable.is_empty:
        ledger.note("missing", "ground where pedestrians may be: no street or path lies under the open sky at street level", "the whole extract")
    return Pavement(plan.patches, union([road_bed, *(c.area for c in crossings)]), walkable, crossings)


class _Plan:
    """Patches by priority: what is put first keeps its ground."""

    def __init__(self, extent: shapely.Polygon, built: shapely.Geometry) -> None:
        self.patches: list[Patch] = []
        self._free = minus(extent, built)

    def put(self, region: str, kind: RegionType, area: shapely.Geometry, cover: str, surface: Surface, access: Access | None = None) -> shapely.Geometry:
        """Lay a patch on what is still free of an area, and say where it lies."""
        placed = areas(common(area, self._free), 0.02) if not area.is_empty else EMPTY
        if not placed.is_empty:
            self.patches.append(Patch(region, kind, placed, cover, surface, access=access))
            self._free = minus(self._free, placed)
        return placed


def _area(street: Street) -> shapely.Geometry:
    shape = street.element.shape
    return shape if street.is_area else shape.buffer(street.width_m / 2.0, quad_segs=2)


def _road(found: Survey) -> shapely.Geometry:
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


def _crossings_off_road(found: Survey) -> list[Street]:
    """Crossing ways also pave the islands and kerbs they pass over."""
    return [s for s in found.streets if s.role == "crossing" and s.access == "allowed"]


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
