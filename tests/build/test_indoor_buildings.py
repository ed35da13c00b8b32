"""Enterable buildings: annotations, plans, stairs and furniture, over programs, sizes, fronts and seeds."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.build.indoor import PROGRAMS, BuiltBuilding, Lot, add_building, build_indoor
from portico.build.indoor.furniture import CATALOGUE, make
from portico.build.indoor.stairs import LANDING_M, RISER_M, TREAD_M
from portico.build.scene import Scene
from portico.errors import UnknownName, WorldError
from portico.seeding import generator
from portico.world import WALKABLE, Geometry, ObjectInstance, Provenance, Semantics, Surface, content_hash

FRONTS = ("south", "north", "east", "west")
LANE_M = 1.0
PROVENANCE = Provenance(source="test", licence="none")


def built(program: str, seed: int, *, floors: int = 2, front: str = "south", z_m: float = 0.0) -> tuple[Scene, BuiltBuilding]:
    spec = PROGRAMS[program]
    rng = generator("test lot", program, seed)
    width, depth = float(rng.uniform(spec.min_width_m, 30.0)), float(rng.uniform(spec.min_depth_m, 22.0))
    dx, dy = (width, depth) if front in ("south", "north") else (depth, width)
    lot = Lot(f"{program}-{seed}", "A building", program, 12.5, -7.25, 12.5 + dx, -7.25 + dy, front, floors, z_m)
    scene = Scene()
    return scene, add_building(scene, lot, generator("test building", program, seed))


def semantics(scene: Scene) -> Semantics:
    return Semantics(buildings=scene.buildings, portals=scene.portals, rooms=scene.rooms, objects=scene.objects, instances=scene._instances)


def footprint(thing: ObjectInstance, grown: float = 0.0) -> shapely.Polygon:
    c, s = np.cos(thing.yaw_rad), np.sin(thing.yaw_rad)
    dx, dy = thing.size[0] / 2 + grown, thing.size[1] / 2 + grown
    return shapely.Polygon([(thing.center[0] + c * x - s * y, thing.center[1] + s * x + c * y) for x, y in ((-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy))])


def bottom(thing: ObjectInstance) -> float:
    return thing.center[2] - thing.size[2] / 2


def rooms_of(portal, scene: Scene) -> list[str]:
    middle = shapely.LineString(portal.segment).centroid
    return [r.id for r in scene.rooms if r.floor == portal.floor and shapely.Polygon(r.polygon).distance(middle) < 0.21]


CASES = [(p, s, 1 + (s + k) % 3, FRONTS[(s + k) % 4]) for k, p in enumerate(PROGRAMS) for s in range(2)]


@pytest.fixture(scope="module", params=CASES, ids=lambda c: f"{c[0]}-{c[1]}-{c[2]}f-{c[3]}")
def case(request):
    program, seed, floors, front = request.param
    return *built(program, seed, floors=floors, front=front, z_m=0.4 * (seed % 2)), program, floors, front


def test_annotations_are_complete_and_refer_to_each_other(case):
    scene, result, program, floors, _ = case
    assert result.building.enterable
    assert result.building.category == program
    assert [f.level for f in result.building.floors] == list(range(floors))
    heights = [f.z_m for f in result.building.floors]
    assert np.allclose(np.diff(heights), 3.2)
    assert all(f.height_m == 3.2 for f in result.building.floors)
    floor_ids, room_ids = {f.id for f in result.building.floors}, {r.id for r in scene.rooms}
    assert {r.floor for r in scene.rooms} == floor_ids
    assert all(o.floor in floor_ids and o.room in room_ids and o.building == result.building.id for o in scene.objects)
    for kind in (scene.rooms, scene.portals, scene.objects):
        assert len({item.id for item in kind}) == len(kind)
    labelled = {label.object for label in scene._instances if label.object}
    assert labelled == {o.id for o in scene.objects}
    assert {"wall", "floor", "ceiling", "door", "window", "roof"} <= {label.category for label in scene._instances}
    assert semantics(scene).buildings[0] == result.building


def test_rooms_are_disjoint_and_inside_the_footprint(case):
    scene, result, *_ = case
    outline = shapely.Polygon(result.building.footprint)
    for floor in result.building.floors:
        polygons = [shapely.Polygon(r.polygon) for r in scene.rooms if r.floor == floor.id]
        assert all(p.is_valid and outline.contains(p) for p in polygons)
        assert shapely.union_all(polygons).area == pytest.approx(sum(p.area for p in polygons), rel=1e-9)
        assert sum(p.area for p in polygons) > 0.8 * outline.area
    for room in scene.rooms:
        x0, y0, x1, y1 = shapely.Polygon(room.polygon).bounds
        assert min(x1 - x0, y1 - y0) >= (1.8 if room.category == "corridor" else 2.4) - 1e-6


def test_the_street_door_is_open_and_lies_on_the_front(case):
    scene, result, _, _, front = case
    exterior = [p for p in scene.portals if p.exterior]
    assert result.entrance in exterior
    assert result.entrance.state == "open"
    assert 1.4 <= shapely.LineString(result.entrance.segment).length <= 1.8
    x0, y0, x1, y1 = shapely.Polygon(result.building.footprint).bounds
    edge = {"south": ((x0, y0), (x1, y0)), "north": ((x0, y1), (x1, y1)), "west": ((x0, y0), (x0, y1)), "east": ((x1, y0), (x1, y1))}[front]
    assert shapely.LineString(edge).buffer(1e-6).contains(shapely.LineString(result.entrance.segment))
    assert shapely.LineString(edge).hausdorff_distance(shapely.LineString(result.front_segment)) < 1e-6
    middle, outward = shapely.LineString(result.entrance.segment).centroid, np.array(result.outward)
    assert not shapely.Polygon(result.building.footprint).contains(shapely.Point(*(np.array([middle.x, middle.y]) + 0.5 * outward)))
    assert result.lintel_z < result.sign_band_z[0] < result.sign_band_z[1] < result.facade_top_z


def test_every_room_has_a_door_and_most_rooms_are_joined_by_open_ones(case):
    scene, result, *_ = case
    links = {p.id: rooms_of(p, scene) for p in scene.portals}
    assert all(len(links[p.id]) == (1 if p.exterior else 2) for p in scene.portals)
    assert {r for rooms in links.values() for r in rooms} == {r.id for r in scene.rooms}
    wells = [r.id for r in scene.rooms if r.category == "stairwell"]
    reached, frontier = set(), [links[result.entrance.id][0]]
    while frontier:
        room = frontier.pop()
        if room not in reached:
            reached.add(room)
            frontier += [r for p in scene.portals if p.state == "open" and room in links[p.id] for r in links[p.id]]
            frontier += wells if room in wells else []
    assert len(reached) >= 0.8 * len(scene.rooms)
    assert set(wells) <= reached
    through = {r.id for r in scene.rooms if r.category in ("corridor", "stairwell")}
    assert through <= reached


def test_doors_are_wide_enough(case):
    scene, *_ = case
    for portal in scene.portals:
        width = shapely.LineString(portal.segment).length
        assert width >= 1.0 - 1e-9
        if portal.kind == "door" and not portal.exterior:
            assert width <= 1.1 + 1e-9


def test_furniture_stands_apart_inside_its_room_and_off_the_doors(case):
    scene, result, *_ = case
    height = {f.id: f.z_m for f in result.building.floors}
    polygons = {r.id: shapely.Polygon(r.polygon) for r in scene.rooms}
    standing: dict[str, list[ObjectInstance]] = {}
    for thing in scene.objects:
        assert polygons[thing.room].buffer(1e-3).contains(footprint(thing)), thing.id
        if thing.category != "rug" and bottom(thing) < height[thing.floor] + 0.05:
            standing.setdefault(thing.room, []).append(thing)
    for room, things in standing.items():
        shapes = [footprint(t, -0.001) for t in things]
        tree = shapely.STRtree(shapes)
        pairs = [(i, j) for i, j in tree.query(shapes, predicate="intersects").T if i < j]
        assert not pairs, [(things[i].id, things[j].id) for i, j in pairs]
        for portal in scene.portals:
            lane = shapely.LineString(portal.segment).buffer(LANE_M, cap_style="flat")
            if room in rooms_of(portal, scene):
                blocking = [t.id for t, shape in zip(things, shapes, strict=True) if shape.intersects(lane)]
                assert not blocking, (portal.id, blocking)


def test_things_in_a_room_do_not_stick_into_each_other(case):
    scene, *_ = case
    by_room: dict[str, list[ObjectInstance]] = {}
    for thing in scene.objects:
        if thing.category not in ("rug", "ceiling lamp"):
            by_room.setdefault(thing.room, []).append(thing)
    for things in by_room.values():
        shapes = [footprint(t, -0.002) for t in things]
        for i, j in shapely.STRtree(shapes).query(shapes, predicate="intersects").T:
            a, b = things[i], things[j]
            apart = bottom(a) >= bottom(b) + b.size[2] - 1e-6 or bottom(b) >= bottom(a) + a.size[2] - 1e-6
            sunk = {a.category, b.category} & {"kitchen sink", "sink", "reception desk", "stove", "kitchen counter", "dishwasher"}
            assert i >= j or apart or sunk, (a.id, b.id)


def test_objects_cover_their_triangles(case):
    scene, *_ = case
    world = scene.world("w", "indoor", PROVENANCE)
    labels = {label.id: label.object for label in world.semantics.instances if label.object}
    objects = {o.id: o for o in world.semantics.objects}
    triangles, instance = world.geometry.triangles, world.geometry.instance
    for number in list(labels)[:: max(1, len(labels) // 40)]:
        corners = triangles[instance == number].reshape(-1, 3)
        thing = objects[labels[number]]
        c, s = np.cos(thing.yaw_rad), np.sin(thing.yaw_rad)
        local = (corners - np.array(thing.center)) @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        extent = np.ptp(local, axis=0)
        assert np.allclose(np.maximum(extent, 0.01), thing.size, atol=2e-3), thing.id


def test_inside_is_indoor_and_outside_is_not(case):
    scene, result, *_ = case
    geometry = scene.world("w", "indoor", PROVENANCE).geometry
    middle = geometry.triangles.mean(axis=1)
    inner = shapely.Polygon(result.building.footprint).buffer(-0.21, join_style="mitre")
    inside = shapely.contains_xy(inner, middle[:, 0], middle[:, 1]) & (middle[:, 2] < result.facade_top_z - 0.51)
    assert geometry.indoor[inside].all()
    assert not geometry.indoor[geometry.surface == Surface.ROOF].any()
    normals = np.cross(geometry.triangles[:, 1] - geometry.triangles[:, 0], geometry.triangles[:, 2] - geometry.triangles[:, 0])
    floors = geometry.surface == Surface.FLOOR
    assert (normals[floors][:, 2] > 0).all()
    assert np.isfinite(geometry.vertices).all()


def test_stairs_keep_their_measures():
    assert 0.16 <= RISER_M <= 0.18
    assert 0.28 <= TREAD_M <= 0.30
    assert LANDING_M >= 1.3
    scene, _ = built("office", 3, floors=3)
    geometry = scene.world("w", "indoor", PROVENANCE).geometry
    treads = tread_tops(geometry)
    risers = np.diff(np.unique(np.round(treads[:, 0], 4))) / RISER_M
    assert set(np.round(risers, 2)) == {1.0, 2.0}  # two where the floor between storeys is no stair
    assert treads[:, 1].min() >= 1.3


def tread_tops(geometry: Geometry) -> np.ndarray:
    """(K, 2): height and longer side of every upward face of the stairs."""
    stairs = (geometry.surface == Surface.STAIRS) & geometry.collides
    triangles = geometry.triangles[stairs]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    up = triangles[(normals[:, 2] > 1e-6)]
    return np.stack([up[:, :, 2].mean(axis=1), np.ptp(up[:, :, :2], axis=1).max(axis=1)], axis=1)


def test_headroom_along_the_stairs():
    scene, _ = built("office", 3, floors=3)
    geometry = scene.world("w", "indoor", PROVENANCE).geometry
    stairs = (geometry.surface == Surface.STAIRS) & geometry.collides
    triangles = geometry.triangles[stairs]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    for point in triangles[normals[:, 2] > 1e-6].mean(axis=1):
        assert first_above(point, geometry.triangles[geometry.collides]) - point[2] >= 2.1


def first_above(point: np.ndarray, triangles: np.ndarray) -> float:
    """Height of the lowest triangle above a point."""
    a, b, c = (triangles[:, k, :2].astype(np.float64) - point[:2] for k in range(3))
    areas = np.stack([b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0], c[:, 0] * a[:, 1] - c[:, 1] * a[:, 0], a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]])
    total = areas.sum(axis=0)
    hit = (np.abs(total) > 1e-9) & ((areas >= 0).all(axis=0) | (areas <= 0).all(axis=0))
    heights = (areas[:, hit] * triangles[hit, :, 2].T).sum(axis=0) / total[hit]
    above = heights[heights > point[2] + 0.01]
    return float(above.min()) if len(above) else np.inf


def test_the_same_generator_gives_the_same_building():
    first, second = (build_indoor(11, "clinic", 2) for _ in range(2))
    assert content_hash(first) == content_hash(second)
    assert content_hash(first) != content_hash(build_indoor(12, "clinic", 2))


def test_a_block_of_three_has_thirty_categories():
    scene = Scene()
    for k, program in enumerate(("office", "cafe", "apartments")):
        add_building(scene, Lot(program, program, program, 40.0 * k, 0.0, 40.0 * k + 20.0, 14.0, "south", 2), generator("block", k))
    assert len({o.category for o in scene.objects}) >= 30
    assert len({b.id for b in scene.buildings}) == 3
    assert len({label.id for label in scene._instances}) == len(scene._instances)


def test_every_program_has_its_own_things():
    expected = {
        "office": {"desk", "office chair", "monitor"},
        "apartments": {"bed", "toilet", "refrigerator", "sofa"},
        "cafe": {"coffee counter", "coffee machine", "round table"},
        "school": {"school desk", "whiteboard", "locker"},
        "hotel": {"bed", "reception desk", "suitcase"},
        "supermarket": {"store shelf", "checkout counter", "shopping cart"},
        "clinic": {"exam bed", "waiting bench", "reception desk"},
    }
    for program, things in expected.items():
        scene, _ = built(program, 1, floors=1)
        assert things <= {o.category for o in scene.objects}, program


def test_a_two_floor_office_stays_within_its_budget():
    scene = Scene()
    add_building(scene, Lot("o", "Office", "office", 0.0, 0.0, 24.0, 18.0, "south", 2), generator("budget"))
    faces = len(scene.world("w", "indoor", PROVENANCE).geometry.faces)
    assert faces <= 30_000


def test_catalogue_pieces_are_small_and_upright():
    assert len(CATALOGUE) >= 60
    for category in CATALOGUE:
        for seed in range(3):
            model = make(category, generator("piece", category, seed))
            faces = sum(len(f) for _, _, f, _ in model.parts)
            points = np.concatenate([v for _, v, _, _ in model.parts])
            assert 2 <= faces <= 300
            assert np.isfinite(points).all()
            assert abs(points[:, 2].min()) < 1e-9
            assert np.allclose(points[:, :2].min(axis=0) + points[:, :2].max(axis=0), 0.0, atol=1e-9)


def test_standalone_worlds_can_be_left():
    world = build_indoor(4, "cafe", 1)
    assert world.manifest.kind == "indoor"
    assert world.manifest.cell_m == 0.05
    assert {r.type for r in world.semantics.regions} == {"open_area", "sidewalk"}
    assert all(r.access == "allowed" for r in world.semantics.regions)
    outside = {Surface(s) for s in np.unique(world.geometry.surface[~world.geometry.indoor])} & WALKABLE
    assert {Surface.OPEN_AREA, Surface.SIDEWALK} <= outside


def test_mistakes_are_explained():
    with pytest.raises(UnknownName, match="did you mean 'office'"):
        add_building(Scene(), Lot("a", "A", "offce", 0, 0, 30, 20, "south"), generator("x"))
    with pytest.raises(UnknownName):
        build_indoor(0, "castle")
    with pytest.raises(WorldError, match="too small"):
        add_building(Scene(), Lot("a", "A", "school", 0, 0, 8, 20, "south"), generator("x"))
    with pytest.raises(WorldError, match="1 to 3 floors"):
        build_indoor(0, "office", floors=4)


@settings(max_examples=12)
@given(
    program=st.sampled_from(sorted(PROGRAMS)),
    front=st.sampled_from(FRONTS),
    floors=st.integers(1, 3),
    extra=st.tuples(st.floats(0.0, 22.0), st.floats(0.0, 18.0)),
    seed=st.integers(0, 10_000),
)
def test_any_lot_of_the_least_size_or_more_can_be_built(program, front, floors, extra, seed):
    spec = PROGRAMS[program]
    width, depth = spec.min_width_m + extra[0], spec.min_depth_m + extra[1]
    dx, dy = (width, depth) if front in ("south", "north") else (depth, width)
    scene = Scene()
    result = add_building(scene, Lot("b", "B", program, -3.0, 5.0, -3.0 + dx, 5.0 + dy, front, floors), generator("any lot", seed))
    assert result.building.floors[-1].level == floors - 1
    polygons = [shapely.Polygon(r.polygon) for r in scene.rooms if r.floor == result.building.floors[0].id]
    assert shapely.union_all(polygons).area == pytest.approx(sum(p.area for p in polygons), rel=1e-9)
