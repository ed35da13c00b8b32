"""The kinematic robot in a hand-made place: a 12 x 8 m floor with a wall, a table, a flight of stairs and an upper floor."""

from functools import cache
from math import inf, nan, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stair_house import RISER, STEPS, house

from portico.errors import EpisodeError, UnknownName
from portico.geometry import Pose
from portico.interface import Move, PolicyFailure, Stop, Velocity, Waypoints
from portico.robots import EMBODIMENTS, KinematicRobot, embodiment
from portico.space import build_space


@cache
def space(name="spot"):
    return build_space(house(), embodiment(name))


def robot(x, y, yaw=0.0, *, name="spot", z=0.0, slide=False):
    made = KinematicRobot(space(name), embodiment(name), slide=slide)
    made.reset(Pose(x, y, z, yaw))
    return made


def test_a_forward_move_covers_a_step_and_a_turn_turns():
    r = robot(2, 4)
    r.execute(Move("forward"))
    assert (r.pose.x, r.pose.y) == pytest.approx((2.25, 4.0))
    r.execute(Move("turn_left"))
    assert r.pose.yaw_rad == pytest.approx(pi / 12)
    r.execute(Move("turn_right"))
    r.execute(Move("backward"))
    assert (r.pose.x, r.pose.yaw_rad) == pytest.approx((2.0, 0.0))


def test_contact_stops_it_before_the_wall_and_says_so():
    r = robot(2, 2)
    motions = [r.execute(Move("forward")) for _ in range(12)]
    assert motions[-1].collided
    assert not motions[0].collided
    assert 3.95 - 0.35 - 0.12 < r.pose.x <= 3.95 - 0.35


def test_sliding_is_an_option():
    stopped, slid = robot(3.3, 1.5, pi / 4), robot(3.3, 1.5, pi / 4, slide=True)
    for _ in range(6):
        stopped.execute(Move("forward"))
        slid.execute(Move("forward"))
    assert stopped.pose.y < 2.0
    assert slid.pose.y > stopped.pose.y + 0.3
    assert slid.pose.x <= 3.95 - 0.35


def test_it_climbs_stairs_with_its_floor_and_comes_down_again():
    r = robot(4.3, 7.25)
    for _ in range(26):
        r.execute(Move("forward"))
    assert r.pose.z == pytest.approx(RISER * STEPS, abs=0.01)
    down = KinematicRobot(r.space, r.embodiment)
    down.reset(Pose(r.pose.x, r.pose.y, r.pose.z, pi))
    for _ in range(24):
        down.execute(Move("forward"))
    assert down.pose.z == pytest.approx(0.0, abs=0.01)


def test_a_body_that_climbs_less_stops_at_the_first_step():
    r = robot(4.3, 7.25, name="turtlebot")
    for _ in range(8):
        r.execute(Move("forward"))
    assert r.pose.z == pytest.approx(0.0, abs=1e-3)
    assert r.pose.x < 5.0


def test_it_does_not_step_off_an_edge():
    r = robot(11.0, 6.0, -pi / 2, z=RISER * STEPS)
    for _ in range(10):
        r.execute(Move("forward"))
    assert r.pose.z == pytest.approx(RISER * STEPS, abs=0.01)
    assert r.pose.y > 5.0


def test_waypoints_are_followed_in_their_frame_and_end_at_their_heading():
    r = robot(2, 4, pi / 2)
    motion = r.execute(Waypoints((Pose(1.0, 0.0), Pose(1.0, -0.5, 0.0, -pi / 2)), "base"))
    assert (r.pose.x, r.pose.y) == pytest.approx((2.5, 5.0), abs=1e-6)
    assert r.pose.yaw_rad == pytest.approx(0.0, abs=1e-6)
    assert len(motion.states) > 5
    r.execute(Waypoints((Pose(0.0, 0.0),), "odometry"))
    assert (r.pose.x, r.pose.y, r.pose.yaw_rad) == pytest.approx((2.0, 4.0, pi / 2), abs=1e-6)


def test_velocity_is_clipped_to_the_body_and_integrates():
    r = robot(1, 4)
    motion = r.execute(Velocity(100.0, 0.0, 0.0, 1.0))
    assert r.pose.x == pytest.approx(1.0 + EMBODIMENTS["spot"].max_speed_mps)
    assert motion.duration_s == pytest.approx(1.0)
    r.execute(Velocity(0.0, 0.0, 1.0, 0.55))
    assert r.pose.yaw_rad == pytest.approx(0.55)


def test_what_was_clipped_is_on_record():
    r = robot(2, 4)
    assert all(state.clipped for state in r.execute(Velocity(100.0 * r.embodiment.max_speed_mps, 0.0, 0.0, 0.4)).states)
    assert not any(state.clipped for state in r.execute(Velocity(-0.5, 0.0, 0.5, 0.4)).states)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Velocity(0.0, nan, 0.0, 1.0), "not finite"),
        (Move("forward", inf), "not finite"),
        (Waypoints((Pose(1.0, 0.0),), duration_s=nan), "not finite"),
        (Waypoints((Pose(1e308, -1e308),)), "too far"),
        (Move("backward", 1e9), "too far"),
        (Velocity(0.1, 0.0, 0.0, 1e9), "too long"),
        (Waypoints((Pose(1.0, 0.0),), duration_s=1e9), "too long"),
    ],
)
def test_actions_out_of_all_proportion_are_refused(action, words):
    r = robot(2, 4)
    with pytest.raises(PolicyFailure, match=words):
        r.execute(action)
    assert r.pose == Pose(2.0, 4.0)


def test_a_stop_changes_nothing():
    r = robot(2, 4)
    before = r.pose
    motion = r.execute(Stop())
    assert r.pose == before
    assert motion.duration_s == 0.0


@pytest.mark.parametrize(
    ("pose", "words"),
    [(Pose(4.0, 2.0), "inside an obstacle"), (Pose(40.0, 2.0), "on no floor"), (Pose(3.6, 2.0), "inside an obstacle"), (Pose(2.0, 2.0, 9.0), "on no floor")],
)
def test_impossible_starts_are_refused(pose, words):
    with pytest.raises(EpisodeError, match=words):
        KinematicRobot(space(), embodiment("spot")).reset(pose)


def test_an_unknown_embodiment_offers_the_closest():
    with pytest.raises(UnknownName, match="turtlebot"):
        embodiment("turtelbot")


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["forward", "backward", "turn_left", "turn_right"]), min_size=5, max_size=60), st.integers(0, 23))
def test_whatever_it_is_told_it_stays_where_its_body_fits(moves, heading):
    r = robot(2.0, 3.0, heading * pi / 12)
    for name in moves:
        r.execute(Move(name))
        assert bool(r.space.is_free(r.pose.position[None])[0])
        assert not (3.95 - 0.35 < r.pose.x < 4.05 + 0.35 and r.pose.y < 4.0)


@settings(max_examples=20)
@given(st.floats(-3, 3), st.floats(0.5, 3.0))
def test_the_same_action_from_the_same_pose_gives_the_same_states(yaw, distance):
    action = Waypoints((Pose(distance, 0.3),), "base")
    a, b = robot(2, 5, yaw), robot(2, 5, yaw)
    assert a.execute(action) == b.execute(action)
    assert np.array_equal(a.pose.position, b.pose.position)
