"""What is worth a picture in a world, and where one could stand to take it.

Subjects are storefronts, street doors, rooms, flights of stairs, crosswalks, squares and streets; each proposes stands on
walkable ground, the likelier ones first. Nothing is random: the same world gives the same proposals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import shapely

from portico.geometry import Floats, Pose
from portico.report.footing import Footing
from portico.world import WALKABLE, Building, Surface, World
from portico.world.semantics import Segment

_ROOMS_PER_BUILDING = 4
#: Open ground of this size is a square that people would cross; far larger is a field, far smaller a corner.
_SQUARE_M2 = 1500.0
_MOST_SPOTS = 400


@dataclass(frozen=True)
class Stand:
    """A pose to look from, and the point (3,) that should be in sight, if any."""

    pose: Pose
    target: Floats | None = None


@dataclass(frozen=True)
class Subject:
    """Something worth a picture: where it is, what to write under it, and how to propose stands."""

    kind: str
    caption: str
    position: Floats
    stands: Callable[[], Iterable[Stand]]


def subjects(world: World, footing: Footing) -> list[list[Subject]]:
    """Subjects by kind; a kind that the world lacks is an empty list."""
    return [
        _storefronts(world, footing),
        _rooms(world, footing),
        _doors(world, footing),
        _crosswalks(world, footing),
        _stairs(world, footing),
        _squares(world, footing),
        _streets(world, footing),
        _spots(world),
    ]


def _storefronts(world: World, footing: Footing) -> list[Subject]:
    buildings = {b.id: b for b in world.semantics.buildings}
    found = []
    for place in world.semantics.places:
        if place.frontage is None:
            continue
        outward = _outward(buildings.get(place.building or ""), place.frontage)
        middle = np.mean(place.frontage, axis=0)
        target = np.array([*(middle + 0.3 * outward), place.center[2]])
        caption = f"{place.name or place.category.replace('_', ' ')}, storefront"
        found.append(Subject("storefront", caption, target, _facing(footing, middle, outward, place.center[2] - 1.0, target, (8.0, 6.5, 10.0, 12.5, 5.0))))
    return found


def _doors(world: World, footing: Footing) -> list[Subject]:
    buildings = {b.id: b for b in world.semantics.buildings}
    found = []
    for portal in sorted((p for p in world.semantics.portals if p.exterior), key=lambda p: p.state != "open"):
        building = buildings.get(portal.building)
        outward = _outward(building, portal.segment)
        middle = np.mean(portal.segment, axis=0)
        target = np.array([*(middle + 0.3 * outward), portal.z_m + 1.0])
        caption = f"{_name(building, portal.building)}, street {portal.kind}{'' if portal.state == 'open' else ' (closed)'}"
        found.append(Subject("door", caption, target, _facing(footing, middle, outward, portal.z_m, target, (4.5, 3.5, 6.0, 2.5))))
    return found


def _rooms(world: World, footing: Footing) -> list[Subject]:
    """The best furnished rooms of each building, one of a category."""
    floors = {(b.id, f.id): (b, f) for b in world.semantics.buildings for f in b.floors}
    furnished = Counter(item.room for item in world.semantics.objects)
    taken: dict[str, set[str]] = {}
    found = []
    for room in sorted(world.semantics.rooms, key=lambda room: (-furnished[room.id], room.id)):
        categories = taken.setdefault(room.building, set())
        if (room.building, room.floor) not in floors or room.category in categories or len(categories) == _ROOMS_PER_BUILDING:
            continue
        categories.add(room.category)
        building, floor = floors[room.building, room.floor]
        caption = f"{_name(building, room.building)}, {room.category.replace('_', ' ')}" + (f", level {floor.level}" if floor.level else "")
        shape = shapely.Polygon(room.polygon)
        position = np.array([*shape.representative_point().coords[0], floor.z_m])
        found.append(Subject("room", caption, position, partial(_in_room, footing, shape, floor.z_m)))
    return found


def _in_room(footing: Footing, shape: shapely.Polygon, z: float) -> Iterator[Stand]:
    """Stands along the walls, looking across the room."""
    centre = np.array(shape.representative_point().coords[0]) if not shape.contains(shape.centroid) else np.array(shape.centroid.coords[0])
    inner = shape.buffer(-0.55, join_style="mitre")
    if inner.is_empty:
        return
    ring = max(inner.geoms, key=lambda g: g.area).exterior if inner.geom_type == "MultiPolygon" else inner.exterior
    for share in np.arange(12) * 5 % 12 / 12.0:
        xy = np.array(ring.interpolate(share, normalized=True).coords[0])
        yield from _standing(footing, xy, z, _heading(xy, centre))


def _crosswalks(world: World, footing: Footing) -> list[Subject]:
    found = []
    for region in (r for r in world.semantics.regions if r.type == "crosswalk"):
        start, end = _long_axis(shapely.Polygon(region.polygon))
        middle = 0.5 * (start + end)
        outward = (start - end) / max(float(np.linalg.norm(start - end)), 1e-9)
        half = 0.5 * float(np.linalg.norm(start - end))

        def stands(middle: Floats = middle, outward: Floats = outward, half: float = half) -> Iterator[Stand]:
            for side in (outward, -outward):
                for back in (half + 1.0, half - 0.3, half + 2.0):
                    xy = middle + back * side
                    yield from _standing(footing, xy, 0.0, _heading(xy, middle), outdoors=True, reach_m=50.0)

        found.append(Subject("crosswalk", "crosswalk", np.array([*middle, 0.0]), stands))
    return found


def _stairs(world: World, footing: Footing) -> list[Subject]:
    steps = world.geometry.triangles[world.geometry.surface == int(Surface.STAIRS)].astype(np.float64)
    if not len(steps):
        return []
    centres = steps.mean(axis=1)
    _, floor = footing.annotations.locate(centres + np.array([0.0, 0.0, 0.05]))
    building = np.where(floor >= 0, footing.annotations.floor_building[floor], -1) if len(footing.annotations.floors) else np.full(len(steps), -1)
    found = []
    for number in sorted(set(floor.tolist())):
        flight = centres[floor == number]
        if len(flight) < 8:
            continue
        owner = world.semantics.buildings[int(building[floor == number][0])] if number >= 0 else None
        level = f", level {footing.annotations.floors[number].level}" if number >= 0 else ""
        caption = f"{_name(owner, 'outdoors')}, stairs{level}"
        found.append(Subject("stairs", caption, flight.mean(axis=0), partial(_below, footing, flight)))
    return found


def _below(footing: Footing, flight: Floats) -> Iterator[Stand]:
    """Stands at the foot of a flight, looking up it."""
    low = flight[:, 2].min()
    foot = flight[flight[:, 2] < low + 0.25].mean(axis=0)
    rising = flight[(flight[:, 2] > low + 0.5) & (flight[:, 2] < low + 1.5)]
    if not len(rising):
        return
    middle = rising.mean(axis=0)
    uphill = (middle - foot)[:2] / max(float(np.linalg.norm((middle - foot)[:2])), 1e-9)
    side = np.array([-uphill[1], uphill[0]])
    for back in (1.6, 1.2, 2.2, 0.9):
        for aside in (0.0, 0.5, -0.5):
            xy = foot[:2] - back * uphill + aside * side
            yield from _standing(footing, xy, low, _heading(xy, middle[:2]), target=middle + np.array([0.0, 0.0, 0.3]))


def _squares(world: World, footing: Footing) -> list[Subject]:
    areas = [(r, shapely.Polygon(r.polygon)) for r in world.semantics.regions if r.type in ("open_area", "vegetated")]
    found = []
    for region, shape in sorted(areas, key=lambda pair: (pair[0].type != "open_area", abs(float(np.log(pair[1].area / _SQUARE_M2))))):
        if shape.area < 60.0:
            continue

        def stands(shape: shapely.Polygon = shape) -> Iterator[Stand]:
            centre = np.array(shape.centroid.coords[0])
            for share in np.arange(10) * 3 % 10 / 10.0:
                xy = np.array(shape.exterior.interpolate(share, normalized=True).coords[0])
                for pull in (0.15, -0.1):
                    yield from _standing(footing, xy + pull * (centre - xy), 0.0, _heading(xy, centre), outdoors=True, reach_m=50.0)

        name = "square" if region.type == "open_area" else "park"
        found.append(Subject("square", name, np.array([*shape.centroid.coords[0], 0.0]), stands))
    return found


def _spots(world: World) -> list[Subject]:
    """Anywhere on the ground, of a capture: nobody said yet what is where in it."""
    if world.appearance.gaussians is None or world.semantics.rooms:
        return []
    geometry = world.geometry
    ground = np.flatnonzero(np.isin(geometry.surface, [int(s) for s in WALKABLE]))
    corners = geometry.triangles[ground].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    middles = corners[np.argsort(-area, kind="stable")[:_MOST_SPOTS]].mean(axis=1)

    def stands(x: float, y: float, z: float) -> Iterator[Stand]:
        for yaw_rad in np.arange(8) * 3 % 8 * (np.pi / 4.0):
            yield Stand(Pose(x, y, z, float(yaw_rad)))

    return [Subject("spot", f"{x:.1f} east, {y:.1f} north", np.array([x, y, z]), partial(stands, x, y, z)) for x, y, z in middles.tolist()]


def _streets(world: World, footing: Footing) -> list[Subject]:
    nodes = np.array(world.semantics.routes.nodes, dtype=np.float64).reshape(-1, 3)
    edges = [(a, b) for a, b in world.semantics.routes.edges if np.linalg.norm(nodes[a, :2] - nodes[b, :2]) > 6.0]
    found = []
    for a, b in edges:

        def stands(a: int = a, b: int = b) -> Iterator[Stand]:
            for start, end in ((a, b), (b, a)):
                for share in (0.1, 0.35):
                    xy = nodes[start, :2] + share * (nodes[end, :2] - nodes[start, :2])
                    yield from _standing(footing, xy, nodes[start, 2], _heading(xy, nodes[end, :2]), outdoors=True)

        found.append(Subject("street", "street", 0.5 * (nodes[a] + nodes[b]), stands))
    return found


def _facing(footing: Footing, middle: Floats, outward: Floats, z: float, target: Floats, distances: tuple[float, ...]) -> Callable[[], Iterator[Stand]]:
    """Stands in front of a facade, straight ahead first, then a little to either side."""

    def stands() -> Iterator[Stand]:
        along = np.array([-outward[1], outward[0]])
        for aside in (0.0, 0.35, -0.35, 0.6, -0.6):
            for distance in distances:
                xy = middle + distance * (outward + aside * along)
                yield from _standing(footing, xy, z, _heading(xy, middle), target=target, outdoors=True, reach_m=3.0)

    return stands


def _standing(
    footing: Footing, xy: Floats, near_z: float, yaw_rad: float, *, target: Floats | None = None, outdoors: bool = False, reach_m: float = 1.5
) -> Iterator[Stand]:
    """The stand at ``xy`` if there is ground, nothing in the way and, outdoors, no roof of a building overhead."""
    z = footing.height(xy, near_z, reach_m)
    if z is None:
        return
    point = np.array([*xy, z])
    if (outdoors and footing.annotations.inside(point[None])[0] >= 0) or not footing.clear_of_objects(point):
        return
    yield Stand(Pose(float(xy[0]), float(xy[1]), z, yaw_rad), target)


def _outward(owner: Building | None, segment: Segment) -> Floats:
    """Unit normal (2,) of a facade's segment that points away from its building."""
    (x0, y0), (x1, y1) = segment
    normal = np.array([y1 - y0, x0 - x1]) / max(float(np.hypot(x1 - x0, y1 - y0)), 1e-9)
    if owner is None:
        return normal
    footprint = shapely.Polygon(owner.footprint)
    middle = np.mean(segment, axis=0)
    ahead, behind = (footprint.distance(shapely.Point(middle + s * 0.5 * normal)) for s in (1.0, -1.0))
    if ahead == behind:
        return normal if np.dot(normal, middle - np.array(footprint.centroid.coords[0])) >= 0.0 else -normal
    return normal if ahead > behind else -normal


def _long_axis(shape: shapely.Polygon) -> tuple[Floats, Floats]:
    """Middles of the two short sides of the smallest rectangle around a shape: (2,) each."""
    corners = np.array(shape.minimum_rotated_rectangle.exterior.coords)[:4]
    sides = [(float(np.linalg.norm(b - a)), 0.5 * (a + b)) for a, b in pairwise([*corners, corners[0]])]
    (first, second), (third, fourth) = (sides[0], sides[2]), (sides[1], sides[3])
    short = (first, second) if first[0] + second[0] < third[0] + fourth[0] else (third, fourth)
    return short[0][1], short[1][1]


def _heading(xy: Floats, target: Floats) -> float:
    return float(np.arctan2(target[1] - xy[1], target[0] - xy[0]))


def _name(building: Building | None, fallback: str) -> str:
    return (building.name or building.category.replace("_", " ")) if building else fallback.replace("_", " ")
