"""What models say, as actions: x forward, y left, counter-clockwise, metres and radians."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, hypot, sin
from typing import Any

import numpy as np

from portico.geometry import Floats, Pose, wrap_angle
from portico.interface import Action, Body, PolicyFailure, Velocity, Waypoints
from portico.policies.wires.structure import shown

#: Robots take a waypoint nearer than this for reached; what is nearer is walked as a velocity.
_REACHED_M = 0.03


def hold(period_s: float) -> Action:
    """Stand still for a while."""
    return Velocity(0.0, 0.0, 0.0, period_s)


def polar(turn_rad: float, distance_m: float, body: Body, period_s: float) -> Action:
    """Turn left by an angle, then walk straight ahead, and keep that heading."""
    return step_to(Pose(distance_m * cos(turn_rad), distance_m * sin(turn_rad), 0.0, turn_rad), body, period_s)


def step_to(pose: Pose, body: Body, period_s: float) -> Action:
    """Go to a pose relative to the base; the smallest moves as well, and standing still where it is no move."""
    distance_m = hypot(pose.x, pose.y)
    if distance_m > _REACHED_M:
        return Waypoints((pose,))
    if distance_m == 0.0 and pose.yaw_rad == 0.0:
        return hold(period_s)
    lasts_s = max(period_s, distance_m / body.max_speed_mps, abs(pose.yaw_rad) / body.max_turn_radps)
    return Velocity(pose.x / lasts_s, pose.y / lasts_s, pose.yaw_rad / lasts_s, lasts_s)


def along(points: Floats, *, headings_rad: Floats | None = None, duration_s: float | None = None) -> Waypoints:
    """Waypoints through points (N, 2) relative to the base; headings along the way unless given."""
    poses = []
    before = np.zeros(2)
    yaw_rad = 0.0
    for i, point in enumerate(points):
        dx, dy = point - before
        if headings_rad is not None:
            yaw_rad = wrap_angle(float(headings_rad[i]))
        elif hypot(dx, dy) > 1e-6:
            yaw_rad = atan2(dy, dx)
        poses.append(Pose(float(point[0]), float(point[1]), 0.0, yaw_rad))
        before = point
    return Waypoints(tuple(poses), duration_s=duration_s)


def from_right_forward(points: Floats) -> Floats:
    """(N, 2) of x right, z forward as x forward, y left."""
    return np.stack([points[:, 1], -points[:, 0]], axis=1)


def to_right_forward(points: Floats) -> Floats:
    """(N, 2) of x forward, y left as x right, z forward."""
    return np.stack([-points[:, 1], points[:, 0]], axis=1)


def numbers(reply: dict[str, Any], key: str, shape: Sequence[int | None], where: str) -> Floats:
    """An array of finite numbers from an answer; None in ``shape`` is any length from 1 on.

    Raises:
        PolicyFailure: it is missing, of another shape, or not finite.
    """
    try:
        found = np.asarray(reply[key], np.float64)
    except KeyError as error:
        raise _invalid(where, key, shape, f"nothing; the answer has {', '.join(sorted(reply)) or 'no keys'}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise _invalid(where, key, shape, shown(reply[key])) from error
    fits = found.ndim == len(shape) and all(n >= 1 if wanted is None else n == wanted for n, wanted in zip(found.shape, shape, strict=True))
    if not fits:
        raise _invalid(where, key, shape, f"shape {found.shape}")
    if not np.isfinite(found).all():
        raise _invalid(where, key, shape, "a number that is not finite")
    return found


def _invalid(where: str, key: str, shape: Sequence[int | None], received: str) -> PolicyFailure:
    wanted = " x ".join("any" if n is None else str(n) for n in shape) or "one"
    return PolicyFailure(
        "invalid",
        "the policy's server answered with something that is no decision",
        where=where,
        why=f"{key}: expected finite numbers, {wanted}; received {received}",
        next_step="check that this server serves the model that the policy's name says",
    )
