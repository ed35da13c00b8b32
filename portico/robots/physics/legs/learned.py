"""A walker with reflexes that were learned: a small network corrects footholds and joints of the model-based walker."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.errors import UserError
from portico.robots.physics.controller import Heights
from portico.robots.physics.legs.gait import leg_phase
from portico.robots.physics.legs.kinematics import HIPS_M
from portico.robots.physics.legs.memory import Memory
from portico.robots.physics.legs.walker import Walker, standing_joints
from portico.robots.robot_file import LEARNED_WEIGHTS

Floats = NDArray[np.float64]

#: Heights are looked at on this grid around the base, metres ahead and aside.
_AHEAD, _ASIDE = np.linspace(-0.6, 0.75, 10), np.array([-0.3, -0.15, 0.0, 0.15, 0.3])
SEEN = len(_AHEAD) * len(_ASIDE)
#: Twelve joint offsets and, for each leg, how far ahead and aside its foothold moves.
ACTIONS = 20
JOINT_RAD, FOOT_M = 0.1, 0.08
OBSERVED = 3 + 3 + 3 + 3 + 12 + 12 + ACTIONS + 8 + 4 + 12 + 3 + SEEN
_STANDING = standing_joints()


class Network(NamedTuple):
    """A multilayer perceptron with tanh between its layers.

    Attributes:
        mean, scale: (OBSERVED,) of what it was trained on; inputs are (x - mean) * scale, cut at 5.
        weights, biases: of its layers, (in, out) and (out,); the last layer has ACTIONS outputs.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __call__(self, observed: NDArray[np.float32]) -> NDArray[np.float32]:
        """Actions (..., ACTIONS) for observations (..., OBSERVED), not cut to -1 to 1."""
        x = np.clip((observed - self.mean) * self.scale, -5.0, 5.0)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.tanh(x @ weight + bias)
        out: NDArray[np.float32] = x @ self.weights[-1] + self.biases[-1]
        return out

    def save(self, path: Path) -> None:
        """Write a file that ``load_network`` reads."""
        arrays: dict[str, Any] = {"mean": self.mean, "scale": self.scale}
        arrays |= {f"weight{n}": w for n, w in enumerate(self.weights)} | {f"bias{n}": b for n, b in enumerate(self.biases)}
        np.savez_compressed(path, **arrays)


def load_network(path: Path = LEARNED_WEIGHTS) -> Network:
    """Read trained weights.

    Raises:
        UserError: no such file, none of weights, or of another shape than this version observes and acts.
    """
    if not path.is_file():
        raise UserError("no weights for the learned walker", where=str(path), next_step=f"train them: python training/locomotion.py --out {path.parent}")
    anew = "train them anew: python training/locomotion.py"
    try:
        with np.load(path) as file:
            count = sum(name.startswith("weight") for name in file.files)
            network = Network(file["mean"], file["scale"], tuple(file[f"weight{n}"] for n in range(count)), tuple(file[f"bias{n}"] for n in range(count)))
        given = network(np.zeros(len(network.mean), np.float32)).shape
    except (OSError, KeyError, IndexError, ValueError, TypeError, BadZipFile) as error:
        raise UserError("the weights of the learned walker cannot be read", where=str(path), why=str(error), next_step=anew) from error
    if network.mean.shape != (OBSERVED,) or given != (ACTIONS,):
        shape = f"it takes {network.mean.shape} and gives {given}, this version has {OBSERVED} and {ACTIONS}"
        raise UserError("the weights of the learned walker do not fit", where=str(path), why=shape, next_step=anew)
    return network


