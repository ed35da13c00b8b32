"""What a rollout must satisfy to be kept: clearance, the goal, continuous headings, the limits of motion, and controls that lead along it.

The checks look at nothing but states and controls; how a rollout was made is none of their business.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np
from numba import njit

from portico.episodes.experts.corners import wrapped
from portico.episodes.experts.limits import Limits
from portico.episodes.experts.rollout import Rollout
from portico.geometry import Floats, Pose

#: What finite steps may add to a limit.
_SLACK = 5e-3
#: Most that the controls, carried out one after the other, may lead off the states, metres and radians.
_DRIFT = 1e-6
COLLIDES, OFF_GOAL, JUMPS, TOO_FAST, DRIFTS = (
    "collides on its way",
    "ends off its goal",
    "the heading jumps",
    "breaks a limit of motion",
    "the controls lead elsewhere",
)


@dataclass(frozen=True)
class Extremes:
    """The most of everything that a rollout does; units as in ``Limits``.

    Attributes:
        turn_step_rad: largest change of heading in one step. drift: how far the controls, carried out, lead off the states.
    """

    speed_mps: float
    acceleration_mps2: float
    jerk_mps3: float
    lateral_mps2: float
    turn_radps: float
    turn_radps2: float
    turn_step_rad: float
    drift: float


def extremes(rollout: Rollout) -> Extremes:
    """Measure a rollout, from rest to rest."""
    return Extremes(*_extremes(rollout.states, rollout.velocities, rollout.dt_s))


def flaw(rollout: Rollout, stop: Pose, turned: bool, limits: Limits) -> str:
    """Why a rollout must not be kept, "" when it may.

    Args:
        stop: where it should end, ``turned`` whether with that heading too.
    """
    if not rollout.free:
        return COLLIDES
    last = rollout.states[-1]
    off = hypot(last[0] - stop.x, last[1] - stop.y)
    if not off <= limits.goal_m or (turned and not abs(wrapped(last[3] - stop.yaw_rad)) <= limits.heading_rad):
        return OFF_GOAL
    most = extremes(rollout)
    if not most.turn_step_rad <= limits.turn_radps * limits.dt_s * (1.0 + _SLACK):
        return JUMPS
    names = ("speed_mps", "acceleration_mps2", "jerk_mps3", "lateral_mps2", "turn_radps", "turn_radps2")
    if not all(getattr(most, name) <= getattr(limits, name) * (1.0 + _SLACK) for name in names):
        return TOO_FAST
    return "" if most.drift <= _DRIFT else DRIFTS


@njit(cache=True, nogil=True)
def _extremes(states: Floats, velocities: Floats, dt: float):  # type: ignore[no-untyped-def]
    most = np.zeros(8)
    x, y, yaw = states[0, 0], states[0, 1], states[0, 3]
    v_before, a_before, w_before = 0.0, 0.0, 0.0
    count = velocities.shape[0]
    # Two steps of rest after the last one: what stops must stop gently.
    for k in range(count + 2):
        v, w = (velocities[k, 0], velocities[k, 1]) if k < count else (0.0, 0.0)
        a, turn_a = (v - v_before) / dt, (w - w_before) / dt
        values = (abs(v), abs(a), abs(a - a_before) / dt, abs(v * w), abs(w), abs(turn_a))
        for i in range(6):
            most[i] = max(most[i], values[i])
        v_before, a_before, w_before = v, a, w
        if k < count:
            x, y, yaw = x + v * dt * cos(yaw), y + v * dt * sin(yaw), yaw + w * dt
            most[6] = max(most[6], abs(wrapped(states[k + 1, 3] - states[k, 3])))
            most[7] = max(most[7], hypot(x - states[k + 1, 0], y - states[k + 1, 1]), abs(wrapped(yaw - states[k + 1, 3])))
    return most
