"""What a policy's map says after looking, against the geometry of the toy world."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_world import BODY, ToyWorld, two_storeys

from portico.geometry import Pose
from portico.grids.surface_grid import GROUND, LINTEL, SEEN, grown
from portico.interface import Body
from portico.policies.local_map import LocalMap


def yard() -> ToyWorld:
    world = ToyWorld()
    world.add(-20.0, -20.0, -0.5, 20.0, 20.0, 0.0)
    return world


def look(world: ToyWorld, *poses: Pose, body: Body = BODY) -> LocalMap:
    seen = LocalMap(body)
    for pose in poses:
        seen.see(world.frame(pose), pose)
    return seen


def around(pose: Pose, turns: int = 12) -> list[Pose]:
    return [Pose(pose.x, pose.y, pose.z, pose.yaw_rad + 2.0 * np.pi * n / turns) for n in range(turns)]


def surface(seen: LocalMap, x: float, y: float, z: float = 0.0):
    """Odds, flags and roof of the surface at a place, or None."""
    i, j = seen.cell(x, y)
    k = seen.sheet(i, j, z, 0.4)
    g = seen.grid
    return None if k < 0 else (int(g.odds[k, i, j]), int(g.flags[k, i, j]), int(g.roof[k, i, j]))


@settings(max_examples=15)
@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4), st.floats(0.3, 1.2), st.floats(0.3, 1.2), st.floats(0.3, 2.5)), min_size=1, max_size=6))
def test_obstacles_are_where_they_are_and_ground_is_where_there_are_none(boxes):
    world = yard()
    for x, y, dx, dy, h in boxes:
        if max(abs(x) - dx / 2, abs(y) - dy / 2) > 0.9:  # nearer feet are below the image
            world.add(x - dx / 2, y - dy / 2, 0.0, x + dx / 2, y + dy / 2, h)
    seen = look(world, *around(Pose(0.0, 0.0)))
    grid = seen.grid
    b = np.array(world.boxes[1:]).reshape(-1, 6)
    for k, i, j in np.argwhere((grid.odds > 0) | (grid.flags & SEEN > 0)):
        x, y, _ = seen.position((k, i, j))
        if grid.odds[k, i, j] > 0:
            gap = np.hypot(np.maximum(np.maximum(b[:, 0] - x, x - b[:, 3]), 0.0), np.maximum(np.maximum(b[:, 1] - y, y - b[:, 4]), 0.0))
            assert gap.min() < 0.1, "an obstacle where there is none"
        else:
            deep = (b[:, 0] + 0.11 < x) & (x < b[:, 3] - 0.11) & (b[:, 1] + 0.11 < y) & (y < b[:, 4] - 0.11)
            assert not (deep & (b[:, 5] > BODY.climb_m + 0.15)).any(), "free ground inside an obstacle"


def test_a_wall_blocks_and_a_step_does_not():
    world = yard()
    world.add(2.0, -3.0, 0.0, 2.2, 3.0, 2.0)
    world.add(-4.0, -3.0, 0.0, -2.0, 3.0, 0.18)
    seen = look(world, *around(Pose(0.0, 0.0)))
    assert surface(seen, 2.05, 0.0)[0] > 0
    odds, flags, _ = surface(seen, -2.5, 0.0, 0.18)
    assert odds <= 0
    assert flags & GROUND
    weight, costs = seen.weights(Pose(0.0, 0.0), seen.known()), None
    assert np.isfinite(weight).any()
    costs = seen.costs_from(_everywhere(seen, weight), Pose(0.0, 0.0))
    i, j = seen.cell(-2.5, 0.0)
    assert np.isfinite(costs[:, i, j]).any()


def _everywhere(seen: LocalMap, weight: np.ndarray) -> np.ndarray:
    full = np.full(seen.grid.height.shape, np.inf, np.float32)
    rows, cols = seen.known()
    full[:, rows, cols] = weight
    return full


def test_a_step_stops_a_body_that_cannot_climb_it():
    world = yard()
    world.add(2.0, -3.0, 0.0, 4.0, 3.0, 0.12)
    roller = Body("roller", 0.2, 0.4, 0.03, 0.5, 1.0)
    seen = look(world, *around(Pose(0.0, 0.0)), body=roller)
    assert surface(seen, 2.05, 0.0)[0] > 0


def test_a_shelf_overhead_is_passed_under():
    world = yard()
    world.add(2.0, -1.0, 1.2, 3.0, 1.0, 1.4)
    seen = look(world, *around(Pose(0.0, 0.0)))
    assert surface(seen, 2.5, 0.0)[0] <= 0


def test_the_ground_behind_a_drop_is_not_joined_to_the_edge():
    world = ToyWorld()
    world.add(-20.0, -20.0, -0.5, 2.0, 20.0, 0.0)
    world.add(2.0, -20.0, -3.5, 20.0, 20.0, -3.0)
    poses = [Pose(x, 0.0) for x in np.arange(0.0, 1.5, 0.25)]
    seen = look(world, *poses)
    costs = seen.costs_from(_everywhere(seen, seen.weights(poses[-1], seen.known())), poses[-1])
    i, j = seen.cell(4.5, 0.0)
    assert not np.isfinite(costs[:, i, j]).any()


def test_indoors_is_covered_and_outdoors_is_open():
    world = yard()
    world.wall(-3.0, -3.0, -3.0, 3.0)
    world.wall(3.0, -3.0, 3.0, 3.0, gaps=[(-0.6, 0.6)])
    world.wall(-3.0, -3.0, 3.0, -3.0)
    world.wall(-3.0, 3.0, 3.0, 3.0)
    world.add(-3.0, -3.0, 2.8, 3.0, 3.0, 3.0)
    inside = look(world, *around(Pose(-2.0, 0.0)))
    assert surface(inside, 1.5, 0.5)[2] > 0
    door = inside.disc(3.0, 0.0, 0.0, 0.3, 0.3)
    assert (inside.grid.flags[door[:, 0], door[:, 1], door[:, 2]] & LINTEL).any()
    outside = look(world, *around(Pose(9.0, 0.0)))
    sky = outside.disc(15.5, 0.0, 0.0, 0.5, 0.3)
    assert (outside.grid.roof[sky[:, 0], sky[:, 1], sky[:, 2]] < 0).mean() > 0.5


def _step(world: ToyWorld, x: float, y: float, z: float) -> float:
    ground = world.ground(x, y, z)
    assert ground is not None
    return ground


def test_stairs_join_two_floors():
    world = two_storeys()
    lane_down, lane_up = 1.98, 0.62
    z, poses = 3.2, []
    for x in np.arange(6.0, 10.4, 0.2):
        z = _step(world, float(x), lane_down, z)
        poses.append(Pose(float(x), lane_down, z))
    poses += [Pose(10.4, lane_down, z, yaw) for yaw in np.arange(0.0, -3.2, -0.3)]
    poses += [Pose(10.4, lane_up, z, np.pi)]
    for x in np.arange(10.2, 6.8, -0.2):
        z = _step(world, float(x), lane_up, z)
        poses.append(Pose(float(x), lane_up, z, np.pi))
    seen = look(world, *poses)
    assert poses[-1].z == 0.0
    costs = seen.costs_from(_everywhere(seen, seen.weights(poses[-1], seen.known())), poses[-1])
    i, j = seen.cell(6.2, lane_down)
    k = seen.sheet(i, j, 3.2, 0.2)
    assert np.isfinite(costs[k, i, j])
    assert 6.0 < costs[k, i, j] < 25.0


def test_growing_keeps_what_was_seen():
    seen = look(yard(), Pose(0.0, 0.0))
    before = seen.grid
    after = grown(before, -60.0, -5.0, 30.0, 50.0)
    i, j = round((before.y0 - after.y0) / 0.1), round((before.x0 - after.x0) / 0.1)
    rows, cols = before.shape
    np.testing.assert_array_equal(after.height[:, i : i + rows, j : j + cols], before.height)
    assert int((after.flags > 0).sum()) == int((before.flags > 0).sum())
    assert grown(after, 0.0, 0.0, 1.0, 1.0) is after


def test_the_same_images_make_the_same_map():
    world, poses = two_storeys(), around(Pose(3.0, 3.0, 3.2))
    a, b = look(world, *poses).grid, look(world, *poses).grid
    for name in ("height", "odds", "flags", "roof", "glow"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("radius", [0.2, 0.5])
def test_disc_holds_the_surfaces_within_reach(radius: float):
    seen = look(yard(), *around(Pose(0.0, 0.0)))
    disc = seen.positions(seen.disc(1.5, 0.3, 0.0, radius, 0.3))
    assert len(disc) == pytest.approx(np.pi * radius**2 / 0.01, rel=0.15)
    assert (np.hypot(disc[:, 0] - 1.5, disc[:, 1] - 0.3) <= radius).all()


@pytest.mark.parametrize("there", [(500.0, 0.0), (-500.0, 0.0), (0.0, 500.0), (0.0, -500.0), (-500.0, -500.0)])
def test_a_disc_that_the_map_has_not_got_to_holds_nothing(there):
    seen = look(yard(), Pose(0.0, 0.0))
    assert len(seen.disc(*there, 0.0, 0.6, 1.0)) == 0
