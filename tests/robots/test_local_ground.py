"""The height field that follows a robot: what it takes for ground, for an obstacle and for a hole."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stair_house import RISER, STEPS, TREAD, house

from portico.build.primitives import box
from portico.robots.physics.ground import CELL_M, DEEP_M, FREE, HOLE, SIDE, SOLID, TALL_M, LocalGround, Reach
from portico.robots.physics.nearby import Matter, Nearby
from portico.world import Surface

REACH = Reach(step_m=0.35, head_m=0.85)


def matter(*solids):
    """Boxes given as (surface, center, size)."""
    triangles, surfaces = [], []
    for surface, center, size in solids:
        vertices, faces = box(center, size)[:2]
        triangles.append(np.asarray(vertices, np.float64)[np.asarray(faces)])
        surfaces.append(np.full(len(faces), surface, np.uint8))
    return Matter(np.concatenate(triangles), np.concatenate(surfaces), np.zeros((0, 2, 3)))


FLOOR = (Surface.FLOOR, (0, 0, -0.1), (20, 20, 0.2))


def ground(*solids, at=(0.0, 0.0, 0.0)):
    made = LocalGround(Nearby(matter(*solids)), REACH)
    made.follow(np.array(at))
    return made


@cache
def in_house():
    return Nearby(Matter.of(house()))


def at(window, x, y):
    point = np.array([[x, y]])
    return float(window.heights(point)[0]), int(window.kind_at(point)[0]), int(window.surface_at(point)[0])


def test_bare_floor_is_free_at_its_height():
    window = ground(FLOOR)
    assert (window.height == 0.0).all()
    assert (window.kind == FREE).all()
    assert (window.surface == Surface.FLOOR).all()


def test_what_stands_below_head_height_is_a_column_and_what_hangs_above_is_not_there():
    window = ground(FLOOR, (Surface.FURNITURE, (1, 0, 0.7), (0.6, 0.6, 0.1)), (Surface.CEILING, (-1, 0, 1.0), (0.6, 0.6, 0.1)))
    assert at(window, 1, 0) == (pytest.approx(0.75), SOLID, Surface.FLOOR)
    assert at(window, -1, 0) == (0.0, FREE, Surface.FLOOR)


def test_walls_end_a_little_above_the_robot():
    window = ground(FLOOR, (Surface.WALL, (1, 0, 1.5), (0.2, 4, 3)))
    assert at(window, 0.9, 0)[:2] == (pytest.approx(TALL_M), SOLID)


def test_where_nothing_is_there_is_a_hole_and_water_carries_nobody():
    window = ground((Surface.FLOOR, (0, 0, -0.1), (2, 2, 0.2)))
    assert at(window, 1.5, 0)[:2] == (-DEEP_M, HOLE)
    pond = ground((Surface.FLOOR, (-5, 0, -0.1), (11, 20, 0.2)))
    assert at(pond, 1.5, 0)[1] == HOLE


@pytest.mark.parametrize("step", [0, 3, 8, 17])
def test_every_tread_of_a_flight_has_its_own_height(step):
    x, y, z = 5 + TREAD * (step + 0.5), 7.25, RISER * (step + 1)
    window = LocalGround(in_house(), REACH)
    window.follow(np.array([x, y, z]))
    for other in range(max(0, step - 3), min(STEPS, step + 4)):
        height, kind, surface = at(window, 5 + TREAD * (other + 0.5), y)
        assert height == pytest.approx(RISER * (other + 1), abs=1e-4)
        assert (kind, surface) == (FREE, Surface.STAIRS)


def test_the_side_of_a_flight_blocks_where_it_is_higher_than_a_step():
    window = LocalGround(in_house(), REACH)
    window.follow(np.array([8.0, 6.0, 0.0]))
    assert at(window, 5 + TREAD * 10.5, 6.5)[1] == SOLID
    assert at(window, 8.0, 6.2)[:2] == (0.0, FREE)


def test_floors_above_and_below_are_told_apart():
    window = LocalGround(in_house(), REACH)
    top = RISER * STEPS
    edge = 5 + TREAD * STEPS
    window.follow(np.array([edge + 0.7, 6.5, top]))
    assert at(window, edge + 0.7, 6.5)[0] == pytest.approx(top, abs=1e-4)
    window.clear()
    window.follow(np.array([edge + 0.7, 6.0, 0.0]))
    assert at(window, edge + 0.7, 6.0)[:2] == (0.0, FREE)


def test_the_window_follows_and_what_was_seen_before_stays_as_it_was():
    window = LocalGround(in_house(), REACH)
    assert window.follow(np.array([2.0, 4.0, 0.0]))
    assert not window.follow(np.array([2.3, 4.0, 0.0]))
    points = np.stack([np.linspace(1.5, 3.0, 40), np.full(40, 2.2)], axis=1)
    before = window.heights(points), window.kind_at(points)
    assert window.follow(np.array([2.7, 4.0, 0.0]))
    np.testing.assert_array_equal(before[0], window.heights(points))
    np.testing.assert_array_equal(before[1], window.kind_at(points))


coordinate = st.floats(-1.5, 1.5)
extent = st.floats(0.03, 0.8)


@settings(max_examples=60)
@given(st.lists(st.tuples(coordinate, coordinate, extent, extent, st.floats(0.06, 1.6)), min_size=1, max_size=4))
def test_no_obstacle_is_lost_and_none_grows_by_more_than_a_cell(boxes):
    boxes = [b for b in boxes if abs(b[0]) > 0.5 * b[2] + 0.1 or abs(b[1]) > 0.5 * b[3] + 0.1]
    window = ground(FLOOR, *((Surface.FURNITURE, (x, y, h / 2), (w, d, h)) for x, y, w, d, h in boxes))
    axis = (np.arange(SIDE) - SIDE // 2) * CELL_M
    x, y = np.meshgrid(axis, axis)
    gap = np.full(x.shape, np.inf)
    tallest = np.zeros(x.shape)
    for bx, by, w, d, h in boxes:
        apart = np.maximum(np.abs(x - bx) - 0.5 * w, np.abs(y - by) - 0.5 * d)
        gap = np.minimum(gap, apart)
        tallest = np.where(apart < -1e-6, np.maximum(tallest, h), tallest)
    inside_shell = tallest > 0.0
    # Boxes are hollow shells of triangles: their insides are reached by their tops, unless those are above the head.
    low = inside_shell & (tallest < REACH.head_m)
    assert (window.kind[low] == SOLID).all()
    assert (window.height[low] >= np.minimum(tallest, TALL_M)[low] - 1e-4).all()
    near = (gap > -0.5 * CELL_M + 1e-6) & (gap < 0.5 * CELL_M - 1e-6)
    assert (window.kind[near] == SOLID).all()
    assert (window.kind[gap > CELL_M] == FREE).all()
    assert (window.height[gap > CELL_M] == 0.0).all()


def test_the_surface_that_matters_is_that_of_the_largest_step_near_by():
    curb = (Surface.SIDEWALK, (-5, 0, 0.0), (10, 20, 0.4)), (Surface.CURB, (0.1, 0, -0.05), (0.2, 20, 0.5)), (Surface.VEHICLE_LANE, (5, 0, -0.1), (10, 20, 0.2))
    window = ground(*curb, at=(-0.5, 0.0, 0.2))
    assert window.roughest(np.array([-1.5, 0.0, 0.2]), 0.4) == Surface.SIDEWALK
    assert window.roughest(np.array([0.4, 0.0, 0.0]), 0.4) == Surface.CURB
    assert window.roughest(np.array([1.2, 0.0, 0.0]), 0.4) == Surface.VEHICLE_LANE
    stairs = LocalGround(in_house(), REACH)
    stairs.follow(np.array([4.6, 7.25, 0.0]))
    assert stairs.roughest(np.array([4.7, 7.25, 0.0]), 0.4) == Surface.STAIRS
    assert stairs.roughest(np.array([4.0, 7.25, 0.0]), 0.4) == Surface.FLOOR
