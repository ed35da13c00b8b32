"""Directions in words from a reference path, tied to where and when each of them is done; and a check that words and ground agree [NV 8.3].

A directive is a turn and a move: "Turn left and go 6 m through the door, until there is a bench on your right." The last one says
where the goal is. What a later refinement needs is kept: waypoint, arc length, and the pose of the rollout that was nearest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from portico.episodes.navverse.scenery import Scenery, side_of
from portico.episodes.navverse.waypoints import Leg, heading_rad, legs
from portico.geometry import Floats, arc_lengths, polyline_length, wrap_angle
from portico.tasks.episode import Directive
from portico.tasks.trajectory import Trajectory
from portico.world.semantics import ObjectInstance, Place

#: Turns by size: up to the first not worth a word, then slight, plain and sharp.
_SLIGHT_RAD, _PLAIN_RAD, _SHARP_RAD = (float(np.deg2rad(a)) for a in (20.0, 60.0, 135.0))
#: A leg that rises or falls by more than this takes stairs.
_STAIRS_M = 1.0
#: A rollout passes within this of every waypoint, or its frames do not show what the directions say [P].
ALIGNED_M = 1.0
_ANGLE_SLACK_RAD = 1e-6
#: Waypoints and ends are where they are said to be up to this.
_OFF_M = 0.01


def directions(path: Floats, start_yaw_rad: float, goal: ObjectInstance | Place, scenery: Scenery) -> list[Directive]:
    """Turn-and-move directives along a path (N, 3), and where the goal then is."""
    found = []
    way = legs(np.asarray(path, dtype=np.float64), start_yaw_rad)
    for k, leg in enumerate(way):
        last = k + 1 == len(way)
        mark = None if last else scenery.landmark(leg, avoid=goal)
        side = None if mark is None else side_of(leg.end, leg.heading_rad, mark.center)
        until = f", until there is {mark.noun} {_WHERE[side]}" if mark is not None and side is not None else ""
        found.append(
            Directive(
                text=f"{_turn_words(leg.turn_rad, first=k == 0)} {max(1, round(leg.length_m))} m{_passage(leg, scenery)}{until}.",
                turn_rad=round(leg.turn_rad, 9),
                distance_m=round(leg.length_m, 9),
                point=_xyz(leg.end),
                arc_m=round(leg.end_m, 9),
                landmark=mark.id if mark is not None else None,
                side=side,
            )
        )
    side = side_of(way[-1].end, way[-1].heading_rad, np.array(goal.center))
    text = f"Stop at the {scenery.noun(goal)} {_WHERE[side]}."
    found.append(Directive(text=text, turn_rad=0.0, distance_m=0.0, point=_xyz(way[-1].end), arc_m=round(way[-1].end_m, 9), landmark=goal.id, side=side))
    return found


_WHERE = {"left": "on your left", "right": "on your right", "ahead": "ahead of you", "behind": "behind you"}


def _turn_words(turn_rad: float, *, first: bool) -> str:
    size, side = abs(turn_rad), "left" if turn_rad > 0.0 else "right"
    if size < _SLIGHT_RAD:
        return "Go straight" if first else "Continue straight"
    return f"Turn {'slightly ' if size < _PLAIN_RAD else 'sharply ' if size >= _SHARP_RAD else ''}{side} and go"


def _passage(leg: Leg, scenery: Scenery) -> str:
    """Stairs and the doors a leg goes through, in words."""
    rise = float(leg.end[2] - leg.start[2])
    words = f" {'up' if rise > 0.0 else 'down'} the stairs" if abs(rise) > _STAIRS_M else ""
    return words + scenery.doors(leg)


def aligned(steps: Sequence[Directive], trajectory: Trajectory) -> list[Directive] | None:
    """Directives with the state of a rollout that is nearest to each waypoint, in order; None where one is passed too far off."""
    found, first = [], 0
    for step in steps:
        gaps = np.linalg.norm(trajectory.position[first:] - np.array(step.point), axis=1)
        close = np.flatnonzero(gaps <= ALIGNED_M)
        if not len(close):
            return None
        # A way may come by again later: the first pass counts.
        run = close[: 1 + int(np.argmax(np.append(np.diff(close) > 1, True)))]
        first += int(run[np.argmin(gaps[run])])
        found.append(step.model_copy(update={"state": first, "time_s": round(float(trajectory.time_s[first]), 6)}))
    return found


_SPOKEN = re.compile(r"^(?:(?P<straight>Go|Continue) straight|Turn (?P<how>slightly |sharply )?(?P<side>left|right) and go) (?P<metres>\d+) m\b")
_ROOM = re.compile(r"doors? into the (?P<room>[^,.]+)[,.]")
_LANDMARK = re.compile(r"(?P<where>on your left|on your right|ahead of you|behind you)\.$")


def disagreements(steps: Sequence[Directive], path: Floats, start_yaw_rad: float, scenery: Scenery) -> list[str]:
    """What the words of some directives say that the path (N, 3) does not: turns, sides, distances, where landmarks lie."""
    path = np.asarray(path, dtype=np.float64)
    found, heading, before, before_m = [], start_yaw_rad, path[0], 0.0
    whole_m = polyline_length(path)
    for k, step in enumerate(steps[:-1]):
        point, where = np.array(step.point), f"directive {k + 1}"
        off_m = float(np.linalg.norm(_at(path, step.arc_m) - point))
        if off_m > _OFF_M or step.arc_m < before_m:
            found.append(f"{where}: its waypoint is not the one {step.arc_m:.2f} m along the path")
        after = heading_rad(before, point, heading)
        found += [f"{where}: {why}" for why in _misspoken(step.text, wrap_angle(after - heading), step.arc_m - before_m)]
        found += [f"{where}: {why}" for why in _misplaced(step, point, after, scenery)]
        mark = scenery.by_id.get(step.landmark or "")
        if mark is not None and not scenery.in_sight(point, mark):
            found.append(f"{where}: {step.landmark} is not in sight")
        room = _ROOM.search(step.text)
        if room is not None and room["room"] != scenery.room(point):
            found.append(f"{where}: it says {room['room']}, the waypoint lies in {scenery.room(point) or 'no room'}")
        before, before_m, heading = point, step.arc_m, after
    if abs(before_m - whole_m) > _OFF_M:
        found.append(f"the directives end {whole_m - before_m:.2f} m before the path does")
    return found + [f"the arrival: {why}" for why in _misplaced(steps[-1], path[-1], heading, scenery)]


def _misspoken(text: str, turned_rad: float, moved_m: float) -> list[str]:
    said = _SPOKEN.match(text)
    if said is None:
        return [f"{text!r} is no turn and move"]
    found = []
    if abs(int(said["metres"]) - moved_m) > 0.5 + 1e-6 and not (said["metres"] == "1" and moved_m < 0.5):
        found.append(f"it says {said['metres']} m, the way is {moved_m:.2f} m")
    size = abs(turned_rad)
    low, high = {None: (_PLAIN_RAD, _SHARP_RAD), "slightly ": (_SLIGHT_RAD, _PLAIN_RAD), "sharply ": (_SHARP_RAD, np.pi)}[said["how"]]
    if said["straight"]:
        low, high = 0.0, _SLIGHT_RAD
    elif (said["side"] == "left") != (turned_rad > 0.0):
        found.append(f"it says {said['side']}, the way turns {'left' if turned_rad > 0.0 else 'right'}")
    if not low - _ANGLE_SLACK_RAD <= size <= high + _ANGLE_SLACK_RAD:
        found.append(f"its words do not fit a turn by {np.rad2deg(turned_rad):.0f} degrees")
    return found


def _misplaced(step: Directive, point: Floats, heading: float, scenery: Scenery) -> list[str]:
    said = _LANDMARK.search(step.text)
    if step.landmark is None:
        return [] if said is None else ["it says where something is and does not name it"]
    there = scenery.center(step.landmark)
    seen = None if there is None else side_of(point, heading, there)
    if said is None or seen is None or said["where"] != _WHERE[seen]:
        return [f"it says {said['where'] if said else 'nothing'} of {step.landmark}, which is {_WHERE[seen] if seen else 'nowhere'}"]
    return []


def _at(path: Floats, arc_m: float) -> Floats:
    """(3,) the point of a path (N, 3) that is so far along it."""
    along = arc_lengths(path)
    return np.array([np.interp(arc_m, along, path[:, d]) for d in range(3)])


def _xyz(point: Floats) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in point)
    return (x, y, z)
