"""Robots under physics in a hand-made place: they go where they are told, bump, fall, and do the same thing twice."""

from functools import cache
from math import nan, pi

import numpy as np
import pytest
from stair_house import RISER, STEPS, house

from portico.errors import EpisodeError, UserError
from portico.geometry import Pose
from portico.interface import Move, Stop, Velocity, Waypoints
from portico.robots import embodiment, make_robot
from portico.space import build_space


@cache
def space(name):
    return build_space(house(), embodiment(name))


def robot(name, x, y, yaw=0.0, z=0.0, **options):
    made = make_robot(house(), name, space(name), motion="physics", **options)
    made.reset(Pose(x, y, z, yaw))
    return made


@pytest.fixture(scope="module", params=["turtlebot", "spot"])
def name(request):
    return request.param


def test_discrete_moves_take_about_a_second_and_do_what_they_say(name):
    r = robot(name, 2, 4)
    for move, (x, y, yaw) in (
        ("forward", (0.25, 0.0, 0.0)),
        ("turn_left", (0.0, 0.0, pi / 12)),
        ("turn_right", (0.0, 0.0, -pi / 12)),
        ("backward", (-0.25, 0.0, 0.0)),
    ):
        before = r.pose
        motion = r.execute(Move(move))
        went = r.pose.relative_to(before)
        assert (went.x, went.y) == (pytest.approx(x, abs=0.05), pytest.approx(y, abs=0.05))
        assert went.yaw_rad == pytest.approx(yaw, abs=0.08)
        assert 0.2 < motion.duration_s < 2.5
        assert not motion.collided


def test_waypoints_are_reached_within_the_tolerance(name):
    r = robot(name, 2, 5)
    r.execute(Waypoints((Pose(3.2, 5.0), Pose(3.2, 6.5, 0.0, pi / 2)), frame="world"))
    assert (r.pose.x, r.pose.y) == (pytest.approx(3.2, abs=0.06), pytest.approx(6.5, abs=0.06))
    assert r.pose.yaw_rad == pytest.approx(pi / 2, abs=0.12)


def test_streamed_waypoints_hand_back_on_time(name):
    r = robot(name, 2, 5)
    motion = r.execute(Waypoints((Pose(3.0, 0.0),), duration_s=0.1))
    assert motion.duration_s == pytest.approx(0.1)
    assert len(motion.states) == 1


def test_who_streams_waypoints_does_not_stop_in_between(name):
    assert "stream" in robot(name, 2, 5).actions.accepts
    went = []
    for duration_s in (0.8, None):
        r = robot(name, 2, 5)
        elapsed = 0.0
        while elapsed < 2.4:
            elapsed += r.execute(Waypoints((Pose(1.0 if duration_s else 0.4, 0.0),), duration_s=duration_s)).duration_s
        went.append((r.pose.x - 2.0) / elapsed)
    assert went[0] > 1.03 * went[1]


def test_a_body_that_is_driven_against_a_wall_presses_on_gently_and_stands(name):
    r = robot(name, 2, 4)
    motion = r.execute(Velocity(1.5, 0.0, 0.0, 25.0))
    assert motion.collided
    assert not motion.fallen


def test_states_are_recorded_ten_times_a_second(name):
    states = robot(name, 2, 4).execute(Velocity(0.2, 0.0, 0.0, 1.0)).states
    assert [s.elapsed_s for s in states] == pytest.approx(np.arange(1, 11) / 10)


def test_a_wall_stops_it_and_counts_as_a_collision(name):
    r = robot(name, 3, 2)
    motion = r.execute(Waypoints((Pose(1.0, 0.0),)))
    assert motion.collided
    assert r.pose.x < 3.95
    assert not motion.fallen


def test_too_fast_a_velocity_is_clipped_and_says_so(name):
    r = robot(name, 2, 4)
    assert not any(s.clipped for s in r.execute(Velocity(0.1, 0.0, 0.0, 0.4)).states)
    motion = r.execute(Velocity(100.0 * r.embodiment.max_speed_mps, 0.0, 0.0, 0.4))
    assert all(s.clipped for s in motion.states)
    assert r.pose.x < 2.0 + 0.8 * 1.5


