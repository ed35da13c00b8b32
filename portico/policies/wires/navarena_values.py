"""NavArena's observations and actions in Portico's terms and back: metres, radians, x forward, y left, counter-clockwise.

What NavArena has no word for travels under the key ``portico``, which other peers ignore: between two Porticos nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import cos, isfinite, sin
from typing import Any, get_args

import numpy as np

from portico.geometry import Pose
from portico.interface import Action, ActionSpace, Brief, Frame, Move, Observation, PolicyFailure, StageKind, Stop, Velocity, Waypoints
from portico.policies.wires.messages import action_data, action_of, observation_of
from portico.policies.wires.structure import Mismatch, plain, shown

EXTENSION = "portico"
TASK_TYPES: Mapping[StageKind, str] = {"point": "pointnav", "object": "objectnav", "image": "imagenav"}
#: Channels that NavArena has a place for.
_NATIVE_CHANNELS = ("rgb", "depth")


def task_data(brief: Brief, *, extended: bool) -> dict[str, Any]:
    """The payload of ``episode_start``."""
    stage = brief.stage
    task: dict[str, Any] = {
        "episode_id": brief.episode_key,
        "task_type": TASK_TYPES.get(stage.kind, stage.kind),
        "goals": [{"position": list(stage.goal)}] if stage.goal else [],
        "instruction": stage.instruction,
    }
    if stage.category:
        task["goal_category"] = stage.category
    if extended:
        task[EXTENSION] = plain(brief)
    return {"task": task}


def observation_data(observation: Observation, *, extended: bool) -> dict[str, Any]:
    """The payload of ``observation``: the pose is that of the world once released, else the odometry."""
    frames, stage = observation.frames, observation.stage
    data: dict[str, Any] = {"rgb": {name: f.rgb for name, f in frames.items() if f.rgb is not None}}
    if depth := {name: f.depth for name, f in frames.items() if f.depth is not None}:
        data["depth"] = depth
    pose = observation.pose or observation.odometry
    if pose is not None:
        data["pose"] = {"position": [pose.x, pose.y, pose.z], "rotation": [0.0, 0.0, sin(0.5 * pose.yaw_rad), cos(0.5 * pose.yaw_rad)], "yaw": pose.yaw_rad}
    if stage.category:
        data["goal_category"] = stage.category
    if stage.goal_image is not None:
        data["goal_image"] = stage.goal_image
    if stage.goal is not None:
        data["goal"] = {"position": list(stage.goal)}
    data["instruction"] = stage.instruction
    if extended:
        bare = {name: replace(f, rgb=None, depth=None) for name, f in frames.items()}
        data[EXTENSION] = plain(replace(observation, frames=bare))
    return data


def extended_observation(data: Mapping[str, Any]) -> Observation:
    """The observation that a Portico sent.

    Raises:
        Mismatch: something is missing or of another kind.
    """
    found = dict(data[EXTENSION])
    found["frames"] = {
        name: {**frame, **{channel: data[channel][name] for channel in _NATIVE_CHANNELS if name in data.get(channel, {})}}
        for name, frame in found.get("frames", {}).items()
    }
    return observation_of(found)


def action_map(action: Action, actions: ActionSpace, observation: Observation, *, extended: bool) -> dict[str, Any]:
    """An action in NavArena's terms: waypoints each relative to the pose before it, a velocity, or stop.

    Raises:
        PolicyFailure: NavArena has no word for it, and the other side is no Portico.
    """
    try:
        native = _native(action, actions, observation)
    except PolicyFailure:
        if not extended:
            raise
        native = {}
    return native | ({EXTENSION: action_data(action)} if extended else {})


def action_from(data: Mapping[str, Any], *, relative: str = "previous") -> Action:
    """The action of an answer.

    Args:
        relative: whether a waypoint is relative to the pose before it, ``previous``, or all to where the decision was made, ``decision``;
            the protocol does not say.

    Raises:
        Mismatch: no action, or one that cannot be carried out.
    """
    if EXTENSION in data:
        return action_of(data[EXTENSION])
    if data.get("stop") is True:
        return Stop()
    if "v" in data or "w" in data:
        return action_of(action_data(Velocity(_finite(data, "v"), 0.0, _finite(data, "w"), _finite(data, "dt"))))
    points = data.get("waypoints", [data] if "x" in data else None)
    if not isinstance(points, list) or not points:
        raise Mismatch("action", "waypoints, v w dt, or stop", shown(dict(data)))
    poses, here = [], Pose(0.0, 0.0)
    for i, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise Mismatch(f"action.waypoints.{i}", "a map of x, y, yaw", shown(point))
        x, y, yaw = (_finite(point, key, f"action.waypoints.{i}") for key in ("x", "y", "yaw"))
        local = Pose(x, y, 0.0, yaw)
        here = here.compose(local) if relative == "previous" else local
        poses.append(here)
    return Waypoints(tuple(poses))


def _native(action: Action, actions: ActionSpace, observation: Observation) -> dict[str, Any]:
    match action:
        case Stop():
            return {"stop": True}
        case Move():
            amount = actions.amount_of(action)
            x = {"forward": amount, "backward": -amount}.get(action.name, 0.0)
            yaw = {"turn_left": amount, "turn_right": -amount}.get(action.name, 0.0)
            return {"waypoints": [{"x": x, "y": 0.0, "yaw": yaw}]}
        case Velocity():
            if action.vy_mps != 0.0:
                raise PolicyFailure("unsupported", "NavArena's velocity has no sideways part", why=f"the policy asked for {action}")
            return {"v": action.vx_mps, "w": action.wz_radps, "dt": action.duration_s}
    poses, before = _in_base(action, observation), Pose(0.0, 0.0)
    relative = []
    for pose in poses:
        step = pose.relative_to(before)
        relative.append({"x": step.x, "y": step.y, "yaw": step.yaw_rad})
        before = pose
    return {"waypoints": relative}


def _in_base(action: Waypoints, observation: Observation) -> tuple[Pose, ...]:
    """The poses relative to the base as it stands."""
    if action.frame == "base":
        return action.poses
    here = observation.odometry if action.frame == "odometry" else observation.pose
    if here is None:
        raise PolicyFailure("unsupported", f"waypoints in the frame {action.frame!r} without a pose in it", next_step="return waypoints in the frame 'base'")
    return tuple(p.relative_to(here) for p in action.poses)


def _finite(data: Mapping[str, Any], key: str, where: str = "action") -> float:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise Mismatch(f"{where}.{key}", "a finite number", shown(value))
    return float(value)


def stage_kind_of(task_type: object) -> StageKind:
    """The stage that a task type asks for.

    Raises:
        Mismatch: none does.
    """
    kinds: dict[object, StageKind] = {kind: kind for kind in get_args(StageKind)}
    kinds |= {name: kind for kind, name in TASK_TYPES.items()}
    if task_type not in kinds:
        raise Mismatch("task.task_type", f"one of {', '.join(map(str, kinds))}", shown(task_type))
    return kinds[task_type]


def pictures(found: object, name: str) -> dict[str, np.ndarray]:
    """Camera -> picture; a bare array stands for one camera called ``face``.

    Raises:
        Mismatch: neither.
    """
    if found is None:
        return {}
    if isinstance(found, np.ndarray):
        return {"face": found}
    if not isinstance(found, dict) or not all(isinstance(picture, np.ndarray) for picture in found.values()):
        raise Mismatch(f"observation.{name}", "a picture per camera", shown(found))
    return found


def frame_of(frame: Frame, rgb: np.ndarray | None, depth: np.ndarray | None) -> Frame:
    """A frame with NavArena's channels: depth (H, W) or (H, W, 1) in metres."""
    if depth is not None and depth.ndim == 3:
        depth = depth[:, :, 0]
    return replace(frame, rgb=rgb, depth=None if depth is None else depth.astype(np.float32))
