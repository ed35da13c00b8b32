"""Small drawn towns: what becomes ground, what becomes a building, what may be walked on."""

from __future__ import annotations

import bz2
import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from osm_text import Drawing

from portico.build.osm import ImportedWorld, import_osm
from portico.world import Surface, World, content_hash, load, save


@pytest.fixture
def drawing() -> Drawing:
    return Drawing()


def imported(drawing: Drawing, tmp_path: Path) -> ImportedWorld:
    return import_osm(drawing.write(tmp_path / "town.osm"))


def ground_of(world: World, *types: str) -> shapely.Geometry:
    return shapely.union_all([shapely.Polygon(r.polygon) for r in world.semantics.regions if r.type in types])


def to_world(result: ImportedWorld, drawing: Drawing, x: float, y: float) -> tuple[float, float]:
    """World coordinates of a drawn point: the world's origin is the middle of the extract, not of the drawing."""
    origin = result.world.manifest.origin
    dx, dy = drawing.frame.to_local([origin.longitude_deg], [origin.latitude_deg])[0]
    return x - dx, y - dy


def height_at(world: World, x: float, y: float) -> float:
    """Highest walkable surface at a point."""
    g = world.geometry
    walkable = np.isin(g.surface, [s.value for s in Surface if Surface.FLOOR <= s <= Surface.CURB]) & g.collides
    t = g.triangles[walkable].astype(np.float64)
    a, b, c = t[:, 0, :2], t[:, 1, :2], t[:, 2, :2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        u = ((b[:, 0] - x) * (c[:, 1] - y) - (b[:, 1] - y) * (c[:, 0] - x)) / area
        v = ((c[:, 0] - x) * (a[:, 1] - y) - (c[:, 1] - y) * (a[:, 0] - x)) / area
    w = 1.0 - u - v
    inside = (np.abs(area) > 1e-9) & (u >= -1e-6) & (v >= -1e-6) & (w >= -1e-6)
    return float((u[inside] * t[inside, 0, 2] + v[inside] * t[inside, 1, 2] + w[inside] * t[inside, 2, 2]).max())


def street(drawing: Drawing, **tags: str) -> None:
    drawing.way([(-60.0, 0.0), (60.0, 0.0)], **{"highway": "residential", "width": "6", **tags})


def test_a_street_has_a_sunken_bed_and_sidewalks(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    result = imported(drawing, tmp_path)
    x, y = to_world(result, drawing, 0.0, 0.0)
    assert height_at(result.world, x, y) == pytest.approx(-0.2, abs=1e-5)
    assert height_at(result.world, x, y + 4.0) == pytest.approx(0.0, abs=1e-6)
    assert ground_of(result.world, "vehicle_lane").contains(shapely.Point(x, y))
    assert ground_of(result.world, "sidewalk").contains(shapely.Point(x, y + 4.0))
    assert {r.access for r in result.world.semantics.regions if r.type == "vehicle_lane"} == {"prohibited"}
    assert "assumed 1: sidewalks on both sides" in "\n".join(result.report.lines())


@pytest.mark.parametrize(
    ("sidewalk", "left", "right"), [("both", True, True), ("left", True, False), ("right", False, True), ("no", False, False), ("separate", False, False)]
)
def test_the_sidewalk_tag_says_on_which_side(drawing: Drawing, tmp_path: Path, sidewalk: str, left: bool, right: bool) -> None:
    street(drawing, sidewalk=sidewalk)
    result = imported(drawing, tmp_path)
    x, y = to_world(result, drawing, 0.0, 0.0)
    walk = ground_of(result.world, "sidewalk")
    assert walk.intersects(shapely.Point(x, y + 4.0)) is left
    assert walk.intersects(shapely.Point(x, y - 4.0)) is right


def test_a_crossing_is_level_with_the_sidewalk_and_ramps_for_vehicles(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.way([(10.0, -3.5), (10.0, 3.5)], highway="footway", footway="crossing", crossing="marked")
    result = imported(drawing, tmp_path)
    x, y = to_world(result, drawing, 10.0, 0.0)
    assert ground_of(result.world, "crosswalk").contains(shapely.Point(x, y))
    for across in np.linspace(-5.0, 5.0, 41):
        assert height_at(result.world, x, y + across) == pytest.approx(0.0, abs=1e-5)
    heights = [height_at(result.world, x + along, y) for along in np.linspace(1.7, 6.0, 44)]
    assert np.all(np.diff(heights) <= 1e-6)
    assert np.max(np.abs(np.diff(heights))) < 0.1 * 0.2
    assert heights[-1] == pytest.approx(-0.2, abs=1e-5)


@pytest.mark.parametrize("mapping", ["node", "path"])
def test_crossings_without_a_crossing_way(drawing: Drawing, tmp_path: Path, mapping: str) -> None:
    street(drawing)
    if mapping == "node":
        drawing.node(10.0, 0.0, highway="crossing")
    else:
        drawing.way([(10.0, -20.0), (10.0, 20.0)], highway="footway")
    result = imported(drawing, tmp_path)
    x, y = to_world(result, drawing, 10.0, 0.0)
    crosswalk = ground_of(result.world, "crosswalk")
    assert crosswalk.contains(shapely.Point(x, y))
    assert crosswalk.bounds[3] - crosswalk.bounds[1] == pytest.approx(6.0, abs=0.1)
    assert "crossing" in "\n".join(result.report.lines())


def test_regions_are_simple_disjoint_and_cover_what_lies_outdoors(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.way([(10.0, -30.0), (10.0, 40.0)], highway="footway")
    drawing.square(-40.0, 8.0, 30.0, leisure="park")
    drawing.square(-35.0, 12.0, 8.0, natural="water")
    drawing.square(30.0, 8.0, 20.0, building="yes")
    drawing.square(20.0, -40.0, 25.0, place="square")
    world = imported(drawing, tmp_path).world
    shapes = [shapely.Polygon(r.polygon) for r in world.semantics.regions]
    assert all(s.is_valid for s in shapes)
    assert sum(s.area for s in shapes) == pytest.approx(shapely.union_all(shapes).area, abs=0.05)
    footprint = shapely.Polygon(world.semantics.buildings[0].footprint)
    assert shapely.union_all(shapes).intersection(footprint).area < 0.01
    assert {"sidewalk", "crosswalk", "vehicle_lane", "vegetated", "water", "open_area"} == {r.type for r in world.semantics.regions}
    assert ground_of(world, "water").area == pytest.approx(64.0, abs=0.1)


def test_access_tags_override_the_custom(drawing: Drawing, tmp_path: Path) -> None:
    drawing.way([(-60.0, 0.0), (60.0, 0.0)], highway="footway", foot="no")
    drawing.way([(-60.0, 20.0), (60.0, 20.0)], highway="service", access="private")
    drawing.way([(-60.0, 40.0), (60.0, 40.0)], highway="cycleway")
    drawing.way([(-60.0, 60.0), (60.0, 60.0)], highway="cycleway", foot="designated")
    drawing.way([(-60.0, 80.0), (60.0, 80.0)], highway="service")
    result = imported(drawing, tmp_path)
    expected = {0.0: "prohibited", 20.0: "prohibited", 40.0: "prohibited", 60.0: "allowed", 80.0: "allowed"}
    for y, access in expected.items():
        point = shapely.Point(to_world(result, drawing, 5.0, y))
        holding = [r.access for r in result.world.semantics.regions if shapely.Polygon(r.polygon).contains(point)]
        assert holding == [access], y


def test_building_heights_floors_and_names(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(-50.0, 8.0, 12.0, building="apartments", building__levels="4", name="Haus A")
    drawing.square(-30.0, 8.0, 12.0, building="yes", height="32 ft")
    drawing.square(-10.0, 8.0, 12.0, building="yes", height="tall", building__levels="ground+2")
    result = imported(drawing, tmp_path)
    by_category = {b.category: b for b in result.world.semantics.buildings}
    assert by_category["apartments"].name == "Haus A"
    assert [f.level for f in by_category["apartments"].floors] == [0, 1, 2, 3]
    assert not by_category["apartments"].enterable
    roofs = result.world.geometry.triangles[result.world.geometry.surface == Surface.ROOF][:, :, 2].max(axis=1)
    assert np.isclose(roofs, 9.7536, atol=1e-3).any()
    text = "\n".join(result.report.lines())
    assert "height='tall'" in text
    assert "building:levels='ground+2'" in text


def test_building_parts_make_towers(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(0.0, 8.0, 30.0, building="office", height="40")
    drawing.way([(0.0, 8.0), (30.0, 8.0), (30.0, 30.0), (0.0, 30.0)], closed=True, building__part="yes", height="10")
    drawing.way([(0.0, 30.0), (30.0, 30.0), (30.0, 38.0), (0.0, 38.0)], closed=True, building__part="yes", height="40")
    world = imported(drawing, tmp_path).world
    roofs = world.geometry.triangles[world.geometry.surface == Surface.ROOF]
    assert set(np.round(roofs[:, :, 2].ravel(), 2).tolist()) == {10.0, 40.0}
    assert len(world.semantics.buildings) == 1


@pytest.mark.parametrize("tagged", [True, False])
def test_a_way_through_a_building_stays_open(drawing: Drawing, tmp_path: Path, tagged: bool) -> None:
    drawing.square(-10.0, -10.0, 20.0, building="yes", building__levels="4")
    drawing.way([(0.0, -40.0), (0.0, 40.0)], highway="service", **({"tunnel": "building_passage"} if tagged else {}))
    result = imported(drawing, tmp_path)
    x, y = to_world(result, drawing, 0.0, 0.0)
    assert ground_of(result.world, "shared_road").contains(shapely.Point(x, y))
    assert not any(shapely.Polygon(b.footprint).contains(shapely.Point(x, y)) for b in result.world.semantics.buildings)
    overhead = result.world.geometry.triangles[result.world.geometry.surface == Surface.CEILING]
    assert overhead[:, :, 2].min() == pytest.approx(3.4, abs=1e-5)
    assert ("passage where a street" in "\n".join(result.report.lines())) is not tagged


def test_a_courtyard_is_outdoors(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    outer = drawing.square(0.0, 8.0, 40.0)
    inner = drawing.square(15.0, 20.0, 10.0)
    drawing.relation([(outer, "outer"), (inner, "inner")], type="multipolygon", building="yes")
    result = imported(drawing, tmp_path)
    (building,) = result.world.semantics.buildings
    footprint = shapely.Polygon(building.footprint)
    assert footprint.is_valid
    assert footprint.area == pytest.approx(1500.0, abs=2.0)
    assert not footprint.contains(shapely.Point(to_world(result, drawing, 20.0, 25.0)))
    assert height_at(result.world, *to_world(result, drawing, 20.0, 25.0)) == pytest.approx(0.0, abs=1e-6)


def test_shops_get_a_frontage_that_faces_the_street(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(0.0, 6.0, 20.0, building="yes", building__levels="3")
    drawing.node(10.0, 20.0, shop="bakery", name="Bäckerei Grün")
    drawing.node(12.0, 20.0, shop="clothes", name="Одежда")
    drawing.node(14.0, 20.0, shop="books", name="書店")
    drawing.node(10.0, 6.0, entrance="main")
    drawing.node(10.0, 20.0, shop="shoes", name="Upstairs", level="2")
    result = imported(drawing, tmp_path)
    places = {p.name: p for p in result.world.semantics.places}
    assert set(places) == {"Bäckerei Grün", "Одежда", "書店"}
    _, facade_y = to_world(result, drawing, 0.0, 6.0)
    for place in places.values():
        assert place.building == result.world.semantics.buildings[0].id
        assert {round(p[1], 1) for p in place.frontage} == {round(facade_y, 1)}
    spans = sorted(sorted(p[0] for p in place.frontage) for place in places.values() if place.frontage)
    assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(spans))
    assert places["Одежда"].category == "clothing store"
    assert result.report.kept["signs"] == 2
    text = "\n".join(result.report.lines())
    assert "letters that the built-in font lacks" in text
    assert "on other storeys" in text


def test_entrances_become_closed_exterior_portals(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(0.0, 6.0, 20.0, building="yes")
    entrance = drawing.node(10.0, 6.0, entrance="main")
    drawing.node(10.0, 16.0, entrance="yes")
    result = imported(drawing, tmp_path)
    (portal,) = result.world.semantics.portals
    assert portal.id == f"n{entrance}"
    assert portal.exterior
    assert portal.state == "closed"
    assert portal.floor == result.world.semantics.buildings[0].floors[0].id
    assert Surface.DOOR in result.world.geometry.surface
    assert "no building's outline" in "\n".join(result.report.lines())


def test_objects_stand_beside_the_carriageway(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    bench, lamp, middle = drawing.node(0.0, 5.0, amenity="bench"), drawing.node(10.0, 2.5, highway="street_lamp"), drawing.node(-30.0, 0.0, natural="tree")
    drawing.node(20.0, 4.5, amenity="waste_basket")
    result = imported(drawing, tmp_path)
    objects = {o.id: o for o in result.world.semantics.objects}
    assert objects[f"n{bench}"].category == "bench"
    lane = ground_of(result.world, "vehicle_lane")
    assert not any(lane.contains(shapely.Point(o.center[:2])) for o in objects.values() if o.category != "street lamp")
    assert f"n{lamp}" in objects
    assert f"n{middle}" not in objects or not lane.contains(shapely.Point(objects[f"n{middle}"].center[:2]))
    labels = {label.object for label in result.world.semantics.instances}
    assert set(objects) <= labels


def test_a_fence_has_gaps_at_gates_and_ways(drawing: Drawing, tmp_path: Path) -> None:
    drawing.way([(-60.0, 0.0), (60.0, 0.0)], highway="footway")
    gate = drawing.node(-20.0, 10.0, barrier="gate")
    refs = [drawing.node(-40.0, 10.0), gate, drawing.node(40.0, 10.0)]
    drawing.way([], refs=refs, barrier="fence")
    drawing.way([(20.0, 0.0), (20.0, 30.0)], highway="path")
    result = imported(drawing, tmp_path)
    g = result.world.geometry
    fences = {label.id for label in result.world.semantics.instances if label.category == "fence"}
    points = g.triangles[np.isin(g.instance, sorted(fences))].reshape(-1, 3)
    xs = points[:, 0] + (0.0 - to_world(result, drawing, 0.0, 0.0)[0])
    assert not ((xs > -20.9) & (xs < -19.1)).any()
    assert not ((xs > 19.1) & (xs < 20.9)).any()
    assert (np.abs(xs) < 5.0).any()


def test_sea_lies_to_the_right_of_the_coastline(drawing: Drawing, tmp_path: Path) -> None:
    drawing.way([(-60.0, -60.0), (60.0, -60.0)], highway="footway")
    drawing.way([(60.0, 0.0), (-60.0, 5.0)], natural="coastline")
    drawing.way([(-60.0, 60.0), (60.0, 60.0)], highway="footway")
    result = imported(drawing, tmp_path)
    water = ground_of(result.world, "water")
    assert water.contains(shapely.Point(to_world(result, drawing, 0.0, 30.0)))
    assert not water.contains(shapely.Point(to_world(result, drawing, 0.0, -30.0)))


def test_the_pedestrian_network_leads_across_the_street(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.way([(10.0, -3.5), (10.0, 3.5)], highway="footway", footway="crossing")
    routes = imported(drawing, tmp_path).world.semantics.routes
    parent = list(range(len(routes.nodes)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for a, b in routes.edges:
        parent[root(a)] = root(b)
    assert len(routes.nodes) >= 6
    assert len({root(i) for i in range(len(routes.nodes))}) == 1


def test_everything_has_ground_and_a_border(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(30.0, 8.0, 20.0, building="yes")
    result = imported(drawing, tmp_path)
    low, high = result.world.geometry.bounds()
    rng = np.random.default_rng(0)
    footprint = shapely.Polygon(result.world.semantics.buildings[0].footprint)
    for x, y in rng.uniform(low[:2] + 0.5, high[:2] - 0.5, (60, 2)):
        if not footprint.contains(shapely.Point(x, y)):
            assert -0.61 <= height_at(result.world, float(x), float(y)) <= 0.0
    walls = result.world.geometry.triangles[result.world.geometry.surface == Surface.WALL]
    assert walls[:, :, 0].min() == pytest.approx(low[0], abs=1e-3)


def test_two_imports_are_equal_and_the_bundle_is_valid(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(0.0, 6.0, 20.0, building="yes")
    drawing.node(10.0, 20.0, shop="bakery", name="Bakery")
    drawing.node(0.0, 5.0, natural="tree")
    path = drawing.write(tmp_path / "town.osm")
    first, second = import_osm(path).world, import_osm(path).world
    assert content_hash(first) == content_hash(second)
    saved = save(first, tmp_path / "world")
    again = load(tmp_path / "world")
    assert again.manifest.content_hash == saved.manifest.content_hash
    assert again.manifest.provenance.licence == "ODbL-1.0"
    assert "OpenStreetMap contributors" in again.manifest.provenance.attribution
    assert again.manifest.cell_m == 0.1
    assert any("assumed" in note for note in again.manifest.notes)


def test_compressed_files_and_any_order_of_elements(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(0.0, 6.0, 20.0, building="yes")
    plain = drawing.write(tmp_path / "town.osm")
    (tmp_path / "town.osm.bz2").write_bytes(bz2.compress(plain.read_bytes()))
    (tmp_path / "town.osm.gz").write_bytes(gzip.compress(plain.read_bytes()))
    drawing.lines.reverse()
    backwards = drawing.write(tmp_path / "backwards.osm")
    expected = import_osm(plain).world
    for name in ("town.osm.bz2", "town.osm.gz"):
        assert import_osm(tmp_path / name).world.semantics == expected.semantics
    assert len(import_osm(backwards).world.semantics.buildings) == 1


def test_bbox_cuts_the_world(drawing: Drawing, tmp_path: Path) -> None:
    street(drawing)
    drawing.square(-50.0, 6.0, 20.0, building="yes", name="west")
    drawing.square(30.0, 6.0, 20.0, building="yes", name="east")
    (west, south), (east, north) = drawing.frame.to_geographic([[0.0, -20.0], [70.0, 40.0]])
    world = import_osm(drawing.write(tmp_path / "town.osm"), bbox=(west, south, east, north)).world
    assert [b.name for b in world.semantics.buildings] == ["east"]
    low, high = world.geometry.bounds()
    np.testing.assert_allclose((high - low)[:2], [70.0, 60.0], atol=0.1)
