"""What a flight's instruction says in numbers: turns, distances, a side to keep something on, and whether it is to be gone all the way around."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIDE = re.compile(r"\b(?:on your|on the) (left|right)\b|\b(left|right)[- ](?:hand )?side\b")
_STEP = re.compile(r"\b(sharply |bear )?(left|right)\b(?: by (\d+) deg)?|(\d+) ?m\b|\bstraight o(?:nto|ver)\b")
_AROUND = re.compile(r"\b(?:once|all the way) around\b|\bcomplete outline\b|\breturn to the start")
_TO_IT = re.compile(r"\b(?:straight on to|straight for \d+ m to|ahead \d+ m to)\b")
#: What words without a number mean, degrees.
_PLAIN_DEG, _SHARP_DEG, _BEAR_DEG = 90.0, 135.0, 40.0


@dataclass(frozen=True)
class Step:
    """A turn (degrees, positive to the left, 0 for none) and how far to go after it, None where the words give no number."""

    turn_deg: float
    distance_m: float | None


@dataclass(frozen=True)
class Words:
    """What was understood.

    Attributes:
        side: on which something is to be kept, "" for none. around: all the way. approach_m: how far it is to what is then gone along.
    """

    steps: tuple[Step, ...]
    side: str
    around: bool
    approach_m: float


def understood(text: str) -> Words:
    """Read an instruction; what has no number is left open."""
    lower = text.lower()
    found = _SIDE.search(lower)
    side = next((g for g in found.groups() if g), "") if found else ""
    steps: list[Step] = []
    turn: float = 0.0
    for match in _STEP.finditer(_SIDE.sub(" ", lower)):
        how, way, angle, distance = match.groups()
        if distance:
            steps.append(Step(turn, float(distance)))
            turn = 0.0
            continue
        if turn or (not steps and way):
            # A turn came before any distance: the stretch before it is open.
            steps.append(Step(turn, None))
        size = float(angle) if angle else _SHARP_DEG if how == "sharply " else _BEAR_DEG if how == "bear " else _PLAIN_DEG
        turn = 0.0 if not way else size if way == "left" else -size
    if turn or not steps:
        steps.append(Step(turn, None))
    approach = steps[0].distance_m or 0.0 if side and _TO_IT.search(lower) else 0.0
    return Words(tuple(steps), side, bool(_AROUND.search(lower)), approach)
