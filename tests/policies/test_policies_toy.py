"""Behaviour of the mapping policies in the toy world: what they reach, and that they do not declare it too early."""

from __future__ import annotations

import numpy as np
import pytest
from toy_world import MOVES, WAYPOINTS, ToyWorld, brief_for, execute, house, run, stage_of, two_storeys

from portico.errors import PolicyRefused
from portico.geometry import Pose
from portico.interface import Frame, Observation, Stop
from portico.policies import create


@pytest.mark.parametrize("start", [Pose(1.5, 1.5, 0.0, 1.5), Pose(7.0, 4.0, 0.0, -2.0)])
def test_frontier_leaves_a_two_room_house_and_stops_outside_the_door(start: Pose):
    result = run(house(), create("frontier"), start, stage_of("exit"))
    end = result.poses[-1]
    assert result.stopped
    assert -3.0 < end.y < -0.4
    assert len(result.actions) < 150


def test_frontier_never_declares_an_exit_in_a_house_without_a_door():
    world = house()
    world.wall(5.5, 0.0, 6.7, 0.0)
    result = run(world, create("frontier"), Pose(1.5, 1.5), stage_of("exit"), max_actions=150)
    assert not result.stopped
    assert all(p.y > 0.0 for p in result.poses)


@pytest.mark.parametrize("start", [Pose(2.0, 4.0, 3.2, 0.5), Pose(3.0, 1.0, 3.2, 3.0)])
def test_frontier_goes_down_dog_leg_stairs_and_out(start: Pose):
    result = run(two_storeys(), create("frontier"), start, stage_of("exit"))
    assert result.stopped
    assert result.poses[-1].x < -0.3
    assert result.poses[-1].z == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("start", [Pose(1.5, -6.0, 0.0, -1.5), Pose(9.0, -3.0, 0.0, 0.0)])
def test_frontier_enters_the_building_and_stops_inside(start: Pose):
    result = run(house(), create("frontier"), start, stage_of("entrance"))
    end = result.poses[-1]
    assert result.stopped
    assert 0.2 < end.x < 7.8
    assert 0.2 < end.y < 4.8


def test_frontier_does_not_take_a_canopy_for_a_building():
    world = ToyWorld()
    world.add(-30.0, -30.0, -0.5, 40.0, 30.0, 0.0)
    world.add(0.0, 0.0, 0.0, 8.0, 5.0, 6.0)
    world.add(1.0, -1.2, 2.5, 7.0, 0.0, 2.7)
    result = run(world, create("frontier"), Pose(4.0, -4.0, 0.0, 1.5), stage_of("entrance"), max_actions=120)
    assert not result.stopped


def test_frontier_walks_up_to_the_object():
    world = house()
    world.add(1.0, 0.3, 0.0, 1.8, 0.8, 0.6, 7)
    result = run(world, create("frontier?detector=semantic"), Pose(7.0, 3.5), stage_of("ovon", category="sofa"), categories={1: "wall", 7: "sofa"})
    end = result.poses[-1]
    assert result.stopped
    assert np.hypot(max(1.0 - end.x, 0.0, end.x - 1.8), max(0.3 - end.y, 0.0, end.y - 0.8)) < 1.0


def test_frontier_without_a_detector_searches_but_never_claims_to_have_found():
    result = run(house(), create("frontier"), Pose(7.0, 3.5), stage_of("ovon", category="sofa"), max_actions=100)
    assert not result.stopped
    assert len({(round(p.x), round(p.y)) for p in result.poses}) > 5


def test_frontier_goes_to_a_point_in_the_next_room():
    stage = stage_of("point", goal=(1.0, 1.0, 0.0))
    result = run(house(), create("frontier"), Pose(7.0, 1.0), stage, world_frame=True)
    assert result.stopped
    assert np.hypot(result.poses[-1].x - 1.0, result.poses[-1].y - 1.0) < 0.35


