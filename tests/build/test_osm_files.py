"""Real extracts: what is known to be there is there, and a robot can use it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import shapely

from portico.build.osm import ImportedWorld, import_osm
from portico.robots import embodiment
from portico.space import build_space
from portico.world import Surface, content_hash

CENTRE = (24.9412, 60.1682, 24.9485, 60.1718)


@pytest.fixture(scope="module")
def centre(shared: Path) -> ImportedWorld:
    return import_osm(shared / "data" / "osm" / "Helsinki.osm.pbf", bbox=CENTRE)


def overlaps_m2(result: ImportedWorld) -> float:
    shapes = [shapely.Polygon(r.polygon) for r in result.world.semantics.regions]
    assert all(s.is_valid for s in shapes)
    return sum(s.area for s in shapes) - shapely.union_all(shapes, grid_size=1e-4).area


def test_the_centre_of_helsinki(centre: ImportedWorld) -> None:
    s = centre.world.semantics
    assert centre.report.extent_m == pytest.approx((405, 401), abs=2)
    assert 55 <= len(s.buildings) <= 80
    assert len(s.portals) >= 50
    assert centre.report.kept["crossings"] >= 20
    assert len([p for p in s.places if p.frontage]) >= 150
    assert {"Stockmann", "Akateeminen Kirjakauppa", "Ateneum"} & {p.name for p in s.places} or {"Ateneum"} & {b.name for b in s.buildings}
    assert {"street lamp", "tree", "bollard", "bike rack"} <= set(s.object_categories())
    assert centre.world.manifest.origin.latitude_deg == pytest.approx(60.17)
    assert centre.world.manifest.cell_m == 0.2


def test_regions_are_disjoint(centre: ImportedWorld) -> None:
    assert overlaps_m2(centre) < 1.0


def test_frontages_lie_on_the_facade_of_their_building(centre: ImportedWorld) -> None:
    outlines: dict[str, shapely.Geometry] = {}
    for building in centre.world.semantics.buildings:
        whole = building.id.split("/")[0]
        outlines[whole] = shapely.union(outlines.get(whole, shapely.Polygon()), shapely.Polygon(building.footprint).boundary)
    for place in centre.world.semantics.places:
        if place.frontage is not None:
            assert place.building is not None
            assert all(outlines[place.building].distance(shapely.Point(p)) < 0.05 for p in place.frontage)


def test_sign_fronts_face_ground_that_may_be_walked_on(centre: ImportedWorld) -> None:
    allowed = shapely.union_all([shapely.Polygon(r.polygon) for r in centre.world.semantics.regions if r.access == "allowed"])
    shapely.prepare(allowed)
    facing = 0
    fronted = [p for p in centre.world.semantics.places if p.frontage is not None]
    for place in fronted:
        a, b = np.array(place.frontage)
        outward = np.array([(b - a)[1], -(b - a)[0]]) / np.hypot(*(b - a))
        facing += allowed.intersects(shapely.Point((a + b) / 2 + 1.2 * outward))
    assert facing >= 0.8 * len(fronted)


def test_the_pedestrian_network_hangs_together(centre: ImportedWorld) -> None:
    routes = centre.world.semantics.routes
    points, edges = np.array(routes.nodes)[:, :2], np.array(routes.edges)
    lengths = np.hypot(*(points[edges[:, 0]] - points[edges[:, 1]]).T)
    label = np.arange(len(points))
    for _ in range(len(points)):
        lowest = np.minimum(label[edges[:, 0]], label[edges[:, 1]])
        before = label.copy()
        np.minimum.at(label, edges[:, 0], lowest)
        np.minimum.at(label, edges[:, 1], lowest)
        if (label == before).all():
            break
    totals = np.bincount(label[edges[:, 0]], weights=lengths)
    assert totals.max() > 0.9 * lengths.sum()


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["spot", "turtlebot"])
def test_allowed_ground_is_joined_by_crossings(centre: ImportedWorld, robot: str) -> None:
    """Also for a wheeled robot that climbs 3 cm: crossings are level with the sidewalk."""
    space = build_space(centre.world, embodiment(robot), cell_m=0.2)
    classes = [Surface.SIDEWALK, Surface.CROSSWALK, Surface.SHARED_ROAD, Surface.OPEN_AREA]
    allowed = np.isin(space.node_surface, classes) & (space.node_component >= 0)
    crosswalks = np.flatnonzero(allowed & (space.node_surface == Surface.CROSSWALK))
    reached = max(int(np.isfinite(space.distance_field(np.array([g]), mask=allowed).values[allowed]).sum()) for g in crosswalks[:: len(crosswalks) // 3][:3])
    assert reached > 0.85 * allowed.sum()


@pytest.mark.slow
def test_all_of_helsinki(shared: Path) -> None:
    result = import_osm(shared / "data" / "osm" / "Helsinki.osm.pbf")
    assert 400 <= len({b.id.split("/")[0] for b in result.world.semantics.buildings}) <= 470
    assert len(result.world.geometry.faces) <= 520_000
    assert result.report.kept["crossings"] >= 300
    assert result.report.kept["signs"] >= 900
    assert sum(o.category == "tree" for o in result.world.semantics.objects) >= 640
    assert any(r.type == "water" for r in result.world.semantics.regions)
    assert overlaps_m2(result) < 8.0


@pytest.mark.slow
def test_a_town_of_two_thousand_houses(shared: Path) -> None:
    result = import_osm(shared / "data" / "osm" / "test.osm.pbf")
    assert 2100 <= len(result.world.semantics.buildings) <= 2213


def test_a_village(shared: Path) -> None:
    path = shared / "data" / "osm" / "planet_10.068,48.135_10.071,48.137.osm"
    first, second = import_osm(path), import_osm(path)
    assert 28 <= len(first.world.semantics.buildings) <= 34
    assert content_hash(first.world) == content_hash(second.world)
    assert overlaps_m2(first) < 0.5


@pytest.mark.parametrize("name", ["caserne.osm", "caserne.geojson"])
def test_a_mall_without_streets(shared: Path, name: str) -> None:
    result = import_osm(shared / "data" / "osm" / name)
    assert len(result.world.semantics.buildings) == 8
    lines = "\n".join(result.report.lines())
    assert "indoor features" in lines
    assert "assumed 1: open ground is walkable" in lines
    assert any(region.access == "allowed" for region in result.world.semantics.regions)


def test_geojson_with_streets(shared: Path) -> None:
    result = import_osm(shared / "data" / "osm" / "grand-place.geojson")
    kept = result.report.kept
    assert kept["crossings"] >= 12
    assert kept["streets and paths"] >= 200
    assert overlaps_m2(result) < 1.0
