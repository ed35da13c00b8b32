"""Kinematics of a leg with three joints: abduction (hx), hip (hy), knee (kn); closed forms, for one leg or many.

A leg position is that of the foot's centre from the abduction joint, in the frame of the base: x forward, y left, z up, metres. The knee
always points backwards. Legs are in the order fl, fr, hl, hr.
"""

from __future__ import annotations

from math import acos, atan2, cos, pi, sin, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Abduction joints in the base frame, (4, 3).
HIPS_M: Floats = np.array([[0.29785, 0.055, 0.0], [0.29785, -0.055, 0.0], [-0.29785, 0.055, 0.0], [-0.29785, -0.055, 0.0]])
#: Distance from the abduction axis to the plane of the leg; left legs stand to the left of it.
ABDUCTION_M = 0.110945
SIDES: Floats = np.array([1.0, -1.0, 1.0, -1.0])
#: The knee lies 0.3205 below and 0.025 before the hip axis: a link of this length, turned by this angle.
THIGH_M = sqrt(0.3205**2 + 0.025**2)
THIGH_TURN_RAD = atan2(0.025, 0.3205)
SHANK_M = 0.3365
FOOT_RADIUS_M = 0.036
#: Joint ranges (hx, hy, kn), (3, 2), radians.
RANGES_RAD: Floats = np.array([[-0.785, 0.785], [-0.899, 2.295], [-2.793, -0.247]])
#: Distances of the foot from the hip axis, in the plane of the leg, that the range of the knee allows.
_SHORTEST_M = sqrt(THIGH_M**2 + SHANK_M**2 + 2 * THIGH_M * SHANK_M * cos(RANGES_RAD[2, 0] + THIGH_TURN_RAD))
_LONGEST_M = sqrt(THIGH_M**2 + SHANK_M**2 + 2 * THIGH_M * SHANK_M * cos(RANGES_RAD[2, 1] + THIGH_TURN_RAD))
REACH_M = (_SHORTEST_M, _LONGEST_M)


@njit(cache=True, nogil=True)
def leg_position(joints, side, out):  # type: ignore[no-untyped-def]
    """Write where the foot is, (3,), for joints (hx, hy, kn); side is +1 on the left and -1 on the right."""
    thigh, shank = joints[1] - THIGH_TURN_RAD, joints[1] + joints[2]
    down = -THIGH_M * cos(thigh) - SHANK_M * cos(shank)
    c, s = cos(joints[0]), sin(joints[0])
    out[0] = -THIGH_M * sin(thigh) - SHANK_M * sin(shank)
    out[1] = side * ABDUCTION_M * c - down * s
    out[2] = side * ABDUCTION_M * s + down * c


@njit(cache=True, nogil=True)
def leg_jacobian(joints, side, out):  # type: ignore[no-untyped-def]
    """Write the derivative of the foot's position by the joints, (3, 3): row = axis, column = joint."""
    thigh, shank = joints[1] - THIGH_TURN_RAD, joints[1] + joints[2]
    ahead = -THIGH_M * sin(thigh) - SHANK_M * sin(shank)
    down = -THIGH_M * cos(thigh) - SHANK_M * cos(shank)
    c, s = cos(joints[0]), sin(joints[0])
    out[0, 0], out[1, 0], out[2, 0] = 0.0, -(side * ABDUCTION_M * s + down * c), side * ABDUCTION_M * c - down * s
    out[0, 1], out[1, 1], out[2, 1] = down, ahead * s, -ahead * c
    out[0, 2], out[1, 2], out[2, 2] = -SHANK_M * cos(shank), -SHANK_M * sin(shank) * s, SHANK_M * sin(shank) * c


@njit(cache=True, nogil=True)
def leg_joints(position, side, out):  # type: ignore[no-untyped-def]
    """Write the joints (hx, hy, kn) that put the foot at a position, or as near as the leg and its ranges allow; whether it is reached."""
    x, y, z = position[0], position[1], position[2]
    square = y * y + z * z - ABDUCTION_M * ABDUCTION_M
    reached = square > 1e-6
    down = -sqrt(max(square, 1e-6))
    hx = atan2(z, y) - atan2(down, side * ABDUCTION_M)
    if hx > pi:
        hx -= 2.0 * pi
    elif hx < -pi:
        hx += 2.0 * pi
    length = sqrt(x * x + down * down)
    kept = min(max(length, _SHORTEST_M), _LONGEST_M)
    if abs(kept - length) > 1e-9:
        reached = False
    bend = -acos(min(max((kept * kept - THIGH_M * THIGH_M - SHANK_M * SHANK_M) / (2.0 * THIGH_M * SHANK_M), -1.0), 1.0))
    thigh = atan2(-x, -down) - atan2(SHANK_M * sin(bend), THIGH_M + SHANK_M * cos(bend))
    out[0], out[1], out[2] = hx, thigh + THIGH_TURN_RAD, bend - THIGH_TURN_RAD
    for j in range(3):
        low, high = RANGES_RAD[j, 0], RANGES_RAD[j, 1]
        if out[j] < low - 1e-9 or out[j] > high + 1e-9:
            reached = False
        out[j] = min(max(out[j], low), high)
    return reached


@njit(cache=True, nogil=True)
def _forward(joints, sides, out):  # type: ignore[no-untyped-def]
    for n in range(joints.shape[0]):
        leg_position(joints[n], sides[n], out[n])


@njit(cache=True, nogil=True)
def _jacobians(joints, sides, out):  # type: ignore[no-untyped-def]
    for n in range(joints.shape[0]):
        leg_jacobian(joints[n], sides[n], out[n])


@njit(cache=True, nogil=True)
def _inverse(positions, sides, out, reached):  # type: ignore[no-untyped-def]
    for n in range(positions.shape[0]):
        reached[n] = leg_joints(positions[n], sides[n], out[n])


def forward(joints_rad: Floats, sides: Floats) -> Floats:
    """Feet from their abduction joints, (N, 3), for joints (N, 3) and sides (N,) of +1 (left) or -1 (right)."""
    out = np.empty_like(joints_rad)
    _forward(joints_rad, sides, out)
    return out


def jacobian(joints_rad: Floats, sides: Floats) -> Floats:
    """Derivatives of ``forward``, (N, 3, 3)."""
    out = np.empty((*joints_rad.shape, 3))
    _jacobians(joints_rad, sides, out)
    return out


def inverse(positions_m: Floats, sides: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Joints (N, 3) that put feet at positions (N, 3), and which of them are reached; others point there as far as ranges allow."""
    out, reached = np.empty_like(positions_m), np.empty(len(positions_m), np.bool_)
    _inverse(positions_m, sides, out, reached)
    return out, reached
