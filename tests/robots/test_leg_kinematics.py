"""Leg kinematics against MuJoCo's, and against themselves."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import portico.robots.physics as physics
from portico.robots.physics.legs import kinematics
from portico.robots.physics.legs.kinematics import HIPS_M, RANGES_RAD, REACH_M, SIDES

LEGS = ("fl", "fr", "hl", "hr")
shares = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12)


def within_ranges(share) -> np.ndarray:
    return RANGES_RAD[:, 0] + np.reshape(share, (4, 3)) * (RANGES_RAD[:, 1] - RANGES_RAD[:, 0])


@pytest.fixture(scope="module")
def spot():
    model = mujoco.MjModel.from_xml_path(str(Path(physics.__file__).parent / "models" / "spot.xml"))
    return model, mujoco.MjData(model)


@given(shares)
def test_feet_are_where_mujoco_puts_them(share) -> None:
    model = mujoco.MjModel.from_xml_path(str(Path(physics.__file__).parent / "models" / "spot.xml"))
    data = mujoco.MjData(model)
    joints = within_ranges(share)
    data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), joints.ravel()
    mujoco.mj_kinematics(model, data)
    feet = np.array([data.geom(f"{leg}_foot").xpos for leg in LEGS])
    np.testing.assert_allclose(kinematics.forward(joints, SIDES) + HIPS_M, feet, atol=1e-12)


def test_jacobians_are_mujocos(spot) -> None:
    model, data = spot
    joints = within_ranges(np.random.default_rng(3).random(12))
    data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), joints.ravel()
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    ours = kinematics.jacobian(joints, SIDES)
    for n, leg in enumerate(LEGS):
        theirs = np.zeros((3, model.nv))
        mujoco.mj_jacGeom(model, data, theirs, None, model.geom(f"{leg}_foot").id)
        np.testing.assert_allclose(ours[n], theirs[:, 6 + 3 * n : 9 + 3 * n], atol=1e-12)


@given(shares)
def test_what_a_pose_reaches_is_found_again(share) -> None:
    joints = within_ranges(share)
    feet = kinematics.forward(joints, SIDES)
    found, reached = kinematics.inverse(feet, SIDES)
    again = kinematics.forward(found, SIDES)
    # A foot above its hip has two answers, of which the one with the leg downwards is given; that may be out of range.
    below = feet[:, 2] * np.cos(joints[:, 0]) - feet[:, 1] * np.sin(joints[:, 0]) < -0.02
    assert reached[below].all()
    np.testing.assert_allclose(again[reached], feet[reached], atol=1e-9)
    np.testing.assert_allclose(found[below], joints[below], atol=1e-6)


@given(st.lists(st.floats(-1.5, 1.5), min_size=12, max_size=12))
def test_out_of_reach_is_said_and_answered_within_ranges(numbers) -> None:
    feet = np.reshape(numbers, (4, 3)).astype(float)
    found, reached = kinematics.inverse(feet, SIDES)
    assert (found >= RANGES_RAD[:, 0]).all()
    assert (found <= RANGES_RAD[:, 1]).all()
    far = np.linalg.norm(feet, axis=1) > np.hypot(REACH_M[1], kinematics.ABDUCTION_M) + 1e-6
    assert not reached[far].any()
    np.testing.assert_allclose(kinematics.forward(found, SIDES)[reached], feet[reached], atol=1e-9)


def test_ranges_and_lengths_are_those_of_the_model(spot) -> None:
    model, _ = spot
    np.testing.assert_allclose(model.jnt_range[1:].reshape(4, 3, 2), np.broadcast_to(RANGES_RAD, (4, 3, 2)))
    np.testing.assert_allclose([model.body(f"{leg}_hip").pos for leg in LEGS], HIPS_M)
    assert model.geom("fl_foot").size[0] == kinematics.FOOT_RADIUS_M
