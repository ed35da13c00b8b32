"""Which building, floor and region hold a point."""

import itertools

import numpy as np
import shapely
from hypothesis import given
from hypothesis import strategies as st
from little_town import TOWN, box

from portico.geometry import points_in_polygon
from portico.tasks import Annotations
from portico.tasks.polygons import PolygonSet
from portico.world.semantics import Building, Floor, ObjectInstance, Region, Semantics


def at(town, *p):
    building = town.building_at(np.array(p, dtype=float))
    return building.id if building else None


def test_a_building_holds_what_its_footprint_and_floor_intervals_hold(town):
    assert at(town, 5, 4, 0) == "A"
    assert at(town, 5, 4, -0.5) == "A"
    assert at(town, 5, 4, -0.51) is None
    assert at(town, 5, 4, 6.2) == "A"
    assert at(town, 5, 4, 6.21) is None
    assert at(town, 11, 4, 0) is None


def test_the_upper_of_two_overlapping_floor_intervals_is_meant(town):
    assert town.floor_at(np.array([5.0, 4.0, 2.69])).id == "A:0"
    assert town.floor_at(np.array([5.0, 4.0, 2.71])).id == "A:1"
    assert town.floor_at(np.array([20.0, 4.0, 0.0])) is None


def test_of_overlapping_regions_the_last_listed_wins(town):
    assert town.region_at(np.array([20.0, 12.0, 0.0])).id == "crossing"
    assert town.region_at(np.array([20.0, 5.0, 0.0])).id == "lane"
    assert town.region_at(np.array([200.0, 5.0, 0.0])) is None


def test_only_outdoor_ground_in_an_allowed_region_is_allowed(town):
    points = np.array([[11.5, 4, 0], [20, 5, 0], [20, 12, 0], [200, 5, 0], [5, 4, 0], [-5, 0, 0]], dtype=float)
    assert town.allowed(points).tolist() == [True, False, True, False, False, False]


def test_a_region_under_a_building_does_not_make_its_inside_outdoor_ground():
    floors = [Floor(id="f", level=0, z_m=0, height_m=3)]
    regions = [Region(id="plaza", type="open_area", access="allowed", polygon=box(-5, -5, 15, 15))]
    town = Annotations(Semantics(buildings=[Building(id="A", footprint=box(0, 0, 10, 8), floors=floors)], regions=regions))
    assert town.allowed(np.array([[5.0, 4.0, 0.0], [-1.0, 4.0, 0.0]])).tolist() == [False, True]
    assert shapely.Point(5, 4).distance(town.allowed_area.geometries[0]) == 4.0


def test_nothing_annotated_means_outdoors_on_prohibited_ground():
    nowhere = Annotations(Semantics())
    points = np.zeros((3, 3))
    assert nowhere.inside(points).tolist() == [-1] * 3
    assert nowhere.region(points).tolist() == [-1] * 3
    assert not nowhere.allowed(points).any()
    assert len(nowhere.allowed_area.geometries) == 0


def test_a_building_without_floors_holds_nothing():
    town = Annotations(Semantics(buildings=[Building(id="A", footprint=box(0, 0, 10, 8))]))
    assert at(town, 5, 4, 0) is None


def test_an_object_stands_on_its_annotated_floor_or_where_its_box_ends(town):
    counter, desk, bench = TOWN.objects
    assert town.floors[town.floor_of_object(desk)].id == "A:1"
    assert town.floor_of_object(bench) == -1
    bare = ObjectInstance(id="x", category="chair", center=(50, 6, 0.5), size=(1, 1, 1))
    assert town.floor_of_object(bare) == town.floor_of_object(counter) >= 0


rings = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=8, unique=True).filter(lambda ring: shapely.Polygon(ring).is_valid)
coordinates = st.integers(-12, 12).map(lambda k: k / 2)


@given(polygons=st.lists(rings, max_size=5), points=st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=20))
def test_the_last_polygon_that_holds_a_point_is_found_like_its_slow_twin_finds_it(polygons, points):
    points = np.array(points, dtype=float)
    expected = np.full(len(points), -1)
    for index, ring in enumerate(polygons):
        expected[points_in_polygon(points, np.array(ring))] = index
    assert PolygonSet.of(polygons).last_holding(points).tolist() == expected.tolist()


@given(polygons=st.lists(rings, min_size=1, max_size=4), ends=st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=8))
def test_between_two_crossings_a_segment_stays_in_or_out_of_every_polygon(polygons, ends):
    points = np.array(ends, dtype=float)
    segments, fractions = PolygonSet.of(polygons).crossings(points[:-1], points[1:])
    for n, (a, b) in enumerate(itertools.pairwise(points)):
        cuts = np.unique([0.0, *fractions[segments == n], 1.0])
        for start, stop in itertools.pairwise(cuts):
            samples = a + (start + (stop - start) * np.array([[0.1], [0.37], [0.6], [0.9]])) * (b - a)
            for ring in polygons:
                clear = shapely.distance(shapely.LinearRing(ring), shapely.points(samples)) > 1e-6
                assert len(set(points_in_polygon(samples[clear], np.array(ring)).tolist())) <= 1
