"""Rollouts: free of collisions, at their goals, within the limits, and what the controls say is what the states show."""

from dataclasses import replace

import numpy as np
import pytest
from hut import build
from hypothesis import given
from hypothesis import strategies as st

from portico.episodes.experts import Limits, extremes, flaw, roll_out
from portico.episodes.experts.checks import COLLIDES, DRIFTS, JUMPS, OFF_GOAL, TOO_FAST
from portico.episodes.experts.corners import clothoid, corner_speed, full_length, tangent_per_length
from portico.geometry import Pose
from portico.interface import Velocity, Waypoints
from portico.robots import KinematicRobot, embodiment
from portico.space import GeodesicPath, build_space
from portico.world import load

BODY = embodiment("spot")
LIMITS = Limits.of(BODY)
INDOORS, OUTSIDE = (2.0, 2.0, 0.0), (13.0, 2.0, 0.0)


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    return build_space(load(build(tmp_path_factory.mktemp("hut"))), BODY)


@pytest.fixture(scope="module")
def through_the_door(space):
    return roll_out(space, space.path(INDOORS, OUTSIDE), 2.0, -1.0, LIMITS)


def test_robots_have_no_more_than_their_own_speed():
    assert Limits() == LIMITS
    assert Limits.of(embodiment("turtlebot")).speed_mps == 0.26
    with pytest.raises(ValueError, match="positive"):
        Limits(jerk_mps3=0.0)


def test_an_expert_turns_drives_through_the_door_and_turns(space, through_the_door):
    states = through_the_door.states
    assert states[0] == pytest.approx([*INDOORS, 2.0])
    assert states[-1] == pytest.approx([*OUTSIDE, -1.0])
    assert flaw(through_the_door, Pose(*OUTSIDE, -1.0), True, LIMITS) == ""
    assert space.sweep(states[:-1, :3], states[1:, :3]).reached.all()
    assert 0.97 * space.path(INDOORS, OUTSIDE).length_m <= through_the_door.length_m <= 1.05 * space.path(INDOORS, OUTSIDE).length_m
    # Stands only to turn at both ends: it does not stop at the door.
    moving = through_the_door.velocities[:, 0] > 0.0
    assert np.diff(moving.astype(int)).tolist().count(1) == 1


def slow_extremes(rollout):
    """The twin: the same figures from whole arrays."""
    v, w = rollout.velocities.T
    dt = rollout.dt_s
    acceleration = np.diff(np.concatenate([[0.0], v, [0.0, 0.0]])) / dt
    jerk = np.diff(np.concatenate([[0.0], acceleration])) / dt
    x, y, yaw, off = *rollout.states[0, [0, 1, 3]], 0.0
    for k in range(len(v)):
        x, y, yaw = x + v[k] * dt * np.cos(yaw), y + v[k] * dt * np.sin(yaw), yaw + w[k] * dt
        turned = (yaw - rollout.states[k + 1, 3] + np.pi) % (2 * np.pi) - np.pi
        off = max(off, np.hypot(x - rollout.states[k + 1, 0], y - rollout.states[k + 1, 1]), abs(turned))
    most = [np.abs(a).max() for a in (v, acceleration, jerk, v * w, w, np.diff(np.concatenate([[0.0], w, [0.0]])) / dt)]
    return [*most, np.abs(w).max() * dt, off]


def test_the_slow_twin_measures_the_same(through_the_door):
    assert list(vars(extremes(through_the_door)).values()) == pytest.approx(slow_extremes(through_the_door), abs=1e-12)


@given(st.data())
def test_any_pair_of_free_places_is_driven_within_every_limit(space, data):
    nodes = np.flatnonzero(space.node_component == 0)
    a, b = (space.nodes_xyz[data.draw(st.sampled_from(nodes.tolist()))] for _ in range(2))
    yaws = [data.draw(st.floats(-np.pi, np.pi)) for _ in range(2)]
    rollout = roll_out(space, space.path(a, b), yaws[0], yaws[1], LIMITS)
    assert flaw(rollout, Pose(*b, yaws[1]), True, LIMITS) == ""
    assert np.abs(rollout.waypoints[:, 1]).max(initial=0.0) < 1e-9
    assert len(rollout.states) == len(rollout.velocities) + 1 == len(rollout.waypoints) + 1


