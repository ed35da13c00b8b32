"""A quadruped that trots over what it can see: feedback places the feet, forces at the feet hold the body."""

from __future__ import annotations

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.robots.physics.controller import Heights, foot_touch
from portico.robots.physics.legs.body import Posture, plane_through, sense
from portico.robots.physics.legs.footholds import Ground
from portico.robots.physics.legs.forces import Grip
from portico.robots.physics.legs.gait import Gait
from portico.robots.physics.legs.kinematics import ABDUCTION_M, SIDES, inverse
from portico.robots.physics.legs.memory import Steps, blank_memory
from portico.robots.physics.legs.pushing import act
from portico.robots.physics.legs.stepping import LOOKED_AT, aim, feel, look, notice_slides
from portico.robots.physics.legs.swing import Flight

Floats = NDArray[np.float64]


def standing_joints(height_m: float = Posture().height_m) -> Floats:
    """Joints (12,) of a robot that stands with its hips this high above the centres of its feet."""
    feet = np.stack([np.full(4, -0.02), SIDES * ABDUCTION_M, np.full(4, -height_m)], axis=1)
    return inverse(feet, SIDES)[0].ravel()


class Walker:
    """Trots, stands and turns a robot of ``models/spot.xml``; a ``Controller``.

    Feet follow a fixed trot. A foot lands under its hip, ahead by half of what the body travels while it stands, and farther out by the
    error of the velocity (M. Raibert, Legged Robots That Balance, 1986), moved to the nearest good ground. The feet on the ground share
    the force and torque that carry the body and pull it to its velocity, height and attitude (as in G. Bledt et al., MIT Cheetah 3,
    IROS 2018, without the horizon); joint torques follow by the transposed Jacobian and reach the position actuators as offsets.

    Args:
        model: of the robot, free joint first, then legs fl, fr, hl, hr with hx, hy, kn, driven by position actuators; legs as long as Spot's.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        gait: Gait = Gait(),
        steps: Steps = Steps(),
        flight: Flight = Flight(),
        posture: Posture = Posture(),
        grip: Grip = Grip(),
        ground: Ground = Ground(),
    ) -> None:
        posture = posture._replace(mass_kg=float(model.body_subtreemass[model.jnt_bodyid[0]]))
        self._settings = (gait, steps, flight, posture, grip, ground)
        self._touch = foot_touch(model)
        self._stiffness, self._damping = model.actuator_gainprm[:12, 0].copy(), -model.actuator_biasprm[:12, 2].copy()
        self.memory = blank_memory()
        self._points = np.zeros((4 + 4 * LOOKED_AT, 2))

    def reset(self, data: mujoco.MjData) -> None:
        """Start from rest, in the pose of data."""
        _reset(data.qpos, self._settings[4].friction, self.memory)

    def control(self, data: mujoco.MjData, command: Floats, heights: Heights) -> None:
        """Write ``data.ctrl``, see ``Controller``."""
        gait, steps, flight, posture, grip, ground = self._settings
        memory, touch = self.memory, data.sensordata[self._touch]
        qpos, qvel = data.qpos, data.qvel
        count = look(qpos, qvel, touch, command, gait, steps, flight, posture, memory, self._points)
        seen = heights(self._points[:count])
        feel(seen, touch, qpos, gait, steps, memory)
        notice_slides(qpos, qvel, touch, steps, grip, memory)
        aim(seen, qpos, gait, steps, flight, ground, memory)
        act(qpos, qvel, data.qfrc_bias, gait, steps, posture, grip, self._stiffness, self._damping, memory, data.ctrl)


@njit(cache=True, nogil=True)
def _reset(qpos, friction, m):  # type: ignore[no-untyped-def]
    sense(qpos, np.zeros(18), m.rotation, m.feet, m.jacobians, m.motion)
    _world_feet(qpos, m)
    m.phase[0], m.moving[0], m.idle_s[0], m.rough[0] = 0.0, False, 10.0, 0.0
    m.grip[0], m.held[:] = friction, 0.0
    m.swinging[:], m.down[:], m.chosen[:] = False, True, -1
    m.lift[:], m.land[:] = m.foot, m.foot
    m.wanted[:] = m.foot[:, :2]
    m.normal[:] = np.array([0.0, 0.0, 1.0])
    m.forces[:], m.rates[:], m.command[:], m.nudge[:] = 0.0, 0.0, 0.0, 0.0
    m.anchor[0], m.anchor[1], m.anchor[2] = qpos[0], qpos[1], np.arctan2(m.rotation[1, 0], m.rotation[0, 0])
    plane_through(m.foot, qpos[0], qpos[1], m.anchor[2], m.plane)


@njit(cache=True, nogil=True)
def _world_feet(qpos, m):  # type: ignore[no-untyped-def]
    for leg in range(4):
        for i in range(3):
            m.foot[leg, i] = qpos[i] + m.rotation[i, 0] * m.feet[leg, 0] + m.rotation[i, 1] * m.feet[leg, 1] + m.rotation[i, 2] * m.feet[leg, 2]
