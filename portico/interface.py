"""What crosses between simulator and policy, in both directions: Brief, Observation, Action, PolicySpec.

A policy sees nothing but these types. They hold no world, no evaluator annotation and no label of the robot's own
building, floor or region, so a hidden answer has no door to leak through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from portico.declarations import DepthRange, Emits, GoalForm, History, MadeFor, Privilege, StopRule, Timing
from portico.errors import UserError
from portico.geometry import Floats, Pose, camera_transform

Channel = Literal["rgb", "depth", "semantic", "instance", "normal"]
Need = Literal["rgb", "depth", "odometry", "pose", "route", "semantic", "map", "oracle"]
StageKind = Literal["point", "image", "object", "exit", "outdoor", "entrance", "ovon", "place", "vln", "boundary", "landmark", "route"]
MoveName = Literal["forward", "backward", "turn_left", "turn_right"]
FailureKind = Literal["timeout", "transport", "server", "parse", "invalid", "unsupported", "refused"]

#: What each observation track grants. ``pose`` and ``route`` arrive only once the task releases them.
TRACKS: Mapping[str, frozenset[Need]] = {
    "rgb": frozenset({"rgb", "pose", "route"}),
    "rgbd": frozenset({"rgb", "depth", "odometry", "pose", "route"}),
    "aerial": frozenset({"rgb", "odometry"}),
}
#: See ``ActionSpace.accepts``.
STREAM = "stream"
#: Needs that no track grants: a policy with one of them is privileged.
PRIVILEGED_NEEDS: frozenset[Need] = frozenset({"semantic", "map", "oracle"})


@dataclass(frozen=True)
class Camera:
    """A pinhole camera without distortion, pixel centres at half integers, mounted on the base.

    Attributes:
        hfov_rad: horizontal field of view.
        x, y, z: mount in the base frame (x forward, y left, z up), metres above the supporting surface.
        yaw_rad: mount heading, counter-clockwise. pitch_rad: positive looks down.
    """

    name: str = "front"
    width: int = 640
    height: int = 480
    hfov_rad: float = float(np.deg2rad(90.0))
    x: float = 0.0
    y: float = 0.0
    z: float = 0.5
    yaw_rad: float = 0.0
    pitch_rad: float = 0.0

    @property
    def focal_px(self) -> float:
        """Focal length in pixels, the same for both axes."""
        return 0.5 * self.width / float(np.tan(0.5 * self.hfov_rad))

    def intrinsics(self) -> Floats:
        """K, (3, 3)."""
        f = self.focal_px
        return np.array([[f, 0.0, 0.5 * self.width], [0.0, f, 0.5 * self.height], [0.0, 0.0, 1.0]])

    def T_base_camera(self) -> Floats:
        """(4, 4): camera coordinates (x right, y down, z forward) to base coordinates."""
        return camera_transform(self.x, self.y, self.z, self.yaw_rad, self.pitch_rad)

    def resized(self, width: int, height: int) -> Camera:
        """The same camera with another image size and the same horizontal field of view."""
        return Camera(self.name, width, height, self.hfov_rad, self.x, self.y, self.z, self.yaw_rad, self.pitch_rad)


@dataclass(frozen=True)
class Frame:
    """One camera's images; a channel that was not asked for is None. H, W are the camera's.

    Attributes:
        rgb: (H, W, 3) uint8. depth: (H, W) float32, metric z-depth, inf where nothing was hit.
        instance, semantic: (H, W) int32, 0 where nothing was hit. normal: (H, W, 3) float32, world frame.
    """

    camera: Camera
    rgb: NDArray[np.uint8] | None = None
    depth: NDArray[np.float32] | None = None
    instance: NDArray[np.int32] | None = None
    semantic: NDArray[np.int32] | None = None
    normal: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Body:
    """What a policy may know of its own body. Metres, radians, seconds.

    Attributes:
        pivot_m: height above the ground of the point that the base leans about, see ``portico.geometry.leaning``.
    """

    name: str
    radius_m: float
    height_m: float
    climb_m: float
    max_speed_mps: float
    max_turn_radps: float
    pivot_m: float = 0.0


@dataclass(frozen=True)
class StageBrief:
    """The current stage as a policy may know it.

    Attributes:
        kind: what kind of stage. index: its position in the mission. count: how many stages there are.
        instruction: English sentence.
        category: what to look for (object, ovon, place), else "".
        goal: (3,) goal point in the world frame where the task gives it (point, outdoor), else None.
        route: (N, 3) outdoor route, world frame, once released, else None.
        goal_image: (H, W, 3) uint8, read-only, what the robot's first camera would see from the goal pose (image), for policies
            that need rgb, else None.
    """

    kind: StageKind
    index: int
    count: int
    instruction: str
    category: str = ""
    goal: tuple[float, float, float] | None = None
    route: Floats | None = None
    goal_image: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Brief:
    """All that a policy is told before an episode starts.

    Attributes:
        episode_key: unique within a run, names world and episode; for logs and per-episode seeds only.
        stages: kinds of the stages in order (fixed by the benchmark).
        categories: semantic id -> category name; empty unless the semantic channel was granted.
        max_actions: how many actions the episode allows.
        seed: for a policy's own randomness.
    """

    episode_key: str
    task: str
    stages: tuple[StageKind, ...]
    stage: StageBrief
    body: Body
    cameras: tuple[Camera, ...]
    actions: ActionSpace
    track: str
    max_actions: int
    seed: int
    categories: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    """What the policy sees before it decides.

    Attributes:
        step: number of actions executed so far; strictly increasing.
        number: of this observation within the episode, from 0, none left out; the same number is the same observation.
        time_s: simulated time since the episode began.
        frames: camera name -> Frame, with the channels that were granted.
        stage: the current stage. stage_changed: the evaluator has just confirmed the stage before it.
        odometry: base pose in the frame of the episode's start pose (track ``rgbd``), else None.
        pose: base pose in the world frame once released, else None.
        collided: the last action was cut short by contact.
        tilt_rad: roll and pitch of the base, for whoever has its pose or odometry; positive pitch is nose down. Zero where nothing leans.
    """

    step: int
    time_s: float
    frames: Mapping[str, Frame]
    stage: StageBrief
    stage_changed: bool = False
    odometry: Pose | None = None
    pose: Pose | None = None
    collided: bool = False
    tilt_rad: tuple[float, float] = (0.0, 0.0)
    number: int = 0


@dataclass(frozen=True)
class Stop:
    """Declares the current stage complete."""


@dataclass(frozen=True)
class Move:
    """One discrete move.

    Attributes:
        amount: metres for forward and backward, radians for turns, above zero; None takes the ActionSpace's.
    """

    name: MoveName
    amount: float | None = None


@dataclass(frozen=True)
class Waypoints:
    """Poses to pass through in order.

    Attributes:
        frame: whether they are relative to the base now, or odometry, or world.
        duration_s: the next decision is due after this much time, on the way or not, so that waypoints can be streamed [NV 6.3]; None
            waits until the last pose is reached.
    """

    poses: tuple[Pose, ...]
    frame: Literal["base", "odometry", "world"] = "base"
    duration_s: float | None = None


@dataclass(frozen=True)
class Velocity:
    """Body velocity held for ``duration_s``."""

    vx_mps: float
    vy_mps: float
    wz_radps: float
    duration_s: float


Action = Stop | Move | Waypoints | Velocity


@dataclass(frozen=True)
class ActionSpace:
    """Amounts of the discrete moves, and which kinds of action are accepted.

    Attributes:
        accepts: of ``stop``, ``move``, ``waypoints``, ``velocity``; ``stream`` where the body walks on while ``Waypoints`` with a duration
            follow one another, so that one who streams them does not stop in between.
    """

    step_m: float = 0.25
    turn_rad: float = float(np.deg2rad(15.0))
    accepts: frozenset[str] = frozenset({"stop", "move", "waypoints", "velocity"})

    def amount_of(self, move: Move) -> float:
        """Metres or radians of a move: its own amount, else this space's."""
        if move.amount is not None:
            return move.amount
        return self.step_m if move.name in ("forward", "backward") else self.turn_rad