def test_waypoints_outside_the_world_are_moved_to_its_edge_and_say_so():
    motion = robot("turtlebot", 2, 4).execute(Waypoints((Pose(500.0, 4.0),), frame="world", duration_s=0.5))
    assert all(s.clipped for s in motion.states)


@pytest.mark.parametrize(
    "action", [Velocity(nan, 0, 0, 1), Velocity(0, 0, 0, float("inf")), Waypoints((Pose(nan, 0.0),)), Waypoints((Pose(1, 0),), duration_s=nan)]
)
def test_numbers_that_are_not_finite_are_refused(action):
    with pytest.raises(UserError, match="not finite"):
        robot("turtlebot", 2, 4).execute(action)


def test_a_start_inside_something_is_refused(name):
    for where in ((4.0, 2.0, 0.0), (2.0, 4.0, 7.0)):
        with pytest.raises(EpisodeError, match="the start is"):
            robot(name, where[0], where[1], z=where[2])


def test_the_same_actions_give_the_same_bytes(name):
    actions = [Move("forward"), Move("turn_left"), Waypoints((Pose(0.6, 0.2, 0.0, 0.4),)), Velocity(0.3, 0.0, 0.5, 1.0), Stop()]
    r = robot(name, 2, 4)

    def run():
        r.reset(Pose(2, 4, 0, 0.3))
        states = [s for a in actions for s in r.execute(a).states]
        return np.array([(*s.pose.position, s.pose.yaw_rad, s.roll_rad, s.pitch_rad, s.elapsed_s) for s in states]).tobytes()

    first = run()
    r.execute(Waypoints((Pose(1.5, -0.5),)))
    assert run() == first
    r = robot(name, 3, 6)
    assert run() == first


def test_wheels_do_not_climb_stairs_and_legs_do():
    start = 4.3
    wheels = robot("turtlebot", start, 7.25)
    wheels.execute(Waypoints((Pose(1.5, 0.0),)))
    assert wheels.pose.x < 5.05
    legs = robot("spot", start - 0.3, 7.25)
    motion = legs.execute(Waypoints((Pose(7.2, 0.0),)))
    assert not motion.fallen
    assert legs.pose.z == pytest.approx(RISER * STEPS, abs=0.15)


def test_a_body_that_is_thrown_over_has_fallen(name):
    r = robot(name, 2, 4)
    r._data.qvel[r.machine.base_qvel + 2] = 3.0
    r._data.qvel[r.machine.base_qvel + 3] = 9.0
    motion = r.execute(Velocity(0.0, 0.0, 0.0, 2.0))
    assert motion.fallen
    assert r.fallen
    assert abs(motion.states[-1].roll_rad) > pi / 4


def test_cameras_lean_with_the_body():
    r = robot("spot", 4.0, 7.25)
    r.execute(Waypoints((Pose(2.5, 0.0),)))
    up = r.base_matrix()[:3, 2]
    assert up[0] < -0.1


def test_a_robot_without_a_physical_model_says_which_have_one():
    with pytest.raises(UserError, match="no physical model"):
        make_robot(house(), "m20", space("spot"), motion="physics")


@pytest.mark.parametrize(("part", "why"), [("qvel", "no longer made of finite numbers"), ("ctrl", "asks for what is no finite number")])
def test_a_simulation_that_runs_away_is_an_error_and_no_leap_to_where_the_model_begins(part, why, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    r = robot("turtlebot", 2, 4)
    monkeypatch.setattr(r._controller, "control", lambda data, *_: getattr(data, part).__setitem__(0, nan))
    with pytest.raises(EpisodeError, match=f"(?s)ran away.*{why}"):
        r.execute(Velocity(0.1, 0.0, 0.0, 1.0))
    assert list(tmp_path.iterdir()) == [], "nothing is left behind in the folder one works in"
    monkeypatch.undo()
    r.reset(Pose(2, 4))
    assert not r.execute(Velocity(0.1, 0.0, 0.0, 1.0)).fallen
