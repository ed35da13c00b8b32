"""SocialNav (CVPR 2026): a history of pictures and positions and a target in, five waypoints out. The client owns the history.

The project ships no closed-loop server; this is the shape that its model takes, over HTTP/JSON: ``POST /act {instruction, images (base64 PNG, oldest
first), input_waypoints [6][2]}`` -> ``{waypoints [5][2], arrive}``. Positions are local to the current pose, x right, z forward, over ``step_scale``;
so are the answers. ``arrive`` is a logit: sigmoid from 0.5 on is arrival. The step scale is not published for closed loops: 1 m unless told.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from portico.declarations import Emits, History, StopRule, Timing
from portico.geometry import Pose
from portico.interface import Action, Observation, PolicySpec, Stop
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.remote.policy import number
from portico.policies.remote.published.adapter import Adapter, choice, goal_of, local_points, required_pose
from portico.policies.remote.published.motions import along, from_right_forward, numbers, to_right_forward
from portico.policies.remote.published.pictures import png, rgb_of, text
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES

_KEPT = 5


class SocialNav(Adapter):
    """SocialNav, for walking along streets to a point.

    Args:
        url: of the server. deadline_s: for every answer.
        step_scale_m: metres of one unit of its positions and waypoints.
        execute: how many of the five waypoints are walked before the next decision.
    """

    def __init__(self, url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, step_scale_m: float | str = 1.0, execute: int | str = 1) -> None:
        self._scale_m, self._execute = number("step_scale_m", step_scale_m), int(choice("execute", str(execute), [str(n) for n in range(1, _KEPT + 1)]))
        spec = PolicySpec(
            "socialnav",
            needs=frozenset({"rgb", "pose"}),
            stages=frozenset({"outdoor", "point"}),
            pose_frame="current",
            goals=frozenset({"point", "route"}),
            actions=(
                Emits("waypoints", horizon=_KEPT, executed=self._execute, native=f"5 waypoints x {self._scale_m:g} m, x right, z forward"),
                Emits("stop", native="arrive logit from 0 on"),
            ),
            stop=StopRule(True, "sigmoid(arrive) >= 0.5"),
            history=History("client", every_step=False, length=_KEPT),
            timing=Timing(decides_hz=5.0),
            license="Apache-2.0",
            source="https://github.com/AMAP-EAI/SocialNav",
        )
        super().__init__(spec, url, "http://127.0.0.1:8000")
        self._http = HttpChannel(url, deadline_s=number("deadline_s", deadline_s), limit_bytes=DEFAULT_LIMIT_BYTES)
        self._seen: deque[tuple[Pose, NDArray[np.uint8]]] = deque(maxlen=_KEPT)

    def ready(self) -> None:
        """Ask the server's health."""
        self._http.get("/health")

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()

    def _begin(self, observation: Observation) -> None:
        self._seen.clear()

    def _decide(self, observation: Observation) -> list[Action]:
        pose = required_pose(observation, self.spec.name, world=True)
        self._seen.append((pose, rgb_of(observation, "front", self.spec.name)))
        seen = [self._seen[0]] * (_KEPT - len(self._seen)) + list(self._seen)
        places = np.array([(p.x, p.y) for p, _ in seen] + [goal_of(observation.stage, self.spec.name)[:2]])
        given = to_right_forward(local_points(places, pose)) / self._scale_m
        body = {"instruction": observation.stage.instruction, "images": [text(png(rgb)) for _, rgb in seen], "input_waypoints": given.tolist()}
        reply, where = self._http.post("/act", body), f"{self.url}/act"
        waypoints = numbers(reply, "waypoints", (_KEPT, 2), where)
        arrive = reply.get("arrive")
        while isinstance(arrive, list) and len(arrive) == 1:
            arrive = arrive[0]
        if float(numbers({"arrive": arrive}, "arrive", (), where)) >= 0.0:
            return [Stop()]
        return [along(from_right_forward(waypoints[: self._execute]) * self._scale_m)]
