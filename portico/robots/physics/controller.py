"""What drives a body under physics: a controller turns a body velocity into actuator controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Terrain heights: points_world (N, 2), metres -> z (N,), metres.
Heights = Callable[[Floats], Floats]

#: Seconds between two calls of ``Controller.control``.
CONTROL_PERIOD_S = 0.02


class Controller(Protocol):
    """Turns a body velocity into actuator controls, 50 times a second."""

    def reset(self, data: mujoco.MjData) -> None:
        """Forget what happened before; data holds the pose to start from."""

    def control(self, data: mujoco.MjData, command: Floats, heights: Heights) -> None:
        """Write ``data.ctrl`` for the next ``CONTROL_PERIOD_S``.

        Args:
            data: state of the robot, its free joint first in ``qpos``.
            command: (vx, vy, wz) in m/s and rad/s, in the heading frame of the base: x forward and level, y left, z up.
            heights: of the terrain near the robot, in the world frame.
        """


#: Legs in the order of joints, actuators and feet.
LEGS = ("fl", "fr", "hl", "hr")


def foot_touch(model: Any) -> NDArray[np.intp]:
    """Where the touch sensors of the feet (fl, fr, hl, hr) stand in ``data.sensordata``, (4,)."""
    return np.array([model.sensor_adr[model.sensor(f"{leg}_touch").id] for leg in LEGS])
