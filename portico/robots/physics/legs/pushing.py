"""Pushing: from the feet that carry to the controls of all joints; compiled parts of the walker, working on its memory."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.robots.physics.controller import CONTROL_PERIOD_S
from portico.robots.physics.legs.body import needed_wrench, plane_through, reference_rotation
from portico.robots.physics.legs.forces import share_forces
from portico.robots.physics.legs.gait import gait_period, leg_phase
from portico.robots.physics.legs.kinematics import HIPS_M, SIDES, leg_joints
from portico.robots.physics.legs.swing import swing_position

_DT = CONTROL_PERIOD_S


@njit(cache=True, nogil=True)
def act(qpos, qvel, bias, gait, steps, posture, grip, stiffness, damping, m, ctrl):  # type: ignore[no-untyped-def]
    """Write the controls: feet that carry push, the others fly or feel for the ground."""
    _settle(gait, posture, m)
    wanted, velocity, rate, wrench = np.empty(3), np.empty(3), np.zeros(3), np.empty(6)
    upright = np.empty((3, 3))
    ahead = min(max(posture.follow * m.plane[1], -posture.steepest), posture.steepest)
    aside = min(max(posture.follow * m.plane[2], -posture.steepest), posture.steepest)
    reference_rotation(m.anchor[2], ahead, aside, upright)
    lower = posture.crouch_m * (1.0 - m.firm[0])
    wanted[0], wanted[1], wanted[2] = m.anchor[0], m.anchor[1], m.plane[0] + posture.height_m - lower
    c, s = np.cos(m.anchor[2]), np.sin(m.anchor[2])
    velocity[0], velocity[1] = c * m.command[0] - s * m.command[1], s * m.command[0] + c * m.command[1]
    velocity[2] = m.plane[1] * m.command[0] + m.plane[2] * m.command[1]
    rate[2] = m.command[2]
    needed_wrench(qpos[:3], m.rotation, m.motion, wanted, upright, velocity, rate, posture, m.grip[0], m.firm[0], wrench)
    arms, carrying = np.empty((4, 3)), np.zeros(4)
    for leg in range(4):
        arms[leg] = m.rotation @ m.feet[leg] - m.motion[2]
        if m.down[leg]:
            left = (1.0 - leg_phase(m.phase[0], leg)) * gait_period(gait) if m.moving[0] else 1.0
            carrying[leg] = min(1.0, 0.15 + left / 0.08)
    share_forces(arms, m.normal, carrying, wrench, m.grip[0], grip, m.forces)
    here, there, joints, later = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for leg in range(4):
        a = 3 * leg
        if m.down[leg]:
            torque = -(m.jacobians[leg].T @ (m.rotation.T @ m.forces[leg]))
            for j in range(3):
                q, v = qpos[7 + a + j], qvel[6 + a + j]
                ctrl[a + j] = q + 0.5 * _DT * v + (damping[a + j] * v + torque[j] + bias[6 + a + j]) / stiffness[a + j]
                m.rates[a + j] = v
            continue
        if m.swinging[leg]:
            t = leg_phase(m.phase[0], leg) * gait_period(gait) / gait.swing_s
            swing_position(m.lift[leg], m.land[leg], m.apex[leg], m.timing[leg], t, here)
            swing_position(m.lift[leg], m.land[leg], m.apex[leg], m.timing[leg], t + _DT / gait.swing_s, there)
            m.foot[leg] = here
        else:
            here[:], there[:] = m.foot[leg], m.foot[leg]
            there[2] -= steps.search_mps * _DT
        _leg_frame(here, qpos, m, leg, 0.0, joints)
        _leg_frame(there, qpos, m, leg, _DT, later)
        for j in range(3):
            v = (later[j] - joints[j]) / _DT
            a_j = min(max((v - m.rates[a + j]) / _DT, -150.0), 150.0)
            ctrl[a + j] = 0.5 * (joints[j] + later[j]) + (damping[a + j] * v + bias[6 + a + j] + 0.12 * a_j) / stiffness[a + j]
            m.rates[a + j] = v


@njit(cache=True, nogil=True)
def _leg_frame(foot, qpos, m, leg, ahead_s, joints):  # type: ignore[no-untyped-def]
    """Write the joints (3,) that put a foot at a place in the world in ``ahead_s`` seconds, while the body moves on."""
    r = np.empty(3)
    v, w = m.motion[0], m.motion[1]
    for i in range(3):
        r[i] = foot[i] - qpos[i] - v[i] * ahead_s
    # Turning the body by w is turning what it sees by -w.
    x = r[0] - ahead_s * (w[1] * r[2] - w[2] * r[1])
    y = r[1] - ahead_s * (w[2] * r[0] - w[0] * r[2])
    z = r[2] - ahead_s * (w[0] * r[1] - w[1] * r[0])
    local = np.empty(3)
    for i in range(3):
        local[i] = m.rotation[0, i] * x + m.rotation[1, i] * y + m.rotation[2, i] * z - HIPS_M[leg, i]
    leg_joints(local, SIDES[leg], joints)


@njit(cache=True, nogil=True)
def _settle(gait, posture, m):  # type: ignore[no-untyped-def]
    """Let the plane under the body follow the feet; a foot in the air counts ever more where it will land."""
    feet, fit = np.empty((4, 3)), np.empty(3)
    for leg in range(4):
        feet[leg] = m.foot[leg]
        if m.swinging[leg]:
            t = min(leg_phase(m.phase[0], leg) * gait_period(gait) / gait.swing_s, 1.0)
            for i in range(3):
                feet[leg, i] = m.lift[leg, i] + t * (m.land[leg, i] - m.lift[leg, i])
    plane_through(feet, m.anchor[0], m.anchor[1], m.anchor[2], fit)
    for i in range(3):
        m.plane[i] += (fit[i] - m.plane[i]) * min(_DT / posture.settle_s, 1.0)
