"""Policies on NavArena's tracks in the toy world: closer where a STOP changes nothing, everywhere for a picture."""

from __future__ import annotations

import numpy as np
import pytest
from toy_world import house, run, stage_of

from portico.geometry import Pose
from portico.interface import Stop
from portico.policies import create

GOAL = (1.0, 1.0, 0.0)


def gap(pose):
    return float(np.hypot(pose.x - GOAL[0], pose.y - GOAL[1]))


@pytest.mark.parametrize("start", [Pose(7.0, 1.0), Pose(2.0, -4.0, 0.0, 2.0)])
def test_point_follower_stops_at_the_point(start):
    result = run(house(), create("point-follower"), start, stage_of("point", goal=GOAL), world_frame=True)
    assert result.stopped
    assert gap(result.poses[-1]) < 0.3


def test_where_a_stop_changes_nothing_the_point_follower_goes_closer():
    stage = stage_of("point", goal=GOAL)
    result = run(house(), create("point-follower"), Pose(5.0, 1.0), stage, world_frame=True, stop_ends=False, max_actions=160)
    stops = [a for a in result.actions if isinstance(a, Stop)]
    assert min(gap(p) for p in result.poses) < 0.15
    assert stops


def test_frontier_walks_right_up_to_the_object_of_an_object_goal():
    world = house()
    world.add(1.0, 0.3, 0.0, 1.8, 0.8, 0.6, 7)
    categories = {1: "wall", 7: "sofa"}
    result = run(world, create("frontier?detector=semantic"), Pose(7.0, 3.5), stage_of("object", category="sofa"), categories=categories)
    end = result.poses[-1]
    assert result.stopped
    assert np.hypot(end.x - 1.4, end.y - 0.55) < 1.0, "its middle counts"


def test_frontier_goes_everywhere_for_a_picture_and_declares_nothing():
    places = [(1.0, 1.0), (1.0, 4.0), (3.0, 2.5), (5.0, 4.0), (7.0, 4.0), (7.0, 1.0)]
    walked = []

    def seen_all(pose):
        walked.append((pose.x, pose.y))
        return all(min(np.hypot(x - p[0], y - p[1]) for x, y in walked) < 1.0 for p in places)

    world = house()
    world.wall(5.5, 0.0, 6.7, 0.0)
    result = run(world, create("frontier"), Pose(1.5, 1.5), stage_of("image"), max_actions=300, ends=seen_all)
    assert not result.stopped
    assert seen_all(result.poses[-1])
