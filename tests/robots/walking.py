"""Arenas for walking robots: a height field made from a function, and a loop that walks on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

import portico.robots.physics as physics
from portico.robots.physics.controller import CONTROL_PERIOD_S, Controller
from portico.robots.physics.legs import standing_joints

SPOT = Path(physics.__file__).parent / "models" / "spot.xml"
CELL_M = 0.05
Command = Callable[[float, "Arena"], tuple[float, float, float]]


def stairs(rise_m: float, count: int = 8, tread_m: float = 0.29, begin_m: float = 1.2):
    """Heights of a flight along x, up or, with a negative rise, down."""
    return lambda x, y: rise_m * np.clip(np.floor((x - begin_m) / tread_m) + 1, 0, count)


class Arena:
    """A Spot on ground whose heights a function of x and y gives; x from -1.5 m on, y around 0."""

    def __init__(
        self, shape=lambda x, y: 0.0 * x, *, length_m: float = 9.0, width_m: float = 4.0, friction: float | None = None, begin_m: float = -1.5
    ) -> None:
        self._x = begin_m + np.arange(round(length_m / CELL_M) + 1) * CELL_M
        self._y = -width_m / 2 + np.arange(round(width_m / CELL_M) + 1) * CELL_M
        self._height = shape(*np.meshgrid(self._x, self._y)) * 1.0
        spec = mujoco.MjSpec.from_file(str(SPOT))
        rows, columns = self._height.shape
        ramp = np.linspace(0.0, 1.0, rows * columns).tolist()
        spec.add_hfield(name="ground", nrow=rows, ncol=columns, size=[length_m / 2, width_m / 2, 8.0, 1.0], userdata=ramp)
        middle = [begin_m + length_m / 2, 0.0, -4.0]
        spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=middle, contype=1, conaffinity=2)
        self.model = spec.compile()
        self.model.hfield_data[:] = ((self._height + 4.0) / 8.0).ravel()
        if friction is not None:
            for leg in ("fl", "fr", "hl", "hr"):
                self.model.geom(f"{leg}_foot").friction[0] = friction
        self.data = mujoco.MjData(self.model)
        self.place()

    def heights(self, points):
        """Bilinear heights at points (N, 2)."""
        u = np.clip((points[:, 0] - self._x[0]) / CELL_M, 0.0, len(self._x) - 1.001)
        v = np.clip((points[:, 1] - self._y[0]) / CELL_M, 0.0, len(self._y) - 1.001)
        i, j = u.astype(int), v.astype(int)
        u, v, z = u - i, v - j, self._height
        return (1 - v) * ((1 - u) * z[j, i] + u * z[j, i + 1]) + v * ((1 - u) * z[j + 1, i] + u * z[j + 1, i + 1])

    def place(self, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> None:
        """Stand at rest."""
        mujoco.mj_resetData(self.model, self.data)
        qpos = self.data.qpos
        qpos[:3] = x, y, self.heights(np.array([[x, y]]))[0] + 0.51
        qpos[3:7] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
        qpos[7:] = standing_joints()
        self.data.ctrl[:] = qpos[7:]
        mujoco.mj_forward(self.model, self.data)

    @property
    def upright(self) -> float:
        """Cosine of the tilt."""
        x, y = self.data.qpos[4:6]
        return float(1.0 - 2.0 * (x * x + y * y))

    @property
    def yaw(self) -> float:
        """Heading, radians."""
        w, x, y, z = self.data.qpos[3:7]
        return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    def walk(self, controller: Controller, command: Command | tuple[float, float, float], seconds: float, *, reset: bool = True):
        """Let the controller drive until time is over or the robot has fallen; (T, 4) of x, y, z, unwrapped yaw."""
        if reset:
            controller.reset(self.data)
        track = []
        for k in range(round(seconds / CONTROL_PERIOD_S)):
            wanted = command(k * CONTROL_PERIOD_S, self) if callable(command) else command
            controller.control(self.data, np.array(wanted, float), self.heights)
            mujoco.mj_step(self.model, self.data, 4)
            track.append([*self.data.qpos[:3], self.yaw])
            if self.upright < 0.7:
                break
        out = np.array(track)
        out[:, 3] = np.unwrap(out[:, 3])
        return out


def along_x(speed_mps: float, until_m: float) -> Command:
    """Walk along x, steering back to y = 0, and stand from some x on."""

    def command(time_s: float, arena: Arena) -> tuple[float, float, float]:
        back = float(np.clip(-1.5 * arena.yaw - 0.5 * arena.data.qpos[1], -0.8, 0.8))
        return (speed_mps, 0.0, back) if arena.data.qpos[0] < until_m else (0.0, 0.0, 0.0)

    return command


def mean_velocity(track, skip_s: float = 1.5) -> tuple[float, float, float]:
    """Mean velocity ahead, aside and turning of a track, its beginning left out."""
    rest = track[round(skip_s / CONTROL_PERIOD_S) :]
    step, yaw = np.diff(rest[:, :2], axis=0), rest[:-1, 3]
    seconds = len(step) * CONTROL_PERIOD_S
    ahead = float((np.cos(yaw) * step[:, 0] + np.sin(yaw) * step[:, 1]).sum() / seconds)
    aside = float((np.cos(yaw) * step[:, 1] - np.sin(yaw) * step[:, 0]).sum() / seconds)
    return ahead, aside, float((rest[-1, 3] - rest[0, 3]) / seconds)
