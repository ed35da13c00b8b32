"""Whether the words of a route and the line it follows say the same: which junctions its turns are at is found, not given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import degrees

import numpy as np
import shapely

from portico.episodes.satnav.agree import ANGLE_DEG, DISTANCE_SHARE, KEPT_SIDE, STRAIGHT, TURN_DEG, claims
from portico.geometry import Floats, wrap_angle

#: A direction is seen over so many metres; a bend below this is no turn, whatever the words say.
_LOOK_M, _LEAST_DEG = 15.0, 15.0
_MARK = re.compile(rf"\b(?:left|right)\b|{STRAIGHT.pattern}")


@dataclass(frozen=True)
class _Joint:
    """A junction on the way: how far along, and the turn there in degrees, counter-clockwise."""

    at_m: float
    turn_deg: float


@dataclass(frozen=True)
class _Said:
    """What a text says happens at a junction: ``left``, ``right`` or ``straight``, an angle in degrees or None."""

    way: str
    angle: float | None


def route_disagreements(text: str, line: Floats, nodes: Floats) -> list[str]:
    """What a text says otherwise than a line (N, 2) that passes some nodes (K, 2), start and end among them.

    Every turn of the text is laid at a junction, in order, so that the least is wrong; junctions with a turn of 40 degrees or more must be spoken of.
    Distances are held against the stretch in which they stand, angles and distances as in ``leg_disagreements``.
    """
    joints = _joints(line, nodes)
    said, told = _read(text)
    inner = joints[1:-1]
    if len(said) > len(inner):
        return [f"{len(said)} turns in the text, {len(inner)} junctions on the way"]
    # best[k]: the fewest problems with what was said so far at joint k.
    best: dict[int, list[str]] = {0: []}
    for n, what in enumerate(said):
        best = {
            k: min((before + _stretch(joints, j, k, told[n]) + _at(what, joints[k], n) for j, before in best.items() if j < k), key=len)
            for k in range(n + 1, len(joints) - 1)
        }
    last = len(joints) - 1
    return min((before + _stretch(joints, j, last, told[-1]) for j, before in best.items()), key=len)


def _joints(line: Floats, nodes: Floats) -> list[_Joint]:
    shape = shapely.LineString(line)
    at = sorted({0.0, *(round(shape.project(shapely.Point(p)), 3) for p in nodes[1:-1].tolist()), shape.length})
    found = [_Joint(0.0, 0.0)]
    for before, here, after in zip(at, at[1:], at[2:], strict=False):
        a, b, c = (np.array(shape.interpolate(s).coords[0]) for s in (max(before, here - _LOOK_M), here, min(after, here + _LOOK_M)))
        turn = wrap_angle(float(np.arctan2(*(c - b)[::-1]) - np.arctan2(*(b - a)[::-1])))
        found.append(_Joint(here, degrees(turn)))
    return [*found, _Joint(shape.length, 0.0)]


def _read(text: str) -> tuple[list[_Said], list[tuple[float, ...]]]:
    """What is said to happen at junctions, and the distances before the first, between each two, and after the last."""
    lower = KEPT_SIDE.sub(lambda found: " " * len(found[0]), text.lower())
    said, told, begin = [], [], 0
    turns = iter(claims(lower).turns)
    for mark in _MARK.finditer(lower):
        said.append(_Said(*next(turns, (mark[0], None))) if mark[0] in ("left", "right") else _Said("straight", None))
        told.append(claims(lower[begin : mark.start()]).distances_m)
        begin = mark.end()
    return said, [*told, claims(lower[begin:]).distances_m]


def _stretch(joints: list[_Joint], j: int, k: int, told_m: tuple[float, ...]) -> list[str]:
    """Problems between two joints that are spoken of: turns that are not, and a distance that is another."""
    found = [f"a turn of {abs(t.turn_deg):.0f}° to the {_side(t)} is not in the text" for t in joints[j + 1 : k] if abs(t.turn_deg) >= TURN_DEG]
    true = joints[k].at_m - joints[j].at_m
    if len(told_m) == 1 and abs(told_m[0] - true) > DISTANCE_SHARE * true:
        found.append(f"a stretch of {true:.0f} m is {told_m[0]:.0f} m in the text")
    return found


def _at(said: _Said, joint: _Joint, number: int) -> list[str]:
    """Problems at a joint of which something is said."""
    turn = abs(joint.turn_deg)
    if said.way == "straight":
        return [f"turn {number + 1} is of {turn:.0f}° to the {_side(joint)}, the text says straight on"] if turn >= TURN_DEG else []
    if turn < _LEAST_DEG:
        return [f"turn {number + 1} goes straight on, the text says {said.way}"]
    found = [f"turn {number + 1} goes {_side(joint)}, the text says {said.way}"] if said.way != _side(joint) else []
    if said.angle is not None and abs(said.angle - turn) > ANGLE_DEG:
        found.append(f"turn {number + 1} is of {turn:.0f}°, the text says {said.angle:.0f}°")
    return found


def _side(joint: _Joint) -> str:
    return "left" if joint.turn_deg > 0.0 else "right"
