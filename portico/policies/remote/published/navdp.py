"""NavDP and its relatives behind the servers of the NavDP repository: multipart pictures in, a trajectory out.

``POST /navigator_reset {intrinsic, stop_threshold, batch_size}`` once, ``POST /navigator_reset_env {env_id}`` for every episode, then ``/pointgoal_step`` or
``/imagegoal_step`` with ``image`` (JPEG), ``depth`` (16-bit PNG, metres x 10,000) and the goal. Batches influence each other there, so one is asked at a time.

- The reference client encodes an RGB array as if it were BGR and the server swaps back, so the JPEG on the wire has red and blue exchanged.
- Depth saturates at 6.5535 m on the wire: what is further is sent as 0, which the model takes for unknown like all beyond 5 m.
- Point goals are clipped to 10 m ahead and to either side; one behind the robot keeps its side and loses its distance, as in the original.
- The answer is relative to where the picture was taken, x forward, y left. It is followed for ``period_s``, then asked again.
- Nothing of it is a stop. A trajectory without any x is its sign for "turn": it is carried out as a turn on the spot.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import pi

import numpy as np

from portico.declarations import DepthRange, Emits, GoalForm, History, StopRule, Timing
from portico.geometry import Floats, arc_lengths, project_on_polyline
from portico.interface import Action, Brief, Move, Need, Observation, PolicyFailure, PolicySpec, StageKind, Stop
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.remote.policy import number
from portico.policies.remote.published.adapter import Adapter, choice, goal_of, local_points, required_pose
from portico.policies.remote.published.motions import along, hold, numbers
from portico.policies.remote.published.pictures import depth_of, depth_png, jpeg, rgb_of
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES

DEPTH = DepthRange(per_metre=10_000.0, min_m=0.1, max_m=6.5535, outside="zero")
GOAL_LIMIT_M = 10.0
IMAGE_SIZE = (640, 360)
#: How far ahead on a route the point lies that is asked for: within what the model takes.
_LOOKAHEAD_M = 8.0
_TURN_RAD = pi / 6.0
#: GNM's relatives decide three times a second.
_IMAGE_GOAL_PERIOD_S = 1.0 / 3.0


@dataclass(frozen=True)
class Model:
    """One of the models that these servers host.

    Attributes:
        horizon: points of a trajectory. stops: whether a trajectory of zeros is its declaration.
    """

    name: str
    needs: frozenset[Need]
    stages: frozenset[StageKind]
    goals: frozenset[GoalForm]
    horizon: int
    license: str
    source: str
    stops: bool = False


NAVDP = Model(
    "navdp",
    frozenset({"rgb", "depth", "pose", "route"}),
    frozenset({"point", "outdoor", "image"}),
    frozenset({"point", "route", "image"}),
    24,
    "CC BY-NC-SA 4.0",
    "https://github.com/InternRobotics/NavDP",
)


class NavDP(Adapter):
    """A model behind the NavDP repository's servers.

    Args:
        model: which. period_s: how long a trajectory is followed before it is asked again.
        stop_threshold: critic value below which the server signals a turn.
    """

    def __init__(self, model: Model, url: str, deadline_s: float | str, period_s: float | str, stop_threshold: float | str = -3.0) -> None:
        self._model, self._period_s, self._stop_threshold = model, number("period_s", period_s), number("stop_threshold", stop_threshold, signed=True)
        rule = "a trajectory of zeros" if model.stops else "none: an environment has to judge arrival"
        followed = Emits("waypoints", horizon=model.horizon, native=f"a trajectory followed for {self._period_s:g} s")
        spec = PolicySpec(
            model.name,
            needs=model.needs,
            stages=model.stages,
            image_size=IMAGE_SIZE,
            depth=DEPTH if "depth" in model.needs else DepthRange(),
            pose_frame="current" if "pose" in model.needs else "none",
            goals=model.goals,
            actions=(followed, Emits("move", turn_rad=_TURN_RAD), *((Emits("stop", native=rule),) if model.stops else ())),
            stop=StopRule(model.stops, rule),
            history=History("policy", every_step=False),
            timing=Timing(decides_hz=1.0 / self._period_s, expires_s=1.0),
            seedable=False,
            license=model.license,
            source=model.source,
        )
        super().__init__(spec, url, "http://127.0.0.1:8888")
        self._http = HttpChannel(url, deadline_s=number("deadline_s", deadline_s), limit_bytes=DEFAULT_LIMIT_BYTES)
        self._intrinsics: list[list[float]] | None = None

    def ready(self) -> None:
        """See whether anybody answers; these servers have no health page."""
        self._http.answers("/")

    def reset(self, brief: Brief) -> None:
        """Forget the last episode; a camera of other intrinsics is told to the server."""
        super().reset(brief)
        intrinsics = brief.cameras[0].intrinsics().tolist() if brief.cameras else None
        if intrinsics != self._intrinsics:
            self._intrinsics = None
            self._http.post("/navigator_reset", {"intrinsic": intrinsics, "stop_threshold": self._stop_threshold, "batch_size": 1})
            self._intrinsics = intrinsics

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()

    def _begin(self, observation: Observation) -> None:
        self._http.post("/navigator_reset_env", {"env_id": 0})

    def _decide(self, observation: Observation) -> list[Action]:
        name = self.spec.name
        files = {"image": ("image.jpg", jpeg(rgb_of(observation, "front", name), "bgr"), "image/jpeg")}
        if "depth" in self.spec.needs:
            files["depth"] = ("depth.png", depth_png(depth_of(observation, "front", name), DEPTH.per_metre, DEPTH.max_m), "image/png")
        form = {"depth_time": str(observation.time_s), "rgb_time": str(observation.time_s)}
        if observation.stage.kind == "image":
            path = "/imagegoal_step"
            picture = observation.stage.goal_image
            if picture is None:
                raise PolicyFailure("refused", f"{name} needs the goal's picture", next_step="grant it the rgb channel")
            files["goal"] = ("goal.jpg", jpeg(picture, "bgr"), "image/jpeg")
        else:
            path = "/pointgoal_step"
            x, y = clipped_goal(self._point(observation))
            form["goal_data"] = json.dumps({"goal_x": [x], "goal_y": [y]})
        try:
            reply = self._http.post_parts(path, files, form)
        except PolicyFailure:
            self._intrinsics = None  # a server that was started again knows no camera
            raise
        trajectory = numbers(reply, "trajectory", (1, None, None), f"{self.url}{path}")[0]
        if trajectory.shape[1] < 2:
            numbers({"trajectory": trajectory}, "trajectory", (None, 2), f"{self.url}{path}")
        return [self._followed(trajectory[:, :2])]

    def _point(self, observation: Observation) -> Floats:
        """(2,) of the point to ask for, x forward, y left: the goal, or a point of the route within the model's reach."""
        pose = required_pose(observation, self.spec.name, world=True)
        route = observation.stage.route
        points = np.array([goal_of(observation.stage, self.spec.name)])
        if route is not None and len(route) >= 2:
            flat = np.asarray(route)[:, :2]
            at_m, _ = project_on_polyline(pose.position[:2], flat)
            lengths = arc_lengths(flat)
            points = np.array([[np.interp(at_m + _LOOKAHEAD_M, lengths, flat[:, i]) for i in range(2)]])
        found: Floats = local_points(points, pose)[0]
        return found

    def _followed(self, points: Floats) -> Action:
        if not points.any():
            return Stop() if self._model.stops else hold(self._period_s)
        if not points[:, 0].any():
            return Move("turn_left" if points[-1, 1] > 0.0 else "turn_right", _TURN_RAD)
        return along(points, duration_s=self._period_s)


