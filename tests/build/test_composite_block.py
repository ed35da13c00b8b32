"""Town blocks: the same seed gives the same bytes; what is in them; ground, regions and annotations that agree."""

import os
import subprocess
import sys

import numpy as np
import pytest
import shapely
from town_blocks import block

from portico.build import RECIPES, build_composite
from portico.build.furnish import CURB_ZONE_M, curb_runs
from portico.build.furnisher import BODY_HEIGHT_M
from portico.build.signs import TRADES
from portico.build.town_plan import SIDEWALK_M, plan_town
from portico.errors import WorldError
from portico.geometry import points_in_polygon
from portico.seeding import generator
from portico.world import WALKABLE, Surface, World, content_hash, load, save

SEEDS = (3, 7)
GROUND = [s for s in WALKABLE | {Surface.WATER} if s not in (Surface.FLOOR, Surface.STAIRS)]


@pytest.fixture(params=SEEDS, scope="module")
def world(request) -> World:
    return block(request.param)


def _polygons(world: World, access: str | None = None) -> shapely.Geometry:
    return shapely.union_all([shapely.Polygon(r.polygon) for r in world.semantics.regions if access in (None, r.access)], grid_size=0.001)


def _footprints(world: World) -> shapely.Geometry:
    return shapely.union_all([shapely.Polygon(b.footprint) for b in world.semantics.buildings])


def _low_outlines(world: World) -> dict[str, shapely.Polygon]:
    """Convex outline, at the height of a body, of every outdoor object."""
    labels = {label.id: label.object for label in world.semantics.instances if label.object is not None}
    outdoor = {o.id for o in world.semantics.objects if o.building is None}
    triangles = world.geometry.triangles.astype(float)
    low = triangles[:, :, 2].min(axis=1) < BODY_HEIGHT_M - 0.2
    order = np.argsort(world.geometry.instance, kind="stable")
    order = order[low[order]]
    outlines = {}
    for part in np.split(order, np.flatnonzero(np.diff(world.geometry.instance[order])) + 1):
        name = labels.get(int(world.geometry.instance[part[0]]))
        if name in outdoor:
            points = triangles[part].reshape(-1, 3)
            outlines[name] = shapely.MultiPoint(points[points[:, 2] < BODY_HEIGHT_M][:, :2]).convex_hull
    return outlines


def test_recipes_are_found_by_name():
    assert RECIPES["composite"] is build_composite
    assert set(RECIPES) >= {"composite", "indoor"}


def test_the_same_seed_gives_the_same_hash_in_another_process_with_another_hash_seed():
    code = "from portico.build import build_composite; from portico.world import content_hash; print(content_hash(build_composite(7)))"
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    there = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == content_hash(block(7))
    assert content_hash(block(3)) != content_hash(block(7))


def test_it_survives_the_disk(tmp_path):
    saved = save(block(7), tmp_path / "block")
    assert load(tmp_path / "block").manifest == saved.manifest
    assert saved.manifest.kind == "composite"
    assert saved.manifest.recipe["generator"] == "composite"


def test_inventory(world):
    s = world.semantics
    enterable = [b for b in s.buildings if b.enterable]
    assert len(s.buildings) >= 8
    assert len(enterable) >= 4
    assert len({b.category for b in enterable}) == len(enterable)
    assert any(len(b.floors) >= 2 for b in enterable)
    assert len(world.geometry.faces) <= 260_000
    street = {o.category for o in s.objects if o.building is None}
    assert len(street) >= 35
    assert len({p.category for p in s.places} & set(TRADES)) >= 8
    entrances = {p.id for p in s.portals if p.exterior}
    assert {p.entrance for p in s.places if p.entrance} == entrances
    assert len(entrances) == len(enterable)
    assert sum(o.category in ("car", "suv", "van", "pickup truck") for o in s.objects) >= 10


def test_enterable_buildings_stand_on_several_sides_of_the_streets(world):
    town = plan_town(generator("composite", world.manifest.seed, "plan"), 150.0, world.manifest.recipe["junction"])
    assert {r.name for r in town.roads} == {"main street", "side street"}
    quarters = {b.id.rsplit("-", 1)[0] for b in world.semantics.buildings if b.enterable}
    assert len(quarters) == 4


def test_all_kinds_of_regions_are_there_with_an_override(world):
    regions = world.semantics.regions
    assert {r.type for r in regions} == {"sidewalk", "crosswalk", "vehicle_lane", "open_area", "vegetated", "water", "shared_road"}
    assert any(r.type == "vegetated" and r.access == "allowed" for r in regions)


