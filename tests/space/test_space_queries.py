"""Properties of states and motions, and agreement with exact geometry."""

from functools import lru_cache

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Point
from space_worlds import SPOT, TURTLEBOT, Maker, body, cluttered_room, room, two_floors

from portico.space import Space, build_space
from portico.world import World

WIDTH, DEPTH = 6.0, 5.0
ROBOTS = {"spot": SPOT, "turtlebot": TURTLEBOT, "slim": body("slim", radius_m=0.15)}


@lru_cache(maxsize=32)
def _made(seed: int, robot: str, cell_m: float) -> tuple[World, Space]:
    world = cluttered_room(seed).world(cell_m=cell_m)
    return world, build_space(world, ROBOTS[robot])


@lru_cache(maxsize=32)
def _matter(seed: int, robot: str) -> shapely.Geometry:
    """Plan of everything a body on the floor may not touch."""
    geometry = _made(seed, robot, 0.05)[0].geometry
    triangles = geometry.triangles.astype(float)
    standing = triangles[triangles[:, :, 2].max(axis=1) > 0.02]
    plans = [shapely.MultiPoint(t[:, :2]).convex_hull for t in standing]
    return shapely.union_all(plans)


worlds = st.tuples(st.integers(0, 5), st.sampled_from(sorted(ROBOTS)), st.sampled_from([0.05, 0.1]))
spots = st.tuples(st.floats(-0.2, WIDTH + 0.2), st.floats(-0.2, DEPTH + 0.2))


@given(worlds, st.lists(spots, min_size=1, max_size=50))
@settings(max_examples=150)
def test_free_means_clearance_of_at_least_the_radius(made, points):
    _, space = _made(*made)
    xyz = np.array([(x, y, 0.0) for x, y in points])
    free = space.is_free(xyz)
    assert (free == (space.clearance(xyz) >= space.embodiment.radius_m)).all()
    assert [space.is_free_one(p) for p in xyz] == free.tolist()
    assert (space.clearance(xyz)[space.locate(xyz) < 0] == 0.0).all()


@given(worlds, st.lists(spots, min_size=1, max_size=30))
@settings(max_examples=100)
def test_free_agrees_with_exact_distances(made, points):
    """Never free where the exact distance is below the radius, and not free only where it is not far above."""
    seed, robot, cell_m = made
    _, space = _made(*made)
    exact = np.array([_matter(seed, robot).distance(Point(p)) for p in points])
    free = space.is_free(np.array([(x, y, 0.0) for x, y in points]))
    on_floor = np.array([0 < x < WIDTH and 0 < y < DEPTH for x, y in points])
    radius = space.embodiment.radius_m
    assert not (free & (exact < radius)).any()
    assert free[on_floor & (exact > radius + 0.36 * cell_m)].all()


@given(worlds, spots, spots)
@settings(max_examples=200)
def test_motions_stay_free_and_stop_only_at_contact(made, a, b):
    _, space = _made(*made)
    start, goal = np.array([*a, 0.0]), np.array([*b, 0.0])
    reached, fraction, end = space.sweep_one(start, goal)
    if not space.is_free_one(start):
        assert (reached, fraction) == (False, 0.0)
        assert (end == start).all()
        return
    along = start + np.linspace(0.0, 1.0, 60)[:, None] * (end - start)
    assert space.is_free(along).all()
    assert 0.0 <= fraction <= 1.0
    assert np.allclose(end[:2], start[:2] + fraction * (goal - start)[:2], atol=1e-9)
    if reached:
        assert (end[:2] == goal[:2]).all()
        assert space.is_free_one(goal)
    else:
        length = np.linalg.norm(goal - start)
        beyond = start + min(1.0, fraction + 1.2 * space.cell_m / length) * (goal - start)
        assert not space.is_free(
            start + np.linspace(fraction, (beyond - start)[0] / (goal - start)[0] if goal[0] != start[0] else 1.0, 200)[:, None] * (goal - start)
        ).all()


@given(worlds, spots, spots)
@settings(max_examples=200)
def test_a_free_way_is_free_both_ways(made, a, b):
    _, space = _made(*made)
    start, goal = np.array([*a, 0.0]), np.array([*b, 0.0])
    if space.sweep_one(start, goal)[0]:
        reached, fraction, _ = space.sweep_one(goal, start)
        assert reached or fraction > 0.98 or min(space.clearance(np.stack([start, goal]))) < space.embodiment.radius_m + 1e-3


