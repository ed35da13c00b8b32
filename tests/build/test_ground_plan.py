"""Ground plans: patches painted over one another become disjoint ground, regions that cover it, curbs and ramps."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.build.ground import ROAD_DEPTH_M, Patch, add_curbs, add_ground, paint_over, regions, tessellate, without_holes
from portico.build.scene import Scene
from portico.build.streets import RAMP_LENGTH_M, Crosswalk, Road, add_crosswalks, curb_openings, lane_marks, open_stretches, road_beds, street_patches
from portico.world import Provenance, Surface

coordinate = st.integers(0, 40).map(lambda n: n / 2)
rectangles = st.tuples(coordinate, coordinate, coordinate, coordinate).filter(lambda r: abs(r[0] - r[2]) > 0.4 and abs(r[1] - r[3]) > 0.4)


def _patch(name: str, rectangle: tuple[float, float, float, float]) -> Patch:
    a, b, c, d = rectangle
    return Patch(name, "open_area", shapely.box(min(a, c), min(b, d), max(a, c), max(b, d)), "plaza", Surface.OPEN_AREA)


@given(st.lists(rectangles, min_size=1, max_size=6), rectangles)
@settings(max_examples=60)
def test_painting_over_keeps_the_area_and_makes_it_disjoint(painted, hole):
    patches = [_patch(f"p{i}", r) for i, r in enumerate(painted)]
    gap = _patch("hole", hole).area
    whole = shapely.union_all([p.area for p in patches]).difference(gap)
    disjoint = paint_over(patches, gap)
    assert sum(p.area.area for p in disjoint) == pytest.approx(whole.area, abs=1e-3)
    assert shapely.union_all([p.area for p in disjoint]).symmetric_difference(whole).area < 1e-3 if disjoint else whole.area < 1e-3


@given(st.lists(rectangles, min_size=1, max_size=5))
@settings(max_examples=40)
def test_later_patches_lie_on_top(painted):
    disjoint = {p.region: p.area for p in paint_over([_patch(f"p{i}", r) for i, r in enumerate(painted)])}
    last = len(painted) - 1
    assert disjoint[f"p{last}"].symmetric_difference(_patch("x", painted[last]).area).area < 1e-6


@given(st.lists(rectangles, min_size=1, max_size=5))
@settings(max_examples=40)
def test_cutting_at_holes_keeps_the_area(holes):
    plate = shapely.box(-1, -1, 21, 21).difference(shapely.union_all([_patch("h", r).area for r in holes]))
    for polygon in shapely.get_parts(plate):
        pieces = without_holes(polygon)
        assert all(not p.interiors for p in pieces)
        assert sum(p.area for p in pieces) == pytest.approx(polygon.area, abs=1e-3)


@given(rectangles, st.floats(-0.1, 0.1), st.floats(-0.1, 0.1))
@settings(max_examples=40)
def test_triangles_face_up_on_their_plane_and_stay_small(rectangle, gx, gy):
    area = _patch("a", rectangle).area
    vertices, faces = tessellate(area, (0.5, gx, gy), 5.0)
    corners = vertices[faces].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 2] > 0).all()
    assert normals[:, 2].sum() / 2 == pytest.approx(area.area, rel=1e-4)
    assert np.allclose(vertices[:, 2], 0.5 + gx * vertices[:, 0] + gy * vertices[:, 1], atol=1e-4)
    assert np.ptp(corners[:, :, :2], axis=1).max() <= 5.0 + 1e-4


def test_regions_join_patches_of_one_name_and_take_the_override():
    left, right = _patch("square", (0, 0, 5, 5)), _patch("square", (5, 0, 10, 5))
    closed = Patch("works", "open_area", shapely.box(20, 0, 25, 5), "plaza", Surface.OPEN_AREA, access="prohibited")
    found = regions([left, right, closed])
    assert [(r.id, r.access) for r in found] == [("square", "allowed"), ("works", "prohibited")]
    assert shapely.Polygon(found[0].polygon).area == pytest.approx(50.0)


def _crossing(yaw: float) -> tuple[Road, Crosswalk]:
    end = (60.0 * float(np.cos(yaw)), 60.0 * float(np.sin(yaw)))
    road = Road("street", (0.0, 0.0), end, 4.0, (2.3, 0.0))
    return road, Crosswalk("crosswalk", road, 30.0)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2, 0.6])
def test_ramps_join_road_and_sidewalk_gently(yaw):
    _, crosswalk = _crossing(yaw)
    for outline, plane in crosswalk.ramps():
        points = np.asarray(outline.exterior.coords)
        heights = plane[0] + points[:, :2] @ np.array(plane[1:])
        assert heights.min() == pytest.approx(-ROAD_DEPTH_M)
        assert heights.max() == pytest.approx(0.0, abs=1e-9)
        assert np.degrees(np.arctan(np.hypot(*plane[1:]))) <= 7.0
    heads = [s[2] for s in crosswalk.stations()]
    assert heads == pytest.approx([0.0, -0.2, -0.2, -0.2, 0.0])


def test_a_street_has_real_curbs_except_at_ramps():
    road, crosswalk = _crossing(0.0)
    scene = Scene()
    beds = road_beds([road])
    within = shapely.box(0.0, -12.0, 60.0, 12.0)
    pavement = Patch("sidewalk", "sidewalk", within, "paving", Surface.SIDEWALK)
    add_ground(scene, paint_over([pavement, *street_patches(beds, [crosswalk], within)]))
    add_curbs(scene, beds, shapely.union(curb_openings([crosswalk]), within.boundary.buffer(0.01)))
    add_crosswalks(scene, [crosswalk])
    geometry = scene.world("street", "outdoor", Provenance(source="test", licence="test")).geometry
    upright = geometry.triangles[(geometry.surface == Surface.CURB) & (np.ptp(geometry.triangles[:, :, 2], axis=1) > 0.1)]
    curbs = upright[np.isclose(np.abs(upright[:, :, 1]), 4.0, atol=1e-4).all(axis=1)]
    assert np.isclose(curbs[:, :, 2].min(axis=1), -0.2).all()
    assert np.isclose(curbs[:, :, 2].max(axis=1), 0.0).all()
    normals = np.cross(curbs[:, 1] - curbs[:, 0], curbs[:, 2] - curbs[:, 0])
    assert (np.sign(normals[:, 1]) == -np.sign(curbs[:, 0, 1])).all(), "curbs face the road"
    inside = (curbs[:, :, 0] > 30.0 - 1.4).all(axis=1) & (curbs[:, :, 0] < 30.0 + 1.4).all(axis=1)
    assert not inside.any(), "no curb stands in a ramp's mouth"
    paint = ~geometry.collides
    assert paint.any()
    assert geometry.triangles[paint][:, :, 2].max() < -ROAD_DEPTH_M + 0.02


@given(st.lists(st.tuples(st.floats(0, 90), st.floats(0.5, 20)), max_size=5))
@settings(max_examples=60)
def test_open_stretches_avoid_what_is_to_stay_clear(spans):
    clear = [(a, a + w) for a, w in spans]
    for a, b in open_stretches(100.0, clear):
        assert b - a >= 4.0
        assert all(b <= c or a >= d for c, d in clear)


def test_lane_marks_stay_on_the_road():
    road, crosswalk = _crossing(0.6)
    marks = lane_marks(road, [crosswalk.span_m], [(crosswalk.span_m[0] - 0.7, -1)])
    assert marks
    assert all(road.bed().buffer(1e-6).contains(mark) for mark in marks)
    assert not any(crosswalk.bed().buffer(-1e-6).intersects(mark) for mark in marks)
    assert RAMP_LENGTH_M >= 1.7
