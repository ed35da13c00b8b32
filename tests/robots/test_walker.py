"""The model-based walker: it follows commands, crosses what a Spot crosses, and nothing but its legs holds it up."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walking import Arena, along_x, mean_velocity, stairs

from portico.robots.physics.legs import Walker
from portico.robots.physics.legs.footholds import CENTRE, PATCH_POINTS, Ground, choose, ground_normal, patch_points
from portico.robots.physics.legs.forces import Grip, share_forces
from portico.robots.physics.legs.swing import PATH_POINTS, Flight, apex_over, path_points, swing_position, time_flight

FEET = np.array([[0.3, 0.17, -0.45], [0.3, -0.17, -0.45], [-0.3, 0.17, -0.45], [-0.3, -0.17, -0.45]])
UP = np.tile([0.0, 0.0, 1.0], (4, 1))


def added_up(forces: np.ndarray) -> np.ndarray:
    return np.concatenate([forces.sum(0), np.cross(FEET, forces).sum(0)])


def settled_forces(wrench, carrying=(1.0, 1.0, 1.0, 1.0), friction: float = 0.5, normals=UP) -> np.ndarray:
    forces = np.zeros((4, 3))
    for _ in range(40):
        share_forces(FEET, normals, np.array(carrying), np.array(wrench, float), friction, Grip(), forces)
    return forces


# Forces


@given(st.floats(-40, 40), st.floats(-40, 40), st.floats(200, 500), st.floats(-15, 15), st.floats(-15, 15), st.floats(-8, 8))
def test_four_feet_deliver_what_is_asked(fx, fy, fz, tx, ty, tz) -> None:
    wrench = np.array([fx, fy, fz, tx, ty, tz])
    np.testing.assert_allclose(added_up(settled_forces(wrench)), wrench, atol=0.05 * np.linalg.norm(wrench))


@given(st.lists(st.floats(-300, 300), min_size=6, max_size=6), st.floats(0.1, 1.0), st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4))
def test_forces_stay_within_friction_whatever_is_asked(wrench, friction, carrying) -> None:
    forces = settled_forces(wrench, carrying, friction)
    assert (forces[:, 2] >= 0.0).all()
    assert (forces[:, 2] <= Grip().highest_n + 1e-9).all()
    assert (np.hypot(forces[:, 0], forces[:, 1]) <= friction * forces[:, 2] + 1e-9).all()
    assert not forces[np.array(carrying) == 0.0].any()


def test_on_a_ramp_the_cone_stands_on_the_ramp() -> None:
    tilt = np.deg2rad(20.0)
    normals = np.tile([-np.sin(tilt), 0.0, np.cos(tilt)], (4, 1))
    forces = settled_forces([0, 0, 310, 0, 0, 0], friction=0.3, normals=normals)
    into = (forces * normals).sum(1)
    along = np.linalg.norm(forces - into[:, None] * normals, axis=1)
    assert (along <= 0.3 * into + 1e-9).all()
    # 20 degrees need 0.36: what is missing shows as a push downhill.
    assert forces[:, 0].sum() < -5.0


# Flights


@given(st.floats(0.1, 0.4), st.floats(-0.2, 0.2), st.floats(0.0, 0.2))
def test_a_foot_flies_from_lift_to_landing_over_what_lies_between(length, rise, between) -> None:
    lift, land = np.array([0.0, 0.0, 0.036]), np.array([length, 0.05, 0.036 + rise])
    points, timing, out = np.empty((PATH_POINTS, 2)), np.empty(4), np.empty(3)
    path_points(lift, land, points)
    share = points[:, 0] / length
    ground = np.where(share > 0.5, rise, 0.0)
    ground[4] = max(between, ground[4])
    time_flight(lift, land, ground, 0.036, Flight(), timing)
    apex = apex_over(lift[2], land[2], ground, 0.07, 0.036, 0.32)
    assert apex >= ground.max() + 0.036 + 0.07 - 1e-12
    swing_position(lift, land, apex, timing, 0.0, out)
    np.testing.assert_allclose(out, lift)
    swing_position(lift, land, apex, timing, 1.0, out)
    np.testing.assert_allclose(out, land)
    heights = []
    for t in np.linspace(0.0, 1.0, 101):
        swing_position(lift, land, apex, timing, t, out)
        heights.append(out.copy())
    assert max(p[2] for p in heights) <= apex + 1e-12


def test_a_foot_going_down_stays_up_until_it_is_past_the_edge() -> None:
    lift, land = np.array([0.0, 0.0, 0.036]), np.array([0.3, 0.0, 0.036 - 0.18])
    points, timing, out = np.empty((PATH_POINTS, 2)), np.empty(4), np.empty(3)
    path_points(lift, land, points)
    ground = np.where(points[:, 0] < 0.16, 0.0, -0.18)
    time_flight(lift, land, ground, 0.036, Flight(), timing)
    apex = apex_over(lift[2], land[2], ground, 0.07, 0.036, 0.32)
    for t in np.linspace(0.2, 1.0, 81):
        swing_position(lift, land, apex, timing, t, out)
        if 0.04 < out[0] < 0.15:
            assert out[2] >= 0.036


# Footholds


def chosen_place(shape, wanted=(0.0, 0.0)) -> np.ndarray:
    points = np.empty((PATCH_POINTS, 2))
    patch_points(np.array(wanted), 0.0, points)
    patch = shape(points[:, 0], points[:, 1])
    n = choose(patch, 0.0, np.array([0.0, 0.11, 0.47]), np.zeros(3), 0.62, -1, Ground())
    return points[n]


def test_on_flat_ground_feet_land_where_balance_wants_them() -> None:
    np.testing.assert_allclose(chosen_place(lambda x, y: 0.0 * x), [0.0, 0.0], atol=1e-12)


@given(st.floats(-0.05, 0.05))
def test_feet_land_off_edges(edge) -> None:
    place = chosen_place(lambda x, y: 0.17 * (x > edge))
    assert abs(place[0] - edge) > 0.03


def test_feet_keep_off_walls() -> None:
    place = chosen_place(lambda x, y: 1.2 * (y > 0.02))
    assert place[1] < -0.03


def test_where_all_is_wall_there_is_no_place() -> None:
    assert choose(np.full(PATCH_POINTS, 1.2), 0.0, np.array([0.0, 0.11, 0.47]), np.zeros(3), 0.62, -1, Ground()) == -1


@given(st.floats(-0.35, 0.35), st.floats(-0.35, 0.35), st.floats(-3.0, 3.0))
def test_the_normal_of_a_ramp_is_found(ahead, aside, yaw) -> None:
    points, out = np.empty((PATCH_POINTS, 2)), np.empty(3)
    patch_points(np.zeros(2), yaw, points)
    ground_normal(points @ np.array([ahead, aside]), CENTRE, yaw, out)
    expected = np.array([-ahead, -aside, 1.0])
    np.testing.assert_allclose(out, expected / np.linalg.norm(expected), atol=1e-9)


# Walking


@pytest.fixture(scope="module")
def flat() -> Arena:
    return Arena(length_m=14.0, width_m=8.0, begin_m=-4.0)


@pytest.mark.parametrize("command", [(0.3, 0, 0), (0.5, 0, 0), (1.0, 0, 0), (-0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.5), (0, 0, 1.0), (0.5, 0, 0.5)])
def test_it_follows_velocities(flat: Arena, command) -> None:
    flat.place()
    velocity = mean_velocity(flat.walk(Walker(flat.model), command, 4.0))
    np.testing.assert_allclose(velocity, command, atol=0.1 * np.linalg.norm(command))


def test_it_stands_still_when_told(flat: Arena) -> None:
    flat.place()
    walker = Walker(flat.model)
    flat.walk(walker, (0.6, 0.0, 0.3), 2.0)
    flat.walk(walker, (0.0, 0.0, 0.0), 2.0, reset=False)
    rest = flat.walk(walker, (0.0, 0.0, 0.0), 2.0, reset=False)
    assert not walker.memory.moving[0]
    assert np.ptp(rest[:, :2], axis=0).max() < 0.01
    assert np.ptp(rest[:, 3]) < 0.02


def test_same_start_same_steps(flat: Arena) -> None:
    walker = Walker(flat.model)
    tracks = []
    for _ in range(2):
        flat.place(yaw=0.3)
        tracks.append(flat.walk(walker, (0.5, 0.0, 0.2), 1.5))
    np.testing.assert_array_equal(tracks[0], tracks[1])


def test_it_withstands_a_nudge_and_falls_when_thrown_over(flat: Arena) -> None:
    for impulse, falls in ((12.0, False), (120.0, True)):
        flat.place()
        walker = Walker(flat.model)
        flat.walk(walker, (0.4, 0.0, 0.0), 1.0)
        flat.data.qvel[1] += impulse / 31.6
        flat.walk(walker, (0.4, 0.0, 0.0), 2.0, reset=False)
        assert (flat.upright < 0.7) == falls


def test_nothing_but_the_ground_touches_it(flat: Arena) -> None:
    flat.place()
    walker = Walker(flat.model)
    flat.walk(walker, (0.5, 0.0, 0.0), 1.0)
    assert not flat.data.qfrc_applied.any()
    assert not flat.data.xfrc_applied.any()
    mujoco.mj_forward(flat.model, flat.data)
    assert not flat.data.qfrc_actuator[:6].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("stairs up", stairs(0.18)),
        ("stairs down", stairs(-0.17)),
        ("curb up", lambda x, y: 0.2 * (x > 1.5)),
        ("curb down", lambda x, y: -0.2 * (x > 1.5)),
        ("ramp up", lambda x, y: np.tan(np.deg2rad(20.0)) * np.clip(x - 1.0, 0.0, 4.0)),
        ("ramp down", lambda x, y: -np.tan(np.deg2rad(20.0)) * np.clip(x - 1.0, 0.0, 4.0)),
        ("rough", lambda x, y: np.random.default_rng(2).uniform(-0.04, 0.04, x.shape) * (x > 0.8)),
    ],
)
def test_it_crosses(name, shape) -> None:
    arena = Arena(shape)
    for y, yaw in ((0.2, -0.2), (-0.1, 0.1)):
        arena.place(y=y, yaw=yaw)
        arena.walk(Walker(arena.model), along_x(0.5, 5.0), 22.0)
        assert arena.upright > 0.7, name
        assert arena.data.qpos[0] > 4.8, name


@pytest.mark.slow
def test_it_walks_on_ice() -> None:
    arena = Arena(friction=0.3)
    arena.walk(Walker(arena.model), along_x(0.5, 4.0), 12.0)
    assert arena.upright > 0.9
    assert arena.data.qpos[0] > 3.8
