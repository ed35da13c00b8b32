"""One episode and one trajectory as rows of the tables, and the tables' columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, dist, hypot, isfinite, sin, sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from portico.errors import EpisodeError
from portico.geometry import Floats, Pose, wrap_angle

FORMAT_VERSION = "1.0.0"
SPLITS = ("train", "val_seen", "val_unseen", "test")
#: Labels of steps, for people; what a policy learns from are poses and velocities. The fourth is never shown with a number [I].
ACTIONS = ("start", "forward", "turn", "stop")
START, FORWARD, TURN, STOP = range(4)

_XYZ, _XYZW = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
#: Below these a robot stands, metres and radians per second.
_STANDS_MPS, _STANDS_RADPS = 1e-6, 1e-6
_UNIT, _UPRIGHT = 1e-3, 1e-3


def _columns(kind: Any, *names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names]


EPISODES = pa.schema(
    [
        ("episode_id", pa.string()),
        ("chunk_index", pa.int32()),
        *_columns(pa.string(), "scene_path", "task_type", "split"),
        *_columns(pa.float64(), *(f"start_position_{a}" for a in _XYZ), *(f"start_rotation_{a}" for a in _XYZW)),
        ("goal_type", pa.string()),
        *_columns(pa.float64(), *(f"goal_position_{a}" for a in _XYZ), *(f"goal_rotation_{a}" for a in _XYZW)),
        *_columns(pa.float32(), "geodesic_distance", "euclidean_distance"),
        ("num_steps", pa.int32()),
        *_columns(pa.float32(), "total_time", "avg_speed", "max_speed"),
        *_columns(pa.string(), "goal_image_path", "instruction_text"),
    ]
)
#: The format's logical record names an object goal's category, its table has no column for it: these come after the others.
OBJECT_COLUMNS = _columns(pa.string(), "object_category", "object_id")
TRAJECTORIES = pa.schema(
    [
        ("episode_id", pa.string()),
        ("step", pa.int32()),
        ("timestamp", pa.float64()),
        *_columns(pa.float64(), *(f"position_{a}" for a in _XYZ), *(f"rotation_{a}" for a in _XYZW)),
        ("action", pa.string()),
        ("action_id", pa.int8()),
        *_columns(pa.float32(), "linear_velocity", "angular_velocity", "linear_velocity_x", "linear_velocity_y", "angular_acceleration", "curvature"),
    ]
)


def quaternion_xyzw(yaw_rad: float) -> tuple[float, float, float, float]:
    """The rotation by a yaw, counter-clockwise from +x, as (qx, qy, qz, qw)."""
    return (0.0, 0.0, sin(0.5 * yaw_rad), cos(0.5 * yaw_rad))


def yaw_of(x: float, y: float, z: float, w: float) -> float:
    """The yaw of a rotation (qx, qy, qz, qw) of a body that stands upright.

    Raises:
        ValueError: it is no rotation, or one that leans: the mark of (qw, qx, qy, qz).
    """
    length = sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) <= _UNIT:
        raise ValueError(f"its length is {length:g}, not 1")
    if hypot(x, y) > _UPRIGHT:
        raise ValueError("it leans: qx and qy must be 0, and qw comes last")
    return wrap_angle(2.0 * atan2(z, w))


@dataclass(frozen=True)
class EpisodeRow:
    """One episode before it has an id.

    Attributes:
        start: where it begins. goal: metres; its yaw counts for ``image`` and where ``goal_turned``.
        goal_type: position, image or object.
        geodesic_m: length of the shortest path.
    """

    start: Pose
    goal: Pose
    goal_type: str
    geodesic_m: float
    goal_turned: bool = False
    goal_image_path: str | None = None
    instruction: str | None = None
    object_category: str | None = None
    object_id: str | None = None


@dataclass(frozen=True)
class Trajectory:
    """What the expert did, sampled at its own times.

    Attributes:
        time_s: (N,) from 0, increasing. poses: (N, 4) x, y, z in metres and yaw in radians, world frame.
        velocity: (N, 3) forward and left in metres per second, counter-clockwise turn in radians per second, in the body's frame.
    """

    time_s: Floats
    poses: Floats
    velocity: Floats

    def __post_init__(self) -> None:
        count = len(self.time_s)
        if self.poses.shape != (count, 4) or self.velocity.shape != (count, 3):
            raise ValueError(f"{count} times, poses of shape {self.poses.shape} and velocities of shape {self.velocity.shape} do not belong together")
        if not all(np.isfinite(values).all() for values in (self.time_s, self.poses, self.velocity)) or (np.diff(self.time_s) <= 0.0).any():
            raise ValueError("a trajectory's values are finite and its times increase")

    @property
    def speed_mps(self) -> Floats:
        """(N,) speed along the ground."""
        return np.asarray(np.hypot(self.velocity[:, 0], self.velocity[:, 1]))


def trajectory_table(episode_ids: Sequence[str], trajectories: Sequence[Trajectory]) -> Any:
    """The rows of some episodes' trajectories, one after the other, as a pyarrow table of ``TRAJECTORIES``."""
    counts = np.array([len(t.time_s) for t in trajectories], np.int64)
    episode, firsts = np.repeat(np.arange(len(counts)), counts), (np.cumsum(counts) - counts)[counts > 0]
    time_s, poses, velocity = (np.concatenate([getattr(t, name) for t in trajectories]) for name in ("time_s", "poses", "velocity"))
    speed, turn = np.hypot(velocity[:, 0], velocity[:, 1]), velocity[:, 2]
    half, nothing = 0.5 * poses[:, 3], np.zeros(len(time_s))
    acceleration, elapsed = np.diff(turn, prepend=0.0), np.diff(time_s, prepend=-1.0)
    acceleration[firsts], elapsed[firsts] = 0.0, 1.0
    labels = np.where(speed > _STANDS_MPS, FORWARD, np.where(np.abs(turn) > _STANDS_RADPS, TURN, STOP)).astype(np.int8)
    labels[firsts], labels[firsts + counts[counts > 0] - 1] = START, STOP
    columns: dict[str, Any] = {
        "episode_id": _names(episode, episode_ids),
        "step": np.arange(len(episode)) - np.repeat(np.cumsum(counts) - counts, counts),
        "timestamp": time_s,
        **{f"position_{a}": poses[:, k] for k, a in enumerate(_XYZ)},
        **{f"rotation_{a}": v for a, v in zip(_XYZW, (nothing, nothing, np.sin(half), np.cos(half)), strict=True)},
        "action": _names(labels, ACTIONS),
        "action_id": labels,
        "linear_velocity": speed,
        "angular_velocity": turn,
        "linear_velocity_x": velocity[:, 0],
        "linear_velocity_y": velocity[:, 1],
        "angular_acceleration": acceleration / elapsed,
        "curvature": np.where(speed > _STANDS_MPS, turn / np.maximum(speed, _STANDS_MPS), 0.0),
    }
    return pa.table([_column(columns[field.name], field.type) for field in TRAJECTORIES], schema=TRAJECTORIES)