class Reflexes:
    """A walker that can be corrected: what the network sees, and what its actions do.

    Args:
        walker: to correct; its memory is read and nudged.
    """

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.last = np.zeros(ACTIONS, np.float32)
        self._points = np.empty((SEEN, 2))

    def reset(self, data: mujoco.MjData) -> None:
        """See ``Controller``."""
        self.walker.reset(data)
        self.last[:] = 0.0

    def observe(self, data: mujoco.MjData, command: Floats, heights: Heights, out: NDArray[np.float32]) -> None:
        """Write an observation (OBSERVED,)."""
        _grid(data.qpos, self._points)
        _observe(data.qpos, data.qvel, command, heights(self._points), self.walker.memory, self.last, out)

    def act(self, data: mujoco.MjData, command: Floats, heights: Heights, action: NDArray[np.float32]) -> None:
        """Write ``data.ctrl`` for an action (ACTIONS,), cut to -1 to 1; a robot that stands is not corrected."""
        memory = self.walker.memory
        self.last[:] = np.clip(action, -1.0, 1.0)
        memory.nudge[:] = FOOT_M * self.last[12:].reshape(4, 2)
        self.walker.control(data, command, heights)
        if memory.moving[0]:
            data.ctrl[:12] += JOINT_RAD * self.last[:12]


class LearnedWalker:
    """The walker with trained reflexes; a ``Controller``.

    Args:
        model: as for ``Walker``. network: trained weights.
    """

    def __init__(self, model: mujoco.MjModel, network: Network | None = None) -> None:
        self._network = network or load_network()
        self._reflexes = Reflexes(Walker(model))
        self._observed = np.zeros(OBSERVED, np.float32)

    @property
    def memory(self) -> Memory:
        """That of the walker inside."""
        return self._reflexes.walker.memory

    def reset(self, data: mujoco.MjData) -> None:
        """Start from rest, in the pose of data."""
        self._reflexes.reset(data)

    def control(self, data: mujoco.MjData, command: Floats, heights: Heights) -> None:
        """Write ``data.ctrl``, see ``Controller``."""
        self._reflexes.observe(data, command, heights, self._observed)
        self._reflexes.act(data, command, heights, self._network(self._observed))


@njit(cache=True, nogil=True)
def _heading(qpos):  # type: ignore[no-untyped-def]
    w, x, y, z = qpos[3], qpos[4], qpos[5], qpos[6]
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@njit(cache=True, nogil=True)
def _grid(qpos, points):  # type: ignore[no-untyped-def]
    yaw = _heading(qpos)
    c, s, n = np.cos(yaw), np.sin(yaw), 0
    for ahead in _AHEAD:
        for aside in _ASIDE:
            points[n, 0], points[n, 1] = qpos[0] + c * ahead - s * aside, qpos[1] + s * ahead + c * aside
            n += 1


@njit(cache=True, nogil=True)
def _observe(qpos, qvel, command, seen, m, last, out):  # type: ignore[no-untyped-def]
    """Write (OBSERVED,): command, gravity, velocity, turning rate, joints and their rates, last action, phases, flights, feet, ground."""
    w, x, y, z = qpos[3], qpos[4], qpos[5], qpos[6]
    yaw = _heading(qpos)
    c, s = np.cos(yaw), np.sin(yaw)
    out[0:3] = command
    out[3], out[4], out[5] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    out[6], out[7], out[8] = c * qvel[0] + s * qvel[1], c * qvel[1] - s * qvel[0], qvel[2]
    out[9:12] = qvel[3:6]
    for j in range(12):
        out[12 + j] = qpos[7 + j] - _STANDING[j]
        out[24 + j] = 0.1 * qvel[6 + j]
    n = 36
    out[n : n + ACTIONS] = last
    n += ACTIONS
    for leg in range(4):
        phase = 2.0 * np.pi * leg_phase(m.phase[0], leg)
        out[n + 2 * leg], out[n + 2 * leg + 1] = np.sin(phase), np.cos(phase)
        out[n + 8 + leg] = 1.0 if m.swinging[leg] else 0.0
        target = m.land[leg] if m.swinging[leg] else m.foot[leg]
        dx, dy = target[0] - qpos[0], target[1] - qpos[1]
        a = n + 12 + 3 * leg
        out[a], out[a + 1], out[a + 2] = c * dx + s * dy - HIPS_M[leg, 0], c * dy - s * dx - HIPS_M[leg, 1], target[2] - qpos[2] + 0.5
    n += 24
    out[n], out[n + 1], out[n + 2] = m.plane[1], m.plane[2], qpos[2] - m.plane[0] - 0.5
    n += 3
    for k in range(SEEN):
        out[n + k] = min(max(seen[k] - m.plane[0], -0.6), 0.6)