def clipped_goal(point: Floats) -> tuple[float, float]:
    """A point goal (2,) as the model takes it: 0 to 10 m ahead, 10 m to either side; what lies behind keeps its side alone."""
    return float(np.clip(point[0], 0.0, GOAL_LIMIT_M)), float(np.clip(point[1], -GOAL_LIMIT_M, GOAL_LIMIT_M))


def navdp(url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, period_s: float | str = 0.5, stop_threshold: float | str = -3.0) -> NavDP:
    """NavDP, for points, routes and pictures by one camera with depth.

    Args:
        url: of the server. deadline_s: for every answer.
        period_s: how long a trajectory is followed before it is asked again.
        stop_threshold: critic value below which the server signals a turn.
    """
    return NavDP(NAVDP, url, deadline_s, period_s, stop_threshold)


def gnm(url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, arrived: str = "stop") -> NavDP:
    """GNM, for goals given as pictures.

    Its server turns normalised waypoints into metres (0.8 m/s at 3 Hz there) and answers with zeros once it takes itself to be at the goal's picture.

    Args:
        url: of the server. deadline_s: for every answer.
        arrived: whether a trajectory of zeros is a ``stop``, as the robot's own scripts have it, or ``nothing``.
    """
    return _image_goal("gnm", 5, url, deadline_s, arrived)


def vint(url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, arrived: str = "stop") -> NavDP:
    """ViNT, for goals given as pictures. Options as for ``gnm``."""
    return _image_goal("vint", 5, url, deadline_s, arrived)


def nomad(url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, arrived: str = "stop") -> NavDP:
    """NoMaD, for goals given as pictures. Options as for ``gnm``."""
    return _image_goal("nomad", 8, url, deadline_s, arrived)


def _image_goal(name: str, horizon: int, url: str, deadline_s: float | str, arrived: str) -> NavDP:
    stops = choice("arrived", arrived, ("stop", "nothing")) == "stop"
    license_, source = "MIT (model), CC BY-NC-SA 4.0 (server)", "https://github.com/robodhruv/visualnav-transformer"
    model = Model(name, frozenset({"rgb"}), frozenset({"image"}), frozenset({"image"}), horizon, license_, source, stops)
    return NavDP(model, url, deadline_s, _IMAGE_GOAL_PERIOD_S)
