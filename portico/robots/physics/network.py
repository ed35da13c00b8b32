"""Velocity policies in ONNX: any network whose layout a robot file can state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from portico.errors import UserError
from portico.geometry import Floats
from portico.robots.physics.controller import CONTROL_PERIOD_S, Heights
from portico.robots.physics.drive import actuator_of
from portico.robots.robot_file import Network, Numbers, Term

_INSTALL = "pip install 'portico-nav[onnx]'"


class NetworkController:
    """Runs a network 50 times a second on what the robot file says it sees.

    Args:
        spec: the robot file's controller. folder: of the robot file. model: the robot's; its actuators get the file's gains.
        base_qpos, base_qvel: first index of the free joint.

    Raises:
        UserError: onnxruntime is missing, the file is no network, or its sizes differ from what the robot file adds up to.
    """

    def __init__(self, spec: Network, folder: Path, model: Any, base_qpos: int, base_qvel: int) -> None:
        self._spec, self._qpos, self._qvel = spec, base_qpos, base_qvel
        self._session, self._input = _session(folder / spec.file)
        self._actuators = np.array([actuator_of(model, joint) for joint in spec.joints])
        count = len(spec.joints)
        self._default, self._scale = _spread(spec.default, count, "default"), _spread(spec.action_scale, count, "action_scale")
        _set_gains(model, self._actuators, spec)
        self._held = {actuator_of(model, joint): angle for joint, angle in spec.hold.items()}
        self._action = np.zeros(count)
        self._command, self._asked, self._velocity, self._added = (np.zeros(3) for _ in range(4))
        self._terms = [self._reader(term, model) for term in spec.observation]
        self._check_sizes(mujoco.MjData(model), folder / spec.file)

    def reset(self, data: mujoco.MjData) -> None:
        """Forget the last action and hold the default pose."""
        self._action = np.zeros(len(self._actuators))
        self._command, self._asked, self._velocity, self._added = (np.zeros(3) for _ in range(4))
        self._write(data)

    def control(self, data: mujoco.MjData, command: Floats, heights: Heights) -> None:
        """Joint targets for the next period; the network is blind, ``heights`` go unused."""
        change = np.inf if self._spec.slew is None else np.array(self._spec.slew)
        self._command += np.clip(command - self._command, -change, change)
        self._asked = self._command + self._trimmed(data)
        action = self._infer(self._observation(data))
        self._action = action if self._spec.action_clip is None else np.clip(action, -self._spec.action_clip, self._spec.action_clip)
        self._write(data)

    def _trimmed(self, data: mujoco.MjData) -> Floats:
        """What is added to the command, (3,)."""
        trim = self._spec.trim
        if trim is None:
            return self._added
        R = self._rotation(data)
        ahead = R[:2, 0] / max(float(np.hypot(R[0, 0], R[1, 0])), 1e-6)
        vx, vy = data.qvel[self._qvel : self._qvel + 2]
        velocity = np.array([ahead[0] * vx + ahead[1] * vy, -ahead[1] * vx + ahead[0] * vy, data.qvel[self._qvel + 5]])
        self._velocity += CONTROL_PERIOD_S / (trim.smooth_s + CONTROL_PERIOD_S) * (velocity - self._velocity)
        most = np.array(trim.most)
        self._added = np.clip(self._added + np.array(trim.gain) * (self._command - self._velocity) * CONTROL_PERIOD_S, -most, most)
        return self._added

    def _write(self, data: mujoco.MjData) -> None:
        data.ctrl[self._actuators] = self._default + self._scale * self._action
        for actuator, angle in self._held.items():
            data.ctrl[actuator] = angle

    def _observation(self, data: mujoco.MjData) -> Floats:
        return np.concatenate([read(data) for read in self._terms])

    def _infer(self, observation: Floats) -> Floats:
        (out,) = self._session.run(None, {self._input: observation.astype(np.float32)[None]})[:1]
        return np.asarray(out, np.float64).ravel()

    def _reader(self, term: Term, model: Any) -> Callable[[Any], Floats]:
        quantity = self._quantity(term, model)
        count = len(quantity(mujoco.MjData(model)))
        scale, offset = _spread(term.scale, count, f"{term.name}.scale"), _spread(term.offset, count, f"{term.name}.offset")
        bound = np.inf if term.clip is None else term.clip
        return lambda data: np.clip((quantity(data) - offset) * scale, -bound, bound)

    def _quantity(self, term: Term, model: Any) -> Callable[[Any], Floats]:
        """The raw quantity of a term; velocities and gravity in the base's own frame."""
        v, joints = self._qvel, term.joints or self._spec.joints
        match term.name:
            case "linear_velocity":
                return lambda data: self._rotation(data).T @ data.qvel[v : v + 3]
            case "angular_velocity":
                return lambda data: data.qvel[v + 3 : v + 6].copy()
            case "gravity":
                return lambda data: -self._rotation(data)[2]
            case "command":
                return lambda data: self._asked
            case "joint_position":
                at = np.array([_joint(model, j).qposadr[0] for j in joints])
                return lambda data: data.qpos[at]
            case "joint_velocity":
                speed_at = np.array([_joint(model, j).dofadr[0] for j in joints])
                return lambda data: data.qvel[speed_at]
            case "last_action":
                return lambda data: self._action
            case "constant":
                values = np.array(term.values, np.float64)
                return lambda data: values

    def _rotation(self, data: Any) -> Floats:
        """(3, 3): base to world."""
        flat = np.empty(9)
        mujoco.mju_quat2Mat(flat, data.qpos[self._qpos + 3 : self._qpos + 7])
        return flat.reshape(3, 3)

    def _check_sizes(self, data: Any, file: Path) -> None:
        given = len(self._observation(data))
        wanted = self._session.get_inputs()[0].shape[-1]
        if isinstance(wanted, int) and wanted != given:
            parts = ", ".join(f"{term.name} {len(read(data))}" for term, read in zip(self._spec.observation, self._terms, strict=True))
            raise UserError(
                "the network takes another observation than the robot file describes",
                where=str(file),
                why=f"it takes {wanted} numbers, the file adds up to {given}: {parts}",
                next_step="correct `observation` in the robot file",
            )
        try:
            out = self._infer(np.zeros(given))
        except Exception as error:
            shapes = ", ".join(f"{one.name} {one.shape}" for one in self._session.get_inputs())
            raise UserError(
                "the network cannot be run on one observation of a robot",
                where=str(file),
                why=f"it takes {shapes}; {str(error).split(chr(10))[0]}",
                next_step=f"export it with one input of shape [1, {given}], float32, and the joints' actions as its first output",
            ) from error
        if len(out) != len(self._spec.joints):
            raise UserError(
                "the network moves another number of joints than the robot file names",
                where=str(file),
                why=f"it returns {len(out)} numbers for {len(self._spec.joints)} joints",
                next_step="correct `joints` in the robot file",
            )