def _names(numbers: Any, names: Sequence[str]) -> Any:
    """A column of texts given by their numbers (N,)."""
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(names, pa.string()))


def _column(values: Any, kind: Any) -> Any:
    if isinstance(values, pa.Array):
        return values.cast(kind)
    return pa.array(np.ascontiguousarray(values, dtype=kind.to_pandas_dtype()))


def record(row: EpisodeRow, trajectory: Trajectory | None, **place: Any) -> dict[str, Any]:
    """The columns of one episode; ``place`` gives episode_id, chunk_index, scene_path, task_type and split.

    Raises:
        EpisodeError: a distance that is no number.
    """
    start, goal = row.start, row.goal
    positions = (start.x, start.y, start.z), (goal.x, goal.y, goal.z)
    if not all(map(isfinite, (*positions[0], *positions[1], row.geodesic_m))):
        raise EpisodeError("an episode has no place or no length", where=place["episode_id"], why="a value is not finite")
    turned = quaternion_xyzw(goal.yaw_rad) if row.goal_turned else (None,) * 4
    took = 0.0 if trajectory is None or len(trajectory.time_s) == 0 else float(trajectory.time_s[-1] - trajectory.time_s[0])
    way = 0.0 if trajectory is None else float(np.hypot(*np.diff(trajectory.poses[:, :2].T)).sum())
    return {
        **place,
        **{f"start_position_{a}": float(v) for a, v in zip(_XYZ, positions[0], strict=True)},
        **{f"start_rotation_{a}": v for a, v in zip(_XYZW, quaternion_xyzw(start.yaw_rad), strict=True)},
        "goal_type": row.goal_type,
        **{f"goal_position_{a}": float(v) for a, v in zip(_XYZ, positions[1], strict=True)},
        **{f"goal_rotation_{a}": v for a, v in zip(_XYZW, turned, strict=True)},
        "geodesic_distance": row.geodesic_m,
        "euclidean_distance": dist(*positions),
        "num_steps": 0 if trajectory is None else len(trajectory.time_s),
        "total_time": took,
        "avg_speed": way / took if took > 0.0 else 0.0,
        "max_speed": float(trajectory.speed_mps.max(initial=0.0)) if trajectory is not None else 0.0,
        "goal_image_path": row.goal_image_path,
        "instruction_text": row.instruction,
        "object_category": row.object_category,
        "object_id": row.object_id,
    }


def episode_schema(task_type: str) -> Any:
    """The columns of a task's episodes: the format's, and for object goals the category and the object."""
    if task_type != "objectnav":
        return EPISODES
    schema = EPISODES
    for name, kind in OBJECT_COLUMNS:
        schema = schema.append(pa.field(name, kind))
    return schema
