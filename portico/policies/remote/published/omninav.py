"""OmniNav (arXiv 2509.25687) behind OmniNavBench's server: three views in, a polar move out.

``POST /reset {session_id, instruction}``; ``POST /act {session_id, instruction, left_image, front_image, right_image (base64 PNG), pose {position,
rotation wxyz}, step}`` -> ``{waypoints [5][2] (x right, z forward), arrive_pred [5], recover_angles [5]}``.

The model steers by its heading head: it turns by ``recover_angles[0]`` and walks as far as the first waypoint is away, whatever that waypoint's own
bearing is. It has arrived when all five arrive values say so. The pose is sent in the frame of the episode's start, x forward, z up, because the
server's own frame is not published.
"""

from __future__ import annotations

import uuid
from collections import deque
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import Any

import numpy as np

from portico.declarations import Emits, History, StopRule
from portico.geometry import Floats, Pose
from portico.interface import Action, Camera, Need, Observation, PolicySpec, StageKind, Stop
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.remote.policy import number
from portico.policies.remote.published.adapter import Adapter, choice, goal_of, local_points, required_pose
from portico.policies.remote.published.motions import numbers, polar, to_right_forward
from portico.policies.remote.published.pictures import png, rgb_of, text
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES

_HFOV_RAD = 110.0 * pi / 180.0
_STEPS = 5
_HOLD_S = 0.1


def cameras(height_m: float) -> tuple[Camera, ...]:
    """The three views as rendered for the model: 720 x 640, 110 degrees, at right angles."""
    yaws = {"left": 0.5 * pi, "front": 0.0, "right": -0.5 * pi}
    return tuple(Camera(name, 720, 640, _HFOV_RAD, 0.0, 0.0, height_m, yaw) for name, yaw in yaws.items())


@dataclass(frozen=True)
class Variant:
    """Which of the two models; ``points``: it takes a target point where a stage has one."""

    name: str
    stages: frozenset[StageKind]
    points: bool


SLOW = Variant("omninav", frozenset({"exit", "entrance", "ovon", "object", "vln", "place"}), points=False)
FAST = Variant("omninav_fast", frozenset({"exit", "entrance", "outdoor", "point"}), points=True)


class OmniNav(Adapter):
    """OmniNav with three views.

    Args:
        variant: which model. The others are those of ``omninav``.
    """

    def __init__(self, variant: Variant, url: str, deadline_s: float | str, scale_m: float | str, arrive: str, camera_m: float | str) -> None:
        self._points = variant.points
        self._scale_m, self._arrive = number("scale_m", scale_m), choice("arrive", arrive, ("logits", "probabilities"))
        needs: frozenset[Need] = frozenset({"rgb", "odometry", "pose"} if self._points else {"rgb", "odometry"})
        spec = PolicySpec(
            variant.name,
            needs=needs,
            stages=variant.stages,
            cameras=cameras(number("camera_m", camera_m)),
            pose_frame="start",
            goals=frozenset({"instruction", "category", "point", "route"} if self._points else {"instruction", "category"}),
            actions=(
                Emits("waypoints", horizon=_STEPS, native=f"5 waypoints x {self._scale_m:g} m; the first one's length along recover_angles[0]"),
                Emits("stop", native="all five arrive values"),
            ),
            stop=StopRule(True, f"all five arrive values pass ({self._arrive})"),
            history=History("policy", every_step=False, length=20),
            license="none published",
            source="https://github.com/amap-cvlab/OmniNav",
        )
        super().__init__(spec, url, "http://127.0.0.1:8000")
        self._http = HttpChannel(url, deadline_s=number("deadline_s", deadline_s), limit_bytes=DEFAULT_LIMIT_BYTES)
        self._session, self._step = "", 0
        self._past: deque[Pose] = deque(maxlen=_STEPS)

    def ready(self) -> None:
        """Ask the server's health."""
        self._http.get("/health")

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()

    def _begin(self, observation: Observation) -> None:
        self._session, self._step = uuid.uuid4().hex, 0
        self._past.clear()
        self._http.post("/reset", {"session_id": self._session, "instruction": observation.stage.instruction})

    def _decide(self, observation: Observation) -> list[Action]:
        pose = required_pose(observation, self.spec.name, world=False)
        self._past.append(pose)
        body: dict[str, Any] = {"session_id": self._session, "instruction": observation.stage.instruction, "step": self._step}
        body |= {f"{name}_image": text(png(rgb_of(observation, name, self.spec.name))) for name in ("left", "front", "right")}
        half = 0.5 * pose.yaw_rad
        body["pose"] = {"position": [pose.x, pose.y, pose.z], "rotation": [cos(half), 0.0, 0.0, sin(half)]}
        if self._points and observation.stage.kind in ("outdoor", "point"):
            body["input_waypoints"] = self._input_waypoints(observation, pose).tolist()
        reply = self._http.post("/act", body)
        self._step += 1
        where = f"{self.url}/act"
        waypoints = numbers(reply, "waypoints", (_STEPS, 2), where)
        arrived = numbers(reply, "arrive_pred", (_STEPS,), where)
        turns_rad = numbers(reply, "recover_angles", (_STEPS,), where)
        passed = arrived >= 0.0 if self._arrive == "logits" else arrived > 0.5
        if _is_truth(reply["arrive_pred"]):
            passed = arrived > 0.5
        if passed.all():
            return [Stop()]
        return [polar(float(turns_rad[0]), hypot(*waypoints[0]) * self._scale_m, self.body, _HOLD_S)]

    def _input_waypoints(self, observation: Observation, pose: Pose) -> Floats:
        """(6, 2): four past positions, the current one and the target, x right, z forward, in units of the model."""
        past = [self._past[0]] * (_STEPS - len(self._past)) + list(self._past)
        track = local_points(np.array([(p.x, p.y) for p in past]), pose)
        world = required_pose(observation, self.spec.name, world=True)
        target = local_points(np.array([goal_of(observation.stage, self.spec.name)]), world)
        return to_right_forward(np.concatenate([track, target])) / self._scale_m


def omninav(
    url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, scale_m: float | str = 0.3, arrive: str = "logits", camera_m: float | str = 0.88
) -> OmniNav:
    """OmniNav for leaving, entering and searching buildings.

    Args:
        url: of the server. deadline_s: for every answer.
        scale_m: metres of one unit of the server's waypoints; the model's own is 0.3.
        arrive: whether arrive values are ``logits`` (passed from 0 on) or ``probabilities`` (above 0.5, the flow-matching head).
        camera_m: height of the cameras; 0.88 for object search, 0.5 for instructions.
    """
    return OmniNav(SLOW, url, deadline_s, scale_m, arrive, camera_m)


def omninav_fast(
    url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, scale_m: float | str = 0.3, arrive: str = "logits", camera_m: float | str = 0.88
) -> OmniNav:
    """OmniNav's fast model; where a stage has a point, ``input_waypoints`` (6, 2) goes along. Options as for ``omninav``."""
    return OmniNav(FAST, url, deadline_s, scale_m, arrive, camera_m)


def _is_truth(values: object) -> bool:
    """Whether a server sends arrive values as true and false."""
    return isinstance(values, list) and all(isinstance(value, bool) for value in values)