def _session(file: Path) -> tuple[Any, str]:
    try:
        import onnxruntime
    except ImportError as error:
        raise UserError("this robot is driven by an ONNX network, and onnxruntime is not installed", where=str(file), next_step=_INSTALL) from error
    if not file.is_file():
        raise UserError("the network's file is missing", where=str(file), next_step="correct `file` in the robot file; it is relative to that file")
    options = onnxruntime.SessionOptions()
    # One thread: a fixed order of sums, and no thread per simulator.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise UserError("the network cannot be read", where=str(file), why=str(error).split("\n")[0], next_step="export it to ONNX again") from error
    return session, session.get_inputs()[0].name


def _set_gains(model: Any, actuators: Any, spec: Network) -> None:
    """Make position servos with the file's gains of whatever actuators the model has."""
    if spec.kp is None:
        return
    kp, kd = _spread(spec.kp, len(actuators), "kp"), _spread(spec.kd or 0.0, len(actuators), "kd")
    was_motor = model.actuator_biastype[actuators] == mujoco.mjtBias.mjBIAS_NONE
    model.actuator_gaintype[actuators] = mujoco.mjtGain.mjGAIN_FIXED
    model.actuator_biastype[actuators] = mujoco.mjtBias.mjBIAS_AFFINE
    model.actuator_gainprm[actuators, 0] = kp
    model.actuator_biasprm[actuators, 1] = -kp
    model.actuator_biasprm[actuators, 2] = -kd
    # Inputs are angles now: what bounded a motor's torque bounds the servo's.
    motors = (model.actuator_ctrllimited[actuators] != 0) & (model.actuator_forcelimited[actuators] == 0) & was_motor
    model.actuator_forcerange[actuators[motors]] = model.actuator_ctrlrange[actuators[motors]]
    model.actuator_forcelimited[actuators[motors]] = 1
    model.actuator_ctrllimited[actuators] = 0


def _spread(values: Numbers, count: int, what: str) -> Floats:
    """One number for all, or as many as there are."""
    array = np.atleast_1d(np.asarray(values, np.float64))
    if len(array) not in (1, count):
        raise UserError(f"{what} holds {len(array)} numbers for {count}", next_step="give one for all, or one for each, in the robot file")
    return np.broadcast_to(array, (count,)).copy()


def _joint(model: Any, name: str) -> Any:
    names = [model.joint(j).name for j in range(model.njnt)]
    if name not in names:
        raise UserError(
            f"the robot's model has no joint {name!r}", why=f"it has {', '.join(n for n in names if n)}", next_step="correct the robot file or the model"
        )
    return model.joint(name)
