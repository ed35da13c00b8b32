"""What the player needs of a scene: where every track is at every place of the axis, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import degrees, isfinite
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from portico.geometry import Floats
from portico.interface import Camera
from portico.report import wording
from portico.web.distances import curve, goal_distances_m
from portico.web.maps import MapView
from portico.web.scene import Scene, Track, lean_deg, stamp, surface_words
from portico.web.timeline import Axis, Event, events, stretches

_CONTACT, _CLIPPED, _FALLEN = 1, 2, 4
#: A lean that is worth a word, degrees.
_LEANS_DEG = 3.0


@dataclass(frozen=True)
class Span:
    """Something on the time line: where it begins and how wide it is, percent, the place to go to, and the row of a label."""

    kind: str
    words: str
    left: float
    width: float
    place: int
    row: int = 0


@dataclass(frozen=True)
class Lane:
    """One track as the player shows it.

    Attributes:
        state: where it is now. frames: address of its frames up to the state's number, "" when there are none. said: what is true now.
        version: of the record. camera: whose frames they are.
        curve: path of its distance to the goal, see ``distances.curve``; longest_m: what its head stands for.
        goals: address of the pictures that stages give to find, likewise. stages, marks: its time line. happened: (place, seconds, event) for the
        list. robot: x, y in the map's pixels per level, and heading.
    """

    track: Track
    state: int
    frames: str
    goals: str
    version: int
    camera: Camera
    said: str
    distances_m: Floats
    curve: str
    longest_m: float
    stages: list[Span]
    marks: list[Span]
    happened: list[tuple[int, float, Event]]

    @property
    def rows(self) -> int:
        """Rows that its labels take."""
        return max((mark.row + 1 for mark in self.marks if mark.kind == "label"), default=0)

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras to choose from."""
        return [camera.name for camera in self.track.body.cameras]

    @property
    def number(self) -> int:
        """Which colour it has."""
        return self.track.item.run.number % 8

    def frame(self, state: int) -> str:
        """Address of the fine frame of a state."""
        return f"{self.frames}{state}.jpg?{self.asked}"

    @property
    def asked(self) -> str:
        """What the address of a frame asks for."""
        return urlencode({"v": self.version, "camera": self.camera.name})

    def goal(self, stage: int) -> str:
        """Address of the picture that a stage gives to find."""
        return f"{self.goals}{stage}.jpg?v={self.version}"


@dataclass(frozen=True)
class Robot:
    """A robot's mark on a map: pixels, degrees clockwise, and whether it is on that map's level."""

    number: int
    x: float
    y: float
    turn_deg: float
    there: bool


@dataclass(frozen=True)
class Player:
    """All of it. ``data`` is what the script reads; ``level`` the first track's at this place."""

    lanes: list[Lane]
    axis: Axis
    level: int
    data: dict[str, Any]

    def robots(self, view: MapView) -> list[Robot]:
        """The robots on a map."""
        found = []
        for lane in self.lanes:
            way = lane.track.way
            if way is not None:
                x, y = view.frame.to_pixels(way.position[lane.state][None])[0].tolist()
                turn = -degrees(float(way.yaw_rad[lane.state]))
                found.append(Robot(lane.number, round(x, 1), round(y, 1), round(turn, 1), int(lane.track.levels[lane.state]) == view.level))
        return found


def play(scene: Scene, axis: Axis, views: Sequence[MapView], place: int, camera: str = "") -> Player:
    """The player of a scene, at a place of its axis, through the camera of that name where a robot has it, else through its first."""
    distances = [goal_distances_m(track) for track in scene.tracks]
    # One scale for all, so that curves can be compared.
    longest_m = max((float(np.nanmax(d)) for d in distances if np.isfinite(d).any()), default=0.0)
    lanes = [_lane(track, axis, place, camera, d, longest_m) for track, d in zip(scene.tracks, distances, strict=True)]
    first = lanes[0]
    level = int(first.track.levels[first.state]) if first.track.states else scene.levels[0]
    data = {
        "count": axis.count,
        "place": place,
        "moments": _listed(axis.moments_s, 3) if axis.moments_s is not None else None,
        "maps": {str(v.level): [v.frame.x_min, v.frame.y_max, v.frame.px_per_m] for v in views},
        "stages": [wording.in_words(wording.STAGES, spec.kind) for spec in scene.first.episode.stages] if scene.first.episode else [],
        "tracks": [_data(lane, axis) for lane in lanes],
    }
    return Player(lanes, axis, level, data)


