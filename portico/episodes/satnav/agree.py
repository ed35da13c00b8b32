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
TURN_DEG = 40.0
#: Going on across a junction, in the templates' words.
STRAIGHT = re.compile(r"\bstraight (?:onto|over)\b")
KEPT_SIDE = re.compile(r"\b(?:on your|on the) (left|right)\b|\b(left|right)[- ](?:hand )?side\b")
_DEGREES = r"(\d+) ?-?(?:deg(?:rees?)?\b|°)"
_TURN = re.compile(rf"(?:{_DEGREES},? (?:turn )?(?:to the )?)?\b(left|right)\b(?: (?:by )?(?:about )?{_DEGREES})?")
_DISTANCE = re.compile(r"(\d+(?:[.,]\d+)*) ?(km|kilomet(?:re|er)s?|m|met(?:re|er)s?)\b")


@dataclass(frozen=True)
class Claims:
    """What a text says: turns as (side, angle in degrees or None), distances in metres, and the side on which something is kept."""

    turns: tuple[tuple[str, float | None], ...]
    distances_m: tuple[float, ...]
    kept: str | None


def claims(text: str) -> Claims:
    """Read a text."""
    lower = text.lower()
    kept = KEPT_SIDE.search(lower)
    rest = KEPT_SIDE.sub(" ", lower)
    turns = tuple(_turn(m) for m in _TURN.finditer(rest))
    return Claims(turns, tuple(_metres(m) for m in _DISTANCE.finditer(lower)), next((g for g in kept.groups() if g), None) if kept else None)


def _turn(found: re.Match[str]) -> tuple[str, float | None]:
    angle = found[1] or found[3]
    return found[2], float(angle) if angle else None


def _metres(found: re.Match[str]) -> float:
    """A distance; a comma before three digits parts thousands."""
    number = float(re.sub(r",(?=\d{3}\b)", "", found[1]).replace(",", "."))
    return number * 1000.0 if found[2].startswith("k") else number


def leg_disagreements(text: str, turns_rad: list[float], lengths_m: list[float], *, every: bool = True) -> list[str]:
    """What a text says otherwise than legs with these turns (before the second, third, ...) and lengths.

    Args:
        every: distances are given of every leg, or of the last ones; else of any.
    """
    said, found = claims(text), []
    actual = [t for t in turns_rad if abs(degrees(t)) >= TURN_DEG]
    spoken = [t for t in turns_rad if abs(degrees(t)) >= TURN_DEG or len(said.turns) == len(turns_rad)]
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


def boundary_disagreements(text: str, line: Floats, waypoints: Floats, outline: Floats, subtype: str) -> list[str]:
    """What a text says otherwise than a line (N, 2) beside an outline (M, 2); an extended one leads from its first waypoint to its second before."""
    whole = polyline_length(line)
    before = float(np.hypot(*(waypoints[1] - waypoints[0]))) if subtype == "extended" else 0.0
    # Words of boundaries say where to keep what, and how far; not how to turn.
    lengths = [before, whole - before] if before else [whole]
    return side_disagreements(text, line, outline) + leg_disagreements(text, [], lengths, every=False)


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