def test_regions_cover_all_outdoor_ground_and_no_building(world):
    g = world.geometry
    ground = g.triangles[np.isin(g.surface, [int(s) for s in GROUND]) & g.collides & ~g.indoor].astype(float)
    labels = {label.id: label.object for label in world.semantics.instances}
    own = np.array([labels[int(i)] is None for i in g.instance])[np.isin(g.surface, [int(s) for s in GROUND]) & g.collides & ~g.indoor]
    centers = ground[own].mean(axis=1)
    covered = np.zeros(len(centers), bool)
    for region in world.semantics.regions:
        covered |= points_in_polygon(centers, np.array(region.polygon))
    assert covered.all(), centers[~covered][:5]
    assert shapely.intersection(_polygons(world), _footprints(world)).area < 1e-3
    half = world.manifest.recipe["size_m"] / 2
    gap = shapely.box(-half, -half, half, half).difference(shapely.union(_polygons(world), _footprints(world), grid_size=0.001))
    assert gap.area < 1e-2, "slivers of a millimetre are all that is left"


def test_surfaces_agree_with_regions(world):
    g = world.geometry
    kinds = {"vehicle_lane": Surface.VEHICLE_LANE, "crosswalk": Surface.CROSSWALK, "vegetated": Surface.VEGETATED, "water": Surface.WATER}
    centers = g.triangles.mean(axis=1).astype(float)
    labels = np.array([label.object is None for label in sorted(world.semantics.instances, key=lambda label: label.id)])[g.instance - 1]
    for kind, surface in kinds.items():
        picked = centers[(g.surface == surface) & g.collides & labels]
        inside = np.zeros(len(picked), bool)
        for region in world.semantics.regions:
            if region.type == kind:
                inside |= points_in_polygon(picked, np.array(region.polygon))
        assert len(picked)
        assert inside.all(), kind


def test_ground_triangles_are_small_and_roads_lie_lower(world):
    g = world.geometry
    ground = np.isin(g.surface, [int(s) for s in GROUND]) & ~g.indoor
    assert np.ptp(g.triangles[ground][:, :, :2], axis=1).max() <= 10.01
    road = g.triangles[(g.surface == Surface.VEHICLE_LANE) & g.collides]
    assert np.allclose(road[:, :, 2], -0.2, atol=1e-5)
    walk = g.triangles[(g.surface == Surface.SIDEWALK) & g.collides]
    assert np.allclose(walk[:, :, 2], 0.0, atol=1e-5)


def test_ramps_are_gentle_enough_for_small_robots(world):
    g = world.geometry
    ramps = g.triangles[(g.surface == Surface.RAMP) & ~g.indoor].astype(float)
    normals = np.cross(ramps[:, 1] - ramps[:, 0], ramps[:, 2] - ramps[:, 0])
    slope = np.degrees(np.arccos(normals[:, 2] / np.linalg.norm(normals, axis=1)))
    assert len(ramps) >= 16
    assert slope.max() <= 7.0
    assert ramps[:, :, 2].min() == pytest.approx(-0.2, abs=1e-5)
    assert ramps[:, :, 2].max() == pytest.approx(0.0, abs=1e-5)


def test_doors_open_onto_allowed_ground_with_room_before_them(world):
    allowed = _polygons(world, "allowed")
    outlines = _low_outlines(world)
    buildings = {b.id: shapely.Polygon(b.footprint) for b in world.semantics.buildings}
    for portal in world.semantics.portals:
        if portal.exterior:
            a, b = np.array(portal.segment)
            out = np.array([(b - a)[1], -(b - a)[0]]) / np.linalg.norm(b - a)
            if buildings[portal.building].contains(shapely.Point((a + b) / 2 + 0.3 * out)):
                out = -out
            approach = shapely.Polygon([a, b, b + out * 3.0, a + out * 3.0])
            assert approach.difference(shapely.union(allowed, buildings[portal.building])).area < 1e-3, portal.id
            assert not [name for name, outline in outlines.items() if outline.intersects(approach)], portal.id


def test_sidewalks_keep_a_free_walking_lane(world):
    recipe = world.manifest.recipe
    town = plan_town(generator("composite", world.manifest.seed, "plan"), recipe["size_m"], recipe["junction"])
    outlines = _low_outlines(world)
    for run in curb_runs(town)[0]:
        a, b = run.start + run.inward * (CURB_ZONE_M[1] + 0.01), run.start + run.inward * (SIDEWALK_M - 0.01)
        lane = shapely.Polygon([a, a + run.along * run.length_m, b + run.along * run.length_m, b])
        assert SIDEWALK_M - CURB_ZONE_M[1] - 2 * 0.4 >= 1.8
        assert not [name for name, outline in outlines.items() if outline.intersects(lane)]


def test_nothing_stands_on_crosswalks_and_cars_stay_on_roads(world):
    outlines = _low_outlines(world)
    crosswalks = shapely.union_all([shapely.Polygon(r.polygon) for r in world.semantics.regions if r.type == "crosswalk"])
    assert not [name for name, outline in outlines.items() if outline.intersects(crosswalks.buffer(-0.01))]
    roads = shapely.union_all([shapely.Polygon(r.polygon) for r in world.semantics.regions if r.type in ("vehicle_lane", "shared_road")])
    cars = [o for o in world.semantics.objects if o.category in ("car", "suv", "van", "pickup truck")]
    assert all(roads.contains(shapely.Point(o.center[0], o.center[1])) for o in cars)