def said(track: Track, state: int, distance_m: float) -> str:
    """What is true of a track in a state, in a few words; ``distance_m`` to its goal, NaN when not known."""
    way = track.trajectory
    if way is None:
        return "nothing was recorded"
    parts = [f"{way.time_s[state]:.1f} s", f"action {way.action[state]} of {way.action[-1]}"]
    stages = track.episode.stages if track.episode is not None else []
    if len(stages) > 1 and 0 <= way.stage[state] < len(stages):
        parts.append(wording.in_words(wording.STAGES, stages[way.stage[state]].kind))
    parts += [f"{distance_m:.1f} m to go"] if isfinite(distance_m) else []
    surface = surface_words(int(way.surface[state]))
    lean = float(lean_deg(way)[state])
    parts += [f"on {surface}"] if surface else []
    parts += [f"leans {lean:.0f}°"] if lean >= _LEANS_DEG else []
    parts += ["contact"] if way.collided[state] else []
    parts += ["fallen"] if way.fallen[state] else []
    return " · ".join(parts)


def _lane(track: Track, axis: Axis, place: int, wanted: str, distances_m: Floats, longest_m: float) -> Lane:
    item = track.item
    drawable = track.trajectory is not None and track.site.world is not None
    state, address = axis.state(track, place), f"{quote(item.run.name, safe='')}/{quote(item.row.slug, safe='')}/"
    return Lane(
        track=track,
        state=state,
        frames=f"/frame/{address}" if drawable and track.body.cameras else "",
        goals=f"/goal/{address}" if track.site.world is not None and track.body.cameras else "",
        version=stamp(item),
        camera=track.camera(wanted),
        said=said(track, state, float(distances_m[state])) if track.states else "nothing was recorded",
        distances_m=distances_m,
        curve=curve(track, axis, distances_m, longest_m),
        longest_m=longest_m,
        stages=[_span(axis, track, s.first, s.last, s.kind, f"{s.words}: {s.outcome}") for s in stretches(track) if track.states],
        marks=_marks(axis, track),
        happened=[(axis.place(track, e.first), float(track.trajectory.time_s[e.first]), e) for e in events(track)] if track.trajectory is not None else [],
    )


def _marks(axis: Axis, track: Track) -> list[Span]:
    """All but the stages; every kind of label has a row of its own."""
    names = list(dict.fromkeys(e.words for e in events(track) if e.kind == "label"))
    marks = []
    for e in events(track):
        if e.kind != "stage":
            span = _span(axis, track, e.first, e.last, f"{e.kind} {e.style}".strip(), e.words)
            marks.append(replace(span, row=names.index(e.words)) if e.kind == "label" else span)
    return marks


def _span(axis: Axis, track: Track, first: int, last: int, kind: str, words: str) -> Span:
    left, right = axis.place(track, first), axis.place(track, last)
    return Span(kind, words, axis.share(left), round(axis.share(right) - axis.share(left), 3), left)


def _data(lane: Lane, axis: Axis) -> dict[str, Any]:
    track, way, ground = lane.track, lane.track.trajectory, lane.track.way
    if way is None or ground is None:
        return {"frames": "", "number": lane.number, "count": 0}
    flags = _CONTACT * way.collided + _CLIPPED * way.clipped + _FALLEN * way.fallen
    surfaces = sorted(set(way.surface.tolist()))
    return {
        "frames": lane.frames,
        "asked": lane.asked,
        "number": lane.number,
        "count": len(way),
        "states": axis.states(track),
        "x": _listed(ground.position[:, 0], 3),
        "y": _listed(ground.position[:, 1], 3),
        "yaw": _listed(np.rad2deg(way.yaw_rad), 1),
        "level": _kept(track.levels.tolist()),
        "t": _listed(way.time_s, 2),
        "to_go": [None if value != value else value for value in _listed(lane.distances_m, 1)],
        "action": way.action.tolist(),
        "stage": _kept(way.stage.tolist()),
        "flags": _kept(flags.astype(int).tolist()),
        "lean": _kept(np.round(lean_deg(way)).astype(int).tolist()),
        "surface": _kept(way.surface.tolist()),
        "surfaces": {str(s): surface_words(s) for s in surfaces},
    }


def _kept(values: list[int]) -> list[int] | int:
    """A column, or its one value where it never changes."""
    return values[0] if values and len(set(values)) == 1 else values


def _listed(values: Floats, digits: int) -> list[float]:
    rounded: list[float] = np.round(values, digits).tolist()
    return rounded