def test_velocity_commands_lead_a_robot_along_the_states(space, through_the_door):
    robot = KinematicRobot(space, BODY)
    robot.reset(Pose(*INDOORS, 2.0))
    for (v, w), state in zip(through_the_door.velocities, through_the_door.states[1:], strict=True):
        motion = robot.execute(Velocity(float(v), 0.0, float(w), LIMITS.dt_s))
        assert not motion.collided
        assert np.hypot(robot.pose.x - state[0], robot.pose.y - state[1]) < 1e-6
    assert robot.pose.yaw_rad == pytest.approx(-1.0, abs=1e-6)


def test_relative_waypoints_compose_to_the_states(through_the_door):
    pose = Pose(*INDOORS, 2.0)
    for step, state in zip(through_the_door.waypoints, through_the_door.states[1:], strict=True):
        pose = pose.compose(Pose(step[0], step[1], 0.0, step[2]))
        assert (pose.x, pose.y) == pytest.approx((state[0], state[1]), abs=1e-9)
    assert Waypoints((pose,)).frame == "base"


def test_every_flaw_is_told_from_the_others(space, through_the_door):
    goal = Pose(*OUTSIDE, -1.0)
    states = through_the_door.states
    assert flaw(through_the_door, Pose(13.0, 2.4, 0.0, -1.0), True, LIMITS) == OFF_GOAL
    assert flaw(through_the_door, Pose(*OUTSIDE, 0.0), True, LIMITS) == OFF_GOAL
    assert flaw(through_the_door, Pose(*OUTSIDE, 0.0), False, LIMITS) == ""
    assert flaw(replace(through_the_door, free=False), goal, True, LIMITS) == COLLIDES
    hasty = replace(through_the_door, velocities=1.01 * through_the_door.velocities)
    assert flaw(hasty, goal, True, LIMITS) == TOO_FAST
    jumping = states.copy()
    jumping[50:-60, 3] += 0.2
    assert flaw(replace(through_the_door, states=jumping), goal, True, LIMITS) == JUMPS
    elsewhere = states + [1e-5, 0.0, 0.0, 0.0] * (np.arange(len(states)) > 0)[:, None]
    assert flaw(replace(through_the_door, states=elsewhere), goal, True, LIMITS) == DRIFTS


def test_a_way_through_a_wall_is_found_out(space):
    wall = GeodesicPath(np.array([[4.0, 2.0, 0.0], [12.0, 2.0, 0.0]]), 8.0)
    assert not roll_out(space, wall, 0.0, None, LIMITS).free


def test_a_way_of_nothing_is_a_turn(space):
    here = np.array([INDOORS, INDOORS])
    rollout = roll_out(space, GeodesicPath(here, 0.0), 0.0, 1.0, LIMITS)
    assert rollout.length_m == 0.0
    assert rollout.states[-1, 3] == pytest.approx(1.0)
    assert roll_out(space, GeodesicPath(here, 0.0), 0.0, None, LIMITS).duration_s == 0.0


def slow_clothoid(s, angle, length):
    """The twin: the same curve as many small chords."""
    t = (np.arange(20000) + 0.5) / 20000 * s
    heading = 0.5 * angle * (t / length) ** 2
    return np.cos(heading).mean() * s, np.sin(heading).mean() * s


@given(st.floats(0.01, 2.4), st.floats(0.05, 3.0), st.floats(0.0, 1.0))
def test_clothoids_are_where_their_headings_lead(angle, length, share):
    assert clothoid(share * length, angle, length) == pytest.approx(slow_clothoid(share * length, angle, length), abs=1e-6)


@given(st.floats(0.05, 2.3))
def test_wide_corners_slow_nobody_and_tight_ones_do(angle):
    motion = LIMITS.motion()
    length = full_length(angle, motion)
    assert corner_speed(angle, length, motion) == pytest.approx(motion.speed)
    assert corner_speed(angle, 0.5 * length, motion) < motion.speed
    # Mirror images meet: the tangent is as long as the legs of the two halves drawn out to the corner.
    x, y = slow_clothoid(1.0, angle, 1.0)
    assert tangent_per_length(angle) == pytest.approx(x + y * np.tan(angle / 2), abs=1e-6)