def test_objects_have_their_triangles_and_their_box(world):
    labels = {label.object: label.id for label in world.semantics.instances if label.object is not None}
    g = world.geometry
    outdoor = [o for o in world.semantics.objects if o.building is None]
    assert all(o.id in labels for o in outdoor)
    for o in outdoor[::9]:
        points = g.triangles[g.instance == labels[o.id]].reshape(-1, 3)
        assert np.allclose((points.min(axis=0)[2] + points.max(axis=0)[2]) / 2, o.center[2], atol=1e-3)
        assert np.ptp(points[:, 2]) == pytest.approx(o.size[2], abs=1e-3)


def test_routes_join_all_doors_on_allowed_ground_past_all_objects(world):
    routes = world.semantics.routes
    nodes = np.array(routes.nodes)
    allowed = _polygons(world, "allowed").buffer(0.01)
    lines = [shapely.LineString(nodes[list(e), :2]) for e in routes.edges]
    assert all(allowed.contains(line) for line in lines)
    reached, frontier = {0}, [0]
    neighbours: dict[int, list[int]] = {}
    for a, b in routes.edges:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    while frontier:
        for n in neighbours[frontier.pop()]:
            if n not in reached:
                reached.add(n)
                frontier.append(n)
    assert len(reached) == len(nodes)
    assert set(np.round(np.unique(nodes[:, 2]), 3)) <= {0.0, -0.2}
    network = shapely.union_all(lines)
    blocked = [name for name, outline in _low_outlines(world).items() if outline.distance(network) < 0.4]
    assert not blocked
    for portal in world.semantics.portals:
        if portal.exterior:
            assert shapely.Point(np.mean(portal.segment, axis=0)).distance(network) < 3.6


def test_no_street_object_hides_a_sign_from_the_street(world):
    g = world.geometry
    labels = {label.id: label for label in world.semantics.instances}
    ignored = {"building", "wall", "car", "suv", "van", "pickup truck"}
    solid = np.array([labels[int(i)].category not in ignored for i in g.instance]) & g.collides & ~g.indoor
    triangles = g.triangles[solid].astype(float)
    for place in world.semantics.places:
        board = next(label.id for label in labels.values() if label.object == place.id)
        points = g.triangles[g.instance == board].reshape(-1, 3).astype(float)
        a, b = np.array(place.frontage)
        out = np.append(np.array([(b - a)[1], -(b - a)[0]]) / np.linalg.norm(b - a), 0.0)
        middle = (points.min(axis=0) + points.max(axis=0)) / 2 + 0.2 * out
        for distance_m in (8.0, 11.0):
            eye = np.array([*(middle + distance_m * out)[:2], 0.7])
            past_the_nose = eye + 0.3 * (middle - eye)
            assert not _crossed(past_the_nose, middle, triangles).any(), place.name


def _crossed(start: np.ndarray, end: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which triangles a segment crosses (Moeller and Trumbore's test)."""
    a, e1, e2 = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    p = np.cross(end - start, e2)
    det = (e1 * p).sum(axis=1)
    inverse = 1.0 / np.where(np.abs(det) > 1e-12, det, np.inf)
    u = ((start - a) * p).sum(axis=1) * inverse
    q = np.cross(start - a, e1)
    v = q @ (end - start) * inverse
    t = (e2 * q).sum(axis=1) * inverse
    return (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & (t < 1) & (inverse != 0)


def test_light_changes_with_the_seed_and_at_the_door():
    first, second = block(3).appearance.light, block(7).appearance.light
    assert first.sun_direction != second.sun_direction
    for light in (first, second):
        assert abs(light.sun + light.sky - light.indoor) > 0.25


@pytest.mark.parametrize("wrong", [{"size_m": 60.0}, {"size_m": 1000.0}, {"enterable": 0}, {"enterable": 30}])
def test_parameters_out_of_range_are_the_users_mistake(wrong):
    with pytest.raises(WorldError, match="choose"):
        build_composite(1, **wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "params"),
    [(11, {"size_m": 130.0, "enterable": 1}), (12, {"size_m": 190.0, "enterable": 7}), (13, {"junction": "tee"}), (14, {"junction": "cross"})],
)
def test_parameters_are_kept(seed, params):
    world = build_composite(seed, **params)
    assert {k: world.manifest.recipe[k] for k in params} == params
    assert sum(b.enterable for b in world.semantics.buildings) == params.get("enterable", 5)
    test_regions_cover_all_outdoor_ground_and_no_building(world)
    test_routes_join_all_doors_on_allowed_ground_past_all_objects(world)
