"""Uni-NaVid behind either of the two servers that others wrote for it: words in its own order, 0.25 m and 30 degrees each.

``shape=act`` (OmniNavBench): ``POST /reset {instruction}``, ``POST /act {instruction, image (base64 PNG), image_shape}`` -> ``{action}``; the server queues
up to four words and gets every frame. ``shape=predict``: ``POST /reset {instruction}``, ``POST /predict {instruction, image_base64}`` -> ``{actions}``;
the words queue here, and the server sees the frames that it is asked about. Its ``path`` is a drawing in which left is negative and steps are half a
metre; it is not read.
"""

from __future__ import annotations

from math import pi
from typing import Any

from portico.declarations import Emits, History, StopRule, Timing
from portico.interface import Action, Camera, Move, Observation, PolicyFailure, PolicySpec, Stop
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.remote.policy import number
from portico.policies.remote.published.adapter import Adapter, choice
from portico.policies.remote.published.pictures import Colours, png, rgb_of, text
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES
from portico.policies.wires.structure import shown

STEP_M, TURN_RAD = 0.25, pi / 6.0
_MOST_WORDS = 4


def action_of_word(word: str, where: str) -> Action:
    """The action that a word of the model stands for.

    Raises:
        PolicyFailure: it is none of its words, which its own loop would pass over in silence.
    """
    match word.strip().lower():
        case "forward":
            return Move("forward", STEP_M)
        case "left":
            return Move("turn_left", TURN_RAD)
        case "right":
            return Move("turn_right", TURN_RAD)
        case "stop":
            return Stop()
    raise PolicyFailure(
        "parse",
        "the model's words cannot be read",
        where=where,
        why=f"expected forward, left, right or stop; received {word!r}",
        next_step="look at the model's raw answer; a changed prompt is the usual cause",
    )


class UniNaVid(Adapter):
    """Uni-NaVid, for instructions and searches by one camera.

    Args:
        url: of the server. deadline_s: for every answer. shape: act or predict.
        colours: order that the checkpoint expects, rgb (as in Habitat) or bgr (as in its demo).
        camera_m: height of the camera.
    """

    def __init__(
        self, url: str = "", deadline_s: float | str = DEFAULT_DEADLINE_S, shape: str = "act", colours: str = "rgb", camera_m: float | str = 0.88
    ) -> None:
        self._shape = choice("shape", shape, ("act", "predict"))
        self._colours: Colours = choice("colours", colours, ("rgb", "bgr"))  # type: ignore[assignment]
        queued = self._shape == "predict"
        spec = PolicySpec(
            "uninavid",
            needs=frozenset({"rgb"}),
            stages=frozenset({"exit", "entrance", "ovon", "object", "vln", "place"}),
            cameras=(Camera("front", 640, 480, 2.0 * pi / 3.0, 0.0, 0.0, number("camera_m", camera_m)),),
            goals=frozenset({"instruction", "category"}),
            actions=(
                Emits("move", STEP_M, TURN_RAD, _MOST_WORDS, _MOST_WORDS if queued else 1, "up to four words: forward, left, right"),
                Emits("stop", native="the word stop; words after it are dropped"),
            ),
            stop=StopRule(True, "the word stop"),
            history=History("policy", every_step=not queued),
            timing=Timing(decides_hz=5.0),
            seedable=False,
            license="MIT",
            source="https://github.com/jzhzhang/Uni-NaVid",
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
        rgb = rgb_of(observation, "front", self.spec.name)
        picture = text(png(rgb, self._colours))
        body: dict[str, Any] = {"instruction": observation.stage.instruction}
        if self._shape == "act":
            reply = self._http.post("/act", body | {"image": picture, "image_shape": list(rgb.shape)})
            return [action_of_word(_words(reply.get("action"), f"{self.url}/act")[0], f"{self.url}/act")]
        words = _words(self._http.post("/predict", body | {"image_base64": picture}).get("actions"), f"{self.url}/predict")
        actions: list[Action] = []
        for word in words[:_MOST_WORDS]:
            actions.append(action_of_word(word, f"{self.url}/predict"))
            if isinstance(actions[-1], Stop):
                break
        return actions


def _words(said: object, where: str) -> list[str]:
    """The words of an answer, given as a text or a list of texts.

    Raises:
        PolicyFailure: there are none.
    """
    words = said.split() if isinstance(said, str) else said
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word.strip() for word in words):
        raise PolicyFailure(
            "parse",
            "the model said nothing that can be read",
            where=where,
            why=f"expected words, received {shown(said)}",
            next_step="look at the model's raw answer",
        )
    return words
