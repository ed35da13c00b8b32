"""LightNav-0 (arXiv 2608.30935) by its own protocol: JSON over a WebSocket, one connection per session.

``{"action": "login" | "reset" | "next", "data": {...}}``. ``next`` carries ``seq``, ``image`` (base64) and ``instruction``: null is unchanged, empty text puts
the frame into the model's memory and asks nothing. Answers: ``{rc, seq, actions: {actions [H][3]}, stop, stop_reason}``, rows of metres forward, metres
left and radians counter-clockwise, each relative to where the picture was taken, not to the row before. The first row is walked, then it is asked again.
A stop is the ``stop`` flag with a chunk of zeros; a chunk of zeros alone is standing still.
"""

from __future__ import annotations

import contextlib
import json
import time
from math import pi
from typing import Any

from portico.declarations import Emits, History, StopRule
from portico.geometry import Pose
from portico.interface import Action, Camera, Observation, PolicyFailure, PolicySpec, Stop
from portico.policies.remote.policy import number
from portico.policies.remote.portico_wire import unreadable
from portico.policies.remote.published.adapter import Adapter, choice
from portico.policies.remote.published.motions import numbers, step_to
from portico.policies.remote.published.pictures import jpeg, png, rgb_of, text
from portico.policies.remote.socket import Socket
from portico.policies.wires.arrays import from_json
from portico.policies.wires.messages import DEFAULT_DEADLINE_S
from portico.policies.wires.structure import Mismatch, shown

#: What its server answers where all is well.
_GOOD = (0, 200, None)


class LightNav(Adapter):
    """LightNav-0, for instructions and searches by one camera.

    Args:
        url: ws:// address of the server. deadline_s: for every answer.
        period_s: how long standing still, or a move of less than 3 cm, lasts.
        image: jpeg or png.
    """

    def __init__(self, url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, period_s: float | str = 0.5, image: str = "jpeg") -> None:
        self._deadline_s, self._period_s, self._image = number("deadline_s", deadline_s), number("period_s", period_s), choice("image", image, ("jpeg", "png"))
        spec = PolicySpec(
            "lightnav",
            needs=frozenset({"rgb"}),
            stages=frozenset({"exit", "entrance", "ovon", "object", "vln", "place"}),
            cameras=(Camera("front", 480, 270, 2.0 * pi / 3.0, 0.0, 0.0, 0.88),),
            goals=frozenset({"instruction", "category"}),
            actions=(
                Emits("waypoints", horizon=10, executed=1, native="rows of forward, left, yaw, cumulative from the picture's pose; the first is walked"),
                Emits("stop", native="the stop flag with a chunk of zeros"),
            ),
            stop=StopRule(True, "stop is true and every row is zero"),
            history=History("policy", every_step=True),
            license="Apache-2.0",
            source="lightorigins/LightNav-0",
        )
        super().__init__(spec, url, "ws://127.0.0.1:8050")
        self._socket: Socket | None = None
        self._seq = 0
        self._told = ""

    def ready(self) -> None:
        """Log in once."""
        self._login()

    def close(self) -> None:
        """End the session."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _begin(self, observation: Observation) -> None:
        if self._socket is None:
            self._login()
        self._ask("reset", {})
        self._told = ""

    def _decide(self, observation: Observation) -> list[Action]:
        instruction = observation.stage.instruction
        data = self._asked(observation, None if instruction == self._told else instruction)
        self._told = instruction
        chunk = data.get("actions")
        rows = numbers(chunk if isinstance(chunk, dict) else {}, "actions", (None, 3), self.url)
        if data.get("stop") is True and not rows.any():
            return [Stop()]
        forward_m, left_m, yaw_rad = (float(n) for n in rows[0])
        return [step_to(Pose(forward_m, left_m, 0.0, yaw_rad), self.body, self._period_s)]

    def _show(self, observation: Observation) -> None:
        self._asked(observation, "")

    def _asked(self, observation: Observation, instruction: str | None) -> dict[str, Any]:
        rgb = rgb_of(observation, "front", self.spec.name)
        self._seq += 1
        image = text(png(rgb) if self._image == "png" else jpeg(rgb))
        data = self._ask("next", {"seq": self._seq, "image": image, "instruction": instruction})
        if data.get("seq", self._seq) != self._seq:
            self._drop()
            raise unreadable(self.url, Mismatch("seq", str(self._seq), shown(data.get("seq"))))
        return data

    def _login(self) -> None:
        self._drop()
        self._socket, self._seq = Socket(self.url, timeout_s=self._deadline_s), 0
        self._ask("login", {})

    def _ask(self, action: str, data: dict[str, Any]) -> dict[str, Any]:
        if self._socket is None:
            raise PolicyFailure("transport", "the connection to the policy's server was lost", where=self.url, next_step="the next episode connects again")
        due = time.monotonic() + self._deadline_s
        try:
            self._socket.send(json.dumps({"action": action, "data": data}))
            received = self._socket.receive(due - time.monotonic())
        except PolicyFailure:
            self._drop()
            raise
        try:
            reply = from_json(received)
            found = reply.get("data", reply) if isinstance(reply, dict) else None
            if not isinstance(found, dict):
                raise Mismatch("", "a map with data", shown(reply))
        except Mismatch as error:
            self._drop()
            raise unreadable(self.url, error) from error
        if found.get("rc") not in _GOOD:
            raise PolicyFailure(
                "refused" if found.get("rc") == 400 else "server",
                f"the policy's server answered {action} with rc {found.get('rc')}",
                where=self.url,
                why=str(found.get("error") or found.get("message") or found.get("msg") or "")[:300],
                next_step="look at what the server printed; the same command runs this episode again",
            )
        return found

    def _drop(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(Exception):
                self._socket.drop()
        self._socket = None
