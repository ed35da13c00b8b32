"""The model of Spot: sizes, limits and what collides with what."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from walking import SPOT

from portico.robots.physics.legs import body

LEGS = ("fl", "fr", "hl", "hr")


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(SPOT))


def test_it_has_a_free_base_and_twelve_driven_joints_in_order(model) -> None:
    assert model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    assert model.body(model.jnt_bodyid[0]).name == "base"
    names = [f"{leg}_{joint}" for leg in LEGS for joint in ("hx", "hy", "kn")]
    assert [model.joint(n + 1).name for n in range(12)] == names
    assert [model.actuator(n).name for n in range(12)] == names
    assert (model.nq, model.nu) == (19, 12)


def test_it_weighs_what_the_walker_believes(model) -> None:
    assert model.body_subtreemass[1] == pytest.approx(body.TOTAL_KG)
    assert 30.0 < body.TOTAL_KG < 34.0


def test_torques_are_limited(model) -> None:
    np.testing.assert_array_equal(model.actuator_forcerange.reshape(4, 3, 2), np.broadcast_to([[-45, 45], [-45, 45], [-115, 115]], (4, 3, 2)))


def test_it_meets_the_ground_and_not_itself(model) -> None:
    assert set(model.geom_contype) == {2}
    assert set(model.geom_conaffinity) == {1}
    assert all(model.geom(f"{leg}_foot").priority[0] == 1 for leg in LEGS)
    assert (model.geom_type != mujoco.mjtGeom.mjGEOM_MESH).all()


def test_centre_of_mass_and_its_velocity_are_mujocos(model) -> None:
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    mujoco.mj_resetData(model, data)
    data.qpos[:] += rng.normal(0.0, 0.2, model.nq)
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    data.qpos[9::3] -= 1.2
    data.qvel[:6] = rng.normal(size=6)
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    rotation, feet, jacobians, motion = np.empty((3, 3)), np.empty((4, 3)), np.empty((4, 3, 3)), np.empty((3, 3))
    body.sense(data.qpos, data.qvel, rotation, feet, jacobians, motion)
    np.testing.assert_allclose(rotation, data.body("base").xmat.reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(data.qpos[:3] + motion[2], data.subtree_com[1], atol=1e-9)
    # With joints at rest the centre moves as a point of the base.
    np.testing.assert_allclose(motion[0], data.subtree_linvel[1], atol=1e-6)
    np.testing.assert_allclose(data.qpos[:3] + feet @ rotation.T, [data.geom(f"{leg}_foot").xpos for leg in LEGS], atol=1e-9)


def test_left_alone_it_collapses(model) -> None:
    spec = mujoco.MjSpec.from_file(str(SPOT))
    spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=2)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    loose = spec.compile()
    data = mujoco.MjData(loose)
    mujoco.mj_step(loose, data, 400)
    assert data.qpos[2] < 0.25
