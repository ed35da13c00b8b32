"""A Portico policy as a NavArena agent: its brief is made from the task and the first observation, its actions become waypoints."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from math import pi
from typing import Any

import numpy as np

from portico.errors import PolicyRefused
from portico.geometry import Pose
from portico.interface import ActionSpace, Body, Brief, Camera, Frame, Observation, Policy, StageBrief
from portico.policies.serving.navarena_session import Context
from portico.policies.serving.seats import Seats
from portico.policies.wires.messages import brief_of
from portico.policies.wires.navarena_values import EXTENSION, action_map, extended_observation, frame_of, pictures, stage_kind_of
from portico.policies.wires.structure import Mismatch, plain, shown

#: What NavArena's messages do not tell: its default robot and budget, and square corners between its cameras.
_BODY = Body("navarena", 0.4, 1.0, 0.1, 1.0, 1.0)
_MAX_ACTIONS = 500
_HFOV_RAD = 0.5 * pi
_YAWS_RAD = {"left": 0.5 * pi, "right": -0.5 * pi}
_CAMERA_HEIGHT_M = 0.88


class _Talk:
    """One episode of one client."""

    def __init__(self, policy: Policy, brief: Brief | None, task: Mapping[str, Any]) -> None:
        self.policy, self.brief, self.task = policy, brief, task
        self.start: Pose | None = None
        self.step = 0


class PolicyAgent:
    """Serves a policy to any number of clients, each with an instance of its own.

    Args:
        make: a fresh policy.

    Raises:
        PolicyRefused: the policy needs what never travels.
    """

    def __init__(self, make: Callable[[], Policy]) -> None:
        self._seats = Seats(make)
        self._talks: dict[tuple[str, str | None], _Talk] = {}
        self._lock = threading.Lock()

    def greeting(self) -> Mapping[str, Any]:
        """The policy's spec, which NavArena's protocol has no message for."""
        return {EXTENSION: plain(self._seats.spec)}

    def on_episode_start(self, context: Context, payload: Mapping[str, Any]) -> None:
        """Take a policy for the client, and reset it where its brief is known already.

        Raises:
            Mismatch: a task of no known type, or a brief that is none.
        """
        seat = self._seats.open(_name(context))
        task = context.task
        if EXTENSION in task:
            brief = brief_of(task[EXTENSION])
            seat.policy.reset(brief)
            talk = _Talk(seat.policy, brief, task)
        else:
            stage_kind_of(task.get("task_type"))
            talk = _Talk(seat.policy, None, task)
        with self._lock:
            self._talks[context.session_id, context.slot_id] = talk

    def predict(self, context: Context, observation: Mapping[str, Any]) -> Mapping[str, Any]:
        """Decide.

        Raises:
            Mismatch: an observation that cannot be read.
        """
        talk = self._talks[context.session_id, context.slot_id]
        extended = EXTENSION in observation
        seen = extended_observation(observation) if extended else _native_observation(talk, context, observation)
        if talk.brief is None:
            talk.brief = _native_brief(context, seen)
            talk.policy.reset(talk.brief)
        return action_map(talk.policy.act(seen), talk.brief.actions, seen, extended=extended)

    def on_episode_end(self, context: Context, result: Mapping[str, Any]) -> None:
        """Forget the episode; the client keeps its policy for the next one."""
        with self._lock:
            self._talks.pop((context.session_id, context.slot_id), None)
        if context.slot_id is not None:
            self._seats.leave(_name(context))

    def on_disconnect(self, session_id: str) -> None:
        """Let the client's policy go."""
        self._seats.leave(session_id)

    def close(self) -> None:
        """Let every policy go."""
        self._seats.close()


def _name(context: Context) -> str:
    return f"{context.session_id}{'' if context.slot_id is None else '/' + context.slot_id}"


def _native_observation(talk: _Talk, context: Context, data: Mapping[str, Any]) -> Observation:
    rgb, depth = pictures(data.get("rgb"), "rgb"), pictures(data.get("depth"), "depth")
    frames = {}
    for name in [*rgb, *(n for n in depth if n not in rgb)]:
        height, width = (rgb if name in rgb else depth)[name].shape[:2]
        camera = Camera(name, width, height, _HFOV_RAD, 0.0, 0.0, _CAMERA_HEIGHT_M, _YAWS_RAD.get(name, 0.0))
        frames[name] = frame_of(Frame(camera), rgb.get(name), depth.get(name))
    pose = _pose(data.get("pose"))
    talk.start = talk.start or pose
    return Observation(
        step=context.step,
        time_s=0.0,
        frames=frames,
        stage=_native_stage(context.task, data),
        odometry=pose.relative_to(talk.start) if pose and talk.start else None,
        pose=pose,
        number=context.step,
    )


def _native_stage(task: Mapping[str, Any], data: Mapping[str, Any]) -> StageBrief:
    kind = stage_kind_of(task.get("task_type"))
    goals = task.get("goals")
    goal = goals[0] if isinstance(goals, list) and goals else data.get("goal")
    position = goal.get("position") if isinstance(goal, dict) else None
    category = str(task.get("goal_category") or data.get("goal_category") or "")
    image = data.get("goal_image")
    words = {"point": "Go to the goal point and stop there.", "object": f"Find the {category} and stop next to it."}
    return StageBrief(
        kind=kind,
        index=0,
        count=1,
        instruction=str(task.get("instruction") or words.get(kind, "Find the place where the goal picture was taken and stop there.")),
        category=category,
        goal=_three(position) if kind == "point" and position is not None else None,
        goal_image=image if isinstance(image, np.ndarray) else None,
    )


def _native_brief(context: Context, seen: Observation) -> Brief:
    if not seen.frames:
        raise PolicyRefused("the first observation has no picture", next_step="send rgb or depth")
    cameras = tuple(frame.camera for frame in seen.frames.values())
    return Brief(context.episode_id, seen.stage.kind, (seen.stage.kind,), seen.stage, _BODY, cameras, ActionSpace(), "rgbd", _MAX_ACTIONS, 0)


def _pose(data: object) -> Pose | None:
    if data is None:
        return None
    if not isinstance(data, dict):
        raise Mismatch("observation.pose", "a map of position, rotation and yaw", shown(data))
    x, y, z = _three(data.get("position"))
    if isinstance(data.get("yaw"), int | float):
        return Pose(x, y, z, float(data["yaw"]))
    rotation = np.asarray(data.get("rotation"), np.float64)
    if rotation.shape != (4,):
        raise Mismatch("observation.pose.rotation", "four numbers x, y, z, w", shown(data.get("rotation")))
    qx, qy, qz, qw = rotation
    return Pose(x, y, z, float(np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))))


def _three(position: object) -> tuple[float, float, float]:
    values = np.asarray(position, np.float64).ravel() if isinstance(position, list | tuple | np.ndarray) else np.zeros(0)
    if len(values) not in (2, 3) or not np.isfinite(values).all():
        raise Mismatch("position", "two or three finite numbers", shown(position))
    return float(values[0]), float(values[1]), float(values[2]) if len(values) == 3 else 0.0
