"""Wheels: a body velocity becomes wheel speeds; legs that carry wheels hold their stance."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from portico.errors import UserError
from portico.geometry import Floats
from portico.robots.physics.controller import Heights
from portico.robots.robot_file import Differential

#: Wheel speed changes no faster than this along the ground, m/s², so that a light body does not tip.
_ACCELERATION_MPS2 = 1.5
_PERIOD_S = 0.02


class DifferentialDrive:
    """Turns left and right wheels at different speeds; several wheels a side skid when they turn.

    Args:
        spec: the robot file's controller.
        model: MuJoCo model with an actuator per wheel, named after its joint or acting on it.
    """

    def __init__(self, spec: Differential, model: Any) -> None:
        self._spec = spec
        self._left, self._right = (np.array([actuator_of(model, joint) for joint in side]) for side in (spec.left, spec.right))
        self._held = {actuator_of(model, joint): angle for joint, angle in spec.hold.items()}
        self._speeds = np.zeros(2)

    def reset(self, data: mujoco.MjData) -> None:
        """Stand still."""
        self._speeds[:] = 0.0
        data.ctrl[:] = 0.0
        self._hold(data)

    def control(self, data: mujoco.MjData, command: Floats, heights: Heights) -> None:
        """Wheel speeds for (vx, vy, wz); vy is beyond a wheel."""
        half = 0.5 * self._spec.track_m * self._spec.slip
        wanted = np.array([command[0] - half * command[2], command[0] + half * command[2]])
        change = _ACCELERATION_MPS2 * _PERIOD_S
        self._speeds += np.clip(wanted - self._speeds, -change, change)
        data.ctrl[self._left] = self._speeds[0] / self._spec.wheel_radius_m
        data.ctrl[self._right] = self._speeds[1] / self._spec.wheel_radius_m
        self._hold(data)

    def _hold(self, data: mujoco.MjData) -> None:
        for actuator, angle in self._held.items():
            data.ctrl[actuator] = angle


def actuator_of(model: Any, joint: str) -> int:
    """Number of the actuator that drives a joint.

    Raises:
        UserError: the model has no such joint, or nothing drives it.
    """
    names = [model.joint(j).name for j in range(model.njnt)]
    if joint not in names:
        raise UserError(
            f"the robot's model has no joint {joint!r}", why=f"it has {', '.join(n for n in names if n)}", next_step="correct the robot file or the model"
        )
    number = model.joint(joint).id
    driven = np.flatnonzero((model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == number))
    if len(driven) == 0:
        raise UserError(f"nothing drives the joint {joint!r}", next_step="give it an actuator in the model, or under `actuators` in the robot file")
    return int(driven[0])
