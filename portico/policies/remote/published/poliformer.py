"""PoliFormer (AI2-THOR's Stretch) behind an HTTP server: one camera and a sentence in, one of twenty words out, where positive turns go right.

``POST /reset {instruction}``; ``POST /act {instruction, image (base64 PNG)}`` -> ``{action}``: ``m`` and ``b`` are 0.2 m ahead and back, ``l``/``r`` 30 and
``ls``/``rs`` 6 degrees, ``end`` declares, ``sub_done`` is an event of its own that moves nothing. Words of the arm are refused, not turned into moves.
The height of the camera is not published with the weights: 1.3 m unless told.
"""

from __future__ import annotations

from math import atan, pi, tan

from portico.declarations import Emits, History, StopRule
from portico.interface import Action, Camera, Move, Observation, PolicyFailure, PolicySpec, Stop
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.remote.policy import number
from portico.policies.remote.published.adapter import Adapter
from portico.policies.remote.published.motions import hold
from portico.policies.remote.published.pictures import png, rgb_of, text
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES
from portico.policies.wires.structure import shown

STEP_M, TURN_RAD, SMALL_TURN_RAD = 0.2, pi / 6.0, pi / 30.0
_WIDTH, _HEIGHT = 384, 224
_VFOV_RAD = 59.0 * pi / 180.0
#: Standing still while an event of the model's own passes.
_EVENT_S = 0.1
MOVES: dict[str, Action] = {
    "m": Move("forward", STEP_M),
    "b": Move("backward", STEP_M),
    "l": Move("turn_left", TURN_RAD),
    "r": Move("turn_right", TURN_RAD),
    "ls": Move("turn_left", SMALL_TURN_RAD),
    "rs": Move("turn_right", SMALL_TURN_RAD),
    "end": Stop(),
    "sub_done": hold(_EVENT_S),
}
#: Words of the arm and gripper.
ARM = frozenset({"yp", "ym", "zp", "zm", "yps", "yms", "zps", "zms", "wp", "wm", "p", "d"})


class PoliFormer(Adapter):
    """PoliFormer, for searches by one camera.

    Args:
        url: of the server. deadline_s: for every answer. camera_m: height of the camera.
    """

    def __init__(self, url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, camera_m: float | str = 1.3) -> None:
        hfov_rad = 2.0 * atan(tan(0.5 * _VFOV_RAD) * _WIDTH / _HEIGHT)
        spec = PolicySpec(
            "poliformer",
            needs=frozenset({"rgb"}),
            stages=frozenset({"object", "ovon"}),
            cameras=(Camera("front", _WIDTH, _HEIGHT, hfov_rad, 0.0, 0.0, number("camera_m", camera_m)),),
            goals=frozenset({"instruction", "category"}),
            actions=(Emits("move", STEP_M, TURN_RAD, native="m b l r ls rs; ls and rs turn 6 degrees"), Emits("stop", native="end")),
            stop=StopRule(True, "the word end; sub_done is no declaration"),
            history=History("policy", every_step=True),
            seedable=False,
            license="Apache-2.0",
            source="https://github.com/allenai/poliformer",
        )
        super().__init__(spec, url, "http://127.0.0.1:8000")
        self._http = HttpChannel(url, deadline_s=number("deadline_s", deadline_s), limit_bytes=DEFAULT_LIMIT_BYTES)

    def ready(self) -> None:
        """See whether anybody answers; these servers need not have a health page."""
        self._http.answers("/health")

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()

    def _begin(self, observation: Observation) -> None:
        self._http.post("/reset", {"instruction": observation.stage.instruction})

    def _decide(self, observation: Observation) -> list[Action]:
        picture = text(png(rgb_of(observation, "front", self.spec.name)))
        word = self._http.post("/act", {"instruction": observation.stage.instruction, "image": picture}).get("action")
        if isinstance(word, str) and word in MOVES:
            return [MOVES[word]]
        arm = isinstance(word, str) and word in ARM
        raise PolicyFailure(
            "unsupported" if arm else "parse",
            f"the model asks for its arm ({word}), which no body here has" if arm else "the model's word cannot be read",
            where=f"{self.url}/act",
            why="" if arm else f"expected one of {', '.join(MOVES)}; received {shown(word)}",
            next_step="serve a checkpoint trained for navigation alone" if arm else "check that this server serves PoliFormer",
        )
