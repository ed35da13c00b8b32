"""The path tracker on a body that does as it is told."""

from math import cos, hypot, pi, sin

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from portico.geometry import Pose, wrap_angle
from portico.robots.physics.tracker import ARRIVED_M, ARRIVED_RAD, MAX_FORWARD_MPS, MAX_LATERAL_MPS, MAX_TURN_RADPS, Limits, Tracker

LEGGED = Limits(1.5, 0.3, 1.5)
WHEELED = Limits(0.26, 0.0, 1.5)


def drive(tracker, pose, seconds=60.0):
    """Follow the commands exactly; the poses passed through."""
    poses = [pose]
    for _ in range(round(seconds / 0.02)):
        if tracker.arrived(pose):
            break
        vx, vy, wz = tracker.command(pose)
        c, s = cos(pose.yaw_rad), sin(pose.yaw_rad)
        pose = Pose(pose.x + 0.02 * (c * vx - s * vy), pose.y + 0.02 * (s * vx + c * vy), 0.0, wrap_angle(pose.yaw_rad + 0.02 * wz))
        poses.append(pose)
    return poses


def test_the_limits_are_the_sources():
    limits = [MAX_FORWARD_MPS, MAX_LATERAL_MPS, MAX_TURN_RADPS, ARRIVED_M, ARRIVED_RAD]
    assert limits == pytest.approx([1.5, 0.3, 1.5, 0.03, np.deg2rad(3.0)])


finite = st.floats(-4.0, 4.0)
waypoint = st.builds(lambda x, y, yaw: Pose(x, y, 0.0, yaw), finite, finite, st.floats(-pi, pi))


@pytest.mark.parametrize("limits", [LEGGED, WHEELED], ids=["legged", "wheeled"])
@settings(max_examples=25)
@example([Pose(1.0, 0.0), Pose(1.0, 0.0), Pose(0.0, 0.0)])
@given(st.lists(waypoint, min_size=1, max_size=4))
def test_every_path_is_followed_to_its_end_and_heading(limits, path):
    tracker = Tracker(path, Pose(0.0, 0.0), limits)
    end = drive(tracker, Pose(0.0, 0.0), 240.0)[-1]
    assert hypot(end.x - path[-1].x, end.y - path[-1].y) <= ARRIVED_M
    assert abs(wrap_angle(end.yaw_rad - path[-1].yaw_rad)) <= ARRIVED_RAD


@given(st.lists(waypoint, min_size=1, max_size=4), waypoint)
def test_no_command_is_beyond_the_limits(path, pose):
    vx, vy, wz = Tracker(path, Pose(0.0, 0.0), LEGGED).command(pose)
    assert abs(vx) <= 1.5
    assert abs(vy) <= 0.3
    assert abs(wz) <= 1.5


def test_a_path_round_a_corner_stays_near_it():
    path = [Pose(2.0, 0.0), Pose(2.0, 2.0, 0.0, pi / 2)]
    poses = drive(Tracker(path, Pose(0.0, 0.0), LEGGED), Pose(0.0, 0.0))
    off = [min(hypot(p.x - min(max(p.x, 0.0), 2.0), p.y), hypot(p.x - 2.0, p.y - min(max(p.y, 0.0), 2.0))) for p in poses]
    assert max(off) < 0.3


def test_a_discrete_move_keeps_its_heading():
    back = Tracker([Pose(-0.25, 0.0)], Pose(0.0, 0.0), LEGGED, keep_heading=True)
    poses = drive(back, Pose(0.0, 0.0))
    assert poses[-1].x == pytest.approx(-0.25, abs=ARRIVED_M)
    assert max(abs(p.yaw_rad) for p in poses) < 1e-6


def test_a_path_that_doubles_back_is_walked_to_its_tip():
    poses = drive(Tracker([Pose(2.0, 0.0), Pose(0.0, 0.0, 0.0, pi)], Pose(0.0, 0.0), LEGGED), Pose(0.0, 0.0))
    assert max(p.x for p in poses) > 1.9
    assert hypot(poses[-1].x, poses[-1].y) <= ARRIVED_M