@given(worlds, st.lists(st.tuples(spots, spots), min_size=1, max_size=20))
@settings(max_examples=50)
def test_batches_and_single_calls_agree_to_the_bit(made, motions):
    _, space = _made(*made)
    starts, ends = np.array([[*a, 0.0] for a, _ in motions]), np.array([b for _, b in motions])
    batch = space.sweep(starts, ends)
    for k in range(len(motions)):
        reached, fraction, end = space.sweep_one(starts[k], ends[k])
        assert (reached, fraction) == (batch.reached[k], batch.fraction[k])
        assert (end == batch.end[k]).all()


def test_walking_along_a_wall_at_a_hands_breadth():
    space = build_space(room(WIDTH, DEPTH).world(), SPOT)
    for gap in (0.001, 0.01, 0.1):
        y = 0.05 + SPOT.radius_m + gap
        assert space.sweep_one((1, y, 0), (5, y, 0))[0], gap
    assert not space.sweep_one((1, 0.05 + SPOT.radius_m - 0.001, 0), (5, 1, 0))[0]


def test_motions_end_within_millimetres_of_a_wall():
    space = build_space(room(WIDTH, DEPTH).world(), SPOT)
    _, _, end = space.sweep_one((3, 2.5, 0), (9, 2.5, 0))
    assert 0.0 <= WIDTH - 0.05 - SPOT.radius_m - end[0] < 0.006


def test_standing_still_and_leaving_the_world():
    space = build_space(room(WIDTH, DEPTH).world(), SPOT)
    assert space.sweep_one((3, 2.5, 0), (3, 2.5, 0))[:2] == (True, 1.0)
    assert space.sweep_one((3, 2.5, 0), (np.nan, 2.5, 0))[:2] == (False, 0.0)
    assert space.sweep_one((3, 2.5, 0), (1e9, 1e9, 0))[0] is False
    assert space.sweep_one((30, 2.5, 0), (3, 2.5, 0))[:2] == (False, 0.0)


def test_points_on_the_lines_between_cells_belong_to_one_side():
    space = build_space(room(WIDTH, DEPTH).world(), SPOT)
    grid = np.stack(np.meshgrid(np.arange(0.5, 5.5, 0.05), np.arange(0.5, 4.5, 0.05)), axis=-1).reshape(-1, 2)
    points = np.column_stack([grid, np.zeros(len(grid))])
    assert space.is_free(points).all()
    assert space.sweep(points, points[::-1]).reached.all()


def test_surfaces_are_chosen_by_height():
    space = build_space(two_floors(), SPOT)
    z = np.array([2.8, 3.25, 2.55, 0.0, 0.45, -0.25, 1.5])
    points = np.column_stack([np.full(7, 8.5), np.full(7, 3.0), z])
    expected = [2.8, 2.8, 2.8, None, None, None, None]
    nodes = space.locate(points)
    assert [None if n < 0 else round(float(space.nodes_xyz[n, 2]), 3) for n in nodes] == expected


def test_shapes_are_checked():
    space = build_space(room(WIDTH, DEPTH).world(), SPOT)
    assert space.is_free(np.zeros((0, 3))).shape == (0,)
    assert space.is_free((3.0, 2.5, 0.0)).tolist() == [True]
    with pytest.raises(ValueError, match=r"shape \(N, 3\)"):
        space.is_free([[1.0, 2.0]])


def test_a_slope_is_followed_closely():
    rise = float(np.tan(np.deg2rad(20.0)) * 4.0)
    world = Maker().floor(0, 0, 2, 3).slope(2, 6, 0, 3, 0, rise).floor(6, 0, 8, 3, rise).world()
    space = build_space(world, SPOT)
    xs = np.linspace(1.0, 7.0, 25)
    previous = np.array([1.0, 1.5, 0.0])
    for x in xs[1:]:
        reached, _, previous = space.sweep_one(previous, (x, 1.5))
        assert reached
        assert previous[2] == pytest.approx(np.clip((x - 2.0) / 4.0, 0, 1) * rise, abs=0.05)