class PolicyFailure(UserError):
    """Why a policy has no decision. The episode ends as ``error``; it never becomes a stop, a move or a guess.

    Attributes:
        kind: ``timeout`` (no answer in time), ``transport`` (no connection), ``server`` (it says that it failed), ``parse`` (its answer
            cannot be read), ``invalid`` (it can be read, but is no decision), ``unsupported`` (a decision that cannot be carried out),
            ``refused`` (one side does not accept the other).
    """

    def __init__(self, kind: FailureKind, what: str, *, where: str = "", why: str = "", next_step: str = "") -> None:
        super().__init__(what, where=where, why=why, next_step=next_step)
        self.kind = kind

    def __reduce__(self) -> tuple[object, ...]:
        return (_failure, (self.kind, self.what, self.where, self.why, self.next_step))


def _failure(kind: FailureKind, what: str, where: str, why: str, next_step: str) -> PolicyFailure:
    return PolicyFailure(kind, what, where=where, why=why, next_step=next_step)


@dataclass(frozen=True)
class PolicySpec:
    """What a policy is and needs; checked before the first episode. The defaults are those of a policy that takes things as they come.

    Attributes:
        needs: beyond the track's allowance means privileged: refused unless asked for, stamped on every record.
        stages: stage kinds it can attempt.
        image_size: (width, height) it wants, or None for the embodiment's own.
        cameras: those it reads, in its order, mounted as it was trained; empty for the embodiment's own.
        keeps_cameras: the embodiment's own stay mounted before them.
        depth: how it reads depth. pose_frame: in which frame it reads its own pose.
        goals: forms in which it takes what is asked.
        actions: kinds it returns, with their amounts; empty for any, in the ActionSpace's amounts.
        seedable: equal seeds and observations give equal actions; False for models that sample.
        privileges: shortcuts it takes; refused like needs beyond the track.
        license, source: of the model, for reports.
    """

    name: str
    needs: frozenset[Need] = frozenset()
    stages: frozenset[StageKind] = frozenset({"point", "image", "object", "exit", "outdoor", "entrance", "ovon", "place", "vln"})
    image_size: tuple[int, int] | None = None
    version: str = "1"
    cameras: tuple[Camera, ...] = ()
    keeps_cameras: bool = False
    depth: DepthRange = DepthRange()
    pose_frame: Literal["none", "start", "current", "world"] = "none"
    goals: frozenset[GoalForm] = frozenset({"instruction", "category", "image", "point", "route"})
    actions: tuple[Emits, ...] = ()
    stop: StopRule = StopRule()
    history: History = History()
    timing: Timing = Timing()
    seedable: bool = True
    privileges: frozenset[Privilege] = frozenset()
    made_for: MadeFor = MadeFor()
    license: str = ""
    source: str = ""

    def beyond(self, track: str) -> frozenset[str]:
        """Needs that the track does not grant, and shortcuts."""
        return (self.needs - TRACKS[track]) | self.privileges


@runtime_checkable
class Policy(Protocol):
    """Who decides. One instance serves many episodes, one after the other."""

    spec: PolicySpec

    def reset(self, brief: Brief) -> None:
        """Forget the last episode and read the new brief."""

    def act(self, observation: Observation) -> Action:
        """Decide the next action."""

    def close(self) -> None:
        """Release what was opened."""


@runtime_checkable
class Observer(Protocol):
    """A policy whose memory can take a frame that it need not decide on, e.g. while moves it already chose are carried out."""

    def observe(self, observation: Observation) -> None:
        """Remember what is seen."""


@runtime_checkable
class Answering(Protocol):
    """A policy that depends on somebody who may be away."""

    def ready(self) -> None:
        """Return when it can be asked.

        Raises:
            PolicyFailure: it cannot.
        """
