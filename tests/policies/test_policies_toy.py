"""Behaviour of the mapping policies in the toy world: what they reach, and that they do not declare it too early."""

from __future__ import annotations

import numpy as np
from toy_world import house, run, stage_of

from portico.geometry import Pose
from portico.policies import create


def test_frontier_leaves_a_two_room_house_and_stops_outside_the_door():
    result = run(house(), create("frontier"), Pose(1.5, 1.5, 0.0, 1.5), stage_of("exit"))
    end = result.poses[-1]
    assert result.stopped
    assert -4.0 < end.y < -0.3


def test_frontier_walks_up_to_the_object():
    world = house()
    world.add(1.0, 0.3, 0.0, 1.8, 0.8, 0.6, 7)
    result = run(world, create("frontier?detector=semantic"), Pose(7.0, 3.5), stage_of("ovon", category="sofa"), categories={1: "wall", 7: "sofa"})
    end = result.poses[-1]
    assert result.stopped
    assert np.hypot(max(1.0 - end.x, 0.0, end.x - 1.8), max(0.3 - end.y, 0.0, end.y - 0.8)) < 1.0


def test_route_follower_walks_around_what_stands_on_the_route():
    world = house()
    world.add(10.0, -5.5, 0.0, 11.0, -3.5, 1.0)
    route = np.array([[9.0, -4.5, 0.0], [20.0, -4.5, 0.0], [20.0, -10.0, 0.0]])
    stage = stage_of("outdoor", route=route, goal=(20.0, -10.0, 0.0))
    result = run(world, create("route-follower"), Pose(4.0, -2.0), stage, world_frame=True, ends=lambda p: np.hypot(p.x - 20.0, p.y + 10.0) < 3.0)
    assert np.hypot(result.poses[-1].x - 20.0, result.poses[-1].y + 10.0) < 3.0
