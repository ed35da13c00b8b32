"""The body: where it is, where it should be over its feet, and the force and torque that bring it there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from portico.robots.physics.legs.kinematics import ABDUCTION_M, HIPS_M, SIDES, leg_jacobian, leg_position

#: Masses (kg) as in models/spot.xml: trunk, and of each leg the hip, thigh and shank.
TRUNK_KG, HIP_KG, THIGH_KG, SHANK_KG = 16.7, 1.137, 2.256, 0.33
TOTAL_KG = TRUNK_KG + 4.0 * (HIP_KG + THIGH_KG + SHANK_KG)
#: Moments of inertia of the standing robot about its centre of mass, axes of the base, kg m^2.
INERTIA = np.array([0.62, 2.0, 2.1])
GRAVITY = 9.81


class Posture(NamedTuple):
    """How the body is held.

    Attributes:
        height_m: of the hips over the centres of the feet; crouch_m: lower on slippery ground.
        follow: share of the ground's slope that the body takes; steepest: tangent it takes at most.
        settle_s: time constant with which the height and slope follow the feet.
        pull, damp: acceleration per error (1/s^2) and per speed error (1/s), of place (x, y), height and attitude.
        leash_m, leash_rad: the place and the yaw to hold never are farther away than this.
        mass_kg: what the feet carry.
    """

    height_m: float = 0.47
    crouch_m: float = 0.1
    follow: float = 1.0
    steepest: float = 0.75
    settle_s: float = 0.1
    place_pull: float = 20.0
    place_damp: float = 12.0
    height_pull: float = 150.0
    height_damp: float = 18.0
    turn_pull: float = 220.0
    turn_damp: float = 22.0
    leash_m: float = 0.06
    leash_rad: float = 0.12
    mass_kg: float = TOTAL_KG


@njit(cache=True, nogil=True)
def sense(qpos, qvel, rotation, feet, jacobians, motion):  # type: ignore[no-untyped-def]
    """Read the state of the robot.

    Args:
        rotation: (3, 3) receives world from base. feet: (4, 3) receives the feet from the origin of the base, axes of the base.
        jacobians: (4, 3, 3) receives their derivatives by the joints.
        motion: (3, 3) receives the velocity of the centre of mass, the turning rate and the centre of mass from the base, world axes.
    """
    w, x, y, z = qpos[3], qpos[4], qpos[5], qpos[6]
    rotation[0, 0], rotation[0, 1], rotation[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    rotation[1, 0], rotation[1, 1], rotation[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    rotation[2, 0], rotation[2, 1], rotation[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    centre = np.array([0.0, 0.0, -0.005 * TRUNK_KG])
    for leg in range(4):
        joints, side = qpos[7 + 3 * leg : 10 + 3 * leg], SIDES[leg]
        leg_position(joints, side, feet[leg])
        leg_jacobian(joints, side, jacobians[leg])
        c, s = np.cos(joints[0]), np.sin(joints[0])
        thigh, shank = joints[1], joints[1] + joints[2]
        knee_x, knee_z = 0.025 * np.cos(thigh) - 0.3205 * np.sin(thigh), -0.025 * np.sin(thigh) - 0.3205 * np.cos(thigh)
        # First moments in the plane of the leg, turned by the abduction afterwards.
        ahead = THIGH_KG * (0.002 * np.cos(thigh) - 0.0788 * np.sin(thigh)) + SHANK_KG * (knee_x + 0.006 * np.cos(shank) - 0.1747 * np.sin(shank))
        down = -THIGH_KG * (0.002 * np.sin(thigh) + 0.0788 * np.cos(thigh)) + SHANK_KG * (knee_z - 0.006 * np.sin(shank) - 0.1747 * np.cos(shank))
        aside = side * (HIP_KG * 0.0086 + THIGH_KG * (ABDUCTION_M - 0.011) + SHANK_KG * ABDUCTION_M)
        mass = HIP_KG + THIGH_KG + SHANK_KG
        centre[0] += mass * HIPS_M[leg, 0] + ahead
        centre[1] += mass * HIPS_M[leg, 1] + aside * c - down * s
        centre[2] += aside * s + down * c
        for i in range(3):
            feet[leg, i] += HIPS_M[leg, i]
    for i in range(3):
        motion[1, i] = rotation[i, 0] * qvel[3] + rotation[i, 1] * qvel[4] + rotation[i, 2] * qvel[5]
        motion[2, i] = (rotation[i, 0] * centre[0] + rotation[i, 1] * centre[1] + rotation[i, 2] * centre[2]) / TOTAL_KG
    w_, r = motion[1], motion[2]
    motion[0, 0] = qvel[0] + w_[1] * r[2] - w_[2] * r[1]
    motion[0, 1] = qvel[1] + w_[2] * r[0] - w_[0] * r[2]
    motion[0, 2] = qvel[2] + w_[0] * r[1] - w_[1] * r[0]


@njit(cache=True, nogil=True)
def plane_through(feet, x, y, yaw, out):  # type: ignore[no-untyped-def]
    """Write height at (x, y) and the slopes ahead and aside, (3,), of the plane nearest to feet (4, 3) in the world."""
    c, s = np.cos(yaw), np.sin(yaw)
    normal, right = np.zeros((3, 3)), np.zeros(3)
    row = np.ones(3)
    for leg in range(4):
        dx, dy = feet[leg, 0] - x, feet[leg, 1] - y
        row[1], row[2] = c * dx + s * dy, -s * dx + c * dy
        for i in range(3):
            right[i] += row[i] * feet[leg, 2]
            for j in range(3):
                normal[i, j] += row[i] * row[j]
    # Feet in one line tell nothing about the slope across it.
    normal[1, 1] += 0.01
    normal[2, 2] += 0.01
    out[:] = np.linalg.solve(normal, right)


@njit(cache=True, nogil=True)
def reference_rotation(yaw, ahead, aside, out):  # type: ignore[no-untyped-def]
    """Write the rotation (3, 3) of a body heading to ``yaw`` on ground with these slopes."""
    c, s = np.cos(yaw), np.sin(yaw)
    n = 1.0 / np.sqrt(1.0 + ahead * ahead)
    x0, x1, x2 = c * n, s * n, ahead * n
    m = 1.0 / np.sqrt(1.0 + ahead * ahead + aside * aside)
    z0, z1, z2 = (-ahead * c + aside * s) * m, (-ahead * s - aside * c) * m, m
    out[0, 0], out[1, 0], out[2, 0] = x0, x1, x2
    out[0, 2], out[1, 2], out[2, 2] = z0, z1, z2
    out[0, 1], out[1, 1], out[2, 1] = z1 * x2 - z2 * x1, z2 * x0 - z0 * x2, z0 * x1 - z1 * x0


@njit(cache=True, nogil=True)
def needed_wrench(position, rotation, motion, wanted, wanted_rotation, velocity, turn_rate, posture, friction, firm, out):  # type: ignore[no-untyped-def]
    """Write force and torque (6,) on the centre of mass that bring the body to a pose, world axes.

    Args:
        position: (3,) of the base; rotation, motion: as ``sense`` writes them. wanted: (3,) position; wanted_rotation: (3, 3).
        velocity: (3,) wanted, turn_rate: (3,) wanted, world axes. friction: horizontal force asked for stays below this share of the weight.
        firm: 0 on slippery ground, where the pull to the place is softer, to 1.
    """
    across = 0.0
    for i in range(2):
        pull, damp = posture.place_pull * (0.25 + 0.75 * firm), posture.place_damp * (0.5 + 0.5 * firm)
        out[i] = posture.mass_kg * (pull * (wanted[i] - position[i]) + damp * (velocity[i] - motion[0, i]))
        across += out[i] * out[i]
    limit = friction * posture.mass_kg * GRAVITY
    if across > limit * limit:
        out[0] *= limit / np.sqrt(across)
        out[1] *= limit / np.sqrt(across)
    lift = GRAVITY + posture.height_pull * (wanted[2] - position[2]) + posture.height_damp * (velocity[2] - motion[0, 2])
    out[2] = posture.mass_kg * min(max(lift, 0.2 * GRAVITY), 2.0 * GRAVITY)
    error = wanted_rotation @ rotation.T
    turn = np.empty(3)
    turn[0], turn[1], turn[2] = 0.5 * (error[2, 1] - error[1, 2]), 0.5 * (error[0, 2] - error[2, 0]), 0.5 * (error[1, 0] - error[0, 1])
    push = rotation.T @ (posture.turn_pull * turn + posture.turn_damp * (turn_rate - motion[1]))
    out[3:] = rotation @ (posture.mass_kg / TOTAL_KG * INERTIA * push)