def test_route_follower_walks_around_what_stands_on_the_route():
    world = house()
    world.add(10.0, -5.5, 0.0, 11.0, -3.5, 1.0)
    route = np.array([[9.0, -4.5, 0.0], [20.0, -4.5, 0.0], [20.0, -10.0, 0.0]])
    stage = stage_of("outdoor", route=route, goal=(20.0, -10.0, 0.0))
    result = run(world, create("route-follower"), Pose(4.0, -2.0), stage, world_frame=True, ends=lambda p: np.hypot(p.x - 20.0, p.y + 10.0) < 3.0)
    assert np.hypot(result.poses[-1].x - 20.0, result.poses[-1].y + 10.0) < 3.0
    away = [np.hypot(*(_samples(route) - [p.x, p.y]).T).min() for p in result.poses if p.x > 9.0]
    assert max(away) < 2.5


def _samples(route: np.ndarray) -> np.ndarray:
    return np.concatenate([a + (b - a) * np.linspace(0.0, 1.0, 60)[:, None] for a, b in zip(route[:-1, :2], route[1:, :2], strict=True)])


def test_route_follower_keeps_off_the_road_that_the_route_leads_around():
    world = ToyWorld()
    world.add(-20.0, -20.0, -0.5, 30.0, 0.0, 0.0)
    world.add(-20.0, 0.0, -0.7, 4.0, 30.0, -0.2)
    world.add(4.0, 0.0, -0.5, 30.0, 30.0, 0.0)
    route = np.array([[0.0, -2.0, 0.0], [6.0, -2.0, 0.0], [6.0, 8.0, 0.0]])
    stage = stage_of("outdoor", route=route, goal=(6.0, 8.0, 0.0))
    result = run(world, create("route-follower"), Pose(0.0, -2.0), stage, world_frame=True, ends=lambda p: np.hypot(p.x - 6.0, p.y - 8.0) < 2.0)
    assert np.hypot(result.poses[-1].x - 6.0, result.poses[-1].y - 8.0) < 2.0
    assert min(p.z for p in result.poses) > -0.05


def test_frontier_comes_back_out_of_a_dead_end():
    world = ToyWorld()
    world.add(-30.0, -30.0, -0.5, 40.0, 30.0, 0.0)
    world.wall(0.0, -0.8, 6.0, -0.8)
    world.wall(0.0, 0.8, 6.0, 0.8)
    world.wall(6.0, -0.8, 6.0, 0.8)
    stage = stage_of("point", goal=(9.0, 0.0, 0.0))
    result = run(world, create("frontier"), Pose(4.0, 0.0), stage, world_frame=True)
    assert result.stopped
    assert np.hypot(result.poses[-1].x - 9.0, result.poses[-1].y) < 0.35


@pytest.mark.parametrize("accepts", [MOVES, WAYPOINTS])
def test_an_unseen_obstacle_is_learned_by_touching_it(accepts):
    world = house()
    stage, policy = stage_of("point", goal=(7.0, 2.5, 0.0)), create("frontier")
    policy.reset(brief_for(stage, accepts=accepts))
    pose, collided, touched = Pose(5.0, 2.5), False, 0
    for step in range(200):
        action = policy.act(Observation(step, 0.0, {"front": world.frame(pose)}, stage, odometry=pose, pose=pose, collided=collided))
        if isinstance(action, Stop):
            break
        ahead, collided = execute(world, pose, action)
        if 5.7 < ahead.x < 6.3 and abs(ahead.y - 2.5) < 0.5:  # a pane of glass that no depth image shows
            ahead, collided = Pose(pose.x, pose.y, pose.z, ahead.yaw_rad), True
            touched += 1
        pose = ahead
    assert np.hypot(pose.x - 7.0, pose.y - 2.5) < 0.35
    assert 0 < touched < 20


def test_what_is_missing_is_named():
    stage = stage_of("exit")
    policy = create("frontier")
    with pytest.raises(PolicyRefused, match="reset"):
        policy.act(Observation(0, 0.0, {}, stage, odometry=Pose(0.0, 0.0)))
    brief = brief_for(stage)
    policy.reset(brief)
    with pytest.raises(PolicyRefused, match="depth"):
        policy.act(Observation(0, 0.0, {"front": Frame(brief.cameras[0])}, stage, odometry=Pose(0.0, 0.0)))
    with pytest.raises(PolicyRefused, match="odometry"):
        policy.act(Observation(0, 0.0, {"front": house().frame(Pose(1.0, 1.0))}, stage))
