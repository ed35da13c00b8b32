"""Whether the words of an instruction and its geometry say the same: sides, turns, angles and distances read back from the text alone.

SatNav's own audit of landmark texts takes a turn's side, angles within 30 degrees and distances within 30 per cent [SN]; so does this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from math import degrees

import numpy as np

from portico.geometry import Floats, polyline_length

ANGLE_DEG, DISTANCE_SHARE = 30.0, 0.3
#: A turn that the words must speak of.
_TURN_DEG = 40.0
_KEPT_SIDE = re.compile(r"\b(?:on your|on the) (left|right)\b|\b(left|right)[- ](?:hand )?side\b")
_TURN = re.compile(r"\b(left|right)\b(?: by (\d+) deg)?")
_DISTANCE = re.compile(r"(\d+(?:\.\d+)?) ?(?:m|metres|meters)\b")


@dataclass(frozen=True)
class Claims:
    """What a text says: turns as (side, angle in degrees or None), distances in metres, and the side on which something is kept."""

    turns: tuple[tuple[str, float | None], ...]
    distances_m: tuple[float, ...]
    kept: str | None


def claims(text: str) -> Claims:
    """Read a text."""
    lower = text.lower()
    kept = _KEPT_SIDE.search(lower)
    rest = _KEPT_SIDE.sub(" ", lower)
    turns = tuple((m[1], float(m[2]) if m[2] else None) for m in _TURN.finditer(rest))
    return Claims(turns, tuple(float(m[1]) for m in _DISTANCE.finditer(lower)), next((g for g in kept.groups() if g), None) if kept else None)


def leg_disagreements(text: str, turns_rad: list[float], lengths_m: list[float], *, every: bool = True) -> list[str]:
    """What a text says otherwise than legs with these turns (before the second, third, ...) and lengths.

    Args:
        every: distances are given of every leg, or of the last ones; else of any.
    """
    said, found = claims(text), []
    actual = [t for t in turns_rad if abs(degrees(t)) >= _TURN_DEG]
    spoken = [t for t in turns_rad if abs(degrees(t)) >= _TURN_DEG or len(said.turns) == len(turns_rad)]
    if len(said.turns) not in (len(actual), len(spoken)):
        return [f"{len(said.turns)} turns in the text, {len(actual)} on the way"]
    for n, ((name, angle), turn) in enumerate(zip(said.turns, actual if len(said.turns) == len(actual) else spoken, strict=True)):
        if (name == "left") != (turn > 0.0):
            found.append(f"turn {n + 1} goes {'left' if turn > 0.0 else 'right'}, the text says {name}")
        if angle is not None and abs(angle - abs(degrees(turn))) > ANGLE_DEG:
            found.append(f"turn {n + 1} is of {abs(degrees(turn)):.0f}°, the text says {angle:.0f}°")
    if every and len(said.distances_m) > len(lengths_m):
        return [*found, f"{len(said.distances_m)} distances in the text, {len(lengths_m)} legs"]
    for told, true in zip(said.distances_m[::-1], lengths_m[::-1], strict=False):
        if abs(told - true) > DISTANCE_SHARE * true:
            found.append(f"a leg of {true:.0f} m is {told:.0f} m in the text")
    return found


def side_disagreements(text: str, line: Floats, outline: Floats) -> list[str]:
    """Whether an outline (M, 2) lies on the side of a line (N, 2) that the text names."""
    said = claims(text).kept
    if said is None:
        return ["the text names no side"]
    true = kept_side(line, outline)
    return [] if said == true else [f"the outline lies on the {true}, the text says {said}"]


def kept_side(line: Floats, outline: Floats) -> str:
    """Side of a polyline (N, 2) on which most of some points (M, 2) lie, each seen from the segment that is nearest to it."""
    starts, steps = line[:-1], np.diff(line, axis=0)
    squared = np.maximum((steps**2).sum(axis=1), 1e-12)
    lefts = 0
    for point in outline:
        t = np.clip(((point - starts) * steps).sum(axis=1) / squared, 0.0, 1.0)
        off = point - (starts + t[:, None] * steps)
        k = int(np.argmin((off**2).sum(axis=1)))
        lefts += bool(steps[k, 0] * off[k, 1] - steps[k, 1] * off[k, 0] > 0.0)
    return "left" if 2 * lefts >= len(outline) else "right"


def legs_of(waypoints: Floats) -> tuple[list[float], list[float]]:
    """Turns (radians, counter-clockwise) and lengths of the straight legs between waypoints (N, 2) in metres."""
    lengths = [polyline_length(np.array(pair)) for pair in pairwise(waypoints)]
    steps = np.diff(waypoints, axis=0)
    yaw = np.arctan2(steps[:, 1], steps[:, 0])
    return ((np.diff(yaw) + np.pi) % (2.0 * np.pi) - np.pi).tolist(), lengths
